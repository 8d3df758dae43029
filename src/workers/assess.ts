import { setPriority } from 'node:os';
import { wipe } from '../core/bytes.ts';
import { assessLot } from '../pool/intake/assess-lot.ts';
import { toeplitzHash, toeplitzSeed } from '../pool/intake/extractor.ts';
import { testSequence } from '../stats/sp800-22/verdict.ts';
import { assessBits } from '../stats/sp800-90b/assess.ts';
import { type AssessOutcome, type AssessTask, transferring } from './protocol.ts';

// Behind every thread that serves requests. On Linux this is the priority of the thread, elsewhere of the
// process.
if (process.platform === 'linux') setPriority(0, 10);

/**
 * Worker entry: statistical assessment of lots, and the hash of a whole lot, one task at a time, at low
 * priority. The raw bits are erased.
 */
export default function assess(task: AssessTask): AssessOutcome {
  const { bits } = task;
  try {
    switch (task.task) {
      case 'sp800-22':
        return testSequence(bits, task.bitLength);
      case 'sp800-90b':
        return assessBits(bits, task.bitLength).minEntropyPerBit;
      case 'lot':
        return assessLot(bits, task.width, task.shots);
      case 'extract': {
        const seed = toeplitzSeed(task.key, task.bitLength, task.outputBits);
        const output = toeplitzHash(bits, task.bitLength, seed, task.outputBits);
        return transferring(output, [output.buffer]);
      }
    }
  } finally {
    wipe(bits);
  }
}
