import { numberIn, objectIn } from '../../core/json.ts';
import { BackendError, type RawRead } from '../backend.ts';
import { packShots, type Shots } from '../shots.ts';

/** The result that a job must give: one PUB of `shots` shots, with a register `c` of `width` bits. */
export type ExpectedResult = Pick<RawRead, 'shots' | 'width'>;

/**
 * Decodes the shots of a sampler's result. Channel i is c[i]. Refuses a result that lacks shots or has another width
 * (`permanent`, since the job will give nothing else), and one of counts or probabilities alone (`no_raw_shots`).
 */
export async function decodeResult(json: unknown, { shots, width }: ExpectedResult): Promise<Shots> {
  const { num_bits, samples } = objectIn(registerIn(json));
  const told = numberIn(num_bits);
  if (!Array.isArray(samples)) throw noShots();
  if (told !== width) throw incomplete(`${told ?? 'no number'} of ${width} bits a shot`);
  if (samples.length !== shots) throw incomplete(`${samples.length} of ${shots} shots`);
  return packShots(samples, width, (sample) => readSample(sample, width));
}

/** Returns register `c` of the PUB. */
function registerIn(json: unknown): unknown {
  const result = objectIn(json);
  if ('quasi_dists' in result) throw noShots(); // the sampler's first version: probabilities alone
  if (!Array.isArray(result.results)) throw incomplete('a result without PUBs');
  if (result.results.length !== 1) throw incomplete(`${result.results.length} PUBs, and 1 was ordered`);
  return objectIn(objectIn(result.results[0]).data).c;
}

/** Reads a hexadecimal number. c[0] is its least significant bit, and leading zeros may be left out. */
function readSample(sample: unknown, width: number): (channel: number) => boolean {
  const [, digits] = (typeof sample === 'string' && /^0x0*([0-9a-f]*)$/i.exec(sample)) || [];
  if (digits === undefined || sample === '0x') throw incomplete('a shot that is not a number');
  const digitAt = (place: number) => Number.parseInt(digits[digits.length - 1 - place] ?? '0', 16);
  const bits = 4 * digits.length - (digits === '' ? 0 : Math.clz32(digitAt(digits.length - 1)) - 28);
  if (bits > width) throw incomplete(`a shot of more than ${width} bits`);
  return (channel) => ((digitAt(channel >>> 2) >>> (channel & 3)) & 1) === 1;
}

function noShots(): BackendError {
  return new BackendError('no_raw_shots', 'IBM Quantum gave no per-shot data of register c');
}

function incomplete(what: string): BackendError {
  return new BackendError('permanent', `IBM Quantum gave ${what}`);
}
