import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aptCutoff, falseAlarmChance, HealthMonitor, rctCutoff } from '../../../src/pool/intake/health.ts';
import { binomialTwoSided } from '../../../src/stats/sp800-22/verdict.ts';
import { rawRead } from '../../support/backends.ts';
import { uniforms } from '../../support/chance.ts';
import { biased, filled, type Model, markov, readsOf, sound, stuck } from './models.ts';
import { aptChance, aptMatches, atLeast, rctSamples, runChance } from './theory.ts';

const CLAIMS = [1, 0.9, 0.8, 0.5, 0.3];
const WINDOW = 1024;
/** A trial that takes longer than what chance allows with this probability is a failure of the test, not bad luck. */
const NEVER = 2 ** -20;

const monitorOf = (width: number, h = 1) => new HealthMonitor({ width, minEntropyPerBit: h });

/** What the monitor says of sound shots and then of single ones, until a test fails; null when none does. */
function firstAlarm(model: Model, label: string, h: number, soundShots: number, samplesMax: number) {
  const random = uniforms(label);
  const monitor = monitorOf(model.width, h);
  const before = filled(sound(model.width).rule(random), soundShots, model.width);
  const start = monitor.check(rawRead(before, model.width, soundShots));
  assert.equal(start.grade, 'pass', label);
  const read = readsOf(model, label);
  for (let samples = 1; samples <= samplesMax; samples++) {
    const { failures } = monitor.check(read(1));
    if (failures.length > 0) return { samples, failures, monitor, before, read };
  }
  return null;
}

/** Equal bits of the value at the end of a channel's sound shots. */
function runBefore(bits: Uint8Array, shots: number, width: number, channel: number, value: number): number {
  let run = 0;
  for (let shot = shots - 1; shot >= 0; shot--, run++) {
    const at = shot * width + channel;
    if (((bits[at >> 3] >> (7 - (at & 7))) & 1) !== value) break;
  }
  return run;
}

describe('cutoffs', () => {
  it('are those of SP 800-90B 4.4, from sums of their own', () => {
    for (const h of CLAIMS) {
      for (const alphaBits of [20, 30, 40, 60]) {
        assert.equal(rctCutoff(h, alphaBits), rctSamples(alphaBits, h));
        assert.equal(aptCutoff(h, alphaBits), aptMatches(alphaBits, h));
      }
    }
  });

  it('leave a sound window at most 2 alpha, and a read no more than the bound of its false alarms', () => {
    for (const h of CLAIMS) {
      const p = 2 ** -h;
      const chance = Math.max(atLeast(WINDOW - 1, aptMatches(30, h) - 1, p), aptChance(p, aptMatches(30, h)));
      assert.ok(chance <= 2 * 2 ** -30, `${h}: ${chance * 2 ** 30} alpha`);
    }
    for (const shots of [1024, 4096]) {
      const exact =
        runChance(0.5, rctSamples(30, 1), shots) + (shots / WINDOW) * aptChance(0.5, aptMatches(30, 1));
      assert.ok(16 * exact <= falseAlarmChance({ shots, width: 16 }));
    }
  });
});

describe('a channel that sticks', () => {
  it('fires the RCT with the sample that makes its run C long, whatever was before', () => {
    for (const h of CLAIMS) {
      const c = rctSamples(30, h);
      for (let trial = 0; trial < 24; trial++) {
        const [width, channel, value] = [[1, 5, 16][trial % 3], trial % [1, 5, 16][trial % 3], trial & 1];
        const shots = WINDOW + trial;
        const found = firstAlarm(stuck([channel], value, width), `stuck ${h} ${trial}`, h, shots, c);
        assert.ok(found !== null, 'within C samples');
        const run = runBefore(found.before, shots, width, channel, value);
        assert.equal(found.samples, c - run);
        const [rct] = found.failures;
        assert.deepEqual(
          [rct.test, rct.grade, rct.channel, rct.observed],
          ['rct', 'intermittent', channel, c],
        );
        // one shot a read, so that four more alarms in a row latch it, long before its permanent cutoff
        const grades = Array.from({ length: 5 }, () => found.monitor.check(found.read(1)).grade);
        assert.deepEqual(grades, [...new Array(3).fill('intermittent'), 'permanent', 'permanent']);
      }
    }
  });

  it('fires the RCT on every channel, when all of them do', () => {
    for (const value of [0, 1]) {
      const all = Array.from({ length: 16 }, (_, channel) => channel);
      const shots = WINDOW;
      const monitor = monitorOf(16);
      const before = filled(sound().rule(uniforms('all')), shots, 16);
      monitor.check(rawRead(before, 16, shots));
      const c = rctSamples(30, 1);
      const { failures, grade } = monitor.check(readsOf(stuck(all, value), 'all')(c));
      assert.equal(grade, 'intermittent');
      assert.deepEqual(
        failures.map(({ channel, observed }) => [channel, observed]),
        all.map((channel) => [channel, c + runBefore(before, shots, 16, channel, value)]),
      );
    }
  });

  it('closes the source at a read that holds the permanent run, at any place', () => {
    for (let trial = 0; trial < 40; trial++) {
      const random = uniforms(`within ${trial}`);
      const length = rctSamples(60, 0.8);
      const from = Math.floor(random() * (4096 - length));
      const channel = trial % 16;
      const sticks = (shot: number, at: number) => at === channel && shot >= from && shot < from + length;
      const bits = filled((shot, at) => (sticks(shot, at) ? 1 : random() < 0.5 ? 1 : 0), 4096, 16);
      const verdict = monitorOf(16, 0.8).check(rawRead(bits, 16, 4096));
      assert.equal(verdict.grade, 'permanent');
      assert.ok(verdict.failures.every((failure) => failure.channel === channel));
    }
  });
});

