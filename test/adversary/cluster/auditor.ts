import { join } from 'node:path';
import pg from 'pg';
import { CertificateIds } from '../../../src/certificate/ids.ts';
import { paddedNumber } from '../../../src/certificate/log-records.ts';
import { bytesOfBase32 } from '../../../src/core/ids.ts';
import { sha256 } from '../../../src/crypto/digest.ts';
import { openSecretFile } from '../../../src/crypto/key-files.ts';
import { CompactRange } from '../../../src/crypto/merkle.ts';
import { decodeSegment, EntryCursor } from '../../../src/ledger/segment.ts';
import { ACCOUNTS } from '../../../src/ledger/tables.ts';
import type { Accounts, Load, SeenCheckpoint } from './load.ts';
import { openTool } from './tool.ts';

const HASH_BYTES = 32;
const TILE_HASHES = 256;
const SEGMENTS_AT_ONCE = 500;
const TOLD_MAX = 5;

interface AuditOptions {
  readonly url: string;
  /** The data folder of any node: it has the secrets of all. */
  readonly dataDir: string;
  readonly load: Load;
  readonly accounts: Accounts;
  /** All nodes are stopped and fenced: what they were granted and did not spend must have come back. */
  readonly isSettled: boolean;
}

export interface AuditOutcome {
  readonly violations: readonly string[];
  /** Answers in the books, and how many of them no client got. */
  readonly stored: number;
  readonly unacknowledged: number;
  /** Leaves of the log, and how many different states of it were seen. */
  readonly leaves: number;
  readonly checkpoints: number;
}

interface Spent {
  requests: number;
  credits: number;
}

/**
 * Reads the books in PostgreSQL and holds them against what clients were told: every acknowledged answer is there and is the
 * request's own, nobody spent more than the total, the counters are the sums of the answers, nothing that was granted is lost,
 * and every state of the log that any node showed is one log.
 */
export async function audit({
  url,
  dataDir,
  load,
  accounts,
  isSettled,
}: AuditOptions): Promise<AuditOutcome> {
  const violations = [...load.violations];
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const spent = new Map<number, Spent>();
    const places = new Map<string, string>();
    for (let after = -1; ; ) {
      const { rows } = await client.query<{ sequence: string; body: Buffer }>(
        'SELECT sequence, body FROM qrn.segment WHERE sequence > $1 ORDER BY sequence LIMIT $2',
        [after, SEGMENTS_AT_ONCE],
      );
      for (const { sequence, body } of rows) readSegment(Number(sequence), body, spent, places, violations);
      if (rows.length === 0) break;
      after = Number(rows[rows.length - 1].sequence);
    }
    violations.push(...lostOf(load, dataDir, places));
    violations.push(...(await overspentOf(client, load, accounts, spent, isSettled)));
    const log = await logOf(client, load.checkpoints);
    violations.push(...log.violations);
    violations.push(...(await problemsOf(url, dataDir)));
    return {
      violations,
      stored: places.size,
      unacknowledged: places.size - load.acknowledged.length,
      leaves: log.leaves,
      checkpoints: load.checkpoints.length,
    };
  } finally {
    await client.end();
  }
}

function readSegment(
  sequence: number,
  body: Buffer,
  spent: Map<number, Spent>,
  places: Map<string, string>,
  violations: string[],
): void {
  const { entries } = decodeSegment(new Uint8Array(body));
  const cursor = new EntryCursor(entries);
  for (let index = 0; cursor.next(); index++) {
    const sum = spent.get(cursor.accountNumber) ?? { requests: 0, credits: 0 };
    sum.requests++;
    sum.credits += cursor.credits;
    spent.set(cursor.accountNumber, sum);
    const requestId = Buffer.from(cursor.requestId).toString('hex');
    if (places.has(requestId)) violations.push(`the request ${requestId} is in the books twice`);
    places.set(requestId, `${sequence} ${index}`);
  }
}

function lostOf(load: Load, dataDir: string, places: ReadonlyMap<string, string>): string[] {
  const ids = new CertificateIds(openSecretFile(join(dataDir, 'keys', 'certificate-ids')));
  const lost = load.acknowledged.filter(({ certificateId, requestId }) => {
    const place = ids.placeOf(certificateId);
    const hex = Buffer.from(bytesOfBase32(requestId.slice('req_'.length))!).toString('hex');
    return typeof place !== 'object' || places.get(hex) !== `${place.segment} ${place.index}`;
  });
  return lost.length === 0
    ? []
    : [
        `${lost.length} acknowledged answers are lost, e.g. ${lost
          .slice(0, TOLD_MAX)
          .map(({ requestId }) => requestId)
          .join(', ')}`,
      ];
}

