import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChshWitness, RawRead, XBasisWitness } from '../../../src/backend/backend.ts';
import { CHSH_SETTINGS } from '../../../src/backend/circuit.ts';
import type { LotEvidence } from '../../../src/ledger/records.ts';
import { evidenceOf } from '../../../src/pool/intake/evidence/evidence.ts';
import { rawRead } from '../../support/backends.ts';
import { uniforms } from '../../support/chance.ts';
import { filled } from './models.ts';

/** Devices that answer as if they were quantum. Randomness is by label, so every run of these tests is the same. */

const QUANTUM_WINS = (2 + Math.SQRT2) / 4;

/** Whether a run of a pair wins: the answers of the device to one drawn setting, the same for a whole cluster. */
type Device = (cluster: number, setting: number, run: number) => boolean;

interface Experiment {
  readonly clusters: number;
  readonly shotsOrdered: number;
  /** Runs that the device reports of a cluster; all of them when left out. */
  readonly kept?: (wins: boolean[]) => boolean[];
}

/** A Bell test of one pair: the settings are drawn here, after the device's program was fixed. */
function bellRead(
  device: Device,
  { clusters, shotsOrdered, kept = (wins) => wins }: Experiment,
  random: () => number,
): RawRead {
  const settings: number[] = [];
  const wins: boolean[] = [];
  const clusterShots = new Uint32Array(clusters);
  for (let cluster = 0; cluster < clusters; cluster++) {
    const setting = Math.floor(4 * random());
    const runs = kept(Array.from({ length: shotsOrdered }, (_, run) => device(cluster, setting, run)));
    clusterShots[cluster] = runs.length;
    for (const won of runs) {
      settings.push(setting);
      wins.push(won);
    }
  }
  // Sides are equal where that wins: in all settings but the last.
  const bits = filled(
    (shot, side) => (side === 1 && wins[shot] !== (settings[shot] !== 3) ? 1 : 0),
    wins.length,
    2,
  );
  const witness: ChshWitness = {
    kind: 'chsh',
    settings: Uint8Array.from(settings),
    clusterShots,
    shotsOrdered,
    drawn: '',
  };
  return { ...rawRead(bits, 2, wins.length), witness };
}

/** A deterministic local strategy answers a(x) and b(y); the best win three settings of four. */
function localStrategy(answers: number): (setting: number) => boolean {
  return (setting) => {
    const [x, y] = CHSH_SETTINGS[setting];
    const a = (answers >> x) & 1;
    const b = (answers >> (2 + y)) & 1;
    return (a === b) === (setting !== 3);
  };
}

function quantum(random: () => number, wins = QUANTUM_WINS): Device {
  return () => random() < wins;
}

async function evidence(read: RawRead): Promise<LotEvidence> {
  return evidenceOf('quantum-processor', read);
}

function whyNot({ notReached }: LotEvidence, claim: string): string {
  return notReached.find((each) => each.claim === claim)?.why ?? '';
}

describe('a Bell test of a device that is not quantum', () => {
  it('gives no witness in 20,000 jobs of 16 clusters to a strategy fixed before the settings', async () => {
    const random = uniforms('local strategies');
    let highest = 0;
    for (let job = 0; job < 20_000; job++) {
      // A strategy of its own for each cluster, of the eight that win three of four settings.
      const program = Array.from({ length: 16 }, () => {
        for (;;) {
          const strategy = localStrategy(Math.floor(16 * random()));
          if ([0, 1, 2, 3].filter(strategy).length === 3) return strategy;
        }
      });
      const device: Device = (cluster, setting) => program[cluster](setting);
      const { claim, figures } = await evidence(bellRead(device, { clusters: 16, shotsOrdered: 8 }, random));
      assert.equal(claim, 'statistical');
      highest = Math.max(highest, figures['chsh_s']);
    }
    assert.equal(highest, 4, 'by chance some of these jobs win every run');
  });

  it('gives none to a device that remembers all earlier settings, over many clusters', async () => {
    const random = uniforms('memory');
    const seen = [0, 0, 0, 0];
    const device: Device = (_, setting, run) => {
      if (run === 0) seen[setting]++;
      // Loses in the setting that came least often so far.
      return setting !== seen.indexOf(Math.min(...seen));
    };
    for (let lot = 0; lot < 200; lot++) {
      const { claim } = await evidence(bellRead(device, { clusters: 2500, shotsOrdered: 1 }, random));
      assert.equal(claim, 'statistical');
    }
  });

  it('counts runs that were left out as lost', async () => {
    const random = uniforms('left out');
    const strategy = localStrategy(0);
    const left = bellRead(
      (_, setting) => strategy(setting),
      { clusters: 2500, shotsOrdered: 4, kept: (wins) => wins.filter((won) => won) },
      random,
    );
    const { claim, figures } = await evidence(left);
    assert.equal(claim, 'statistical');
    assert.ok(figures['chsh_s'] < 2.1, `S = ${figures['chsh_s']}`);
  });

  it('refuses runs that were selected: S is above what quantum devices reach', async () => {
    const random = uniforms('selected');
    for (const s of [3, 3.4, 4]) {
      const read = bellRead(quantum(random, 0.5 + s / 8), { clusters: 2500, shotsOrdered: 10 }, random);
      const found = await evidence(read);
      assert.equal(found.claim, 'statistical');
      assert.match(
        whyNot(found, 'bell-witness'),
        /above 2 sqrt 2 by more than its error: runs were selected/,
      );
    }
  });
});

