import type { MessagePort } from 'node:worker_threads';
import { concatBytes, wipe } from '../core/bytes.ts';
import { ApiError, type ErrorCode, type ErrorFacts } from '../core/errors.ts';
import { type AuditReport, type Ledger, LedgerError, type LedgerErrorReason } from './ledger.ts';
import type {
  AccountRecord,
  Balance,
  BlockKind,
  ClaimedBlock,
  JobRecord,
  KeyRecord,
  LotRecord,
  LotRevocation,
  RateRecord,
  SegmentRecord,
  SourceSpend,
  SpendLimits,
  StoredAnswer,
  UsageDay,
} from './records.ts';

/**
 * The ledger across a MessagePort: one message there and one back per call, by method name. `serveLedger` stands in
 * the thread that owns the ledger, `connectLedger` in any other; one ledger serves many ports.
 */
type Method = Exclude<keyof Ledger, 'close'>;

interface Call {
  readonly id: number;
  readonly method: Method;
  readonly args: unknown[];
}

type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: PackedError }
  | { readonly failed: PackedError };

/** What of an error survives the way between threads. */
type PackedError =
  | { readonly kind: 'api'; readonly code: ErrorCode; readonly facts: ErrorFacts }
  | { readonly kind: 'ledger'; readonly reason: LedgerErrorReason; readonly message: string }
  | { readonly kind: 'fault'; readonly name: string; readonly message: string; readonly stack: string };

/** A ledger that can come to its end on its own. */
export interface FailStop {
  /** Resolves with the cause when nothing more will be written. */
  readonly failed: Promise<Error>;
}

/** Calls that may wait for their reply; beyond it a call is rejected with `overloaded`. */
const OUTSTANDING_MAX = 4_096;

/**
 * Answers the calls that arrive on the port. Closing the port ends the service, not the ledger: its owner closes it.
 */
export function serveLedger(ledger: Ledger & Partial<FailStop>, port: MessagePort): void {
  port.on('message', ({ id, method, args }: Call) => {
    // The compiler checked name and arguments where the call was made.
    const call = ledger[method] as (...args: unknown[]) => Promise<unknown>;
    const called = call.apply(ledger, args).finally(() => {
      if (method === 'addLot') wipe(...(args as Parameters<Ledger['addLot']>)[1].map(({ bytes }) => bytes));
    });
    called.then(
      (value) => port.postMessage({ id, value } satisfies Reply, buffersOf(value)),
      (error: unknown) => port.postMessage({ id, error: packError(error) } satisfies Reply),
    );
  });
  ledger.failed?.then((error) => port.postMessage({ failed: packError(error) } satisfies Reply));
}

/**
 * The ledger behind the port. `commit` hands the segments' packed entries over instead of copying them: afterwards
 * they are gone here (their length is 0), so a caller who may repeat a commit keeps a copy. `close` waits for the
 * replies that are due and closes the port.
 */
export function connectLedger(port: MessagePort): Ledger & FailStop {
  return new RemoteLedger(port);
}

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

class RemoteLedger implements Ledger, FailStop {
  readonly failed: Promise<Error>;
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #closed = false;
  #announceIdle: (() => void) | undefined;