async function overspentOf(
  client: pg.Client,
  load: Load,
  accounts: Accounts,
  spent: ReadonlyMap<number, Spent>,
  isSettled: boolean,
): Promise<string[]> {
  const violations: string[] = [];
  const { rows: records } = await client.query<{ value: Uint8Array }>(
    `SELECT value FROM qrn.record WHERE part = '${ACCOUNTS.name}'`,
  );
  const stored = records.map(({ value }) => ACCOUNTS.codec.decode(value));
  const { rows: allowances } = await client.query<{
    account: string;
    requests_granted: string;
    credits_granted: string;
  }>('SELECT account, requests_granted, credits_granted FROM qrn.allowance');
  for (const [kind, account] of Object.entries(accounts)) {
    const number = stored.find(({ id }) => id === account.id)?.number ?? Number.NaN;
    const { requests, credits } = spent.get(number) ?? { requests: 0, credits: 0 };
    const told = load.acknowledged.filter(({ accountId }) => accountId === account.id);
    const toldCredits = told.reduce((sum, answer) => sum + answer.credits, 0);
    const say = (what: string) => violations.push(`the account of ${kind} requests ${what}`);
    if (requests > account.requestsMax) say(`spent ${requests} of ${account.requestsMax} requests`);
    if (credits > account.creditsMax) say(`spent ${credits} of ${account.creditsMax} credits`);
    if (requests < told.length) say(`was charged for ${requests} answers and got ${told.length}`);
    if (credits < toldCredits) say(`was charged ${credits} credits and told ${toldCredits}`);
    const isKeyed = account === accounts.keyed;
    if (isKeyed && requests > load.keysAnswered + load.keysUnknown)
      say(
        `was charged for ${requests} answers to ${load.keysAnswered} keys, and ${load.keysUnknown} are unknown`,
      );
    const granted = allowances.find((each) => Number(each.account) === number);
    if (granted === undefined) continue;
    const hasAll = isSettled
      ? Number(granted.requests_granted) === requests && Number(granted.credits_granted) === credits
      : Number(granted.requests_granted) >= requests && Number(granted.credits_granted) >= credits;
    if (!hasAll)
      say(
        `spent ${requests} requests and ${credits} credits, and was granted ${granted.requests_granted} and ${granted.credits_granted}`,
      );
  }
  return violations;
}

/** Builds the log again from its leaves, and looks for every state that was seen among its own. */
async function logOf(
  client: pg.Client,
  seen: readonly SeenCheckpoint[],
): Promise<{ violations: string[]; leaves: number }> {
  const wanted = new Map<number, SeenCheckpoint[]>();
  for (const each of seen) wanted.set(each.size, [...(wanted.get(each.size) ?? []), each]);
  const violations: string[] = [];
  const tree = new CompactRange(sha256);
  for (let index = 0; ; index++) {
    const key = `tile/0/${paddedNumber(index)}`;
    const { rows } = await client.query<{ value: Buffer }>(
      "SELECT value FROM qrn.record WHERE part = 'log' AND name = $1",
      [JSON.stringify(key)],
    );
    if (rows.length === 0) break;
    const [{ value }] = rows;
    for (let at = 0; at < value.length; at += HASH_BYTES) {
      tree.append(new Uint8Array(value.subarray(at, at + HASH_BYTES)), () => {});
      const root = Buffer.from(tree.root()).toString('base64');
      for (const checkpoint of wanted.get(tree.size) ?? [])
        if (checkpoint.root !== root)
          violations.push(`the log forked: ${checkpoint.node} showed another tree of ${tree.size} leaves`);
      if (!wanted.has(tree.size)) continue;
      wanted.delete(tree.size);
    }
    if (value.length < TILE_HASHES * HASH_BYTES) break;
  }
  wanted.delete(0);
  if (wanted.size > 0)
    violations.push(
      `nodes showed logs of ${[...wanted.keys()].slice(0, TOLD_MAX).join(', ')} leaves, and the log has ${tree.size}`,
    );
  return { violations: violations.slice(0, TOLD_MAX), leaves: tree.size };
}

/** What the service's own audit finds: among others, whether the counters are the sums of the answers. */
async function problemsOf(url: string, dataDir: string): Promise<string[]> {
  const ledger = await openTool(url, dataDir);
  try {
    const { problems } = await ledger.audit();
    return problems.slice(0, TOLD_MAX).map((problem) => `audit: ${problem}`);
  } finally {
    await ledger.close();
  }
}
