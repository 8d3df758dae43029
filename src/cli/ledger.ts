import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loadSettings } from '../config/config.ts';
import { silentLog } from '../core/log.ts';
import type { AuditReport, Ledger } from '../ledger/ledger.ts';
import { openLmdbLedger } from '../ledger/lmdb/lmdb.ts';
import { action, type CommandContext, CommandError, facts, group, json } from './command.ts';

const audit = action({
  path: 'ledger audit',
  summary:
    'Re-verifies everything in the ledger: spends, counters, owners of blocks, certificates. Reads only.',
  options: { json: { meaning: 'one JSON object' } },
  run: async (input, context) => {
    const report = await withLedger(context, 'read', (ledger) => ledger.audit());
    context.out(input.has('json') ? json(describe(report)) : facts(described(report)));
    for (const problem of report.problems) context.talk(`problem: ${problem}\n`);
    return report.ok ? 0 : 1;
  },
});

const backup = action({
  path: 'ledger backup',
  summary:
    'Writes a consistent copy into a new folder, while the service runs, and audits the copy. Unclaimed blocks are left out.',
  operands: [{ name: 'DIRECTORY', meaning: 'a folder that does not exist yet, or is empty' }],
  run: async (input, context) => {
    await withLedger(context, 'read', (ledger) => ledger.backup(input.operands[0]));
    context.talk(
      `backed up and verified: ${input.operands[0]}\nThe keys folder is not part of it; keep a copy of that too.\n`,
    );
    return 0;
  },
});

const COMPACTED = 'compacted';

const compact = action({
  path: 'ledger compact',
  summary: 'Rewrites the ledger without its free pages. The service must be stopped.',
  run: async (_input, context) => {
    const path = ledgerPath(context);
    const copy = join(path, COMPACTED);
    rmSync(copy, { recursive: true, force: true }); // what an interrupted run left: never the ledger itself
    // as the server, so that no service can be running beside it; grown ahead by nothing
    const ledger = await openLmdbLedger({
      path,
      clock: context.clock,
      log: silentLog,
      role: 'server',
      durability: 'fsync',
      growAheadBytes: 0,
    });
    const before = statSync(join(path, 'data.mdb')).size;
    try {
      await ledger.compactTo(copy);
    } finally {
      await ledger.close();
    }
    // the lock file belongs to the old data file; renaming puts the whole new one in its place or nothing
    rmSync(join(path, 'lock.mdb'), { force: true });
    renameSync(join(copy, 'data.mdb'), join(path, 'data.mdb'));
    rmSync(copy, { recursive: true, force: true });
    const after = statSync(join(path, 'data.mdb')).size;
    context.talk(`compacted: ${before} to ${after} bytes\n`);
    return 0;
  },
});

export const ledger = group('qrn ledger', 'Audits, backs up and compacts the ledger.', [
  audit,
  backup,
  compact,
]);

function ledgerPath(context: CommandContext): string {
  return join(loadSettings(context.environment).dataDir, 'ledger');
}

function describe(report: AuditReport) {
  return {
    ok: report.ok,
    problems: report.problems,
    segments: report.segments,
    certificates: report.certificates,
    credits_spent: report.creditsSpent,
    lots: report.lots,
    blocks_unclaimed: report.blocksUnclaimed,
    blocks_claimed: report.blocksClaimed,
  };
}

function described(report: AuditReport): Record<string, string> {
  const { problems, ok, ...counts } = describe(report);
  const numbers = Object.fromEntries(Object.entries(counts).map(([name, value]) => [name, String(value)]));
  return { ok: ok ? 'yes' : `no: ${problems.length} problems`, ...numbers };
}

/**
 * Runs `use` on the ledger of the configured data folder, beside a running service or without one. Only `create` makes
 * the folder when it is missing: elsewhere a missing folder is a misspelt one. What is written is on disk before `use`
 * goes on.
 */
export async function withLedger<T>(
  context: CommandContext,
  access: 'read' | 'write' | 'create',
  use: (ledger: Ledger) => Promise<T>,
): Promise<T> {
  const path = ledgerPath(context);
  if (access !== 'create' && !existsSync(path)) throw new CommandError(`there is no ledger in ${path}`);
  const ledger = await openLmdbLedger({
    path,
    clock: context.clock,
    durability: 'fsync',
    log: silentLog, // failures are thrown, and a command says one line
    role: 'tool',
    readOnly: access === 'read',
  });
  try {
    return await use(ledger);
  } finally {
    await ledger.close();
  }
}

/** As `withLedger`, on undefined where there is no ledger yet. */
export async function withLedgerIfAny<T>(
  context: CommandContext,
  access: 'read' | 'write',
  use: (ledger: Ledger | undefined) => Promise<T>,
): Promise<T> {
  return existsSync(ledgerPath(context)) ? withLedger(context, access, use) : use(undefined);
}
