import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { scratchFolder } from '../../support/scratch-folder.ts';

const source = fileURLToPath(new URL('../../../clients/python', import.meta.url));
const hasMypy = spawnSync('mypy', ['--version']).status === 0;

/** Part of `npm run test:night`: mypy takes ten seconds of processor time, most of it for the types of the standard library. */
test('the Python client has types that mypy accepts as strict', {
  skip: hasMypy ? false : 'mypy is not installed',
}, () => {
  const cache = scratchFolder();
  const { status, stdout } = spawnSync('mypy', ['--cache-dir', cache], { cwd: source, encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});
