import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { BackendError, type StreamBackend } from '../../../src/backend/backend.ts';
import { deadBackend, repeatingBackend, soundBackend, stuckBackend } from '../../support/backends.ts';
import { fetchWhole } from '../../support/http.ts';
import { type Environment, until } from '../../support/server.ts';
import { type Asked, LocalService } from '../../support/service.ts';
import { changedBackend, withRun } from '../liars/collecting.ts';
import { biased, markov, modelBackend, neighbours, stuck } from '../liars/models.ts';

const SMALL_LOT = 65_536;
/** Bits of so little entropy that patterns of 128 of them come again are found by that now and then. */
const ESTIMATED = /^(min-entropy 0\.\d+ per bit is below the floor|health tests: replay)$/;

interface Certified {
  readonly certificate: {
    readonly status: string;
    readonly provenance: {
      readonly origin: string;
      readonly source: string;
      readonly quantum_backend: string;
      readonly lots: readonly { readonly id: string }[];
    };
    readonly verification: { readonly nist_verified: boolean };
  };
}

interface AnswerBody {
  readonly metadata: { readonly certificate_id: string };
  readonly error: { readonly code: string };
}
type Answered = Asked<AnswerBody>;

const start = (
  t: TestContext,
  backends: readonly StreamBackend[],
  more: Environment = {},
  dataDir?: string,
) => LocalService.startFor(t, more, { backends }, dataDir);

const certificateOf = async ({ ask }: LocalService, { body }: Answered) =>
  (await ask<Certified>(`/certificate?id=${body.metadata.certificate_id}`)).body;

const readiness = async ({ origin }: LocalService) => (await fetchWhole(`${origin}/readyz`)).status;

async function stateOf({ checks }: LocalService, name: string) {
  const found = (await checks())['source:state'].find(
    ({ details }) => (details as { name: string }).name === name,
  );
  assert.ok(found !== undefined, name);
  return found;
}

/** What a family says of a source, by the value of a label. */
async function told(local: LocalService, family: string, source: string, label: string) {
  const samples = (await local.metrics()).get(family)?.samples.get(family) ?? [];
  const own = samples.filter(({ labels }) => labels.get('source') === source);
  return new Map(own.map(({ labels, value }) => [labels.get(label), value]));
}

const lotOf = (bits: number, backend: StreamBackend, name = backend.name): StreamBackend => ({
  ...backend,
  name,
  lotRawBits: bits,
});

