import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { LIMITS } from '../../src/core/limits.ts';
import { OverloadedFront, steppingClock, turn } from './stack.ts';

/** 60 ns each to begin with (answer/admission.ts), and what the clock makes of each, so that the average stays. */
const COUNT = 10_000;
const ANSWER_MS = 0.6;
const PATH = `/v1/integers?count=${COUNT}&max=1000000&unique=true`;
/** Of one account in a turn. */
const OWN = Math.floor(LIMITS.frontTurnMs / 2 / ANSWER_MS);

/** A connection that asks once and reads the status of the answer. */
async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

function ask(socket: Socket, key: string, path: string): Promise<number> {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`);
  return new Promise((resolve, reject) => {
    socket.once('data', (chunk: Buffer) => resolve(Number(chunk.toString('latin1', 9, 12))));
    socket.once('error', reject);
  });
}

describe('more dear answers at once than a front can make', () => {
  let front: OverloadedFront;
  const keys: string[] = [];
  const sockets: Socket[] = [];

  before(async () => {
    front = await OverloadedFront.start(steppingClock(ANSWER_MS), 0);
    for (let i = 0; i < 3; i++) keys.push(await front.account());
    for (let i = 0; i < 110; i++) sockets.push(await connected(front.stack.port));
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    await front.stop();
  });

  /** All in one turn of the loop: they are written before it comes to read any. */
  async function together(paths: readonly { key: string; path: string }[]): Promise<number[]> {
    const asked = paths.map(({ key, path }, i) => ask(sockets[i], key, path));
    const statuses = await Promise.all(asked);
    for (const socket of sockets) socket.removeAllListeners('data').resume(); // the rest of each body
    while (front.stack.committer.pending > 0) await turn();
    await turn();
    return statuses;
  }

  it('makes as many in one turn as fit into its bound, half of it for one account', async () => {
    const [first, second] = keys;
    const dear = (key: string, count: number) => Array.from({ length: count }, () => ({ key, path: PATH }));
    const small = { key: keys[2], path: '/v1/integers?count=10' };
    const statuses = await together([...dear(first, OWN + 10), ...dear(second, OWN + 10), small]);
    const made = (from: number, to: number) =>
      statuses.slice(from, to).filter((status) => status === 200).length;
    assert.equal(made(0, OWN + 10), OWN);
    assert.equal(made(OWN + 10, 2 * OWN + 20), OWN);
    assert.equal(statuses.filter((status) => status === 503).length, 20);
    assert.equal(statuses.at(-1), 200, 'the small one among them is answered');
  });

  it('is as before in the next turn', async () => {
    const one = await together([{ key: keys[0], path: PATH }]);
    assert.deepEqual(one, [200]);
    const many = await together(Array.from({ length: OWN + 1 }, () => ({ key: keys[2], path: PATH })));
    assert.equal(many.filter((status) => status === 200).length, OWN);
  });
});
