import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RawRead } from '../../../../src/backend/backend.ts';
import { MeasuredQubits, type Noise } from '../../../../src/backend/simulator/qubits.ts';
import { ORIGINS, type Origin } from '../../../../src/core/vocabulary.ts';
import { EVIDENCE_LEVELS, type LotEvidence } from '../../../../src/ledger/records.ts';
import { evidenceOf as evidenceOfAssessed } from '../../../../src/pool/intake/evidence/evidence.ts';
import { onesPerChannel } from '../../../../src/stats/autocorrelation.ts';
import { fixedBytes, rawRead } from '../../../support/backends.ts';

const NEVER = new AbortController().signal;

/** The assessment of a lot of independent bits. */
const SOUND: Omit<Parameters<typeof evidenceOfAssessed>[2], 'ones'> = {
  windows: [],
  autocorrelation: { lag: 7, correlation: 0.0021, bound: 0.0044 },
};

const evidenceOf = (origin: Origin, read: RawRead, assessed = SOUND) =>
  evidenceOfAssessed(origin, read, {
    ...assessed,
    ones: onesPerChannel(read.bits, read.width, read.shots),
  });

const PERFECT = { e01: 0, e10: 0 };

/** A read of four qubits, the same in every run. */
async function readOf(noise: Partial<Noise> = {}, shots = 100_000): Promise<RawRead> {
  const { readout, bias }: Noise = {
    readout: new Array(4).fill(PERFECT),
    bias: 0,
    ...noise,
  };
  const qubits = new MeasuredQubits({ readout, bias }, fixedBytes('evidence superposition'));
  const taken = await qubits.take(shots, NEVER);
  const read = rawRead(taken.bits, 4, shots);
  const calibration = {
    readout_e01: readout.map(({ e01 }) => e01),
    readout_e10: readout.map(({ e10 }) => e10),
  };
  return { ...read, provenance: { ...read.provenance, circuit: 'superposition-4', calibration } };
}

/** Returns the evidence of such a read of a quantum processor. */
async function shownBy(...read: Parameters<typeof readOf>): Promise<LotEvidence> {
  return evidenceOf('quantum-processor', await readOf(...read));
}

function whyNot({ notReached }: LotEvidence): Record<string, string> {
  return Object.fromEntries(notReached.map(({ claim, why }) => [claim, why]));
}

function near(actual: number | null, expected: number, tolerance: number): void {
  assert.ok(actual !== null && Math.abs(actual - expected) <= tolerance, `${actual}, not ${expected}`);
}

