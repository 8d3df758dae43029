import type { BigIntStats } from 'node:fs';

/** What the reading process is told and what it answers. */
export interface Order {
  readonly path: string;
  /** The device that is expected behind the path (`identityOf`). */
  readonly identity: string;
  readonly isFifo: boolean;
  /** Speed of a serial line, which is then put into raw mode; null for anything else. */
  readonly baud: number | null;
  /** Read and dropped after opening. */
  readonly discardBytes: number;
  readonly bytes: number;
}

export type Report =
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  /** The process runs and opens the device; has it open; got a piece of what is to be dropped. */
  | { readonly type: 'opening' | 'opened' | 'discarded' }
  /** Nobody has the FIFO open for writing. */
  | { readonly type: 'no-writer' }
  | { readonly type: 'failed'; readonly failure: Failure };

export type Failure =
  /** A system call failed, e.g. with ENODEV. */
  | { readonly step: 'call'; readonly code: string; readonly words: string }
  /** stty did not set the line. */
  | { readonly step: 'line'; readonly words: string }
  /** It is a serial line, and nobody said at what speed. */
  | { readonly step: 'mode' }
  /** Another device came to stand behind the path. */
  | { readonly step: 'changed' }
  /** The device gave its end. */
  | { readonly step: 'ended' };

/** One device whatever the path: by its number where it has one, else by its place in the file system. */
export function identityOf(stats: BigIntStats): string {
  return stats.isCharacterDevice() ? `device ${stats.rdev}` : `file ${stats.dev}:${stats.ino}`;
}
