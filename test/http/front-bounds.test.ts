import assert from 'node:assert/strict';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { LIMITS } from '../../src/core/limits.ts';
import {
  connectionsMax,
  connectionsWithin,
  descriptorLimit,
  memoryLimit,
} from '../../src/service/front-stack.ts';
import { HttpConnection } from '../support/http.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { missing, writeSelfSigned } from '../support/programs.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { frontWith, PLAIN_HEAD, sendLater, until } from './front-fixture.ts';

/** Bounds of the front that the whole service reaches only after minutes or with thousands of clients. */

const noOpenssl = missing('openssl', 'openssl');
const GET = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n';
const OK = Buffer.from('ok');

describe('connections beyond the limit', () => {
  it('are closed at once, those within it are served, and a closed one makes room for another', async () => {
    const limits = { connectionsMax: 3, sweepMs: 5 };
    const { front } = await frontWith((exchange) => sendLater(exchange, PLAIN_HEAD, OK), { limits });
    const within = await HttpConnection.openMany(front.port, 3);
    await until(() => front.openConnections === 3);
    const beyond = await HttpConnection.openMany(front.port, 5);
    await Promise.all(beyond.map(({ closed }) => closed));
    for (const connection of beyond) assert.equal(connection.receivedBytes, 0);
    assert.equal(front.openConnections, 3);
    for (const connection of within) {
      connection.send(GET);
      await connection.received(1);
      assert.match(connection.start, /^HTTP\/1\.1 200 OK/);
    }
    within[0].leave();
    await until(() => front.openConnections === 2);
    const next = await HttpConnection.open(front.port);
    next.send(GET);
    await next.received(1);
    assert.match(next.start, /^HTTP\/1\.1 200 OK/);
    for (const connection of [...within, ...beyond, next]) connection.leave();
    await front.drain(0);
  });

  for (const engine of ['uws', 'node'] as const)
    it(`are counted and closed before their TLS handshake on ${engine}`, { skip: noOpenssl }, async () => {
      const folder = scratchFolder();
      const tls = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
      writeSelfSigned(tls.keyFile, tls.certFile);
      const limits = { connectionsMax: 3 };
      const { front } = await frontWith(() => assert.fail('nobody asks'), { engine, tls, limits });
      const silent = await HttpConnection.openMany(front.port, 5);
      await until(() => silent.filter(({ isClosed }) => isClosed).length === 2);
      assert.equal(front.openConnections, 3);
      await front.drain(0);
      await Promise.all(silent.map(({ closed }) => closed));
      for (const connection of silent) connection.leave();
    });

  it('are reported in one log line a minute', async () => {
    let looks = 0;
    const clock = new (class extends ManualClock {
      override monotonicMs(): number {
        looks++; // each sweep looks
        return super.monotonicMs();
      }
    })();
    const limits = { connectionsMax: 0, sweepMs: 2 };
    const { front, log } = await frontWith(() => assert.fail('nobody is let in'), { clock, limits });
    const crowd = async () => {
      const connections = await HttpConnection.openMany(front.port, 7);
      await Promise.all(connections.map(({ closed }) => closed));
      for (const connection of connections) connection.leave();
    };
    await crowd();
    await until(() => log.lines.length > 0);
    const told = () => log.lines.reduce((sum, { facts }) => sum + Number(facts['turned_away']), 0);
    for (let i = 0; i < 3; i++) await crowd();
    clock.advance(59_999);
    const before = looks;
    await until(() => looks >= before + 2);
    assert.equal(log.lines.length, 1);
    clock.advance(1);
    await until(() => told() === 28);
    assert.equal(log.lines.length, 2);
    assert.equal(log.lines[0].message, 'connections at their limit: new ones are closed');
    await front.drain(0);
  });

  it('are limited by the file descriptors that are left for them', () => {
    assert.equal(connectionsMax(120, 1, 2), 24);
    assert.equal(connectionsMax(1_024, 1, 2), 928);
    assert.equal(connectionsMax(1_024, 4, 8), 208);
    assert.equal(connectionsMax(10, 1, 2), 16);
    assert.equal(connectionsMax(Number.POSITIVE_INFINITY, 2, 4), LIMITS.connectionsMax);
    assert.ok(descriptorLimit() > 0);
  });

  it('are limited so that their unfinished heads fit into a quarter of the memory', () => {
    const GIB = 1024 ** 3;
    assert.equal(connectionsWithin(GIB, 1), 3_971);
    assert.equal(connectionsWithin(GIB, 2), 1_985);
    assert.equal(connectionsWithin(1.5 * GIB, 1), 5_957);
    assert.equal(connectionsWithin(1, 1), 16);
    assert.equal(connectionsWithin(64 * GIB, 2), LIMITS.connectionsMax);
    assert.ok(memoryLimit() > 0 && memoryLimit() <= totalmem());
  });
});

describe('a line about a slow client', () => {
  it('holds the beginning of what the client sent', async () => {
    const clock = new ManualClock();
    const { front, log } = await frontWith(() => {}, { clock, limits: { sweepMs: 5 } });
    const connection = await HttpConnection.open(front.port);
    connection.send(`${'M'.repeat(20_000)} /${'p'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await until(() => front.waiting.size === 1);
    clock.advance(LIMITS.answerDeadlineMs);
    await connection.closed;
    assert.ok(JSON.stringify(log.lines).length < 1_000);
    assert.equal(log.lines[0].facts['method'], 'M'.repeat(16));
    connection.leave();
    await front.drain(0);
  });
});
