import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../../support/programs.ts';
import { until, withSmallPool } from '../../support/server.ts';

/**
 * One line without a clone: `npx ./quantum-random-number-service-*.tgz` in an empty folder, under each Node that is here.
 * npm installs what the package names from the registry that it is configured for, into a cache of its own. Node 20 and
 * 24 are looked for in the folder of packages that TEST_RUNTIMES names.
 */
const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);
const runtimes = process.env['TEST_RUNTIMES'] ?? '';
const NODES: readonly [name: string, program: string][] = [
  ['this Node', process.execPath],
  ['Node 20', join(runtimes, 'node20/bin/node')],
  ['Node 24', join(runtimes, 'node24/bin/node')],
];

/**
 * Time to download everything that the package names; in November 2026 npm took 20 s on a busy machine of two cores.
 */
const INSTALL_DEADLINE_MS = 180_000;

let folder: string;
let archive: string;
let npx: string;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'qrn-npx-'));
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root });
  archive = `../${stdout.trim()}`; // npx takes an absolute path for a program
  const { stdout: npm } = await run('sh', ['-c', 'command -v npm']);
  npx = join(dirname(realpathSync(npm.trim())), 'npx-cli.js');
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** Runs npx with that Node, which the programs of the package then find as `node`. */
function npxWith(
  node: string,
  args: readonly string[],
  cwd: string,
  more: Record<string, string>,
): ChildProcess {
  // what leads npm to its registry may be any of them; what is ours is not passed on
  const ours = /^(QRN_|NODE_OPTIONS$|NODE_TEST_CONTEXT$)/;
  const outer = Object.entries(process.env).filter(([name]) => !ours.test(name));
  const env = {
    ...Object.fromEntries(outer),
    PATH: `${dirname(node)}:${process.env['PATH']}`,
    npm_config_cache: join(folder, 'cache'),
    npm_config_update_notifier: 'false',
    ...withSmallPool(more),
  };
  return spawn(node, [npx, '--yes', ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
}

for (const [name, node] of NODES) {
  const skip = existsSync(node) ? false : 'not there: TEST_RUNTIMES names no folder that has it';
  describe(`npx in an empty folder with ${name}`, { skip }, () => {
    it('starts the service, and asks it for an answer that verifies', async (t) => {
      const empty = join(folder, name.replace(' ', '-'));
      mkdirSync(empty);
      const port = { QRN_PORT: String(await freePort()) };
      const startedMs = performance.now();
      const service = npxWith(node, [archive], empty, port);
      t.after(() => {
        if (service.exitCode === null) process.kill(-service.pid!, 'SIGKILL');
      });
      const told = textOf(service);
      const isReady = () => {
        assert.equal(service.exitCode, null, told());
        return /^ready \S+$/m.test(told());
      };
      await until('npm to install the package, and the service to be ready', isReady, INSTALL_DEADLINE_MS);
      t.diagnostic(`ready after ${Math.round(performance.now() - startedMs)} ms, installation included`);
      const asked = npxWith(
        node,
        ['-p', archive, 'qrn', 'integers', '5', '--max', '6', '--verify', '--raw'],
        empty,
        port,
      );
      const answer = textOf(asked);
      const code = await new Promise((resolve) => asked.once('close', resolve));
      assert.equal(code, 0, answer());
      assert.match(answer(), /^([0-6]\n){5}/m);
      assert.match(answer(), /the answer: verified/);
      const ended = new Promise((resolve) => service.once('close', resolve));
      process.kill(-service.pid!, 'SIGTERM');
      await ended;
    });
  });
}

/** Returns a function that gives a program's output so far, on both streams. */
function textOf(program: ChildProcess): () => string {
  let text = '';
  for (const stream of [program.stdout!, program.stderr!]) stream.on('data', (chunk) => (text += chunk));
  return () => text;
}
