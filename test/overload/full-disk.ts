import assert from 'node:assert/strict';
import { join } from 'node:path';
import { fetchWhole } from '../support/http.ts';
import { freshMetrics, parseExposition } from '../support/prometheus.ts';
import { type Environment, TestServer } from '../support/server.ts';
import type { SmallDisk } from '../support/small-disk.ts';

const REFUSED = 300;
const AT_ONCE = 20;

export interface FullDiskFinding {
  readonly refused: number;
  /** Pure bytes that the refused requests took from the reservoir. */
  readonly burnt: number;
  /** Lines of level `error` and `warn` that the full disk brought. */
  readonly lines: number;
}

/** The disk of a running service is filled to the last byte, pure bytes are asked for, and the room is given back. */
export async function meetsFullDisk(disk: SmallDisk, environment: Environment): Promise<FullDiskFinding> {
  const server = await TestServer.start(environment, join(disk.folder, 'data'));
  try {
    const { key } = await server.account('enterprise');
    const pure = () => server.get('/bytes?count=1024&entropy_mode=pure', { authorization: `Bearer ${key}` });
    const readiness = async () => {
      const reply = await fetchWhole(`${server.origin}/readyz`);
      return `${reply.status} ${(await reply.text()).trim()}`;
    };
    const level = async () => {
      const { samples } = parseExposition(await freshMetrics(server.origin)).get('qrn_pool_bytes')!;
      return samples.get('qrn_pool_bytes')!.find(({ labels }) => labels.get('kind') === 'pure')!.value;
    };
    const isServed = async () => (await pure()).status === 200;
    await server.until('pure bytes are served', isServed);
    disk.fillTo(0);
    await server.until(
      'the service sees that the disk is full',
      async () => (await readiness()) !== '200 ready',
    );
    const [before, linesBefore] = [await level(), faultLines(server)];
    for (let i = 0; i < REFUSED; i += AT_ONCE) {
      const replies = await Promise.all(Array.from({ length: AT_ONCE }, pure));
      for (const reply of replies) {
        const { error } = (await reply.json()) as { error?: { code: string } };
        assert.deepEqual([reply.status, error?.code], [503, 'storage_unavailable']);
      }
      assert.equal(await readiness(), '503 disk-full');
    }
    const burnt = before - (await level());
    const lines = faultLines(server) - linesBefore;
    disk.free();
    await server.until('the service is ready again', async () => (await readiness()) === '200 ready');
    await server.until('pure bytes are served again', isServed);
    const audit = JSON.parse(await server.qrn('ledger', 'audit', '--json')) as { ok: boolean };
    assert.ok(audit.ok);
    return { refused: REFUSED, burnt, lines };
  } finally {
    await server.stop();
  }
}

function faultLines(server: TestServer): number {
  return server
    .output()
    .split('\n')
    .filter((line) => /"level":[45]0/.test(line)).length;
}
