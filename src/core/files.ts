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
 * Makes a folder that its owner alone may read, and those above it that are missing. Step by step, because mkdirSync with `recursive`
 * never returns for a folder that the system has no room for, as in /proc (Node 22).
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
 * Replaces a file as a whole: whatever happens meanwhile, it has the whole new content or the old one, and the new one is on
 * disk before this returns. A crash may leave `<path>.draft`, which the next call writes over.
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

/** What the system says, without the call and the path behind it: of a draft nobody has heard. */
function reasonOf(error: unknown): string {
  return messageOf(error).split(', ', 1)[0];
}

/** Makes a file durable, or the names that were added to a folder or taken from it. */
export function syncToDisk(path: string): void {
  if (process.platform === 'win32' && statSync(path).isDirectory()) return; // which has no handle to flush
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
