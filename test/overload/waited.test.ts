import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DEMO_ACCOUNT_NAME } from '../../src/account/directory.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { Budget } from '../../src/fair/budget.ts';
import { fetchWhole } from '../support/http.ts';
import { overloadedFront, turn } from './stack.ts';

const REQUESTS = 30;
const LOOK_MS = 10;

it('answers that waited for the same seed are made in turns of the loop, not all at once', async (t) => {
  let isSlow = false;
  let aheadMs = 0;
  const clock: Clock = {
    ...systemClock,
    // every look takes a fifth of what an owner may use in a turn
    monotonicMs: () => systemClock.monotonicMs() + (isSlow ? (aheadMs += LOOK_MS) : aheadMs),
  };
  const seedCame: ((isThere: boolean) => void)[] = [];
  const askForSeed = () => new Promise<boolean>((resolve) => seedCame.push(resolve));
  const front = await overloadedFront(clock, 0, { askForSeed });
  t.after(() => front.stop());
  const key = await front.account({ seedIntervalMs: 7_000 });

  const { committer } = front.stack;
  const add = committer.add.bind(committer);
  let together = 0;
  let most = 0;
  committer.add = (...given) => {
    if (together++ === 0) setImmediate(() => (together = 0));
    most = Math.max(most, together);
    add(...given);
  };

  const replies = Promise.all(Array.from({ length: REQUESTS }, () => front.get(key, '/bytes?count=32')));
  while (seedCame.length < REQUESTS) await turn();
  front.installSeed(7_000);
  isSlow = true;
  for (const come of seedCame) come(true);
  const statuses = (await replies).map(({ status }) => status);
  isSlow = false;
  assert.deepEqual(statuses, Array(REQUESTS).fill(200));
  assert.ok(most < REQUESTS / 2, `${most} of ${REQUESTS} at once`);
});

it('an answer is shed when too many wait for a seed', async (t) => {
  const seedCame = Promise.withResolvers<boolean>();
  const front = await overloadedFront(systemClock, 0, { askForSeed: () => seedCame.promise });
  t.after(() => front.stop());
  const key = await front.account({ seedIntervalMs: 7_000 });
  const { hold } = Budget.prototype;
  let waiting: Budget | undefined;
  t.mock.method(Budget.prototype, 'hold', function (this: Budget, ...given: Parameters<typeof hold>) {
    waiting ??= this;
    return hold.apply(this, given);
  });
  const first = front.get(key, '/uuid');
  while (waiting === undefined) await turn();
  const others = waiting.add(99, LIMITS.waitingDrawsMax - 1);
  let isOver = false;
  const second = front.get(key, '/uuid').finally(() => (isOver = true));
  for (let turns = 0; turns < 200 && !isOver; turns++) await turn();
  others.resize(0);
  front.installSeed(7_000);
  seedCame.resolve(true);
  assert.equal((await second).body.error?.code, 'overloaded');
  assert.equal((await first).status, 200);
  assert.equal(waiting.total, 0);
});

it('a throw of the demo that waited for a seed is made in a turn of the demo account', async (t) => {
  const seedCame = Promise.withResolvers<boolean>();
  const asked = Promise.withResolvers<void>();
  const askForSeed = () => {
    asked.resolve();
    return seedCame.promise;
  };
  const front = await overloadedFront(systemClock, 0, { askForSeed });
  t.after(() => front.stop());
  const expiresAtMs = systemClock.wallMs() + 3_600_000;
  await front.account({ seedIntervalMs: 7_000 }, { name: DEMO_ACCOUNT_NAME, expiresAtMs });
  const added = t.mock.method(front.stack.committer, 'add');
  const thrown = fetchWhole(new URL('/demo/die', front.stack.baseUrl).href, { method: 'POST' });
  await asked.promise;
  front.installSeed(7_000);
  seedCame.resolve(true);
  for (let i = 0; i < 100; i++) await Promise.resolve(); // what follows at once
  assert.equal(added.mock.callCount(), 0);
  assert.equal((await thrown).status, 200);
  assert.equal(added.mock.callCount(), 1);
});
