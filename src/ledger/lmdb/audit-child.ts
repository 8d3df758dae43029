import { fork } from 'node:child_process';
import { setPriority } from 'node:os';
import { type AuditReport, LedgerError } from '../ledger.ts';
import { type PackedError, unpackError } from '../packed-error.ts';

/** What the child process sends before it ends. */
export type AuditOutcome = { readonly report: AuditReport } | { readonly failure: PackedError };

/** The signals that end a process when LMDB meets a page that it cannot follow. */
const BY_DAMAGE: readonly (NodeJS.Signals | null)[] = ['SIGABRT', 'SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE'];
/** A low priority, since an audit may run beside a service. */
const PRIORITY = 10;

/**
 * Audits the ledger of a folder in a child process: see `auditFolder` (lmdb.ts). Rejects with LedgerError `damaged` when LMDB
 * ends the child at a damaged page, with what `auditFolder` throws, or with the reason of `signal`. `mayBeServed` says that
 * another process may write the folder meanwhile.
 */
export async function auditInChild(
  path: string,
  signal?: AbortSignal,
  mayBeServed = false,
): Promise<AuditReport> {
  const { promise, resolve, reject } = Promise.withResolvers<AuditReport>();
  const entry = new URL('./audit-process.ts', import.meta.url);
  // the --import options of this process, such as the loader that strips types
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
    else reject(unpackError(outcome.failure));
  });
  child.on('exit', (code, by) => {
    reject(
      BY_DAMAGE.includes(by)
        ? new LedgerError('damaged', `a page is damaged so that LMDB cannot follow it (${by})`)
        : new LedgerError(
            'unusable',
            `the audit of ${path} ended before it was complete (${by ?? code}): start the service or the command again`,
          ),
    );
  });
  try {
    if (child.pid !== undefined) setPriority(child.pid, PRIORITY);
  } catch {
    // the child has ended already, or the system does not allow it
  }
  return promise;
}
