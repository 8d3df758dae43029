import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '../../support/chance.ts';
import { SHORT_LOTS, TestServer } from '../../support/server.ts';
import { Clients, clientKey } from '../clients/clients.ts';
import { checkLedger } from '../clients/ledger-check.ts';

/** The result of one round. */
export interface CrashRound {
  readonly acknowledged: number;
  /** Count of kills between a journal and LMDB, after which a start had to recover commits from the journal. */
  readonly recovered: number;
  /** Count of starts that were killed before they were ready, on top of what an earlier kill had left. */
  readonly startsKilled: number;
  /** The promises that the crash broke, in words. */
  readonly violations: readonly string[];
}

export interface CrashOptions {
  readonly rounds: number;
  /** Picks requests and the moments of the kills. */
  readonly chance: Chance;
  /** Extra environment of the service, e.g. NODE_OPTIONS with a planted bug, or QRN_DURABILITY. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Kills up to two starts in a row after each kill, while they open the ledger and store what journals hold. */
  readonly killsStarts?: boolean;
  readonly report?: (line: string) => void;
  readonly onRound?: (round: CrashRound) => void;
  /** Called after each round; true ends the run early. */
  readonly isOver?: () => boolean;
}

const CLIENTS = 8;
const CREDITS = 1_000_000;
/** Half of the requests are pure, some under a key that is repeated, and a third is numbered. */
const SHARES = { small: 1, numbered: 2, pure: 2, 'pure once': 1 };
/** In one round of this many the kill is timed from the start, and in the others from the first answer. */
const KILLS_BEFORE_ANSWERS = 4;
const KILLED_WITHIN_MS = 750;
const STARTS_KILLED_MAX = 2;
/** A start opens the ledger 0.2 to 0.5 s after its process began, and later on a busy machine. */
const START_KILLED_WITHIN_MS = 1_000;

/**
 * Runs clients against the real service and kills it with SIGKILL at random moments, repeatedly on one data folder.
 * After each kill the ledger must audit clean and hold exactly what the clients were told (checkLedger), and no pure
 * byte may come twice. If a promise is broken and there is a `report`, the folder is kept.
 */
export async function crashRounds(options: CrashOptions): Promise<CrashRound[]> {
  const { chance, report } = options;
  const environment = { ...SHORT_LOTS, ...options.environment };
  const rounds: CrashRound[] = [];
  let server = await TestServer.start(environment);
  const { dataDir } = server;
  const limits = ['--credits-per-month', String(CREDITS)];
  const account = await server.account('enterprise', ...limits);
  let isUp = true;
  const place = () => (isUp ? server.port : undefined);
  const clients = new Clients([clientKey(account)], chance.fork('clients'), place, { shares: SHARES });
  const { acknowledged } = clients;
  const numbered: number[] = [];
  let isBroken = false;
  try {
    for (let round = 1; ; round++) {
      const before = acknowledged.count;
      isUp = true;
      const asking = clients.askWhile(CLIENTS, () => isUp);
      const hasEnded = () => server.process.exitCode !== null || server.process.signalCode !== null;
      // On a busy machine the first answers come after every moment of the kill, and such a round proves little.
      const isAnswered = () =>
        hasEnded() || acknowledged.count > before || round % KILLS_BEFORE_ANSWERS === 0;
      while (!isAnswered()) await sleep(1);
      await sleep(chance.below(KILLED_WITHIN_MS));
      await server.kill('SIGKILL');
      isUp = false;
      await asking;
      const starts = options.killsStarts ? await killStarts(dataDir, chance, environment) : [];
      const known = { accountId: account.account_id, clients, creditsMax: CREDITS };
      const { violations, recovered } = await checkLedger(dataDir, [known], numbered);
      const all = [...violations, ...starts.filter((told) => told !== '')];
      rounds.push({
        acknowledged: acknowledged.count - before,
        recovered,
        startsKilled: starts.length,
        violations: all,
      });
      isBroken = all.length > 0;
      report?.(
        `round ${round}: ${acknowledged.count - before} answers acknowledged, ${all.length} violations`,
      );
      for (const violation of all) report?.(`round ${round}: ${violation}`);
      options.onRound?.(rounds[round - 1]);
      if (isBroken || round === options.rounds || options.isOver?.()) return rounds;
      server = await TestServer.start(environment, dataDir);
    }
  } finally {
    await server.kill('SIGKILL');
    if (isBroken && report) report(`kept for a look: ${dataDir}`);
    else rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Kills starts at any moment, also twice in a row. Returns the violations that each start reported. */
async function killStarts(
  dataDir: string,
  chance: Chance,
  environment: CrashOptions['environment'],
): Promise<string[]> {
  const told: string[] = [];
  for (let left = chance.between(0, STARTS_KILLED_MAX); left > 0; left--) {
    const start = TestServer.spawn(environment, dataDir);
    await sleep(chance.below(START_KILLED_WITHIN_MS));
    await start.kill('SIGKILL');
    const isWrong = / is damaged|unusable|cannot /.test(start.output());
    told.push(isWrong ? `a start said: ${start.output()}` : '');
  }
  return told;
}
