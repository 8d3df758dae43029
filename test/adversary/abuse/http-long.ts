import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { hostileCases } from '../../support/hostile-requests.ts';
import { HttpConnection } from '../../support/http.ts';
import type { Target } from '../../support/raw-http.ts';
import { assertServes, restingReaders } from './http-clients.ts';
import { CaseRunner, cut } from './http-malformed.ts';

/** Checks of the long form only: memory, processor time, and limits that take half a minute. */

const MEGABYTE = 1_000_000;

/** Runs an attack and returns by how many megabytes the service grew at most, measured ten times a second. */
export async function growthMb(target: Target, attack: () => Promise<void>): Promise<number> {
  const before = target.residentBytes();
  let largest = before;
  const watch = setInterval(() => {
    largest = Math.max(largest, target.residentBytes());
  }, 100);
  try {
    await attack();
  } finally {
    clearInterval(watch);
  }
  return (largest - before) / MEGABYTE;
}

/**
 * Sends every case of one request again, cut into packets at random places, and asserts the same answer. Returns their
 * count.
 */
export async function assertCutsChangeNothing(
  target: Target,
  rounds: number,
  random: () => number,
): Promise<number> {
  const runner = new CaseRunner(target);
  const cases = hostileCases(target.key).filter(
    ({ uws, dependsOnPackets }) => uws.connection !== 'waits' && !dependsOnPackets,
  );
  for (let round = 0; round < rounds; round++) {
    for (const hostile of cases) {
      const pieces = cut(hostile.bytes, 1 + Math.floor(random() * 5), random);
      try {
        await runner.assertAnswer(hostile, 'uws', pieces);
      } catch (error) {
        throw new Error(`${hostile.name}, cut at ${pieces.map(({ length }) => length).join(' + ')}`, {
          cause: error,
        });
      }
    }
  }
  return rounds * cases.length;
}

/** Announces a body on each of `count` connections and sends one byte of it. */
export async function takesBodiesAsTheyCome(target: Target, count: number): Promise<number> {
  const connections = await HttpConnection.openMany(target.port, count);
  const head = 'POST /v1/batch HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n{';
  for (const connection of connections) connection.send(head);
  await target.until(({ waitingRequests }) => waitingRequests >= count);
  for (const connection of connections) connection.leave();
  await target.untilCalm();
  return count;
}

/**
 * Large enough that the send buffer of the service, up to 4 MB, is writable again within the 10 s after which
 * uWebSockets.js closes a connection without progress, and small enough that 30 MB take longer than the 30 s of a
 * reply.
 */
const TRICKLE_BYTES = 256 * 1024;
const TRICKLE_MS = 500;

/**
 * Readers of a large answer take 512 KB a second, and others one byte. Each must be cut by the deadline of a reply at
 * the latest, whatever its progress, and others served meanwhile.
 */
export async function keepsReplyDeadline(target: Target, readers: number): Promise<number> {
  const connections = await restingReaders(target, readers, 150);
  const trickle = setInterval(() => {
    connections.forEach(({ socket }, i) => {
      socket.read(i % 2 === 0 ? TRICKLE_BYTES : 1);
    });
  }, TRICKLE_MS);
  const held = await target.until(({ sendingReplies }) => sendingReplies >= readers);
  assert.ok(held.heldBytes > readers * 10 * MEGABYTE, `${held.heldBytes} bytes are held`);
  await assertServes(target, 50);
  await target.until(({ sendingReplies, heldBytes }) => sendingReplies + heldBytes === 0);
  clearInterval(trickle);
  for (const connection of connections) connection.leave();
  const cutByDeadline = target.logLines('reply not taken in time').length;
  assert.ok(cutByDeadline >= Math.floor(readers / 2), `${cutByDeadline} readers were cut by the deadline`);
  await target.untilCalm();
  return readers;
}

/** Returns the share of one processor that the service uses while more clients than descriptors stay for `seconds`. */
export async function cpuShareBesideCrowd(target: Target, crowd: number, seconds: number): Promise<number> {
  const connections = await HttpConnection.openMany(target.port, crowd);
  const before = target.cpuSeconds();
  const end = process.hrtime.bigint() + BigInt(seconds * 1e9);
  while (process.hrtime.bigint() < end) {
    await sleep(250);
    const gone = connections.filter(({ isClosed }) => isClosed).length;
    connections.push(...(await HttpConnection.openMany(target.port, Math.min(50, gone)))); // they reconnect
  }
  const share = (target.cpuSeconds() - before) / seconds;
  for (const connection of connections) connection.leave();
  await target.untilCalm();
  return share;
}
