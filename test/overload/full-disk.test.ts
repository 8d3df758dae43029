import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fetchWhole } from '../support/http.ts';
import { freshMetrics, parseExposition } from '../support/prometheus.ts';
import { TestServer } from '../support/server.ts';
import { SmallDisk } from '../support/small-disk.ts';

const REFUSED = 300;
const AT_ONCE = 20;

interface FullDiskFinding {
  /** Pure bytes that the refused requests took from the reservoir. */
  readonly burnt: number;
  /** Lines of level `error` and `warn` that the full disk brought. */
  readonly lines: number;
}

describe('a service whose disk is full', () => {
  it('draws nothing for what it refuses, is not ready, says so in a few lines, and serves again', async (t) => {
    const disk = SmallDisk.mount(400);
    if (disk === undefined) return t.skip('needs the right to mount; pure.test.ts has a disk of the test');
    t.after(() => disk.unmount());
    const { burnt, lines } = await meetsFullDisk(disk);
    assert.equal(burnt, 0, 'pure bytes were taken for refused requests');
    assert.ok(lines <= 10, `${lines} lines of warnings and errors`);
  });
});

/** The disk of a running service is filled to the last byte, pure bytes are asked for, and the room is given back. */
async function meetsFullDisk(disk: SmallDisk): Promise<FullDiskFinding> {
  const server = await TestServer.start({}, join(disk.folder, 'data'));
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
    return { burnt, lines };
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
