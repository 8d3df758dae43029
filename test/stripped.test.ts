import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';

const SOURCE = "import { say } from '../clients/typescript/program/say.ts';\nsay('one' as string);\n";
const SAY = 'export function say(text: string): void {\n  console.log(text);\n}\n';

/** A project of a file of the service and one of the client's program, beside a copy of the script. */
function projectIn(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'qrn stripped-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of ['scripts', 'src', 'clients/typescript/program'])
    mkdirSync(join(folder, name), { recursive: true });
  for (const name of ['stripped.mjs', 'strip-all.mjs']) {
    copyFileSync(new URL(`../scripts/${name}`, import.meta.url), join(folder, 'scripts', name));
  }
  writeFileSync(join(folder, 'src/main.ts'), SOURCE);
  writeFileSync(join(folder, 'clients/typescript/program/say.ts'), SAY);
  const run = (...args: string[]) => {
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    return stdout + stderr;
  };
  const kept = join(folder, 'node_modules/.cache/qrn');
  const keptFiles = () => readdirSync(kept).filter((name) => name.endsWith('.js'));
  const start = () => run('--import', './scripts/stripped.mjs', 'src/main.ts');
  return { folder, kept, keptFiles, run, start };
}

describe('sources that were stripped before', () => {
  it('are stored, read again, and stripped anew when the source has changed', (t) => {
    const { folder, kept, keptFiles, start } = projectIn(t);
    assert.equal(start(), 'one\n');
    assert.equal(keptFiles().length, 2);
    for (const name of keptFiles()) {
      const path = join(kept, name);
      const [digest, text] = [readFileSync(path, 'utf8').slice(0, 64), readFileSync(path, 'utf8').slice(128)];
      const other = text.replace("'one'", "'two'");
      writeFileSync(path, digest + createHash('sha256').update(other).digest('hex') + other);
    }
    assert.equal(start(), 'two\n', 'what is kept is what runs');
    writeFileSync(join(folder, 'src/main.ts'), SOURCE.replace('one', 'three'));
    assert.equal(start(), 'three\n');
    assert.equal(keptFiles().length, 2, 'one file a source');
  });

  it('are stripped anew when the stored text is torn, as after a power cut', (t) => {
    const { kept, keptFiles, start } = projectIn(t);
    start();
    for (const left of [0, 64, 128, 140]) {
      for (const name of keptFiles()) truncateSync(join(kept, name), left);
      assert.equal(start(), 'one\n');
    }
  });

  it('are stored in a folder with any name', (t) => {
    const { kept, start } = projectIn(t);
    start();
    assert.ok(readdirSync(kept).includes('code'), 'the compile cache too');
  });

  it('can all be stripped in advance', (t) => {
    const { keptFiles, run } = projectIn(t);
    assert.equal(run('scripts/strip-all.mjs'), '');
    assert.equal(keptFiles().length, 2);
  });

  it('are optional: where nothing can be stored the program runs all the same', (t) => {
    const { folder, start } = projectIn(t);
    writeFileSync(join(folder, 'node_modules'), 'a file, in which no folder can be made');
    assert.equal(start(), 'one\n');
  });
});
