import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { verify } from '../../clients/typescript/program/verify.ts';
import { fetchWhole } from '../support/http.ts';
import { freshMetrics } from '../support/prometheus.ts';
import { runCommand } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { TestServer, withWallClock } from '../support/server.ts';

const DAY_MS = 24 * 60 * 60_000;
const PURE = '/bytes?count=30&entropy_mode=pure';
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** A service that is killed, and its second life on the same folder, which keeps the promises of the first. */
describe('a service that was killed and started again', () => {
  const folder = scratchFolder();
  const clockFile = join(folder, 'clock');
  let server: TestServer;
  let free: string;
  let pro: string;
  /** The first life's answers to PURE with an Idempotency-Key, and to a request in quantum-seeded mode. */
  let answers: { readonly pure: string; readonly seeded: string };
  let oldKeys: { readonly current_key_id: string; readonly keys: readonly { readonly created_at: string }[] };
  let rotated: { readonly key_id: string; readonly replaces: string };
  let firstDemo: { readonly expires_at: string; readonly status: string };

  const text = async (path: string, headers: Record<string, string>): Promise<string> =>
    (await server.get(path, headers)).text();
  const once = () => ({ ...bearer(pro), 'idempotency-key': 'restart' });
  const demoKey = async () => JSON.parse(await server.qrn('keys', 'list', '--json'))[0];

  before(async () => {
    server = await TestServer.start();
    free = (await server.account('free')).key;
    pro = (await server.account('pro')).key;
    for (let i = 0; i < 15; i++) await text('/integers', bearer(free));
    answers = { pure: await text(PURE, once()), seeded: await text('/integers', bearer(pro)) };
    firstDemo = await demoKey();
    await server.until('the answer is logged', async () => {
      const { certificate_id: id } = JSON.parse(answers.seeded).metadata;
      return JSON.parse(await text(`/certificate?id=${id}`, bearer(pro))).certificate.proof !== null;
    });
    oldKeys = (await server.keys()) as typeof oldKeys;
    rotated = JSON.parse(await server.qrn('log', 'rotate-key', '--json'));
    assert.deepEqual(await server.keys(), oldKeys, 'a running service goes on with the old key');
    await server.kill('SIGKILL');
    writeFileSync(clockFile, '0');
    const secondLife = { QRN_ACCESS_LOG_SAMPLE: '1', ...withWallClock(clockFile) };
    server = await TestServer.start(secondLife, server.dataDir, {
      serveArgs: ['--no-demo'],
      shell: 'exec "$0" "$@" 2>/dev/full',
    });
  });
  after(async () => {
    assert.equal(await server.stop(), 0);
  });

  it('gives no new burst to an account that has used its own', async () => {
    assert.equal(JSON.parse(await text('/integers', bearer(free))).error.code, 'rate_limited');
  });

  it('replays the stored answer for an Idempotency-Key, and remembers every credit and request', async () => {
    assert.equal(await text(PURE, once()), answers.pure);
    const { credits, requests } = JSON.parse(await text('/usage', bearer(pro))).data;
    assert.deepEqual([credits.used, requests.used], [30, 2]);
  });

  it('signs with the rotated key, and answers that the old key signed still verify', async () => {
    assert.equal(rotated.replaces, oldKeys.current_key_id);
    const now = (await server.keys()) as { current_key_id: string; keys: Record<string, string>[] };
    assert.equal(now.current_key_id, rotated.key_id);
    const { retired_at: retiredAt, ...first } = now.keys[0];
    assert.ok(Date.parse(retiredAt) > Date.parse(first['created_at']), 'the old key is retired');
    assert.deepEqual({ ...first, retired_at: null }, oldKeys.keys[0]);
    const verified = async (answer: string) => {
      const path = join(folder, 'answer.json');
      writeFileSync(path, answer);
      const { status, out, talk } = await runCommand(verify, [path, '--url', server.baseUrl]);
      assert.equal(status, 0, out + talk);
      return out;
    };
    await verified(answers.seeded);
    assert.ok((await verified(await text('/integers', bearer(pro)))).includes(rotated.key_id));
  });

  it('knows the last lot of its source from before', async () => {
    const { checks } = JSON.parse(await text('/health', bearer(pro))).data;
    assert.equal(checks['source:last_lot'][0].observedValue, 'accepted');
  });

  it('has ended the demo key, which expires a day after its start, when it starts without the demo', async () => {
    assert.ok(Math.abs(Date.parse(firstDemo.expires_at) - Date.now() - DAY_MS) < 600_000, 'a day from now');
    assert.equal(firstDemo.status, 'live');
    assert.equal((await demoKey()).status, 'expired');
    assert.equal((await server.get('/integers')).status, 401);
    assert.doesNotMatch(server.output(), /demo key/);
  });

  it('is not ready while its wall clock is 401 days ahead, keeps the period and the certificates, and recovers', async () => {
    const readiness = async () => (await fetchWhole(`${server.origin}/readyz`)).text();
    const period = async () => JSON.parse(await text('/usage', bearer(pro))).data.period;
    const before = await period();
    const { certificate_id: id } = JSON.parse(answers.pure).metadata;
    writeFileSync(clockFile, String(401 * DAY_MS));
    await server.until('it is not ready', async () => (await readiness()) === 'clock-jumped\n');
    assert.equal((await server.get('/uuid', bearer(pro))).status, 200);
    assert.deepEqual(await period(), before);
    assert.equal(JSON.parse(await text(`/certificate?id=${id}`, bearer(pro))).certificate.id, id);
    writeFileSync(clockFile, '0');
    await server.until('it is ready again', async () => (await readiness()) === 'ready\n');
  });

  it('continues when its stderr is a full disk, and counts the lost lines of its log', async () => {
    for (let i = 0; i < 20; i++) assert.equal((await server.get('/uuid', bearer(pro))).status, 200);
    await server.until('20 lines are counted as lost', async () => {
      const [, lost] = /^qrn_log_lines_lost_total (\d+)$/m.exec(await freshMetrics(server.origin))!;
      return Number(lost) >= 20;
    });
  });
});
