import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HttpConnection } from '../support/http.ts';
import { type OverloadedFront, overloadedFront, steppingClock, turn } from './stack.ts';

/** Long enough to be shed when it is late. */
const COUNT = 10_000;
/** The time by which the clock goes on with each reading. */
const ANSWER_MS = 0.6;
const PATH = `/v1/integers?count=${COUNT}&max=1000000&unique=true`;
/**
 * Count of requests of each of two accounts: more than are made before the last of them is late, by a clock that
 * advances with each reading.
 */
const MANY = 80;

describe('more expensive answers at once than a front can make', () => {
  const clock = steppingClock(ANSWER_MS);
  let front: OverloadedFront;
  const keys: string[] = [];
  let connections: HttpConnection[] = [];

  before(async () => {
    front = await overloadedFront(clock, 0);
    for (let i = 0; i < 3; i++) keys.push(await front.account());
    connections = await HttpConnection.openMany(front.stack.port, 2 * MANY + 1);
  });
  after(async () => {
    for (const connection of connections) connection.leave();
    await front.stop();
  });

  /** Sends all in one turn of the loop: they are written before the front reads any. */
  async function together(paths: readonly { key: string; path: string }[]): Promise<number[]> {
    const asked = paths.map(({ key, path }, i) =>
      connections[i].ask(`GET ${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    while (front.stack.committer.pending > 0) await turn();
    await turn();
    return statuses;
  }

  it('are made in turns for two accounts until they waited as long as the bound, and a small one is answered', async () => {
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
});