describe('liars beside one sound source', () => {
  const all = Array.from({ length: 16 }, (_, channel) => channel);
  const wider = changedBackend((read) => ({ ...read, width: 15 }));
  const counts = deadBackend(new BackendError('no_raw_shots', 'only counts'));
  /** The source, the state that it comes to, and why its lots are refused or it is not read. */
  const kinds: [name: string, backend: StreamBackend, state: string, why: RegExp][] = [
    [
      'one stuck',
      modelBackend(stuck([7], 1)),
      'closed',
      /^health tests: rct on channel 7, apt on channel 7$/,
    ],
    ['all stuck', modelBackend(stuck(all)), 'closed', /^health tests: rct on channel 0, .* and 24 more$/],
    ['biased', modelBackend(biased(0.9)), 'closed', /^health tests: rct on channel 0, apt on channel 0$/],
    ['staying', modelBackend(markov(0.95)), 'closed', /^health tests: rct/],
    ['neighbours', modelBackend(neighbours(0.9)), 'closed', ESTIMATED],
    ['alternating', modelBackend(markov(0.1)), 'closed', ESTIMATED],
    ['repeating', repeatingBackend(), 'failing', /^health tests: replay$/],
    ['of another width', wider, 'closed', /gave 8192 bytes for 61440 bits$/],
    ['a histogram', counts, 'closed', /^only counts$/],
  ];
  const liars = kinds.map(
    ([name, backend, state, why]) => [lotOf(SMALL_LOT, backend, name), state, why] as const,
  );
  const boasts = {
    origin: 'quantum-processor',
    deterministic: false,
    source: 'ibm',
    quantumBackend: 'ibm_torino',
  };
  // After 40 lots it waits, so that the pool asks the others for as long as it takes to close them.
  const released = Promise.withResolvers<void>();
  const sound = changedBackend(async (read, count) => {
    if (count > 40) await released.promise;
    return { ...read, provenance: { ...read.provenance, ...boasts } };
  });
  const environment = { QRN_SOURCE_POLICY: 'share', QRN_RESERVOIR_BYTES: '1048576' };

  it('close, are told of, and give nothing; every answer is of the sound one', async (t) => {
    const backends = [
      ...liars.map(([backend]) => backend),
      { ...lotOf(SMALL_LOT, sound, 'sound'), readTimeoutMs: 600_000 },
    ];
    const world = await start(t, backends, environment);
    const { service } = world;
    const ask = (path: string) => world.ask<AnswerBody>(path);
    await service.ready;
    for (const [{ name }, state, why] of liars) {
      await until(`${name} is ${state}`, async () => {
        const { observedValue: now } = await stateOf(world, name);
        return now === state || now === 'closed';
      });
      const check = await stateOf(world, name);
      assert.equal(check.status, check.observedValue === 'closed' ? 'fail' : 'warn');
      assert.match(check.output ?? '', why, name);
      const states = await told(world, 'qrn_source_state', name, 'state');
      assert.deepEqual([states.get('ok'), states.get('failing')! + states.get('closed')!], [0, 1]);
    }

    // the lots of the liars are there, as evidence, and hold nothing; a repeated lot served the first time that it came
    const lots = await service.ledger.lots(1_000);
    for (const [{ name }, , why] of liars) {
      const own = lots.filter(({ source }) => source === name);
      const refused = own.filter(({ accepted }) => !accepted);
      assert.equal(own.length - refused.length, name === 'repeating' ? 1 : 0, name);
      for (const lot of refused) {
        assert.match(lot.rejection, why);
        assert.deepEqual([lot.conditionedBytes, lot.processedSha256], [0, '']);
      }
      const isRead = !['of another width', 'a histogram'].includes(name);
      assert.equal(refused.length > 0, isRead, name);
      const counted = await told(world, 'qrn_lots_total', name, 'verdict');
      assert.equal((counted.get('rejected') ?? 0) >= refused.length, true);
      assert.equal(counted.get('accepted'), own.length - refused.length);
      const { share_of_lots: share } = (await stateOf(world, name)).details as { share_of_lots: number };
      assert.ok(name === 'repeating' ? share < 0.5 : share === 0, `${name} ${share}`);
    }
    const { share_of_lots: most } = (await stateOf(world, 'sound')).details as { share_of_lots: number };
    assert.ok(most >= 0.5);
    assert.ok((await told(world, 'qrn_health_test_failures_total', 'one stuck', 'test')).get('rct')! >= 1);

    // what was drawn, and what is left to be drawn, is of lots that may serve
    const serving = new Set(lots.filter(({ accepted }) => accepted).map(({ id }) => id));
    const soundIds = new Set(lots.filter(({ source }) => source === 'sound').map(({ id }) => id));
    for (const path of ['/bytes?count=1024&entropy_mode=pure', '/integers?entropy_mode=quantum-seeded']) {
      for (let i = 0; i < 6; i++) {
        const answer = await ask(path);
        assert.equal(answer.status, 200);
        assert.equal(answer.headers.get('x-entropy-origin'), 'simulated');
        const { status, provenance, verification } = (await certificateOf(world, answer)).certificate;
        assert.deepEqual([status, provenance.origin], ['test', 'simulated']);
        assert.ok(['sound', 'repeating'].includes(provenance.source));
        assert.ok(provenance.quantum_backend === 'test-sound' || provenance.source === 'repeating');
        assert.ok(provenance.lots.every(({ id }) => serving.has(id)));
        assert.equal(verification.nist_verified, false); // lots too short for a verdict never are
      }
    }
    // the front takes the first ones for itself
    await until('blocks are left', async () => (await service.ledger.blockLevels()).pure.blocks > 0);
    const left = await service.ledger.claimBlocks('pure', 1_000);
    const fresh = (await service.ledger.lots(1_000)).filter(
      ({ accepted, source }) => accepted && source === 'sound',
    );
    for (const { id } of fresh) serving.add(id);
    assert.ok(left.length > 0 && left.every(({ lotId }) => serving.has(lotId)));
    assert.ok(left.some(({ lotId }) => soundIds.has(lotId) || fresh.some(({ id }) => id === lotId)));
  });
});

