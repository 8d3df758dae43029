import { pack, unpack } from 'msgpackr';
import type { SeededTier } from '../core/vocabulary.ts';
import type { DrawLeaf, DrawRecord } from './draw-records.ts';
import type { SeriesAnswer } from './label-records.ts';
import type {
  AccountRecord,
  BlockKind,
  JobRecord,
  KeyRecord,
  LotRecord,
  LotRevocation,
  RateRecord,
  SourceSpend,
  StoredAnswer,
} from './records.ts';
import { type Body, bytesCodec, type Codec, type Key, plainCodec, type SharedTable, tx } from './store.ts';
import type { Charge, UsageCounters } from './usage-counters.ts';

/**
 * The format of what the tables hold, in a folder and in a database. A change that an older program would misread takes the next
 * number, and a program refuses what has another one.
 */
export const FORMAT = 4;

/** The tables of the rules in `domain`, without COUNTS. */
export const BOOK_TABLES: SharedTable<Key, unknown>[] = [];
/** Those of the folder of a node's blocks. */
export const BLOCK_TABLES: SharedTable<Key, unknown>[] = [];

/** A table under the name that its records have in every store. */
function table<K extends Key, V>(
  name: string,
  codec = plainCodec<V>(),
  tables = BOOK_TABLES,
): SharedTable<K, V> {
  const made: SharedTable<K, V> = { name, codec };
  tables.push(made);
  return made;
}

function blockTable<K extends Key, V>(name: string): SharedTable<K, V> {
  return table<K, V>(name, plainCodec<V>(), BLOCK_TABLES);
}

/** Numbers that are changed with what they count, so that an audit notices when records are missing. */
export type CountName =
  /** Accounts created so far: also the highest account number. */
  | 'accounts'
  | 'keys'
  | 'directoryVersion'
  | 'draws'
  | 'drawLeaves'
  /** Jobs opened so far: also the highest ordinal of a job. */
  | 'jobs'
  | 'charges'
  | 'sourceNotes'
  | 'logRecords'
  /** Lots stored so far: also the highest ordinal of one. */
  | 'lots'
  | 'revocations'
  /** Sequences below are leased (Books.leaseSequences). */
  | 'leasedBefore'
  /** When the last probe was written (Books.probe). */
  | 'probedAtMs'
  /** The last generation number given to a seed of the tier. */
  | `seedGeneration/${SeededTier}`
  /** Lots whose blocks were stored in this folder so far: also the highest ordinal of one. */
  | 'heldLots'
  /** Blocks stored so far, of both kinds: also the highest ordinal of one. */
  | 'blocks';
export const COUNTS: SharedTable<CountName, number> = { name: 'meta', codec: plainCodec<number>() };

/** domain/directory.ts */
export const ACCOUNTS = table<string, AccountRecord>('accounts');
export const KEYS = table<string, KeyRecord>('keys');
/** By the version that each led to: the newest ones alone. */
export const DIRECTORY_CHANGES = table<number, DirectoryChange>('directoryChanges');

/** What was changed, and its id. */
export type DirectoryChange = readonly ['account' | 'key' | 'lot', string];

/** domain/series.ts. Series, serial. */
export const SERIES = table<readonly [string, number], Omit<SeriesAnswer, 'serial'>>('series');
export const SERIES_COUNTS = table<string, SeriesCount>('seriesCounts');
/** Segment, index: the serial of a labelled answer. */
export const SERIALS = table<readonly [number, number], number>('serials');
/** Public purpose, series. */
export const PUBLIC_SERIES = table<readonly [string, string], number>('publicSeries');

/** How many answers a series has had, and how many of them retention dropped. */
export interface SeriesCount {
  readonly count: number;
  readonly dropped: number;
}

/** domain/draws.ts */
export const DRAWS = table<string, DrawRecord>('draws');
/** Account number, id: draws that have not ended. */
export const OPEN_DRAWS = table<readonly [number, string], number>('openDraws');
/** By ordinal: leaves that wait to be logged. */
export const DRAW_LEAVES = table<number, DrawLeaf>('drawLeaves');

/** domain/sources.ts. Source, key. */
export const SOURCE_NOTES = table<readonly [string, string], string>('sourceNotes');
/** By key of the charge. */
export const CHARGES = table<string, SourceSpend>('charges');
/** Source, day: the sum of its charges and jobs. */
export const SPENDS = table<readonly [string, number], DaySpend>('spends');
export const JOBS = table<string, StoredJob>('jobs');
/** Source, ordinal: jobs that have not ended. */
export const OPEN_JOBS = table<readonly [string, number], string>('openJobs');

/** domain/lots.ts */
export const LOTS = table<string, LotRecord>('lots');
export const LOT_STATES = table<string, LotState>('lotStates');
/** Source, or nothing for those of all sources; ordinal below zero, so that the newest one is the first: id. */
export const LOT_ORDER = table<readonly [string, number], string>('lotOrder');
/** By ordinal: lots that are not released. */
export const PENDING_LOTS = table<number, string>('pendingLots');
/** By id of the lot. */
export const REVOCATIONS = table<string, LotRevocation>('revocations');

/** domain/blocks.ts: tables of the folder of one node. By ordinal: lots with blocks that nobody has claimed. */
export const HELD_LOTS = blockTable<number, HeldLot>('heldLots');
/** Blocks that nobody has claimed. */
export const BLOCKS = blockTable<BlockKey, StoredBlock>('blocks');

