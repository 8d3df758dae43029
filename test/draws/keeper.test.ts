import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { before, beforeEach, describe, it } from 'node:test';
import { type FirstAnswer, SealBroken } from '../../src/answer/idempotency.ts';
import { BeaconChains, type FetchJson } from '../../src/beacon/chains.ts';
import { dueMs } from '../../src/beacon/drand.ts';
import { fetchBeacon } from '../../src/beacon/fetch.ts';
import { type DrawStatement, hashOf } from '../../src/certificate/draw.ts';
import type { DrawBody } from '../../src/certificate/draw-document.ts';
import { drawnValues as verifiedValues } from '../../src/certificate/draw-kinds.ts';
import { drawKey, drawStream } from '../../src/certificate/draw-stream.ts';
import { fromHex, utf8Bytes } from '../../src/core/bytes.ts';
import { ApiError } from '../../src/core/errors.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { sha256Hex } from '../../src/crypto/digest.ts';
import { DrawKeeper } from '../../src/draws/keeper.ts';
import { drawnValues } from '../../src/draws/values.ts';
import { recordingLog } from '../pool/fixtures.ts';
import { LocalDrand } from '../support/local-drand.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { memoryLedger } from '../support/memory-ledger.ts';
import { served } from '../support/served.ts';

/** The keeper over the model of the ledger, with a drand of its own behind a real socket, by a clock that stands still. */
const drand = new LocalDrand();
const listener: RequestListener = (request, response) => {
  const reply = drand.reply(request.url ?? '');
  response.writeHead(reply === undefined ? 404 : 200).end(JSON.stringify(reply ?? {}));
};
let url = '';
before(async () => {
  url = await served(listener);
});
beforeEach(() => drand.reset());

const SECRET = '5a'.repeat(32);
const ROUND = 100;
const HOUR_MS = 3_600_000;
const REQUEST = {
  kind: 'integers',
  count: 4,
  min: 1,
  max: 1_000_000_000,
  unique: false,
  sort: 'none',
} as const;

/** SHA-256 of the nonce ff. */
const NONCE_SHA256 = 'sha256:a8100ae6aa1940d0b663bb31cd466142ebbdbd5187131b92d93818987832eb89';
const SALT = '77'.repeat(32);
const DELIVERED = `sha256:${sha256Hex(Buffer.concat([fromHex(SALT), utf8Bytes(`{"bytes":"${SECRET}"}`)]))}`;

/** A keeper, its ledger, and the answers that the service would have kept. */
class World {
  readonly clock = new ManualClock(dueMs(drand.chain, ROUND) - HOUR_MS);
  readonly ledger = memoryLedger(this.clock);
  readonly kept = new Map<string, FirstAnswer>();
  readonly log = recordingLog();
  keeper!: DrawKeeper;
  fetchJson: FetchJson = fetchBeacon;

  /** Starts a new keeper as a restart does: what an earlier one had in memory is gone. */
  async start(): Promise<this> {
    this.keeper = await DrawKeeper.open({
      draws: this.ledger,
      idempotency: { kept: async ({ keyText, fingerprint }) => this.kept.get(`${keyText} ${fingerprint}`) },
      chains: new BeaconChains(
        [{ name: 'own', hash: drand.hash, urls: [`${url}/down`, url] }],
        this.fetchJson,
      ),
      clock: this.clock,
      log: this.log,
    });
    return this;
  }

  statement(more: Partial<DrawStatement> = {}): DrawStatement {
    const beacon = { chain: drand.hash, round: ROUND };
    const due_at = more.due_at ?? new Date(dueMs(drand.chain, ROUND)).toISOString();
    return {
      type: 'draw_statement',
      version: 1,
      id: 'draw_1',
      request: REQUEST,
      purpose: 'raffle',
      public: true,
      beacon,
      due_at,
      gives_up_at: new Date(Date.parse(due_at) + 24 * HOUR_MS).toISOString(),
      ...more,
    };
  }

