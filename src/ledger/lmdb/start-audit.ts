import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../core/assert.ts';
import type { Log } from '../../core/log.ts';
import type { LedgerIntegrity } from '../integrity.ts';
import { type AuditReport, LedgerError } from '../ledger.ts';
import { auditTables } from './audit.ts';
import type { Store } from './store.ts';
import type { Tables } from './tables.ts';

/** Rest after each slice of an audit that goes on beside commits. */
const REST_MS = 2;
/** Problems quoted in the message of a ledger that is damaged; `qrn ledger audit` prints more. */
const PROBLEMS_QUOTED = 5;

/**
 * The audit that follows an unclean stop. A power cut or a failing disk ends a process and damages pages at
 * the same time, so a server that finds the journal of an earlier one reads the whole ledger before it trusts
 * it. The start waits for the audit for a bounded time; the audit of a larger ledger continues in slices
 * while the ledger serves.
 */
export class StartAudit {
  /** Resolves with what was found once the audit has read everything, or with undefined. Never rejects. */
  readonly damage: Promise<LedgerError | undefined>;
  readonly #stopping = new AbortController();
  #isComplete = false;
  #isBackground = false;
  #state: LedgerIntegrity['startAudit'] = 'running';

  private constructor(store: Store, tables: Tables, path: string, log: Log) {
    this.damage = this.#run(store, tables, path, log);
  }

  /**
   * Resolves when the audit is complete, or after `waitMs` with the audit under way. Throws LedgerError
   * `damaged`.
   */
  static async begin(
    store: Store,
    tables: Tables,
    { path, log, waitMs }: { path: string; log: Log; waitMs: number },
  ): Promise<StartAudit> {
    log.warn({ path }, 'ledger: the last stop was unclean; auditing the ledger');
    const audit = new StartAudit(store, tables, path, log);
    const waiting = new AbortController();
    const timeUp = sleep(waitMs, undefined, { signal: waiting.signal }).catch(() => undefined);
    const damage = await Promise.race([audit.damage, timeUp]);
    waiting.abort();
    if (damage !== undefined) throw damage;
    if (!audit.#isComplete) {
      audit.#isBackground = true;
      log.warn({ path }, 'ledger: serving while the audit continues; damage that it finds stops the service');
    }
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

  async #run(store: Store, tables: Tables, path: string, log: Log): Promise<LedgerError | undefined> {
    let report: AuditReport;
    try {
      report = await auditTables(tables, store.snapshot(), () => this.#rest());
    } catch (error) {
      if (this.#stopping.signal.aborted) return undefined;
      this.#state = 'damaged';
      // LMDB itself meets a page that it cannot follow
      return damaged(path, [messageOf(error)], error);
    }
    this.#isComplete = true;
    this.#state = report.ok ? 'sound' : 'damaged';
    if (!report.ok) return damaged(path, report.problems);
    const { segments, certificates, lots } = report;
    log.info({ segments, certificates, lots }, 'ledger: the audit found the ledger sound');
    return undefined;
  }

  async #rest(): Promise<void> {
    this.#stopping.signal.throwIfAborted();
    await (this.#isBackground ? sleep(REST_MS) : nextTurn());
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
