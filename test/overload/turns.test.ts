import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../src/core/clock.ts';
import { HttpConnection } from '../support/http.ts';
import { type OverloadedFront, overloadedFront } from './stack.ts';

const FLOOD = 48;

for (const engine of ['uws', 'node'] as const)
  describe(`requests that are ready together, on ${engine}`, () => {
    let front: OverloadedFront;
    let flooding: string;
    let other: string;
    let connections: HttpConnection[];

    before(async () => {
      front = await overloadedFront(systemClock, 0, { engine });
      flooding = await front.account();
      other = await front.account();
      connections = await HttpConnection.openMany(front.stack.port, FLOOD + 1);
      // the first request of a connection may take several turns of the loop
      await Promise.all(connections.map((each) => each.ask('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n')));
    });
    after(async () => {
      for (const connection of connections) connection.leave();
      await front.stop();
    });

    /**
     * Returns how many requests of the flood, which is written first, are answered before the HEAD of the other
     * account.
     */
    async function answeredBefore(flood: string): Promise<number> {
      const requests = connections.map((_, i) =>
        i < FLOOD ? flood : `HEAD /v1/uuid HTTP/1.1\r\nHost: a\r\nX-API-Key: ${other}\r\n\r\n`,
      );
      const order: number[] = [];
      await Promise.all(
        connections.map(async (connection, i) => {
          await connection.ask(requests[i], { isHead: requests[i].startsWith('HEAD') });
          order.push(i);
        }),
      );
      return order.indexOf(FLOOD);
    }

    it('of an account that asks for HEAD wait for their turn, and do not delay others', async () => {
      const before = await answeredBefore(
        `HEAD /v1/uuid HTTP/1.1\r\nHost: a\r\nX-API-Key: ${flooding}\r\n\r\n`,
      );
      assert.ok(before < FLOOD / 2, `${before} of ${FLOOD} came first`);
    });

    for (const path of ['/nothing', '/livez/'])
      it(`without a key, for ${path}, wait for their turn, and do not delay an account's`, async () => {
        const before = await answeredBefore(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
        assert.ok(before < FLOOD / 2, `${before} of ${FLOOD} came first`);
      });

    it('with a slash too many are redirected to the path without it, whatever their query holds', async () => {
      // node:http itself refuses what no field may hold
      const hostile = engine === 'uws' ? [['?\xe9', '/livez']] : [];
      for (const [query, location] of [['?a=b', '/livez?a=b'], ['', '/livez'], ...hostile]) {
        const { status, headers } = await connections[0].ask(
          `GET /livez/${query} HTTP/1.1\r\nHost: a\r\n\r\n`,
        );
        assert.deepEqual([status, headers.get('location')], [308, location]);
      }
    });
  });
