import { fork } from 'node:child_process';
import { setPriority } from 'node:os';
import { type AuditReport, LedgerError, type LedgerErrorReason } from '../ledger.ts';

/** What the process sends before it ends. */
export type AuditOutcome =
  | { readonly report: AuditReport }
  | { readonly failure: { readonly reason: LedgerErrorReason; readonly message: string } };

/** How LMDB ends a process that meets a page which it cannot follow. */
const BY_DAMAGE: readonly (NodeJS.Signals | null)[] = ['SIGABRT', 'SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE'];
/** It goes on beside a service. */
const PRIORITY = 10;

/**
 * Audits the ledger of a folder in a process of its own, which changes nothing there. Rejects with LedgerError `damaged` when LMDB ends
 * that process at a damaged page, with what `auditFolder` (lmdb.ts) throws, or with the signal's reason. `mayBeServed`: another
 * process may write the folder meanwhile.
 */
export async function auditInChild(
  path: string,
  signal?: AbortSignal,
  mayBeServed = false,
): Promise<AuditReport> {
  const { promise, resolve, reject } = Promise.withResolvers<AuditReport>();
  const entry = new URL('./audit-process.ts', import.meta.url);
  // what this process loaded first, such as types that were stripped before
  const execArgv = process.execArgv.flatMap((each, i, all) =>
    each === '--import' ? [each, all[i + 1]] : [],
  );
  const child = fork(entry, mayBeServed ? [path, 'served'] : [path], {
    env: {},
    execArgv,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    killSignal: 'SIGKILL',
    ...(signal && { signal }),
  });
  child.on('error', (error) => reject(signal?.aborted ? signal.reason : error));
  child.on('message', (outcome: AuditOutcome) => {
    if ('report' in outcome) resolve(outcome.report);
    else reject(new LedgerError(outcome.failure.reason, outcome.failure.message));
  });
  child.on('exit', (code, by) => {
    reject(
      BY_DAMAGE.includes(by)
        ? new LedgerError('damaged', `a page is damaged so that LMDB cannot follow it (${by})`)
        : new LedgerError('unusable', `the audit of ${path} ended by itself (${by ?? code}): start again`),
    );
  });
  try {
    if (child.pid !== undefined) setPriority(child.pid, PRIORITY);
  } catch {
    // it has ended already, or the system does not let us
  }
  return promise;
}
