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
 * The format of the tables' content, in a folder and in a database. A change that an older program would misread needs the
 * next number. A program refuses any other format.
 */
export const FORMAT = 4;

/** All tables of the books except COUNTS. */
export const BOOK_TABLES: SharedTable<Key, unknown>[] = [];
/** The tables of a node's blocks, which lie in the node's folder. */
export const BLOCK_TABLES: SharedTable<Key, unknown>[] = [];

/** Returns a table, which has this name in every store, and lists it in `tables`. */
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

/** Numbers that change in the same transaction as what they count, so that an audit notices missing records. */
export type CountName =
  /** Accounts created so far; also the highest account number. */
  | 'accounts'
  | 'keys'
  | 'directoryVersion'
  | 'draws'
  | 'drawLeaves'
  /** Jobs opened so far; also the highest ordinal of a job. */
  | 'jobs'
  | 'charges'
  | 'sourceNotes'
  | 'logRecords'
  /** Lots stored so far; also the highest ordinal of a lot. */
  | 'lots'
  | 'revocations'
  /** All sequences below this one are leased (Books.leaseSequences). */
  | 'leasedBefore'
  /** When the last probe was written (Books.probe). */
  | 'probedAtMs'
  /** The last generation number given to a seed of the tier. */
  | `seedGeneration/${SeededTier}`
  /** Lots whose blocks were stored in this folder so far; also the highest ordinal of such a lot. */
  | 'heldLots'
  /** Blocks of both kinds stored so far; also the highest ordinal of a block. */
  | 'blocks';
export const COUNTS: SharedTable<CountName, number> = { name: 'meta', codec: plainCodec<number>() };

/** domain/directory.ts. Key: account id. */
export const ACCOUNTS = table<string, AccountRecord>('accounts');
export const KEYS = table<string, KeyRecord>('keys');
/** Key: the version that the change led to. Holds the newest changes only. */
export const DIRECTORY_CHANGES = table<number, DirectoryChange>('directoryChanges');

/** The kind of the changed record, and its id. */
export type DirectoryChange = readonly ['account' | 'key' | 'lot', string];

/** domain/series.ts. Key: series, serial. */
export const SERIES = table<readonly [string, number], Omit<SeriesAnswer, 'serial'>>('series');
export const SERIES_COUNTS = table<string, SeriesCount>('seriesCounts');
/** Key: sequence of the segment, index in it. Value: the serial of the labelled answer. */
export const SERIALS = table<readonly [number, number], number>('serials');
/** Key: public purpose, series. */
export const PUBLIC_SERIES = table<readonly [string, string], number>('publicSeries');

/** How many answers a series has had, and how many of them retention dropped. */
export interface SeriesCount {
  readonly count: number;
  readonly dropped: number;
}

/** domain/draws.ts. Key: draw id. */
export const DRAWS = table<string, DrawRecord>('draws');
/** Draws that have not ended. Key: account number, draw id. */
export const OPEN_DRAWS = table<readonly [number, string], number>('openDraws');
/** Leaves that wait to be logged. Key: ordinal. */
export const DRAW_LEAVES = table<number, DrawLeaf>('drawLeaves');

/** domain/sources.ts. Key: source, key of the note. */
export const SOURCE_NOTES = table<readonly [string, string], string>('sourceNotes');
/** Key: key of the charge. */
export const CHARGES = table<string, SourceSpend>('charges');
/** Key: source, day. Value: the sum of the day's charges and jobs. */
export const SPENDS = table<readonly [string, number], DaySpend>('spends');
export const JOBS = table<string, StoredJob>('jobs');
/** Jobs that have not ended. Key: source, ordinal. Value: key of the job. */
export const OPEN_JOBS = table<readonly [string, number], string>('openJobs');

/** domain/lots.ts. Key: lot id. */
export const LOTS = table<string, LotRecord>('lots');
export const LOT_STATES = table<string, LotState>('lotStates');
/** Key: source, or '' for all sources; negative ordinal, so that the newest lot is first. Value: lot id. */
export const LOT_ORDER = table<readonly [string, number], string>('lotOrder');
/** Lots that are not released. Key: ordinal. Value: lot id. */
export const PENDING_LOTS = table<number, string>('pendingLots');
/** Key: lot id. */
export const REVOCATIONS = table<string, LotRevocation>('revocations');

/** domain/blocks.ts. Lots with unclaimed blocks in this folder. Key: ordinal. */
export const HELD_LOTS = blockTable<number, HeldLot>('heldLots');
/** Unclaimed blocks. */
export const BLOCKS = blockTable<BlockKey, StoredBlock>('blocks');