  /** Opens a draw of this statement; undefined when it exists already. */
  open(statement: DrawStatement, fingerprint = 'f') {
    const { type: _, version: __, id, beacon, due_at, gives_up_at: ___, ...fixed } = statement;
    const request = { fixed, revealAt: due_at, beacon: beacon && { chain: 'own', round: beacon.round } };
    return this.keeper.openDraw({ id, accountNumber: 1, fingerprint, request });
  }

  /** Books what is durable once the answer is. */
  answer(statement: DrawStatement): void {
    const metadata = {
      certificate_id: 'cert_1',
      certificate_salt: SALT,
      timestamp: new Date(this.clock.wall).toISOString(),
    };
    const body = utf8Bytes(
      JSON.stringify({ data: { bytes: SECRET }, metadata, quantum_credits: { remaining: 9 } }),
    );
    const { id } = statement;
    this.kept.set(`draw/${id} draw ${hashOf(statement)}`, { fields: [], body });
  }

  async commit(statement: DrawStatement): Promise<void> {
    assert.deepEqual(await this.open(statement), statement);
    this.answer(statement);
    await this.keeper.settleDraw(statement.id);
    await this.keeper.tick();
  }

  /** Within some turns of the loop, without a look of the service at what is due. */
  async until(isSo: () => Promise<boolean>): Promise<void> {
    for (let turn = 0; turn < 1_000 && !(await isSo()); turn++)
      await new Promise((resolve) => setImmediate(resolve));
    assert.ok(await isSo());
  }

  /** Returns what was logged. */
  told(): string {
    return this.log.lines.map(({ message }) => message).join('\n');
  }

  async body(id = 'draw_1'): Promise<DrawBody> {
    const draw = await this.ledger.draw(id);
    assert.ok(draw);
    return JSON.parse(draw.body) as DrawBody;
  }

  async passTo(atMs: number): Promise<void> {
    this.clock.advance(atMs - this.clock.wall);
    await this.keeper.tick();
  }

  async leaves(): Promise<string[]> {
    return (await this.ledger.drawLeaves(10)).map(({ text }) => (JSON.parse(text) as { type: string }).type);
  }
}

const dueAt = () => dueMs(drand.chain, ROUND);

function expected(statement: DrawStatement, randomness: string, nonce = ''): unknown {
  return drawnValues(REQUEST, {
    secret: fromHex(SECRET),
    nonce: fromHex(nonce),
    randomness: fromHex(randomness),
    statementSha256: fromHex(hashOf(statement).slice(7)),
  });
}

it('the values of a draw are those that its verifier computes, however many there are', () => {
  const request = { ...REQUEST, count: 3_000 };
  const [secret, nonce, randomness, statement] = [1, 2, 3, 4].map((byte) => new Uint8Array(32).fill(byte));
  const values = drawnValues(request, { secret, nonce, randomness, statementSha256: statement });
  const key = drawKey({ secret, nonce, randomness, statementDigest: statement });
  assert.deepEqual(values, verifiedValues(request, drawStream(key)));
});

