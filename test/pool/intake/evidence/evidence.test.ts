import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RawRead, Witness } from '../../../../src/backend/backend.ts';
import { superposition } from '../../../../src/backend/circuit.ts';
import { checkedNoise, type Noise } from '../../../../src/backend/simulator/noise.ts';
import { bellRun, plainRun, type Run, xCheckRun } from '../../../../src/backend/simulator/runs.ts';
import { simulatorOf } from '../../../../src/backend/simulator/simulator.ts';
import { InvariantError } from '../../../../src/core/assert.ts';
import { ORIGINS } from '../../../../src/core/vocabulary.ts';
import { EVIDENCE_LEVELS, type LotEvidence } from '../../../../src/ledger/records.ts';
import {
  jointMinEntropyRate,
  localNats,
  xBasisMinEntropy,
} from '../../../../src/pool/intake/evidence/bounds.ts';
import { evidenceOf } from '../../../../src/pool/intake/evidence/evidence.ts';
import { fixedBytes } from '../../../support/backends.ts';
import { ghzParity } from '../../../support/circuits.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const NEVER = new AbortController().signal;
const PERFECT = { e01: 0, e10: 0 };

type Circuit = 'superposition' | 'x-check' | 'bell-chsh' | 'ghz';

/** A read of four qubits, the same in every run. */
async function readOf(
  circuit: Circuit,
  noise: Partial<Noise> = {},
  shots = 100_000,
  clusterShots = 1,
): Promise<RawRead> {
  const checked = checkedNoise({ readout: PERFECT, bias: 0, depolarizing: 0, ...noise }, 4);
  const source = fixedBytes(`evidence ${circuit}`);
  const runs: Record<Circuit, () => Run> = {
    superposition: () => plainRun(superposition(4), checked, source),
    'x-check': () => xCheckRun(0.25, clusterShots, checked, source),
    'bell-chsh': () => bellRun(clusterShots, checked, source),
    ghz: () => plainRun(ghzParity(4), checked, source),
  };
  const clock = new ManualClock();
  const parts = { name: 'test', run: runs[circuit](), noise: checked, clock, deterministic: true };
  return simulatorOf(parts).read(4 * shots, NEVER);
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
    const read = await readOf('superposition');
    const { provenance } = read;
    const evidence = await evidenceOf('qrng-device', {
      ...read,
      provenance: { ...provenance, calibration: null },
    });
    assert.equal(evidence.claim, 'statistical');
    assert.equal(evidence.minEntropyPerBit, null);
    assert.deepEqual(evidence.figures, {});
    assert.deepEqual(whyNot(evidence), {
      calibrated: 'no readout errors are published for each channel',
      'source-independent': 'the source ran no X-basis test shots',
      'bell-witness': 'the source ran no Bell test',
    });
  });

  it('calibrated: by the published errors and the shares of ones of its own shots', async () => {
    const read = await readOf('superposition', { readout: { e01: 0.004, e10: 0.006 } });
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
    assert.deepEqual(Object.keys(whyNot(evidence)), ['source-independent', 'bell-witness']);
    assert.match(evidence.assumptions, /independent and identically distributed.*pure state/);
  });

  it('calibrated: the worst channel decides, and a state that is tilted costs', async () => {
    const sound = { e01: 0.004, e10: 0.006 };
    const readout = [sound, sound, { e01: 0.2, e10: 0.2 }, sound];
    const one = await shownBy('superposition', { readout });
    near(one.minEntropyPerBit, 1 - Math.log2(1.4), 0.03);
    const tilted = await shownBy('superposition', { bias: 0.2 });
    near(tilted.minEntropyPerBit, -Math.log2(0.7), 0.03);
    assert.ok((tilted.minEntropyPerBit ?? 1) < -Math.log2(0.7), 'and is bounded from below');
  });

  it('calibrated: not for entangled qubits, dead ones or lists that do not fit', async () => {
    const entangled = await shownBy('ghz');
    assert.equal(entangled.claim, 'statistical');
    assert.equal(whyNot(entangled)['calibrated'], 'the circuit is no superposition of separate qubits');
    const dead = [PERFECT, PERFECT, PERFECT, { e01: 0, e10: 1 }];
    const broken = await shownBy('superposition', { readout: dead });
    assert.equal(whyNot(broken)['calibrated'], 'channel 3: 0 bits per raw bit are too few to draw from');
    assert.equal(broken.figures['readout_error_max'], 1);
    assert.equal(broken.minEntropyPerBit, null);

    const read = await readOf('superposition', {}, 1000);
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

  it('source-independent: by the X-basis error of all channels together, bounded over clusters', async () => {
    const readout = [PERFECT, { e01: 0.04, e10: 0 }, PERFECT, PERFECT];
    const evidence = await shownBy('x-check', { readout });
    const { figures } = evidence;
    assert.equal(evidence.claim, 'source-independent');
    assert.deepEqual(
      [figures['x_clusters'], figures['x_clusters_tested'], figures['x_shots']],
      [125_000, 25_000, 25_000],
    );
    near(figures['x_error'], 0.01, 5 * Math.sqrt(0.01 / 100_000));
    assert.ok(figures['x_error_bound'] > figures['x_error'] && figures['x_error_bound'] < 0.02);
    near(figures['source_independent_min_entropy'], jointMinEntropyRate(figures['x_error_bound']), 1e-4);
    // The worst channel, bounded alone, is what its bits have under the lower claim.
    near(figures['x_error_max'], 0.04, 0.01);
    assert.equal(evidence.minEntropyPerBit, figures['calibrated_min_entropy']);
    assert.deepEqual(Object.keys(whyNot(evidence)), ['bell-witness']);
    assert.match(evidence.assumptions, /measurements are trusted.*The simulator drew the settings/);
  });

  it('source-independent: shots of one cluster count once, and sixteen clusters are not enough', async () => {
    const many = await shownBy('x-check', {}, 100_000, 8);
    assert.equal(many.claim, 'source-independent');
    assert.deepEqual([many.figures['x_clusters'], many.figures['x_shots']], [15_625, 25_000]);
    const few = await shownBy('x-check', {}, 100_000, 10_000);
    assert.equal(few.claim, 'calibrated');
    assert.equal(
      whyNot(few)['source-independent'],
      'X-basis error 0.0000, 3 of 13 clusters tested: up to 1.000 of the others may err, which leaves 0 bits per raw bit',
    );
    assert.ok((few.minEntropyPerBit ?? 0) > 0.9, 'the lower claim stands by its own assumption');
  });

  it('source-independent: a test shot that did not come is an error', async () => {
    const read = await readOf('x-check');
    assert.ok(read.witness?.kind === 'x-basis');
    const lost = { ...read.witness, shots: 20_000, bits: read.witness.bits.slice(0, 10_000) };
    const { figures } = await evidenceOf('quantum-processor', { ...read, witness: lost });
    assert.equal(figures['x_error'], 0.2);
    const none = { ...read.witness, shots: 0, bits: new Uint8Array(0) };
    const evidence = await evidenceOf('quantum-processor', { ...read, witness: none });
    assert.equal(evidence.claim, 'statistical');
    assert.equal(evidence.figures['x_error'], 1);
  });

  it('source-independent: never above the calibrated figure', async () => {
    // Reading a 1 as 0 does not show in the X basis, where all should be 0.
    const readout = { e01: 0, e10: 0.3 };
    const { claim, minEntropyPerBit, figures } = await shownBy('x-check', { readout });
    assert.equal(claim, 'source-independent');
    assert.ok(figures['source_independent_min_entropy'] > 0.8 && figures['calibrated_min_entropy'] < 0.63);
    assert.equal(minEntropyPerBit, figures['calibrated_min_entropy']);
  });

  it('source-independent: not when the preparation is noise, and then not calibrated either', async () => {
    const read = await readOf('x-check', { depolarizing: 0.75 });
    const evidence = await evidenceOf('quantum-processor', read);
    assert.equal(evidence.claim, 'statistical');
    assert.equal(evidence.minEntropyPerBit, null);
    assert.match(whyNot(evidence)['calibrated'], /^channel \d, X-basis error 0\.\d{4}: 0 bits per raw bit/);
    assert.match(
      whyNot(evidence)['source-independent'],
      /^X-basis error 0\.\d{4}, 25000 of 125000 clusters tested: up to 0\.5\d\d of the others may err/,
    );
    assert.equal(evidence.figures['source_independent_min_entropy'], 0);
    assert.equal(xBasisMinEntropy(evidence.figures['x_error_max_bound']), 0);
  });

  it('bell-witness: by S of the worst pair over clusters, without a figure of min-entropy', async () => {
    const evidence = await shownBy('bell-chsh');
    assert.equal(evidence.claim, 'bell-witness');
    assert.equal(evidence.minEntropyPerBit, null);
    const { figures } = evidence;
    near(figures['chsh_s'], 2 * Math.SQRT2, 0.04);
    assert.ok(figures['chsh_s'] <= figures['chsh_s_mean']);
    assert.deepEqual(
      [figures['chsh_pairs'], figures['chsh_clusters'], figures['chsh_shots']],
      [2, 100_000, 100_000],
    );
    const wins = 0.5 + figures['chsh_s'] / 8;
    near(figures['chsh_local_bits'], localNats(wins, 100_000) / Math.LN2 - 1, 1);
    assert.deepEqual(whyNot(evidence), {
      calibrated: 'its formula is for qubits measured alone, not for halves of entangled pairs',
      'source-independent': 'the source ran no X-basis test shots',
    });
    assert.match(evidence.assumptions, /No signal between.*not device-independent\. The simulator drew/);
  });

  it('bell-witness: S = 2.6 with clusters enough is one, with too few it is none, however many shots', async () => {
    const e = (1 - Math.sqrt(2.6 / (2 * Math.SQRT2))) / 2;
    const noise = { readout: { e01: e, e10: e } };
    const enough = await shownBy('bell-chsh', noise, 100_000, 40);
    assert.deepEqual([enough.claim, enough.figures['chsh_clusters']], ['bell-witness', 2500]);
    const few = await shownBy('bell-chsh', noise, 100_000, 6250);
    assert.equal(few.claim, 'statistical');
    assert.match(
      whyNot(few)['bell-witness'],
      /^S = 2\.[56]\d\d of pair \d over 16 clusters: a local device scores as much with probability 2\^-0\.\d, and 2\^-40 is asked, for which this S needs 1\d{3} clusters$/,
    );
  });

  it('bell-witness: refused at S <= 2, above 2 sqrt 2, and for one bad pair among good ones', async () => {
    const whyNotBell = async (read: RawRead) => {
      const evidence = await evidenceOf('quantum-processor', read);
      assert.equal(evidence.claim, 'statistical');
      assert.equal(evidence.minEntropyPerBit, null);
      assert.ok(evidence.figures['chsh_s'] !== undefined, 'figures are told all the same');
      return whyNot(evidence)['bell-witness'];
    };
    assert.match(
      await whyNotBell(await readOf('bell-chsh', { depolarizing: 0.15 })),
      /^S = 1\.\d{3} of pair \d is not above 2$/,
    );
    const bad = { e01: 0.1, e10: 0.1 };
    const oneBad = await readOf('bell-chsh', { readout: [PERFECT, PERFECT, bad, bad] });
    assert.match(await whyNotBell(oneBad), /^S = 1\.8\d\d of pair 1 /);
    const zeros = await readOf('bell-chsh');
    assert.ok(zeros.witness?.kind === 'chsh');
    const never3 = { ...zeros.witness, settings: new Uint8Array(100_000) };
    const alwaysWins = { ...zeros, bits: new Uint8Array(50_000), witness: never3 };
    assert.equal(
      await whyNotBell(alwaysWins),
      'S = 4.000 of pair 0 is above 2 sqrt 2 by more than its error: runs were selected, or something is broken',
    );
  });
});

