import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { missing } from '../support/programs.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const unit = readFileSync(new URL('../../deploy/systemd/qrn.service', import.meta.url), 'utf8');
const NODE = '/opt/qrn/node_modules/.bin/node';

it('the systemd unit hides nothing of /proc that the service reads', () => {
  assert.match(unit, /^ProcSubset=pid$/m);
  const source = new URL('../../src/', import.meta.url);
  for (const path of globSync('**/*.ts', { cwd: source })) {
    assert.doesNotMatch(readFileSync(new URL(path, source), 'utf8'), /['"`]\/proc\/(?!self\b)/, path);
  }
});

describe('the systemd unit', { skip: missing('systemd-analyze', 'systemd') }, () => {
  const folder = scratchFolder();

  /** Returns systemd-analyze's report on the unit, with a program that exists. */
  function analyze(text: string, ...words: string[]) {
    assert.ok(text.includes(NODE));
    const path = join(folder, 'qrn.service');
    writeFileSync(path, text.replace(NODE, process.execPath));
    const { status, stdout, stderr } = spawnSync('systemd-analyze', [...words, path], { encoding: 'utf8' });
    return { status, said: stdout + stderr };
  }

  it('is valid in every line', () => {
    assert.deepEqual(analyze(unit, 'verify'), { status: 0, said: '' });
    assert.match(analyze(unit.replace('ProtectClock=', 'ProtectClocks='), 'verify').said, /ProtectClocks/);
  });

  it('has an exposure level of at most 2 of 10', () => {
    const { said } = analyze(unit, 'security', '--offline=true');
    const exposure = Number(/Overall exposure level for qrn.service: ([\d.]+)/.exec(said)?.[1]);
    assert.ok(exposure <= 2, `${exposure} of 10`);
  });
});
