import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { DrawKeeper } from '../../src/answer/draw-keeper.ts';
import { drawnValues } from '../../src/answer/draw-values.ts';
import { type FirstAnswer, SealBroken } from '../../src/answer/idempotency.ts';
import { BeaconChains, type FetchJson } from '../../src/beacon/chains.ts';
import { dueMs } from '../../src/beacon/drand.ts';
import { fetchBeacon } from '../../src/beacon/fetch.ts';
import { type DrawBody, type DrawStatement, hashOf } from '../../src/certificate/draw.ts';
import { fromHex, utf8Bytes } from '../../src/core/bytes.ts';
import { ApiError } from '../../src/core/errors.ts';
import { silentLog } from '../../src/core/log.ts';
import { sha256Hex } from '../../src/crypto/digest.ts';
import type { DrawRecord } from '../../src/ledger/draw-records.ts';
import { LocalDrand } from '../support/local-drand.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

/** The keeper over the model of the ledger, with a drand of its own behind a real socket, by a clock that stands still. */
const drand = new LocalDrand();
const server = createServer((request, response) => {
  const reply = drand.reply(request.url ?? '');
  response.writeHead(reply === undefined ? 404 : 200).end(JSON.stringify(reply ?? {}));
});
let url = '';
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => server.close());
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

const SALT = '77'.repeat(32);
const DELIVERED = `sha256:${sha256Hex(Buffer.concat([fromHex(SALT), utf8Bytes(`{"bytes":"${SECRET}"}`)]))}`;

/** A keeper, its ledger, and the answers that the service would have kept. */
class World {
  readonly clock = new ManualClock(dueMs(drand.chain, ROUND) - HOUR_MS);
  readonly ledger = memoryLedger(this.clock);
  readonly kept = new Map<string, FirstAnswer>();
  keeper!: DrawKeeper;
  fetchJson: FetchJson = fetchBeacon;

  /** As a start does; what an earlier keeper had in memory is gone. */
  async start(): Promise<this> {
    this.keeper = await DrawKeeper.open({
      draws: this.ledger,
      idempotency: { kept: async ({ keyText, fingerprint }) => this.kept.get(`${keyText} ${fingerprint}`) },
      chains: new BeaconChains(
        [{ name: 'own', hash: drand.hash, urls: [`${url}/down`, url] }],
        this.fetchJson,
      ),
      clock: this.clock,
      log: silentLog,
    });
    return this;
  }

  statement(more: Partial<DrawStatement> = {}): DrawStatement {
    const beacon = { chain: drand.hash, round: ROUND };
    const dueAtMs = dueMs(drand.chain, ROUND);
    return {
      type: 'draw_statement',
      version: 1,
      id: 'draw_1',
      request: REQUEST,
      purpose: 'raffle',
      public: true,
      beacon,
      due_at: new Date(dueAtMs).toISOString(),
      gives_up_at: new Date(dueAtMs + 24 * HOUR_MS).toISOString(),
      ...more,
    };
  }

  async open(statement: DrawStatement): Promise<void> {
    const known = statement.beacon && (await this.keeper.chainOf('own'));
    const body: DrawBody = {
      statement,
      fingerprint: 'f',
      committed: null,
      nonce: null,
      chain: known?.info ?? null,
      answer: null,
      outcome: null,
    };
    const draw: DrawRecord = {
      id: statement.id,
      accountNumber: 1,
      state: 'opening',
      dueAtMs: Date.parse(statement.due_at),
      body: JSON.stringify(body),
    };
    assert.equal(await this.keeper.openDraw(draw), 'opened');
  }

  /** What the books hold once the answer is durable. */
  answer(statement: DrawStatement): void {
    const metadata = {
      certificate_id: 'cert_1',
      certificate_salt: SALT,
      timestamp: new Date(this.clock.wall).toISOString(),
    };
    const body = utf8Bytes(JSON.stringify({ data: { bytes: SECRET }, metadata }));
    const { id } = statement;
    this.kept.set(`draw/${id} draw ${hashOf(statement)}`, { fields: [], body });
  }

