import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, describe, it } from 'node:test';
import canonicalize from 'canonicalize';
import { unpack } from 'msgpackr';
import { verify } from '../../clients/typescript/program/verify.ts';
import { fetchWhole } from '../support/http.ts';
import { bearer, loggedCertificate } from '../support/replies.ts';
import { runCommand } from '../support/run-command.ts';
import { savingIn, scratchFolder } from '../support/scratch-folder.ts';
import { TestServer } from '../support/server.ts';

/** Answers in octets of the real service over a real socket, and their certificates. */
let server: TestServer;
const folder = scratchFolder();
/** An account that knows no limit. */
let unlimited: Record<string, string>;
before(async () => {
  server = await TestServer.shared();
  unlimited = bearer((await server.account('enterprise')).key);
});

const OCTETS = 'application/octet-stream';

interface Sent {
  readonly response: Response;
  readonly body: Buffer;
}

async function batch(body: object): Promise<Sent> {
  const response = await server.batch(body, { ...unlimited, accept: OCTETS });
  const octets = Buffer.from(await response.arrayBuffer());
  assert.equal(response.status, 200, octets.toString());
  return { response, body: octets };
}

interface Packed {
  readonly data: { readonly count: number; readonly values: readonly unknown[]; readonly metadata: object };
  readonly metadata: { readonly certificate_id: string; readonly certificate_salt: string };
}

function certificateOf({ response }: Sent) {
  return loggedCertificate(server, response.headers.get('x-certificate-id')!);
}

const wide = { min: -(2 ** 40), max: 2 ** 40 };
const CASES: [what: string, ask: object, width: number][] = [
  ['integers within int32', { type: 'integers', params: { min: -7, max: 7 } }, 4],
  ['integers beyond int32', { type: 'integers', params: wide }, 8],
  ['sorted integers', { type: 'integers', params: { sort: 'ascending' } }, 4],
  ['floats', { type: 'floats' }, 8],
  ['floats of six places', { type: 'floats', params: { precision: 6 } }, 8],
  ['uuid', { type: 'uuid' }, 16],
  ['bytes', { type: 'bytes', params: { length: 5 } }, 5],
];

describe('an answer in octets', () => {
  for (const [what, ask, width] of CASES) {
    // the larger is made by a worker
    for (const count of [3, 40_000]) {
      it(`is named by its header and its certificate, which commits to its bytes, for ${count} ${what}`, async () => {
        const sent = await batch({ ...ask, count });
        const { response, body } = sent;
        assert.equal(response.headers.get('content-type'), OCTETS);
        assert.equal(body.length, width * count);
        const { certificate } = await certificateOf(sent);
        assert.equal(certificate.media_type, OCTETS);
        assert.equal(response.headers.get('x-verify-url'), certificate.verify_url);
        const salt = Buffer.from(response.headers.get('x-certificate-salt')!, 'hex');
        const digest = createHash('sha256').update(salt).update(body).digest('hex');
        assert.equal(certificate.hashes.delivered, `sha256:${digest}`);
      });
    }
  }

  it('has the layout that the documentation gives', async () => {
    const { body: narrow } = await batch({ type: 'integers', count: 1_000, params: { min: -7, max: 7 } });
    const int32 = new Int32Array(new Uint8Array(narrow).buffer);
    assert.deepEqual(
      [...new Set(int32)].sort((a, b) => a - b),
      Array.from({ length: 15 }, (_, i) => i - 7),
    );
    const { body: floats } = await batch({ type: 'floats', count: 100, params: { precision: 2 } });
    const float64 = new Float64Array(new Uint8Array(floats).buffer);
    assert.ok(float64.every((value) => value >= 0 && value < 1 && Number(value.toFixed(2)) === value));
    const { body: uuids } = await batch({ type: 'uuid', count: 10 });
    for (let at = 0; at < 160; at += 16) assert.deepEqual([uuids[at + 6] >> 4, uuids[at + 8] >> 6], [4, 2]);
  });

  it('has its media type in the reply to HEAD too', async () => {
    const head = await fetchWhole(`${server.baseUrl}/bytes`, {
      method: 'HEAD',
      headers: { ...bearer(server.key), accept: OCTETS },
    });
    assert.equal(head.headers.get('content-type'), OCTETS);
  });
});

