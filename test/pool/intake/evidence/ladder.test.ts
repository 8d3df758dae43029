import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RawRead, Witness } from '../../../../src/backend/backend.ts';
import { ghzParity, superposition } from '../../../../src/backend/circuit.ts';
import { checkedNoise, type Noise } from '../../../../src/backend/simulator/noise.ts';
import { bellRun, plainRun, type Run, xCheckRun } from '../../../../src/backend/simulator/runs.ts';
import { simulatorOf } from '../../../../src/backend/simulator/simulator.ts';
import { InvariantError } from '../../../../src/core/assert.ts';
import { ManualClock } from '../../../../src/core/clock.ts';
import { ORIGINS } from '../../../../src/core/vocabulary.ts';
import { EVIDENCE_CLAIMS, type LotEvidence } from '../../../../src/ledger/records.ts';
import {
  chshMargin,
  chshMinEntropyPerRun,
  xBasisMinEntropy,
} from '../../../../src/pool/intake/evidence/bounds.ts';
import { evidenceOf } from '../../../../src/pool/intake/evidence/ladder.ts';
import { fixedBytes } from '../../../support/backends.ts';

const NEVER = new AbortController().signal;
const PERFECT = { e01: 0, e10: 0 };

type Circuit = 'superposition' | 'x-check' | 'bell-chsh' | 'ghz';

