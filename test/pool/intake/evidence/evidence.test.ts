import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RawRead } from '../../../../src/backend/backend.ts';
import { MeasuredQubits, type Noise } from '../../../../src/backend/simulator/qubits.ts';
import { ORIGINS } from '../../../../src/core/vocabulary.ts';
import { EVIDENCE_LEVELS, type LotEvidence } from '../../../../src/ledger/records.ts';
import { evidenceOf } from '../../../../src/pool/intake/evidence/evidence.ts';
import { fixedBytes, rawRead } from '../../../support/backends.ts';

const NEVER = new AbortController().signal;
const PERFECT = { e01: 0, e10: 0 };

/** A read of four qubits, the same in every run. */
async function readOf(noise: Partial<Noise> = {}, shots = 100_000): Promise<RawRead> {
  const { readout, bias, depolarizing }: Noise = {
    readout: new Array(4).fill(PERFECT),
    bias: 0,
    depolarizing: 0,
    ...noise,
  };
  const qubits = new MeasuredQubits({ readout, bias, depolarizing }, fixedBytes('evidence superposition'));
  const taken = await qubits.take(shots, NEVER);
  const read = rawRead(taken.bits, 4, shots);
  const calibration = {
    readout_e01: readout.map(({ e01 }) => e01),
    readout_e10: readout.map(({ e10 }) => e10),
  };
  return { ...read, provenance: { ...read.provenance, circuit: 'superposition-4', calibration } };
}

/** What such a read of a quantum processor is evidence of. */
async function shownBy(...read: Parameters<typeof readOf>): Promise<LotEvidence> {
  return evidenceOf('quantum-processor', await readOf(...read));
}

function whyNot({ notReached }: LotEvidence): Record<string, string> {
  return Object.fromEntries(notReached.map(({ claim, why }) => [claim, why]));
}

function near(actual: number | null, expected: number, tolerance: number): void {
  assert.ok(actual !== null && Math.abs(actual - expected) <= tolerance, `${actual}, not ${expected}`);
}

describe('what a read is evidence of', () => {
  it('statistical, without a figure: when nothing is known of the device', async () => {
    const read = await readOf();
    const { provenance } = read;
    const evidence = await evidenceOf('qrng-device', {
      ...read,
      provenance: { ...provenance, calibration: null },
    });
    assert.equal(evidence.claim, 'statistical');
    assert.equal(evidence.minEntropyPerBit, null);
    assert.deepEqual(evidence.figures, {});
    assert.deepEqual(whyNot(evidence), { calibrated: 'no readout errors are published for each channel' });
  });

  it('calibrated: by the published errors and the shares of ones of its own shots', async () => {
    const read = await readOf({ readout: new Array(4).fill({ e01: 0.004, e10: 0.006 }) });
    const evidence = await evidenceOf('quantum-processor', read);
    assert.equal(evidence.claim, 'calibrated');
    const { figures } = evidence;
    // 1 - log2(1.01) = 0.986 is what ideal qubits have; four bounds on shares cost 2 sqrt(30 / (2 · 100,000)) at most
    assert.ok(evidence.minEntropyPerBit !== null && evidence.minEntropyPerBit < 1 - Math.log2(1.01));
    assert.ok(evidence.minEntropyPerBit > 1 - Math.log2(1.01 + 2 * 0.0145));
    assert.equal(figures['calibrated_min_entropy'], evidence.minEntropyPerBit);
    assert.ok(figures['calibrated_min_entropy_mean'] > evidence.minEntropyPerBit);
    near(figures['readout_error_max'], 0.01, 1e-9);
    assert.ok(figures['ones_share_min'] > 0.49 && figures['ones_share_max'] < 0.51);
    assert.deepEqual(evidence.notReached, []);
    assert.match(evidence.assumptions, /independent and identically distributed.*pure state/);
  });

  it('calibrated: the worst channel decides, and a state that is tilted costs', async () => {
    const sound = { e01: 0.004, e10: 0.006 };
    const readout = [sound, sound, { e01: 0.2, e10: 0.2 }, sound];
    const one = await shownBy({ readout });
    near(one.minEntropyPerBit, 1 - Math.log2(1.4), 0.03);
    const tilted = await shownBy({ bias: 0.2 });
    near(tilted.minEntropyPerBit, -Math.log2(0.7), 0.03);
    assert.ok((tilted.minEntropyPerBit ?? 1) < -Math.log2(0.7), 'and is bounded from below');
  });

  it('calibrated: not for entangled qubits, dead ones or lists that do not fit', async () => {
    const plain = await readOf();
    const joined = { ...plain, provenance: { ...plain.provenance, circuit: 'ghz-4' } };
    const entangled = await evidenceOf('quantum-processor', joined);
    assert.equal(entangled.claim, 'statistical');
    assert.equal(whyNot(entangled)['calibrated'], 'the circuit is no superposition of separate qubits');
    const dead = [PERFECT, PERFECT, PERFECT, { e01: 0, e10: 1 }];
    const broken = await shownBy({ readout: dead });
    assert.equal(whyNot(broken)['calibrated'], 'channel 3: 0 bits per raw bit are too few to draw from');
    assert.equal(broken.figures['readout_error_max'], 1);
    assert.equal(broken.minEntropyPerBit, null);

    const read = await readOf({}, 1000);
    for (const calibration of [
      {},
      { readout_e01: [0, 0, 0, 0] },
      { readout_e01: [0, 0, 0, 0], readout_e10: [0, 0, 0] },
      { readout_e01: [0, 0, 0, 0], readout_e10: [0, 0, 0, -0.1] },
      { readout_e01: 0.01, readout_e10: 0.01 },
    ]) {
      const provenance = { ...read.provenance, calibration };
      const evidence = await evidenceOf('quantum-processor', { ...read, provenance });
      assert.equal(evidence.claim, 'statistical', JSON.stringify(calibration));
    }
  });
});

describe('no claim is above what the origin allows', () => {
  it('gives every origin the same figures, and none a claim above its own', async () => {
    const read = await readOf();
    const real = await evidenceOf('quantum-processor', read);
    for (const origin of ORIGINS) {
      const evidence = await evidenceOf(origin, read);
      assert.deepEqual(evidence.figures, real.figures, origin);
      const isQuantum = origin === 'quantum-processor' || origin === 'qrng-device';
      const ceiling = origin === 'simulated' ? 'simulated' : 'statistical';
      assert.equal(evidence.claim, isQuantum ? 'calibrated' : ceiling, origin);
      if (!isQuantum) assert.equal(evidence.minEntropyPerBit, null);
      const told = [evidence.claim, ...evidence.notReached.map(({ claim }) => claim)];
      assert.deepEqual(told, EVIDENCE_LEVELS.slice(EVIDENCE_LEVELS.indexOf(evidence.claim)));
      assert.ok(evidence.notReached.every(({ why }) => why !== ''));
    }
  });

  it('says of a simulated read why it is no evidence', async () => {
    const evidence = await evidenceOf('simulated', await readOf());
    assert.equal(evidence.method, 'none: the origin is simulated');
    assert.deepEqual(whyNot(evidence), {
      statistical: 'a program computed the shots',
      calibrated: 'a program computed the shots',
    });
  });
});
