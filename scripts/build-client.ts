import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type BuildOptions, build, type Plugin, transform } from 'esbuild';
import { PURE_ED25519 } from './build-verifier.ts';

/**
 * Builds clients/typescript/dist/, the client for Node, browsers, Deno and Bun. Each source file becomes an ES module,
 * a CommonJS module and the types of both; the service's verifier becomes one file that replaces verifier.ts; and
 * `index` is the package's entry point. Builds the program bin/qrn.js too. `node scripts/build-client.ts [FOLDER]`
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'clients/typescript/src');
const VERIFIER = 'verifier';

const ERRORS = [...readFileSync(join(source, 'error.ts'), 'utf8').matchAll(/^export class (\w+)/gm)].map(
  ([, name]) => name,
);
const INDEX = `export { QrnClient } from './client.ts';
export { ${ERRORS.join(', ')} } from './error.ts';
export { Random } from './random.ts';
`;
const INDEX_TYPES = `${INDEX}export type { QrnClientOptions, VerifyOptions, VerifiableAnswer } from './client.ts';
export type { ErrorCode, RawResponse, ServiceErrorCode } from './error.ts';
export type { RandomOptions, RefillAnswer } from './random.ts';
export type { CallOptions, Fetch, FetchInit } from './transport.ts';
export type { Check, Verification } from './verifier.ts';
export * from './answers.ts';
export type * from './draws.ts';
export * from './hooks.ts';
export * from './parameters.ts';
export type * from './stream.ts';
`;

/** One of the two module systems. */
interface Form {
  readonly format: 'esm' | 'cjs';
  readonly script: '.js' | '.cjs';
  readonly types: '.d.ts' | '.d.cts';
}

const FORMS: readonly Form[] = [
  { format: 'esm', script: '.js', types: '.d.ts' },
  { format: 'cjs', script: '.cjs', types: '.d.cts' },
];

function optionsOf({ format }: Form) {
  return {
    absWorkingDir: root, // makes paths in comments relative, so that the output does not depend on the folder
    format,
    // Node finds the names that a CommonJS module exports in a note that esbuild writes only for the platform node.
    platform: format === 'cjs' ? 'node' : 'neutral',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'inline',
    write: false,
  } satisfies BuildOptions;
}

export async function buildClient(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const scripts = FORMS.flatMap((form) => [writeScripts(folder, form), writeVerifier(folder, form)]);
  await Promise.all([writeTypes(folder), ...scripts]);
}

async function writeScripts(folder: string, form: Form): Promise<void> {
  const names = readdirSync(source).filter((name) => name !== `${VERIFIER}.ts`);
  const entryPoints = names.map((name) => join(source, name));
  const outExtension = { '.js': form.script };
  const { outputFiles } = await build({ ...optionsOf(form), entryPoints, outdir: folder, outExtension });
  for (const { path, text } of outputFiles!)
    writeFileSync(path, importing(text, form.script) || 'export {};\n');
  const { format, platform, target } = optionsOf(form);
  const { code } = await transform(INDEX, { format, platform, target, loader: 'ts' });
  writeFileSync(join(folder, `index${form.script}`), importing(code, form.script));
}

async function writeVerifier(folder: string, form: Form): Promise<void> {
  const { outputFiles } = await build({
    ...optionsOf(form),
    entryPoints: ['src/certificate/verify.ts'],
    inject: [PURE_ED25519],
    bundle: true,
    mainFields: ['module', 'main'],
    banner: { js: '// Made from src/certificate/verify.ts of the Quantum Random Number Service.' },
  });
  writeFileSync(join(folder, `${VERIFIER}${form.script}`), outputFiles![0].text);
}

/** At run time verifier.ts locates the service's verifier; a single file must contain it instead. */
const VERIFIER_INSIDE: Plugin = {
  name: 'verifier inside',
  setup: (context) =>
    context.onResolve({ filter: /\/verifier\.ts$/ }, () => ({
      path: join(root, 'src/certificate/verify.ts'),
    })),
};

/** Builds the package's program `qrn` as one file for Node. */
async function writeProgram(): Promise<void> {
  const license = readFileSync(join(root, 'node_modules/commander/LICENSE'), 'utf8');
  const { version } = JSON.parse(readFileSync(join(root, 'clients/typescript/package.json'), 'utf8'));
  await build({
    absWorkingDir: root,
    entryPoints: ['clients/typescript/program/main.ts'],
    inject: [PURE_ED25519],
    bundle: true,
    format: 'esm',
    platform: 'node',
    mainFields: ['module', 'main'],
    target: 'node18',
    charset: 'utf8',
    legalComments: 'inline',
    define: { CLIENT_VERSION: JSON.stringify(version) },
    // The license of commander demands its whole text, which no comment of its code contains.
    banner: { js: `#!/usr/bin/env node\n/*! commander\n${license}*/` },
    outfile: 'clients/typescript/bin/qrn.js',
    plugins: [VERIFIER_INSIDE],
  });
}

async function writeTypes(folder: string): Promise<void> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const emit = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--rootDir', source];
  await promisify(execFile)(
    process.execPath,
    [compiler, '-p', 'clients/typescript', ...emit, '--outDir', folder],
    { cwd: root },
  );
  writeFileSync(join(folder, 'index.d.ts'), INDEX_TYPES);
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.d.ts'))) {
    const text = readFileSync(join(folder, name), 'utf8');
    for (const { script, types } of FORMS) {
      writeFileSync(join(folder, name.replace(/\.d\.ts$/, types)), importing(text, script));
    }
  }
}

/** Returns the text with imports of this package's files under their new extension. */
function importing(text: string, ending: string): string {
  return text.replaceAll(
    /(from |import\(|require\()(["'])(\.\/[\w-]+)\.ts\2/g,
    (_, how, quote, path) => `${how}${quote}${path}${ending}${quote}`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildClient(process.argv[2] ?? join(root, 'clients/typescript/dist'));
  await writeProgram();
}
