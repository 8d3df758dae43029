import { assert } from '../../core/assert.ts';
import { bitsFrom, wipe } from '../../core/bytes.ts';
import { sha256Hex } from '../../crypto/digest.ts';
import { autocorrelationOf, minEntropyOfCorrelation, onesPerChannel } from '../../stats/autocorrelation.ts';
import { runBattery } from '../../stats/sp800-22/battery.ts';
import { outcomeOf, testSequence } from '../../stats/sp800-22/verdict.ts';
import { assessBits } from '../../stats/sp800-90b/assess.ts';
import {
  ASSESSED_BITS,
  type AssessedWindow,
  type Assessor,
  type LotAssessment,
  SCREENED_BITS,
} from './assessor.ts';

/** Runs the tests in this thread: in the assessment worker, and in commands. */
export const assessorInPlace: Assessor = {
  async testBits(of, bits, bitLength) {
    const tested = bits.subarray(0, Math.ceil(bitLength / 8));
    const sp80022 = testSequence(tested, bitLength);
    return { of, bits: bitLength, firstBit: 0, sha256: sha256Hex(tested), sp80022 };
  },
  assessLot: async (bits, width, shots) => assessLot(bits, width, shots),
};

/**
 * Assesses every bit of a lot by SP 800-90B 6.3 and SP 800-22, in windows of 10^6 bits and in two orders. Shot after
 * shot, a pattern within one channel is spread out; channel after channel, its bits are adjacent. If the lot is not a
 * multiple of 10^6 bits, the last window overlaps the one before; a shorter lot is one window. A lot with one channel
 * is assessed once. The autocorrelation of the whole lot shows dependence over long distances.
 *
 * `bits` holds `shots` shots of `width` channels, packed like a RawRead. The call is synchronous and takes 0.17 s a
 * window on an idle core (ten windows for a lot of 4 Mbit), so it belongs in the assessment worker. The caller erases
 * `bits`.
 *
 * An ideal source scores about 0.82 as the least of ten windows, and 0.85 in a single one.
 */
export function assessLot(bits: Uint8Array, width: number, shots: number): LotAssessment {
  const total = width * shots;
  assert(Number.isSafeInteger(total) && total >= 1 && total <= bits.length * 8, 'a lot holds all its shots');
  const windows = assessInOrder('shots', bits, total);
  if (width > 1) {
    const transposed = channelAfterChannel(bits, width, shots);
    windows.push(...assessInOrder('channels', transposed, total));
    wipe(transposed);
  }
  const estimates = windows.map((window) => window.minEntropyPerBit).filter((each) => each !== null);
  const autocorrelation = autocorrelationOf(bits, width, shots);
  const left = minEntropyOfCorrelation(autocorrelation) ?? 1;
  return {
    windows,
    minEntropyPerBit: estimates.length === 0 ? null : Math.min(...estimates, left),
    autocorrelation,
    ones: onesPerChannel(bits, width, shots),
  };
}

function assessInOrder(order: AssessedWindow['order'], bits: Uint8Array, total: number): AssessedWindow[] {
  return windowStarts(total).map((firstBit) => {
    const bitLength = Math.min(ASSESSED_BITS, total);
    const window = bitsFrom(bits, firstBit, bitLength);
    try {
      const battery = runBattery(window, bitLength);
      return {
        of: 'raw',
        order,
        firstBit,
        bits: bitLength,
        sha256: sha256Hex(window),
        sp80022: outcomeOf(battery, bitLength),
        leastRow: leastRowOf(battery.rows),
        ...estimateOf(window, bitLength),
      };
    } finally {
      wipe(window);
    }
  });
}

/** See AssessedWindow. */
export function leastRowOf(rows: ReturnType<typeof runBattery>['rows']): AssessedWindow['leastRow'] {
  return rows
    .filter(({ test }) => test !== 'Runs')
    .reduce<AssessedWindow['leastRow']>(
      (least, { test, pValue }) => (pValue < least.pValue ? { test, pValue } : least),
      { test: 'none', pValue: 1 },
    );
}

function estimateOf(
  window: Uint8Array,
  bitLength: number,
): Pick<AssessedWindow, 'minEntropyPerBit' | 'estimators'> {
  if (bitLength < SCREENED_BITS) return { minEntropyPerBit: null };
  const { minEntropyPerBit, estimators } = assessBits(window, bitLength);
  const given = Object.entries(estimators).filter((each): each is [string, number] => each[1] !== null);
  return { minEntropyPerBit, estimators: Object.fromEntries(given) };
}

/**
 * Returns the first bits of windows of ASSESSED_BITS that cover `total` bits. If these are not a multiple, the last
 * window overlaps the one before.
 */
export function windowStarts(total: number): number[] {
  const starts: number[] = [];
  for (let at = 0; at + ASSESSED_BITS <= total; at += ASSESSED_BITS) starts.push(at);
  if (total % ASSESSED_BITS !== 0) starts.push(Math.max(0, total - ASSESSED_BITS));
  return starts;
}

/** Returns the bits of a lot channel after channel, each with all its shots. */
function channelAfterChannel(bits: Uint8Array, width: number, shots: number): Uint8Array<ArrayBuffer> {
  const transposed = new Uint8Array(Math.ceil((width * shots) / 8));
  let to = 0;
  let byte = 0;
  for (let channel = 0; channel < width; channel++) {
    for (let at = channel; at < width * shots; at += width, to++) {
      byte = (byte << 1) | ((bits[at >>> 3] >>> (7 - (at & 7))) & 1);
      if ((to & 7) === 7) transposed[to >>> 3] = byte;
    }
  }
  if (to % 8 !== 0) transposed[to >>> 3] = byte << (8 - (to % 8));
  return transposed;
}
