import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fetchWhole } from '../support/http.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { until, withSmallPool } from '../support/server.ts';

/**
 * The package that `npm pack` makes, in a folder that holds nothing else. It lies below node_modules, where Node strips no types,
 * beside the packages that its manifest names and no other. What npm itself adds is a download and links to the programs.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
}

let folder: string;
let installed: string;
let manifest: Manifest;
before(async () => {
  folder = scratchFolder();
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root });
  const unpacked = join(folder, 'unpacked');
  mkdirSync(unpacked);
  await run('tar', ['xzf', join(folder, stdout.trim()), '-C', unpacked]);
  manifest = JSON.parse(readFileSync(join(unpacked, 'package', 'package.json'), 'utf8'));
  const modules = join(folder, 'node_modules');
  installed = join(modules, manifest.name);
  mkdirSync(modules);
  await run('mv', [join(unpacked, 'package'), installed]);
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
});

const environment = (more: Record<string, string> = {}) => ({
  PATH: process.env['PATH'] ?? '',
  ...withSmallPool(more),
});

/** Runs one of the programs of the package in the empty folder. */
function start(bin: string, args: readonly string[], more?: Record<string, string>): ChildProcess {
  return spawn(process.execPath, [join(installed, manifest.bin[bin]), ...args], {
    cwd: folder,
    env: environment(more),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function qrn(
  args: readonly string[],
  more?: Record<string, string>,
): Promise<{ out: string; talk: string }> {
  const program = join(installed, manifest.bin['qrn']);
  const { stdout, stderr } = await run(process.execPath, [program, ...args], {
    cwd: folder,
    env: environment(more),
  });
  return { out: stdout, talk: stderr };
}

describe('the package that npm pack makes', () => {
  it('contains scripts without types and the files they read, and no tests, keys or data', () => {
    assert.deepEqual(readdirSync(installed).sort(), ['LICENSE', 'README.md', 'lib', 'package.json']);
    const files = readdirSync(join(installed, 'lib'), { recursive: true, encoding: 'utf8' });
    assert.deepEqual(
      files.filter((name) => /\.ts$|(^|\/)(test|data|node_modules)(\/|$)|\.pem$|demo-key/.test(name)),
      [],
    );
    for (const name of ['src/main.js', 'src/values/kernels.wasm', 'dist/page.mjs', 'start.js']) {
      assert.ok(files.includes(name), name);
    }
    for (const name of files.filter((each) => each.endsWith('.js'))) {
      const text = readFileSync(join(installed, 'lib', name), 'utf8');
      assert.doesNotMatch(text, /['"`]\.{1,2}\/[^'"`\n]*\.ts['"`]/, `${name} names no file with types`);
    }
  });

  it('runs nothing when it is installed', () => {
    const hooks = ['preinstall', 'install', 'postinstall', 'prepare'];
    assert.deepEqual(
      hooks.filter((name) => name in manifest.scripts),
      [],
    );
  });

  it('starts the service when no command is given, serves its client, and ends on SIGTERM', async (t) => {
    const service = start(manifest.name, [], { QRN_PORT: '0' });
    t.after(() => service.kill('SIGKILL'));
    let told = '';
    for (const stream of [service.stdout!, service.stderr!]) stream.on('data', (chunk) => (told += chunk));
    await until('the service is ready', () => {
      assert.equal(service.exitCode, null, told);
      return /^ready \S+$/m.test(told);
    });
    const [, baseUrl] = /^ready (\S+)$/m.exec(told)!;
    const local = { QRN_PORT: new URL(baseUrl).port };
    const { out, talk } = await qrn(
      ['integers', '5', '--min', '1', '--max', '6', '--verify', '--raw'],
      local,
    );
    assert.match(out, /^([1-6]\n){5}$/);
    assert.equal(talk, 'the answer: verified\n');
    const page = await fetchWhole(new URL('/', baseUrl));
    assert.equal(page.status, 200);
    const key = readFileSync(join(folder, 'data', 'demo-key'), 'utf8').trim();
    const batch = await fetchWhole(`${baseUrl}/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"type":"uuid","count":100000}',
    });
    assert.equal(batch.status, 200, 'workers find their code');
    await batch.arrayBuffer();
    const ended = new Promise((resolve) => service.once('close', resolve));
    service.kill('SIGTERM');
    assert.equal(await ended, 0, told);
  });

  it('prints its help under its other name', async () => {
    const { version } = manifest;
    assert.equal((await qrn(['--version'])).out, `${version}\n`);
    assert.deepEqual(await qrn([]), await qrn(['--help']));
    await assert.rejects(qrn(['nothing']), /unknown command 'nothing'/);
  });
});
