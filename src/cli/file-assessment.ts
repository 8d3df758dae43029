import { createHash } from 'node:crypto';
import { BATTERY_BITS, type BatteryResult, runBattery } from '../stats/sp800-22/battery.ts';
import type { Constants } from '../stats/sp800-22/chi-squared.ts';
import {
  type RejectionVerdict,
  SequenceTally,
  type Verdict,
  type VerdictAcross,
  verdict,
  verdictOnRejections,
} from '../stats/sp800-22/verdict.ts';
import { assessBits, type NonIidAssessment } from '../stats/sp800-90b/assess.ts';
import type { BitFile } from './bit-file.ts';
import { CommandError } from './command.ts';
import type { Progress } from './progress.ts';

/** What the tests say of a file. Every sequence has 10^6 bits; what is left over at the end is not looked at. */
export interface FileAssessment {
  readonly path: string;
  readonly constants: Constants;
  readonly sequences: number;
  /** SHA-256 (hex) of all sequences, packed. */
  readonly sha256: string;
  readonly first: {
    readonly sha256: string;
    readonly battery: BatteryResult;
    readonly verdict: Verdict;
    readonly entropy: NonIidAssessment;
  };
  /** Null for one sequence. */
  readonly across: { readonly rows: VerdictAcross; readonly rejections: RejectionVerdict } | null;
  /** One sequence: its verdict. More: both verdicts across them. */
  readonly passed: boolean;
}

export interface AssessOptions {
  readonly constants: Constants;
  /** At least 1; may be infinite. */
  readonly sequencesMax: number;
  readonly progress: Progress;
}

/** Tests sequence by sequence, in memory that does not grow with the file. Throws a CommandError when it is too short. */
export async function assessFile(
  file: BitFile,
  path: string,
  options: AssessOptions,
): Promise<FileAssessment> {
  const { constants, sequencesMax, progress } = options;
  const hash = createHash('sha256');
  const tally = new SequenceTally();
  let sequences = 0;
  let rejected = 0;
  const test = (bytes: Uint8Array) => {
    hash.update(bytes);
    const battery = runBattery(bytes, BATTERY_BITS, { constants });
    const decision = verdict(battery.rows);
    tally.add(battery.rows);
    sequences++;
    if (!decision.passed) rejected++;
    progress.show(
      `${sequences} sequences tested, ${rejected} rejected`,
      fractionDone(file, sequences, sequencesMax),
    );
    return { battery, verdict: decision };
  };

  const head = await file.next();
  if (head.bitLength < BATTERY_BITS) {
    const held = head.bitLength.toLocaleString('en');
    throw new CommandError(
      `${path} holds ${held} bits; at least 1,000,000 are needed (125,000 packed bytes)`,
    );
  }
  const sha256 = createHash('sha256').update(head.bytes).digest('hex');
  const first = { ...test(head.bytes), sha256, entropy: assessBits(head.bytes, BATTERY_BITS) };
  while (sequences < sequencesMax) {
    const { bytes, bitLength } = await file.next();
    if (bitLength < BATTERY_BITS) break;
    test(bytes);
  }
  progress.clear();

  const isOne = sequences === 1;
  const across = isOne
    ? null
    : { rows: tally.verdict(), rejections: verdictOnRejections(sequences, rejected) };
  const passed = across === null ? first.verdict.passed : across.rows.passed && across.rejections.passed;
  return { path, constants, sequences, sha256: hash.digest('hex'), first, across, passed };
}

/** By bytes, so that it holds for text too; by sequences when only so many are asked for. */
function fractionDone(file: BitFile, sequences: number, sequencesMax: number): number | null {
  const ofFile = file.sizeBytes === null ? null : file.readBytes() / file.sizeBytes;
  if (sequencesMax === Number.POSITIVE_INFINITY) return ofFile;
  return Math.max(ofFile ?? 0, sequences / sequencesMax);
}
