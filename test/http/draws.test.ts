import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { BeaconChains } from '../../src/beacon/chains.ts';
import { type DrawStatement, hashOf, listSha256 } from '../../src/certificate/draw.ts';
import type { DrawBody } from '../../src/certificate/draw-document.ts';
import { utf8Bytes } from '../../src/core/bytes.ts';
import { ApiError } from '../../src/core/errors.ts';
import { DrawKeeper } from '../../src/draws/keeper.ts';
import { createDraw, type DrawSources } from '../../src/http/draws/create.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import type { DrawRecord } from '../../src/ledger/draw-records.ts';
import { recordingLog } from '../pool/fixtures.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

/** How a request for a committed draw is parsed, and what is fixed, drawn and released for it. */

const NOW_MS = Date.UTC(2027, 0, 1);
const DAY_MS = 86_400_000;
const LIST = ['ada', 'grace', 'barbara', 'katherine'];
const WINNERS = { winners: { count: 2, list: { items: LIST } }, purpose: 'raffle' };
/** A round every three seconds, of which the first was a day ago: round 28,801 is now. */
const CHAIN = {
  chain: { hash: 'c'.repeat(64), periodS: 3, genesisS: (NOW_MS - DAY_MS) / 1_000 },
  info: { of: 'chain' },
};
const ROUND_NOW = 1 + DAY_MS / 3_000;
const round = (round: number, chain = 'quicknet') => ({ beacon: { chain, round } });

interface Keeper {
  /** An error that opening the statement throws; undefined if the draw exists already. */
  readonly opening?: Error | undefined;
  /** An error that drawing the bytes throws. */
  readonly failure?: Error;
}

/** Requests a draw of a service whose keeper has a chain of its own, or says this; and what is done. */
async function asked(
  body: object | string,
  keeps: Keeper = {},
  { key, accountId = 'acct_a', secret = 1 }: { key?: string; accountId?: string; secret?: number } = {},
) {
  const done: string[] = [];
  const opened: DrawRecord[] = [];
  const drawn: { keeping: { untilMs: number; key: string }; label: Record<string, unknown> }[] = [];
  const clock = new ManualClock(NOW_MS);
  const draws = memoryLedger(clock);
  const chains = { chain: async (name: string) => (name === 'quicknet' ? CHAIN : undefined) };
  const idempotency = { kept: async () => undefined };
  const keeper = await DrawKeeper.open({
    ...{ draws, clock, idempotency, log: recordingLog() },
    chains: chains as unknown as BeaconChains,
  });
  const committedDraws = {
    openDraw: async (opening: Parameters<typeof keeper.openDraw>[0]) => {
      if (keeps.opening !== undefined) throw keeps.opening;
      if ('opening' in keeps) return undefined;
      const statement = await keeper.openDraw(opening);
      opened.push((await draws.draw(opening.id))!);
      return statement;
    },
    settleDraw: async () => done.push('settled'),
  };
  const answers = {
    draw: async (keeping: never, _account: unknown, _reservation: unknown, { label }: { label: never }) => {
      drawn.push({ keeping, label });
      if (keeps.failure !== undefined) throw keeps.failure;
      return { isReplay: false, release: () => done.push('erased') };
    },
  };
  let filled = 0;
  const random = {
    fill: (bytes: Uint8Array) => bytes.fill(++filled),
    erase: () => done.push('random erased'),
  };
  const nodeSecret = new Uint8Array(32).fill(secret);
  const exchange = {
    account: { record: { id: accountId, number: 7 } },
    body: utf8Bytes(typeof body === 'string' ? body : JSON.stringify(body)),
    idempotencyKey: key,
    enter: () => ({ release: () => done.push('released') }),
    asForJson: (keeping: unknown) => keeping,
  };
  const sources = { answers, committedDraws, random, nodeSecret } as unknown as DrawSources;
  const made = await createDraw(sources, exchange as unknown as Exchange).catch((error: unknown) => error);
  const { statement, ...rest } = JSON.parse(opened[0]?.body ?? '{}') as DrawBody;
  return { made, done, opened, drawn, statement: statement as DrawStatement | undefined, rest };
}

const codeOf = (made: unknown) => (made instanceof ApiError ? made.code : undefined);

