import { type HealthCounters, HealthMonitor } from '../../../src/pool/intake/health.ts';
import { binomialTwoSided } from '../../../src/stats/sp800-22/verdict.ts';
import { fixedBytes, rawRead } from '../../support/backends.ts';
import { aptChance, aptMatches, rctSamples, runChance } from './theory.ts';

const WINDOW = 1024;
const WIDTH = 16;

/** How often something was seen among sound bits, and how often theory says that it is. */
export interface Tally {
  readonly what: string;
  readonly trials: number;
  readonly seen: number;
  readonly chance: number;
  /** Two-sided, exact. */
  readonly p: number;
}

function tally(what: string, trials: number, seen: number, chance: number): Tally {
  return { what, trials, seen, chance, p: binomialTwoSided(trials, seen, chance) };
}

/** What the tests see in reads of one window, each by a monitor of its own, at cutoffs of alphas that can be counted. */
export function countedAlphas(reads: number): Tally[] {
  const source = fixedBytes('windows');
  const bits = new Uint8Array((WINDOW * WIDTH) / 8);
  const counted = [
    ...[12, 14, 16, 18].map((alphaBits) => {
      const run = rctSamples(alphaBits, 1);
      const isSeen = ({ longestRun }: HealthCounters) => longestRun >= run;
      return {
        what: `RCT of ${run}, alpha 2^-${alphaBits}`,
        chance: runChance(0.5, run, WINDOW),
        isSeen,
        seen: 0,
      };
    }),
    ...[4, 6, 8, 10, 12].map((alphaBits) => {
      const matches = aptMatches(alphaBits, 1);
      const isSeen = ({ mostMatches }: HealthCounters) => mostMatches >= matches;
      return {
        what: `APT of ${matches}, alpha 2^-${alphaBits}`,
        chance: aptChance(0.5, matches),
        isSeen,
        seen: 0,
      };
    }),
  ];
  for (let read = 0; read < reads; read++) {
    source(bits);
    const monitor = new HealthMonitor({ width: WIDTH, minEntropyPerBit: 1 });
    const { counters } = monitor.check(rawRead(bits, WIDTH, WINDOW));
    for (const each of counted) if (each.isSeen(counters)) each.seen++;
  }
  // the counters are those of any channel
  return counted.map(({ what, seen, chance }) =>
    tally(what, reads, seen, -Math.expm1(WIDTH * Math.log1p(-chance))),
  );
}

/** Alarms at the real cutoffs among so many sound bits, consecutive samples of one source. `report` hears of each. */
export function alarmsAmong(
  bits: number,
  report: (line: string) => void,
): { readonly rct: Tally; readonly apt: Tally } {
  const shots = 2 ** 18;
  const source = fixedBytes('alarms');
  const read = new Uint8Array((shots * WIDTH) / 8);
  const monitor = new HealthMonitor({ width: WIDTH, minEntropyPerBit: 1 });
  const reads = Math.ceil(bits / (shots * WIDTH));
  const seen = { rct: 0, apt: 0, replay: 0, startup: 0 };
  for (let i = 1; i <= reads; i++) {
    source(read);
    const { failures, grade } = monitor.check(rawRead(read, WIDTH, shots));
    for (const { test, channel, observed } of failures) {
      seen[test]++;
      report(`  read ${i} of ${reads}: ${test} on channel ${channel}, ${observed}, ${grade}`);
    }
  }
  const samples = reads * shots * WIDTH;
  // A run of 31 or more begins at a sample with 1/2 that it begins there, and 2^-30 that it goes on.
  const rct = tally('RCT of 31, alpha 2^-30', samples, seen.rct, 2 ** -31);
  const apt = tally('APT of 609, alpha 2^-30', samples / WINDOW, seen.apt + seen.replay, aptChance(0.5, 609));
  return { rct, apt };
}
