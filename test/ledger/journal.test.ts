import assert from 'node:assert/strict';
import fs, {
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { FrontJournal, unpackRecord } from '../../src/ledger/front-journal.ts';
import {
  createJournal,
  type Durability,
  fenceJournal,
  filesLeftIn,
  filesOf,
  JournalBoard,
  type JournalPlace,
  JournalReader,
  readJournal,
} from '../../src/ledger/journal.ts';
import { SEQUENCES_PER_LEASE } from '../../src/ledger/ledger.ts';
import { encodeSegment } from '../../src/ledger/segment.ts';
import { Sequences } from '../../src/ledger/sequences.ts';
import { temporaryFolder } from '../support/ledger-folder.ts';
import { answer, filledSegment, NOON_MS } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** The segments of these tests have numbers of their own. */
const SEQUENCES = new Sequences({ leaseSequences: () => assert.fail('no lease is due') }, new ManualClock(), {
  from: 1,
  before: SEQUENCES_PER_LEASE,
});
const HEADER_BYTES = 4_096;
const FILE_BYTES = 32 * 1_024;
const OWNER = { ledgerId: 7, start: 1, front: 0 };
/** Bytes of a record of a segment with one entry; the sequence in its head makes a difference of a few bytes. */
const RECORD_BYTES_MAX = 320;

interface Opened {
  readonly place: JournalPlace;
  readonly board: JournalBoard;
  readonly journal: FrontJournal;
  /** Segments that the journal had no room for. */
  readonly direct: number[];
  commit(sequence: number): Promise<void>;
  /** The ledger has stored all that is written. */
  store(): void;
}

function opened(t: TestContext, durability: Durability = 'fsync', fileBytes = FILE_BYTES): Opened {
  const path = join(temporaryFolder(t), 'journal-1-0');
  assert.ok(createJournal(path, { ...OWNER, durability, fileBytes: FILE_BYTES }));
  const board = JournalBoard.create(1);
  const place = { path, fileBytes, front: 0, shared: board.shared };
  const direct: number[] = [];
  const ledger = {
    commit: async ([segment]: readonly { sequence: number }[]) => void direct.push(segment.sequence),
  };
  const journal = new FrontJournal({ place, durability, ledger, sequences: SEQUENCES });
  t.after(() => journal.close());
  return {
    place,
    board,
    journal,
    direct,
    commit: (sequence) => journal.commit(filledSegment(sequence, 1), []),
    store: () => board.setStored(0, board.written(0)),
  };
}

/** Makes each flush wait until the test ends it. */
function heldFlushes(t: TestContext) {
  const flushes: { fd: number; done: (error: Error | null) => void }[] = [];
  let flushed = () => {};
  t.mock.method(fs, 'fdatasync', (fd: number, done: (error: Error | null) => void) => {
    flushes.push({ fd, done });
    flushed();
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return { flushes, nextFlush: () => new Promise<void>((resolve) => (flushed = resolve)) };
}

/** Makes each write through to the disk wait until the test completes it, in any order, or fails it. */
function heldWrites(t: TestContext) {
  const { write } = fs;
  const writes: ((error?: Error) => Promise<void>)[] = [];
  t.mock.method(fs, 'write', (...args: unknown[]) => {
    const done = args.pop() as (...result: unknown[]) => void;
    writes.push((error) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const told = (...result: unknown[]) => {
        done(...result);
        setImmediate(resolve); // behind all that follows from it
      };
      if (error === undefined) Reflect.apply(write, fs, [...args, told]);
      else told(error);
      return promise;
    });
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return writes;
}

function sequencesIn(payloads: readonly Uint8Array<ArrayBuffer>[]): number[] {
  return payloads.map((payload) => unpackRecord(payload).segment.segment.sequence);
}

const readLeft = (path: string, from = 0) =>
  readJournal(filesLeftIn(path, OWNER), from).map(({ payload }) => payload);
const leftIn = (path: string, from = 0) => sequencesIn(readLeft(path, from));
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

suite('the journal of a front', () => {
  test('segments and stored answers are kept unchanged, in files of full length that only their owner reads', async (t) => {
    const { place, journal } = opened(t);
    const kept = answer(1, 1, NOON_MS);
    await journal.commit(filledSegment(1, 3), [kept]);
    await journal.commit(filledSegment(2, 1), []);
    const payloads = readLeft(place.path);
    assert.deepEqual(
      Buffer.from(unpackRecord(payloads[0]).segment.bytes),
      Buffer.from(encodeSegment(filledSegment(1, 3))),
    );
    assert.deepEqual(unpackRecord(payloads[0]).answers, [kept]);
    assert.deepEqual(unpackRecord(payloads[1]).answers, []);
    for (const file of filesOf(place.path)) {
      assert.equal(statSync(file).size, HEADER_BYTES + FILE_BYTES);
      assert.equal(statSync(file).mode & 0o777, 0o600);
    }
  });

  for (const durability of ['fsync', 'commit'] as const) {
    test(`${durability}: both files are filled many times, and read as they were written`, async (t) => {
      const { place, board, commit, direct, store } = opened(t, durability);
      const reader = new JournalReader(place);
      const read: number[] = [];
      for (let n = 1; n <= 600; n++) {
        await commit(n);
        if (n % 37 !== 0) continue;
        const storedTo = reader.position;
        assert.deepEqual(
          leftIn(place.path, storedTo),
          numbers(read.length + 1, n),
          'what a dead process would leave',
        );
        read.push(...sequencesIn(reader.readTo(board.written(0))));
        store();
      }
      read.push(...sequencesIn(reader.readTo(board.written(0))));
      reader.close();
      assert.deepEqual(read, numbers(1, 600));
      assert.deepEqual(direct, []);
    });
  }

  test('records are written through to the disk for fsync, and not for commit', {
    skip: process.platform === 'linux' ? false : 'looks into /proc',
  }, (t) => {
    for (const durability of ['fsync', 'commit'] as const) {
      const { place } = opened(t, durability);
      const descriptor = readdirSync('/proc/self/fd').find((fd) => pathOf(fd) === filesOf(place.path)[0]);
      const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
      const flags = Number.parseInt(/^flags:\s*(\d+)/m.exec(info)?.[1] ?? '', 8);
      assert.equal((flags & constants.O_DSYNC) !== 0, durability === 'fsync');
    }
  });

  test('fsync: two records are written at a time, and acknowledged in order, whichever is on the disk first', async (t) => {
    const writes = heldWrites(t);
    const { place, board, commit } = opened(t);
    const acknowledged: number[] = [];
    const commits = [1, 2, 3].map((n) => commit(n).then(() => acknowledged.push(n)));
    const [first, second, third] = writes;
    await second();
    assert.deepEqual([acknowledged, board.written(0)], [[], 0]);
    assert.deepEqual(leftIn(place.path), [], 'after a kill now: the second was never acknowledged');
    await first();
    assert.deepEqual(acknowledged, [1, 2]);
    assert.deepEqual(leftIn(place.path), [1, 2]);
    await third();
    await Promise.all(commits);
    assert.deepEqual(leftIn(place.path), [1, 2, 3]);
  });

  test('fsync: a hole before a record that was written at the same time is the end, and damage if a later record follows', async (t) => {
    const writes = heldWrites(t);
    const { place, commit } = opened(t);
    const [file] = filesOf(place.path);
    const both = [commit(1), commit(2)];
    for (const write of writes.splice(0).reverse()) await write();
    await Promise.all(both);
    const [first] = startsOf(file);
    flip(file, first + 60);
    assert.deepEqual(leftIn(place.path), [], 'neither is known to be acknowledged');
    flip(file, first + 60);
    const last = commit(3);
    await writes[0]();
    await last;
    assert.deepEqual(leftIn(place.path), [1, 2, 3]);
    flip(file, first + 60);
    assert.throws(() => readLeft(place.path), {
      reason: 'unusable',
      message: /is damaged at byte/,
    });
  });

  test('fsync: a failed write has no later record acknowledged', async (t) => {
    const writes = heldWrites(t);
    const { place, board, commit } = opened(t);
    const both = Promise.allSettled([commit(1), commit(2)]);
    await writes[1]();
    await writes[0](new Error('EIO: i/o error'));
    for (const each of await both) assert.equal(each.status, 'rejected');
    assert.deepEqual([board.written(0), leftIn(place.path)], [0, []]);
  });

  test('commit: acknowledged records are flushed soon, and a failed flush stops the front', async (t) => {
    const { flushes, nextFlush } = heldFlushes(t);
    const { journal, commit } = opened(t, 'commit');
    const first = nextFlush();
    await commit(1);
    await first;
    await commit(2); // the flush under way may not have all of it
    const second = nextFlush();
    flushes[0].done(null);
    await second;
    flushes[1].done(new Error('EIO: i/o error'));
    assert.match((await journal.failed).message, /its journal cannot be written \(EIO/);
    await assert.rejects(commit(3), { reason: 'stopped' });
  });

  test('commit: a file that was filled while a flush ran is flushed too, and not only the ones before and after it', async (t) => {
    const { flushes, nextFlush } = heldFlushes(t);
    const { commit, board, store } = opened(t, 'commit');
    const first = nextFlush();
    await commit(1);
    await first;
    for (let n = 2; board.written(0) < 2 * FILE_BYTES + RECORD_BYTES_MAX; n++) {
      await commit(n);
      store();
    }
    const second = nextFlush();
    flushes[0].done(null);
    await second;
    const fds = new Set(flushes.slice(1).map(({ fd }) => fd));
    for (const { done } of flushes.slice(1)) done(null);
    assert.equal(fds.size, 2);
  });

  test('records that the ledger has not stored are never overwritten: segments without room go to the ledger', async (t) => {
    const { place, journal, commit, direct, store } = opened(t);
    let n = 0;
    while (direct.length === 0) await commit(++n);
    assert.ok(n > (2 * FILE_BYTES - 3 * RECORD_BYTES_MAX) / RECORD_BYTES_MAX && journal.isBehind);
    assert.deepEqual(direct, [n]);
    assert.deepEqual(leftIn(place.path), numbers(1, n - 1));
    store();
    assert.ok(!journal.isBehind);
    await commit(n + 1);
    assert.deepEqual(direct, [n]);
  });

  test('without room on the disk for its file, the ledger takes every segment', async (t) => {
    const { commit, direct } = opened(t, 'fsync', 0);
    await commit(1);
    assert.deepEqual(direct, [1]);
  });

  test('once journals are closed the ledger takes every segment, even one that is being written', async (t) => {
    const { board, commit, direct } = opened(t);
    const written = commit(1);
    board.closeJournals();
    await written;
    await commit(2);
    assert.deepEqual([direct, board.written(0)], [[1, 2], 0]);
  });

  test('the ledger is woken once a quarter of a file waits for it', async (t) => {
    const { board, commit } = opened(t);
    const beganMs = performance.now();
    const hurried = board.awaitWork(30_000);
    for (let n = 1; board.written(0) <= FILE_BYTES / 4; n++) await commit(n);
    await hurried;
    assert.ok(performance.now() - beganMs < 30_000);
  });

  test('a stored answer that is left to the ledger takes no memory of its size', async (t) => {
    const { journal, direct } = opened(t);
    const sealed = new Uint8Array(32 * 2 ** 20);
    const before = process.memoryUsage().arrayBuffers;
    await journal.commit(filledSegment(1, 1), [{ ...answer(1, 1, NOON_MS), sealed }]);
    assert.deepEqual(direct, [1]);
    assert.ok(process.memoryUsage().arrayBuffers - before < sealed.length / 2);
  });

  for (const durability of ['fsync', 'commit'] as const) {
    test(`${durability}: a disk that is full at an append stops the front, and nothing of the append is acknowledged`, {
      skip: existsSync('/dev/full')
        ? false
        : 'the system has no /dev/full, which answers each write with ENOSPC',
    }, async (t) => {
      const board = JournalBoard.create(1);
      const path = join(temporaryFolder(t), 'journal-1-0');
      for (const file of filesOf(path)) symlinkSync('/dev/full', file);
      const place = { path, fileBytes: FILE_BYTES, front: 0, shared: board.shared };
      const ledger = { commit: () => assert.fail('nothing goes round the journal') };
      const journal = new FrontJournal({ place, durability, ledger, sequences: SEQUENCES });
      t.after(() => journal.close());
      const refused = { reason: 'stopped', message: /its journal cannot be written \(ENOSPC/ };
      const [first, second] = [1, 2].map((n) => journal.commit(filledSegment(n, 1), []));
      await assert.rejects(first, refused);
      await assert.rejects(second, refused);
      assert.match((await journal.failed).message, /ENOSPC/);
      assert.equal(board.written(0), 0);
    });
  }

  test('a stalled ledger makes the front shed while its files still have room for answers under way', async (t) => {
    const { journal, commit, direct, board } = opened(t);
    let n = 0;
    while (!journal.isBehind) await commit(++n);
    assert.deepEqual(direct, [], 'nothing waits for the ledger before the front sheds');
    const left = FILE_BYTES - board.written(0);
    assert.ok(left > FILE_BYTES / 8, `${left} bytes are left for answers that were drawn before`);
    board.setStored(0, board.written(0));
    assert.ok(!journal.isBehind, 'it serves again as soon as the ledger goes on');
  });

  test('nothing is acknowledged once another server reads the journal', async (t) => {
    const { place, commit, journal, board } = opened(t);
    await commit(1);
    fenceJournal(place.path);
    await assert.rejects(commit(2), {
      reason: 'stopped',
      message: /another process has taken over the folder of the ledger/,
    });
    assert.match((await journal.failed).message, /another process has taken over the folder of the ledger/);
    assert.deepEqual(sequencesIn(new JournalReader(place).readTo(board.written(0))), [1]);
  });

  test('a delayed wake-up of the ledger by one front does not undo an immediate one by another', (t) => {
    const board = JournalBoard.create(2);
    const { load } = Atomics;
    let looks = 0;
    t.mock.method(Atomics, 'load', (...args: Parameters<typeof load>) => {
      const value = load(...args);
      if (looks++ === 0) board.wake(true); // between the look of the first and what it does then
      return value;
    });
    board.wake(false);
    t.mock.restoreAll();
    const atOnce = JournalBoard.create(1);
    atOnce.wake(true);
    const stateOf = ({ shared }: JournalBoard) => new Int32Array(shared)[0];
    assert.equal(stateOf(board), stateOf(atOnce));
  });

  test('a running reader refuses a record that was changed', async (t) => {
    const { place, commit, board } = opened(t);
    for (const n of [1, 2, 3]) await commit(n);
    flip(filesOf(place.path)[0], HEADER_BYTES + RECORD_BYTES_MAX);
    const reader = new JournalReader(place);
    assert.throws(() => reader.readTo(board.written(0)), { reason: 'damaged' });
    reader.close();
  });
});

function pathOf(fd: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined; // the descriptor that listed the folder
  }
}

/** Returns where each record of the file begins, as long as they follow each other. */
function startsOf(path: string): number[] {
  const content = readFileSync(path);
  const starts: number[] = [];
  for (let at = HEADER_BYTES; content.readUInt32LE(at) === 0x6a_6e_72_71; ) {
    starts.push(at);
    at += Math.ceil((32 + content.readUInt32LE(at + 24)) / 8) * 8;
  }
  return starts;
}

function flip(path: string, at: number, mask = 0x40): void {
  const content = readFileSync(path);
  content[at] ^= mask;
  writeFileSync(path, content);
}

suite('a journal that a power cut or a bad disk changed', () => {
  /** A journal with so many records in its first file, and where that file and its records are. */
  async function filled(t: TestContext, records: number, durability: Durability = 'fsync') {
    const { place, commit } = opened(t, durability);
    for (const n of numbers(1, records)) await commit(n);
    const [file, other] = filesOf(place.path);
    return { path: place.path, file, other, starts: startsOf(file) };
  }

  test('a last record torn at any byte was not acknowledged, so nothing counts as damaged', async (t) => {
    const { path, file, starts } = await filled(t, 3);
    const whole = readFileSync(file);
    const [, , last] = starts;
    const end = last + 32 + whole.readUInt32LE(last + 24);
    for (let torn = last; torn < end; torn++) {
      const copy = Buffer.from(whole);
      copy[torn] ^= 0x40;
      writeFileSync(file, copy);
      assert.deepEqual(leftIn(path), [1, 2], `byte ${torn - last}`);
    }
  });

  test('with durability commit nothing is known to be flushed, so a hole is what a power cut leaves', async (t) => {
    const { path, file, starts } = await filled(t, 3, 'commit');
    flip(file, starts[1] + 60);
    assert.deepEqual(leftIn(path), [1]);
  });

  test('with durability commit a position from an earlier use of the files is refused', async (t) => {
    const { place, commit, board, store } = opened(t, 'commit');
    let last = 0;
    /** Fills the journal and returns the end of the last record that begins before a position. */
    const fillTo = async (position: number) => {
      for (; board.written(0) < position; store()) await commit(++last);
      return board.written(0);
    };
    const early = await fillTo(FILE_BYTES / 2);
    const second = await fillTo(FILE_BYTES + FILE_BYTES / 2);
    await fillTo(2 * FILE_BYTES + RECORD_BYTES_MAX);
    assert.equal(
      leftIn(place.path, second).at(-1),
      last,
      'the first file is filled anew behind what is stored',
    );
    assert.throws(() => readLeft(place.path, early), {
      reason: 'unusable',
      message: /journal-1-0-[ab] is of another state of the ledger than the data file, and acknowledged/,
    });
    await fillTo(4 * FILE_BYTES);
    assert.throws(() => readLeft(place.path, early), { reason: 'unusable' });
  });
});
