import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RawRead } from '../../../src/backend/backend.ts';
import { CopyTest } from '../../../src/pool/intake/copies.ts';
import { HealthMonitor } from '../../../src/pool/intake/health.ts';
import { rawRead } from '../../support/backends.ts';
import { changedBackend, collected, collecting, LOT_RAW_BITS, soundRead as soundReadOf } from './lying.ts';
import { biased, readsOf, sound } from './models.ts';

const BITS = 256 * 1024;

const soundRead = (label: string, bits = BITS) => soundReadOf(label, bits, 1);

function agoOf(test: CopyTest, read: RawRead): number | undefined {
  const steps = test.search(read);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

const bitAt = (bits: Uint8Array, at: number) => (bits[at >> 3] >> (7 - (at & 7))) & 1;

/** Returns `read` in which `count` bits of `from`, from `start` on, replace its own bits from `at` on. */
function patched(read: RawRead, from: RawRead, start: number, at: number, count: number): RawRead {
  const bits = read.bits.slice();
  for (let i = 0; i < count; i++) {
    const mask = 0x80 >> ((at + i) & 7);
    if (bitAt(from.bits, start + i) === 1) bits[(at + i) >> 3] |= mask;
    else bits[(at + i) >> 3] &= ~mask;
  }
  return rawRead(bits, read.width, read.shots);
}

describe('repeated bits', () => {
  it('are found at every shift, up to as many reads back as are remembered', () => {
    // Every position in a byte, and positions around the ends of words.
    for (const shift of [0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 31, 32, 33]) {
      const test = new CopyTest(1);
      const first = soundRead('first');
      assert.equal(agoOf(test, first), undefined);
      const between = shift % 4;
      for (let i = 0; i < between; i++) assert.equal(agoOf(test, soundRead(`other ${i}`)), undefined);
      const count = BITS - shift;
      assert.equal(agoOf(test, patched(soundRead('new'), first, shift, 0, count)), between + 1, `${shift}`);
    }
  });

  it('are found in a part of a read, wherever they are and were: 30 trials of a sixteenth', () => {
    for (let trial = 0; trial < 30; trial++) {
      const test = new CopyTest(1);
      const first = soundRead(`first ${trial}`);
      agoOf(test, first);
      const [start, at] = [trial * 8002, (30 - trial) * 8006];
      assert.equal(agoOf(test, patched(soundRead(`new ${trial}`), first, start, at, BITS / 16)), 1);
    }
  });

  it('are missed as often as theory says: e^(-512 f) for a share f', () => {
    const trials = 200;
    // A 1/256 of a read holds two sampled positions on average; the first 128 bits of a copy only serve for
    // comparison.
    const count = BITS / 256 + 128;
    let missed = 0;
    for (let trial = 0; trial < trials; trial++) {
      const test = new CopyTest(1);
      const first = soundRead(`small ${trial}`, BITS);
      agoOf(test, first);
      const copy = patched(soundRead(`into ${trial}`), first, 1111 * trial, 1000 * trial, count);
      if (agoOf(test, copy) === undefined) missed++;
    }
    const expected = trials * Math.exp(-2); // 27 of 200, with a deviation of 5
    assert.ok(Math.abs(missed - expected) < 5 * Math.sqrt(expected), `${missed}`);
  });

  it('are found within one read: a period that no estimator of a million bits detects', () => {
    for (const period of [BITS / 2, BITS / 2 - 1, 100_001, 50_021, 20_011]) {
      const first = soundRead(`period ${period}`);
      let repeated = first;
      for (let at = period; at < BITS; at += period) {
        repeated = patched(repeated, first, 0, at, Math.min(period, BITS - at));
      }
      assert.equal(agoOf(new CopyTest(1), repeated), 0, `${period}`);
    }
  });

  it('are not reported when there are none, in biased bits or in reads that are too short', () => {
    for (const [model, claim] of [
      [sound(), 1],
      [biased(0.7, 1), 0.51],
      [biased(0.9, 1), 0.15],
    ] as const) {
      const test = new CopyTest(claim);
      const read = readsOf(model, 'honest');
      for (let i = 0; i < 24; i++) assert.equal(agoOf(test, read(131_072 / model.width)), undefined);
    }
    const short = new CopyTest(1);
    for (let i = 0; i < 3; i++) assert.equal(agoOf(short, soundRead('same', 4096)), undefined);
  });
});

describe('a source that repeats bits', () => {
  it('fails the health tests, and passes with new bits after that', () => {
    const monitor = new HealthMonitor({ width: 1, minEntropyPerBit: 1 });
    const first = soundRead('health');
    assert.equal(monitor.check(first).grade, 'pass');
    const { grade, failures, counters } = monitor.check(patched(soundRead('fresh'), first, 77, 5, BITS / 4));
    assert.deepEqual([grade, counters.replayFailures], ['intermittent', 1]);
    assert.deepEqual(failures, [
      { test: 'replay', grade: 'intermittent', channel: null, observed: 1, cutoff: 64 },
    ]);
    assert.equal(monitor.check(soundRead('again fresh')).grade, 'pass');
  });

  it('is closed by the fifth lot when each lot is the same, shifted, and only its first lot serves', async () => {
    const whole = soundRead('buffer', 2 * LOT_RAW_BITS);
    const world = collecting(
      changedBackend((read, count) => {
        const from = (count - 1) * 403;
        const shifted = patched(
          rawRead(new Uint8Array(LOT_RAW_BITS / 8), 1, LOT_RAW_BITS),
          whole,
          from,
          0,
          LOT_RAW_BITS,
        );
        return { ...shifted, provenance: read.provenance };
      }),
    );
    const { state, lotsAccepted, lotsRejected } = await collected(world);
    assert.deepEqual([state, lotsAccepted, lotsRejected], ['closed', 1, 5]);
    assert.deepEqual(world.closed, ['health tests: replay']);
    const [lotId] = (await world.ledger.claimBlocks('pure', 9)).map((block) => block.lotId);
    const lots = await world.ledger.lots(20);
    assert.deepEqual(
      lots.map(({ id, accepted, conditionedBytes, processedSha256 }) => [
        id === lotId,
        accepted,
        conditionedBytes > 0,
        processedSha256 !== '',
      ]),
      [...new Array(5).fill([false, false, false, false]), [true, true, true, true]],
    );
  });

  it('keeps serving when it repeats bits rarely, and the repeated bits are left out', async () => {
    let held: RawRead | undefined;
    const backend = changedBackend((read, count) => {
      held ??= { ...read, bits: read.bits.slice() };
      return count % 30 === 0 ? patched(read, held, 9, 0, 40_000) : read;
    });
    const { state, lotsAccepted, lotsRejected } = await collected(collecting(backend, 70));
    assert.deepEqual([state, lotsAccepted, lotsRejected], ['ok', 70, 2]);
  });
});