  constructor(port: MessagePort) {
    this.#port = port;
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failed = promise;
    port.on('message', (reply: Reply) => {
      if ('failed' in reply) resolve(unpackError(reply.failed));
      else this.#settle(reply);
    });
    port.on('close', () => {
      const error = new LedgerError('stopped', 'the ledger thread is gone');
      if (!this.#closed) resolve(error);
      this.#closed = true;
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
      this.#announceIdle?.();
    });
  }

  directoryVersion(): Promise<number> {
    return this.#call('directoryVersion', []);
  }

  accounts(): Promise<AccountRecord[]> {
    return this.#call('accounts', []);
  }

  keys(): Promise<KeyRecord[]> {
    return this.#call('keys', []);
  }

  createAccount(account: Omit<AccountRecord, 'number'>): Promise<AccountRecord> {
    return this.#call('createAccount', [account]);
  }

  putAccount(account: AccountRecord): Promise<void> {
    return this.#call('putAccount', [account]);
  }

  putKey(key: KeyRecord): Promise<void> {
    return this.#call('putKey', [key]);
  }

  addLot(
    lot: LotRecord,
    blocks: readonly { kind: BlockKind; bytes: Uint8Array }[],
    jobKey?: string,
  ): Promise<boolean> {
    // A copy that changes threads as it is, where it is erased: a message would leave others on its way.
    const handed = concatBytes(...blocks.map(({ bytes }) => bytes));
    let at = 0;
    const moved = blocks.map(({ kind, bytes }) => ({
      kind,
      bytes: handed.subarray(at, (at += bytes.length)),
    }));
    return this.#call('addLot', [lot, moved, jobKey], [handed.buffer]);
  }

  lot(id: string): Promise<LotRecord | undefined> {
    return this.#call('lot', [id]);
  }

  lots(limit: number): Promise<LotRecord[]> {
    return this.#call('lots', [limit]);
  }

  revokeLot(revocation: LotRevocation): Promise<void> {
    return this.#call('revokeLot', [revocation]);
  }

  revocations(): Promise<LotRevocation[]> {
    return this.#call('revocations', []);
  }

  claimBlocks(kind: BlockKind, max: number): Promise<ClaimedBlock[]> {
    return this.#call('claimBlocks', [kind, max]);
  }

  blockLevels(): Promise<Record<BlockKind, { blocks: number; bytes: number }>> {
    return this.#call('blockLevels', []);
  }

  sourceNote(source: string, key: string): Promise<string | undefined> {
    return this.#call('sourceNote', [source, key]);
  }

  putSourceNote(source: string, key: string, value: string): Promise<void> {
    return this.#call('putSourceNote', [source, key, value]);
  }

  charge(key: string, spend: SourceSpend, limits: SpendLimits): Promise<boolean> {
    return this.#call('charge', [key, spend, limits]);
  }

  spent(source: string, day: number): Promise<SourceSpend> {
    return this.#call('spent', [source, day]);
  }

  openJob(job: JobRecord, limits: SpendLimits): Promise<boolean> {
    return this.#call('openJob', [job, limits]);
  }

  putJob(job: JobRecord): Promise<void> {
    return this.#call('putJob', [job]);
  }

  openJobs(source: string): Promise<JobRecord[]> {
    return this.#call('openJobs', [source]);
  }

  nextSegment(): Promise<number> {
    return this.#call('nextSegment', []);
  }

  commit(segments: readonly SegmentRecord[], answers: readonly StoredAnswer[]): Promise<void> {
    return this.#call('commit', [segments, answers], buffersOf(segments));
  }

  segment(sequence: number): Promise<SegmentRecord | undefined> {
    return this.#call('segment', [sequence]);
  }

  balances(period: number): Promise<Balance[]> {
    return this.#call('balances', [period]);
  }

  latestPeriod(): Promise<number> {
    return this.#call('latestPeriod', []);
  }

  usage(accountNumber: number, sinceDay: number): Promise<UsageDay[]> {
    return this.#call('usage', [accountNumber, sinceDay]);
  }

  saveRates(rates: readonly RateRecord[]): Promise<void> {
    return this.#call('saveRates', [rates]);
  }

  loadRates(sinceMs: number): Promise<RateRecord[]> {
    return this.#call('loadRates', [sinceMs]);
  }

  storedAnswer(accountNumber: number, keyDigest: string): Promise<StoredAnswer | undefined> {
    return this.#call('storedAnswer', [accountNumber, keyDigest]);
  }

  expire(nowMs: number, segmentsBeforeMs: number): Promise<{ answers: number; segments: number }> {
    return this.#call('expire', [nowMs, segmentsBeforeMs]);
  }

  putLog(records: readonly { key: string; value: Uint8Array }[]): Promise<void> {
    return this.#call('putLog', [records]);
  }

  getLog(key: string): Promise<Uint8Array | undefined> {
    return this.#call('getLog', [key]);
  }

  segmentsFrom(from: number, limit: number): Promise<SegmentRecord[]> {
    return this.#call('segmentsFrom', [from, limit]);
  }

  audit(): Promise<AuditReport> {
    return this.#call('audit', []);
  }

  backup(directory: string): Promise<void> {
    return this.#call('backup', [directory]);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#waiting.size > 0) await new Promise<void>((resolve) => (this.#announceIdle = resolve));
    this.#port.close();
  }

  #call<M extends Method>(
    method: M,
    args: Parameters<Ledger[M]>,
    transfer: ArrayBuffer[] = [],
  ): ReturnType<Ledger[M]> {
    const { promise, resolve, reject } = Promise.withResolvers<never>();
    if (this.#closed) reject(new LedgerError('stopped', 'the connection to the ledger is closed'));
    else if (this.#waiting.size >= OUTSTANDING_MAX) reject(new ApiError('overloaded', { retryAfterS: 1 }));
    else {
      const id = this.#nextId++;
      this.#port.postMessage({ id, method, args } satisfies Call, transfer);
      this.#waiting.set(id, { resolve, reject });
    }
    return promise as ReturnType<Ledger[M]>;
  }

  #settle(reply: Exclude<Reply, { failed: PackedError }>): void {
    const waiting = this.#waiting.get(reply.id);
    if (waiting === undefined) return; // rejected already: the port closed before
    this.#waiting.delete(reply.id);
    if ('error' in reply) waiting.reject(unpackError(reply.error));
    else waiting.resolve(reply.value as never);
    if (this.#waiting.size === 0) this.#announceIdle?.();
  }
}

/**
 * The buffers of segments and blocks that may change threads without a copy: those that the bytes fill alone. A view
 * of something larger is copied, since its neighbours stay.
 */
function buffersOf(value: unknown): ArrayBuffer[] {
  const buffers: ArrayBuffer[] = [];
  for (const item of Array.isArray(value) ? value : [value]) {
    const bytes = bytesOf(item);
    if (bytes !== undefined && bytes.byteLength > 0 && bytes.byteLength === bytes.buffer.byteLength) {
      buffers.push(bytes.buffer);
    }
  }
  return buffers;
}

function bytesOf(item: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  if ('entries' in item && item.entries instanceof Uint8Array) return item.entries as Uint8Array<ArrayBuffer>;
  if ('bytes' in item && item.bytes instanceof Uint8Array) return item.bytes as Uint8Array<ArrayBuffer>;
  return undefined;
}

function packError(error: unknown): PackedError {
  if (error instanceof ApiError) return { kind: 'api', code: error.code, facts: error.facts };
  if (error instanceof LedgerError) return { kind: 'ledger', reason: error.reason, message: error.message };
  if (error instanceof Error) {
    return { kind: 'fault', name: error.name, message: error.message, stack: error.stack ?? '' };
  }
  return { kind: 'fault', name: 'Error', message: String(error), stack: '' };
}

function unpackError(packed: PackedError): Error {
  if (packed.kind === 'api') return new ApiError(packed.code, packed.facts);
  if (packed.kind === 'ledger') return new LedgerError(packed.reason, packed.message);
  const error = new Error(packed.message);
  error.name = packed.name;
  error.stack = packed.stack;
  return error;
}
