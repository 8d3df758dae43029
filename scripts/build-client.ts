import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type BuildOptions, build } from 'esbuild';

/**
 * Makes clients/typescript/dist/, the client as browsers, Node, Deno and Bun take it: a script and its types for each source file,
 * and the service's verifier as one file in the place of verifier.ts. `node scripts/build-client.ts [FOLDER]`
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'clients/typescript/src');
const VERIFIER = 'verifier';

const SCRIPTS: BuildOptions = {
  absWorkingDir: root, // paths in comments are below it, wherever it is
  format: 'esm',
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'inline',
  write: false,
};

export async function buildClient(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await Promise.all([writeTypes(folder), writeScripts(folder), writeVerifier(folder)]);
}

async function writeScripts(folder: string): Promise<void> {
  const names = readdirSync(source).filter((name) => name !== `${VERIFIER}.ts`);
  const entryPoints = names.map((name) => join(source, name));
  const { outputFiles } = await build({ ...SCRIPTS, entryPoints, outdir: folder });
  for (const { path, text } of outputFiles!) writeFileSync(path, importingScripts(text) || 'export {};\n');
}

async function writeVerifier(folder: string): Promise<void> {
  const { outputFiles } = await build({
    ...SCRIPTS,
    entryPoints: ['src/certificate/verify.ts'],
    bundle: true,
    platform: 'neutral',
    mainFields: ['module', 'main'],
    banner: { js: '// Made from src/certificate/verify.ts of the Quantum Random Number Service.' },
  });
  writeFileSync(join(folder, `${VERIFIER}.js`), outputFiles![0].text);
}

async function writeTypes(folder: string): Promise<void> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const emit = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--rootDir', source];
  await promisify(execFile)(
    process.execPath,
    [compiler, '-p', 'clients/typescript', ...emit, '--outDir', folder],
    {
      cwd: root,
    },
  );
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.d.ts'))) {
    const path = join(folder, name);
    writeFileSync(path, importingScripts(readFileSync(path, 'utf8')));
  }
}

function importingScripts(text: string): string {
  return text.replaceAll(/(from |import\()(["'])(\.\/[\w-]+)\.ts\2/g, '$1$2$3.js$2');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildClient(process.argv[2] ?? join(root, 'clients/typescript/dist'));
}
