import { paddedNumber } from '../../../src/certificate/log-records.ts';
import { CompactRange } from '../../../src/crypto/merkle.ts';
import { ALLOWANCES } from '../../../src/ledger/tables.ts';
import { administer } from '../../support/postgres.ts';
import { auditBooks, type BookFindings, type Known } from '../clients/ledger-check.ts';
import type { Load, SeenCheckpoint } from './load.ts';
import { openTool } from './tool.ts';

const HASH_BYTES = 32;
const TILE_HASHES = 256;
const TOLD_MAX = 5;

/**
 * Reads the books in PostgreSQL, when all nodes are stopped and fenced, and compares them with the clients' records
 * (auditBooks). Besides, no grant may be lost, and all states of the log that any node showed must be of one log.
 * `dataDir` is the data folder of any node: it has the secrets of all.
 */
export async function audit(url: string, dataDir: string, load: Load): Promise<string[]> {
  const known = load.clients.map(
    ({ account, clients }): Known => ({ ...account, accountId: account.id, clients }),
  );
  const ledger = await openTool(url, dataDir);
  try {
    const books = await auditBooks(ledger, dataDir, known);
    const log = await logOf(url, load.checkpoints);
    const lost = await lostGrants(url, books);
    return [...new Set([...load.violations, ...books.violations, ...lost, ...log])];
  } finally {
    await ledger.close();
  }
}

/** Returns lost grants: what nodes were granted and did not spend must have been given back. */
async function lostGrants(url: string, { spent }: BookFindings): Promise<string[]> {
  const { rows } = await administer<{ name: string; value: Uint8Array }>(
    url,
    `SELECT name, value FROM qrn.record WHERE part = '${ALLOWANCES.name}'`,
  );
  return spent.flatMap(({ account, requests, credits }) => {
    const row = rows.find(({ name }) => JSON.parse(name)[1] === account);
    if (row === undefined) return [];
    const granted = ALLOWANCES.codec.decode(row.value);
    if (granted.requests === requests && granted.credits === credits) return [];
    const of = `granted ${granted.requests} and ${granted.credits}`;
    return [`account ${account} spent ${requests} requests and ${credits} credits, and was ${of}`];
  });
}

/** Builds the log again from its leaves, and looks up every state that was seen in it. */
async function logOf(url: string, seen: readonly SeenCheckpoint[]): Promise<string[]> {
  const wanted = new Map<number, SeenCheckpoint[]>();
  for (const each of seen) wanted.set(each.size, [...(wanted.get(each.size) ?? []), each]);
  const violations: string[] = [];
  const tree = new CompactRange();
  for (let index = 0; ; index++) {
    const key = `tile/0/${paddedNumber(index)}`;
    const { rows } = await administer<{ value: Buffer }>(
      url,
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
  return violations.slice(0, TOLD_MAX);
}