describe('a Bell test of an honest device', () => {
  it('is a witness at S = 2.6 and at 2 sqrt 2 with clusters enough, and names how many a few need', async () => {
    const random = uniforms('honest');
    for (const [wins, clusters] of [
      [0.5 + 2.6 / 8, 2500],
      [QUANTUM_WINS, 1400],
    ]) {
      const read = bellRead(quantum(random, wins), { clusters, shotsOrdered: 40 }, random);
      const { claim, minEntropyPerBit } = await evidence(read);
      assert.equal(claim, 'bell-witness');
      assert.equal(minEntropyPerBit, null, 'a witness is no figure of entropy');
    }
    const few = bellRead(quantum(random), { clusters: 16, shotsOrdered: 4000 }, random);
    assert.match(whyNot(await evidence(few), 'bell-witness'), /over 16 clusters: .* needs \d{3} clusters$/);
  });

  it('is never taken for selected in 2,000 lots at 2 sqrt 2', async () => {
    const random = uniforms('false alarms');
    for (let lot = 0; lot < 2000; lot++) {
      const read = bellRead(quantum(random), { clusters: 250, shotsOrdered: 4 }, random);
      assert.doesNotMatch(whyNot(await evidence(read), 'bell-witness'), /selected/);
    }
  });
});

interface XTest {
  readonly clusters: number;
  readonly tested: number;
  readonly shotsOrdered: number;
  readonly width: number;
}

/**
 * An X-basis test whose tested clusters are drawn here. The adversary knows the Z outcome where `isKnown`, which makes the X
 * outcome of that bit a fair coin; elsewhere the state is |+> and X errs with `error`.
 */
function xRead(
  isKnown: (cluster: number, shot: number, channel: number) => boolean,
  { clusters, tested, shotsOrdered, width }: XTest,
  random: () => number,
  error = 0,
): { read: RawRead; knownShare: number } {
  const order = Array.from({ length: clusters }, (_, cluster) => cluster);
  for (let at = 0; at < tested; at++) {
    const other = at + Math.floor((clusters - at) * random());
    [order[at], order[other]] = [order[other], order[at]];
  }
  const bits = filled(
    (shot, channel) => {
      const known = isKnown(order[Math.floor(shot / shotsOrdered)], shot % shotsOrdered, channel);
      return random() < (known ? 0.5 : error) ? 1 : 0;
    },
    tested * shotsOrdered,
    width,
  );
  const raw = order.slice(tested).sort((a, b) => a - b);
  let known = 0;
  for (const cluster of raw) {
    for (let shot = 0; shot < shotsOrdered; shot++) {
      for (let channel = 0; channel < width; channel++) known += isKnown(cluster, shot, channel) ? 1 : 0;
    }
  }
  const shots = raw.length * shotsOrdered;
  const witness: XBasisWitness = {
    kind: 'x-basis',
    bits,
    shots: tested * shotsOrdered,
    testedClusters: tested,
    rawClusters: raw.length,
    shotsOrdered,
    drawn: '',
  };
  const read = { ...rawRead(new Uint8Array(Math.ceil((shots * width) / 8)), width, shots), witness };
  return { read, knownShare: known / (shots * width) };
}

describe('X-basis tests of a source that knows some of its bits', () => {
  it('give nothing in 500 jobs of 16 clusters, wherever the known states are', async () => {
    const random = uniforms('one slot');
    for (let job = 0; job < 500; job++) {
      const slot = Math.floor(16 * random());
      const test = { clusters: 16, tested: 2, shotsOrdered: 50, width: 4 };
      const { read } = xRead((cluster) => cluster === slot, test, random);
      const found = await evidence(read);
      assert.equal(found.claim, 'statistical');
      assert.match(whyNot(found, 'source-independent'), /2 of 16 clusters tested/);
    }
  });

  it('credit no more than is not known: in one time slot, on all channels at once, on one channel, drifting', async () => {
    const random = uniforms('known states');
    const test = { clusters: 16_384, tested: 4096, shotsOrdered: 1, width: 16 };
    const attacks = {
      'a sixteenth of the time': (cluster: number) => cluster >= 5000 && cluster < 6024,
      'every fiftieth shot on all channels': (cluster: number) => cluster % 50 === 0,
      'one channel of sixteen': (_cluster: number, _shot: number, channel: number) => channel === 3,
      'ever more over the lot': (cluster: number) => (cluster * 7919) % 16_384 < cluster / 5,
    };
    for (const [name, isKnown] of Object.entries(attacks)) {
      for (let lot = 0; lot < 10; lot++) {
        const { read, knownShare } = xRead(isKnown, test, random);
        const { figures } = await evidence(read);
        const credited = figures['source_independent_min_entropy'];
        assert.ok(credited > 0 && credited < 1 - knownShare, `${name}: ${credited}, ${knownShare} is known`);
      }
    }
  });

  it('keep the claim for an honest device with 1 % of errors and clusters enough', async () => {
    const random = uniforms('honest X');
    for (const [clusters, tested, least] of [
      [4096, 1024, 0.4],
      [16_384, 4096, 0.61],
      [65_536, 8192, 0.7],
    ]) {
      const { read } = xRead(() => false, { clusters, tested, shotsOrdered: 1, width: 4 }, random, 0.01);
      const { claim, minEntropyPerBit } = await evidence(read);
      assert.equal(claim, 'source-independent');
      assert.ok((minEntropyPerBit ?? 0) > least, `${minEntropyPerBit} of ${clusters} clusters`);
    }
  });
});
