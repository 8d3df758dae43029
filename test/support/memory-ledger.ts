import { concatBytes } from '../../src/core/bytes.ts';
import type { Clock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { SEAL_BYTES } from '../../src/ledger/block-keys.ts';
import { DirectoryFeed } from '../../src/ledger/directory-feed.ts';
import { auditStore } from '../../src/ledger/domain/audit.ts';
import type { Walk } from '../../src/ledger/domain/auditor.ts';
import type { BlockSeals } from '../../src/ledger/domain/blocks.ts';
import { booksIn, type Writer } from '../../src/ledger/domain/books.ts';
import { directoryIn } from '../../src/ledger/domain/directory.ts';
import { drawsIn } from '../../src/ledger/domain/draws.ts';
import { lotsIn, releaseLots } from '../../src/ledger/domain/lots.ts';
import { type JobOwner, ONLY_OWNER, sourcesIn } from '../../src/ledger/domain/sources.ts';
import { type AuditReport, type Ledger, type LedgerCalls, LedgerError } from '../../src/ledger/ledger.ts';
import type { SegmentSink, SinkRefusal } from '../../src/ledger/segment-sink.ts';
import { SOLE_NODE } from '../../src/ledger/sharing.ts';
import { tx } from '../../src/ledger/store.ts';
import { MemoryStore } from './memory-store.ts';

/** Replaces block keys: sealed blocks are only in memory. */
const OPEN_SEALS: BlockSeals = {
  oldest: () => 1,
  seal: (_kind, _ordinal, _lotId, bytes) => concatBytes(new Uint8Array(SEAL_BYTES), bytes),
  open: (_kind, _ordinal, _lotId, sealed) => sealed.slice(SEAL_BYTES) as Uint8Array<ArrayBuffer>,
  passOver() {},
  erase() {},
};

/** The owner of the books, and the place of its node's blocks. */
interface MemoryOwner {
  readonly books: MemoryStore;
  readonly folder: MemoryStore;
  readonly clock: Clock;
  readonly writer: Writer;
  readonly jobs: JobOwner;
}

/** The rules of the ledger over the driver in memory, which forgets everything with the process: as src/ledger/lmdb has them. */
export function memoryCalls({ books, folder, clock, writer, jobs }: MemoryOwner): LedgerCalls {
  const blocks = {
    store: folder,
    seals: OPEN_SEALS,
    stop: (cause: unknown) => cause as Error,
    log: silentLog,
  };
  return {
    ...directoryIn(books),
    ...lotsIn({ books, folder: blocks, node: writer.number }),
    ...sourcesIn(books, jobs),
    ...booksIn(books, clock, writer),
    ...drawsIn(books),
    ...SOLE_NODE,
    audit: () => auditOf(books, folder),
    integrity: async () => ({ startAudit: 'none', scrub: null, database: null }),
    async backup() {
      throw new LedgerError('refused', 'a ledger in memory has nothing to back up');
    },
  };
}

/** The blocks of a node are held against the lots of the books alone where they lie with them. */
async function auditOf(books: MemoryStore, folder: MemoryStore): Promise<AuditReport> {
  const walk = (store: MemoryStore): Walk => {
    return async (table, visit) => {
      for (const { key, value } of store.within(tx.range(table, {}))) visit(key, value);
    };
  };
  const report = await auditStore(walk(books), books === folder);
  if (books === folder) return report;
  const { blocksUnclaimed, blocksClaimed } = await auditStore(walk(folder), true);
  return { ...report, blocksUnclaimed, blocksClaimed };
}

/** A ledger in memory, for one node. Without `keepsPending`, lots are released at once: where no log releases them. */
export function memoryLedger(clock: Clock, { keepsPending = false } = {}): Ledger {
  const store = new MemoryStore();
  const writer = { number: ONLY_OWNER.node, epoch: 0 };
  const calls = memoryCalls({ books: store, folder: store, clock, writer, jobs: ONLY_OWNER });
  const feed = new DirectoryFeed(calls.directoryChanges, clock);
  return {
    ...feed.over(calls),
    async addLot(lot, blocks, jobKey) {
      const isStored = await calls.addLot(lot, blocks, jobKey);
      if (!keepsPending) store.within(releaseLots({ lotIds: [lot.id], atMs: 0 }));
      return isStored;
    },
    close: async () => {},
  };
}

/** Returns the sink of a front without a journal, which is the ledger itself. Fronts share the sequence. */
export function sinkInto(
  ledger: Pick<Ledger, 'commit'>,
  nextSequence: () => number,
): SegmentSink & { refusal: SinkRefusal | null } {
  return {
    nextSequence,
    isBehind: false,
    refusal: null,
    commit: (segment, answers) => ledger.commit([segment], answers),
  };
}

/** Sequences from `first` on. */
export function sequencesFrom(first: number): () => number {
  let next = first;
  return () => next++;
}
