import './machine.ts'; // first: it takes its place before anything of the service is loaded
import fs from 'node:fs';
import { basename } from 'node:path';
import zlib from 'node:zlib';
import { Reservation } from '../../../src/account/reservation.ts';
import type { Listener } from '../../../src/answer/answer.ts';
import { Answers } from '../../../src/answer/answers.ts';
import { Idempotency } from '../../../src/answer/idempotency.ts';
import { Plan } from '../../../src/answer/request.ts';
import { EntropySupply } from '../../../src/answer/supply.ts';
import { ApiError } from '../../../src/core/errors.ts';
import { FrontJournal } from '../../../src/ledger/front-journal.ts';
import { JournalBoard, JournalReader, journalOf } from '../../../src/ledger/journal.ts';
import type { Ledger, SequenceLease } from '../../../src/ledger/ledger.ts';
import type { BlockKind, ClaimedBlock } from '../../../src/ledger/records.ts';
import type { NodeFaults } from '../../support/memory-nodes.ts';
import { around, aroundBuiltin, forgettingRelease, replaced } from '../planting.ts';
import type { Likely } from './deeds.ts';
import type { Invariant } from './oracle/violation.ts';
import type { Life } from './wire.ts';

/** A bug that is planted into the service, to see that the simulation finds it. */
export interface Mutant {
  readonly name: string;
  /** The invariants that it breaks, any of which may be seen first. */
  readonly breaks: readonly Invariant[];
  /** The world in which it shows, and after how many steps at the latest; other worlds show it too. */
  readonly shows: ShowsIn;
  /** Changes the ledger for one life, before its connection. */
  ledger?(inner: Ledger, life: Life): Ledger;
  /** Changes the ledger as the service sees it. */
  ledgerFor?(ledger: Ledger): Ledger;
  /** Faults in what several nodes share; such a bug shows with two of them. */
  readonly faults?: NodeFaults;
  /** Changes code of the service; what it returns changes it back. */
  plant?(): () => void;
}

interface ShowsIn {
  readonly nodes?: number;
  readonly seed: number;
  readonly steps: number;
  /** Makes events likely that the bug needs. */
  readonly likely?: Likely;
}

const RESTARTS: Likely = { crash: 8, wait: 30, 'change the weather': 4 };
const POWER_FAILS: Likely = { crash: 12, burst: 20, request: 40, wait: 2 };
const SOURCES_FAIL: Likely = { 'change the weather': 15, 'pure request': 60, wait: 10 };
const KEYS_CHANGE: Likely = {
  'change keys': 20,
  'flawed request': 25,
  request: 10,
  'pure request': 5,
  crash: 6,
};
const NODES_FAIL: Likely = {
  burst: 30,
  'request again': 20,
  'cut a node off': 2,
  'pause a node': 1,
  'fence a node': 4,
};

/** The ledger with other methods in the place of some of its own. */
function changed(inner: Ledger, methods: Partial<Ledger>): Ledger {
  return new Proxy(inner, {
    get(target, name: keyof Ledger) {
      const own = methods[name] ?? target[name];
      return typeof own === 'function' ? own.bind(target) : own;
    },
  });
}

/** Size of the header of a journal's file (ledger/journal.ts). */
const JOURNAL_HEADER_BYTES = 4_096;

/** The files of journals are read as `change` has them. */
function readsJournals(change: (content: Buffer) => Buffer): () => void {
  const read = fs.readFileSync;
  return aroundBuiltin(fs, 'readFileSync', ((_own: unknown, _fs: unknown, path: string, ...options: []) => {
    const content = read(path, ...options) as unknown as Buffer;
    return journalOf(basename(String(path))) === undefined ? content : change(content);
  }) as never);
}

