import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { scratchFolder } from '../support/scratch-folder.ts';
import { readVector, vectorNames, writeWholeVectors } from './vectors.ts';

/** test/reference/verifier.py was written from docs/certificates.md alone: what it does not say, the vectors would tell. */
const verifier = fileURLToPath(new URL('../reference/verifier.py', import.meta.url));
const PYTHON = 'python3';
const noPython = spawnSync(PYTHON, ['--version']).status === 0 ? false : `${PYTHON} is not installed`;

describe('a second verifier, in Python', { skip: noPython }, () => {
  it('says of every vector what is written there', () => {
    const paths = writeWholeVectors(scratchFolder());
    // isolated from the installed packages: the standard library is all that it has
    const printed = execFileSync(PYTHON, ['-I', '-S', '-W', 'error', verifier, ...paths], {
      encoding: 'utf8',
    });
    const found = printed.trim().split('\n');
    assert.equal(found.length, paths.length);
    vectorNames().forEach((name, i) => {
      const { fails } = readVector(name);
      assert.deepEqual(JSON.parse(found[i]), fails, name);
    });
  });
});
