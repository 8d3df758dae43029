import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ORIGINS } from '../../../src/core/vocabulary.ts';
import { bars, figuresPlot } from '../../../src/http/pages/plots.ts';
import { type StatusFacts, type StatusSource, statusMain } from '../../../src/http/pages/status-page.ts';
import { FACTS, NOW, POINT, SOURCE } from './status-facts.ts';

const pageOf = (change: Partial<StatusFacts> = {}) => statusMain({ ...FACTS, ...change }).text;
const sourceOf = (...changes: Partial<StatusSource>[]) =>
  pageOf({ sources: changes.map((change) => ({ ...SOURCE, ...change })) });

describe('the status page', () => {
  it('says of a declared device that nothing attests it, alone and among others', () => {
    const declared = { name: 'card', origin: 'qrng-device', isDeclared: true } as const;
    const processor = { name: 'ibm', origin: 'quantum-processor' } as const;
    for (const text of [sourceOf(declared), sourceOf(processor, declared), sourceOf({}, declared)]) {
      assert.match(text, /card(?:<\/code>.*?| is )declared to be quantum by its operator/s);
      assert.doesNotMatch(text, /QUANTUM:/);
    }
    assert.match(sourceOf(declared), /banner wait"><p><strong>DECLARED: /);
  });

  it('names a quantum source only if there is one', () => {
    for (const origin of ORIGINS) {
      const text = sourceOf({ origin });
      const quantum = /banner good"><p><strong>QUANTUM: /.test(text);
      assert.equal(quantum, origin === 'quantum-processor' || origin === 'qrng-device', origin);
      assert.equal(/SIMULATED/.test(text), origin === 'simulated', origin);
    }
  });

  it('names the non-quantum ones of several sources first', () => {
    const qpu = { name: 'ibm', origin: 'quantum-processor', backend: 'ibm_fez' } as const;
    const device = { name: 'anu', origin: 'qrng-device', backend: 'anu', state: 'standby' } as const;
    assert.match(
      sourceOf(qpu, device),
      /ibm_fez is a quantum processor, state: ok; anu is a quantum device, state: standby\./,
    );
    for (const origin of ['simulated', 'replay', 'system'] as const) {
      const text = sourceOf(qpu, { name: 'other', origin });
      assert.match(text, /banner wait"><p><strong>MIXED: not every source is a quantum source\./, origin);
      assert.match(
        text,
        /<\/strong> The source other is [a-z ]+\. Every answer and every certificate states the origin of its entropy/,
      );
    }
    assert.match(
      sourceOf({}, { name: 'second' }),
      /SIMULATED.*The source simulator is simulated; the source second is simulated\./,
    );
  });

  it('lists every source with its state and share', () => {
    const text = sourceOf(
      { share: 0.754 },
      { name: 'anu', origin: 'qrng-device', state: 'failing', share: 0.246, lastLot: null },
    );
    assert.match(
      text,
      /<code>simulator<\/code><\/dt>\s*<dd><strong class="tone good">ok<\/strong>, simulated, provided 75 % of/,
    );
    assert.match(
      text,
      /<code>anu<\/code><\/dt>\s*<dd><strong class="tone bad">failing<\/strong>, a quantum device, provided 25 % .*, no lot yet/,
    );
  });

  it('lists the failing checks', () => {
    assert.match(pageOf(), /Everything works\.<\/strong> All 2 checks pass\./);
    const checks = [
      { name: 'pool:seed_age', status: 'fail' },
      { name: 'pool:seed_age', status: 'fail' },
      { name: 'disk:free', status: 'warn' },
    ] as const;
    const text = pageOf({ status: 'warn', checks });
    assert.match(
      text,
      /The service works, with warnings\.<\/strong> These checks do not pass: pool:seed_age \(fail\), disk:free \(warn\)\./,
    );
    assert.match(pageOf({ status: 'fail', checks }), /banner bad.*The service cannot answer requests now/);
  });

  it('shows which modes are served and how long stocks last', () => {
    const text = pageOf();
    assert.match(text, /1,200 seeds available, enough for 2 days without new lots/);
    assert.match(text, /4\.00 MiB available, enough for 2 hours without new lots/);
    assert.equal([...text.matchAll(/>Served</g)].length, 3);
    const closed = sourceOf({ state: 'closed' });
    const half = sourceOf({ state: 'closed' }, { name: 'second' });
    assert.match(half, /<code>pure<\/code><\/dt>\s*<dd><strong class="tone good">Served/);
    assert.match(closed, /<code>pure<\/code><\/dt>\s*<dd><strong class="tone bad">Not served/);
    assert.match(pageOf({ pure: { ...FACTS.pure, secondsLeft: 119 } }), /enough for 119 seconds/);
    assert.doesNotMatch(pageOf({ pure: { ...FACTS.pure, secondsLeft: null } }), /MiB available, enough/);
  });

  it('shows times in units that a reader can use', () => {
    const seeds = { ...FACTS.seeds, secondsLeft: null };
    const left = (secondsLeft: number) =>
      /enough for (\d+ \w+)/.exec(pageOf({ seeds, pure: { ...FACTS.pure, secondsLeft } }))?.[1];
    const told = [7_199, 7_200, 172_799, 172_800].map(left);
    assert.deepEqual(told, ['119 minutes', '2 hours', '47 hours', '2 days']);
    const [mode] = FACTS.modes;
    const latency = (latencyMs: typeof mode.latencyMs) =>
      [...pageOf({ modes: [{ ...mode, latencyMs }] }).matchAll(/<td>([^<]*)<\/td>/g)]
        .slice(2)
        .map(([, text]) => text);
    assert.deepEqual(latency([0.4, 0.5, 9.94]), ['≤ 0.5', '0.5', '9.9']);
    assert.deepEqual(latency([10, 1_233.6, 0]), ['10', '1,234', '≤ 0.5']);
    assert.deepEqual(latency(null), ['–', '–', '–']);
    assert.match(pageOf({ csprngReady: false }), />Ready<\/strong>, system entropy; the first request/);
  });

  it('draws the worst status of each minute', () => {
    const history = [
      { ...POINT, atMs: NOW - 30 * 60_000 },
      { ...POINT, atMs: NOW - 30 * 60_000 + 10_000, status: 'fail' as const },
      { ...POINT, atMs: NOW - 10 * 60_000, status: 'warn' as const },
      POINT,
    ];
    const text = pageOf({ history });
    assert.match(text, /1 of 3 recorded intervals without problems, 1 with warnings, 1 failing/);
    const bars = [...text.matchAll(/<rect class="(\w+)"/g)].map(([, status]) => status);
    assert.deepEqual([bars[30], bars[50], bars[59], bars[0]], ['bad', 'wait', 'good', 'none']);
  });

  it('describes the last lots of a source in words too, even one or none', () => {
    const estimates = [0.84, 0.86, 0.83].map((minEntropyPerBit, i) => ({ minEntropyPerBit, alarmBits: i }));
    const text = sourceOf({ lots: { estimates, alarmBits: 20 } });
    assert.match(
      text,
      /aria-label="Min-entropy of simulator: now 0\.830 bits per bit, least 0\.830 · most 0\.860\."/,
    );
    assert.match(text, /aria-label="Alarm of simulator: now 2\.0 bits, alarm at 20/);
    assert.match(text, /class="line" d="M0\.0 [\d.]+L180\.0 [\d.]+L360\.0 [\d.]+"/);
    const one = sourceOf({ lots: { estimates: estimates.slice(0, 1), alarmBits: 20 } });
    assert.match(one, /class="line" d="M0\.0 ([\d.]+)L360\.0 \1"/);
    const none = sourceOf({});
    assert.match(none, /Min-entropy of simulator: now –, nothing yet/);
    assert.doesNotMatch(none, /NaN|Infinity/);
  });
});

describe('a service that has just started', () => {
  it('gathers entropy, which is not reported as a fault', () => {
    const fresh = {
      sources: [{ ...SOURCE, lastLot: null, state: 'starting' }],
      pure: { ...FACTS.pure, bytes: 0 },
      seeds: { ...FACTS.seeds, inForce: false },
      csprngReady: false,
    };
    const states = (text: string) =>
      [...text.matchAll(/<dd><strong class="tone (\w+)">([^<]+)</g)]
        .slice(0, 3)
        .map(([, tone, word]) => [tone, word]);
    assert.deepEqual(states(pageOf(fresh)), [
      ['wait', 'Gathering entropy'],
      ['wait', 'Gathering entropy'],
      ['good', 'Ready'],
    ]);
    const [seeded, pure] = states(pageOf({ ...fresh, sources: [SOURCE] }));
    assert.deepEqual(
      [seeded, pure],
      [
        ['bad', 'Not served'],
        ['bad', 'Not served'],
      ],
    );
  });

  it('draws its first minutes over the whole width', () => {
    const history = [0, 10, 20].map((s) => ({ ...POINT, atMs: NOW - 1_000 * s })).reverse();
    const text = pageOf({ history, startedAtMs: NOW - 30_000 });
    assert.match(text, /5 minutes ago/);
    assert.doesNotMatch(text, /an hour ago/);
    const line = /class="line" d="M336\.0 /.test(text);
    assert.ok(line, 'twenty seconds are a fifteenth of five minutes');
  });
});

describe('the plots of the last hour', () => {
  it('range up to a request a second, 10 ms, a full stock and 64 seeds, unless there is more', () => {
    const half = {
      ...POINT,
      requestsPerS: 0.5,
      commitMaxMs: 5,
      pureBytes: FACTS.pure.highBytes / 2,
      seeds: 32,
    };
    const text = pageOf({ history: [half] });
    assert.deepEqual(
      [...text.matchAll(/class="line" d="M([\d.]+) ([\d.]+)/g)].map(([, x, y]) => [x, y]),
      Array.from({ length: 4 }, () => ['359.5', '37.0']),
    );
    const values = [...text.matchAll(/<span>[^<]*<\/span> <strong>([^<]*)</g)].map(([, value]) => value);
    assert.deepEqual(values.slice(1, 5), ['0.5 per s', '5.0 ms', '4.00 MiB', '32 seeds']);
  });
});

describe('a plot', () => {
  const FIGURES = { unit: 'MiB', digits: 0, top: 10, ends: ['then', 'now'], x: [0, 100] } as const;
  const drawn = (points: { x: number; y: number }[], gap = 10) =>
    /class="line" d="([^"]*)"/.exec(figuresPlot('Level', points, { ...FIGURES, gap }).text)?.[1];

  it('leaves the time blank in which nothing was recorded', () => {
    const points = [0, 5, 90, 95].map((x) => ({ x, y: 1 }));
    assert.equal(drawn(points)?.match(/M/g)?.length, 2);
    assert.equal(drawn(points, 1_000)?.match(/M/g)?.length, 1);
  });

  it('starts its bars at the base line, upwards and downwards', () => {
    const texts = { label: 'Level', value: '5 MiB', words: 'Level: 5 MiB.', axis: ['then', 'now'] } as const;
    const frame = { ...texts, y: [-1, 1], from: 0 } as const;
    const tops = [...bars([1, -1], frame).text.matchAll(/ y="([\d.]+)" width="[\d.]+" height="([\d.]+)"/g)];
    assert.deepEqual(
      tops.map(([, top, height]) => `${top} ${height}`),
      ['2.0 35.0', '37.0 35.0'],
    );
  });
});