  async commit(statement: DrawStatement): Promise<void> {
    await this.open(statement);
    this.answer(statement);
    await this.keeper.drawCommitted(statement.id);
    await this.keeper.tick();
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

describe('the keeper of draws', () => {
  it('waits for the round of a beacon, and mixes in what it gave', async () => {
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
    assert.ok(answer);
    assert.deepEqual(await w.leaves(), ['draw_commit', 'draw_end']);
    assert.deepEqual(w.keeper.counts(), { open: 0, overdue: 0, revealed: 1, cancelled: 0, failed: 0 });
  });

  it('asks again for a late round, less and less often, and takes it when it comes', async () => {
    const w = await new World().start();
    await w.commit(w.statement());
    drand.asked = 0;
    await w.passTo(dueAt());
    for (let second = 1; second <= 600; second++) await w.passTo(dueAt() + second * 1_000);
    assert.ok(drand.asked >= 10 && drand.asked <= 20, `asked ${drand.asked} times in ten minutes`);
    assert.equal(w.keeper.counts().overdue, 1);
    drand.publish(ROUND);
    await w.passTo(dueAt() + 700_000);
    assert.equal((await w.body()).outcome?.state, 'revealed');
  });

  it('fails forever with its reason when the round never comes, or only a wrong one', async () => {
    for (const [reason, publish] of [
      ['beacon_missing', () => {}],
      ['beacon_wrong', () => drand.publish(ROUND, ROUND + 1)],
    ] as const) {
      drand.reset();
      const w = await new World().start();
      await w.commit(w.statement());
      publish();
      await w.passTo(dueAt());
      await w.passTo(dueAt() + 24 * HOUR_MS - 1);
      assert.equal((await w.body()).outcome, null, 'it waits as long as it said');
      await w.passTo(dueAt() + 24 * HOUR_MS + 60_000);
      const { outcome } = await w.body();
      assert.deepEqual([outcome?.state, outcome?.reason, outcome?.values], ['failed', reason, null]);
      assert.equal(outcome?.secret, SECRET, 'the committed bytes are opened');
      drand.reset();
      drand.publish(ROUND);
      await (await w.start()).passTo(dueAt() + 30 * HOUR_MS);
      assert.deepEqual((await w.body()).outcome, outcome, 'and nothing changes it');
    }
  });

  it('goes on after a restart, with no other result', async () => {
    const w = await new World().start();
    const statement = w.statement();
    await w.commit(statement);
    drand.publish(ROUND);
    await w.start();
    await w.passTo(dueAt() + HOUR_MS);
    assert.deepEqual((await w.body()).outcome?.values, expected(statement, drand.round(ROUND).randomness));
    assert.deepEqual(await w.leaves(), ['draw_commit', 'draw_end']);
  });

  it('commits to a draw that was killed behind its answer, and forgets one killed before it', async () => {
    const w = await new World().start();
    const statement = w.statement();
    await w.open(statement);
    await w.open(w.statement({ id: 'draw_2' }));
    w.answer(statement);
    await w.start();
    assert.deepEqual((await w.body()).committed?.certificate_id, 'cert_1');
    assert.equal(await w.ledger.draw('draw_2'), undefined);
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

  it('starts over a ledger that is held back, and commits at the next start', async () => {
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
    Object.assign(w.ledger, { putDraw });
    await w.start();
    assert.equal((await w.body()).committed?.certificate_id, 'cert_1');
  });

  it('fails a draw whose committed bytes are gone or cannot be opened, and says so', async () => {
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
      lose(w);
      await w.passTo(w.clock.wall + 1_000);
      const { outcome } = await w.body();
      assert.deepEqual([outcome?.state, outcome?.reason, outcome?.secret], ['failed', 'secret_lost', null]);
    }
  });

  it('fails a draw whose caller withholds the nonce, as it said it would', async () => {
    const w = await new World().start();
    const nonce = 'ff';
    const nonceSha256 = 'sha256:a8100ae6aa1940d0b663bb31cd466142ebbdbd5187131b92d93818987832eb89';
    await w.commit(w.statement({ nonce_sha256: nonceSha256 }));
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

  it('cancels no draw in the ten seconds before its round, whatever the draw is due', async () => {
    const w = await new World().start();
    const later = new Date(dueAt() + HOUR_MS).toISOString();
    await w.commit(w.statement({ due_at: later }));
    await w.passTo(dueAt() - 10_000);
    await assert.rejects(w.keeper.cancelDraw('draw_1', 1), { code: 'draw_due' });
  });

  it('ends other draws while a beacon is slow, and asks once for what many draws wait for', async () => {
    const w = new World();
    const answer = Promise.withResolvers<unknown>();
    const asked: string[] = [];
    w.fetchJson = async (from) => {
      const path = from.slice(from.lastIndexOf('/') + 1);
      asked.push(path);
      return path === 'info' ? drand.reply(`/${drand.hash}/info`) : answer.promise;
    };
    await w.start();
    await Promise.all(Array.from({ length: 5 }, () => w.keeper.chainOf('own')));
    assert.deepEqual(asked.splice(0), ['info']);
    for (const id of ['draw_1', 'draw_2', 'draw_3']) await w.commit(w.statement({ id }));
    const { beacon: _, gives_up_at: __, ...plain } = w.statement({ id: 'plain' });
    await w.commit(plain);
    w.clock.advance(dueAt() - w.clock.wall);
    const ticked = w.keeper.tick();
    for (let turn = 0; turn < 1_000 && w.keeper.counts().revealed === 0; turn++)
      await new Promise((resolve) => setImmediate(resolve));
    assert.equal((await w.body('plain')).outcome?.state, 'revealed');
    assert.equal((await w.body()).outcome, null);
    answer.resolve(drand.round(ROUND));
    await ticked;
    assert.equal(w.keeper.counts().revealed, 4);
    assert.deepEqual(asked, [String(ROUND)]);
  });
});
