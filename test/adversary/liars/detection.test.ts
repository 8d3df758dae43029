import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aptCutoff, falseAlarmChance, HealthMonitor, rctCutoff } from '../../../src/pool/intake/health.ts';
import { binomialTwoSided } from '../../../src/stats/sp800-22/verdict.ts';
import { rawRead } from '../../support/backends.ts';
import { uniforms } from '../../support/chance.ts';
import { biased, filled, type Model, readsOf, sound, stuck } from './models.ts';
import { aptChance, aptMatches, atLeast, rctSamples, runChance } from './theory.ts';

const CLAIMS = [1, 0.9, 0.8, 0.5, 0.3];
const WINDOW = 1024;

const monitorOf = (width: number, h = 1) => new HealthMonitor({ width, minEntropyPerBit: h });

/** Returns the monitor's first alarm for sound shots followed by single ones; null when no test fails. */
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

/** Returns how many bits at the end of a channel's sound shots equal the value. */
function runBefore(bits: Uint8Array, shots: number, width: number, channel: number, value: number): number {
  let run = 0;
  for (let shot = shots - 1; shot >= 0; shot--, run++) {
    const at = shot * width + channel;
    if (((bits[at >> 3] >> (7 - (at & 7))) & 1) !== value) break;
  }
  return run;
}

describe('cutoffs', () => {
  it('are those of SP 800-90B 4.4, computed again from the sums', () => {
    for (const h of CLAIMS) {
      for (const alphaBits of [20, 30, 40, 60]) {
        assert.equal(rctCutoff(h, alphaBits), rctSamples(alphaBits, h));
        assert.equal(aptCutoff(h, alphaBits), aptMatches(alphaBits, h));
      }
    }
  });

  it('fail a sound window with probability 2 alpha at most, and a sound read no more often than the stated bound', () => {
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

it('a stuck channel fires the RCT at the sample that makes its run C long, whatever came before', () => {
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
      assert.deepEqual([rct.test, rct.grade, rct.channel, rct.observed], ['rct', 'intermittent', channel, c]);
      // One shot a read, so that four more alarms in a row latch the failure, long before its permanent cutoff.
      const grades = Array.from({ length: 5 }, () => found.monitor.check(found.read(1)).grade);
      assert.deepEqual(grades, [...new Array(3).fill('intermittent'), 'permanent', 'permanent']);
    }
  }
});

describe('a channel that is biased', () => {
  /** Returns for how many fresh monitors a test fails on one window. */
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
});