describe('no claim is above what the origin allows', () => {
  for (const circuit of ['superposition', 'x-check', 'bell-chsh'] as const) {
    it(`${circuit}: figures are the same, claims are not`, async () => {
      const read = await readOf(circuit);
      const real = await evidenceOf('quantum-processor', read);
      for (const origin of ORIGINS) {
        const evidence = await evidenceOf(origin, read);
        assert.deepEqual(evidence.figures, real.figures, origin);
        const isQuantum = origin === 'quantum-processor' || origin === 'qrng-device';
        const ceiling = origin === 'simulated' ? 'simulated' : 'statistical';
        assert.equal(evidence.claim, isQuantum ? real.claim : ceiling, origin);
        if (!isQuantum) assert.equal(evidence.minEntropyPerBit, null);
        const told = [...evidence.notReached.map(({ claim }) => claim), evidence.claim];
        assert.ok(
          EVIDENCE_LEVELS.slice(EVIDENCE_LEVELS.indexOf(evidence.claim)).every((claim) =>
            told.includes(claim),
          ),
          'every higher claim has a reason',
        );
        assert.ok(evidence.notReached.every(({ why }) => why !== ''));
      }
    });
  }

  it('says of a simulated read why it is no evidence', async () => {
    const evidence = await evidenceOf('simulated', await readOf('bell-chsh'));
    assert.equal(evidence.method, 'none: the origin is simulated');
    assert.deepEqual(whyNot(evidence), {
      statistical: 'a program computed the shots',
      calibrated: 'its formula is for qubits measured alone, not for halves of entangled pairs',
      'source-independent': 'the source ran no X-basis test shots',
      'bell-witness': 'a program computed the shots',
    });
  });
});