/** Plants a bug: blocks of one kind are claimed and kept. */
function keepsClaimed(kept: BlockKind): NonNullable<Mutant['ledger']> {
  const stored = new WeakMap<Ledger, ClaimedBlock[]>();
  const next = new Map<Life, number>();
  return (inner, life) =>
    changed(inner, {
      async claimBlocks(kind, max) {
        if (kind !== kept) return inner.claimBlocks(kind, max);
        const blocks = stored.get(inner) ?? [];
        stored.set(inner, blocks);
        const at = next.get(life) ?? 0;
        if (blocks.length < at + max) blocks.push(...structuredClone(await inner.claimBlocks(kind, max)));
        const claimed = blocks.slice(at, at + max);
        next.set(life, at + claimed.length); // this life does not give them twice; the next begins anew
        return structuredClone(claimed);
      },
    });
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'replies before the commit',
    breaks: ['durable before the reply'],
    shows: { seed: 2, steps: 10 },
    plant: () =>
      around(FrontJournal.prototype, 'commit', async (commit, _journal, segment, answers) => {
        commit(segment, answers).catch(() => {});
      }),
  },
  {
    name: 'a pure block is not deleted when it is claimed',
    breaks: ['pure bytes once'],
    shows: { seed: 4, steps: 40 },
    ledger: keepsClaimed('pure'),
  },
  {
    name: 'a seed is used again after a restart',
    breaks: ['seeds'],
    shows: { seed: 1, steps: 30 },
    ledger: keepsClaimed('seed'),
  },
  {
    name: 'generations are counted from one again after a restart',
    breaks: ['seeds'],
    shows: { seed: 1, steps: 30 },
    ledger: (inner) => {
      const counted = new Map<string, number>();
      return changed(inner, {
        async nextSeedGeneration(tier) {
          const number = (counted.get(tier) ?? 0) + 1;
          counted.set(tier, number);
          return number;
        },
      });
    },
  },
  {
    name: 'credits are not given back',
    breaks: ['refused changes nothing'],
    shows: { seed: 2, steps: 40 },
    plant: () => forgettingRelease((reservation) => (reservation.credits = 0)),
  },
  {
    name: 'the quota is not given back',
    breaks: ['refused changes nothing'],
    shows: { seed: 3, steps: 10 },
    plant: () => forgettingRelease((reservation) => (reservation.hasRequest = false)),
  },
  {
    name: 'what was used is forgotten at a restart',
    breaks: ['credits and quota', 'refused changes nothing'],
    shows: { seed: 1, steps: 60 },
    ledger: (inner) => changed(inner, { balances: async () => [] }),
  },
  {
    name: 'the limiter forgets at a restart',
    breaks: ['rate limit'],
    shows: { seed: 7, steps: 60 },
    ledger: (inner) => changed(inner, { loadRates: async () => [] }),
  },
  {
    name: 'the origin is that of the first lot alone',
    breaks: ['origin'],
    shows: { seed: 12, steps: 80, likely: SOURCES_FAIL },
    plant: () =>
      around(EntropySupply.prototype, 'pureFrom', (pureFrom, _supply, shares) => {
        const { origin } = pureFrom(shares.slice(0, 1));
        return { ...pureFrom(shares), origin };
      }),
  },
  {
    name: 'pure turns into csprng when there is none',
    breaks: ['mode'],
    shows: { seed: 2, steps: 10 },
    plant: () =>
      around(Answers.prototype, 'answer', (serve, _answers, ask, listener, account, held, plan, nowMs) => {
        const refused = (error: unknown) => {
          const isEmpty = error instanceof ApiError && error.code === 'entropy_unavailable';
          if (!isEmpty || ask.by.mode !== 'pure') return listener.refused(error);
          // the refusal released what the request held, and an answer needs a request of the month
          const { period, creditsRemaining } = held;
          const again = new Reservation(account.meter, true, period, true, creditsRemaining, false);
          serve(ask, listener, account, again, new Plan({ ...plan.request, mode: 'csprng' }), nowMs);
        };
        const other: Listener = {
          answered: (answer, atMs) => listener.answered(answer, atMs),
          replayed: (first) => listener.replayed(first),
          refused,
        };
        serve(ask, other, account, held, plan, nowMs);
      }),
  },
  {
    name: 'withdrawn lots go on',
    breaks: ['withdrawn lots'],
    shows: { seed: 2, steps: 60, likely: { 'withdraw a lot': 15 } },
    plant: () => replaced(EntropySupply.prototype, 'withdraw', () => {}),
  },
  {
    name: 'the first answer is not kept',
    breaks: ['idempotency'],
    shows: { seed: 13, steps: 60 },
    plant: () => around(FrontJournal.prototype, 'commit', (commit, _journal, segment) => commit(segment, [])),
  },
  {
    name: 'another request under a used Idempotency-Key gets the first answer',
    breaks: ['idempotency'],
    shows: { seed: 1, steps: 60, likely: { 'request again': 40 } },
    // the digest of account and key is made by the same function, and stays
    plant: () =>
      around(Idempotency, 'fingerprint', (own, _class, parts) =>
        parts.length === 2 ? own(parts) : 'the same',
      ),
  },
  {
    name: 'segments are numbered anew after a restart',
    breaks: ['durable before the reply', 'certificates', 'credits and quota', 'no fault of its own'],
    shows: { seed: 5, steps: 40, likely: RESTARTS },
    ledger: (inner) => changed(inner, { leaseSequences: async () => ({ from: 1, before: 2 ** 24 }) }),
  },
  {
    name: 'a job is asked for before its intention is on disk',
    breaks: ['jobs'],
    shows: { seed: 1, steps: 40, likely: RESTARTS },
    ledgerFor: (ledger) =>
      changed(ledger, {
        openJob: async (job, limits) => {
          ledger.openJob(job, limits).catch(() => {});
          return true;
        },
      }),
  },
  {
    name: 'open jobs are forgotten at a restart',
    breaks: ['jobs'],
    shows: { seed: 2, steps: 30 },
    ledger: (inner) => changed(inner, { openJobs: async () => [] }),
  },
  {
    name: 'a revoked key goes on',
    breaks: ['keys'],
    shows: { seed: 3, steps: 40, likely: KEYS_CHANGE },
    ledger: (inner) =>
      changed(inner, {
        follow: (reader) =>
          inner.follow({
            directoryChanged: (changes, readAtMs) =>
              reader.directoryChanged(
                { ...changes, keys: changes.keys.map((key) => ({ ...key, revokedAtMs: null })) },
                readAtMs,
              ),
          }),
      }),
  },
  {
    name: 'the log drops what was not logged before a restart',
    breaks: ['progress', 'log'],
    shows: { seed: 2, steps: 20 },
    ledger: (inner, life) =>
      changed(inner, {
        unsealed: async (certificates) => {
          const segments = await inner.unsealed(certificates);
          const own = firstSeen.get(life) ?? (await inner.leaseSequences()).from;
          firstSeen.set(life, own);
          return segments.filter(({ sequence }) => sequence >= own);
        },
      }),
  },
  {
    name: 'two fronts lease the same sequences',
    breaks: ['durable before the reply', 'certificates', 'credits and quota', 'no fault of its own'],
    shows: { seed: 1, steps: 40 },
    ledger: (inner, life) =>
      changed(inner, {
        leaseSequences: () => {
          const lease = leased.get(life) ?? inner.leaseSequences();
          leased.set(life, lease);
          return lease;
        },
      }),
  },
  {
    name: 'the journal is not written through to the disk',
    breaks: ['durable before the reply'],
    shows: { seed: 1, steps: 120, likely: POWER_FAILS },
    plant: () =>
      aroundBuiltin(fs, 'openSync', (open, _fs, path, flags, mode) =>
        open(path, typeof flags === 'number' ? flags & ~fs.constants.O_DSYNC : flags, mode),
      ),
  },
  {
    name: 'of two writes under way, both are acknowledged when one is on the disk',
    breaks: ['durable before the reply'],
    shows: { seed: 1, steps: 120, likely: { ...POWER_FAILS, crash: 25, request: 20 } },
    plant: () => {
      const underWay = new Set<() => void>();
      const write = fs.write as (...args: unknown[]) => void;
      const writes = (
        _own: unknown,
        _fs: unknown,
        ...[fd, bytes, from, length, at, done]: WriteArguments
      ) => {
        underWay.add(() => done(null, length));
        write(fd, bytes, from, length, at, (error: Error | null, count: number) => {
          done(error, count);
          for (const other of underWay) other();
          underWay.clear();
        });
      };
      return aroundBuiltin(fs, 'write', writes as never);
    },
  },
  {
    name: 'a start does not read what the last one left in its journals',
    breaks: ['durable before the reply'],
    shows: { seed: 1, steps: 120, likely: POWER_FAILS },
    plant: () => readsJournals((content) => content.fill(0, JOURNAL_HEADER_BYTES)),
  },
  {
    name: 'a record that was torn passes as whole',
    breaks: [
      'durable before the reply',
      'no fault of its own',
      'credits and quota',
      'refused changes nothing',
    ],
    shows: { seed: 17, steps: 120, likely: POWER_FAILS },
    plant: () => aroundBuiltin(zlib, 'crc32', () => 0),
  },
  {
    name: 'a start takes damage for the end of a journal',
    breaks: ['durable before the reply'],
    shows: { seed: 1, steps: 120, likely: POWER_FAILS },
    plant: () =>
      readsJournals((content) => {
        const at = content.subarray(0, JOURNAL_HEADER_BYTES).indexOf(', fsync\n');
        if (at > 0) content.write(', commit\n', at); // of which a power cut may take the end
        return content;
      }),
  },
  {
    name: 'a file is free before the ledger has stored what lies there',
    breaks: ['durable before the reply', 'progress', 'certificates', 'idempotency', 'no fault of its own'],
    shows: { seed: 1, steps: 120 },
    plant: () =>
      around(JournalBoard.prototype, 'setWritten', (setWritten, board, front, position) => {
        setWritten(front, position);
        board.setStored(front, position);
      }),
  },
  {
    name: 'the store that follows the journals leaves out the last record',
    breaks: ['durable before the reply', 'progress', 'certificates', 'refused changes nothing'],
    shows: { seed: 1, steps: 120 },
    plant: () =>
      around(JournalReader.prototype, 'readTo', (readTo, _reader, end) => readTo(end).slice(0, -1)),
  },
  {
    name: 'a node that was fenced goes on',
    breaks: ['credits and quota', 'idempotency', 'refused changes nothing'],
    shows: { nodes: 2, seed: 1, steps: 40, likely: NODES_FAIL },
    faults: { fencesNobody: true },
  },
  {
    name: 'two nodes step from one state of the log',
    breaks: ['log', 'certificates', 'no fault of its own'],
    shows: { nodes: 2, seed: 1, steps: 30, likely: NODES_FAIL },
    faults: { stepsFromAnywhere: true },
  },
  {
    name: 'what nodes are granted is not deducted',
    breaks: ['credits and quota'],
    shows: { nodes: 2, seed: 1, steps: 40, likely: NODES_FAIL },
    faults: { ignoresTotal: true },
  },
  {
    name: 'what a dead node did not use is lost',
    breaks: ['refused changes nothing'],
    shows: { nodes: 2, seed: 1, steps: 40, likely: NODES_FAIL },
    faults: { settlesNothing: true },
  },
];

type WriteDone = (error: Error | null, count: number) => void;
type WriteArguments = [
  fd: number,
  bytes: Uint8Array,
  from: number,
  length: number,
  at: number,
  done: WriteDone,
];

/** The one lease of each life. */
const leased = new WeakMap<Life, Promise<SequenceLease>>();

/** The first segment of each life. */
const firstSeen = new WeakMap<Life, number>();
