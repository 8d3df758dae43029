import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fetchWhole } from '../support/http.ts';
import { AheadClock, type OverloadedFront, overloadedFront, turn } from './stack.ts';

/** The bound of fair/fair.ts. */
const OF_ONE_ACCOUNT = 32;

describe('look-ups with a key', () => {
  const clock = new AheadClock();
  let front: OverloadedFront;
  let greedy: string;
  let other: string;

  before(async () => {
    front = await overloadedFront(clock, 0);
    greedy = await front.account();
    other = await front.account();
  });
  after(() => front.stop());

  it('are refused to an account beyond 32 at a time, and to no other account', async () => {
    const gate = Promise.withResolvers<void>();
    front.lookUps.gate = gate.promise;
    const statuses: number[] = [];
    const asked = Array.from({ length: OF_ONE_ACCOUNT + 8 }, async () => {
      statuses.push((await front.get(greedy, '/usage')).status);
    });
    while (statuses.length < 8) await turn();
    assert.deepEqual(statuses, new Array(8).fill(503));
    const refused = await front.get(greedy, '/usage');
    assert.equal(refused.body.error?.code, 'overloaded');
    assert.equal(refused.headers.get('retry-after'), '1');
    const answer = await front.get(greedy, '/uuid');
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const others = front.get(other, '/usage');
    gate.resolve();
    assert.equal((await others).status, 200);
    await Promise.all(asked);
    assert.deepEqual(statuses.slice(8), new Array(OF_ONE_ACCOUNT).fill(200));
    assert.equal((await front.get(greedy, '/usage')).status, 200);
  });

  it('are made for a stream whose view of keys grew old between two blocks', async () => {
    const { stack } = front;
    const authenticate = stack.directory.authenticate.bind(stack.directory);
    let blocks = 0;
    stack.directory.authenticate = (keyText) => {
      const found = authenticate(keyText);
      // The view is too old for the next block, and not for one that asked in the same turn: blocks are made at once.
      if (++blocks < 4) setImmediate(() => (clock.aheadMs += 6_000));
      return found;
    };
    try {
      const url = `${stack.baseUrl}/stream?type=uuid&total=9&block=3`;
      const reply = await fetchWhole(url, { headers: { 'x-api-key': other } });
      const last = (await reply.text()).trimEnd().split('\n').at(-1)!;
      assert.deepEqual(JSON.parse(last), { end: { first: 0, blocks: 3, of: 3 } });
      assert.ok(blocks >= 3);
    } finally {
      stack.directory.authenticate = authenticate;
    }
  });

  it('and all other requests are served after a turn of the loop that took six seconds', async () => {
    for (const path of ['/usage', '/uuid', '/usage']) {
      clock.aheadMs += 6_000; // longer than a view of keys serves, and its timer has not had its turn since
      const reply = await front.get(other, path);
      assert.equal(reply.status, 200, JSON.stringify(reply.body));
    }
  });
});
