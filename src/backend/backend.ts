import { assert } from '../core/assert.ts';
import { isQuantum, type Origin } from '../core/vocabulary.ts';

/**
 * The seam of entropy sources. A backend gives raw noise and says exactly where it came from; it never tests,
 * conditions or invents bits. Two shapes: a job backend (submit, poll, fetch; minutes) and a stream backend
 * (read; milliseconds). Only ordered per-shot data counts as entropy: a backend that offers only a histogram
 * or probabilities fails with `no_raw_shots`.
 */
export type Backend = JobBackend | StreamBackend;

/** Whether the origin of a backend is a quantum one that its operator declares and nothing attests. */
export function isDeclaredQuantum({ origin, isDeclared }: BackendIdentity): boolean {
  return isDeclared === true && isQuantum(origin);
}

interface BackendIdentity {
  /** The name under which it is configured, e.g. `simulator`. */
  readonly name: string;
  readonly origin: Origin;
  /**
   * True when nobody but the operator says what the origin is: it was typed in, or the address of the provider
   * was. See `isDeclaredQuantum`.
   */
  readonly isDeclared?: boolean;
  /** `quantum_backend` of answers, e.g. `simulator-statevector`. */
  readonly quantumBackend: string;
  /** True for a deterministic source: its certificates say status `test`. */
  readonly deterministic: boolean;
  /**
   * Min-entropy per raw bit that the maker claims (SP 800-90B H_submitter); health-test cutoffs derive from
   * it.
   */
  readonly claimedMinEntropyPerBit: number;
  /**
   * Raw bits of one lot of this source; the pool's own figure when left out. One read, or one job, gives a
   * lot.
   */
  readonly lotRawBits?: number;
  /** Raw bits of a lot that a mode waits for, where fewer make the service ready sooner; as any other lot when left out. */
  readonly firstLotRawBits?: number;
  /**
   * What reading so many bits costs; left out by a source that costs nothing. Never a call to the provider.
   */
  estimate?(bits: number): Spend;
  /**
   * What the source says of itself: device, state, queue, calibration, limits. Reads no entropy, costs
   * nothing.
   */
  describe?(signal: AbortSignal): Promise<SourceFacts>;
}

/**
 * What a read costs in the provider's own currency, and how many calls or jobs of the provider's quota it
 * takes.
 */
export interface Spend {
  readonly amount: number;
  /** ISO 4217 where it is money; else the provider's unit, e.g. `qpu-seconds`. */
  readonly currency: string;
  readonly calls: number;
}

/** Named facts for people, in the order in which they are shown. */
export type SourceFacts = Readonly<Record<string, string | number | boolean | null>>;

export interface StreamBackend extends BackendIdentity {
  readonly kind: 'stream';
  /** A read that takes longer has stalled; the pool's own figure when left out. */
  readonly readTimeoutMs?: number;
  /** Reads at least `bits` bits (whole shots). Rejects with a BackendError. */
  read(bits: number, signal: AbortSignal): Promise<RawRead>;
}

export interface JobBackend extends BackendIdentity {
  readonly kind: 'job';
  /** Starts a job for at least `bits` bits. The same `idempotencyKey` never starts a second job. */
  submit(bits: number, idempotencyKey: string, signal: AbortSignal): Promise<JobReference>;
  poll(job: JobReference, signal: AbortSignal): Promise<JobState>;
  fetch(job: JobReference, signal: AbortSignal): Promise<RawRead>;
  /** Asks the provider not to run a job that nobody will fetch. */
  cancel(job: JobReference): Promise<void>;
  /**
   * Deletes the raw results at the provider, once their lot is durable. Deleting what is gone is not an error.
   */
  forget?(job: JobReference, signal: AbortSignal): Promise<void>;
}

/** Names a submitted job for as long as it lives: kept on disk, so that a restarted service resumes it. */
export interface JobReference {
  readonly jobId: string;
  readonly idempotencyKey: string;
  /** Raw bits that were asked for. */
  readonly bits: number;
  /** What the backend wants to know again (qubits, calibration, place of the results): JSON, no secrets. */
  readonly memo: string;
}

export type JobState =
  | { readonly state: 'queued' | 'running'; readonly retryAfterMs?: number }
  | { readonly state: 'done' }
  | { readonly state: 'failed' | 'cancelled'; readonly reason: string };

