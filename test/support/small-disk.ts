import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const CHUNK_BYTES = 2 ** 20;

/** A file system of its own in memory, so that a test can fill it. */
export class SmallDisk {
  readonly folder: string;
  readonly #ballast: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.#ballast = join(folder, 'ballast');
  }

  /** Undefined when this process may not mount one. */
  static mount(sizeMebibytes: number): SmallDisk | undefined {
    const folder = mkdtempSync(join(tmpdir(), 'qrn-disk-'));
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMebibytes}m`, 'tmpfs', folder]);
    if (status === 0) return new SmallDisk(folder);
    rmdirSync(folder);
    return undefined;
  }

  /** Writes until so many bytes are free, rounded up to a chunk of 1 MiB; 0 leaves not a byte. */
  fillTo(freeBytes: number): void {
    const { bavail, bsize } = statfsSync(this.folder);
    const chunk = new Uint8Array(CHUNK_BYTES);
    let left = bavail * bsize - freeBytes;
    for (; left >= CHUNK_BYTES; left -= CHUNK_BYTES) writeFileSync(this.#ballast, chunk, { flag: 'a' });
    if (freeBytes > 0) return;
    assert.throws(() => writeFileSync(this.#ballast, chunk, { flag: 'a' }), { code: 'ENOSPC' });
  }

  /** Frees the filled room. */
  free(): void {
    rmSync(this.#ballast, { force: true });
  }

  /** Unmounts the disk, on which nothing may be open. */
  unmount(): void {
    assert.equal(spawnSync('umount', [this.folder]).status, 0, `${this.folder} is in use`);
    rmdirSync(this.folder);
  }
}
