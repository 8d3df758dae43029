import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildClient } from '../../scripts/build-client.ts';
import { TestServer } from '../support/server.ts';

/** The package as it is published: built, installed in a folder of its own, and used as its README says. */
const source = fileURLToPath(new URL('../../clients/typescript', import.meta.url));
const readme = readFileSync(join(source, 'README.md'), 'utf8');
const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { types: string; default: string }>;
};
const run = promisify(execFile);

let project: string;
let installed: string;
before(async () => {
  project = mkdtempSync(join(tmpdir(), 'qrn-client-'));
  installed = join(project, 'node_modules/qrn-client');
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, 'package.json'), JSON.stringify(manifest));
  await buildClient(join(installed, 'dist'));
});
after(() => rmSync(project, { recursive: true, force: true }));

const built = (ending: string) =>
  readdirSync(join(installed, 'dist'))
    .filter((name) => name.endsWith(ending))
    .map((name) => ({ name, text: readFileSync(join(installed, 'dist', name), 'utf8') }));

describe('the package', () => {
  it('has a script and its types for each source file and for each export', () => {
    const names = readdirSync(join(source, 'src')).map((name) => name.replace(/\.ts$/, ''));
    for (const name of names)
      for (const ending of ['.js', '.d.ts'])
        assert.ok(existsSync(join(installed, 'dist', name + ending)), name);
    assert.equal(built('').length, 2 * names.length);
    for (const each of Object.values(manifest.exports))
      for (const path of Object.values(typeof each === 'string' ? {} : each))
        assert.ok(existsSync(join(installed, path)), path);
  });

  it('imports nothing but itself, and no part of Node where a browser would look', () => {
    for (const { name, text } of built('')) {
      for (const [, specifier] of text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"']+)["']/g))
        assert.ok(existsSync(join(installed, 'dist', specifier)), `${name} imports ${specifier}`);
      assert.doesNotMatch(text, /\bBuffer\b|\brequire\(|Math\.random/, name);
    }
  });

  it('has types that a strict program compiles against, with the DOM and without Node', async () => {
    const program = join(project, 'program.ts');
    writeFileSync(
      program,
      `import { QrnClient } from 'qrn-client';
       import type { Answer, IntegersData } from 'qrn-client/answers';
       import { QrnError, type ServiceErrorCode } from 'qrn-client/error';
       import { Random } from 'qrn-client/random';
       import { verifyAnswer } from 'qrn-client/verifier';
       const client = new QrnClient({ baseUrl: 'http://localhost/v1', key: 'k', fetch });
       const answer: Answer<IntegersData> = await client.integers({ count: 1 });
       const floats: Float64Array = (await client.batchBinary({ type: 'floats', count: 1 })).data.values;
       const texts: readonly string[] = (await client.batch({ type: 'uuid', count: 1 })).data.values;
       const die: number = await new Random(client).integer(1, 6);
       const code: ServiceErrorCode = 'rate_limited';
       export const all = [answer, floats, texts, die, code, QrnError, verifyAnswer];
       // @ts-expect-error a batch of floats has no encoding
       await client.batch({ type: 'floats', count: 1, params: { encoding: 'hex' } });
       // @ts-expect-error there is no such mode
       await client.uuid({ entropyMode: 'quantum' });
       // @ts-expect-error a key is needed
       new QrnClient({ baseUrl: 'http://localhost/v1' });
      `,
    );
    const compiler = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
    const options =
      '--strict --exactOptionalPropertyTypes --noEmit --target es2022 --module nodenext --lib es2022,dom';
    writeFileSync(join(project, 'package.json'), '{"type":"module"}');
    await run(process.execPath, [compiler, ...options.split(' '), '--types', '', program], {
      cwd: project,
    }).catch(({ stdout }) => assert.fail(stdout));
  });

  it('does what the start of its README says', async () => {
    const server = await TestServer.shared();
    const start = /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
    assert.ok(start.includes('http://127.0.0.1:3000/v1') && start.split('\n').length < 15);
    writeFileSync(join(project, 'start.mjs'), start.replace('http://127.0.0.1:3000/v1', server.baseUrl));
    const { stdout } = await run(process.execPath, ['start.mjs'], {
      cwd: project,
      env: { PATH: process.env['PATH'], QRN_KEY: server.key },
    });
    assert.match(stdout, /^\[ [1-6](, [1-6]){4} \] simulated\n[0-9a-f-]{36} true 10\n$/);
  });

  it('has a README whose examples are scripts, and that names every method and option', () => {
    for (const [, script] of readme.matchAll(/```js\n([\s\S]*?)```/g))
      assert.doesNotThrow(() => new AsyncFunction(withoutImports(script)), script);
    const methods = membersOf('client.ts', 'class QrnClient', /^ {2}(?:async )?(\w+)(?:<[^>]*>)?\(/gm);
    const draws = membersOf('random.ts', 'class Random', /^ {2}(?:async |get )?(\w+)(?:<[^>]*>)?\(/gm);
    const member = /^ {2}(?:readonly )?(\w+)\??[:;= ]/gm;
    const options = [
      ...membersOf('client.ts', 'interface QrnClientOptions', member),
      ...membersOf('transport.ts', 'interface CallOptions', member),
      ...membersOf('random.ts', 'interface RandomOptions', member),
      ...membersOf('error.ts', 'class QrnError', member),
    ];
    assert.deepEqual([methods.length, draws.length, options.length], [16, 8, 21]);
    for (const name of [...methods, ...draws, ...options])
      assert.match(readme, new RegExp(`\\b${name}\\b`), name);
  });
});

/** Names that the declaration of a source file has, by the pattern's first group. */
function membersOf(file: string, declaration: string, pattern: RegExp): string[] {
  const text = readFileSync(join(source, 'src', file), 'utf8');
  const start = text.indexOf(`export ${declaration} `);
  const names = text.slice(start, text.indexOf('\n}\n', start)).matchAll(pattern);
  return [...names].map(([, name]) => name).filter((name) => name !== 'constructor');
}

const AsyncFunction = (async () => {}).constructor as new (script: string) => unknown;

function withoutImports(script: string): string {
  return script.replaceAll(/^import .*$/gm, '');
}