/** A read of four qubits, the same in every run. */
async function readOf(circuit: Circuit, noise: Partial<Noise> = {}, shots = 100_000): Promise<RawRead> {
  const checked = checkedNoise({ readout: PERFECT, bias: 0, depolarizing: 0, ...noise }, 4);
  const source = fixedBytes(`evidence ${circuit}`);
  const runs: Record<Circuit, () => Run> = {
    superposition: () => plainRun(superposition(4), checked, source),
    'x-check': () => xCheckRun(0.25, checked, source),
    'bell-chsh': () => bellRun(checked, source),
    ghz: () => plainRun(ghzParity(4), checked, source),
  };
  const clock = new ManualClock();
  const parts = { name: 'test', run: runs[circuit](), noise: checked, clock, deterministic: true };
  return simulatorOf(parts).read(4 * shots, NEVER);
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
    assert.match(evidence.assumptions, /pure state.*no crosstalk/);
  });

  it('calibrated: the worst channel decides, and a state that is tilted costs', async () => {
    const sound = { e01: 0.004, e10: 0.006 };
    const readout = [sound, sound, { e01: 0.2, e10: 0.2 }, sound];
    const one = await evidenceOf('quantum-processor', await readOf('superposition', { readout }));
    near(one.minEntropyPerBit, 1 - Math.log2(1.4), 0.03);
    const tilted = await evidenceOf('quantum-processor', await readOf('superposition', { bias: 0.2 }));
    near(tilted.minEntropyPerBit, -Math.log2(0.7), 0.03);
    assert.ok((tilted.minEntropyPerBit ?? 1) < -Math.log2(0.7), 'and is bounded from below');
  });

  it('calibrated: not for entangled qubits, dead ones or lists that do not fit', async () => {
    const entangled = await evidenceOf('quantum-processor', await readOf('ghz'));
    assert.equal(entangled.claim, 'statistical');
    assert.equal(whyNot(entangled)['calibrated'], 'the circuit is no superposition of separate qubits');
    const dead = [PERFECT, PERFECT, PERFECT, { e01: 0, e10: 1 }];
    const broken = await evidenceOf('quantum-processor', await readOf('superposition', { readout: dead }));
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

  it('source-independent: by the X-basis error, bounded, of the worst channel', async () => {
    const readout = [PERFECT, { e01: 0.01, e10: 0 }, PERFECT, PERFECT];
    const evidence = await evidenceOf('quantum-processor', await readOf('x-check', { readout }));
    const { figures } = evidence;
    assert.equal(evidence.claim, 'source-independent');
    assert.equal(figures['x_shots'], 25_000);
    near(figures['x_error'], 0.01, 5 * Math.sqrt(0.01 / 25_000));
    assert.ok(figures['x_error_bound'] > figures['x_error'] && figures['x_error_bound'] < 0.02);
    near(evidence.minEntropyPerBit, xBasisMinEntropy(figures['x_error_bound']), 1e-4);
    assert.ok((evidence.minEntropyPerBit ?? 1) < xBasisMinEntropy(0.01));
    assert.ok(figures['source_independent_min_entropy_mean'] > figures['source_independent_min_entropy']);
    assert.deepEqual(Object.keys(whyNot(evidence)), ['bell-witness']);
    assert.match(evidence.assumptions, /measurements are trusted/);
  });

  it('source-independent: never above the calibrated figure', async () => {
    // Reading a 1 as 0 does not show in the X basis, where all should be 0.
    const readout = { e01: 0, e10: 0.3 };
    const { claim, minEntropyPerBit, figures } = await evidenceOf(
      'quantum-processor',
      await readOf('x-check', { readout }),
    );
    assert.equal(claim, 'source-independent');
    assert.ok(figures['source_independent_min_entropy'] > 0.8 && figures['calibrated_min_entropy'] < 0.63);
    assert.equal(minEntropyPerBit, figures['calibrated_min_entropy']);
  });

  it('source-independent: not when the preparation is noise, and then not calibrated either', async () => {
    const read = await readOf('x-check', { depolarizing: 0.75 });
    const evidence = await evidenceOf('quantum-processor', read);
    assert.equal(evidence.claim, 'statistical');
    assert.equal(evidence.minEntropyPerBit, null);
    assert.equal(
      whyNot(evidence)['calibrated'],
      'the X-basis test shots refute the pure states that it assumes',
    );
    assert.ok(evidence.figures['calibrated_min_entropy'] > 0.95, 'readout alone looks sound');
    assert.match(
      whyNot(evidence)['source-independent'],
      /^X-basis error 0\.5\d+ on channel \d in 25000 shots: 0 bits/,
    );
    assert.equal(evidence.figures['source_independent_min_entropy'], 0);
  });

  it('bell-witness: by S of the worst pair less its margin, half of f for each of the two bits', async () => {
    const evidence = await evidenceOf('quantum-processor', await readOf('bell-chsh'));
    assert.equal(evidence.claim, 'bell-witness');
    const { figures } = evidence;
    near(figures['chsh_s'], 2 * Math.SQRT2, 0.04);
    assert.ok(figures['chsh_s'] <= figures['chsh_s_mean']);
    // 100,000 runs with settings of about a quarter, two pairs: a little above the 0.161 of one pair and exact quarters
    near(figures['chsh_margin'], chshMargin(100_000, 1 / 4, 41 * Math.LN2), 0.003);
    assert.deepEqual([figures['chsh_pairs'], figures['chsh_shots']], [2, 100_000]);
    const expected = chshMinEntropyPerRun(figures['chsh_s'] - figures['chsh_margin']) / 2;
    near(evidence.minEntropyPerBit, expected, 1e-5);
    assert.ok((evidence.minEntropyPerBit ?? 1) < 0.5);
    assert.deepEqual(whyNot(evidence), {
      calibrated: 'its formula is for qubits measured alone, not for halves of entangled pairs',
      'source-independent': 'the source ran no X-basis test shots',
    });
    assert.match(evidence.assumptions, /No crosstalk or collusion.*not device-independent/);
  });

  it('bell-witness: refused at S <= 2, within the margin, and for one bad pair among good ones', async () => {
    const whyNotBell = async (noise: Partial<Noise>, shots?: number) => {
      const evidence = await evidenceOf('quantum-processor', await readOf('bell-chsh', noise, shots));
      assert.equal(evidence.claim, 'statistical');
      assert.equal(evidence.minEntropyPerBit, null);
      assert.ok(evidence.figures['chsh_s'] < 3, 'figures are told all the same');
      return whyNot(evidence)['bell-witness'];
    };
    assert.match(await whyNotBell({ depolarizing: 0.15 }), /^S = 1\.\d{3} of pair \d is not above 2$/);
    // 0.85² · 2.828 = 2.04, with a margin of 0.16
    assert.match(
      await whyNotBell({ readout: { e01: 0.075, e10: 0.075 } }),
      /^S = 2\.0\d\d of pair \d is not above 2 by more than its margin 0\.1\d\d$/,
    );
    const bad = { e01: 0.1, e10: 0.1 };
    assert.match(await whyNotBell({ readout: [PERFECT, PERFECT, bad, bad] }), /^S = 1\.8\d\d of pair 1 /);
    assert.match(await whyNotBell({}, 1000), /not above 2 by more than its margin/);
  });

  it('bell-witness: refused when a setting was never measured, or hardly anything is left', async () => {
    const read = await readOf('bell-chsh', {}, 20_000);
    const settings = new Uint8Array(20_000).map((_, shot) => shot % 3);
    const evidence = await evidenceOf('quantum-processor', { ...read, witness: { kind: 'chsh', settings } });
    assert.equal(whyNot(evidence)['bell-witness'], 'a setting has no shots');
    // (1 - 2e)² · 2.828 = 2.205 and a margin of 0.163: S of about 2.04 leaves 0.007 of a bit
    const e = (1 - Math.sqrt(2.205 / (2 * Math.SQRT2))) / 2;
    const little = await evidenceOf(
      'quantum-processor',
      await readOf('bell-chsh', { readout: { e01: e, e10: e } }),
    );
    assert.match(
      whyNot(little)['bell-witness'],
      /^S = 2\.(19|20)\d of pair \d: 0\.00\d+ bits per raw bit are too few/,
    );
  });

  it('classical devices that know the settings only afterwards stay at 2', async () => {
    // The best local strategy: both sides always equal, S = 2.
    const shots = 40_000;
    const settings = new Uint8Array(shots);
    fixedBytes('settings')(settings);
    settings.forEach((each, i) => {
      settings[i] = each & 3;
    });
    const bits = new Uint8Array(shots / 4);
    fixedBytes('classical')(bits);
    bits.forEach((byte, i) => {
      bits[i] = (byte & 0b1010_1010) | ((byte & 0b1010_1010) >> 1);
    });
    const read = await readOf('bell-chsh', {}, 8);
    const classical: RawRead = { ...read, bits, width: 2, shots, witness: { kind: 'chsh', settings } };
    const evidence = await evidenceOf('quantum-processor', classical);
    assert.equal(evidence.figures['chsh_s'], 2);
    assert.equal(whyNot(evidence)['bell-witness'], 'S = 2.000 of pair 0 is not above 2');
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
          EVIDENCE_CLAIMS.slice(EVIDENCE_CLAIMS.indexOf(evidence.claim)).every((claim) =>
            told.includes(claim),
          ),
          'every higher claim has a reason',
        );
        assert.ok(evidence.notReached.every(({ why }) => why !== ''));
      }
    });
  }

  it('a simulated read says why', async () => {
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
  it('is a fault of the adapter', async () => {
    const read = await readOf('bell-chsh', {}, 80);
    const wrong: (Witness & { width?: number })[] = [
      { kind: 'chsh', settings: new Uint8Array(79) },
      { kind: 'chsh', settings: new Uint8Array(80).fill(4) },
      { kind: 'x-basis', bits: new Uint8Array(39), shots: 80 },
      { kind: 'x-basis', bits: new Uint8Array(0), shots: 0 },
    ];
    for (const witness of wrong) {
      await assert.rejects(evidenceOf('quantum-processor', { ...read, witness }), InvariantError);
    }
    const odd = {
      ...read,
      width: 5,
      shots: 64,
      witness: { kind: 'chsh', settings: new Uint8Array(64) },
    } as const;
    await assert.rejects(evidenceOf('quantum-processor', odd), InvariantError);
  });
});