describe('a committed draw', () => {
  it('is fixed before its bytes are drawn, which are bound to what was fixed and kept secret', async () => {
    const request = {
      ...{ ...WINNERS, public: true, user_data: 'said', nonce: '00ff', reveal_at: '2027-01-02T00:00:00.5Z' },
    };
    const { made, done, opened, drawn, statement, rest } = await asked(request);
    const { id } = made as { id: string };
    assert.match(id, /^draw_[0-9a-z]{26}$/);
    const dueMs = NOW_MS + DAY_MS + 500;
    assert.deepEqual(statement, {
      ...{ type: 'draw_statement', version: 1, id, request: { ...statement!.request } },
      ...{ list: { sha256: listSha256(LIST), size: 4 }, purpose: 'raffle', public: true, user_data: 'said' },
      ...{ nonce: '00ff', due_at: new Date(dueMs).toISOString() },
    });
    const { fingerprint, ...others } = rest;
    assert.deepEqual(others, { committed: null, nonce: null, chain: null, answer: null, outcome: null });
    assert.equal(fingerprint, hash('sha256', JSON.stringify(request)), 'by which a retry is known');
    const [{ body: _, ...record }] = opened;
    assert.deepEqual(record, { id, accountNumber: 7, state: 'opening', dueAtMs: dueMs });
    assert.deepEqual(made, { id, isNew: true });
    assert.deepEqual(done, ['random erased', 'erased', 'settled']);
    const [{ keeping, label }] = drawn;
    assert.equal(keeping.untilMs, dueMs + 30 * DAY_MS);
    assert.deepEqual(label, {
      ...{ isPublic: true, purpose: 'raffle', userData: undefined },
      userDataSha256: hashOf(statement!).replace('sha256:', ''),
    });
  });

  it('waits for its round and its nonce, and is given up a day after both could have come', async () => {
    const { drawn, statement, rest } = await asked({
      ...{ ...WINNERS, ...round(ROUND_NOW + 1_000), nonce_sha256: 'ab'.repeat(32) },
      ...{ user_data_sha256: 'cd'.repeat(32), reveal_at: '2027-01-01T00:00:01Z' },
    });
    const dueMs = NOW_MS + 3_000_000;
    const { due_at, gives_up_at, beacon, nonce_sha256, user_data_sha256 } = statement!;
    assert.deepEqual(
      [due_at, gives_up_at].map((at) => Date.parse(at!)),
      [dueMs, dueMs + DAY_MS],
    );
    assert.deepEqual(beacon, { chain: CHAIN.chain.hash, round: ROUND_NOW + 1_000 });
    assert.deepEqual(
      [nonce_sha256, user_data_sha256],
      [`sha256:${'ab'.repeat(32)}`, `sha256:${'cd'.repeat(32)}`],
    );
    assert.deepEqual(rest.chain, CHAIN.info);
    assert.equal(drawn[0].keeping.untilMs, dueMs + 31 * DAY_MS);
    const beforeReveal = await asked({
      ...WINNERS,
      ...round(ROUND_NOW + 4),
      reveal_at: '2027-01-03T00:00:00Z',
    });
    assert.equal(beforeReveal.statement?.due_at, '2027-01-03T00:00:00.000Z');
  });

  const at = (ms: number) => ({ ...WINNERS, reveal_at: new Date(NOW_MS + ms).toISOString() });
  const times: [what: string, body: object, code: string | undefined][] = [
    ['for now', at(0), undefined],
    ['for a moment ago', at(-1), 'invalid_reveal_at'],
    ['in 366 days', at(366 * DAY_MS), undefined],
    ['a moment later', at(366 * DAY_MS + 1), 'invalid_reveal_at'],
    ['of a round in twelve seconds', { ...WINNERS, ...round(ROUND_NOW + 4) }, undefined],
    ['of a round in nine seconds', { ...WINNERS, ...round(ROUND_NOW + 3) }, 'beacon_round_past'],
    ['of a round in 366 days', { ...WINNERS, ...round(ROUND_NOW + 366 * (ROUND_NOW - 1)) }, undefined],
    [
      'of the round behind it',
      { ...WINNERS, ...round(ROUND_NOW + 366 * (ROUND_NOW - 1) + 1) },
      'invalid_beacon',
    ],
    ['of another chain', { ...WINNERS, ...round(ROUND_NOW + 9, 'elsewhere') }, 'invalid_beacon'],
  ];
  for (const [what, body, code] of times)
    it(`is ${code ?? 'accepted'} ${what}`, async () => {
      const { made, done, opened } = await asked(body);
      assert.equal(codeOf(made), code);
      if (code !== undefined) assert.deepEqual([done.at(-1), opened.length], ['released', 0]);
    });

  const keepers: [what: string, keeper: Keeper, code: string | undefined, done: string[]][] = [
    ['made already', { opening: undefined }, undefined, ['released']],
    ['one too many', { opening: new ApiError('draws_full') }, 'draws_full', ['released']],
    // the answer releases what was reserved for it
    ['without entropy', { failure: new ApiError('entropy_unavailable') }, 'entropy_unavailable', ['settled']],
    ['perhaps durable', { failure: new Error('the ledger stopped') }, undefined, []],
  ];
  for (const [what, keeper, code, due] of keepers)
    it(`that is ${what} results in ${code ?? (due.length > 0 ? 'the same draw' : 'the fault itself')}`, async () => {
      const { made, done, drawn } = await asked(WINNERS, keeper, { key: 'k' });
      assert.deepEqual([codeOf(made), done], [code, due]);
      assert.equal(drawn.length, keeper.failure === undefined ? 0 : 1);
      if (code === undefined && due.length > 0) assert.equal((made as { isNew: boolean }).isNew, false);
    });

  it('has one id for a key, and another for each account and node', async () => {
    const idOf = async (of: object) => ((await asked(WINNERS, {}, of)).made as { id: string }).id;
    const key = 'k'.repeat(255);
    const ids = await Promise.all(
      [{ key }, { key, accountId: 'acct_b' }, { key, secret: 2 }, { key: 'j' }].map(idOf),
    );
    assert.equal(new Set(ids).size, 4);
    assert.equal(await idOf({ key }), ids[0]);
    for (const other of ['', `${key}k`, 'a b', 'é']) {
      const { made, done } = await asked(WINNERS, {}, { key: other });
      assert.deepEqual([codeOf(made), done], ['invalid_idempotency_key', ['released']]);
    }
  });
});
