import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from './assert.ts';

/**
 * Makes a folder that only its owner may read, and the missing folders above it. Makes them one by one, because
 * mkdirSync with `recursive` never returns where the system cannot make a folder, as in /proc (Node 22).
 */
export function makeFolder(path: string): void {
  if (isFolder(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (isFolder(path)) return; // another process was faster
    throw new Error(`cannot make the folder ${path}: ${reasonOf(error)}`);
  }
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

/**
 * Replaces a file as a whole: after a crash at any moment it has the old content or the new one. The new content is on
 * disk when this returns. A crash may leave `<path>.draft`, which the next call overwrites.
 */
export function replaceFile(path: string, content: string): void {
  const draft = `${path}.draft`;
  try {
    writeFileSync(draft, content, { mode: 0o600, flush: true });
    renameSync(draft, path);
  } catch (error) {
    throw new Error(`cannot write ${path}: ${reasonOf(error)}`);
  }
  syncToDisk(dirname(path));
}

/** Returns the system's message without the call and the path at its end, which may name the draft. */
function reasonOf(error: unknown): string {
  return messageOf(error).split(', ', 1)[0];
}

/** Flushes a file to disk, or the names that were added to a folder or removed from it. */
export function syncToDisk(path: string): void {
  if (process.platform === 'win32' && statSync(path).isDirectory()) return; // Windows cannot open a folder to flush it
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
