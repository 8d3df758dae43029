import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import canonicalize from 'canonicalize';
import { checkFinding, type Finding, type FindingKind } from '../../src/certificate/finding.ts';
import { type FollowState, pollLog } from '../../src/certificate/follow.ts';
import { LogDoubt, LogSource, LogUnavailable, type ReadPath } from '../../src/certificate/log-source.ts';
import { signCheckpoint } from '../../src/certificate/log-state.ts';
import { readCheckpoint, readSigned } from '../../src/certificate/signed-checkpoint.ts';
import { toBase64 } from '../../src/crypto/base64.ts';
import { CompactRange, leafHash } from '../../src/crypto/merkle.ts';
import { logKeys } from './log-world.ts';
import { changesOf } from './said.ts';
import { changed } from './scene.ts';
import { WatchedLog } from './watched-log.ts';

const URL_OF_LOG = 'https://qrn.example';
const ZEROS = toBase64(new Uint8Array(32));

/** Members of a finding that no signature covers, and that show nothing. */
const NO_EVIDENCE = /^(?:what|url|found_at|keys\.current_key_id|keys\.keys\.\d\.(?:created_at|retired_at))$/;

/** Polls, and takes the state through JSON, as a file does. */
async function poll(service: WatchedLog, state?: FollowState) {
  const nowMs = service.world.clock.wallMs();
  const polled = await pollLog(state, { read: service.read, url: URL_OF_LOG, nowMs });
  if ('finding' in polled) assert.fail(`${polled.finding.kind}: ${polled.finding.what}`);
  return { ...polled, state: JSON.parse(JSON.stringify(polled.state)) as FollowState };
}

/** The finding of a poll; it must hold when it is checked again, and not hold of another log's keys. */
async function finding(
  service: WatchedLog,
  state: FollowState,
  kind: FindingKind,
  nowMs = service.world.clock.wallMs(),
) {
  const polled = await pollLog(state, { read: service.read, url: URL_OF_LOG, nowMs });
  assert.ok('finding' in polled, `a finding of kind ${kind}`);
  const found = JSON.parse(JSON.stringify(polled.finding)) as Finding;
  assert.equal(found.kind, kind, found.what);
  const { holds, why } = checkFinding(found);
  assert.deepEqual([holds, why], [true, found.what]);
  for (const [path, to] of changesOf(found)) {
    const place = path.join('.');
    const isMore = Array.isArray(to)
      ? to.includes('x') || new Set(to.map((each) => JSON.stringify(each))).size < to.length
      : Object.hasOwn(Object(to), 'stranger');
    const isNeeded = found.leaves === undefined || !place.startsWith('checkpoints');
    if (isMore || !isNeeded || NO_EVIDENCE.test(place)) continue;
    assert.equal(checkFinding(changed(found, place, to)).holds, false, `${place} = ${JSON.stringify(to)}`);
  }
  return found;
}

/** The poll doubts the log in these words; nobody else could be shown. */
async function doubt(service: WatchedLog, state: FollowState, words: RegExp): Promise<void> {
  await assert.rejects(poll(service, state), (error: unknown) => {
    assert.ok(error instanceof LogDoubt, String(error));
    assert.match(error.message, words);
    return true;
  });
}

