import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Account } from '../../../src/account/directory.ts';
import { createCell, Meter } from '../../../src/account/meter.ts';
import { type Allowance, TIER_ALLOWANCES } from '../../../src/account/tiers.ts';
import type { Drawn } from '../../../src/answer/answer.ts';
import type { Answers } from '../../../src/answer/answers.ts';
import { ApiError } from '../../../src/core/errors.ts';
import { demoRoute } from '../../../src/http/demo-routes.ts';
import type { Exchange } from '../../../src/http/exchange.ts';
import { type InfoRouteSources, infoRoutes } from '../../../src/http/info-routes.ts';
import { loadPageAssets } from '../../../src/http/pages/assets.ts';
import { SYSTEM_RANDOM } from '../../../src/http/request-id.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { FACTS } from './status-facts.ts';

/** Requests without a key take little work, however many come. */

describe('the figures of the status page', () => {
  it('are made once a second, for hundreds of readers', async () => {
    let looks = 0;
    const clock = new ManualClock();
    const status = async () => {
      looks++;
      return FACTS;
    };
    const sources = { clock, status, hasDemo: () => false } as unknown as InfoRouteSources;
    const { handler } = infoRoutes(sources, loadPageAssets()).find(({ path }) => path === '/status')!;
    const read = async () => (await handler({} as Exchange)).body;
    const bodies = await Promise.all(Array.from({ length: 300 }, read));
    assert.equal(new Set(bodies).size, 1);
    assert.match(
      Buffer.from(bodies[0]).toString(),
      /quantum-seeded<\/code><\/th><td>0<\/td><td>1,200<\/td><td>≤ 0\.5</,
    );
    assert.equal(looks, 1);
    clock.advance(1_000);
    await read();
    assert.equal(looks, 2);
  });
});

describe('the samples of the status page', () => {
  const demo = (limits: Partial<Allowance> = {}) => {
    const allowance = { ...TIER_ALLOWANCES.pro, ...limits };
    return { allowance, meter: new Meter(createCell(allowance)) } as Account;
  };
  /** Draws on the first of a month. */
  const drawing = (account: Account | undefined, clock = new ManualClock(Date.UTC(2026, 10, 1, 12))) => {
    let drawn = 0;
    const answers = {
      async draw(): Promise<Drawn> {
        drawn++;
        return { body: new Uint8Array([drawn]), isReplay: false, release: () => {} };
      },
    } as unknown as Answers;
    let looks = 0;
    const directory = {
      demo() {
        looks++;
        return account;
      },
    };
    const die = demoRoute({ answers, directory, clock, random: SYSTEM_RANDOM });
    const roll = async () => (await die.handler({} as Exchange)).body[0];
    return { clock, roll, drawn: () => drawn, looks: () => looks };
  };

  it('take one answer a second, however many ask', async () => {
    const { clock, roll, drawn } = drawing(demo());
    const rolled = await Promise.all(Array.from({ length: 1_000 }, roll));
    assert.deepEqual([new Set(rolled).size, drawn()], [1, 1]);
    clock.advance(999);
    await roll();
    assert.equal(drawn(), 1);
    clock.advance(1);
    assert.equal(await roll(), 2);
  });

  const codeOf = (roll: () => Promise<number>) =>
    roll().then(
      () => 'answered',
      (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
    );

  it('leave half of the burst to the holder of the key, and are refused when there is no demo account', async () => {
    const account = demo({ requestsPerMinute: 20 });
    const { clock, roll, drawn } = drawing(account);
    for (let second = 0; second < 60; second++, clock.advance(1_000)) await codeOf(roll);
    assert.ok(drawn() >= 15 && drawn() < 40, `${drawn()} draws in a minute of 20`);
    for (let request = 0; request < 14; request++) {
      assert.ok(account.meter.enter(clock.monotonic, 202_611).isAllowed, `request ${request} of the holder`);
    }
    assert.equal(await codeOf(roll), 'rate_limited');
    assert.equal(await codeOf(drawing(undefined).roll), 'not_found');
  });

  it('leave half of the monthly quota to the holder of the key, and get a new share each day', async () => {
    const account = demo({ requestsPerMonth: 6_200 });
    const { clock, roll, drawn } = drawing(account);
    const ask = async (seconds: number) => {
      for (let second = 0; second < seconds; second++, clock.advance(1_000)) await codeOf(roll);
    };
    await ask(200);
    assert.equal(drawn(), 100, 'a thirty-first of the half on the first day');
    clock.advance(12 * 60 * 60_000);
    await ask(200);
    assert.equal(drawn(), 200);
    clock.advance(27 * 24 * 60 * 60_000);
    await ask(4_000);
    assert.equal(drawn(), 2_900, 'on the 29th');
    assert.equal(account.meter.left(202_611).requests, 3_300);
  });

  it('share a refusal for a second, so that repeated requests do not search all accounts again', async () => {
    const { clock, roll, looks } = drawing(undefined);
    const refused = () => Promise.all(Array.from({ length: 100 }, () => assert.rejects(roll(), ApiError)));
    await refused();
    assert.equal(looks(), 1);
    clock.advance(1_000);
    await refused();
    assert.equal(looks(), 2);
  });
});
