import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { qrn } from '../../src/cli/commands.ts';
import { readSettings } from '../../src/config/config.ts';
import { runCommand } from '../support/run-command.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/cluster.md');

describe('docs/cluster.md', () => {
  it('names settings and commands that exist', async () => {
    const variables = readSettings({}).map(({ variable }) => variable);
    const named = [...new Set(page.match(/\bQRN_[A-Z_]+\b/g))].filter(
      (name) => name !== 'QRN_POSTGRES_PASSWORD',
    );
    assert.ok(named.length >= 5);
    assert.deepEqual(
      named.filter((name) => !variables.includes(name)),
      [],
    );
    const commands = [...page.matchAll(/\bqrn ((?:cluster|accounts|keys) [a-z-]+)/g)].map(([, path]) => path);
    assert.ok(commands.length >= 5);
    for (const command of new Set(commands)) {
      const { status, out } = await runCommand(qrn, [...command.split(' '), '--help']);
      assert.equal(status, 0, `qrn ${command} --help`);
      assert.ok(out.includes(`qrn ${command}`), `qrn ${command} is no command`);
    }
  });
});

describe('deploy/compose.cluster.yml', () => {
  const compose = read('deploy/compose.cluster.yml');

  it('mounts scripts that exist and are sound', () => {
    const scripts = [...compose.matchAll(/\.\/(postgres\/\w+\.sh):/g)].map(([, path]) => `deploy/${path}`);
    assert.equal(scripts.length, 2);
    for (const path of scripts)
      execFileSync('sh', ['-n', new URL(`../../${path}`, import.meta.url).pathname]);
  });

  it('names settings that exist', () => {
    const variables = readSettings({}).map(({ variable }) => variable);
    const named = [...compose.matchAll(/^ {2}(QRN_[A-Z_]+): /gm), ...compose.matchAll(/, (QRN_[A-Z_]+): /g)];
    assert.ok(named.length >= 5);
    assert.deepEqual(
      named.map(([, name]) => name).filter((name) => !variables.includes(name)),
      [],
    );
  });
});
