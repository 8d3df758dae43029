import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { checkUwsBinary, sha256File, UWS_DIGESTS, uwsBinary, uwsFolder } from '../../src/http/uws-digests.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const name = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
const recorded = JSON.parse(readFileSync(UWS_DIGESTS, 'utf8')) as Record<string, string>;

describe('the recorded digests of uWebSockets.js', () => {
  const folder = scratchFolder();

  /** A package whose binary is `content`, where the official package keeps it. */
  function packageWith(content: Buffer): string {
    const path = mkdtempSync(join(folder, 'package-'));
    writeFileSync(join(path, name), content);
    return path;
  }

  it('are those of every binary for Node 22 in the installed package', () => {
    for (const [file, digest] of Object.entries(recorded)) {
      assert.equal(sha256File(uwsBinary(uwsFolder(), file)!), digest, file);
    }
    assert.ok(name in recorded, `${name} is recorded`);
    assert.doesNotThrow(() => checkUwsBinary(uwsFolder(), recorded));
  });

  it('do not match a binary with one flipped bit, and the error says what to do', () => {
    const content = readFileSync(uwsBinary(uwsFolder(), name)!);
    assert.doesNotThrow(() => checkUwsBinary(packageWith(content), recorded));
    content[content.length >> 1] ^= 1;
    const advice = /is not the reviewed binary.*scripts\/uws-digests\.ts.*QRN_FRONT=node/;
    assert.throws(() => checkUwsBinary(packageWith(content), recorded), advice);
  });

  it('do not cover an unknown binary, or a package without one for this platform', () => {
    assert.throws(() => checkUwsBinary(packageWith(Buffer.from('x')), {}), /no entry for uws_/);
    assert.throws(() => checkUwsBinary(folder, recorded), /no binary uws_/);
  });

  it('match the binary where the official package has it, and where the repack does', () => {
    const repack = mkdtempSync(join(folder, 'repack-'));
    mkdirSync(join(repack, 'dist/bin'), { recursive: true });
    copyFileSync(uwsBinary(uwsFolder(), name)!, join(repack, 'dist/bin', name));
    assert.doesNotThrow(() => checkUwsBinary(repack, recorded));
    assert.equal(basename(uwsBinary(packageWith(Buffer.from('x')), name)!), name);
  });
});
