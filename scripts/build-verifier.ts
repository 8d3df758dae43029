import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';

/**
 * Builds dist/: the verifier of answers, certificates and draws as one file without dependencies, and the script of
 * the pages, which runs that very file. It is not minified, so that users can read what they trust. The same sources
 * give the same bytes; test/cli/verifier-bundle.test.ts compares them with the committed ones.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const VERIFIER = 'qrn-verify.mjs';
const LOG_PAGE = 'log-watch.html';

const HEAD = `\
// The verifier of the Quantum Random Number Service: checks an answer, its certificate and the signed log it stands in, or
// a committed draw. Runs in browsers, Node, Deno and Bun, and asks nobody. As a module:
// import { verifyAnswer, verifyDraw } from './qrn-verify.mjs'; as a program: node qrn-verify.mjs --help. Made from
// src/certificate by scripts/build-verifier.ts.`;

const CANONICALIZE =
  'Licence: Apache-2.0, as is canonicalize (https://github.com/erdtman/canonicalize), which is inside.';
const LICENCES = `${CANONICALIZE} So are parts of @noble/curves, @noble/ciphers and @noble/hashes:`;
/** The exports of the verifier, and the modules from which pages import them. */
const VERIFIER_MODULES = [
  ['certificate/verify.ts', 'verifyAnswer'],
  ['certificate/verify-draw.ts', 'verifyDraw'],
  ['certificate/octet-answer.ts', 'fieldsOf, responseOfFields'],
  ['certificate/verify-witnesses.ts', 'readWitnessPolicy'],
] as const;
/** The verification of signatures on platforms without OpenSSL. */
export const PURE_ED25519 = 'src/crypto/ed25519-pure.ts';
const VERIFIER_LIBRARIES = ['@noble/curves', '@noble/ciphers', '@noble/hashes'];

export interface BuiltFile {
  /** Path below dist/. */
  readonly name: string;
  readonly text: string;
}

export async function buildVerifier(): Promise<BuiltFile[]> {
  const verifier = {
    stdin: {
      contents:
        VERIFIER_MODULES.map(([module, names]) => `export { ${names} } from './src/${module}';\n`).join('') +
        "import { runIfMain } from './clients/typescript/program/standalone-verifier.ts';\nawait runIfMain();\n",
      resolveDir: root,
      sourcefile: VERIFIER,
    },
    inject: [PURE_ED25519],
    banner: { js: HEAD },
    footer: { js: [commented(LICENCES), ...VERIFIER_LIBRARIES.map(licenceComment)].join('\n') },
  };
  const ofPages = VERIFIER_MODULES.map(([module]) => importing(module, `./${VERIFIER}`));
  return Promise.all([
    bundled(VERIFIER, verifier),
    bundled('page.mjs', { entryPoints: ['src/http/pages/client/page.ts'], plugins: ofPages }),
    logPage(),
  ]);
}

/** Returns the page that follows the log, as one file that contains its style and script and names their digests. */
async function logPage(): Promise<BuiltFile> {
  const { text } = await bundled('log-page.mjs', {
    entryPoints: ['src/http/pages/client/log-page.ts'],
    inject: [PURE_ED25519],
    footer: {
      js: [
        commented(`${CANONICALIZE} So are parts of @noble/curves and @noble/hashes:`),
        ...['@noble/curves', '@noble/hashes'].map(licenceComment),
      ].join('\n'),
    },
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
    absWorkingDir: root, // makes paths in comments relative, so that the output does not depend on the folder
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

function licenceComment(packageName: string): string {
  return commented(`${packageName}:\n${licenceOf(packageName)}`);
}

function commented(text: string): string {
  return text.replaceAll(/^/gm, '// ').replaceAll(/ +$/gm, '');
}

/** Imports the module from `target` instead of bundling it again. */
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
