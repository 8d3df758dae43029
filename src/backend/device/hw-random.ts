import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BackendError } from '../backend.ts';

/** Where Linux has its hardware generators. Tests put their own in place. */
export interface HwRandomPlace {
  /** The node that reads from the generator in use, `/dev/hwrng`. */
  readonly node: string;
  /** The attributes of the hw_random core, `/sys/class/misc/hw_random` (Documentation/admin-guide/hw_random.rst). */
  readonly attributes: string;
}

export const LINUX_HW_RANDOM: HwRandomPlace = {
  node: '/dev/hwrng',
  attributes: '/sys/class/misc/hw_random',
};

/** What the kernel says of the generators behind `/dev/hwrng`; null where it says nothing. */
export interface HwRandom {
  readonly rng_current: string | null;
  readonly rng_available: string | null;
  /** The kernel's estimate of entropy per 1,024 bits. */
  readonly rng_quality: number | null;
}

export async function hwRandomFacts({ attributes }: HwRandomPlace): Promise<HwRandom> {
  const [current, available, quality] = await Promise.all(
    ['rng_current', 'rng_available', 'rng_quality'].map((name) => attribute(join(attributes, name))),
  );
  return {
    rng_current: current,
    rng_available: available,
    rng_quality: quality !== null && /^\d+$/.test(quality) ? Number(quality) : null,
  };
}

/** Null when the kernel does not have it: `rng_quality` came with Linux 6.2. */
async function attribute(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'latin1')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** Generators that are no quantum devices, whatever the operator declares: a TPM, and what a host gives its guest. */
const NOT_QUANTUM = /^(tpm-rng|virtio_rng)/;

/** Refuses a generator that is not there, or that cannot be what it is declared to be. */
export function assertGenerator({ rng_current: current }: HwRandom, isDeclaredQuantum: boolean): void {
  if (current === 'none')
    throw new BackendError('retryable', 'rng_current is none: no generator is plugged in');
  if (current !== null && isDeclaredQuantum && NOT_QUANTUM.test(current)) {
    throw new BackendError(
      'permanent',
      `rng_current is ${current}, which is no quantum device as is declared`,
    );
  }
}
