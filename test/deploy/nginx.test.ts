import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fetchHead, fetchWhole, HttpConnection } from '../support/http.ts';
import { freePort, missing, writeSelfSigned } from '../support/programs.ts';
import { freshMetrics } from '../support/prometheus.ts';
import { refusalOf, statusOf } from '../support/replies.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { TestServer, until } from '../support/server.ts';

const NGINX = '/usr/sbin/nginx';
const skip =
  spawnSync(NGINX, ['-v']).error === undefined
    ? missing('openssl', 'openssl')
    : missing('nginx', 'nginx-light');

/** The proxy of deploy/nginx in front of the real service. Only names, ports and files differ, and it also speaks plain HTTP. */
describe('behind nginx', { skip }, () => {
  const folder = scratchFolder();
  let service: TestServer;
  let nginx: ChildProcess;
  let port: number;
  let complaints = '';

  before(async () => {
    service = await TestServer.start();
    port = await freePort();
    const tlsPort = await freePort();
    writeSelfSigned(join(folder, 'key.pem'), join(folder, 'fullchain.pem'));
    const text = readFileSync(new URL('../../deploy/nginx/qrn.conf', import.meta.url), 'utf8');
    const site = text
      .replace('server 127.0.0.1:3000;', `server ${new URL(service.origin).host};`)
      .replace(
        'listen 443 ssl http2;',
        `listen 127.0.0.1:${tlsPort} ssl http2;\n    listen 127.0.0.1:${port};`,
      )
      .replace('listen [::]:443 ssl http2;', '')
      .replaceAll('/etc/ssl/qrn/', `${folder}/`)
      .replaceAll('/var/log/nginx/', `${folder}/`);
    writeFileSync(join(folder, 'qrn.conf'), site);
    mkdirSync(join(folder, 'temp'));
    const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (each) => `  ${each}_temp_path ${folder}/temp/${each};`,
    );
    const main = `daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr warn;
events { worker_connections 256; }
http {
${temp.join('\n')}
  include ${folder}/qrn.conf;
}
`;
    writeFileSync(join(folder, 'nginx.conf'), main);
    nginx = spawn(NGINX, ['-c', join(folder, 'nginx.conf'), '-p', folder], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    nginx.stderr!.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
    await until('nginx serves', async () => {
      assert.equal(nginx.exitCode, null, `nginx has ended: ${complaints}`);
      const up = await fetchWhole(`http://127.0.0.1:${port}/livez`).catch(() => undefined);
      return up?.status === 200;
    });
  });
  after(async () => {
    if (nginx !== undefined && nginx.exitCode === null) {
      nginx.kill('SIGTERM');
      await new Promise((resolve) => nginx.once('exit', resolve));
    }
    await service?.stop();
  });

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetchWhole(`http://127.0.0.1:${port}${path}`, {
      headers: { authorization: `Bearer ${service.key}`, ...headers },
    });

  /** Sends bytes as they are and gives the first that come back. */
  async function raw(request: string): Promise<string> {
    const connection = await HttpConnection.open(port);
    connection.send(request);
    await connection.closed;
    return connection.start;
  }

  it('requests and answers pass unchanged', async () => {
    const items = Array.from({ length: 9_000 }, (_, i) => `i${i}`);
    const shuffled = await get(`/v1/shuffle?items=${items.join(',')}`);
    assert.equal(shuffled.status, 200, 'a head of nearly 64 KiB');
    const { data } = (await shuffled.json()) as { data: { items: string[] } };
    assert.deepEqual(new Set(data.items), new Set(items));
    const batch = await fetchWhole(`http://127.0.0.1:${port}/v1/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      body: '{"type":"uuid","count":100000}',
    });
    const answer = (await batch.json()) as { data: { values: string[] } };
    assert.equal(new Set(answer.data.values).size, 100_000);
    assert.equal((await get('/v1/shuffle?items=a%2Cb,c')).status, 200);
  });

  it('errors have the form of the service', async () => {
    const large = await fetchWhole(`http://127.0.0.1:${port}/v1/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      body: ' '.repeat(70_000),
    });
    assert.equal(await refusalOf(large), '413 payload_too_large');
    assert.equal((await get('/v1/uuid', { authorization: 'Bearer no' })).status, 401);
  });

  it('connections to the service are reused, and a closed one is never met', async () => {
    for (let i = 0; i < 200; i++) assert.equal(await statusOf(get('/v1/health')), 200);
    // ours to read the metrics, and that of nginx, which it keeps for 8 s after its last use
    let open = 0;
    await until('both are counted', async () => {
      const metrics = await freshMetrics(service.origin);
      open = Number(/^qrn_http_connections (\d+)$/m.exec(metrics)?.[1]);
      return open >= 2; // fronts write their gauges down once a second
    });
    assert.ok(open <= 10, `${open} connections`);
  });

  it('ambiguous requests are refused before they reach the service', async () => {
    const tail = 'Host: qrn\r\nConnection: close\r\n';
    const requests = [
      `POST /v1/batch HTTP/1.1\r\n${tail}Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde`,
      `POST /v1/batch HTTP/1.1\r\n${tail}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `POST /v1/batch HTTP/1.1\r\n${tail}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
      `GET /v1/uuid HTTP/1.1\r\n${tail}Host: other\r\n\r\n`,
      'GET /v1/uuid HTTP/1.1\r\nConnection: close\r\n\r\n',
      `GET /v1/uuid HTTP/1.1\r\n${tail}: empty name\r\n\r\n`,
    ];
    for (const request of requests) {
      const [status, rest] = (await raw(request)).split('\r\n', 1)[0].split(' ').slice(1);
      assert.match(`${status} ${rest}`, /^(400|401|501) /, JSON.stringify(request));
    }
    assert.match(
      await raw('GET /livez HTTP/1.0\r\nHost: qrn\r\n\r\n'),
      /^HTTP\/1\.1 200 /,
      'old clients are served',
    );
  });

  it('chunked bodies get a length, so that trailers and extensions are served', async () => {
    const head =
      `POST /v1/batch HTTP/1.1\r\nHost: qrn\r\nConnection: close\r\nAuthorization: Bearer ${service.key}\r\n` +
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const json = '{"type":"uuid","count":1}';
    const size = json.length.toString(16);
    for (const body of [
      `${size}\r\n${json}\r\n0\r\nX-Trailer: t\r\n\r\n`,
      `${size};a=b\r\n${json}\r\n0;last\r\n\r\n`,
    ])
      assert.match(await raw(head + body), /^HTTP\/1\.1 200 /, body);
  });

  it('metrics are hidden from clients, and keys and queries are not logged', async () => {
    assert.equal((await get('/metrics')).status, 404);
    await (await get('/v1/shuffle?items=secret-one,secret-two')).arrayBuffer();
    const logged = () => readFileSync(join(folder, 'qrn.log'), 'utf8');
    await until('the request is logged', () => / GET \/v1\/shuffle 200 /.test(logged()));
    const log = logged();
    assert.ok(!log.includes('secret-'));
    assert.ok(!log.includes(service.key));
  });

  it('requests without a key are limited by address, and requests with a key by the service', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 150 }, () => statusOf(get('/.well-known/qrn-keys.json'))),
    );
    const served = statuses.filter((status) => status === 200).length;
    assert.ok(served >= 40 && served <= 120, `${served} of 150 keyless requests at once were served`);
    assert.equal(statuses.filter((status) => status === 429).length, 150 - served);
    assert.equal((await get('/v1/health')).status, 200);
    const body = JSON.stringify({
      jsonrpc: '2.0',
      method: 'getUsage',
      params: { apiKey: service.key },
      id: 1,
    });
    // a connection each: nginx may close one that rests while fetch sends a POST on it
    const called = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const headers = { 'content-type': 'application/json' };
        const url = `http://127.0.0.1:${port}/json-rpc/4/invoke`;
        const reply = await fetchHead(url, { method: 'POST', headers, body });
        reply.resume();
        return reply.statusCode;
      }),
    );
    for (const status of called) assert.equal(status, 200);
  });

  it('no answer is written to disk', () => {
    const files = readdirSync(join(folder, 'temp'), { recursive: true, withFileTypes: true });
    assert.deepEqual(
      files.filter((each) => each.isFile()),
      [],
    );
    assert.doesNotMatch(complaints, /buffered to a temporary file/);
  });
});
