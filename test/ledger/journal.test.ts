import assert from 'node:assert/strict';
import {
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { type Durability, FrontJournal, unpackRecord } from '../../src/ledger/front-journal.ts';
import {
  createJournal,
  fenceJournal,
  JournalBoard,
  type JournalPlace,
  JournalReader,
  readLeftover,
} from '../../src/ledger/journal.ts';
import { SEQUENCES_PER_LEASE } from '../../src/ledger/ledger.ts';
import { decodeSegment, encodeSegment } from '../../src/ledger/segment.ts';
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
const RING_BYTES = 32 * 1_024;
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

function opened(t: TestContext, durability: Durability = 'fsync', ringBytes = RING_BYTES): Opened {
  const path = join(temporaryFolder(t), 'journal-1-0');
  assert.ok(createJournal(path, ringBytes, 1));
  const board = JournalBoard.create(1);
  const place = { path, ringBytes, front: 0, shared: board.shared };
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

function sequencesIn(payloads: readonly Uint8Array<ArrayBuffer>[]): number[] {
  return payloads.map((payload) => decodeSegment(unpackRecord(payload).segment).sequence);
}

const leftIn = (path: string, from = 0) => sequencesIn(readLeftover(path, from).payloads);
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

suite('the journal of a front', () => {
  test('keeps segments and kept answers as they are, in a file of its full length that only its owner reads', async (t) => {
    const { place, journal } = opened(t);
    const kept = answer(1, 1, NOON_MS);
    await journal.commit(filledSegment(1, 3), [kept]);
    await journal.commit(filledSegment(2, 1), []);
    const { payloads, damage, isTorn } = readLeftover(place.path, 0);
    assert.deepEqual(
      Buffer.from(unpackRecord(payloads[0]).segment),
      Buffer.from(encodeSegment(filledSegment(1, 3))),
    );
    assert.deepEqual(unpackRecord(payloads[0]).answers, [kept]);
    assert.deepEqual(unpackRecord(payloads[1]).answers, []);
    assert.deepEqual({ damage, isTorn }, { damage: undefined, isTorn: false });
    assert.equal(statSync(place.path).size, HEADER_BYTES + RING_BYTES);
    assert.equal(statSync(place.path).mode & 0o777, 0o600);
  });

  for (const durability of ['fsync', 'commit'] as const) {
    test(`${durability}: runs through many laps of the ring, and is read as it was written`, async (t) => {
      const { place, board, commit, direct, store } = opened(t, durability);
      const reader = new JournalReader(place.path, RING_BYTES);
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

  test('writes through to the disk for fsync, and not for commit', {
    skip: process.platform === 'linux' ? false : 'looks into /proc',
  }, (t) => {
    for (const durability of ['fsync', 'commit'] as const) {
      const { place } = opened(t, durability);
      const descriptor = readdirSync('/proc/self/fd').find((fd) => pathOf(fd) === place.path);
      const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
      const flags = Number.parseInt(/^flags:\s*(\d+)/m.exec(info)?.[1] ?? '', 8);
      assert.equal((flags & constants.O_DSYNC) !== 0, durability === 'fsync');
    }
  });

  test('writes nothing over that the ledger has not stored: what has no room goes to the ledger', async (t) => {
    const { place, journal, commit, direct, store } = opened(t);
    let n = 0;
    while (direct.length === 0) await commit(++n);
    assert.ok(n > (RING_BYTES - RECORD_BYTES_MAX) / RECORD_BYTES_MAX && journal.isBehind);
    assert.deepEqual(direct, [n]);
    assert.deepEqual(leftIn(place.path), numbers(1, n - 1));
    store();
    assert.ok(!journal.isBehind);
    await commit(n + 1);
    assert.deepEqual(direct, [n]);
  });

  test('with no room on the disk for the file the ledger takes every segment', async (t) => {
    const { commit, direct } = opened(t, 'fsync', 0);
    await commit(1);
    assert.deepEqual(direct, [1]);
  });

  test('keeps no memory of the size of a kept answer that it leaves to the ledger', async (t) => {
    const { journal, direct } = opened(t);
    const sealed = new Uint8Array(32 * 2 ** 20);
    const before = process.memoryUsage().arrayBuffers;
    await journal.commit(filledSegment(1, 1), [{ ...answer(1, 1, NOON_MS), sealed }]);
    assert.deepEqual(direct, [1]);
    assert.ok(process.memoryUsage().arrayBuffers - before < sealed.length / 2);
  });

  test('gets its name only when it is whole: a start that ends before leaves no journal', (t) => {
    const path = join(temporaryFolder(t), 'journal-1-0');
    assert.throws(() => createJournal(path, -1, 1)); // after the header
    assert.ok(!existsSync(path));
    assert.ok(createJournal(path, RING_BYTES, 1));
    assert.ok(!existsSync(`${path}.draft`));
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  for (const durability of ['fsync', 'commit'] as const) {
    test(`${durability}: a disk that is full at an append stops the front, and nothing of it is acknowledged`, {
      skip: existsSync('/dev/full')
        ? false
        : 'the system has no /dev/full, which answers each write with ENOSPC',
    }, async (t) => {
      const board = JournalBoard.create(1);
      const place = { path: '/dev/full', ringBytes: RING_BYTES, front: 0, shared: board.shared };
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

  test('a ledger that stalls makes the front shed while there is room in the ring for what is under way', async (t) => {
    const { journal, commit, direct, board } = opened(t);
    let n = 0;
    while (!journal.isBehind) await commit(++n);
    assert.deepEqual(direct, [], 'nothing waits for the ledger before the front sheds');
    const left = RING_BYTES - board.written(0);
    assert.ok(left > RING_BYTES / 8, `${left} bytes are left for answers that were drawn before`);
    board.setStored(0, board.written(0));
    assert.ok(!journal.isBehind, 'it serves again as soon as the ledger goes on');
  });

  test('acknowledges nothing once another server reads it', async (t) => {
    const { place, commit, journal, board } = opened(t);
    await commit(1);
    fenceJournal(place.path);
    await assert.rejects(commit(2), { reason: 'stopped', message: /another server took the folder/ });
    assert.match((await journal.failed).message, /another server took the folder/);
    assert.deepEqual(sequencesIn(new JournalReader(place.path, RING_BYTES).readTo(board.written(0))), [1]);
  });

  test('a living reader refuses a record that is not as it was written', async (t) => {
    const { place, commit, board } = opened(t);
    for (const n of [1, 2, 3]) await commit(n);
    flip(place.path, HEADER_BYTES + RECORD_BYTES_MAX);
    const reader = new JournalReader(place.path, RING_BYTES);
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

/** Where each record of the file begins: those that follow each other. */
function startsOf(path: string): number[] {
  const content = readFileSync(path);
  const starts: number[] = [];
  for (let at = HEADER_BYTES; content.readUInt32LE(at) === 0x6a_6e_72_71; ) {
    starts.push(at);
    at += Math.ceil((40 + content.readUInt32LE(at + 32)) / 8) * 8;
  }
  return starts;
}

function flip(path: string, at: number, mask = 0x40): void {
  const content = readFileSync(path);
  content[at] ^= mask;
  writeFileSync(path, content);
}

suite('a journal that a power cut or a bad disk changed', () => {
  test('a last record torn at any byte was not acknowledged: nothing is damaged', async (t) => {
    const { place, commit } = opened(t);
    for (const n of [1, 2, 3]) await commit(n);
    const whole = readFileSync(place.path);
    const [, , last] = startsOf(place.path);
    const end = last + 40 + whole.readUInt32LE(last + 32);
    for (let torn = last; torn < end; torn++) {
      const copy = Buffer.from(whole);
      copy[torn] ^= 0x40;
      writeFileSync(place.path, copy);
      const { payloads, damage } = readLeftover(place.path, 0);
      assert.deepEqual(sequencesIn(payloads), [1, 2], `byte ${torn - last}`);
      assert.equal(damage, undefined);
    }
  });

  test('an acknowledged record that is damaged is told apart, and the records behind it are kept', async (t) => {
    const { place, commit } = opened(t);
    for (const n of [1, 2, 3, 4]) await commit(n);
    const [first, second, third] = startsOf(place.path);
    flip(place.path, second + 60);
    const { payloads, damage } = readLeftover(place.path, 0);
    assert.deepEqual(sequencesIn(payloads), [1, 3, 4]);
    assert.equal(damage, `${third - second} bytes of acknowledged records are damaged`);
    flip(place.path, first + 60);
    assert.equal(
      readLeftover(place.path, 0).damage,
      `${third - first} bytes of acknowledged records are damaged`,
    );
    // what the ledger has stored may be damaged
    const { damage: none, payloads: rest } = readLeftover(place.path, third - HEADER_BYTES);
    assert.deepEqual([none, sequencesIn(rest)], [undefined, [3, 4]]);
  });

  test('with durability commit nothing is known to be flushed: a hole is what a power cut leaves', async (t) => {
    const { place, commit } = opened(t, 'commit');
    for (const n of [1, 2, 3]) await commit(n);
    flip(place.path, startsOf(place.path)[1] + 60);
    const { payloads, damage } = readLeftover(place.path, 0);
    assert.deepEqual([sequencesIn(payloads), damage], [[1, 3], undefined]);
  });

  test('one flipped bit in the length that the header states loses no record and is reported', async (t) => {
    const { place, board, commit, store } = opened(t);
    let last = 0;
    while (board.written(0) < RING_BYTES + RECORD_BYTES_MAX) {
      await commit(++last);
      if (last === 40) store();
    }
    const from = board.stored(0);
    const expected = numbers(41, last);
    assert.deepEqual(leftIn(place.path, from), expected);
    for (let bit = 0; bit < 64; bit++) {
      const at = 8 + (bit >> 3);
      flip(place.path, at, 1 << (bit & 7));
      assert.deepEqual(leftIn(place.path, from), expected, `bit ${bit}`);
      assert.match(
        readLeftover(place.path, from).damage ?? '',
        /^(its header is damaged|the file is cut short)$/,
      );
      flip(place.path, at, 1 << (bit & 7));
    }
  });

  test('a header that is gone and a file that is cut short are damage; an empty file never had room', async (t) => {
    const { place, commit } = opened(t);
    for (const n of [1, 2]) await commit(n);
    const whole = readFileSync(place.path);
    writeFileSync(place.path, Buffer.from(whole).fill(0, 0, HEADER_BYTES));
    assert.deepEqual(leftIn(place.path), [1, 2], 'the records are read all the same');
    assert.equal(readLeftover(place.path, 0).damage, 'its header is damaged');
    writeFileSync(place.path, whole);
    truncateSync(place.path, startsOf(place.path)[1]);
    assert.deepEqual(leftIn(place.path), [1]);
    assert.equal(readLeftover(place.path, 0).damage, 'the file is cut short');
    truncateSync(place.path, 100);
    assert.equal(readLeftover(place.path, 0).damage, 'the file is cut short');
    writeFileSync(place.path, Buffer.alloc(whole.length));
    assert.equal(readLeftover(place.path, 0).damage, 'its header is damaged');
    writeFileSync(place.path, '');
    fenceJournal(place.path);
    const nothing = { owner: undefined, payloads: [], end: 5, damage: undefined, isTorn: false };
    assert.deepEqual(readLeftover(place.path, 5), nothing);
    assert.ok(existsSync(place.path));
  });
});
