import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

/** test/reference/verifier.py was written from docs/certificates.md alone: what it does not say, the vectors would tell. */
const vectors = fileURLToPath(new URL('../vectors/certificate', import.meta.url));
const verifier = fileURLToPath(new URL('../reference/verifier.py', import.meta.url));
const PYTHON = 'python3';
const noPython = spawnSync(PYTHON, ['--version']).status === 0 ? false : `${PYTHON} is not installed`;

interface Case {
  readonly certificate: { readonly certificate: { readonly version: number } };
  readonly fails: readonly string[];
}

describe('a second verifier, in Python', { skip: noPython }, () => {
  it('says of every vector what is written there', () => {
    const paths = readdirSync(vectors)
      .filter((name) => name.endsWith('.json') && !name.startsWith('leaf-'))
      .map((name) => join(vectors, name));
    // isolated from the installed packages: the standard library is all that it has
    const printed = execFileSync(PYTHON, ['-I', '-S', '-W', 'error', verifier, ...paths], {
      encoding: 'utf8',
    });
    const found = printed.trim().split('\n');
    assert.equal(found.length, paths.length);
    const versions = new Set<number>();
    paths.forEach((path, i) => {
      const { certificate, fails } = JSON.parse(readFileSync(path, 'utf8')) as Case;
      assert.deepEqual(JSON.parse(found[i]), fails, path);
      versions.add(certificate.certificate.version);
    });
    assert.ok(versions.has(4));
  });
});
