import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { CertificateIds } from '../../../src/certificate/ids.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { bytesOfBase32 } from '../../../src/core/ids.ts';
import { silentLog } from '../../../src/core/log.ts';
import { openSecretFile } from '../../../src/crypto/key-files.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { openLmdbLedger } from '../../../src/ledger/lmdb/lmdb.ts';
import { readEntry } from '../../../src/ledger/segment.ts';
import { TestServer } from '../../support/server.ts';

/** One answer that a client got in full. */
interface Acknowledged {
  readonly certificateId: string;
  readonly requestId: string;
  readonly credits: number;
  /** Pure bytes in hex; empty in the other modes. */
  readonly pure: string;
  /** Whether it was asked for with PURPOSE, and so has a serial. */
  readonly isNumbered: boolean;
}

export interface CrashOutcome {
  rounds: number;
  acknowledged: number;
  /** Rounds in which the kill fell between a journal and LMDB: a start had to recover commits from the journal. */
  recovered: number;
  /** Starts that were killed before they were ready, on what an earlier kill had left. */
  startsKilled: number;
  /** Everything that a crash broke, in words. */
  readonly violations: string[];
}

/** What one round added to the outcome. */
export type CrashRound = Omit<CrashOutcome, 'rounds'>;

export interface CrashOptions {
  readonly rounds: number;
  /** Extra environment of the service, e.g. NODE_OPTIONS with a planted bug, or QRN_DURABILITY. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Kills up to two starts in a row after each kill, while they open the ledger and store what journals hold. */
  readonly killsStarts?: boolean;
  readonly report?: (line: string) => void;
  readonly onRound?: (round: CrashRound) => void;
  /** Asked after each round; true ends the run early. */
  readonly isOver?: () => boolean;
}

const CLIENTS = 8;
const PURE_BYTES = 48;
const CREDITS = 1_000_000;
/** In every round but one of so many, the moment of the kill is counted from the first answer. */
const KILLS_BEFORE_ANSWERS = 4;
const KILLED_WITHIN_MS = 750;
const STARTS_KILLED_MAX = 2;
/** A start opens the ledger 0.2 to 0.5 s after its process began, and later on a busy machine. */
const START_KILLED_WITHIN_MS = 1_000;
/** Every third request has it: its answers are numbered, some in public and some not, in one series. */
const PURPOSE = 'crash rounds';
/** Rows of the series that are read at a time. */
const SERIES_LIMIT = 1_000;
/**
 * Runs clients against the real service and kills it with SIGKILL at a random moment, again and again on one data
 * folder. After each kill: the ledger audits clean, every acknowledged certificate is there and is the request's
 * own, credits used are no less than acknowledged and no more than granted, no pure byte came twice, and the answers of
 * a purpose have the serials from 1 on without a gap, each the one that it had before. When something of that is broken
 * and there is a `report`, the folder is kept.
 */
export async function crashRounds(options: CrashOptions): Promise<CrashOutcome> {
  const outcome: CrashOutcome = { rounds: 0, acknowledged: 0, recovered: 0, startsKilled: 0, violations: [] };
  const all: Acknowledged[] = [];
  const pureSeen = new Map<string, string>();
  const numbered: string[] = [];
  let server = await TestServer.start(options.environment);
  const { key, account_id: accountId } = await server.account(
    'enterprise',
    '--credits-per-month',
    String(CREDITS),
  );
  try {
    for (let round = 1; round <= options.rounds; round++) {
      const before = { ...outcome, violations: outcome.violations.length };
      const got: Acknowledged[] = [];
      const answered = Promise.withResolvers<void>();
      const onAnswer = (answer: Acknowledged) => {
        got.push(answer);
        answered.resolve();
      };
      const clients = Array.from({ length: CLIENTS }, (_, client) =>
        runClient(server, key, client, onAnswer),
      );
      // On a busy machine the first answers come after all moments of the kill, and such a round proves little.
      if (round % KILLS_BEFORE_ANSWERS !== 0) await Promise.race([answered.promise, ...clients]);
      // the moment is what the test is about: any of them must be safe, so it needs no seed to be replayed
      await new Promise((resolve) => setTimeout(resolve, process.hrtime()[1] % KILLED_WITHIN_MS));
      await server.kill('SIGKILL');
      await Promise.all(clients);
      all.push(...got);
      checkPure(got, pureSeen, outcome);
      if (options.killsStarts) await killStarts(server.dataDir, options, outcome);
      await checkLedger(server.dataDir, { accountId, all, latest: got, numbered }, outcome);
      outcome.rounds = round;
      outcome.acknowledged = all.length;
      options.report?.(
        `round ${round}: ${got.length} answers acknowledged, ${outcome.violations.length} violations`,
      );
      options.onRound?.({
        acknowledged: got.length,
        recovered: outcome.recovered - before.recovered,
        startsKilled: outcome.startsKilled - before.startsKilled,
        violations: outcome.violations.slice(before.violations),
      });
      if (outcome.violations.length > 0 || round === options.rounds || options.isOver?.()) break;
      server = await TestServer.start(options.environment, server.dataDir);
    }
  } finally {
    await server.kill('SIGKILL');
    if (outcome.violations.length > 0 && options.report) options.report(`kept for a look: ${server.dataDir}`);
    else rmSync(server.dataDir, { recursive: true, force: true });
  }
  return outcome;
}

/** Any moment must be safe, also the second time in a row. */
async function killStarts(dataDir: string, options: CrashOptions, outcome: CrashOutcome): Promise<void> {
  for (let left = process.hrtime()[1] % (STARTS_KILLED_MAX + 1); left > 0; left--) {
    const start = TestServer.spawn(options.environment, dataDir);
    await new Promise((resolve) => setTimeout(resolve, process.hrtime()[1] % START_KILLED_WITHIN_MS));
    await start.kill('SIGKILL');
    if (/ is damaged|unusable|cannot /.test(start.output()))
      outcome.violations.push(`a start said: ${start.output()}`);
    outcome.startsKilled++;
  }
}

