import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DATA_ENDPOINT_DEFINITIONS } from '../../../src/http/endpoints/table.ts';
import { ACCEPTS } from './cases.ts';
import { hold } from './oracle.ts';
import { bookFailure, FUZZ_PROPERTIES, tryProperty } from './properties.ts';
import { World } from './world.ts';

/** The short form of `node test/adversary/fuzz/run.ts`. */
const SEED = 20_261_121;

let world: World;
before(async () => {
  world = await World.start();
});
after(() => world.stop());

describe('requests made from the grammar of the endpoints', () => {
  for (const property of FUZZ_PROPERTIES) {
    it(`keep ${property.runs} times: ${property.name}`, async () => {
      const { failure } = await tryProperty(world, property, SEED, property.runs);
      assert.equal(failure, undefined, failure);
    });
  }

  it('are refused for a mode that their tier lacks', async () => {
    const ask = {
      endpoint: 'uuid',
      query: 'entropy_mode=pure',
      contentType: '',
      body: new Uint8Array(0),
    } as const;
    const way = { role: 'csprng', keyWay: 'bearer', method: 'GET', ask, accept: ACCEPTS[0] } as const;
    await hold(world, way, { row: { endpoint: 'uuid', request: '', data: {} }, mode: 'pure' });
    assert.ok(world.outcomes.has('mode_not_allowed'));
  });

  it('leave books that agree with what was answered', async () => {
    assert.equal(await bookFailure(world), undefined);
  });

  it('reach every endpoint, and every refusal that does not depend on a parameter', () => {
    const due = [
      ...DATA_ENDPOINT_DEFINITIONS.map(({ name }) => `200 ${name}`),
      ...[
        'method_not_allowed',
        'auth_missing',
        'auth_invalid',
        'rate_limited',
        'auth_scope',
        'credits_exhausted',
      ],
      ...['not_acceptable', 'unsupported_media_type'],
    ];
    assert.deepEqual(
      due.filter((outcome) => !world.outcomes.has(outcome)),
      [],
    );
  });
});