describe('an answer in MessagePack', () => {
  const unpacked = async (body: object, accept: string) => {
    const response = await server.batch(body, { ...unlimited, accept });
    const bytes = Buffer.from(await response.arrayBuffer());
    assert.equal(response.status, 200, bytes.toString());
    return { response, answer: unpack(bytes) as Packed };
  };

  it('is the object that its certificate commits to, large or small', async () => {
    for (const count of [3, 40_000]) {
      for (const type of ['integers', 'floats', 'uuid', 'bytes']) {
        const { response, answer } = await unpacked({ type, count }, 'application/msgpack');
        assert.equal(response.headers.get('content-type'), 'application/msgpack');
        assert.equal(answer.data.values.length, count);
        const { certificate } = await loggedCertificate(server, answer.metadata.certificate_id);
        assert.equal(certificate.media_type, undefined);
        const digest = createHash('sha256').update(Buffer.from(answer.metadata.certificate_salt, 'hex'));
        digest.update(canonicalize(answer.data)!);
        assert.equal(certificate.hashes.delivered, `sha256:${digest.digest('hex')}`, `${type} ${count}`);
      }
    }
  });

  it('is given to eight connections that ask for megabytes each', async () => {
    const ask = { type: 'uuid', count: 90_000 };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => server.batch(ask, { ...unlimited, accept: 'application/msgpack' })),
    );
    for (const answer of answers) {
      assert.equal(answer.status, 200);
      assert.ok((await answer.arrayBuffer()).byteLength > 3_400_000);
    }
  });
});

describe('qrn verify of an answer in octets', () => {
  const save = savingIn(folder);
  let body: string;
  let headers: string;
  let certificate: string[];
  let keys: string[];
  let salt: string;
  let sent: Sent;
  before(async () => {
    sent = await batch({ type: 'floats', count: 40 });
    body = save('body.bin', sent.body);
    const lines = [...sent.response.headers].map(([name, value]) => `${name}: ${value}`);
    headers = save('headers.txt', `HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\n\r\n`);
    certificate = ['--certificate', save('c.json', await certificateOf(sent))];
    keys = ['--keys', save('k.json', await server.keys())];
    salt = sent.response.headers.get('x-certificate-salt')!;
  });

  it('passes with the header fields, online and offline, and with the salt alone', async () => {
    const offline = [...certificate, ...keys];
    for (const args of [
      ['--headers', headers, '--url', server.origin],
      ['--headers', headers, ...offline],
      ['--salt', salt, ...offline],
    ]) {
      const { status, out, talk } = await runCommand(verify, [body, ...args]);
      assert.deepEqual([status, talk], [0, ''], out);
      assert.match(out, /^ok {6}delivered +The octets are what was delivered/m);
      assert.equal(/^ok {6}metadata/m.test(out), args[0] === '--headers');
    }
  });

  it('fails when a byte, a header field or the media type differs', async () => {
    const bent = save(
      'bent.bin',
      sent.body.map((byte, i) => (i === 7 ? byte ^ 1 : byte)),
    );
    const text = [...sent.response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    const retyped = save('retyped.txt', text.replace(OCTETS, 'text/plain'));
    const moved = save('moved.txt', text.replace(/x-timestamp: \d+/i, 'X-Timestamp: 1999'));
    const offline = [...certificate, ...keys];
    const cases: [args: string[], failed: string][] = [
      [[bent, '--headers', headers], 'delivered'],
      [[bent, '--salt', salt], 'delivered'],
      [[body, '--salt', salt.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))], 'delivered'],
      [[body, '--headers', retyped], 'metadata'],
      [[body, '--headers', moved], 'metadata'],
    ];
    for (const [args, failed] of cases) {
      const { status, talk } = await runCommand(verify, [...args, ...offline]);
      assert.equal(status, 1);
      assert.match(talk, new RegExp(`: not verified: ${failed} failed\n$`));
    }
  });

  it('names what is missing', async () => {
    const refused: [args: string[], said: RegExp][] = [
      [[body, ...certificate, ...keys], /body\.bin is not JSON; an answer in octets requires --headers/],
      [[body, '--salt', salt, ...keys], /--salt requires --certificate/],
      [[body, '--salt', 'x', ...certificate], /--salt must be 64 lower-case hex digits/],
      [[body, '--salt', salt, '--headers', headers], /--headers and --salt must not both be given/],
      [[body, '--headers', keys[1]], /k\.json has no X-Certificate-ID/],
    ];
    for (const [args, said] of refused) {
      const { status, talk } = await runCommand(verify, args);
      assert.notEqual(status, 0);
      assert.match(talk, said);
    }
  });
});