describe('the evidence of a read', () => {
  it('is statistical, without a figure, when nothing is known of the device', async () => {
    const read = await readOf();
    const { provenance } = read;
    const evidence = evidenceOf('qrng-device', {
      ...read,
      provenance: { ...provenance, calibration: null },
    });
    assert.equal(evidence.claim, 'statistical');
    assert.equal(evidence.minEntropyPerBit, null);
    assert.deepEqual(evidence.figures, {
      autocorrelation: 0.0021,
      autocorrelation_bound: 0.0044,
      autocorrelation_lag: 7,
    });
    assert.deepEqual(whyNot(evidence), { calibrated: 'no readout errors are published for each channel' });
  });

  it('is not derived from tests of bytes that another service conditioned: their origin is its word', async () => {
    const read = await readOf();
    const certificates = [{ id: 'cert_1', leaf: 'leaf' }];
    const upstream = { log: 'hub.example/log', origin: 'simulated' as const, certificates };
    const answered = { ...read, provenance: { ...read.provenance, circuit: 'none', upstream } };
    for (const origin of ['quantum-processor', 'simulated'] as const) {
      const { claim, assumptions } = evidenceOf(origin, answered);
      assert.equal(claim, origin === 'simulated' ? 'simulated' : 'statistical');
      assert.match(assumptions, / The raw bits are conditioned output of another service, .* is its word\.$/);
    }
  });

  it('is calibrated by the published errors and the shares of ones of its own shots', async () => {
    const read = await readOf({ readout: new Array(4).fill({ e01: 0.004, e10: 0.006 }) });
    const evidence = evidenceOf('quantum-processor', read);
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

  it('is calibrated by the worst channel, and a tilted state lowers it', async () => {
    const sound = { e01: 0.004, e10: 0.006 };
    const readout = [sound, sound, { e01: 0.2, e10: 0.2 }, sound];
    const one = await shownBy({ readout });
    near(one.minEntropyPerBit, 1 - Math.log2(1.4), 0.03);
    const tilted = await shownBy({ bias: 0.2 });
    near(tilted.minEntropyPerBit, -Math.log2(0.7), 0.03);
    assert.ok((tilted.minEntropyPerBit ?? 1) < -Math.log2(0.7), 'and is bounded from below');
  });

  it('is not calibrated for entangled qubits, dead ones or lists that do not fit', async () => {
    const plain = await readOf();
    const joined = { ...plain, provenance: { ...plain.provenance, circuit: 'ghz-4' } };
    const entangled = evidenceOf('quantum-processor', joined);
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
      const evidence = evidenceOf('quantum-processor', { ...read, provenance });
      assert.equal(evidence.claim, 'statistical', JSON.stringify(calibration));
    }
  });
});

describe('no claim is above what the origin allows', () => {
  it('and every origin has the same figures, each with its own limit', async () => {
    const read = await readOf();
    const real = evidenceOf('quantum-processor', read);
    for (const origin of ORIGINS) {
      const evidence = evidenceOf(origin, read);
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

  it('and a simulated read states why it is no evidence', async () => {
    const evidence = evidenceOf('simulated', await readOf());
    assert.equal(evidence.method, 'none: the origin is simulated');
    assert.deepEqual(whyNot(evidence), {
      statistical: 'a program computed the shots',
      calibrated: 'a program computed the shots',
    });
  });
});

describe('bits that are not independent', () => {
  const dependent = { ...SOUND, autocorrelation: { lag: 65_537, correlation: 0.25, bound: 0.0044 } };
  const row = (pValue: number, order: 'shots' | 'channels' = 'shots') => {
    const sp80022 = { passed: 0, total: 188, smallestP: pValue, verified: false, reason: '', deciles: '' };
    const leastRow = { test: 'Serial', pValue };
    const window = { of: 'raw', bits: 400_000, sha256: '', firstBit: 0, minEntropyPerBit: 0.8 } as const;
    return { ...SOUND, windows: [{ ...window, order, sp80022, leastRow }] };
  };

  it('are not calibrated, and are credited with what their autocorrelation leaves, whatever the origin', async () => {
    const read = await readOf();
    for (const origin of ORIGINS) {
      const { claim, minEntropyPerBit, notReached } = evidenceOf(origin, read, dependent);
      assert.equal(claim, origin === 'simulated' ? 'simulated' : 'statistical');
      assert.equal(minEntropyPerBit, 0.41083, '-log2((1 + sqrt(0.2544)) / 2), rounded down');
      assert.equal(
        notReached.at(-1)?.why,
        'the autocorrelation at lag 65537 is 0.25, and independent bits stay within 0.0044',
      );
    }
    const worse = await readOf({ readout: new Array(4).fill({ e01: 0.3, e10: 0.3 }) });
    const { minEntropyPerBit, figures } = evidenceOf('quantum-processor', worse, dependent);
    assert.equal(minEntropyPerBit, figures['calibrated_min_entropy'], 'the least figure of all');
  });

  it('are refuted by a p-value below 2^-40, and by none above', async () => {
    // One channel that alternates between 0 and 1: its share of ones is a half.
    const fair = { ...(await readOf()), bits: new Uint8Array(50_000).fill(0x55), width: 1, shots: 400_000 };
    const calibration = { readout_e01: [0], readout_e10: [0] };
    const read = { ...fair, provenance: { ...fair.provenance, calibration } };
    for (const [pValue, claim] of [
      [2 ** -39.9, 'calibrated'],
      [2 ** -40.1, 'statistical'],
      [0, 'statistical'],
    ] as const) {
      const evidence = evidenceOf('quantum-processor', read, row(pValue));
      assert.equal(evidence.claim, claim, `p ${pValue}`);
    }
    const evidence = evidenceOf('quantum-processor', await readOf(), row(1e-40));
    assert.match(
      whyNot(evidence)['calibrated'],
      /^the p-value of Serial .* is 1\.0e-40, which no share of ones/,
    );
    assert.equal(evidence.minEntropyPerBit, evidence.figures['calibrated_min_entropy']);
  });

  it('are not refuted by a p-value that a stated bias explains', async () => {
    // Shares of 0.515: over 400,000 bits the frequency test alone gives exp(-180), and exp(-(5.3 + 13.4)²) is the limit.
    const read = await readOf({ bias: 0.015 });
    assert.equal(evidenceOf('quantum-processor', read, row(Math.exp(-180))).claim, 'calibrated');
    assert.equal(evidenceOf('quantum-processor', read, row(Number.MIN_VALUE)).claim, 'statistical');
  });
});
