import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { QrnClient } from '../../clients/typescript/src/client.ts';
import { Draws } from '../../clients/typescript/src/draws.ts';
import { Random } from '../../clients/typescript/src/random.ts';
import { clientFiles, writtenFile } from '../generated-client/client-types.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { TestServer } from '../support/server.ts';

/** The package as it is published: packed by npm, installed by npm in an empty folder, and used as its README says. */
const source = fileURLToPath(new URL('../../clients/typescript', import.meta.url));
const readme = readFileSync(join(source, 'README.md'), 'utf8');
const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as {
  name: string;
  version: string;
  exports: Record<string, string | Record<'import' | 'require', { types: string; default: string }>>;
};
const run = promisify(execFile);
const ENDINGS = ['.js', '.d.ts', '.cjs', '.d.cts'];

let project: string;
let installed: string;
let server: TestServer;
before(async () => {
  project = scratchFolder();
  installed = join(project, 'node_modules', manifest.name);
  writeFileSync(join(project, 'package.json'), '{"type":"module","private":true}');
  await run('npm', ['pack', '--silent', '--pack-destination', project], { cwd: source });
  const command = /```sh\n(npm install \S+)\n```/.exec(readme)?.[1] ?? '';
  assert.equal(command, `npm install ./${manifest.name}-${manifest.version}.tgz`);
  const offline = ['--offline', '--no-audit', '--no-fund', '--silent'];
  await run('npm', [...command.split(' ').slice(1), ...offline], { cwd: project });
  server = await TestServer.shared();
});

/** Returns the environment of a separate program. */
function environment(): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    QRN_URL: server.origin,
    QRN_KEY: server.key,
    HOME: project,
    DENO_DIR: join(project, 'deno'),
    NO_COLOR: '1',
  };
}

const built = (ending: string) =>
  readdirSync(join(installed, 'dist'))
    .filter((name) => name.endsWith(ending))
    .map((name) => ({ name, text: readFileSync(join(installed, 'dist', name), 'utf8') }));