describe('the keeper of draws', () => {
  it('waits for the round of a beacon, and mixes in its output', async () => {
    const w = await new World().start();
    const statement = w.statement();
    await w.commit(statement);
    await w.passTo(dueAt() - 1);
    assert.equal((await w.body()).outcome, null, 'not before the round is due');
    drand.publish(ROUND);
    await w.passTo(dueAt());
    const { outcome, answer } = await w.body();
    assert.deepEqual([outcome?.type, outcome?.version, outcome?.state], ['draw_outcome', 1, 'revealed']);
    const { randomness } = drand.round(ROUND);
    assert.deepEqual(outcome?.values, expected(statement, randomness));
    assert.notDeepEqual(outcome?.values, expected(statement, drand.round(ROUND + 2).randomness));
    assert.equal(outcome?.beacon?.signature, drand.round(ROUND).signature);
    assert.ok(
      answer && !('quantum_credits' in answer),
      'what the account has left is told to the caller alone',
    );
    assert.deepEqual([outcome?.nonce, w.log.errors()], [null, []]);
    assert.deepEqual(await w.leaves(), ['draw_commit', 'draw_end']);
    assert.deepEqual(w.keeper.counts(), { open: 0, overdue: 0, revealed: 1, cancelled: 0, failed: 0 });
  });

  it('asks for a late round at growing intervals, and uses it when it comes', async () => {
    const w = await new World().start();
    await w.commit(w.statement());
    drand.asked = 0;
    await w.passTo(dueAt());
    assert.deepEqual([w.keeper.counts().open, w.keeper.counts().overdue], [1, 1]);
    for (let second = 1; second <= 600; second++) {
      w.clock.advance(1_000);
      w.keeper.endDueDraws(); // as a nonce does that comes meanwhile
      await w.keeper.tick();
    }
    // after 1, 2, 4 … 32 seconds, and then each minute
    assert.equal(drand.asked, 15);
    assert.equal(w.keeper.counts().overdue, 1);
    drand.publish(ROUND);
    await w.passTo(dueAt() + 700_000);
    assert.equal((await w.body()).outcome?.state, 'revealed');
  });

  it('fails the draw for good with its reason when the round never comes, or only a wrong one', async () => {
    for (const [reason, publish] of [
      ['beacon_missing', () => {}],
      ['beacon_wrong', () => drand.publish(ROUND, ROUND + 1)],
    ] as const) {
      drand.reset();
      const w = await new World().start();
      await w.commit(w.statement());
      publish();
      await w.passTo(dueAt());
      if (reason === 'beacon_missing') {
        await w.passTo(dueAt() + 24 * HOUR_MS - 1);
        assert.equal((await w.body()).outcome, null, 'it waits as long as it said');
        await w.passTo(dueAt() + 24 * HOUR_MS + 60_000);
      } else await w.passTo(dueAt() + 24 * HOUR_MS);
      const { outcome } = await w.body();
      assert.deepEqual([outcome?.state, outcome?.reason, outcome?.values], ['failed', reason, null]);
      assert.equal(outcome?.beacon, null);
      assert.equal(outcome?.secret, SECRET, 'the committed bytes are opened');
      drand.reset();
      drand.publish(ROUND);
      await (await w.start()).passTo(dueAt() + 30 * HOUR_MS);
      assert.deepEqual((await w.body()).outcome, outcome, 'and nothing changes it');
    }
  });

  it('continues after a restart with the same result', async () => {
    const w = await new World().start();
    const statement = w.statement();
    await w.commit(statement);
    drand.publish(ROUND);
    await w.start();
    await w.passTo(dueAt() + HOUR_MS);
    assert.deepEqual((await w.body()).outcome?.values, expected(statement, drand.round(ROUND).randomness));
    assert.deepEqual(await w.leaves(), ['draw_commit', 'draw_end']);
  });

  it('commits to a draw if the service was killed after its answer, and forgets one if killed before it', async () => {
    const w = await new World().start();
    const statement = w.statement();
    await w.open(statement);
    await w.open(w.statement({ id: 'draw_2' }));
    w.answer(statement);
    await w.start();
    assert.deepEqual((await w.body()).committed?.certificate_id, 'cert_1');
    assert.equal(await w.ledger.draw('draw_2'), undefined);
    assert.equal(w.keeper.counts().open, 1);
    const [commit] = await w.ledger.drawLeaves(1);
    assert.deepEqual(JSON.parse(commit.text), {
      type: 'draw_commit',
      version: 1,
      statement_sha256: hashOf(statement),
      delivered: DELIVERED,
      due_at: statement.due_at,
      gives_up_at: statement.gives_up_at,
    });
    drand.publish(ROUND);
    await w.passTo(dueAt());
    assert.equal((await w.body()).outcome?.state, 'revealed');
  });

  it('starts while the ledger is held back, and commits at the next start', async () => {
    const w = await new World().start();
    const statement = w.statement();
    await w.open(statement);
    w.answer(statement);
    const { putDraw } = w.ledger;
    const refuse = async () => {
      throw new ApiError('storage_unavailable');
    };
    Object.assign(w.ledger, { putDraw: refuse });
    await w.start();
    assert.equal((await w.body()).committed, null);
    assert.equal(w.keeper.counts().open, 0);
    assert.match(w.told(), /could not commit to a draw; the next start tries again/);
    Object.assign(w.ledger, { putDraw: () => Promise.reject(new Error('a fault')) });
    await assert.rejects(w.start(), /a fault/, 'what is no refusal stops the start');
    Object.assign(w.ledger, { putDraw });
    await w.start();
    assert.equal((await w.body()).committed?.certificate_id, 'cert_1');
  });

  it('settles a draw that the ledger refused at the next request, and makes it again if its answer is not stored', async () => {
    const w = await new World().start();
    const { putDraw, dropDraw } = w.ledger;
    const refuse = async () => {
      throw new ApiError('storage_unavailable');
    };
    const [kept, lost] = [w.statement(), w.statement({ id: 'draw_2' })];
    for (const statement of [kept, lost]) await w.open(statement);
    w.answer(kept);
    Object.assign(w.ledger, { putDraw: refuse, dropDraw: refuse });
    for (const { id } of [kept, lost])
      await assert.rejects(w.keeper.settleDraw(id), { code: 'storage_unavailable' });
    await assert.rejects(w.open(kept), { code: 'storage_unavailable' }, 'the ledger is still held back');
    Object.assign(w.ledger, { putDraw, dropDraw });
    assert.equal(await w.open(kept), undefined);
    assert.equal((await w.body()).committed?.certificate_id, 'cert_1');
    assert.deepEqual(await w.open(lost), lost);
    await assert.rejects(w.open(lost), { code: 'idempotency_in_flight' }, 'it is under way again');
  });

  it('fails a draw whose committed bytes are gone or cannot be opened, and gives the reason', async () => {
    for (const lose of [
      (w: World) => w.kept.clear(),
      (w: World) => {
        w.kept.get = () => {
          throw new SealBroken('of another secret');
        };
      },
    ]) {
      const w = await new World().start();
      const { beacon: _, gives_up_at: __, ...statement } = w.statement();
      await w.commit({ ...statement, due_at: new Date(w.clock.wall + 1_000).toISOString() });
      const get = w.kept.get.bind(w.kept);
      w.kept.get = () => {
        throw new Error('the ledger is away');
      };
      await w.passTo(w.clock.wall + 1_000);
      assert.equal((await w.body()).outcome, null, 'it is looked for again');
      w.kept.get = get;
      lose(w);
      await w.passTo(w.clock.wall + 2_000);
      const { outcome } = await w.body();
      assert.deepEqual([outcome?.state, outcome?.reason, outcome?.secret], ['failed', 'secret_lost', null]);
    }
  });

  it('fails a draw whose caller withholds the nonce, as announced', async () => {
    const w = await new World().start();
    const nonce = 'ff';
    await w.commit(w.statement({ nonce_sha256: NONCE_SHA256 }));
    drand.publish(ROUND);
    await w.passTo(dueAt() + HOUR_MS);
    assert.equal((await w.body()).outcome, null);
    await w.passTo(dueAt() + 25 * HOUR_MS);
    assert.deepEqual((await w.body()).outcome?.reason, 'nonce_missing');
    await assert.rejects(w.keeper.openNonce('draw_1', 1, nonce), { code: 'draw_ended' });
  });

  it('cancels before the draw is due, never after, and never for another account', async () => {
    const w = await new World().start();
    await w.commit(w.statement());
    await assert.rejects(w.keeper.cancelDraw('draw_1', 2), { code: 'draw_not_found' });
    await w.keeper.cancelDraw('draw_1', 1);
    const { outcome } = await w.body();
    assert.deepEqual([outcome?.state, outcome?.secret, outcome?.values], ['cancelled', SECRET, null]);
    await assert.rejects(w.keeper.cancelDraw('draw_1', 1), { code: 'draw_ended' });
    assert.deepEqual(await w.leaves(), ['draw_commit', 'draw_end']);
    await w.commit(w.statement({ id: 'draw_2' }));
    await w.passTo(dueAt());
    await assert.rejects(w.keeper.cancelDraw('draw_2', 1), { code: 'draw_due' }, 'the beacon may be known');
  });

  it('cancels no draw in the ten seconds before its round, whenever the draw is due', async () => {
    const w = await new World().start();
    const later = new Date(dueAt() + HOUR_MS).toISOString();
    await w.commit(w.statement({ due_at: later }));
    await w.passTo(dueAt() - 10_000);
    await assert.rejects(w.keeper.cancelDraw('draw_1', 1), { code: 'draw_due' });
  });

  it('ends other draws while a beacon is slow, and fetches a round once for all draws that wait for it', async () => {
    const w = new World();
    const answer = Promise.withResolvers<unknown>();
    const asked: string[] = [];
    w.fetchJson = async (from) => {
      const path = from.slice(from.lastIndexOf('/') + 1);
      asked.push(path);
      return path === 'info' ? drand.reply(`/${drand.hash}/info`) : answer.promise;
    };
    await w.start();
    await Promise.all(['a', 'b', 'c'].map((id) => w.open(w.statement({ id }))));
    assert.deepEqual(asked.splice(0), ['info']);
    for (const id of ['draw_1', 'draw_2', 'draw_3']) await w.commit(w.statement({ id }));
    const { beacon: _, gives_up_at: __, ...plain } = w.statement({ id: 'plain' });
    await w.commit(plain);
    w.clock.advance(dueAt() - w.clock.wall);
    const ticked = w.keeper.tick();
    await w.until(async () => w.keeper.counts().revealed > 0);
    assert.equal((await w.body('plain')).outcome?.state, 'revealed');
    assert.equal((await w.body()).outcome, null);
    answer.resolve(drand.round(ROUND));
    await ticked;
    assert.equal(w.keeper.counts().revealed, 4);
    assert.deepEqual(asked, [String(ROUND)]);
  });

  it("tells a request whether a draw with its id is its own, another's or being made", async () => {
    const w = await new World().start();
    const statement = w.statement();
    const known = async () => {
      const settled = await Promise.allSettled([w.open(statement), w.open(statement, 'g')]);
      return settled.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.code));
    };
    assert.deepEqual(await w.open(statement), statement);
    assert.deepEqual(await known(), ['idempotency_in_flight', 'idempotency_mismatch']);
    await assert.rejects(w.open(statement), { facts: { retryAfterS: 1 } });
    const both = await Promise.allSettled([1, 2].map(() => w.open(w.statement({ id: 'both' }))));
    assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'], 'at once');
    await w.keeper.settleDraw('both');
    await w.keeper.settleDraw('draw_1');
    await w.commit(statement);
    assert.deepEqual(await known(), [undefined, 'idempotency_mismatch']);
    await w.keeper.settleDraw('draw_1');
    assert.deepEqual(await w.leaves(), ['draw_commit'], 'committed once');
    const { beacon: _, gives_up_at: __, ...due } = w.statement({ id: 'due' });
    const dueNow = { ...due, due_at: new Date(w.clock.wall).toISOString() };
    await w.open(dueNow);
    w.answer(dueNow);
    await w.keeper.settleDraw('due');
    await w.until(async () => (await w.body('due')).outcome !== null);
    w.clock.advance(1);
    assert.equal(await w.open(dueNow), undefined, 'a retry may come when its time is past');
    for (let i = 1; i < LIMITS.openDrawsMax; i++) await w.open(w.statement({ id: `more_${i}` }));
    await assert.rejects(w.open(w.statement({ id: 'one_more' })), {
      code: 'draws_full',
      facts: { details: { limit: LIMITS.openDrawsMax } },
    });
  });

  it('reveals with the nonce that the caller committed to, or opens in time', async () => {
    const nonce = 'ff';
    for (const fixed of [{ nonce }, { nonce_sha256: NONCE_SHA256 }]) {
      const w = await new World().start();
      const statement = w.statement(fixed);
      await w.commit(statement);
      drand.publish(ROUND);
      await w.passTo(dueAt() + 20_000);
      if (!('nonce' in fixed)) {
        assert.equal((await w.body()).outcome, null, 'it waits for the nonce');
        await assert.rejects(w.keeper.openNonce('draw_1', 1, 'fe'), { code: 'invalid_nonce' });
        await assert.rejects(w.keeper.openNonce('draw_1', 2, nonce), { code: 'draw_not_found' });
        await w.keeper.openNonce('draw_1', 1, nonce);
        await w.until(async () => (await w.body()).outcome !== null);
      }
      const { outcome } = await w.body();
      assert.deepEqual([outcome?.state, outcome?.reason, outcome?.nonce], ['revealed', null, nonce]);
      assert.deepEqual(outcome?.values, expected(statement, drand.round(ROUND).randomness, nonce));
    }
  });

  it('accepts a nonce before the draw is due, also repeatedly, and reveals at the due time', async () => {
    const w = await new World().start();
    await w.commit(w.statement({ nonce_sha256: NONCE_SHA256 }));
    for (let i = 0; i < 2; i++) await w.keeper.openNonce('draw_1', 1, 'ff');
    assert.deepEqual([(await w.body()).nonce, (await w.body()).outcome], ['ff', null]);
    drand.publish(ROUND);
    await w.passTo(dueAt());
    assert.equal((await w.body()).outcome?.state, 'revealed');
  });

  it('shows the result that a cancelled draw would have had, if nothing was missing for it', async () => {
    for (const [more, isKnown] of [
      [{}, true],
      [{ nonce_sha256: NONCE_SHA256 }, false],
    ] as const) {
      const w = await new World().start();
      const { beacon: _, gives_up_at, ...certain } = w.statement(more);
      const plain = isKnown ? certain : { ...certain, gives_up_at: gives_up_at! };
      await w.commit(plain);
      await w.passTo(dueAt() - 1);
      await w.keeper.cancelDraw('draw_1', 1);
      const { outcome } = await w.body();
      assert.deepEqual([outcome?.state, outcome?.reason], ['cancelled', 'cancelled']);
      assert.deepEqual(outcome?.values, isKnown ? expected(plain, '') : null);
      assert.deepEqual(w.keeper.counts(), { open: 0, overdue: 0, revealed: 0, cancelled: 1, failed: 0 });
      await w.commit({ ...plain, id: 'draw_2' });
      w.clock.advance(1);
      await assert.rejects(w.keeper.cancelDraw('draw_2', 1), { code: 'draw_due' });
    }
  });

  it('rejects a chain that cannot be read, and knows none that the settings lack', async () => {
    const w = await new World().start();
    const request = { fixed: { request: REQUEST, purpose: 'p', public: false }, revealAt: undefined };
    const openWith = (chain: string) =>
      w.keeper.openDraw({
        ...{ id: 'draw_1', accountNumber: 1, fingerprint: 'f' },
        request: { ...request, beacon: { chain, round: ROUND } },
      });
    await assert.rejects(openWith('another'), { code: 'invalid_beacon', message: /QRN_BEACONS/ });
    assert.equal((await openWith('own'))?.beacon?.chain, drand.hash);
    await w.keeper.settleDraw('draw_1');
    w.fetchJson = async () => {
      throw new Error('no route');
    };
    await w.start();
    await assert.rejects(openWith('own'), { code: 'beacon_unavailable', facts: { retryAfterS: 5 } });
    assert.match(
      w.told(),
      /could not fetch the chain information of a beacon: draws that name it are refused; see QRN_BEACONS/,
    );
  });

  it('logs what a draw waits for, what could not be done and what has failed', async () => {
    const w = await new World().start();
    await w.commit(w.statement());
    await w.passTo(dueAt());
    const { putDraw } = w.ledger;
    const refuse = async () => {
      throw new Error('no room');
    };
    Object.assign(w.ledger, { putDraw: refuse });
    await w.passTo(dueAt() + 25 * HOUR_MS);
    Object.assign(w.ledger, { putDraw });
    await w.passTo(dueAt() + 26 * HOUR_MS);
    for (const words of [
      /could not fetch the round of a beacon that a draw waits for; trying again; see QRN_BEACONS/,
      /could not end a draw that is due; trying again/,
      /a draw failed: it has no values/,
    ])
      assert.match(w.told(), words);
  });
});
