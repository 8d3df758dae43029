import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadSettings } from '../config/config.ts';
import { silentLog } from '../core/log.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openLmdbLedger } from '../ledger/lmdb/lmdb.ts';
import { type CommandContext, CommandError } from './command.ts';

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

function ledgerPath({ environment }: CommandContext): string {
  return join(loadSettings(environment).dataDir, 'ledger');
}