describe('a witness that does not fit its read', () => {
  it('blames the backend for a witness that does not fit its read', async () => {
    const read = await readOf('bell-chsh', {}, 80);
    const clusters = { shotsOrdered: 1, drawn: '' };
    const settings = new Uint8Array(80);
    const clusterShots = new Uint32Array(80).fill(1);
    const tests = { kind: 'x-basis', rawClusters: 80, testedClusters: 80, ...clusters } as const;
    const wrong: Witness[] = [
      { kind: 'chsh', settings: new Uint8Array(79), clusterShots, ...clusters },
      { kind: 'chsh', settings: new Uint8Array(80).fill(4), clusterShots, ...clusters },
      { kind: 'chsh', settings, clusterShots: clusterShots.slice(1), ...clusters },
      { kind: 'chsh', settings, clusterShots: Uint32Array.of(80), ...clusters },
      { ...tests, bits: new Uint8Array(39), shots: 80 },
      { ...tests, bits: new Uint8Array(41), shots: 82 },
      { ...tests, bits: new Uint8Array(40), shots: 80, rawClusters: 0 },
    ];
    for (const witness of wrong) {
      await assert.rejects(evidenceOf('quantum-processor', { ...read, witness }), InvariantError);
    }
    const odd = {
      ...read,
      width: 5,
      shots: 64,
      witness: {
        kind: 'chsh',
        settings: new Uint8Array(64),
        clusterShots: new Uint32Array(64).fill(1),
        ...clusters,
      },
    } as const;
    await assert.rejects(evidenceOf('quantum-processor', odd), InvariantError);
  });
});
