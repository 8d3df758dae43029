import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ORIGINS } from '../../../src/core/vocabulary.ts';
import {
  plot,
  type StatusFacts,
  type StatusPoint,
  type StatusSource,
  statusMain,
} from '../../../src/http/pages/status-page.ts';

const NOW = 1_700_003_600_000;

const POINT: StatusPoint = {
  atMs: NOW - 5_000,
  status: 'pass',
  pureBytes: 4 * 2 ** 20,
  seeds: 200,
  requestsPerS: 12,
  commitMaxMs: 8,
};

const SOURCE: StatusSource = {
  name: 'simulator',
  origin: 'simulated',
  backend: 'simulator-statevector',
  state: 'ok',
  lastLotAtMs: NOW,
  share: 1,
  lots: { estimates: [], driftAlarmBits: 20, pValues: { counts: new Array(10).fill(0), blocks: 0, p: 1 } },
};

const FACTS: StatusFacts = {
  atMs: NOW,
  startedAtMs: NOW - 7_200_000,
  version: '1.2.3',
  status: 'pass',
  checks: [
    { name: 'ledger:writable', status: 'pass' },
    { name: 'pool:pure', status: 'pass' },
  ],
  sources: [SOURCE],
  pure: { bytes: 4 * 2 ** 20, highBytes: 8 * 2 ** 20, secondsLeft: 7_300 },
  seeds: { onHand: 1200, secondsLeft: 200_000, inForce: true },
  csprngReady: true,
  requestsPerS: 12,
  commitP50Ms: 2,
  logEntries: 1234567,
  history: [POINT],
};

const pageOf = (change: Partial<StatusFacts> = {}) => statusMain({ ...FACTS, ...change }).text;
const sourceOf = (...changes: Partial<StatusSource>[]) =>
  pageOf({ sources: changes.map((change) => ({ ...SOURCE, ...change })) });

describe('the status page', () => {
  it('names a quantum source only where there is one', () => {
    for (const origin of ORIGINS) {
      const text = sourceOf({ origin });
      const quantum = /A quantum (processor|device) is the source/.test(text);
      assert.equal(quantum, origin === 'quantum-processor' || origin === 'qrng-device', origin);
      assert.equal(/SIMULATED/.test(text), origin === 'simulated', origin);
    }
  });

  it('says of several sources what is not quantum first', () => {
    const qpu = { name: 'ibm', origin: 'quantum-processor', backend: 'ibm_fez' } as const;
    const device = { name: 'anu', origin: 'qrng-device', backend: 'anu', state: 'standby' } as const;
    assert.match(sourceOf(qpu, qpu), /Quantum processors are the sources/);
    assert.match(
      sourceOf(qpu, device),
      /Quantum processors and devices are the sources\.<\/strong> ibm_fez, state: ok; anu, state: standby\./,
    );
    for (const origin of ['simulated', 'replay', 'system'] as const) {
      const text = sourceOf(qpu, { name: 'other', origin });
      assert.match(text, /banner wait"><p><strong>MIXED: not every source is a quantum one\./, origin);
      assert.match(text, /<\/strong> other is [a-z ]+\. Every answer names the origin/);
    }
    assert.match(sourceOf({}, { name: 'second' }), /SIMULATED.*programs that simulate one/);
  });

  it('lists every source with its state and share', () => {
    const text = sourceOf(
      { share: 0.754 },
      { name: 'anu', origin: 'qrng-device', state: 'failing', share: 0.246, lastLotAtMs: null },
    );
    assert.match(
      text,
      /<code>simulator<\/code><\/dt>\s*<dd><strong class="works">ok<\/strong>, simulated, gave 75 % of/,
    );
    assert.match(
      text,
      /<code>anu<\/code><\/dt>\s*<dd><strong class="closed">failing<\/strong>, a quantum device, gave 25 % .*, no lot yet/,
    );
  });

  it('says what is not as it should be', () => {
    assert.match(pageOf(), /Everything works\.<\/strong> All 2 checks pass\./);
    const checks = [
      { name: 'pool:seed_age', status: 'fail' },
      { name: 'pool:seed_age', status: 'fail' },
      { name: 'disk:free', status: 'warn' },
    ] as const;
    const text = pageOf({ status: 'warn', checks });
    assert.match(
      text,
      /Working, with warnings\.<\/strong> Not as it should be: pool:seed_age \(fail\), disk:free \(warn\)\./,
    );
    assert.match(pageOf({ status: 'fail', checks }), /banner bad.*Nothing can be answered now/);
  });

  it('tells which modes are served and how long stocks last', () => {
    const text = pageOf();
    assert.match(text, /1,200 seeds on hand, enough for 2 days without new lots/);
    assert.match(text, /4\.00 MiB on hand, enough for 2 hours without new lots/);
    assert.equal([...text.matchAll(/>Served</g)].length, 3);
    const closed = sourceOf({ state: 'closed' });
    const half = sourceOf({ state: 'closed' }, { name: 'second' });
    assert.match(half, /<code>pure<\/code><\/dt>\s*<dd><strong class="works">Served/);
    assert.match(closed, /<code>pure<\/code><\/dt>\s*<dd><strong class="closed">Not served/);
    assert.match(pageOf({ pure: { ...FACTS.pure, secondsLeft: 119 } }), /enough for 1 minutes/);
    assert.doesNotMatch(pageOf({ pure: { ...FACTS.pure, secondsLeft: null } }), /MiB on hand, enough/);
  });

  it('draws the worst of each minute', () => {
    const history = [
      { ...POINT, atMs: NOW - 30 * 60_000 },
      { ...POINT, atMs: NOW - 30 * 60_000 + 10_000, status: 'fail' as const },
      { ...POINT, atMs: NOW - 10 * 60_000, status: 'warn' as const },
      POINT,
    ];
    const text = pageOf({ history });
    assert.match(text, /1 pass, 1 with warnings, 1 failing, 57 not recorded/);
    const bars = [...text.matchAll(/<rect class="(\w+)"/g)].map(([, status]) => status);
    assert.deepEqual([bars[30], bars[50], bars[59], bars[0]], ['fail', 'warn', 'pass', 'none']);
  });

  it('escapes what a source calls itself', () => {
    const text = sourceOf({ backend: '<script>alert(1)</script>"' });
    assert.ok(!text.includes('<script>'));
  });
});

describe('a plot', () => {
  const series = (points: { atMs: number; value: number }[]) =>
    plot({ label: 'Level', unit: 'MiB', points, text: String, atLeast: 10 }, NOW, 3_600_000).text;

  it('says in words what it shows', () => {
    const text = series([
      { atMs: NOW - 20_000, value: 3 },
      { atMs: NOW - 10_000, value: 7 },
      { atMs: NOW, value: 5 },
    ]);
    assert.match(text, /aria-label="Level: now 5 MiB, least 3, most 7\."/);
    assert.match(text, /<path class="line" d="M358\.0 51\.0L359\.0 23\.0L360\.0 37\.0"\/>/);
  });

  it('does not draw over the time in which nothing was recorded', () => {
    const text = series([
      { atMs: NOW - 600_000, value: 1 },
      { atMs: NOW - 590_000, value: 1 },
      { atMs: NOW - 10_000, value: 2 },
      { atMs: NOW, value: 2 },
    ]);
    assert.equal([...text.matchAll(/class="line"/g)].length, 2);
  });

  it('of nothing is empty', () => {
    const text = series([]);
    assert.match(text, /nothing was recorded yet/);
    assert.doesNotMatch(text, /class="line"|NaN|Infinity/);
  });
});