/** Asks until the service dies. */
async function runClient(
  server: TestServer,
  key: string,
  client: number,
  onAnswer: (answer: Acknowledged) => void,
): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  for (let i = 0; ; i++) {
    try {
      const pure = (client + i) % 2 === 0;
      const path = pure ? `/bytes?count=${PURE_BYTES}&entropy_mode=pure` : '/integers?count=20';
      const isNumbered = i % 3 === 0;
      const label = isNumbered ? `&purpose=${encodeURIComponent(PURPOSE)}&public=${i % 2 === 0}` : '';
      const response = await server.get(path + label, headers);
      const body = (await response.json()) as {
        data: { bytes?: string };
        metadata: { certificate_id: string; request_id: string };
        quantum_credits: { used: number };
      };
      if (response.status === 503) continue;
      assert.equal(response.status, 200, JSON.stringify(body));
      onAnswer({
        certificateId: body.metadata.certificate_id,
        requestId: body.metadata.request_id,
        credits: body.quantum_credits.used,
        pure: pure ? body.data.bytes! : '',
        isNumbered,
      });
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return; // the connection is gone: the service was killed
    }
  }
}

/** Any 16 bytes that come again are a block, or a piece of one, that was delivered twice. */
function checkPure(got: readonly Acknowledged[], seen: Map<string, string>, outcome: CrashOutcome): void {
  for (const { pure, requestId } of got) {
    for (let at = 0; at + 32 <= pure.length; at += 2) {
      const window = pure.slice(at, at + 32);
      const before = seen.get(window);
      if (before !== undefined && before !== requestId) {
        outcome.violations.push(`pure bytes of ${before} were delivered again to ${requestId}`);
        return;
      }
      seen.set(window, requestId);
    }
  }
}

/** What is known of the rounds so far. */
interface Known {
  readonly accountId: string;
  readonly all: readonly Acknowledged[];
  /** Those of the last round. */
  readonly latest: readonly Acknowledged[];
  /** Places of the answers of PURPOSE, by serial from 1 on, as the last round found them; brought up to date. */
  readonly numbered: string[];
}

async function checkLedger(
  dataDir: string,
  { accountId, all, latest, numbered }: Known,
  outcome: CrashOutcome,
): Promise<void> {
  const { violations } = outcome;
  // opened as the next service would open it, so that a journal is replayed
  const path = join(dataDir, 'ledger');
  const warn = (_facts: object, message: string) => {
    if (message.startsWith('ledger: recovered commits')) outcome.recovered++;
  };
  const ledger = await openLmdbLedger({
    path,
    clock: systemClock,
    log: { ...silentLog, warn },
    role: 'server',
    durability: 'fsync',
    growAheadBytes: 0,
  });
  try {
    const report = await ledger.audit();
    violations.push(...report.problems.map((problem) => `audit: ${problem}`));
    const ids = new CertificateIds(openSecretFile(join(dataDir, 'keys', 'certificate-ids')));
    violations.push(...(await checkSerials(ledger, numbered)));
    const serialed = new Set(numbered);
    for (const { certificateId, requestId, isNumbered } of latest) {
      const place = ids.placeOf(certificateId);
      assert.ok(typeof place === 'object', `${certificateId} is one of ours`);
      if (isNumbered !== serialed.has(`${place.segment} ${place.index}`))
        violations.push(
          `${requestId} was asked for ${isNumbered ? 'with' : 'without'} a purpose, unlike its certificate`,
        );
      const segment = await ledger.segment(place.segment);
      const entry = segment && readEntry(segment.entries, place.index);
      const own = entry && Buffer.from(entry.requestId).equals(bytesOfBase32(requestId.slice(4))!);
      if (!own) violations.push(`certificate ${certificateId} of ${requestId} is lost`);
    }
    const account = (await ledger.accounts()).find(({ id }) => id === accountId)!;
    const balance = (await ledger.balances(await ledger.latestPeriod())).find(
      ({ accountNumber }) => accountNumber === account.number,
    );
    const acknowledged = all.reduce((sum, { credits }) => sum + credits, 0);
    const used = balance?.credits ?? 0;
    if (used < acknowledged) violations.push(`${acknowledged} credits were acknowledged, ${used} are booked`);
    if (used > CREDITS) violations.push(`${used} credits are booked of ${CREDITS}`);
  } finally {
    await ledger.close();
  }
}

/** Whether the serials of PURPOSE are those from 1 on, each of one answer, and of the same one as before. */
async function checkSerials(ledger: Pick<Ledger, 'seriesPage'>, numbered: string[]): Promise<string[]> {
  const places: string[] = [];
  for (;;) {
    const from = places.length + 1;
    const { answers } = await ledger.seriesPage(PURPOSE, { series: undefined, from, limit: SERIES_LIMIT });
    for (const { serial, sequence, index } of answers) {
      if (serial !== places.length + 1)
        return [`serial ${serial} of the purpose follows serial ${places.length}`];
      places.push(`${sequence} ${index}`);
    }
    if (answers.length < SERIES_LIMIT) break;
  }
  const changed = numbered.findIndex((place, i) => places.at(i) !== place);
  if (changed >= 0)
    return [`serial ${changed + 1} of the purpose was that of another answer before the crash`];
  if (new Set(places).size < places.length) return ['an answer has two serials of the purpose'];
  numbered.push(...places.slice(numbered.length));
  return [];
}
