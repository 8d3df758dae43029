import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';

/**
 * Makes dist/: the verifier as one file that depends on nothing, the script of the verification page, which runs that
 * very file, the verifier of draws beside it, and the script of the documentation. Not minified, so that whoever trusts it can read it; the same bytes from the same sources, which
 * test/cli/verifier-bundle.test.ts holds against the committed ones.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const VERIFIER = 'qrn-verify.mjs';
const DRAW_VERIFIER = 'qrn-verify-draw.mjs';
const PAGE_SCRIPT = 'verify-page.mjs';
const DRAW_SCRIPT = 'draw-page.mjs';
const LANDING_SCRIPT = 'landing-page.mjs';
const STATUS_SCRIPT = 'status-page.mjs';
const DOCS_SCRIPT = 'docs-page.mjs';
const LOG_PAGE = 'log-watch.html';

const HEAD = `\
// The verifier of the Quantum Random Number Service: checks an answer, its certificate and the signed log it stands in.
// Runs in browsers, Node and Deno, and asks nobody. As a module: import { verifyAnswer } from './qrn-verify.mjs';
// as a program: node qrn-verify.mjs --help. Made from src/certificate/verify.ts by scripts/build-verifier.ts.`;

const DRAW_HEAD = `\
// Checks committed draws of the Quantum Random Number Service, beside qrn-verify.mjs, which it imports.
// As a module: import { verifyDraw } from './qrn-verify-draw.mjs'. Made from src/certificate/verify-draw.ts by
// scripts/build-verifier.ts. Licence: Apache-2.0. Inside are @noble/curves, @noble/ciphers and @noble/hashes, whose licences stand below.`;
const DRAW_LIBRARIES = ['@noble/curves', '@noble/ciphers', '@noble/hashes'];

const LICENCES =
  'Licence: Apache-2.0, as is canonicalize (https://github.com/erdtman/canonicalize), which is inside. So are parts of ' +
  'noble-hashes (https://github.com/paulmillr/noble-hashes):';

const LIBRARY_NAMES = ['highlight.js', 'lowlight', 'minisearch'];
const LIBRARIES =
  'The script of the documentation of the Quantum Random Number Service. Made from src/http/pages/client/docs-page.ts\n' +
  `by scripts/build-verifier.ts. Licence: Apache-2.0. Inside are ${LIBRARY_NAMES.join(', ')}, whose licences stand below.`;

export interface BuiltFile {
  /** Below dist/. */
  readonly name: string;
  readonly text: string;
}

export async function buildVerifier(): Promise<BuiltFile[]> {
  const verifier = {
    stdin: {
      contents:
        "export { verifyAnswer } from './src/certificate/verify.ts';\n" +
        "export { fieldsOf, responseOfFields } from './src/certificate/octet-answer.ts';\n" +
        "export { readWitnessPolicy } from './src/certificate/verify-witnesses.ts';\n" +
        "import './src/cli/standalone-verifier.ts';\n",
      resolveDir: root,
      sourcefile: VERIFIER,
    },
    banner: { js: HEAD },
    footer: { js: commented(`${LICENCES}\n\n${licenceOf('@noble/hashes')}`) },
  };
  const plugins = ['verify.ts', 'verify-witnesses.ts', 'octet-answer.ts'].map((module) =>
    importing(`certificate/${module}`, `./${VERIFIER}`),
  );
  const drawVerifier = {
    entryPoints: ['src/certificate/verify-draw.ts'],
    plugins,
    banner: { js: DRAW_HEAD },
    footer: { js: DRAW_LIBRARIES.map((name) => commented(`${name}:\n${licenceOf(name)}`)).join('\n') },
  };
  const ofPages = [...plugins, importing('certificate/verify-draw.ts', `./${DRAW_VERIFIER}`)];
  const pageScript = { entryPoints: ['src/http/pages/client/verify-page.ts'], plugins: ofPages };
  const drawScript = { entryPoints: ['src/http/pages/client/draw-page.ts'], plugins: ofPages };
  const landingScript = { entryPoints: ['src/http/pages/client/landing-page.ts'], plugins: ofPages };
  const statusScript = { entryPoints: ['src/http/pages/client/status-page.ts'], plugins: ofPages };
  const docsScript = {
    entryPoints: ['src/http/pages/client/docs-page.ts'],
    plugins: ofPages,
    minify: true, // two libraries are inside, which nobody would read here
    banner: { js: commented(LIBRARIES) },
    footer: { js: LIBRARY_NAMES.map((name) => commented(`${name}:\n${licenceOf(name)}`)).join('\n') },
  };
  return Promise.all([
    bundled(VERIFIER, verifier),
    bundled(DRAW_VERIFIER, drawVerifier),
    bundled(PAGE_SCRIPT, pageScript),
    bundled(DRAW_SCRIPT, drawScript),
    bundled(LANDING_SCRIPT, landingScript),
    bundled(STATUS_SCRIPT, statusScript),
    bundled(DOCS_SCRIPT, docsScript),
    logPage(),
  ]);
}

/** The page that follows the log: one file, which names the digests of the style and the script that it holds. */
async function logPage(): Promise<BuiltFile> {
  const { text } = await bundled('log-page.mjs', {
    entryPoints: ['src/http/pages/client/log-page.ts'],
    footer: { js: commented(`${LICENCES}\n\n${licenceOf('@noble/hashes')}`) },
  });
  const script = text.replaceAll('</script', '<\\/script');
  const source = (name: string) =>
    readFileSync(new URL(`../src/http/pages/${name}`, import.meta.url), 'utf8');
  const style = source('page.css');
  const parts: Readonly<Record<string, string>> = {
    SCRIPT_DIGEST: digestOf(script),
    STYLE_DIGEST: digestOf(style),
    ICON: encodeURIComponent(source('icon.svg').trim()),
    '/* SCRIPT */': script,
    '/* STYLE */': style,
  };
  const places = /SCRIPT_DIGEST|STYLE_DIGEST|\bICON\b|\/\* (?:SCRIPT|STYLE) \*\//g;
  const page = source('log-watch.html').replaceAll(places, (name) => parts[name]);
  return { name: LOG_PAGE, text: page };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

async function bundled(name: string, options: BuildOptions): Promise<BuiltFile> {
  const { outputFiles } = await build({
    absWorkingDir: root, // paths in comments are below it, wherever it is
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'inline',
    external: ['node:*'],
    outfile: name,
    write: false,
    ...options,
  });
  return { name, text: outputFiles![0].text };
}

function licenceOf(packageName: string): string {
  const folder = new URL(`../node_modules/${packageName}/`, import.meta.url);
  const file = readdirSync(folder).find((name) => /^license(\.\w+)?$/i.test(name));
  if (file === undefined) throw new Error(`${packageName} has no file with its licence`);
  return readFileSync(new URL(file, folder), 'utf8').trim();
}

function commented(text: string): string {
  return text.replaceAll(/^/gm, '// ').replaceAll(/ +$/gm, '');
}

/** Leaves the module as an import from `target` instead of bundling it once more. */
function importing(module: string, target: string): Plugin {
  const filter = new RegExp(`/${module.replaceAll('.', '\\.')}$`);
  return {
    name: 'importing',
    setup: (context) => context.onResolve({ filter }, () => ({ path: target, external: true })),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const dist = new URL('../dist/', import.meta.url);
  mkdirSync(dist, { recursive: true });
  for (const { name, text } of await buildVerifier()) writeFileSync(new URL(name, dist), text);
}
