import { mkdtempSync, rmSync } from 'node:fs';
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
