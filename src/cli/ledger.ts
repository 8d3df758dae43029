import { chmodSync, copyFileSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Incarnation } from '../certificate/incarnation.ts';
import { acceptMove, beginIncarnation } from '../certificate/open.ts';
import { makeFolder, syncToDisk } from '../core/files.ts';
import { type AuditReport, LedgerError } from '../ledger/ledger.ts';
import { auditInChild } from '../ledger/lmdb/audit-child.ts';
import { requireLmdbFile } from '../ledger/lmdb/data-file.ts';
import { requireNotImported } from '../ledger/lmdb/import-mark.ts';
import { serverLives } from '../ledger/server-socket.ts';
import { action, CommandError, group, type Report } from './command.ts';
import { requireOwnFolder } from './data-folder.ts';
import {
  asServer,
  existingLedger,
  hasFolderLedger,
  ledgerPath,
  openAsServer,
  requireFolderLedger,
  withLedger,
} from './ledger-access.ts';

const audit = action({
  path: 'ledger audit',
  summary:
    'Verifies the whole ledger: spent credits, counters, owners of blocks, certificates. The command changes nothing.',
  options: { json: { meaning: 'print one JSON object' } },
  run: async (_input, context) => {
    const report = hasFolderLedger(context)
      ? await auditOf(existingLedger(context))
      : await withLedger(context, (ledger) => ledger.audit());
    const { ok, problems } = report;
    const counts = {
      segments: report.segments,
      certificates: report.certificates,
      credits_spent: report.creditsSpent,
      lots: report.lots,
      blocks_unclaimed: report.blocksUnclaimed,
      blocks_claimed: report.blocksClaimed,
    };
    for (const problem of problems) context.talk(`problem: ${problem}\n`);
    return {
      data: { ok, problems, ...counts },
      shown: [{ ok: ok ? 'yes' : `no: ${problems.length} problems`, ...counts }],
      status: ok ? 0 : 1,
    };
  },
});

const backup = action({
  path: 'ledger backup',
  summary:
    'Writes a consistent copy of the ledger to a new folder and audits the copy. The service may be running. Unclaimed blocks are not copied.',
  operands: [{ name: 'DIRECTORY', meaning: 'folder that does not exist yet or is empty' }],
  run: async ({ operands: [folder] }, context) => {
    await withLedger(context, (ledger) => ledger.backup(folder));
    context.talk(
      `backed up and verified: ${folder}\nThe backup does not contain the keys folder. Keep a copy of that too.\n`,
    );
  },
});

const COMPACTED = 'compacted';

const compact = action({
  path: 'ledger compact',
  summary: 'Rewrites the ledger without its free pages. The service must be stopped.',
  run: async (_input, context) => {
    requireFolderLedger(
      context,
      'qrn ledger compact',
      'PostgreSQL reuses the space of old records automatically',
    );
    const path = existingLedger(context);
    const copy = join(path, COMPACTED);
    rmSync(copy, { recursive: true, force: true }); // left by an interrupted run; never the ledger itself
    const ledger = await openAsServer(context, path);
    const before = statSync(join(path, 'data.mdb')).size;
    try {
      await ledger.compactTo(copy);
    } finally {
      await ledger.close();
    }
    // the lock file belongs to the old data file, which the rename replaces in one step
    rmSync(join(path, 'lock.mdb'), { force: true });
    renameSync(join(copy, 'data.mdb'), join(path, 'data.mdb'));
    rmSync(copy, { recursive: true, force: true });
    const after = statSync(join(path, 'data.mdb')).size;
    context.talk(`compacted: ${before} to ${after} bytes\n`);
  },
});

