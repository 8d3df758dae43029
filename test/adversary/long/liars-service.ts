import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BackendError, type StreamBackend } from '../../../src/backend/backend.ts';
import { deadBackend, repeatingBackend } from '../../support/backends.ts';
import { until } from '../../support/server.ts';
import { type Asked, LocalService } from '../../support/service.ts';
import { changedBackend } from '../liars/collecting.ts';
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
}
type Answered = Asked<AnswerBody>;

const certificateOf = async ({ ask }: LocalService, { body }: Answered) =>
  (await ask<Certified>(`/certificate?id=${body.metadata.certificate_id}`)).body;

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
    const world = await LocalService.startFor(t, environment, { backends });
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
