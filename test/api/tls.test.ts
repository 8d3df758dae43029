import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import type { Front } from '../../src/http/front.ts';
import { frontWith, PLAIN_HEAD, sendLater } from '../http/front-fixture.ts';
import { fetchHead, fetchWhole, HttpConnection } from '../support/http.ts';
import { freePort, missing, writeSelfSigned } from '../support/programs.ts';
import { parseExposition } from '../support/prometheus.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { runQrn, TestServer } from '../support/server.ts';

const LARGE = Buffer.alloc(3_000_000, 'not one record');
const skip = missing('openssl', 'openssl');

/** A service with three fronts that speaks TLS itself and has a port for its metrics. */
describe('TLS', { skip }, () => {
  const folder = scratchFolder();
  const certFile = join(folder, 'cert.pem');
  const keyFile = join(folder, 'key.pem');
  let server: TestServer;
  let metricsPort: number;
  let onNode: Front;
  let silent: HttpConnection;
  let silentForMs: Promise<number>;

  before(async () => {
    writeSelfSigned(keyFile, certFile);
    const { front } = await frontWith((exchange) => sendLater(exchange, PLAIN_HEAD, LARGE), {
      engine: 'node',
      tls: { certFile, keyFile },
    });
    onNode = front;
    silent = await HttpConnection.open(front.port);
    const fromMs = performance.now();
    silentForMs = silent.closed.then(() => performance.now() - fromMs);
    metricsPort = await freePort();
    server = await TestServer.start({
      QRN_TLS_CERT_FILE: certFile,
      QRN_TLS_KEY_FILE: keyFile,
      QRN_FRONTS: '3',
      QRN_METRICS_PORT: String(metricsPort),
    });
  });
  after(async () => {
    assert.equal(await server.stop(), 0, 'three fronts stop together');
  });

  async function answer(
    path: string,
    options: RequestOptions = {},
  ): Promise<{ status: number | undefined; body: string; protocol: string | null }> {
    const headers = { authorization: `Bearer ${server.key}` };
    const tls = { ca: readFileSync(certFile), agent: false, ...options } as const;
    const reply = await fetchHead(`${server.origin}${path}`, { headers }, tls);
    const protocol = (reply.socket as TLSSocket).getProtocol();
    return { status: reply.statusCode, body: await text(reply), protocol };
  }

  it('is served under an https address, large answers included', async () => {
    assert.match(server.baseUrl, /^https:/);
    const { status, body, protocol } = await answer('/v1/integers?count=10000&min=0&max=1000000000');
    assert.equal(status, 200);
    assert.equal(JSON.parse(body).data.values.length, 10_000);
    assert.equal(protocol, 'TLSv1.3');
  });

  it('accepts version 1.2 and 1.3 and no plain HTTP', async () => {
    assert.equal(
      (await answer('/livez', { maxVersion: 'TLSv1.2', minVersion: 'TLSv1.2' })).protocol,
      'TLSv1.2',
    );
    // a client as lax as can be: only the service can refuse it
    const old: RequestOptions = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' };
    await assert.rejects(answer('/livez', old));
    await assert.rejects(fetchWhole(server.origin.replace('https', 'http')));
  });

  it('leaves metrics on their own port, without TLS, with nothing else there', async () => {
    assert.equal((await answer('/metrics')).status, 404);
    const own = `http://127.0.0.1:${metricsPort}`;
    const response = await fetchWhole(`${own}/metrics`);
    assert.ok(parseExposition(await response.text()).has('qrn_build_info'));
    assert.equal((await fetchWhole(`${own}/v1/health`)).status, 404);
    assert.equal((await fetchWhole(`${own}/metrics`, { method: 'POST' })).status, 405);
  });

  it('refuses to start with files that hold no certificate and key', async () => {
    const environment = { QRN_TLS_CERT_FILE: keyFile, QRN_TLS_KEY_FILE: certFile, QRN_PORT: '0' };
    const dataDir = mkdtempSync(join(folder, 'data-'));
    const { code, stderr } = await runQrn(dataDir, ['serve'], environment);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /qrn serve: QRN_TLS_CERT_FILE .* and QRN_TLS_KEY_FILE .*cert\.pem are not a certificate and its key/,
    );
  });

  it('refuses to start with a kind of key that its engine does not support, and says what to do', async () => {
    const words = 'genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048';
    const pss = { keyFile: join(folder, 'pss-key.pem'), certFile: join(folder, 'pss-cert.pem') };
    execFileSync('openssl', [...words.split(' '), '-out', pss.keyFile], { stdio: 'ignore' });
    execFileSync('openssl', ['req', '-x509', '-key', pss.keyFile, '-subj', '/CN=a', '-out', pss.certFile]);
    const environment = { QRN_TLS_CERT_FILE: pss.certFile, QRN_TLS_KEY_FILE: pss.keyFile, QRN_PORT: '0' };
    const { code, stderr } = await runQrn(mkdtempSync(join(folder, 'data-')), ['serve'], environment);
    assert.equal(code, 1);
    assert.match(stderr, /cannot use QRN_TLS_KEY_FILE .*pss-key\.pem: give it .*or set QRN_FRONT=node/);
  });

  for (const engine of ['uws', 'node'] as const)
    it(`is refused by ${engine} with the key of another certificate, also of another kind`, async () => {
      const others = { rsa: 'rsa:2048', ec: 'ec -pkeyopt ec_paramgen_curve:prime256v1' };
      for (const [kind, words] of Object.entries(others)) {
        const other = join(folder, `${kind}-other-key.pem`);
        const made = `req -x509 -newkey ${words} -nodes -subj /CN=a -out ${join(folder, 'other.pem')} -keyout ${other}`;
        execFileSync('openssl', made.split(' '), { stdio: 'ignore' });
        const front = frontWith(() => {}, { engine, tls: { certFile, keyFile: other } });
        await assert.rejects(
          front,
          /QRN_TLS_KEY_FILE .*-other-key\.pem are not a certificate and its key/,
          kind,
        );
      }
    });

  it('sends the reply with node:http to a client that has closed its half of the connection', async () => {
    const half = { port: onNode.port, ca: readFileSync(certFile), host: '127.0.0.1', allowHalfOpen: true };
    const socket = connect(half, () => socket.end('GET / HTTP/1.1\r\nHost: a\r\n\r\n'));
    const reply = await buffer(socket);
    assert.ok(reply.subarray(-LARGE.length).equals(LARGE), `${reply.length} bytes`);
  });

  it('is spoken by node:http too, which ends a handshake that stalls', async () => {
    const tls = { ca: readFileSync(certFile), agent: false } as const;
    const reply = await fetchHead(`https://127.0.0.1:${onNode.port}/`, {}, tls);
    assert.ok((await buffer(reply)).equals(LARGE));
    assert.ok((await silentForMs) < 100_000, 'not after the two minutes of node:tls');
    silent.leave();
  });
});
