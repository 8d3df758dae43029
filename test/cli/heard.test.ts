import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { verify } from '../../clients/typescript/program/verify.ts';
import { accounts } from '../../src/cli/accounts.ts';
import type { Command } from '../../src/cli/command.ts';
import { keys } from '../../src/cli/keys.ts';
import { lots } from '../../src/cli/lots.ts';
import { systemClock } from '../../src/core/clock.ts';
import { fetchWhole } from '../support/http.ts';
import { runCommand } from '../support/run-command.ts';
import { TestServer, until } from '../support/server.ts';

/*
 * A command that changes who is served, or what is drawn from, returns when the running service goes by the change. The
 * commands run in this process: in one of their own they would end long after they returned.
 */

const ROUNDS = 6;
/** Why a lot is withdrawn, with what must not reach a page as it is. */
const WHY = 'detector fault <b>x</b>';
/** Count of requests, each on a new connection, so that the system spreads them over both fronts. */
const REQUESTS = 4;

describe('a running service with two fronts', () => {
  let server: TestServer;
  let account: string;
  /** A key of that account for requests that are not tested. */
  let ownKey: string;

  before(async () => {
    server = await TestServer.start({ QRN_FRONTS: '2' }); // one lot of which all is drawn
    const made = await qrn(accounts, 'create', '--name', 'T', '--tier', 'enterprise');
    account = made['account_id'];
    ownKey = made['key'];
  });
  after(() => server.stop());

  async function qrn(command: Command, ...args: string[]): Promise<Record<string, string>> {
    const environment = { QRN_DATA_DIR: server.dataDir };
    const { status, out, talk } = await runCommand(command, [...args, '--json'], environment, systemClock);
    assert.deepEqual([status, talk], [0, '']);
    return JSON.parse(out);
  }

  function ask(path: string, key: string): Promise<Response[]> {
    const headers = { authorization: `Bearer ${key}`, connection: 'close' };
    const all = Array.from({ length: REQUESTS }, () => fetchWhole(`${server.baseUrl}${path}`, { headers }));
    return Promise.all(all);
  }

  async function statuses(key: string): Promise<number[]> {
    const responses = await ask('/integers', key);
    await Promise.all(responses.map((response) => response.arrayBuffer()));
    return [...new Set(responses.map(({ status }) => status))];
  }

  it(`serves a key once keys create has returned, and refuses it once keys revoke has (${ROUNDS} rounds)`, async () => {
    for (let round = 1; round <= ROUNDS; round++) {
      const { key, key_id } = await qrn(keys, 'create', '--account', account);
      assert.deepEqual(await statuses(key), [200], `round ${round}, after keys create`);
      await qrn(keys, 'revoke', key_id);
      assert.deepEqual(await statuses(key), [401], `round ${round}, after keys revoke`);
    }
  });

  it('refuses the old key once keys rotate --grace 0 has returned, and accepts the new one', async () => {
    for (let round = 1; round <= 2; round++) {
      const old = await qrn(keys, 'create', '--account', account);
      assert.deepEqual(await statuses(old['key']), [200]);
      const rotated = await qrn(keys, 'rotate', old['key_id'], '--grace', '0');
      assert.deepEqual(await statuses(old['key']), [401], `round ${round}`);
      assert.deepEqual(await statuses(rotated['key']), [200], `round ${round}`);
    }
  });

  it('draws nothing from a lot once lots revoke has returned, and revokes its certificates without changing them', async () => {
    for (let round = 1; round <= 2; round++) {
      const lot = await lotInUse();
      const certificates = round === 1 ? await certificatesOf(lot) : undefined;
      const done = await qrn(lots, 'revoke', lot, '--why', WHY);
      assert.deepEqual(done, { lot_id: lot, revoked_at: done['revoked_at'], reason: WHY });
      await certificates?.assertRevoked(done);
      for (const mode of ['quantum-seeded', 'pure']) {
        for (const each of await lotsOf(mode)) assert.notEqual(each, lot, `round ${round}, ${mode}`);
      }
    }
  });

  async function lotInUse(): Promise<string> {
    let lot: string | undefined;
    await until('a lot that was not withdrawn', async () => {
      [lot] = await lotsOf('pure');
      return lot !== undefined;
    });
    return lot!;
  }

  /** The certificate of an answer from the lot as it is now, to be compared with the same when the lot has been withdrawn. */
  async function certificatesOf(lot: string) {
    const own = { authorization: `Bearer ${ownKey}` };
    const body = await (await server.get('/bytes?entropy_mode=pure', own)).text();
    const { certificate_id: id } = JSON.parse(body).metadata;
    const shown = async (accept: string) =>
      (await fetchWhole(`${server.origin}/verify/${id}`, { headers: { accept } })).text();
    const document = async () => JSON.parse(await shown('application/json'));
    await server.until('it is logged', async () => (await document()).certificate.proof !== null);
    const before = await document();
    assert.ok(before.certificate.provenance.lots.some((each: { id: string }) => each.id === lot));
    const logSize = async () =>
      Number((await (await fetchWhole(`${server.origin}/log/checkpoint`)).text()).split('\n')[1]);
    const sizeBefore = await logSize();

    const assertRevoked = async (revocation: Record<string, string>) => {
      assert.deepEqual(await document(), {
        ...before,
        certificate: { ...before.certificate, status: 'revoked' },
        revocation,
      });
      assert.match(
        await shown('text/html'),
        /Revoked: do not rely on this answer\.[\s\S]*detector fault &lt;b&gt;x&lt;\/b&gt;/,
      );
      const file = join(server.dataDir, 'answer.json');
      writeFileSync(file, body);
      const verified = await runCommand(verify, [file, '--url', server.baseUrl]);
      assert.equal(verified.status, 1);
      assert.match(
        verified.out,
        /^FAILED {2}status +The operator withdrew a lot of this certificate: detector fault <b>x<\/b>\.$/m,
      );
      assert.match(verified.talk, /: not verified: status failed\n$/);
      const listed = JSON.parse(await server.qrn('lots', 'list', '--json')) as Record<string, string>[];
      assert.equal(listed.find((each) => each['lot_id'] === lot)?.['status'], 'revoked');
      await server.until('the withdrawal is an entry of the log', async () => (await logSize()) > sizeBefore);
    };
    return { assertRevoked };
  }

  /** The lots that answers of now are drawn from; none while there is nothing to draw from. */
  async function lotsOf(mode: string): Promise<string[]> {
    const found: string[] = [];
    for (const response of await ask(`/uuid?entropy_mode=${mode}`, ownKey)) {
      const { metadata } = (await response.json()) as { metadata?: { certificate_id: string } };
      if (response.status !== 200) assert.equal(response.status, 503);
      if (metadata === undefined) continue;
      const certified = await server.get(`/certificate?id=${metadata.certificate_id}`, {
        authorization: `Bearer ${ownKey}`,
      });
      assert.equal(certified.status, 200, await certified.clone().text());
      const { certificate } = (await certified.json()) as {
        certificate: { provenance: { lots: { id: string }[] } };
      };
      found.push(...certificate.provenance.lots.map(({ id }) => id));
    }
    return found;
  }
});