describe('a monitor of a log', () => {
  it('follows the log from poll to poll, and reads only the tiles that its proofs need', async () => {
    const service = await WatchedLog.open();
    const first = await service.addLot('b');
    await service.grow(600);
    let { state, events, size } = await poll(service);
    assert.equal(size, 602);
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['lot', 'statement'],
    );
    assert.deepEqual(state.lots, { [first]: 0 });
    await service.grow(300);
    await service.withdraw(first, 'a "fault"');
    await service.addLot('c');
    ({ state, events } = await poll(service, state));
    const [withdrawal] = events;
    assert.ok(withdrawal.kind === 'withdrawal' && withdrawal.lotId === first && withdrawal.index === 902);
    assert.equal(withdrawal.reason, 'a "fault"');
    service.world.clock.advance(3_600_000);
    await service.grow(1);
    ({ state, events } = await poll(service, state));
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['statement'],
    );
    const before = service.paths.length;
    await service.grow(5_000);
    ({ state } = await poll(service, state));
    const tiles = service.paths.slice(before).filter((path) => path.startsWith('/log/tile/'));
    assert.ok(tiles.length < 8 && new Set(tiles).size === tiles.length, tiles.join(' '));
    const polled = service.paths.length;
    assert.deepEqual((await poll(service, state)).events, []);
    assert.deepEqual(service.paths.slice(polled), ['/.well-known/qrn-keys.json', '/log/checkpoint']);
  });

  type Step = (log: WatchedLog) => Promise<void> | void;
  const grow =
    (count: number, salt = 0): Step =>
    (log) =>
      log.grow(count, salt);
  const wait =
    (ms: number): Step =>
    (log) =>
      log.world.clock.advance(ms);
  /** The history that was followed, and the history that is shown then. */
  const histories: readonly [FindingKind, seen: Step[], shown: Step[]][] = [
    ['fork', [grow(5)], [grow(5, 1)]],
    ['rewritten', [grow(5)], [grow(5, 1), grow(20, 1)]],
    ['rewritten', [grow(300)], [grow(300, 1), grow(20, 1)]], // before the tile that is read
    ['rewritten', [grow(256)], [grow(256, 1), grow(256, 1)]],
    ['rewritten', [grow(700)], [grow(700, 1), grow(1, 1)]],
    ['shrunk', [grow(5), wait(10_000), grow(5)], [wait(20_000), grow(3)]],
    ['shrunk', [wait(10_000), grow(5)], [grow(9)]], // more leaves, at an earlier time
    ['fork', [grow(5)], [wait(1_200_000), grow(5, 1)]], // a time that is ahead hides nothing
    ['rewritten', [grow(5)], [wait(1_200_000), grow(5, 1), grow(5, 1)]],
  ];
  for (const [i, [kind, seen, shown]] of histories.entries()) {
    it(`finds a history that contradicts the signed one: ${kind}, ${i}`, async () => {
      const [service, fork] = [await WatchedLog.open(), await WatchedLog.open()];
      for (const step of seen) await step(service);
      const { state } = await poll(service);
      for (const step of shown) await step(fork);
      const found = await finding(fork, state, kind, service.world.clock.wallMs());
      const [first] = found.checkpoints;
      const forged = [{ checkpoints: [first, first] }, { beginning: { ...found.beginning, root: ZEROS } }];
      for (const each of forged.slice(0, kind === 'rewritten' ? 2 : 1))
        assert.equal(checkFinding({ ...found, ...each }).holds, false);
    });
  }

  it('recognizes an older checkpoint as stale', async () => {
    const service = await WatchedLog.open();
    await service.grow(5);
    const stale = service.log.checkpoint;
    service.world.clock.advance(10_000);
    await service.grow(5);
    const { state } = await poll(service);
    service.lies.set('/log/checkpoint', () => stale);
    const polled = await poll(service, state);
    assert.ok(polled.isStale);
    assert.deepEqual(polled.state, state);
  });

  it('finds another history behind an older checkpoint, and refuses one that it cannot compare', async () => {
    const [service, fork] = [await WatchedLog.open(), await WatchedLog.open()];
    await fork.grow(3, 1);
    service.world.clock.advance(10_000);
    await service.grow(10);
    const { state } = await poll(service);
    await assert.rejects(
      poll(fork, state),
      LogUnavailable,
      'it does not give the tree that was signed before',
    );
    service.lies.set('/log/checkpoint', () => fork.log.checkpoint);
    await finding(service, state, 'rewritten');
  });

  it('doubts a withdrawal that is not listed, by the statement that counts it', async () => {
    const service = await WatchedLog.open();
    const lot = await service.addLot('b');
    const { state } = await poll(service);
    await service.withdraw(lot);
    service.lies.set('/log/leaves', (truth) => {
      const { leaves } = JSON.parse(truth) as { leaves: { leaf: string }[] };
      return JSON.stringify({ leaves: leaves.filter(({ leaf }) => !leaf.includes('revocation')) });
    });
    await doubt(service, state, /^Leaf 3 counts 1 withdrawals, and \/log\/leaves lists 0 before it\.$/);
  });

  it('doubts a log that grows for over an hour without stating the withdrawn lots', async () => {
    const service = await WatchedLog.open();
    await service.addLot('b');
    let { state } = await poll(service);
    service.lies.set('/log/leaves', () => '{"leaves":[]}');
    service.world.clock.advance(3_900_000);
    await service.grow(1);
    ({ state } = await poll(service, state));
    service.world.clock.advance(1_000);
    await service.grow(1);
    await doubt(service, state, /^The log grew until .*, but since .* it lists no leaf /);
    const { toldAtS: _, ...torn } = state;
    await doubt(service, torn as FollowState, /^The log grew until /);
    assert.equal(state.version, 1);
  });

  it('accepts no leaves without a count of withdrawals in place of those with one', async () => {
    const service = await WatchedLog.open();
    const lot = await service.addLot('b');
    const { state } = await poll(service);
    service.world.clock.advance(3_600_000 + 301_000);
    await addLeaf(service, JSON.stringify({ type: 'lot', version: 2, lot_id: 'lot_y' }));
    await doubt(service, state, /^The log grew until .*, but since .* it lists no leaf /);
    assert.ok(lot in state.lots);
  });

  it('doubts a text that is not the leaf, and finds a lot that was logged twice', async () => {
    const service = await WatchedLog.open();
    await service.addLot('b');
    const { state } = await poll(service);
    await service.addLot('c');
    service.lies.set('/log/leaves', (truth) => truth.replaceAll('4096', '4097'));
    await doubt(service, state, /^The text that \/log\/leaves lists as leaf 2 is not that leaf\.$/);
    service.lies.clear();
    const [lot] = Object.keys(state.lots);
    service.world.records.delete(`lot/${lot}`);
    service.world.released.delete(lot);
    await service.log.seal();
    const found = await finding(service, state, 'lot-twice');
    const { holds, why } = await checkFinding({ ...found, kind: 'date' });
    assert.deepEqual(
      [holds, why],
      [false, 'The leaf is neither a statement nor a withdrawal, so it has no time to compare.'],
      'the leaf of a lot has none',
    );
  });

  it('finds a draw that was committed to twice before it was due, in one poll or in two', async () => {
    const service = await WatchedLog.open();
    await service.addLot('b');
    const { wall } = service.world.clock;
    const commit = async (statement: string, delivered: string, dueMs = wall + 60_000) => {
      const due_at = new Date(dueMs).toISOString();
      const leaf = { type: 'draw_commit', version: 1, statement_sha256: statement, delivered, due_at };
      const text = canonicalize(leaf) ?? '';
      service.world.addDrawLeaf({ drawId: `${statement}${delivered}`, kind: 'commit', text });
      await service.log.seal();
    };
    await commit('one', 'a');
    await commit('other', 'a');
    await commit('due', 'a', wall - 2_000);
    const { state } = await poll(service);
    await commit('due', 'b', wall - 2_000); // too late for anybody to gain by it
    const { draws } = (await poll(service, state)).state;
    assert.deepEqual(Object.keys(draws ?? {}).sort(), ['due', 'one', 'other']);
    await commit('one', 'b');
    const found = await finding(service, state, 'draw-twice');
    const [first, second] = found.leaves ?? [];
    const same = { ...found, leaves: [first, first] };
    assert.equal((await checkFinding(same)).holds, false, 'it is one leaf');
    const others = { ...found, kind: 'lot-twice', leaves: [first, second] };
    assert.equal((await checkFinding(others)).holds, false);
    const fresh = await pollLog(undefined, { read: service.read, url: URL_OF_LOG, nowMs: wall });
    assert.ok('finding' in fresh);
  });

  it('finds leaves whose time is not between the checkpoints around them', async () => {
    const service = await WatchedLog.open();
    await service.addLot('b');
    const { state } = await poll(service);
    // the log's own clock goes wrong between the withdrawal and the checkpoint
    service.world.withdrawn.push({
      lotId: 'lot_x',
      why: 'a fault',
      atMs: service.world.clock.wall + 900_000,
    });
    await service.log.seal();
    const range = new CompactRange(service.log.size, await rootsOf(service));
    const early = signCheckpoint(service.world.keys, range, Math.floor(service.world.clock.wall / 1_000));
    service.lies.set('/log/checkpoint', () => early);
    await finding(service, state, 'date');
    const nowMs = service.world.clock.wallMs();
    const fresh = await pollLog(undefined, { read: service.read, url: URL_OF_LOG, nowMs });
    assert.ok('finding' in fresh && fresh.finding.kind === 'date');
  });

  it('finds a statement that is dated before a checkpoint that lacks it', async () => {
    const service = await WatchedLog.open();
    await service.addLot('b');
    const { state } = await poll(service);
    const at = new Date(service.world.clock.wall - 5_000).toISOString();
    const withdrawals = { count: 0, root: toBase64(new CompactRange().root()) };
    service.world.clock.advance(60_000);
    await addLeaf(service, canonicalize({ type: 'statement', version: 1, at, withdrawals }) ?? '');
    const found = await finding(service, state, 'date');
    assert.match(found.what, /^Leaf 2 states the time \S+, but at \S+ the log had only 2 leaves\.$/);
    assert.equal(checkFinding({ ...found, checkpoints: [] }).holds, false);
  });

  it('accepts a withdrawal as a statement of the withdrawals', async () => {
    const service = await WatchedLog.open();
    const lot = await service.addLot('b');
    const first = await poll(service);
    service.world.clock.advance(1_000_000);
    await service.withdraw(lot);
    service.lies.set('/log/leaves', (truth) => {
      const { leaves } = JSON.parse(truth) as { leaves: { leaf: string }[] };
      return JSON.stringify({ leaves: leaves.filter(({ leaf }) => leaf.includes('revocation')) });
    });
    const { state } = await poll(service, first.state);
    assert.equal(state.toldAtS, first.state.toldAtS + 1_000);
  });

  it('doubts tiles that do not give the signed root', async () => {
    const service = await WatchedLog.open();
    await service.grow(5);
    const { state } = await poll(service);
    await service.grow(5);
    service.lies.set('/log/tile/0/000.p/10', () => new Uint8Array(320));
    await doubt(
      service,
      state,
      /^The hashes at \/log\/tile\/ do not lead to the root of the 10 leaves that the log signed\.$/,
    );
    await assert.rejects(poll(short(service), state), LogUnavailable);
  });

  it('pins the keys, and accepts a new one that an old one vouches for', async () => {
    const service = await WatchedLog.open();
    await service.grow(3);
    const { state } = await poll(service);
    service.world.keys = logKeys(1, 2);
    service.log = await service.world.open();
    const rotated = await poll(service, state);
    assert.deepEqual(rotated.events, [{ kind: 'key', keyId: service.world.keys.currentKeyId }]);
    await service.grow(3);
    assert.equal((await poll(service, rotated.state)).size, 6);
    const late = await poll(service, state);
    assert.deepEqual(
      [late.size, late.events],
      [6, rotated.events],
      'the keys have the checkpoint that it missed',
    );
    service.lies.set('/.well-known/qrn-keys.json', (truth) => truth.replaceAll('vouched_by', 'nothing'));
    await doubt(service, state, /^The signature of a checkpoint is not valid: /);
    service.lies.clear();
    for (const [name, to] of [
      ['"cosigner_key":"', '"cosigner":"'],
      ['"created_at":"2026', '"created_at":"2025'],
    ]) {
      service.lies.set('/.well-known/qrn-keys.json', (truth) => truth.replaceAll(name, to));
      await doubt(service, state, /^The keys document has changed what it says of key \w+\.$/);
    }
    service.lies.clear();
    service.world.keys = logKeys(3);
    await doubt(service, state, /^The keys document no longer lists key \w+ of qrn\.example\/log\.$/);
  });

  it('doubts a successor that lacks leaves that were signed, and accepts one that has all of them', async () => {
    const service = await WatchedLog.open();
    await service.grow(3);
    const shorter = service.log.checkpoint;
    await service.grow(3);
    const { state } = await poll(service);
    const succeeding = (checkpoint: string) => (truth: string) => {
      const { origin, keys, ...rest } = JSON.parse(truth) as { origin: string; keys: unknown };
      const predecessor = { origin, checkpoint };
      const first = { type: 'incarnation', version: 1, number: 1, origin: `${origin}/1`, predecessor };
      return JSON.stringify({
        ...rest,
        ...{ origin: `${origin}/1`, keys: [], predecessors: [{ origin, keys, checkpoint }] },
        first_leaf: canonicalize(first),
      });
    };
    service.lies.set('/.well-known/qrn-keys.json', succeeding(shorter));
    await doubt(service, state, /lacks 3 leaves that its predecessor /);
    service.lies.set('/.well-known/qrn-keys.json', succeeding(service.log.checkpoint));
    // it may succeed, but the log that is read is still the one before it, whose first leaf is another
    await doubt(service, state, /^The first leaf of the log is not first_leaf of the keys document\.$/);
  });

  it('retries when the service answers something that is not a log', async () => {
    const service = await WatchedLog.open();
    await service.grow(3);
    const { state } = await poll(service);
    await service.grow(3);
    for (const [path, lie] of [
      ['/log/leaves', '{"leaves":[{"index":1,"leaf":"{}"}]}'],
      ['/log/leaves', '[]'],
      ['/log/leaves', '{"leaves":[{"index":5.5,"leaf":"{}"}]}'],
      ['/.well-known/qrn-keys.json', 'no'],
    ]) {
      service.lies.set(path, () => lie);
      await assert.rejects(poll(service, state), LogUnavailable, path);
      service.lies.clear();
    }
    service.world.clock.advance(-700_000);
    await assert.rejects(poll(service, state), /compare the clocks/);
  });
});

