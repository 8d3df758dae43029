// Strips the types once, instead of again in every thread of every start: `node --import ./scripts/stripped.mjs
// src/main.ts`. The stripper takes 9 MB of each thread that meets a type, and a third of its start (Node 22.23, whose
// own compile cache keeps code, but not stripped sources). This hook stores its output with digests of the source and
// of the stripper. A stale, torn or missing copy is made again, and without a writable folder everything works
// uncached.
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { enableCompileCache, registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { threadId } from 'node:worker_threads';

const folder = new URL('../node_modules/.cache/qrn/', import.meta.url);
/** The sources of the service, and of the client's program, whose commands the service's program offers too. */
export const SOURCE_FOLDERS = ['../src/', '../clients/typescript/program/'].map(
  (path) => new URL(path, import.meta.url),
);

/** Returns the source at a file URL without its types, from the stored copy or newly stripped. */
export function stripped(url) {
  const source = readFileSync(new URL(url), 'utf8');
  const kept = new URL(`${sha256(url).slice(0, 32)}.js`, folder);
  const digest = sha256(`${process.version} ${source}`);
  const known = read(kept, digest);
  if (known !== undefined) return known;
  const text = quietly(() => stripTypeScriptTypes(source));
  keep(kept, digest + sha256(text) + text);
  return text;
}

function read(kept, digest) {
  let content;
  try {
    content = readFileSync(kept, 'utf8');
  } catch {
    return undefined; // not stored yet
  }
  const text = content.slice(2 * digest.length);
  return content.startsWith(digest + sha256(text)) ? text : undefined;
}

/** Writes the file completely or not at all, because other processes may start at the same time. */
function keep(kept, content) {
  const part = new URL(`${kept.href}.${process.pid}.${threadId}`);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(part, content);
    renameSync(part, kept);
  } catch {
    tryTo(() => rmSync(part, { force: true })); // the disk may be full; the next start strips again
  }
}

function tryTo(remove) {
  try {
    remove();
  } catch {
    // The folder does not exist.
  }
}

/** Strips without the warning that the call is experimental: `node` itself does the same to a file with types. */
function quietly(strip) {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return strip();
  } finally {
    process.emitWarning = emitWarning;
  }
}

function sha256(text) {
  return hash('sha256', text);
}

/** A relative import of one of our files. Node's own resolution, which also asks the disk, takes a sixth of a start. */
const OWN_FILE = /^\.\.?\/.*\.ts$/;

function isOurs(url) {
  return SOURCE_FOLDERS.some(({ href }) => url?.startsWith(href));
}

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (!OWN_FILE.test(specifier) || !isOurs(context.parentURL)) return nextResolve(specifier, context);
    const { href } = new URL(specifier, context.parentURL);
    if (!isOurs(href)) return nextResolve(specifier, context); // `load` would not strip its types
    return { url: href, format: 'module', shortCircuit: true };
  },
  load(url, context, nextLoad) {
    if (!isOurs(url) || !url.endsWith('.ts')) return nextLoad(url, context);
    return { format: 'module', source: stripped(url), shortCircuit: true };
  },
});
enableCompileCache(fileURLToPath(new URL('code', folder)));
