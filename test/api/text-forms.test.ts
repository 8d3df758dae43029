import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { responseOfFields } from '../../src/certificate/octet-answer.ts';
import { verifyAnswer } from '../../src/certificate/verify.ts';
import { failedChecks, loggedCertificate, refusalOf } from '../support/replies.ts';
import { TestServer } from '../support/server.ts';

/** Values as lines of text, by `format` and by `Accept`, from the running service. */
const PLAIN = 'text/plain; charset=utf-8';
const CSV = 'text/csv; charset=utf-8; header=present';

let server: TestServer;
before(async () => {
  server = await TestServer.shared();
});

const LINES: readonly [path: string, line: RegExp, count: number][] = [
  ['/integers?count=50&min=-9&max=9', /^-?\d$/, 50],
  ['/bytes?count=16', /^[0-9a-f]{32}$/, 1],
  ['/bytes?count=16&encoding=base64', /^[0-9A-Za-z+/]{22}==$/, 1],
  ['/floats?count=7', /^\d(\.\d+)?(e-\d+)?$/, 7],
  ['/uuid?count=3', /^[0-9a-f-]{36}$/, 3],
  ['/bitstring?length=77', /^[01]{77}$/, 1],
  ['/shuffle?items=ada,grace,barbara', /^(ada|grace|barbara)$/, 3],
];

describe('values as text', () => {
  it('are one to a line, on every endpoint, by format and by Accept', async () => {
    for (const [path, line, count] of LINES) {
      for (const mode of ['quantum-seeded', 'csprng']) {
        const asked = `${path}&entropy_mode=${mode}`;
        const plain = await server.get(`${asked}&format=plain`);
        assert.deepEqual([plain.status, plain.headers.get('content-type')], [200, PLAIN], path);
        const lines = (await plain.text()).split('\n');
        assert.equal(lines.pop(), '');
        assert.equal(lines.length, count);
        for (const each of lines) assert.match(each, line);
        const csv = await server.get(asked, { accept: 'text/csv' });
        assert.deepEqual([csv.status, csv.headers.get('content-type')], [200, CSV], path);
        const rows = (await csv.text()).split('\r\n');
        assert.deepEqual([rows[0], rows.at(-1), rows.length], ['value', '', count + 2]);
      }
    }
  });

  it('have their metadata in headers, and a certificate of exactly the bytes of the body', async () => {
    for (const [path, accept] of [
      ['/integers?count=5&format=plain', '*/*'],
      ['/uuid?count=5&entropy_mode=pure', 'text/csv'],
      ['/shuffle?items=ä,ö,%22&format=csv', '*/*'],
    ]) {
      const reply = await server.get(path, { accept });
      const octets = new Uint8Array(await reply.arrayBuffer());
      const certificate = await loggedCertificate(server, reply.headers.get('x-certificate-id')!);
      const response = responseOfFields(new Map(reply.headers));
      const keys = await server.keys();
      const found = await verifyAnswer({ response, octets, certificate, keys });
      assert.deepEqual(failedChecks(found), []);
      octets[octets.length - 2] ^= 1;
      const changed = await verifyAnswer({ response, octets, certificate, keys });
      assert.deepEqual(failedChecks(changed), ['delivered']);
    }
  });

  it('come from batches as well, also large ones, and the body of the request precedes its query', async () => {
    for (const count of [10, 100_000]) {
      const reply = await server.batch({
        type: 'integers',
        count,
        params: { min: 1, max: 6 },
        format: 'csv',
      });
      assert.equal(reply.headers.get('content-type'), CSV);
      const rows = (await reply.text()).split('\r\n');
      assert.equal(rows.length, count + 2);
      assert.ok(rows.slice(1, -1).every((row) => /^[1-6]$/.test(row)));
    }
    const accepted = await server.batch({ type: 'uuid', count: 100_000 }, { accept: 'text/plain' });
    assert.equal((await accepted.text()).length, 37 * 100_000);
  });

  it('are overridden by format=json, and a quote is always JSON', async () => {
    const json = await server.get('/uuid?format=json', { accept: 'text/plain' });
    assert.equal(json.headers.get('content-type'), 'application/json');
    const quote = await server.get('/uuid?format=plain&dry_run=true');
    assert.equal(quote.headers.get('content-type'), 'application/json');
    for (const each of [json, quote]) await each.arrayBuffer();
  });

  it('are refused where a value does not fit on a line', async () => {
    const broken = '/shuffle?items=a%0Ab,c';
    assert.equal(await refusalOf(server.get(`${broken}&format=plain`)), '400 invalid_format');
    assert.equal(await refusalOf(server.get(broken, { accept: 'text/plain' })), '406 not_acceptable');
    assert.equal((await server.get(`${broken}&format=csv`)).status, 200);
    assert.equal(await refusalOf(server.get('/uuid?format=xml')), '400 invalid_format');
  });
});