it('a monitor asks for tiles by the names of c2sp.org/tlog-tiles, and accepts only JSON objects', async () => {
  const paths: string[] = [];
  let answer: Uint8Array = new Uint8Array(256 * 32);
  const source = new LogSource(async (path) => {
    paths.push(path);
    return answer;
  });
  for (const index of [7, 1_234, 1_234_567]) await source.nodeReader(256 * 2_000_000)(0, 256 * index);
  await source.nodeReader(256 * 256 * 3)(8, 256);
  await assert.rejects(source.nodeReader(5)(0, 4), LogUnavailable, 'it has more than it should');
  const names = ['0/007', '0/x001/234', '0/x001/x234/567', '1/001', '0/000.p/5'];
  assert.deepEqual(
    paths,
    names.map((name) => `/log/tile/${name}`),
  );
  assert.equal(source.tilesRead, 4);
  for (const text of ['[]', 'null', '7', '{']) {
    answer = Buffer.from(text);
    await assert.rejects(source.json('/log/leaves'), LogUnavailable, text);
  }
});

describe('an invented finding', () => {
  it('does not hold for two checkpoints of an honest log, in any order', async () => {
    const service = await WatchedLog.open();
    await service.grow(2);
    const small = service.log.checkpoint;
    const [root] = await rootsOf(service);
    await service.grow(2);
    const large = service.log.checkpoint;
    const keys = JSON.parse(Buffer.from(await service.read('/.well-known/qrn-keys.json')).toString());
    const common = { type: 'qrn-log-finding', version: 1, what: '', url: URL_OF_LOG, found_at: '', keys };
    // trees of 2 and of 4 leaves have one complete subtree each
    const beginning = { root: toBase64(root), proof: [] };
    for (const checkpoints of [
      [large, small],
      [small, large],
      [small, small],
    ]) {
      for (const kind of ['rewritten', 'fork', 'shrunk']) {
        const { holds, why } = await checkFinding({ ...common, kind, checkpoints, beginning });
        assert.equal(holds, false, `${kind}: ${why}`);
      }
    }
  });

  it('does not hold for a key that is listed twice', async () => {
    const service = await WatchedLog.open();
    await service.grow(2);
    const keys = JSON.parse(Buffer.from(await service.read('/.well-known/qrn-keys.json')).toString()) as {
      keys: object[];
    };
    const twice = { ...keys, keys: [...keys.keys, { ...keys.keys[0], cosigner_key: null }] };
    const read = readCheckpoint(service.log.checkpoint);
    assert.throws(() => readSigned(twice, read), /lists key \w+ twice/);
    assert.equal(readSigned(keys, read).checkpoint.size, 2);
  });
});

