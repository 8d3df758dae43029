import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string | undefined;

/** A file with this content, for a reader that takes nothing else; each name stands for one file, written anew. */
export function scratchFile(name: string, content: Uint8Array): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'qrn-fuzz-scratch-'));
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    folder = made;
  }
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}