/**
 * Length of the head (uint16, little-endian), head in MessagePack, sealed answer. The answer is a piece of its own because it
 * may be large, and packing it would copy it once more.
 */
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

/** domain/books.ts. Key: sequence of a run's last segment. Value: the results of encodeSegment for the run, concatenated. */
export const SEGMENTS = table<number, Uint8Array>('segments', bytesCodec);
/** Key: commit time of a run's last segment (Unix ms), its sequence. Value: the number of the node that stored the run. */
export const SEGMENT_TIMES = table<readonly [number, number], number>('segmentTimes');
/** Runs that the transparency log has not sealed and the counters do not include. Key: as in SEGMENTS. */
export const UNSEALED = table<number, UnsealedRun>('unsealed');
/** Its one key is the highest sequence that retention dropped, so that PostgreSQL can compare it with those of a commit. */
export const DROPPED_SEGMENTS = table<number, 0>('droppedSegments');
/** Key: usageKey of day and account. */
export const USAGE = table<number, UsageCounters>('usage');
/** Key: month (`YYYYMM`), account number. Value: the sum of the month's USAGE. */
export const BALANCES = table<readonly [number, number], Charge>('balances');
/** domain/claims.ts. Key: digest of an Idempotency-Key. Value: which node makes its answer. */
export const KEY_CLAIMS = table<string, KeyClaim>('keyClaims');
/** domain/limits.ts. Key: month, account number. Value: what all nodes together were granted. */
export const ALLOWANCES = table<readonly [number, number], Charge>('allowances');
/** Key: node, epoch, month, account number. Value: what the node was granted in that epoch, until the epoch is settled. */
export const GRANTS = table<readonly [number, number, number, number], Grant>('grants');
/** Key: as in GRANTS. Value: what the node's sealed segments of that epoch spent, until the epoch is settled. */
export const SPENT = table<readonly [number, number, number, number], Charge>('spent');

/** domain/answers.ts. Key: account number, digest of the Idempotency-Key. */
export const ANSWERS = table<readonly [number, string], StoredAnswer>('answers', answerCodec);
/** Key: time of expiry (Unix ms), then the key in ANSWERS. Value: bytes of the sealed answer. */
export const ANSWER_EXPIRY = table<readonly [number, number, string], number>('answerExpiry');
/** Key: node, account number. */
export const RATES = table<readonly [number, number], RateRecord>('rates');
/** domain/log.ts. Key: LogRecord.key. */
export const LOG = table<string, Uint8Array>('log', bytesCodec);

/** A node and its epoch: see Writer (domain/books.ts). */
interface KeyClaim {
  readonly fingerprint: string;
  readonly node: number;
  readonly epoch: number;
}

interface Grant extends Charge {
  /** The order of the newest call that changed the grant (Limits.askLimits). */
  readonly order: number;
}

interface UnsealedRun {
  readonly segments: number;
  /** Count of certificates. */
  readonly count: number;
  /** The node that stored the run, and its epoch: see Writer (domain/books.ts). */
  readonly node: number;
  readonly epoch: number;
}

/** The part of a lot that changes after the lot was stored. */
export interface LotState {
  /** The number of the node that has its blocks. */
  readonly node: number;
  /** Null while it is pending (EntropyStore.addLot). */
  readonly releasedAtMs: number | null;
  readonly isWithdrawn: boolean;
}

/** The kind and the ordinal of a block. */
export type BlockKey = readonly [BlockKind, number];

/** A lot with unclaimed blocks in the folder. */
export interface HeldLot extends Readonly<Record<BlockKind, HeldBlocks>> {
  /** The key of this record. */
  readonly ordinal: number;
  readonly lotId: string;
  /** Null while none of its blocks may be claimed. */
  readonly releasedAtMs: number | null;
}

/** A lot's blocks of one kind. */
interface HeldBlocks {
  /** Count of stored blocks, claimed ones included. */
  readonly count: number;
  /** The ordinal of the first block. */
  readonly first: number;
  /** Count of unclaimed blocks, and their bytes. */
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

/** A job, its place in the order of all jobs, the lot that it gave, and the number of the node that continues it. */
export interface StoredJob {
  readonly job: JobRecord;
  readonly ordinal: number;
  readonly lotId: string | null;
  readonly node: number;
}

/** Adds to a number, and returns the sum. */
export function* increase(name: CountName, by: number): Body<number> {
  const sum = ((yield* tx.get(COUNTS, name)) ?? 0) + by;
  yield* tx.put(COUNTS, name, sum);
  return sum;
}

/** Sets a number to `to` if it is lower. */
export function* raise(name: CountName, to: number): Body<void> {
  if (to > ((yield* tx.get(COUNTS, name)) ?? 0)) yield* tx.put(COUNTS, name, to);
}
