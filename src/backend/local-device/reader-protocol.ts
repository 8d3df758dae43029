import type { BigIntStats } from 'node:fs';

/** What the reading process must do. */
export interface Order {
  readonly path: string;
  /** The device that must be behind the path (`identityOf`). */
  readonly identity: string;
  readonly isFifo: boolean;
  /** Speed of a serial line, which the process puts into raw mode; null for other devices. */
  readonly baud: number | null;
  /** How many bytes to drop after opening. */
  readonly discardBytes: number;
  /** How many bytes to read then. */
  readonly bytes: number;
}

export type Report =
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  /** The process is opening the device; has opened it; has dropped a piece. */
  | { readonly type: 'opening' | 'opened' | 'discarded' }
  /** No process has the FIFO open for writing. */
  | { readonly type: 'no-writer' }
  | { readonly type: 'failed'; readonly failure: Failure };

export type Failure =
  /** A system call failed, e.g. with ENODEV. */
  | { readonly step: 'call'; readonly code: string; readonly words: string }
  /** stty failed to set the serial line. */
  | { readonly step: 'line'; readonly words: string }
  /** The device is a serial line, and no speed is configured. */
  | { readonly step: 'mode' }
  /** Another device is now behind the path. */
  | { readonly step: 'changed' }
  /** The device reported its end. */
  | { readonly step: 'ended' };

/** Returns what identifies a device whatever its path: the device number or, for a FIFO, its inode. */
export function identityOf(stats: BigIntStats): string {
  return stats.isCharacterDevice() ? `device ${stats.rdev}` : `file ${stats.dev}:${stats.ino}`;
}
