import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { before, describe, it } from 'node:test';
import { beacon } from '../../clients/typescript/program/beacon.ts';
import { BeaconError, chainOf, dueMs, roundAt } from '../../src/beacon/drand.ts';
import { roundOf } from '../../src/beacon/round.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runCommand } from '../support/run-command.ts';
import { served } from '../support/served.ts';
import { TestBeacon } from '../support/test-beacon.ts';

interface Case {
  readonly name: string;
  readonly hash: string;
  readonly info: Readonly<Record<string, unknown>>;
  readonly round: { readonly round: number; readonly randomness: string; readonly signature: string };
}
const file = new URL('../vectors/beacon/league-of-entropy.json', import.meta.url);
const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: readonly Case[] };

describe('rounds of the public network', () => {
  for (const { name, hash, info, round } of cases) {
    it(`verify under the key of the chain ${name}, and fail when anything was changed`, () => {
      const chain = chainOf(info, hash);
      assert.equal(roundOf(chain, round.round, round).randomness, round.randomness);
      const flipped = round.signature.replace(/..$/, (end) => (end === '00' ? '01' : '00'));
      const changes: [Record<string, unknown>, RegExp][] = [
        [{ signature: flipped }, /does not hold/],
        [{ signature: round.signature.slice(2) }, /does not hold/],
        [{ signature: 'no hex' }, /hex/],
        [{ randomness: '00'.repeat(32) }, /not the hash/],
        [{ round: round.round + 1 }, /not of/],
      ];
      for (const [change, why] of changes)
        assert.throws(() => roundOf(chain, round.round, { ...round, ...change }), {
          name: 'BeaconError',
          message: why,
        });
      const next = { ...round, round: round.round + 1 };
      assert.throws(() => roundOf(chain, next.round, next), /does not hold/);
      for (const change of [
        { period: 31 },
        { genesis_time: 1 },
        { groupHash: '00' },
        { metadata: { beaconID: 'x' } },
      ])
        assert.throws(() => chainOf({ ...info, ...change }, hash), /not of/);
      for (const schemeID of ['bn254', '__proto__', 'toString'])
        assert.throws(() => chainOf({ ...info, schemeID }, hash), BeaconError);
    });
  }

  it('are due at stated times', () => {
    const chain = chainOf(cases[1].info, cases[1].hash);
    assert.equal(new Date(dueMs(chain, 1_000)).toISOString(), '2023-08-23T15:59:24.000Z');
    assert.equal(roundAt(chain, dueMs(chain, 1_000)), 1_000);
    assert.equal(roundAt(chain, dueMs(chain, 1_000) - 1), 999);
    assert.equal(roundAt(chain, 0), 0);
  });
});

const NOW_MS = Date.UTC(2026, 10, 20, 12);
/** The replies of the beacon's server, by path. */
const replies = new Map<string, unknown>();
const own = new TestBeacon(NOW_MS / 1_000 - 90);
const { info: INFO, hash: HASH } = own;

const listener: RequestListener = (request, response) => {
  const reply = replies.get(request.url ?? '');
  response.writeHead(reply === undefined ? 404 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(reply ?? {}));
};
let url = '';
before(async () => {
  url = await served(listener);
});

describe('qrn beacon', () => {
  async function told(round: string, chain = HASH) {
    const args = [round, '--url', url, '--chain', chain, '--json'];
    const { status: code, out } = await runCommand(beacon, args, {}, new ManualClock(NOW_MS));
    return { code, ...(JSON.parse(out) as { state: string; due_at?: string }) };
  }

  it('distinguishes a valid round from a wrong, a missing and a future one', async () => {
    replies.set(`/${HASH}/info`, INFO);
    replies.set(`/${HASH}/public/9`, own.signed(9));
    replies.set(`/${HASH}/public/10`, own.signed(10));
    replies.set(`/${HASH}/public/8`, { ...own.signed(7), round: 8 });
    const latest = await told('latest');
    assert.deepEqual([latest.code, latest], [0, { ...latest, state: 'verified', ...own.signed(10) }]);
    assert.equal((await told('9')).code, 0);
    assert.deepEqual(await told('8').then(({ code, state }) => [code, state]), [1, 'wrong']);
    assert.deepEqual(await told('7').then(({ code, state }) => [code, state]), [1, 'missing']);
    const early = await told('11');
    assert.deepEqual(
      [early.code, early],
      [1, { ...early, state: 'not_due', due_at: '2026-11-20T12:00:10.000Z' }],
    );
    replies.set(`/${'0'.repeat(64)}/info`, INFO);
    assert.deepEqual(await told('9', '0'.repeat(64)).then(({ code, state }) => [code, state]), [1, 'wrong']);
  });
});
