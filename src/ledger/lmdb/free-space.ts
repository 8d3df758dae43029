import { statfsSync } from 'node:fs';
import { ApiError } from '../../core/errors.ts';

/**
 * Bytes that this process may still write to the file system of `path`.
 * Throws what the system call says.
 */
export function freeBytesOf(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

const RETRY_AFTER_S = 30;

/**
 * The floor under the disk: writes that add data stop while there is still room for those that free it (a delete
 * takes fresh pages too) and for a clean end.
 */
export class FreeSpace {
  readonly #freeBytes: () => number;
  readonly #minBytes: number;

  constructor(freeBytes: () => number, minBytes: number) {
    this.#freeBytes = freeBytes;
    this.#minBytes = minBytes;
  }

  /** Bytes that may be written before the floor is reached, 0 at least. */
  aboveFloor(): number {
    return Math.max(0, this.#freeBytes() - this.#minBytes);
  }

  /** Throws ApiError `storage_unavailable` below the floor. One statfs, about 2 µs (bench/ledger.bench.ts). */
  require(): void {
    if (this.#freeBytes() >= this.#minBytes) return;
    throw new ApiError('storage_unavailable', { retryAfterS: RETRY_AFTER_S });
  }
}
