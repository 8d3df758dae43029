import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { suite, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { LmdbLedger } from '../../src/ledger/lmdb/lmdb-ledger.ts';
import { closeSound, openTestLedger, temporaryFolder } from '../support/ledger-folder.ts';
import {
  account,
  block,
  childSegment,
  filledSegment,
  job,
  key,
  lot,
  lotId,
  NO_LIMITS,
  NOON_MS,
  spend,
  submitted,
} from '../support/ledger-records.ts';
import { addReleased } from '../support/released-lots.ts';
import { STRIPPED } from '../support/server.ts';
import { SmallDisk } from '../support/small-disk.ts';

/** Bad states, each in a process of its own that may die of it. */

const CHILD = fileURLToPath(new URL('./ledger-child.ts', import.meta.url));
const ENTRIES = 20;

/** The child's messages by their first word. */
interface Said {
  readonly child: ChildProcess;
  readonly lines: Map<string, string[]>;
  /** The first words, in order. */
  readonly order: string[];
  /** Resolves when the child has said the word this many times. */
  heard(word: string, times: number): Promise<void>;
  ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** A child that hangs is killed, which counts as the end of its process. */
const CHILD_DEADLINE_MS = 60_000;

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Said {
  const child = spawn(process.execPath, [...STRIPPED, CHILD, ...args], {
    // LMDB and V8 print messages of dying processes to stderr.
    stdio: ['ignore', 'pipe', args[0] === 'read' ? 'ignore' : 'inherit'],
    env: { ...process.env, ...env },
    timeout: CHILD_DEADLINE_MS,
    killSignal: 'SIGKILL',
  });
  const lines = new Map<string, string[]>();
  const order: string[] = [];
  const waiting: { word: string; times: number; resolve: () => void }[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [word] = line.split(' ', 1);
    const said = lines.get(word) ?? [];
    lines.set(word, said);
    order.push(word);
    said.push(line.slice(word.length + 1));
    for (const each of waiting) if (each.word === word && said.length >= each.times) each.resolve();
  });
  const closed = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  const heard = async (word: string, times: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push({ word, times, resolve });
    if ((lines.get(word)?.length ?? 0) >= times) resolve();
    const first = await Promise.race([promise.then(() => 'heard'), closed.then(() => 'closed')]);
    assert.equal(first, 'heard', `the child ended before it said ${word} ${times} times`);
  };
  return { child, lines, order, heard, ended: () => closed };
}

function wordsOf(said: Said, word: string): string[] {
  return said.lines.get(word) ?? [];
}

/** Opens the folder as the next start would, and checks it against everything that was ever acknowledged. */
async function assertNothingLost(path: string, acknowledged: ReadonlySet<number>, lots: ReadonlySet<string>) {
  const ledger = await openTestLedger(path);
  const report = await ledger.audit();
  assert.deepEqual(report.problems, []);
  for (const sequence of acknowledged) {
    assert.deepEqual(await ledger.segment(sequence), childSegment(sequence, ENTRIES), `segment ${sequence}`);
  }
  const { from } = await ledger.leaseSequences();
  assert.ok(from > Math.max(0, ...acknowledged), 'no sequence is given again');
  const [account] = await ledger.balances(202611);
  assert.equal(account?.requests ?? 0, report.certificates, 'each certificate is counted once');
  for (const id of lots) assert.notEqual(await ledger.lot(id), undefined, `lot ${id}`);
  await ledger.close();
}

const FILE_HEADER_BYTES = 4_096;
/** The first file of a journal, of the first front of the first start. */
const JOURNAL = 'journal-1-0-a';
/** MDB_page of lmdb 3.5 (mdb.c). */
const PAGE_BYTES = 4_096;

const COMPILER = process.env['CC'] ?? 'gcc';

function succeeds(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Builds the library that makes fdatasync fail while a flag file exists; undefined when there is no compiler. */
function buildFaultyDisk(folder: string): string | undefined {
  const library = join(folder, 'faulty-disk.so');
  const source = fileURLToPath(new URL('../support/faulty-disk.c', import.meta.url));
  return succeeds(COMPILER, ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl']) ? library : undefined;
}

const hasCompiler = process.platform === 'linux' && succeeds(COMPILER, ['--version']);

suite('writing through to the disk fails (EIO)', {
  skip: hasCompiler ? false : 'needs Linux and gcc; group-commit.test.ts injects it',
}, () => {
  for (const durability of ['fsync', 'commit'] as const) {
    test(`${durability}: the ledger stops, and the next start has everything that was acknowledged`, async (t) => {
      const folder = temporaryFolder(t);
      const library = buildFaultyDisk(folder);
      assert.ok(library !== undefined);
      const flag = join(folder, 'fail');
      const path = join(folder, 'ledger');
      const said = start(['write', path, durability, '0'], { LD_PRELOAD: library, FAULTY_DISK_FLAG: flag });
      await said.heard('ack', 40);
      writeFileSync(flag, '');
      assert.equal((await said.ended()).code, 3);
      // Any of three may meet the fault first: LMDB's own flush, that of the block keys after a claim, or the
      // journal.
      assert.match(
        wordsOf(said, 'failed')[0],
        /the ledger stopped: (a commit failed \((Input\/output error|EIO: i\/o error, fdatasync)\)|its journal cannot be written \(EIO: i\/o error, (write|fdatasync)\))/,
      );
      assert.deepEqual(new Set(wordsOf(said, 'rejected')), new Set(['stopped']));
      const acknowledged = new Set(wordsOf(said, 'ack').map(Number));
      // Once LMDB could not write its meta page, it refuses every read of this process too.
      const unreadable = wordsOf(said, 'unreadable');
      if (unreadable.length > 0) assert.match(unreadable[0], /MDB_PANIC/);
      else {
        const visible = new Set(wordsOf(said, 'visible').map(Number));
        assert.deepEqual(visible, acknowledged, 'only what was acknowledged is visible');
      }
      await assertNothingLost(path, acknowledged, new Set(wordsOf(said, 'lot')));
    });
  }
});

/** A disk that is unmounted with the test; undefined when this process may not mount one. */
function mountSmallDisk(t: TestContext, sizeMebibytes: number): SmallDisk | undefined {
  const disk = SmallDisk.mount(sizeMebibytes);
  if (disk !== undefined) t.after(() => disk.unmount());
  return disk;
}

suite('the disk is full', () => {
  test('below the floor commits are refused, reads continue, and freed space is used again', async (t) => {
    const disk = mountSmallDisk(t, 12);
    if (disk === undefined) return t.skip('needs the right to mount; group-commit.test.ts injects it');
    const path = join(disk.folder, 'ledger');
    disk.fillTo(6 * 2 ** 20);
    const said = start(['write', path, 'fsync', String(3 * 2 ** 20)]);
    assert.equal((await said.ended()).code, 3);
    assert.deepEqual(new Set(wordsOf(said, 'rejected')), new Set(['storage_unavailable']));
    assert.deepEqual(wordsOf(said, 'failed'), [], 'the ledger has not stopped');
    const acknowledged = new Set(wordsOf(said, 'ack').map(Number));
    assert.deepEqual(new Set(wordsOf(said, 'visible').map(Number)), acknowledged);
    disk.free();
    await assertNothingLost(path, acknowledged, new Set(wordsOf(said, 'lot')));
  });

  for (const durability of ['fsync', 'commit'] as const) {
    test(`${durability}: without a floor the ledger stops, and nothing acknowledged is lost`, async (t) => {
      const disk = mountSmallDisk(t, 8);
      if (disk === undefined) return t.skip('needs the right to mount; group-commit.test.ts injects it');
      const path = join(disk.folder, 'ledger');
      disk.fillTo(6 * 2 ** 20);
      const said = start(['write', path, durability, '0']);
      assert.equal((await said.ended()).code, 3);
      assert.ok(wordsOf(said, 'rejected').length > 0);
      const acknowledged = new Set(wordsOf(said, 'ack').map(Number));
      assert.ok(acknowledged.size > 0);
      disk.free();
      await assertNothingLost(path, acknowledged, new Set(wordsOf(said, 'lot')));
    });
  }
});

/** A sound ledger with something in every table, closed, and the digest of all that it says. */
async function soundLedger(t: TestContext): Promise<{ file: string; digest: string }> {
  const path = temporaryFolder(t);
  const copy = join(temporaryFolder(t), 'copy');
  const ledger: LmdbLedger = await openTestLedger(path);
  for (let n = 1; n <= 30; n++) {
    const { id } = await ledger.createAccount(account(n));
    await ledger.putKey(key(n, id));
    await ledger.openJob(job(n), NO_LIMITS);
    await ledger.putJob(submitted(n));
    const blocks = [block('pure', n, 1_024), block('pure', n, 1_024), block('seed', n)];
    await addReleased(ledger, lot(n), blocks, job(n).key);
    await ledger.charge(`charge ${n}`, spend(0.5), NO_LIMITS);
    await ledger.putSourceNote('anu', `note ${n}`, 'x'.repeat(n));
    await ledger.commit([filledSegment(n, 30)], []);
  }
  await ledger.claimBlocks('pure', 20);
  await ledger.revokeLot({ lotId: lotId(9), why: 'x', atMs: NOON_MS });
  await ledger.saveRates([{ accountNumber: 1, tatMs: 1, admittedAtMs: [NOON_MS] }]);
  await ledger.putLog([{ key: 'head', value: new Uint8Array(3_000).fill(1) }]);
  await ledger.backup(copy);
  await ledger.close();
  const said = start(['read', copy]);
  assert.deepEqual(await said.ended(), { code: 0, signal: null });
  const [digest] = wordsOf(said, 'digest');
  assert.ok(digest !== undefined, 'the copy is sound');
  return { file: join(copy, 'data.mdb'), digest };
}

/** Reads damaged folders in children, the next one in a new child where one died. */
async function readAll(folders: readonly string[]): Promise<('reported' | 'died' | { digest: string })[]> {
  const outcomes: ('reported' | 'died' | { digest: string })[] = [];
  while (outcomes.length < folders.length) {
    const said = start(['read', ...folders.slice(outcomes.length)]);
    await said.ended();
    const digests = [...wordsOf(said, 'digest')];
    for (const word of said.order) {
      if (word === 'reported') outcomes.push('reported');
      else if (word === 'digest') outcomes.push({ digest: digests.shift() ?? '' });
    }
    if (wordsOf(said, 'end').length === 0) outcomes.push('died');
  }
  return outcomes;
}

/** The flags of an MDB_page, and the one of a branch page. */
const PAGE_FLAGS_AT = 18;
const BRANCH = 1;

suite('damaged pages', () => {
  test('flipped bytes in any page are reported or end the process, and are never served', async (t) => {
    const { file, digest } = await soundLedger(t);
    const content = readFileSync(file);
    const pages = content.length / 4_096;
    const folder = temporaryFolder(t);
    const damaged = Array.from({ length: pages }, (_, page) => {
      const path = join(folder, String(page));
      mkdirSync(path);
      const copy = Buffer.from(content);
      // A run of bytes somewhere in the page, another place in each.
      const at = page * 4_096 + ((page * 1_103) % 4_000);
      for (let i = 0; i < 64; i++) copy[at + i] ^= 0xa5;
      writeFileSync(join(path, 'data.mdb'), copy);
      return path;
    });
    const outcomes = await readAll(damaged);
    const noticed = outcomes.filter((outcome) => typeof outcome === 'string').length;
    for (const [page, outcome] of outcomes.entries()) {
      if (typeof outcome === 'string') continue;
      assert.equal(outcome.digest, digest, `page ${page} says something else and passes for sound`);
    }
    assert.ok(noticed > pages / 4, `${noticed} of ${pages} damaged pages were noticed`);
  });

  test('a changed separator in a branch page is reported: look-ups miss records that a walk finds', async (t) => {
    const path = temporaryFolder(t);
    const ledger = await openTestLedger(path);
    const tiles = Array.from({ length: 200 }, (_, i) => ({ key: `tile/${i}`, value: new Uint8Array(300) }));
    await ledger.putLog(tiles);
    await ledger.close();
    const content = readFileSync(join(path, 'data.mdb'));
    const found: { readonly missed: number; readonly problems: readonly string[] }[] = [];
    for (let page = 0; page < content.length; page += PAGE_BYTES) {
      if ((content.readUInt16LE(page + PAGE_FLAGS_AT) & BRANCH) === 0) continue;
      const at = content.subarray(page, page + PAGE_BYTES).indexOf('tile/');
      if (at < 0) continue;
      const copy = Buffer.from(content);
      copy[page + at + 'tile/'.length] = 0x7a; // z: above every key
      const folder = temporaryFolder(t);
      writeFileSync(join(folder, 'data.mdb'), copy);
      const damaged = await openTestLedger(folder, { role: 'reader' });
      let missed = 0;
      for (const { key } of tiles) if ((await damaged.getLog(key)) === undefined) missed++;
      found.push({ missed, problems: (await damaged.audit()).problems });
      await damaged.close();
    }
    assert.ok(
      found.some(({ missed }) => missed > 0),
      'a page was damaged that is in use',
    );
    for (const { missed, problems } of found) {
      if (missed > 0) assert.match(problems.join(), /log tile\/\d+: stored, and not found by its key/);
    }
  });

  test('a file that was cut short has the same records, is reported, or ends the process', async (t) => {
    const { file, digest } = await soundLedger(t);
    const { size } = statSync(file);
    const folder = temporaryFolder(t);
    // the final pages may be unused, so that a short cut loses nothing
    const short = [1, 4_095, ...Array.from({ length: 8 }, (_, i) => (i + 1) * 8_192)];
    const cuts = [...short, 100_000, size - 8_192];
    const cut = cuts.map((bytes) => {
      const path = join(folder, String(bytes));
      mkdirSync(path);
      copyFileSync(file, join(path, 'data.mdb'));
      truncateSync(join(path, 'data.mdb'), size - bytes);
      return path;
    });
    const outcomes = await readAll(cut);
    for (const [i, outcome] of outcomes.entries()) {
      if (typeof outcome !== 'string') assert.equal(outcome.digest, digest, `${cuts[i]} bytes were cut`);
    }
    assert.ok(outcomes.slice(short.length).every((outcome) => typeof outcome === 'string'));
  });

  /** A folder whose server was killed, and the first file of the journal in it. */
  async function killed(t: TestContext, durability: 'fsync' | 'commit') {
    const path = temporaryFolder(t);
    const said = start(['write', path, durability, '0']);
    await said.heard('ack', 20);
    said.child.kill('SIGKILL');
    await said.ended();
    return { path, journal: join(path, JOURNAL), acknowledged: wordsOf(said, 'ack').map(Number) };
  }

  test('the certificate id of an answer that the journal lost never names another answer, whoever opens the ledger first', async (t) => {
    const { path, journal, acknowledged } = await killed(t, 'commit');
    const newest = Math.max(...acknowledged);
    const content = readFileSync(journal);
    writeFileSync(journal, content.fill(0, FILE_HEADER_BYTES));
    // as `qrn ledger compact` does it: its clean end takes the journal away before a service starts
    await (await openTestLedger(path)).close();
    const ledger = await openTestLedger(path);
    assert.ok((await ledger.leaseSequences()).from > newest + 2 ** 23);
    await closeSound(ledger);
  });
});
