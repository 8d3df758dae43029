import { closeSync, fsyncSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Replaces a file as a whole: whatever happens meanwhile, it has the whole new content or the old one, and the new one is on
 * disk before this returns. A crash may leave `<path>.draft`, which the next call writes over.
 */
export function replaceFile(path: string, content: string): void {
  const draft = `${path}.draft`;
  const file = openSync(draft, 'w', 0o600);
  try {
    const bytes = Buffer.from(content, 'utf8');
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  syncToDisk(dirname(path));
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
