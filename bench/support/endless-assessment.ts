import { randomFillSync } from 'node:crypto';
import { isMainThread } from 'node:worker_threads';
import { ASSESSED_BITS } from '../../src/pool/intake/assessor.ts';
import { Workers } from '../../src/workers/dispatch.ts';

/**
 * For a bench, loaded into the service with `--import`: SIGUSR2 makes it assess one lot after another, of bits made
 * here, on the assessment thread that it has anyway; another one ends that and writes `assessed N lots` to stderr.
 */

let isOn = false;

/** The tests of one lot, as makeLot has them done. */
async function assessLots(workers: Workers): Promise<void> {
  let lots = 0;
  for (; isOn; lots++) {
    const bits = randomFillSync(new Uint8Array(ASSESSED_BITS / 8));
    await workers.assessLot(bits, 1, ASSESSED_BITS);
    await workers.testBits('conditioned', bits, ASSESSED_BITS);
  }
  process.stderr.write(`assessed ${lots} lots\n`);
}

if (isMainThread) {
  const { assessLot } = Workers.prototype;
  // the service tests its system source when it starts: there its Workers are met
  Workers.prototype.assessLot = function (this: Workers, ...args) {
    Workers.prototype.assessLot = assessLot;
    process.on('SIGUSR2', () => {
      isOn = !isOn;
      if (isOn) assessLots(this);
    });
    return assessLot.call(this, ...args);
  };
}
