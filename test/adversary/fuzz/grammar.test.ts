import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { DATA_ENDPOINT_DEFINITIONS } from '../../../src/http/endpoints/table.ts';
import { ACCEPTS } from './cases.ts';
import { assertBooks, hold } from './oracle.ts';
import { FUZZ_PROPERTIES } from './properties.ts';
import { World } from './world.ts';

let world: World;
before(async () => {
  world = await World.start();
});
after(() => world.stop());

describe('requests made from the grammar of the endpoints', () => {
  for (const [name, [numRuns, holds]] of Object.entries(FUZZ_PROPERTIES))
    it(`keep ${numRuns} times: ${name}`, () => fc.assert(holds(world), { numRuns }));

  it('are refused for a mode that their tier lacks', async () => {
    const noBody = { contentType: '', body: new Uint8Array(0) };
    const ask = { endpoint: 'uuid', query: 'entropy_mode=pure', ...noBody } as const;
    const way = { role: 'csprng', keyWay: 'bearer', method: 'GET', ask, accept: ACCEPTS[0] } as const;
    await hold(world, way, { row: { endpoint: 'uuid', request: '', data: {} }, mode: 'pure' });
    assert.ok(world.outcomes.has('mode_not_allowed'));
  });

  it('leave books that agree with what was answered', () => assertBooks(world));

  it('reach every endpoint, and every refusal that does not depend on a parameter', () => {
    const due = [
      ...DATA_ENDPOINT_DEFINITIONS.map(({ name }) => `200 ${name}`),
      ...['method_not_allowed', 'auth_missing', 'auth_invalid', 'rate_limited', 'auth_scope'],
      ...['credits_exhausted', 'not_acceptable', 'unsupported_media_type'],
    ];
    assert.deepEqual(
      due.filter((outcome) => !world.outcomes.has(outcome)),
      [],
    );
  });
});
