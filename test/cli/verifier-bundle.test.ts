import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildDocs } from '../../scripts/build-docs.ts';
import { buildVerifier } from '../../scripts/build-verifier.ts';
import { COSIGNATURE_TYPE, verifierKey } from '../../src/crypto/note.ts';
import { drawScene } from '../certificate/draw-scene.ts';
import { sampleLot } from '../certificate/fixtures.ts';
import { changed, octetFieldsOf, scene } from '../certificate/scene.ts';
import { savingIn, scratchFolder } from '../support/scratch-folder.ts';

const dist = new URL('../../dist/', import.meta.url);

describe('dist/', () => {
  it('is what the sources make, byte for byte', async () => {
    for (const { name, text } of await buildVerifier()) {
      const committed = readFileSync(new URL(name, dist), 'utf8');
      assert.ok(text === committed, `dist/${name} is stale: node scripts/build-verifier.ts`);
    }
    for (const { name, text } of buildDocs()) {
      const built = readFileSync(new URL(`docs/${name}`, dist), 'utf8');
      assert.ok(built === text, `dist/docs/${name} is stale: node scripts/build-docs.ts`);
    }
  });

  it("depends on nothing: the verifier imports only Node's own modules, and only as a program", () => {
    const text = readFileSync(new URL('qrn-verify.mjs', dist), 'utf8').replaceAll(/^\s*\/\/.*$/gm, '');
    assert.doesNotMatch(text, /^\s*(import|export)\s.*\sfrom\s/m);
    const imported = [...text.matchAll(/\bimport\(([^)]*)\)/g)].map(([, name]) => name);
    assert.deepEqual([...new Set(imported)].sort(), ['"node:fs/promises"', '"node:url"']);
    assert.doesNotMatch(text, /\brequire\(|\bBuffer\b|\bfetch\(|XMLHttpRequest|WebSocket/);
  });
});

describe('qrn-verify.mjs, a copy in a folder of its own', () => {
  const folder = scratchFolder();
  const program = join(folder, 'qrn-verify.mjs');
  copyFileSync(fileURLToPath(new URL('qrn-verify.mjs', dist)), program);

  function run(args: readonly string[]): Promise<{ status: number; out: string; talk: string }> {
    return new Promise((resolve) => {
      execFile(process.execPath, args, { cwd: folder, env: {} }, (error, out, talk) => {
        resolve({ status: error === null ? 0 : Number(error.code), out, talk });
      });
    });
  }

  const save = savingIn(folder);

  it('verifies files, and says what fails', async () => {
    const { response, document, keys } = await scene();
    const files = [
      save('answer.json', response),
      save('certificate.json', document),
      save('keys.json', keys),
    ];
    const good = await run([program, ...files]);
    assert.deepEqual([good.status, good.talk], [0, '']);
    assert.equal(good.out.match(/^ok {4} {2}/gm)?.length, 12);
    assert.match(good.out, /answer\.json: verified\n$/);

    const alone = await run([program, ...files.slice(1)]);
    assert.equal(alone.status, 0);
    assert.equal(alone.out.match(/^ok {4} {2}/gm)?.length, 8);

    const key = verifierKey('witness.example/w1', new Uint8Array(32).fill(1), COSIGNATURE_TYPE);
    const unseen = await run([program, '--witness', key, '--quorum', '1', ...files]);
    assert.equal(unseen.status, 1);
    assert.match(unseen.out, /^FAILED {2}witnesses +0 witnesses saw the tree, but 1 are required\.$/m);
    const sampled = await scene({ lots: [sampleLot('a')], mode: 'csprng' });
    const ofSystem = [save('csprng.json', sampled.response), save('sample.json', sampled.document), files[2]];
    const loose = await run([program, '--require-fixed', ...ofSystem]);
    assert.equal(loose.status, 1);
    assert.match(
      loose.out,
      /^FAILED {2}fixed +It cannot be shown that the entropy was fixed before: values of csprng mode come from no lot/m,
    );
    const wrong = await run([program, '--quorum', '1', ...files]);
    assert.deepEqual(
      [wrong.status, wrong.talk],
      [2, 'qrn-verify: --witness and --quorum: name at least one witness\n'],
    );

    files[0] = save('changed.json', changed(response, 'data.values', [0]));
    const bad = await run([program, ...files]);
    assert.equal(bad.status, 1);
    assert.match(bad.out, /^FAILED {2}delivered +The salt and the data hash to sha256:/m);
    assert.match(bad.talk, /changed\.json: not verified: delivered failed\n$/);
  });

  it('verifies octets by their header fields', async () => {
    const body = Uint8Array.of(1, 2, 3);
    const { response, document, keys } = await scene({ octets: { type: 'bytes', body } });
    const head = ['HTTP/1.1 200 OK', ...octetFieldsOf(response), '', ''].join('\r\n');
    const files = [
      save('headers.txt', head),
      save('body.bin', body),
      save('certificate.json', document),
      save('keys.json', keys),
    ];
    const good = await run([program, '--headers', ...files]);
    assert.deepEqual([good.status, good.talk], [0, ''], good.out);
    save('body.bin', body.with(0, 0));
    const bad = await run([program, '--headers', ...files]);
    assert.equal(bad.status, 1);
    assert.match(bad.talk, /not verified: delivered failed\n$/);
  });

  it('explains its usage, and what it cannot read', async () => {
    const [help, none, unknown, missing, broken] = await Promise.all([
      run([program, '--help']),
      run([program]),
      run([program, 'draw.json', '--keys', 'keys.json']),
      run([program, 'nothing.json', 'here.json']),
      run([program, save('broken.json', '{'), save('empty.json', {})]),
    ]);
    assert.deepEqual([help.status, help.talk], [0, '']);
    assert.match(help.out, /^usage: qrn-verify\.mjs \[OPTIONS\] ANSWER CERTIFICATE\.json KEYS\.json\n/);
    assert.ok(help.out.split('\n').every((line) => line.length <= 80));
    assert.deepEqual([none.status, none.out, none.talk], [2, '', help.out]);
    assert.deepEqual([unknown.status, unknown.out], [2, '']);
    assert.match(
      unknown.talk,
      /^qrn-verify: the option --keys is unknown or has no value; the options are --headers, --witness, --quorum,/,
    );
    assert.equal(missing.status, 2);
    assert.match(missing.talk, /^qrn-verify: ENOENT[^\n]*(nothing|here)\.json'\n$/);
    assert.equal(broken.status, 2);
    assert.match(broken.talk, /^qrn-verify: [^\n]*broken\.json is not JSON\n$/);
  });

  it('also runs through a link, and is a module when imported', async () => {
    const link = join(folder, 'link.mjs');
    symlinkSync(program, link);
    assert.equal((await run([link, '--help'])).status, 0);
    const { response, document, keys } = await scene();
    const input = save('input.json', { response, certificate: document, keys });
    const importing = save(
      'importing.mjs',
      `import { readFileSync } from 'node:fs';
       import { verifyAnswer } from './qrn-verify.mjs';
       const { ok } = await verifyAnswer(JSON.parse(readFileSync(process.argv[2], 'utf8')));
       process.stdout.write(String(ok));`,
    );
    assert.deepEqual(await run([importing, input]), { status: 0, out: 'true', talk: '' });
  });

  it('verifies committed draws like qrn verify: 0 revealed, 1 forged, 3 without a result', async () => {
    const { document, keys } = await drawScene();
    const keysFile = save('draw-keys.json', keys);
    const given = [program, save('draw.json', document), keysFile];
    const good = await run(given);
    assert.deepEqual([good.status, good.talk], [0, ''], good.out);
    assert.match(good.out, /draw\.json: verified\n$/);
    const forged = await run([
      program,
      save('forged.json', changed(document, 'outcome.values', [])),
      keysFile,
    ]);
    assert.equal(forged.status, 1);
    assert.match(forged.talk, /forged\.json: not verified: [^\n]*values/);
    const unended = await drawScene({ end: 'cancelled', reason: 'cancelled' });
    const none = await run([
      program,
      save('unended.json', unended.document),
      save('unended-keys.json', unended.keys),
    ]);
    assert.equal(none.status, 3, none.out);
    assert.match(none.talk, /unended\.json: cancelled: /);

    const importing = save(
      'draws.mjs',
      `import { readFileSync } from 'node:fs';
       import { verifyDraw } from './qrn-verify.mjs';
       const given = JSON.parse(readFileSync(process.argv[2], 'utf8'));
       const { ok, standing } = await verifyDraw({ ...given, nowMs: Date.now() });
       process.stdout.write(ok + ' ' + standing);`,
    );
    const input = save('draw-input.json', { draw: document, keys });
    assert.deepEqual(await run([importing, input]), { status: 0, out: 'true revealed', talk: '' });
  });
});
