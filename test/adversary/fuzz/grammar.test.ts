import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DATA_ENDPOINT_DEFINITIONS } from '../../../src/http/endpoints/table.ts';
import { ACCEPTS } from './cases.ts';
import { hold } from './oracle.ts';
import { PLANTS, UNRELEASED_QUOTA } from './plants.ts';
import { bookFailure, FUZZ_PROPERTIES, tryProperty } from './properties.ts';
import { World } from './world.ts';

/** The short form of `node test/adversary/fuzz/run.ts`. */
const SEED = 20_261_121;

let world: World;
before(async () => {
  world = await World.start();
});
after(() => world.stop());

function propertyOf(name: string) {
  return FUZZ_PROPERTIES.find((each) => each.name === name)!;
}

describe('requests made from the grammar of the endpoints', () => {
  for (const property of FUZZ_PROPERTIES) {
    it(`keep ${property.runs} times: ${property.name}`, async () => {
      const { failure } = await tryProperty(world, property, SEED, property.runs);
      assert.equal(failure, undefined, failure);
    });
  }

  it('are refused for more values without repeats than a range holds, which chance seldom asks for', async () => {
    const query = 'count=3&min=1&max=2&unique=true';
    const ask = { endpoint: 'integers', query, contentType: '', body: new Uint8Array(0) } as const;
    await hold(world, { role: 'csprng', keyWay: 'bearer', method: 'GET', ask, accept: ACCEPTS[0] });
    assert.ok(world.outcomes.has('unique_impossible'));
  });

  it('are refused for lists of different lengths, which chance seldom makes of valid numbers', async () => {
    const query = 'length=1,2&min=0&max=9';
    const ask = { endpoint: 'sequences', query, contentType: '', body: new Uint8Array(0) } as const;
    await hold(world, { role: 'csprng', keyWay: 'bearer', method: 'GET', ask, accept: ACCEPTS[0] });
    assert.ok(world.outcomes.has('invalid_sequences'));
  });

  it('are refused for a key without their scope, which chance seldom gives to a batch', async () => {
    const body = Buffer.from('{"type":"uuid","count":1}');
    const ask = { endpoint: 'batch', query: '', contentType: 'application/json', body } as const;
    await hold(world, { role: 'reader', keyWay: 'bearer', method: 'POST', ask, accept: ACCEPTS[0] });
    assert.ok(world.outcomes.has('auth_scope'));
  });

  it('leave books that agree with what was answered', async () => {
    assert.equal(await bookFailure(world), undefined);
  });

  it('reach every endpoint, and every refusal that a parameter has', () => {
    const due = DATA_ENDPOINT_DEFINITIONS.flatMap(({ name, parameters, body, errors }) => [
      `200 ${name}`,
      ...[...parameters, ...(body?.members ?? []), ...Object.values(body?.params ?? {}).flat()].map(
        ({ error }) => error,
      ),
      ...errors,
    ]);
    const others = [
      ...['method_not_allowed', 'auth_missing', 'auth_invalid', 'rate_limited', 'auth_scope'],
      ...['duplicate_parameter', 'mode_not_allowed', 'credits_exhausted'],
    ];
    const missing = [...due, ...others].filter((outcome) => !world.outcomes.has(outcome));
    assert.deepEqual([...new Set(missing)], []);
  });
});

/** Last: what they break in the books of this world stays broken. */
describe('the fuzzer finds', () => {
  for (const { bug, foundBy, plant } of PLANTS) {
    it(bug, async () => {
      const property = propertyOf(foundBy);
      const undo = plant(world);
      try {
        // other queries than before: the service keeps what it parsed
        const runs = 3 * property.runs;
        const found = await tryProperty(world, property, SEED + 1, runs, { stopsAtFirst: true });
        assert.ok(found.failure, `not found in ${runs} cases`);
      } finally {
        undo();
      }
    });
  }

  it('a quota that refused requests use up', async () => {
    const undo = UNRELEASED_QUOTA();
    try {
      await tryProperty(world, propertyOf('hostile'), SEED + 2, 50, { stopsAtFirst: true });
      assert.match((await bookFailure(world)) ?? '', /the books of/);
    } finally {
      undo();
    }
  });
});