describe('one source that lies, heals and lies again', () => {
  it('closes and opens the modes that need it, and no other', async (t) => {
    const sound = soundBackend('first life');
    const broken = stuckBackend();
    let isStuck = false;
    const gates = { sound: Promise.withResolvers<void>(), stuck: Promise.withResolvers<void>() };
    let reads = 0;
    const source: StreamBackend = {
      ...lotOf(4 * SMALL_LOT, sound, 'lamp'),
      readTimeoutMs: 600_000,
      // two alarms, then three good lots, then it is stuck: each when the test has looked
      read: async (bits, signal) => {
        reads++;
        if (reads === 3) await gates.sound.promise;
        if (reads === 6) await gates.stuck.promise;
        if (isStuck) return broken.read(bits, signal);
        const read = await sound.read(bits, signal);
        return reads < 3 ? withRun(read, 40) : read;
      },
    };
    const first = await start(t, [source], { QRN_RESERVOIR_BYTES: '1048576' });
    await until(
      'csprng is served',
      async () => (await first.ask('/integers?entropy_mode=csprng')).status === 200,
    );
    await until('the second alarm', async () => reads >= 3);
    assert.deepEqual(await answers(first), { pure: 503, 'quantum-seeded': 503, csprng: 200 });
    assert.equal(await readiness(first), 503);
    assert.equal((await stateOf(first, 'lamp')).observedValue, 'failing');
    assert.equal((await first.checks())['pool:pure'][0].status, 'fail');
    const ofSystem = await certificateOf(first, await first.ask<AnswerBody>('/uuid?entropy_mode=csprng'));
    assert.deepEqual(
      [ofSystem.certificate.provenance.source, ofSystem.certificate.provenance.origin],
      ['system', 'system'],
    );

    gates.sound.resolve();
    await first.service.ready;
    assert.deepEqual(await answers(first), { pure: 200, 'quantum-seeded': 200, csprng: 200 });
    assert.equal(await readiness(first), 200);
    const before = await first.ask<AnswerBody>('/bytes?entropy_mode=pure');

    await until('the third good lot', async () => reads >= 6);
    isStuck = true;
    gates.stuck.resolve();
    await until('the source closes', async () => (await stateOf(first, 'lamp')).observedValue === 'closed');
    const stuckLots = (await first.service.ledger.lots(1)).map(({ id }) => id);
    // pure ends at once, though bytes of good lots are left; the seed in force came from a lot that had passed
    assert.deepEqual(await answers(first), { pure: 503, 'quantum-seeded': 200, csprng: 200 });
    const health = await first.checks();
    assert.equal(health['pool:pure'][0].status, 'fail');
    assert.equal((health['source:health_tests'][0].details as { name: string }).name, 'lamp');
    assert.equal((await told(first, 'qrn_health_test_latched', 'lamp', '')).get(undefined), 1);
    const { certificate } = await certificateOf(first, before);
    assert.ok(certificate.provenance.lots.every(({ id }) => !stuckLots.includes(id)));
    await first.stop();

    isStuck = false;
    const second = await start(t, [source], { QRN_RESERVOIR_BYTES: '1048576' }, first.dataDir);
    await second.service.ready;
    assert.deepEqual(await answers(second), { pure: 200, 'quantum-seeded': 200, csprng: 200 });
    const kept = await certificateOf(second, before);
    assert.deepEqual(kept.certificate.provenance, certificate.provenance);
    const evidence = (await second.service.ledger.lots(1_000)).filter(
      ({ accepted, source: name }) => name === 'lamp' && !accepted,
    );
    assert.deepEqual([...new Set(evidence.map(({ health: { grade } }) => grade))].sort(), [
      'intermittent',
      'permanent',
    ]);
    await second.stop();
  });

  async function answers({ ask }: LocalService) {
    const status: Record<string, number> = {};
    for (const mode of ['pure', 'quantum-seeded', 'csprng']) {
      const answer = await ask<AnswerBody>(`/integers?entropy_mode=${mode}`);
      status[mode] = answer.status;
      if (answer.status === 200) {
        assert.equal(answer.headers.get('x-entropy-mode'), mode);
        continue;
      }
      assert.equal(answer.body.error.code, 'entropy_unavailable');
      assert.ok(Number(answer.headers.get('retry-after')) >= 1);
    }
    return status;
  }
});
