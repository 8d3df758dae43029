import { messageOf } from '../../core/assert.ts';
import { within } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { LedgerIntegrity } from '../integrity.ts';
import { type AuditReport, LedgerError } from '../ledger.ts';

/** Problems quoted in the error about a damaged ledger; `qrn ledger audit` prints more. */
const PROBLEMS_QUOTED = 5;

/** Audits the folder. This is auditInChild, except in tests. */
export type FolderAudit = (path: string, signal?: AbortSignal) => Promise<AuditReport>;

interface StartAuditOptions {
  readonly path: string;
  readonly log: Log;
  readonly waitMs: number;
  readonly audit: FolderAudit;
}

export type StartAudit = Awaited<ReturnType<typeof beginStartAudit>>;

/**
 * Audits the ledger after an unclean stop. A power cut or a failing disk may end a process and damage pages at the same time,
 * so a server that finds journals of an earlier one has the ledger audited before it opens it. Another process does that,
 * because LMDB ends a process that meets certain damage. Resolves when the audit is complete, or after `waitMs`: the audit of
 * a large ledger goes on while the ledger serves. Throws LedgerError `damaged`.
 */
export async function beginStartAudit({ path, log, waitMs, audit }: StartAuditOptions) {
  log.warn({ path }, 'ledger: the last stop was unclean: auditing the ledger before it is used');
  const stopping = new AbortController();
  let state: LedgerIntegrity['startAudit'] = 'running';

  async function damageIn(): Promise<LedgerError | undefined> {
    let report: AuditReport;
    try {
      report = await audit(path, stopping.signal);
    } catch (error) {
      if (stopping.signal.aborted) return undefined;
      if (error instanceof LedgerError && error.reason === 'unusable') return error;
      state = 'damaged';
      return damaged(path, [messageOf(error)], error);
    }
    state = report.ok ? 'sound' : 'damaged';
    if (!report.ok) return damaged(path, report.problems);
    const { segments, certificates, lots } = report;
    log.info({ segments, certificates, lots }, 'ledger: the audit found no damage');
    return undefined;
  }

  const damage = damageIn();
  const found = await within(waitMs, damage, () => undefined);
  if (found !== undefined) throw found;
  if (state === 'running')
    log.warn(
      { path },
      'ledger: the audit takes long, so the service starts meanwhile; damage that it finds stops the service',
    );
  return {
    /** Resolves when the audit has ended: with the damage that it found, or with undefined. Never rejects. */
    damage,
    state: () => state,
    /** Ends an audit that is under way. Resolves with whether the audit had finished and found the ledger sound. */
    async stop(): Promise<boolean> {
      stopping.abort();
      await damage;
      return state === 'sound';
    },
  };
}

function damaged(path: string, problems: readonly string[], cause?: unknown): LedgerError {
  const quoted = problems.slice(0, PROBLEMS_QUOTED).join('; ');
  const more = problems.length > PROBLEMS_QUOTED ? `; and ${problems.length - PROBLEMS_QUOTED} more` : '';
  return new LedgerError(
    'damaged',
    `the ledger in ${path} is damaged: ${quoted}${more}. ` +
      'Keep a copy of the folder and restore a backup with `qrn ledger restore`',
    { cause },
  );
}
