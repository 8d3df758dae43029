import type { Origin } from './vocabulary.ts';

/** Facts of one read. Unknown facts are null and never invented. */
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
   * What the provider publishes of the device. By convention `id` and `date` name the calibration. `readout_e01` and
   * `readout_e10` are lists by channel: the probability to read 1 for a prepared 0, and 0 for a prepared 1.
   */
  readonly calibration: Readonly<Record<string, string | number | readonly number[]>> | null;
  /** The certified answers of another service of this kind that the bits are; absent for other bits. */
  readonly upstream?: UpstreamAnswers;
}

/** The answers that a read consists of. */
export interface UpstreamAnswers {
  /** Name of the log that holds their certificates. */
  readonly log: string;
  /** The weakest origin in the certificates. */
  readonly origin: Origin;
  /** The certificates in the order of the bits. `leaf` is the hash of the certificate's leaf in that log, in base64. */
  readonly certificates: readonly { readonly id: string; readonly leaf: string }[];
}
