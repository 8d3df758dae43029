import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../core/assert.ts';
import type { Log } from '../../core/log.ts';
import type { LedgerIntegrity } from '../integrity.ts';
import { type AuditReport, LedgerError } from '../ledger.ts';

/** Problems quoted in the message of a ledger that is damaged; `qrn ledger audit` prints more. */
const PROBLEMS_QUOTED = 5;

/** Audits the folder: auditInChild, but for tests. */
export type FolderAudit = (path: string, signal?: AbortSignal) => Promise<AuditReport>;

interface StartAuditOptions {
  readonly path: string;
  readonly log: Log;
  readonly waitMs: number;
  readonly audit: FolderAudit;
}

/**
 * The audit that follows an unclean stop. A power cut or a failing disk ends a process and damages pages at
 * the same time, so a server that finds the journal of an earlier one has the whole ledger read before it opens
 * it, by another process: LMDB ends a process that meets certain damage. The start waits for the audit for a bounded
 * time; that of a larger ledger continues while the ledger serves.
 */
export class StartAudit {
  /** Resolves with what was found once the audit has read everything, or with undefined. Never rejects. */
  readonly damage: Promise<LedgerError | undefined>;
  readonly #stopping = new AbortController();
  #isComplete = false;
  #state: LedgerIntegrity['startAudit'] = 'running';

  private constructor(options: StartAuditOptions) {
    this.damage = this.#run(options);
  }

  /** Resolves when the audit is complete, or after `waitMs` with the audit under way. Throws LedgerError `damaged`. */
  static async begin(options: StartAuditOptions): Promise<StartAudit> {
    const { path, log, waitMs } = options;
    log.warn({ path }, 'ledger: the last stop was unclean; auditing the ledger');
    const audit = new StartAudit(options);
    const waiting = new AbortController();
    const timeUp = sleep(waitMs, undefined, { signal: waiting.signal }).catch(() => undefined);
    const damage = await Promise.race([audit.damage, timeUp]);
    waiting.abort();
    if (damage !== undefined) throw damage;
    if (!audit.#isComplete)
      log.warn({ path }, 'ledger: serving while the audit continues; damage that it finds stops the service');
    return audit;
  }

  get state(): LedgerIntegrity['startAudit'] {
    return this.#state;
  }

  /** Ends an audit that is under way. True when it had read everything and found the ledger sound. */
  async stop(): Promise<boolean> {
    this.#stopping.abort();
    return (await this.damage) === undefined && this.#isComplete;
  }

  async #run({ path, log, audit }: StartAuditOptions): Promise<LedgerError | undefined> {
    let report: AuditReport;
    try {
      report = await audit(path, this.#stopping.signal);
    } catch (error) {
      if (this.#stopping.signal.aborted) return undefined;
      if (error instanceof LedgerError && error.reason === 'unusable') return error;
      this.#state = 'damaged';
      return damaged(path, [messageOf(error)], error);
    }
    this.#isComplete = true;
    this.#state = report.ok ? 'sound' : 'damaged';
    if (!report.ok) return damaged(path, report.problems);
    const { segments, certificates, lots } = report;
    log.info({ segments, certificates, lots }, 'ledger: the audit found the ledger sound');
    return undefined;
  }
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