describe('the package', () => {
  it('has scripts and types of both module kinds for each source file and each export', () => {
    const names = readdirSync(join(source, 'src')).map((name) => name.replace(/\.ts$/, ''));
    names.push('index');
    for (const name of names)
      for (const ending of ENDINGS) assert.ok(existsSync(join(installed, 'dist', name + ending)), name);
    assert.equal(built('').length, ENDINGS.length * names.length);
    for (const each of Object.values(manifest.exports).filter((entry) => typeof entry !== 'string'))
      for (const path of Object.values(each).flatMap((form) => Object.values(form)))
        assert.ok(existsSync(join(installed, path)), path);
    assert.deepEqual(readdirSync(installed).sort(), ['LICENSE', 'README.md', 'bin', 'dist', 'package.json']);
  });

  it('imports nothing but itself, and nothing of Node where a browser would look', () => {
    for (const { name, text } of built('')) {
      for (const [, specifier] of text.matchAll(
        /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\()["']([^"']+)["']/g,
      ))
        assert.ok(existsSync(join(installed, 'dist', specifier)), `${name} imports ${specifier}`);
      assert.doesNotMatch(text, /\bBuffer\b|Math\.random/, name);
      if (name.endsWith('.js')) assert.doesNotMatch(text, /\brequire\(/, name);
    }
  });

  it('has types that a strict program compiles with, with the DOM and without Node', async () => {
    const program = join(project, 'program.ts');
    writeFileSync(
      program,
      `import { QrnClient, NotFoundError, type DrawDocument, type Hooks } from 'qrn-client';
       import type { Answer, IntegersData } from 'qrn-client/answers';
       import { QrnError, type ServiceErrorCode } from 'qrn-client/error';
       import { Random } from 'qrn-client/random';
       import { verifyAnswer } from 'qrn-client/verifier';
       const client = new QrnClient({ baseUrl: 'http://localhost/v1', key: 'k', fetch });
       const answer: Answer<IntegersData> = await client.integers({ count: 1 });
       const floats: Float64Array = (await client.batchBinary({ type: 'floats', count: 1 })).data.values;
       const texts: readonly string[] = (await client.batch({ type: 'uuid', count: 1 })).data.values;
       const hooks: Hooks = { onRetry: ({ error, delayMs }) => console.log(error.code, delayMs) };
       const { response } = await new QrnClient(hooks).uuid().withResponse();
       const status: number = response.status;
       for await (const { data } of client.stream.integers({ total: 1e9, max: 5 })) {
         const values: Int32Array | Float64Array = data.values;
         void values;
       }
       const draw: DrawDocument = await client.draws.create({ winners: { count: 1, list: { items: ['a', 'b'] } }, purpose: 'p' });
       const winners: readonly unknown[] | null | undefined = (await client.draws.wait(draw.id)).outcome?.values;
       const die: number = await new Random(client).integer(1, 6);
       const code: ServiceErrorCode = 'rate_limited';
       export const all = [answer, floats, texts, winners, die, code, status, QrnError, NotFoundError, verifyAnswer];
       // @ts-expect-error a batch of floats has no encoding
       await client.batch({ type: 'floats', count: 1, params: { encoding: 'hex' } });
       // @ts-expect-error there is no such mode
       await client.uuid({ entropyMode: 'quantum' });
       // @ts-expect-error a draw has a purpose
       await client.draws.create({ request: { type: 'uuid', count: 1 } });
       // @ts-expect-error a stream of UUIDs has no bounds
       client.stream.uuid({ total: 9, min: 1 });
      `,
    );
    await compiled(program);
  });

  it('has the types and the kinds of the OpenAPI document', async () => {
    const withoutComments = (text: string) =>
      text.replaceAll(/\/\*\*[\s\S]*?\*\//g, '').replaceAll(/\s+/g, ' ');
    for (const [place, text] of Object.entries(await clientFiles())) {
      const written = withoutComments(writtenFile(place));
      assert.equal(written, withoutComments(text), 'run node test/generated-client/client-types.ts');
    }
  });

  it('has the same types for a CommonJS program', async () => {
    const program = join(project, 'program.cts');
    writeFileSync(
      program,
      `import { QrnClient, RateLimitError, type IntegersData } from 'qrn-client';
       import { verifyAnswer } from 'qrn-client/verifier';
       const data: Promise<IntegersData> = new QrnClient().integers().then((answer) => answer.data);
       export const all = [data, RateLimitError, verifyAnswer];
      `,
    );
    await compiled(program);
  });

  it('does what the first example of its README shows', async () => {
    const start = /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
    assert.ok(start.includes('new QrnClient()') && start.split('\n').length < 15);
    writeFileSync(join(project, 'start.mjs'), start);
    const { stdout } = await run(process.execPath, ['start.mjs'], { cwd: project, env: environment() });
    assert.match(stdout, /^\[ [1-6](, [1-6]){4} \] simulated\n[0-9a-f-]{36} true 12\n$/);
  });

  it('sends the name of its manifest to the service', () => {
    const [{ text }] = built('runtime.js');
    assert.ok(text.includes(`"${manifest.name}/${manifest.version}"`));
  });

  it('has a program that draws and verifies against any server, and opens no folder', async () => {
    const program = join(project, 'node_modules/.bin/qrn');
    const qrn = async (...args: string[]) =>
      (await run(program, args, { cwd: project, env: environment() })).stdout;
    assert.equal(await qrn('--version'), `${manifest.version}\n`);
    assert.match(
      await qrn('integers', '3', '--min', '1', '--max', '6', '--raw', '--verify'),
      /^(?:[1-6]\n){3}$/,
    );
    writeFileSync(join(project, 'answer.json'), await qrn('shuffle', 'ada', 'grace', '--json'));
    assert.match(await qrn('verify', 'answer.json'), /answer\.json: verified\n$/);
    writeFileSync(
      join(project, 'forged.json'),
      readFileSync(join(project, 'answer.json'), 'utf8').replace('"count":2', '"count":3'),
    );
    await assert.rejects(qrn('verify', 'forged.json'), { code: 1 });
    await qrn('log', 'watch', server.origin, '--state', 'state.json', '--once');
    const { lots } = JSON.parse(readFileSync(join(project, 'state.json'), 'utf8')) as { lots: object };
    assert.notDeepEqual(lots, {});
    await assert.rejects(qrn('accounts', 'list'), { code: 2, stderr: /unknown command 'accounts'/ });
    const unset = { ...environment(), QRN_URL: '', QRN_KEY: '' };
    await assert.rejects(run(program, ['uuid'], { cwd: project, env: unset }), {
      code: 1,
      stderr: /^qrn uuid: there is no API key: set QRN_KEY/,
    });
  });

  it('has a README whose examples run and that names every method', () => {
    for (const [, script] of readme.matchAll(/```js\n([\s\S]*?)```/g))
      assert.doesNotThrow(() => new AsyncFunction(withoutImports(script)), script);
    const methodsOf = ({ prototype }: { prototype: object }) =>
      Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
    const names = [
      ...[QrnClient, Random].flatMap(methodsOf),
      ...methodsOf(Draws).map((each) => `draws.${each}`),
    ];
    assert.ok(names.includes('integers') && names.includes('draws.create'));
    for (const name of names) assert.match(readme, new RegExp(`\\b${name}\\b`), name);
  });
});

/** Compiles a program of the project as strictly as can be. */
async function compiled(program: string): Promise<void> {
  const compiler = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
  const options =
    '--strict --exactOptionalPropertyTypes --noEmit --target es2022 --module nodenext --lib es2022,dom';
  await run(process.execPath, [compiler, ...options.split(' '), '--types', '', program], {
    cwd: project,
  }).catch(({ stdout }) => assert.fail(stdout));
}

/** Folder of packages with other runtimes, where .ci/run puts them. */
const runtimes = process.env['TEST_RUNTIMES'];
const DENO = ['run', '--allow-net', '--allow-env', '--allow-read', '--node-modules-dir=manual'];
const RUNTIMES: readonly [name: string, path: string, args: readonly string[]][] = [
  ['Node 18', 'node18/bin/node', []],
  ['Node 20', 'node20/bin/node', []],
  ['Node 24', 'node24/bin/node', []],
  ['Bun', '@oven/bun-linux-x64/bin/bun', []],
  ['Deno', '@deno/linux-x64-glibc/deno', DENO],
];

/** Uses a bit of everything; prints what a test can compare. */
const PROGRAM = `
const client = new QrnClient();
const answer = await client.integers({ count: 3, min: 1, max: 6 });
const die = await new Random(client).integer(1, 6);
let count = 0;
for await (const block of client.stream.floats({ total: 150_000 })) count += block.data.values.length;
const error = await client.integers({ count: 0 }).catch((each) => each);
const verified = 'isWellFormed' in String.prototype ? (await client.verify(answer)).ok : 'needs Node 20';
const dice = [...answer.data.values, die].every((value) => value >= 1 && value <= 6);
console.log(JSON.stringify({ dice, count, refused: error instanceof InvalidRequestError, verified }));
`;

for (const [name, path, args] of [['this Node', process.execPath, []] as const, ...RUNTIMES]) {
  const program = runtimes === undefined ? path : join(runtimes, path);
  const skip = existsSync(program)
    ? false
    : 'not there: TEST_RUNTIMES names no folder that has it (see .ci/run)';
  describe(`the package in ${name}`, { skip: path === process.execPath ? false : skip }, () => {
    const modules: readonly [kind: string, file: string, text: string][] = [
      [
        'as an ES module',
        'program.mjs',
        `import { InvalidRequestError, QrnClient, Random } from 'qrn-client';${PROGRAM}`,
      ],
      [
        'as CommonJS',
        'program.cjs',
        `const { InvalidRequestError, QrnClient, Random } = require('qrn-client');
         (async () => {${PROGRAM}})();`,
      ],
    ];
    for (const [kind, file, text] of modules) {
      it(`draws, streams, samples, refuses and verifies ${kind}`, async () => {
        writeFileSync(join(project, file), text);
        const runtime = path === process.execPath ? path : program;
        const { stdout } = await run(runtime, [...args, file], { cwd: project, env: environment() });
        const verified = name === 'Node 18' ? 'needs Node 20' : true;
        assert.deepEqual(JSON.parse(stdout), { dice: true, count: 150_000, refused: true, verified });
      });
    }
  });
}

const AsyncFunction = (async () => {}).constructor as new (script: string) => unknown;

function withoutImports(script: string): string {
  return script.replaceAll(/^import .*$/gm, '');
}