/** Makes the service show one more leaf, in a checkpoint that is signed now. */
async function addLeaf(service: WatchedLog, text: string): Promise<void> {
  const { world, log } = service;
  const leaf = leafHash(Buffer.from(text));
  const range = new CompactRange(log.size, await rootsOf(service));
  range.append(leaf);
  const tile = await service.read(`/log/tile/0/000.p/${log.size}`);
  service.read = reading(service, {
    '/log/checkpoint': signCheckpoint(world.keys, range, Math.floor(world.clock.wall / 1_000)),
    [`/log/leaves?from=${log.size}`]: JSON.stringify({ leaves: [{ index: log.size, leaf: text }] }),
    [`/log/tile/0/000.p/${log.size + 1}`]: Buffer.concat([tile, leaf]),
  });
}

/** Returns the service's reader with other answers for some paths. */
function reading({ read }: WatchedLog, answers: Readonly<Record<string, string | Uint8Array>>): ReadPath {
  return async (path) =>
    Object.hasOwn(answers, path) ? new Uint8Array(Buffer.from(answers[path] as string)) : await read(path);
}

/** The roots of the whole log. */
async function rootsOf(service: WatchedLog) {
  const range = new CompactRange();
  const tile = await service.read(`/log/tile/0/000.p/${service.log.size}`);
  for (let at = 0; at < tile.length; at += 32)
    range.append(new Uint8Array(tile.slice(at, at + 32)), () => {});
  return range.roots;
}

function short(service: WatchedLog): WatchedLog {
  service.lies.set('/log/tile/0/000.p/10', () => new Uint8Array(319));
  return service;
}
