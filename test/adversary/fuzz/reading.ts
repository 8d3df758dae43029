import { Chance } from '../../support/chance.ts';
import { dictionaryOf, mutated } from './mutate.ts';
import type { FuzzTarget } from './targets/target.ts';

export interface Finding {
  readonly input: Uint8Array;
  readonly why: string;
}

export interface Readings {
  executions: number;
  /** Count of each kind of outcome. */
  readonly outcomes: Map<string, number>;
  finding: Finding | undefined;
}

export interface ReadingOptions {
  readonly seed: number;
  readonly seeds: readonly Uint8Array[];
  /** Called before each input is read, so that a watcher knows which one never ended. */
  readonly before?: (input: Uint8Array) => void;
  /** Processor time after which a read is a finding; without it reads may take their time. */
  readonly slowMs?: number;
  readonly isDone: (readings: Readings) => boolean;
}

/**
 * Mutates the initial inputs, and those with a new kind of outcome, until `isDone` returns true. Guidance by V8's
 * coverage did not help: in the time that it took, fewer inputs were read, and they had no more kinds of outcome.
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
      const kind = await target.read(input.slice()); // a copy, because what the reader keeps or changes must not reach the corpus
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

/** Returns the processor time of the whole process: unlike wall time, other processes do not lengthen it. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
