import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];
process.once('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

/** A folder that is removed when the process exits, after each hook and each server of its tests has ended. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'qrn-test-'));
  made.push(folder);
  return folder;
}

/** Returns a function that writes a file of the folder, an object as JSON, and returns its path. */
export const savingIn = (folder: string) => (name: string, value: unknown) => {
  const path = join(folder, name);
  const isText = typeof value === 'string' || value instanceof Uint8Array;
  writeFileSync(path, isText ? value : JSON.stringify(value));
  return path;
};
