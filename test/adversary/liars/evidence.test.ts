import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RawRead } from '../../../src/backend/backend.ts';
import type { LotEvidence } from '../../../src/ledger/records.ts';
import { evidenceOf } from '../../../src/pool/intake/evidence/evidence.ts';
import { uniforms } from '../../support/chance.ts';
import { bellRead, fixedStrategies, QUANTUM_WINS, quantum, remembering, xRead } from './devices.ts';

/** Devices that answer as if they were quantum. Randomness is by label, so every run of these tests is the same. */

async function evidence(read: RawRead): Promise<LotEvidence> {
  return evidenceOf('quantum-processor', read);
}

function whyNot({ notReached }: LotEvidence, claim: string): string {
  return notReached.find((each) => each.claim === claim)?.why ?? '';
}

describe('a Bell test of a device that is not quantum', () => {
  it('gives no witness in 4,000 jobs of 16 clusters to a strategy fixed before the settings', async () => {
    const random = uniforms('local strategies');
    let highest = 0;
    for (let job = 0; job < 4_000; job++) {
      const device = fixedStrategies(16, random);
      const { claim, figures } = await evidence(bellRead(device, { clusters: 16, shotsOrdered: 8 }, random));
      assert.equal(claim, 'statistical');
      highest = Math.max(highest, figures['chsh_s']);
    }
    assert.equal(highest, 4, 'by chance some of these jobs win every run');
  });

  it('gives none to a device that remembers all earlier settings, over many clusters', async () => {
    const random = uniforms('memory');
    const device = remembering();
    for (let lot = 0; lot < 200; lot++) {
      const { claim } = await evidence(bellRead(device, { clusters: 2500, shotsOrdered: 1 }, random));
      assert.equal(claim, 'statistical');
    }
  });

  it('counts runs that were left out as lost', async () => {
    const random = uniforms('left out');
    const device = fixedStrategies(2500, random);
    const left = bellRead(
      device,
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
