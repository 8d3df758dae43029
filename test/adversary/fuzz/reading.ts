import { Chance } from '../../support/chance.ts';
import { dictionaryOf, mutated } from './mutate.ts';
import type { FuzzTarget } from './targets/target.ts';

export interface Finding {
  readonly input: Uint8Array;
  readonly why: string;
}

export interface Readings {
  executions: number;
  /** How often each kind of outcome came. */
  readonly outcomes: Map<string, number>;
  finding: Finding | undefined;
}

export interface ReadingOptions {
  readonly seed: number;
  readonly seeds: readonly Uint8Array[];
  /** Called before each input is read, so that a watcher can tell which one never ended. */
  readonly before?: (input: Uint8Array) => void;
  /** Processor time after which a read is a finding; without it reads may take their time. */
  readonly slowMs?: number;
  readonly isDone: (readings: Readings) => boolean;
}

/**
 * Changes the inputs to begin with, and those that had a new kind of outcome, for as long as `isDone` says no. Coverage by V8 did not
 * guide it further: in the time that it took fewer inputs were read, and they had no more kinds of outcome.
 */
export async function fuzzReader(target: FuzzTarget, options: ReadingOptions): Promise<Readings> {
  const { seeds, before = () => {}, slowMs = Number.POSITIVE_INFINITY, isDone } = options;
  const readings: Readings = { executions: 0, outcomes: new Map(), finding: undefined };
  const random = new Chance(options.seed);
  const words = dictionaryOf(target.words, seeds);
  const corpus: Uint8Array[] = [new Uint8Array(0), ...seeds];
  const begin = corpus.slice();
  while (readings.finding === undefined && (begin.length > 0 || !isDone(readings))) {
    const input = begin.shift() ?? mutated(random.pick(corpus), random, corpus, words);
    before(input);
    readings.executions++;
    const startedMs = processorMs();
    try {
      const kind = await target.read(input.slice()); // its own copy: what it keeps or changes must not reach the corpus
      const seen = readings.outcomes.get(kind) ?? 0;
      readings.outcomes.set(kind, seen + 1);
      if (seen === 0 && !corpus.includes(input)) corpus.push(input);
      const tookMs = processorMs() - startedMs;
      if (tookMs > slowMs)
        readings.finding = { input, why: `${input.length} bytes took ${Math.round(tookMs)} ms` };
    } catch (error) {
      readings.finding = {
        input,
        why: error instanceof Error ? (error.stack ?? error.message) : String(error),
      };
    }
  }
  return readings;
}

/** Of the whole process: other processes do not make a read slow, as they would by the clock. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