describe('a channel that is biased', () => {
  /** Fresh monitors, one window each: how many of them a test fails for. */
  function alarms(ones: number, h: number, trials: number) {
    const read = readsOf(biased(ones, 1), `biased ${ones} ${h}`);
    const count = { rct: 0, apt: 0 };
    for (let trial = 0; trial < trials; trial++) {
      for (const { test } of monitorOf(1, h).check(read(WINDOW)).failures) {
        if (test === 'rct' || test === 'apt') count[test]++;
      }
    }
    return count;
  }

  for (const [ones, h] of [
    [0.6, 1],
    [0.58, 1],
    [0.4, 1],
    [0.7, 1],
    [0.65, 0.9],
    [0.66, 0.8],
    [0.9, 1],
    [0.9, 0.8],
    [0.8, 0.5],
  ]) {
    it(`fires as often as theory says: 1 at ${ones}, claim ${h}`, () => {
      const trials = 1200;
      const { rct, apt } = alarms(ones, h, trials);
      const within = (seen: number, chance: number, what: string) => {
        const p =
          chance >= 1 || chance <= 0
            ? Number(seen === trials * chance)
            : binomialTwoSided(trials, seen, chance);
        assert.ok(p > 1e-6, `${what}: ${seen} of ${trials}, ${chance} expected, p ${p}`);
      };
      within(apt, aptChance(ones, aptMatches(30, h)), 'APT');
      within(rct, runChance(ones, rctSamples(30, h), WINDOW), 'RCT');
    });
  }

  it('is found within the windows that theory gives, among sound channels', () => {
    for (const ones of [0.6, 0.9]) {
      const perWindow = aptChance(ones, aptMatches(30, 1));
      // Above what the RCT finds as well; NEVER = (1 - perWindow)^windows
      const windows = Math.ceil(Math.log(NEVER) / Math.log1p(-perWindow));
      for (let trial = 0; trial < 60; trial++) {
        const monitor = monitorOf(16);
        const read = readsOf(biased(ones), `among ${ones} ${trial}`);
        let taken = 0;
        for (; taken < windows; taken++) {
          const { failures } = monitor.check(read(WINDOW));
          if (failures.length === 0) continue;
          assert.ok(failures.every(({ channel }) => channel === 0));
          break;
        }
        assert.ok(taken < windows, `${ones}: not in ${windows} windows`);
      }
    }
  });

  it('is found when its drift makes it likely, neither before nor after', () => {
    // 1 at 0.5 + 0.0005 a window
    const onesIn = (window: number) => 0.5 + 0.0005 * window;
    const chance = Array.from({ length: 400 }, (_, window) => aptChance(onesIn(window), aptMatches(30, 1)));
    let unseen = 1;
    const unseenAfter = chance.map((each) => (unseen *= 1 - each));
    const [earliest, latest] = [1 - NEVER, NEVER].map((level) =>
      unseenAfter.findIndex((each) => each < level),
    );
    assert.ok(earliest > 0 && latest > earliest, `${earliest} ${latest}`); // both within the 400
    for (let trial = 0; trial < 30; trial++) {
      const monitor = monitorOf(1);
      const drifting: Pick<Model, 'width' | 'rule'> = {
        width: 1,
        rule: (random) => (shot) => (random() < onesIn(Math.floor(shot / WINDOW)) ? 1 : 0),
      };
      const read = readsOf(drifting, `drift ${trial}`);
      let window = 0;
      while (monitor.check(read(WINDOW)).grade === 'pass') window++;
      assert.ok(window >= earliest && window <= latest, `${window}`);
    }
  });
});

describe('shots that stay as they were', () => {
  it('fire the RCT as often as runs of that length are', () => {
    const [stay, trials] = [0.8, 600];
    const read = readsOf(markov(stay, 1), 'stay');
    let seen = 0;
    for (let trial = 0; trial < trials; trial++) {
      seen += monitorOf(1)
        .check(read(WINDOW))
        .failures.filter(({ test }) => test === 'rct').length;
    }
    // A run of C equal samples is C - 1 stays in a row: a run of that length of ones of bias `stay`, zeros ending it.
    const c = rctSamples(30, 1);
    const chance = staysChance(stay, c - 1, WINDOW - 1);
    assert.ok(binomialTwoSided(trials, seen, chance) > 1e-6, `${seen} of ${trials}, ${chance} expected`);
  });

  /** The chance of `length` stays in a row among so many. */
  function staysChance(stay: number, length: number, steps: number): number {
    let under = new Float64Array(length);
    under[0] = 1;
    let found = 0;
    for (let step = 0; step < steps; step++) {
      const next = new Float64Array(length);
      for (let run = 0; run < length; run++) {
        if (run + 1 < length) next[run + 1] += under[run] * stay;
        else found += under[run] * stay;
        next[0] += under[run] * (1 - stay);
      }
      under = next;
    }
    return found;
  }
});
