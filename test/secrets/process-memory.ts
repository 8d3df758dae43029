import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import type { Hit, Needles } from './needles.ts';

/**
 * The memory of another process as the kernel shows it (proc(5)): heaps of all threads, stacks, buffers, what was freed and
 * not used again. It says more than a heap snapshot, which holds no bytes of buffers. Linux, with the right to trace the
 * process: one's own children, unless the system forbids that too.
 */
export function canReadMemory(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    closeSync(openSync(`/proc/${pid}/mem`, 'r'));
    return true;
  } catch {
    return false;
  }
}

export interface MemorySearch {
  readonly hits: readonly Hit[];
  /** Bytes that were looked at. */
  readonly bytes: number;
}

/** Mapped files are left out: the ledger's pages are looked for in its file. */
export function searchMemory(pid: number, needles: Needles): MemorySearch {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const hits: Hit[] = [];
  let bytes = 0;
  try {
    for (const { from, size, name } of writableRegions(pid)) {
      const found = needles.inStream(name, from, size, (into, at) => {
        const got = readAt(memory, into, at);
        bytes += got;
        return got;
      });
      hits.push(...found);
    }
  } finally {
    closeSync(memory);
  }
  return { hits, bytes };
}

interface Region {
  readonly from: number;
  readonly size: number;
  readonly name: string;
}

function writableRegions(pid: number): Region[] {
  return readFileSync(`/proc/${pid}/maps`, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ (\d+)\s*(.*)$/.exec(line)!)
    .filter(([, , , rights, inode]) => rights.startsWith('rw') && inode === '0')
    .map(([, from, to, , , name]) => {
      const start = Number.parseInt(from, 16);
      return {
        from: start,
        size: Number.parseInt(to, 16) - start,
        name: name === '' ? 'anonymous memory' : name,
      };
    });
}

/** 0 where the region went away meanwhile. */
function readAt(memory: number, into: Buffer, at: number): number {
  try {
    return readSync(memory, into, 0, into.length, at);
  } catch (error) {
    if (['EIO', 'EFAULT'].includes((error as NodeJS.ErrnoException).code ?? '')) return 0;
    throw error;
  }
}
