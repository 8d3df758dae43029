import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  chshPulses,
  circuitOf,
  ENTANGLERS,
  joinParts,
  PART_PLANS,
  type Part,
  partCounts,
  partsOf,
  pulseDepth,
  ShotPacker,
  shotsOfPart,
  superpositionPulses,
} from '../../src/backend/parts.ts';

const count = (parts: readonly Part[], part: Part) => parts.filter((each) => each === part).length;

suite('parts of a job', () => {
  test('each plan has its parts, in an order that its key fixes', () => {
    assert.deepEqual(partsOf('superposition', 'k'), ['bits']);
    const checks = partsOf('x-check', 'k');
    assert.deepEqual([checks.length, count(checks, 'x-test'), count(checks, 'bits')], [16, 2, 14]);
    for (const plan of PART_PLANS) {
      assert.deepEqual(partsOf(plan, 'k'), partsOf(plan, 'k'));
      const { all, raw } = partCounts(plan);
      assert.equal(partsOf(plan, 'k').length, all);
      assert.equal(all - count(partsOf(plan, 'k'), 'x-test'), raw);
    }
  });

  test('over keys, a test stands equally often in every place', () => {
    const tests = new Array<number>(16).fill(0);
    for (let key = 0; key < 4000; key++) {
      partsOf('x-check', `key ${key}`).forEach((part, place) => {
        if (part === 'x-test') tests[place]++;
      });
    }
    // 500 each on average; 21 is one standard deviation, and the keys are fixed.
    for (const found of tests) assert.ok(Math.abs(found - 500) < 85, String(tests));
  });

  test('the settings of a Bell test are uniform, and each is independent of the one before', () => {
    const followers = new Array<number>(16).fill(0);
    for (let key = 0; key < 1000; key++) {
      const settings = partsOf('bell-chsh', `key ${key}`) as number[];
      settings.slice(1).forEach((setting, place) => {
        followers[4 * settings[place] + setting]++;
      });
    }
    // 937.5 each on average; 30 is one standard deviation, and the keys are fixed.
    for (const found of followers) assert.ok(Math.abs(found - 937.5) < 120, String(followers));
  });

  test('the raw parts hold the bits that were asked for', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...PART_PLANS),
        fc.integer({ min: 1, max: 1e6 }),
        fc.integer({ min: 1, max: 200 }),
        (plan, bits, width) => {
          const shots = shotsOfPart(plan, bits, width);
          assert.ok(shots * width * partCounts(plan).raw >= bits);
          assert.ok((shots - 1) * width * partCounts(plan).raw < bits + 8 * width);
        },
      ),
    );
  });

  test('parts are joined bit by bit, tests and settings beside them', () => {
    const rows = fc.array(fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }), { maxLength: 9 });
    const parts = fc.oneof(
      fc.array(fc.tuple(fc.constantFrom<Part>('bits', 'x-test'), rows)),
      fc.array(fc.tuple(fc.constantFrom<Part>(0, 1, 2, 3), rows)),
    );
    fc.assert(
      fc.property(parts, (given) => {
        const joined = joinParts(
          given.map(([part, shots]) => packed(shots, part)),
          5,
          9,
        );
        const raw = given.filter(([part]) => part !== 'x-test');
        const tests = given.filter(([part]) => part === 'x-test').flatMap(([, shots]) => shots);
        assert.equal(bitText(joined.bits, 5 * joined.shots), text(raw.flatMap(([, shots]) => shots)));
        assert.equal(joined.bits.length, Math.ceil((5 * joined.shots) / 8));
        const { witness } = joined;
        const testedClusters = given.length - raw.length;
        if (testedClusters > 0) {
          assert.equal(witness?.kind, 'x-basis');
          assert.equal(bitText(witness.bits, 5 * witness.shots), text(tests));
          assert.deepEqual([witness.testedClusters, witness.rawClusters], [testedClusters, raw.length]);
          assert.equal(witness.shotsOrdered, 9);
        } else if (raw.some(([part]) => typeof part === 'number')) {
          assert.equal(witness?.kind, 'chsh');
          assert.deepEqual(
            [...witness.settings],
            raw.flatMap(([part, shots]) => shots.map(() => part)),
          );
          assert.deepEqual(
            [...witness.clusterShots],
            raw.map(([, shots]) => shots.length),
          );
        } else assert.equal(witness, undefined);
      }),
    );
  });

  test('what was joined is erased', () => {
    const part = packed([[true, true, true, true, true]], 'bits');
    joinParts([part], 5, 1);
    assert.deepEqual([...part.bits], [0]);
  });
});

function packed(shots: readonly (readonly boolean[])[], part: Part) {
  const packer = new ShotPacker(5, shots.length);
  for (const shot of shots) packer.add((channel) => shot[channel]);
  return packer.take(part);
}

function text(shots: readonly (readonly boolean[])[]): string {
  return shots.flatMap((shot) => shot.map((bit) => (bit ? '1' : '0'))).join('');
}

function bitText(bits: Uint8Array, length: number): string {
  const all = [...bits].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  assert.match(all.slice(length), /^0*$/);
  return all.slice(0, length);
}

suite('pulse circuits', () => {
  test('counts the layers on the longest path, with the measurement', () => {
    assert.equal(pulseDepth(superpositionPulses(3)), 2);
    assert.equal(pulseDepth(circuitOf('x-test', 3, null)), 3);
    assert.equal(pulseDepth(chshPulses(4, 0, 'cz')), 5);
    assert.equal(pulseDepth(chshPulses(4, 0, 'ms')), 3);
  });

  test('phases are eighths of one turn, and pairs are disjoint', () => {
    for (const entangler of ENTANGLERS) {
      for (const setting of [0, 1, 2, 3]) {
        for (const operation of chshPulses(6, setting, entangler).operations) {
          if (operation.kind === 'pulse') assert.ok(operation.eighths >= 0 && operation.eighths < 8);
          else assert.equal(operation.qubits[1], operation.qubits[0] + 1);
        }
      }
    }
  });
});
