import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ORIGINS } from '../../../src/core/vocabulary.ts';
import { plot, spanOf } from '../../../src/http/pages/hour-plots.ts';
import { eventOf, liveTexts } from '../../../src/http/pages/status-live.ts';
import { type StatusFacts, type StatusSource, statusMain } from '../../../src/http/pages/status-page.ts';
import { FACTS, NOW, POINT, SOURCE } from './status-facts.ts';

const pageOf = (change: Partial<StatusFacts> = {}) => statusMain({ ...FACTS, ...change }, true).text;
const sourceOf = (...changes: Partial<StatusSource>[]) =>
  pageOf({ sources: changes.map((change) => ({ ...SOURCE, ...change })) });

describe('the status page', () => {
  it('says of a declared device that nothing attests it, alone and among others', () => {
    const declared = { name: 'card', origin: 'qrng-device', isDeclared: true } as const;
    const processor = { name: 'ibm', origin: 'quantum-processor' } as const;
    for (const text of [sourceOf(declared), sourceOf(processor, declared), sourceOf({}, declared)]) {
      assert.match(text, /card(?:<\/code>.*?| is )declared to be quantum by its operator/s);
      assert.doesNotMatch(text, /quantum (devices?|processors?( and devices)?) (is|are) the source/i);
    }
    assert.match(sourceOf(declared), /banner wait"><p><strong>DECLARED: /);
  });

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

  it('lists the checks that do not pass', () => {
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

  it('draws the worst status of each minute', () => {
    const history = [
      { ...POINT, atMs: NOW - 30 * 60_000 },
      { ...POINT, atMs: NOW - 30 * 60_000 + 10_000, status: 'fail' as const },
      { ...POINT, atMs: NOW - 10 * 60_000, status: 'warn' as const },
      POINT,
    ];
    const text = pageOf({ history });
    assert.match(text, /1 of 3 recorded pieces pass, 1 with warnings, 1 failing/);
    const bars = [...text.matchAll(/<rect class="(\w+)"/g)].map(([, status]) => status);
    assert.deepEqual([bars[30], bars[50], bars[59], bars[0]], ['fail', 'warn', 'pass', 'none']);
  });

  it('escapes what a source calls itself', () => {
    const text = sourceOf({ backend: '<script>alert(1)</script>"' });
    assert.ok(!text.includes('<script>'));
  });
});

describe('an event of the status page', () => {
  const eventData = (facts: StatusFacts) => {
    const [retry, id, data, ...end] = eventOf(facts).split('\n');
    assert.deepEqual([retry, id, end], ['retry: 2000', `id: ${facts.atMs}`, ['', '']]);
    return JSON.parse(data.slice('data: '.length)) as Record<string, string>;
  };

  it('brings every text that the page holds, as the page says it', () => {
    const texts = eventData(FACTS);
    const held = [...pageOf().matchAll(/data-live="([^"]+)">([^<]*)</g)].map(([, key, text]) => [key, text]);
    assert.ok(held.length > 25);
    for (const [key, text] of held) assert.equal(texts[key], text, key);
    for (const [, key] of pageOf().matchAll(/data-live-(?:path|label)="([^"]+)"/g))
      assert.ok(key in texts, key);
    assert.equal(texts['quantum-seeded-p50'], '≤ 0.5');
    assert.equal(texts['quantum-seeded-p99'], '12');
    assert.equal(texts['csprng-p99'], '–');
  });

  it('changes its edition with what only a reload shows', () => {
    const { edition } = liveTexts(FACTS);
    assert.equal(liveTexts({ ...FACTS, logEntries: 7, atMs: NOW + 5 })['edition'], edition);
    const newestLot = { ...SOURCE.newestLot!, id: 'lot_00000000000000000000000001' };
    assert.notEqual(liveTexts({ ...FACTS, sources: [{ ...SOURCE, newestLot }] })['edition'], edition);
    assert.notEqual(liveTexts({ ...FACTS, status: 'warn' })['edition'], edition);
  });
});

describe('a service that has just started', () => {
  it('draws its first minutes over the whole width', () => {
    const history = [0, 10, 20].map((s) => ({ ...POINT, atMs: NOW - 1_000 * s })).reverse();
    const text = pageOf({ history, startedAtMs: NOW - 30_000 });
    assert.match(text, /5 minutes ago/);
    assert.doesNotMatch(text, /an hour ago/);
    const [, line] = /data-live-path="requests-line"|d="(M336\.0 [^"]+)" data-live-path="requests-line"/.exec(
      text,
    )!;
    assert.ok(line !== undefined, 'twenty seconds are a fifteenth of five minutes');
  });
});

describe('a plot', () => {
  const series = (points: { atMs: number; value: number }[]) =>
    plot(
      { key: 'level', label: 'Level', unit: 'MiB', points, text: String, atLeast: 10 },
      spanOf(NOW, NOW - 7_200_000),
    ).text;

  it('says in words what it shows', () => {
    const text = series([
      { atMs: NOW - 20_000, value: 3 },
      { atMs: NOW - 10_000, value: 7 },
      { atMs: NOW, value: 5 },
    ]);
    assert.match(text, /aria-label="Level: now 5 MiB, least 3, most 7\."/);
    assert.match(text, /<path class="line" d="M358\.0 51\.0L359\.0 23\.0L360\.0 37\.0"/);
  });

  it('does not draw over the time in which nothing was recorded', () => {
    const text = series([
      { atMs: NOW - 600_000, value: 1 },
      { atMs: NOW - 590_000, value: 1 },
      { atMs: NOW - 10_000, value: 2 },
      { atMs: NOW, value: 2 },
    ]);
    assert.equal(/class="line" d="([^"]*)"/.exec(text)![1].match(/M/g)?.length, 2);
  });

  it('is empty when nothing was recorded', () => {
    const text = series([]);
    assert.match(text, /nothing was recorded yet/);
    assert.match(text, /class="line" d=""/);
    assert.doesNotMatch(text, /NaN|Infinity/);
  });
});
