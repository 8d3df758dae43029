import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { STRIPPED, TestServer, withSmallPool } from '../support/server.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const DAY_MS = 24 * 60 * 60_000;

describe('the demo key', () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.spawn().listening();
  });
  after(() => server.stop());

  const expiry = async () => {
    const [demo] = JSON.parse(await server.qrn('keys', 'list', '--json')) as {
      expires_at: string;
      status: string;
    }[];
    return { atMs: Date.parse(demo.expires_at), status: demo.status };
  };

  it('expires a day after the start, and ends with a start without the demo', async () => {
    const made = await expiry();
    assert.ok(Math.abs(made.atMs - Date.now() - DAY_MS) < 120_000, 'a day from now');
    assert.equal(made.status, 'live');
    await server.kill('SIGTERM');
    const serve = [...STRIPPED, 'src/main.ts', 'serve', '--no-demo'];
    const child = spawn(process.execPath, serve, {
      cwd: root,
      env: {
        PATH: process.env['PATH'],
        ...withSmallPool({ QRN_DATA_DIR: server.dataDir, QRN_PORT: '0' }),
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
    for (let tries = 0; tries < 600 && !/^ready /m.test(output); tries++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.doesNotMatch(output, /demo key/);
    assert.equal((await expiry()).status, 'expired');
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  });
});