/** A head in MessagePack, its length before it (uint16, little-endian), and the sealed answer, which may be too large to copy twice. */
const answerCodec: Codec<StoredAnswer> = {
  encode: ({ accountNumber, keyDigest, fingerprint, expiresAtMs, sealed }) => {
    const head = pack([accountNumber, keyDigest, fingerprint, expiresAtMs]);
    return [Uint8Array.of(head.length & 0xff, head.length >> 8), head, sealed];
  },
  decode: (bytes) => {
    const end = 2 + bytes[0] + (bytes[1] << 8);
    const [accountNumber, keyDigest, fingerprint, expiresAtMs] = unpack(bytes.subarray(2, end));
    return {
      accountNumber,
      keyDigest,
      fingerprint,
      expiresAtMs,
      sealed: new Uint8Array(bytes.subarray(end)),
    };
  },
};

/** domain/books.ts. Runs by the sequence of their last segment: segments as `encodeSegment` wrote them, one behind the other. */
export const SEGMENTS = table<number, Uint8Array>('segments', bytesCodec);
/** When the last segment of a run was committed (Unix ms), its sequence: the number of the node that stored the run. */
export const SEGMENT_TIMES = table<readonly [number, number], number>('segmentTimes');
/** Runs that the transparency log has not sealed, and that the counters lack. */
export const UNSEALED = table<number, UnsealedRun>('unsealed');
/** The highest sequence that retention dropped is the one key: PostgreSQL compares it with those of a commit. */
export const DROPPED_SEGMENTS = table<number, 0>('droppedSegments');
/** By usageKey: day and account. */
export const USAGE = table<number, UsageCounters>('usage');
/** Month (`YYYYMM`), account number: the sum of its days. */
export const BALANCES = table<readonly [number, number], Charge>('balances');
/** domain/claims.ts. By digest of the key: who makes the answer to it. */
export const KEY_CLAIMS = table<string, KeyClaim>('keyClaims');
/** domain/limits.ts. Month, account number: what all nodes together were granted. */
export const ALLOWANCES = table<readonly [number, number], Charge>('allowances');
/** Node, epoch, month, account number: what that life of the node has of it, until it is settled. */
export const GRANTS = table<readonly [number, number, number, number], Grant>('grants');
/** Node, epoch, month, account number: what the sealed segments of that life of the node spent, until it is settled. */
export const SPENT = table<readonly [number, number, number, number], Charge>('spent');

/** domain/answers.ts. Account number, digest of the key. */
export const ANSWERS = table<readonly [number, string], StoredAnswer>('answers', answerCodec);
/** When it expires (Unix ms), account number, digest of the key: bytes of the sealed answer. */
export const ANSWER_EXPIRY = table<readonly [number, number, string], number>('answerExpiry');
/** Node, account number. */
export const RATES = table<readonly [number, number], RateRecord>('rates');
/** domain/log.ts */
export const LOG = table<string, Uint8Array>('log', bytesCodec);

/** See Writer (domain/books.ts). */
interface KeyClaim {
  readonly fingerprint: string;
  readonly node: number;
  readonly epoch: number;
}

interface Grant extends Charge {
  /** Of the newest call that changed it. */
  readonly order: number;
}

interface UnsealedRun {
  readonly segments: number;
  /** Certificates. */
  readonly count: number;
  /** Who stored it: see Writer (domain/books.ts). */
  readonly node: number;
  readonly epoch: number;
}

/** What changes of a lot after it was stored. */
export interface LotState {
  /** The number of the node that has its blocks. */
  readonly node: number;
  /** Null while it is pending (EntropyStore.addLot). */
  readonly releasedAtMs: number | null;
  readonly isWithdrawn: boolean;
}

/** Kind, ordinal. */
export type BlockKey = readonly [BlockKind, number];

/** A lot in the folder. */
export interface HeldLot extends Readonly<Record<BlockKind, HeldBlocks>> {
  /** The key of this record. */
  readonly ordinal: number;
  readonly lotId: string;
  /** Null while nothing of it may be claimed. */
  readonly releasedAtMs: number | null;
}

/** The blocks of one kind. */
interface HeldBlocks {
  readonly count: number;
  /** The ordinal of the first one. */
  readonly first: number;
  /** Blocks that nobody has claimed, and their bytes. */
  readonly left: number;
  readonly bytes: number;
}

interface StoredBlock {
  readonly lotId: string;
  /** See BlockKeys. */
  readonly sealed: Uint8Array;
}

/** What one source spent on one day. */
export interface DaySpend {
  /** Millionths of the currency. */
  readonly micros: number;
  readonly currency: string;
  readonly calls: number;
}

/** A job, its place in the order of all jobs, the lot that it gave, and the number of the node that goes on with it. */
export interface StoredJob {
  readonly job: JobRecord;
  readonly ordinal: number;
  readonly lotId: string | null;
  readonly node: number;
}

/** Adds to a number, and gives the sum. */
export function* increase(name: CountName, by: number): Body<number> {
  const sum = ((yield* tx.get(COUNTS, name)) ?? 0) + by;
  yield* tx.put(COUNTS, name, sum);
  return sum;
}

/** Lifts a number to at least `to`. */
export function* raise(name: CountName, to: number): Body<void> {
  if (to > ((yield* tx.get(COUNTS, name)) ?? 0)) yield* tx.put(COUNTS, name, to);
}