const restore = action({
  path: 'ledger restore',
  summary:
    'Replaces a lost ledger by a backup, or accepts the present ledger after a disk was set back or a folder was copied. The command\n' +
    'begins a new incarnation: certificate identifiers get a new number, a new log begins that names the last checkpoint before it,\n' +
    'and unclaimed blocks are burned, because another copy may have delivered them. The service must be stopped.',
  operands: [
    {
      name: 'DIRECTORY',
      meaning: 'folder of a backup, or the ledger folder itself to accept the present ledger',
    },
  ],
  options: {
    json: {
      meaning: 'print one JSON object: incarnation, origin, first_segment, blocks_burned, predecessor',
    },
  },
  irreversible: async (input, context) => {
    const from = resolve(input.operands[0]);
    requireBackup(from);
    return `This begins a new incarnation of the ledger in ${ledgerPath(context)} from ${from}, and burns its unclaimed blocks.`;
  },
  run: async (input, context) => {
    requireFolderLedger(context, 'qrn ledger restore', 'restore the database, then run qrn cluster restored');
    const path = ledgerPath(context);
    requireNotImported(path);
    requireOwnFolder(context);
    const from = resolve(input.operands[0]);
    if (from === resolve(path)) await requireSound(path);
    else await copyBackup(from, path);
    const { incarnation, blocksBurned } = await asServer(context, beginIncarnation, {
      mayLackJournals: true,
    });
    context.talk(
      'Back up the keys folder now, because the new log has a new key. Keys and accounts are those of the backup. ' +
        'Revoke again what was revoked since then.\n',
    );
    return incarnationReport(incarnation, { blocks_burned: blocksBurned });
  },
});

/** Reports a new incarnation. --json also has its predecessor. */
export function incarnationReport(
  { number, origin, firstSegment, predecessor }: Incarnation,
  more: object = {},
): Report {
  const shown = { incarnation: number, origin, first_segment: firstSegment, ...more };
  return { data: { ...shown, predecessor }, shown: [shown] };
}

const moved = action({
  path: 'ledger moved',
  summary:
    'States that the data folder is the original in a new place and that no other copy is in use. The service then continues the same\n' +
    'incarnation. The command fails if anything that was signed is missing; use qrn ledger restore in that case. Two services on\n' +
    'copies of one folder would deliver the same bytes twice and sign two different logs.',
  run: async (_input, context) => {
    await asServer(context, acceptMove);
    context.talk('The folder is now the original. Delete every other copy of it.\n');
  },
});

export const ledger = group('qrn ledger', 'Audits, backs up, restores and compacts the ledger.', [
  audit,
  backup,
  restore,
  moved,
  compact,
]);

/** Returns the data file of a backup. Throws a CommandError when the folder has none. */
function requireBackup(folder: string): string {
  const file = join(folder, 'data.mdb');
  if (!existsSync(file)) throw new CommandError(`${folder} contains no ledger: there is no data.mdb in it`);
  requireLmdbFile(file, false);
  return file;
}

/** Audits a folder in a child process, because LMDB ends a process that meets certain damage. */
async function auditOf(folder: string): Promise<AuditReport> {
  try {
    return await auditInChild(folder, undefined, await serverLives(folder));
  } catch (error) {
    const isDamage = error instanceof LedgerError && error.reason === 'damaged';
    throw isDamage ? new CommandError(`the ledger in ${folder} is damaged: ${error.message}`) : error;
  }
}

/** Throws a CommandError that lists the problems of the ledger in a folder, if there are any. */
async function requireSound(folder: string): Promise<void> {
  const { problems } = await auditOf(folder);
  if (problems.length > 0)
    throw new CommandError(`the ledger in ${folder} is damaged: ${problems.join('; ')}`);
}

const DRAFT = 'restored';

/** Copies the backup's data file to a folder without a ledger, after an audit of the copy. */
async function copyBackup(from: string, path: string): Promise<void> {
  const file = requireBackup(from);
  const draft = join(path, DRAFT);
  rmSync(draft, { recursive: true, force: true }); // left by an interrupted run
  if (existsSync(path) && readdirSync(path).length > 0)
    throw new CommandError(`${path} is not empty: move the ledger in it away first`);
  makeFolder(draft);
  try {
    const copy = join(draft, 'data.mdb');
    copyFileSync(file, copy);
    chmodSync(copy, 0o600);
    syncToDisk(copy);
    await requireSound(draft);
    renameSync(copy, join(path, 'data.mdb'));
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