/** What one read of a backend gave. */
export interface RawRead {
  /**
   * The bits, shot-major and most significant bit first: bit (shot * width + i) is what channel i gave in
   * that shot. The last byte is padded with zero bits.
   */
  readonly bits: Uint8Array<ArrayBuffer>;
  /** Channels per shot: the qubits measured, or 1 for a plain bit stream. */
  readonly width: number;
  readonly shots: number;
  /** SHA-256 (hex) of what the backend delivered, verbatim, before anything decoded it: `raw_output`. */
  readonly rawSha256: string;
  readonly provenance: Provenance;
}

/** Facts of one read; absent facts are null, never invented. */
export interface Provenance {
  readonly provider: string;
  readonly device: string;
  readonly jobId: string | null;
  /** `lang_circuit`; the literal `none` for sources without a circuit. */
  readonly circuit: string;
  /** `lang_version`: version of the circuit compiler, or `none`. */
  readonly circuitVersion: string;
  readonly circuitSha256: string | null;
  readonly qubitsUsed: number;
  readonly circuitDepth: number;
  readonly shots: number;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  /**
   * What the provider publishes of the device. By convention `id` and `date` name the calibration, and
   * `readout_e01` and
   * `readout_e10` are lists by channel: the probability to read 1 for a prepared 0, and 0 for a prepared 1.
   */
  readonly calibration: Readonly<Record<string, string | number | readonly number[]>> | null;
  /** The bits are answers of another service of this kind, which it certified; absent where they are not. */
  readonly upstream?: UpstreamAnswers;
}

/** Answers that a read was put together from, in their order. */
interface UpstreamAnswers {
  /** Name of the log that holds their certificates. */
  readonly log: string;
  /** The weakest that the certificates name. */
  readonly origin: Origin;
  /** Of each its id, `cert_…`, and the hash of its leaf in that log, in base64. */
  readonly certificates: readonly { readonly id: string; readonly leaf: string }[];
}

/** What is told of a read of a source without a circuit. */
interface PlainRead
  extends Pick<Provenance, 'provider' | 'device' | 'startedAtMs' | 'finishedAtMs' | 'calibration'> {
  readonly bits: Uint8Array<ArrayBuffer>;
  readonly rawSha256: string;
  readonly jobId?: string | null;
  readonly upstream?: UpstreamAnswers;
}

/** The read of a source without a circuit: shots of so many channels, which fill whole bytes. */
export function plainRead({ bits, rawSha256, jobId = null, ...told }: PlainRead, width = 1): RawRead {
  const shots = (8 * bits.length) / width;
  const none = {
    circuit: 'none',
    circuitVersion: 'none',
    circuitSha256: null,
    qubitsUsed: 0,
    circuitDepth: 0,
  };
  return { bits, width, shots, rawSha256, provenance: { jobId, ...none, shots, ...told } };
}

/**
 * retryable: try again later; quota: the provider's budget is spent; auth: credentials; permanent: needs a
 * person.
 */
export type BackendErrorKind = 'retryable' | 'quota' | 'auth' | 'permanent' | 'no_raw_shots';

export class BackendError extends Error {
  override name = 'BackendError';
  readonly kind: BackendErrorKind;
  readonly retryAfterMs: number | undefined;

  constructor(kind: BackendErrorKind, message: string, retryAfterMs?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = Number.isNaN(retryAfterMs) ? undefined : retryAfterMs; // else a pause of NaN is none
  }
}

/**
 * The largest single read: 32 MiB of raw noise. Larger harvests are several reads, so that each is tested
 * soon.
 */
export const MAX_READ_BITS = 2 ** 28;

/**
 * Shots of `width` channels that hold at least `bits` bits. Where the width divides 8 the shots fill whole
 * bytes, so that such reads can be joined without shifting.
 */
export function wholeShots(bits: number, width: number): number {
  assert(
    Number.isSafeInteger(bits) && bits >= 1 && bits <= MAX_READ_BITS,
    `a read is of 1 to ${MAX_READ_BITS} bits`,
  );
  assert(Number.isInteger(width) && width >= 1, 'a shot has at least one channel');
  const unit = 8 % width === 0 ? 8 : width;
  return (Math.ceil(bits / unit) * unit) / width;
}
