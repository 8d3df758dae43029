import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LIMITS } from '../../src/core/limits.ts';
import { HttpConnection } from '../support/http.ts';
import { OverloadedFront, steppingClock, turn } from './stack.ts';

/** 60 ns each to begin with (answer/admission.ts), and what the clock makes of each, so that the average stays. */
const COUNT = 10_000;
const ANSWER_MS = 0.6;
const PATH = `/v1/integers?count=${COUNT}&max=1000000&unique=true`;
/** Of one account in a turn. */
const OWN = Math.floor(LIMITS.frontTurnMs / 2 / ANSWER_MS);
/** Of each of two accounts: more than are made before the last of them is late, by a clock that goes on with each reading. */
const MANY = 2 * OWN;

describe('more expensive answers at once than a front can make', () => {
  const clock = steppingClock(ANSWER_MS);
  let front: OverloadedFront;
  const keys: string[] = [];
  let connections: HttpConnection[] = [];

  before(async () => {
    front = await OverloadedFront.start(clock, 0);
    for (let i = 0; i < 3; i++) keys.push(await front.account());
    connections = await HttpConnection.openMany(front.stack.port, 2 * MANY + 1);
  });
  after(async () => {
    for (const connection of connections) connection.leave();
    await front.stop();
  });

  /** All in one turn of the loop: they are written before it comes to read any. */
  async function together(paths: readonly { key: string; path: string }[]): Promise<number[]> {
    const asked = paths.map(({ key, path }, i) =>
      connections[i].ask(`GET ${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    while (front.stack.committer.pending > 0) await turn();
    await turn();
    return statuses;
  }

  /** Longer than accounts share the turns after they asked at once (fair/fair.ts). */
  function pass(): void {
    for (let passedMs = 0; passedMs < 1_000; passedMs += ANSWER_MS) clock.monotonicMs();
  }

  it('makes those of one account up to half of the bound of a turn', async () => {
    pass();
    const many = await together(Array.from({ length: OWN + 10 }, () => ({ key: keys[2], path: PATH })));
    assert.equal(many.filter((status) => status === 200).length, OWN);
    assert.equal(many.filter((status) => status === 503).length, 10);
  });

  it('makes those of two accounts in turns until they waited for as long as the bound, and answers a small one', async () => {
    const [first, second] = keys;
    const dear = (key: string, count: number) => Array.from({ length: count }, () => ({ key, path: PATH }));
    const small = { key: keys[2], path: '/v1/integers?count=10' };
    const statuses = await together([...dear(first, MANY), ...dear(second, MANY), small]);
    const made = (from: number, to: number) =>
      statuses.slice(from, to).filter((status) => status === 200).length;
    const ofFirst = made(0, MANY);
    const ofSecond = made(MANY, 2 * MANY);
    assert.ok(ofFirst >= 5 && ofFirst < MANY, `${ofFirst} of the first account`);
    assert.ok(Math.abs(ofFirst - ofSecond) <= 4, `${ofFirst} and ${ofSecond}`);
    assert.equal(statuses.filter((status) => status === 503).length, 2 * MANY - ofFirst - ofSecond);
    assert.equal(statuses.at(-1), 200, 'the small one among them is answered');
  });

  it('is as before when nobody else has asked for a while', async () => {
    pass();
    const one = await together([{ key: keys[0], path: PATH }]);
    assert.deepEqual(one, [200]);
    pass();
    const many = await together(Array.from({ length: OWN + 1 }, () => ({ key: keys[0], path: PATH })));
    assert.equal(many.filter((status) => status === 200).length, OWN);
  });
});
