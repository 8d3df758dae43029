// Types are stripped once, not again by every thread of every start: `node --import ./scripts/stripped.mjs src/main.ts`.
// The stripper takes 9 MB of each thread that meets a type, and a third of its start (Node 22.23, whose own compile
// cache keeps code, but not what was stripped). Here its output is kept, under the digest of its source; without a
// folder that can be written everything goes on as without this file.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { enableCompileCache, registerHooks, stripTypeScriptTypes } from 'node:module';
import { threadId } from 'node:worker_threads';

const folder = new URL('../node_modules/.cache/qrn/', import.meta.url);
const sources = new URL('../src/', import.meta.url).href;

/** The digest of its source stands before it, so that a file is used for the source that it was made from alone. */
export function stripped(url) {
  const source = readFileSync(new URL(url), 'utf8');
  const digest = sha256(`${process.version} ${source}`);
  const kept = new URL(`${sha256(url).slice(0, 32)}.js`, folder);
  try {
    const text = readFileSync(kept, 'utf8');
    if (text.startsWith(digest)) return text.slice(digest.length);
  } catch {}
  const text = quietly(() => stripTypeScriptTypes(source));
  try {
    mkdirSync(folder, { recursive: true });
    const part = new URL(`${kept.href}.${process.pid}.${threadId}`);
    writeFileSync(part, digest + text);
    renameSync(part, kept); // whole or not at all: others start beside this process
  } catch {}
  return text;
}

/** Without the warning that the call is experimental: what `node` itself does to a file with types is the same. */
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
  return createHash('sha256').update(text).digest('hex');
}

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith(sources) || !url.endsWith('.ts')) return nextLoad(url, context);
    return { format: 'module', source: stripped(url), shortCircuit: true };
  },
});
enableCompileCache(new URL('code', folder).pathname);
