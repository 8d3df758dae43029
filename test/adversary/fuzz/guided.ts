import { Chance } from '../../support/chance.ts';
import type { CoverageProbe } from './coverage-probe.ts';
import { dictionaryOf, mutated } from './mutate.ts';
import type { FuzzTarget } from './targets/target.ts';

export interface Finding {
  readonly input: Uint8Array;
  readonly why: string;
}

export interface GuidedOutcome {
  executions: number;
  /** Characters of the sources that some input ran. */
  characters: number;
  /** Inputs that ran something new or had a new kind of outcome. */
  readonly corpus: Uint8Array[];
  readonly outcomes: Map<string, number>;
  finding: Finding | undefined;
}

export interface GuidedOptions {
  readonly seed: number;
  readonly seeds: readonly Uint8Array[];
  /** Without one inputs are kept by their outcome alone. */
  readonly probe?: CoverageProbe;
  /** Called before each input is read, so that a watcher can tell which one never ended. */
  readonly before?: (input: Uint8Array) => void;
  /** Processor time after which a read is a finding; without it reads may take their time. */
  readonly slowMs?: number;
  readonly isDone: (outcome: GuidedOutcome) => boolean;
}

/** Inputs between two readings of the coverage. */
const BATCH = 256;
/**
 * Mutates inputs that did something new, for as long as `isDone` says no. Many inputs share one reading of the coverage; when
 * it shows something new, halves are run again until the input is found.
 */
export async function fuzzGuided(target: FuzzTarget, options: GuidedOptions): Promise<GuidedOutcome> {
  const run = new GuidedRun(target, options);
  const { outcome } = run;
  const random = new Chance(options.seed);
  const words = dictionaryOf(target.words, options.seeds);
  for (const input of [new Uint8Array(0), ...options.seeds]) await run.take([input]);
  while (outcome.finding === undefined && !options.isDone(outcome)) {
    const { corpus } = outcome;
    await run.take(Array.from({ length: BATCH }, () => mutated(random.pick(corpus), random, corpus, words)));
  }
  return outcome;
}

class GuidedRun {
  readonly outcome: GuidedOutcome = {
    executions: 0,
    characters: 0,
    corpus: [],
    outcomes: new Map(),
    finding: undefined,
  };
  readonly #target: FuzzTarget;
  readonly #before: (input: Uint8Array) => void;
  readonly #slowMs: number;
  readonly #probe: CoverageProbe | undefined;

  constructor(
    target: FuzzTarget,
    { before = () => {}, probe, slowMs = Number.POSITIVE_INFINITY }: GuidedOptions,
  ) {
    this.#slowMs = slowMs;
    this.#target = target;
    this.#before = before;
    this.#probe = probe;
  }

  /** Reads the inputs and keeps those that do something new. */
  async take(inputs: readonly Uint8Array[]): Promise<void> {
    for (const input of inputs) {
      if (this.outcome.finding !== undefined) return;
      await this.#read(input);
    }
    const probe = this.#probe;
    const fresh = probe?.take() ?? [];
    if (probe === undefined || fresh.length === 0) return;
    if (inputs.length > 1) {
      const middle = inputs.length >>> 1;
      await this.take(inputs.slice(0, middle));
      await this.take(inputs.slice(middle));
    } else this.#keep(inputs[0]);
    probe.keep(fresh); // what neither half showed again happens once in a process
    this.outcome.characters = probe.characters;
  }

  async #read(input: Uint8Array): Promise<void> {
    const { outcome } = this;
    this.#before(input);
    outcome.executions++;
    const startedMs = processorMs();
    try {
      // its own copy: what it keeps or changes must not reach the corpus
      const read = this.#target.read(input.slice());
      const kind = typeof read === 'string' ? read : await read;
      const seen = outcome.outcomes.get(kind) ?? 0;
      outcome.outcomes.set(kind, seen + 1);
      if (seen === 0) this.#keep(input);
      const tookMs = processorMs() - startedMs;
      if (tookMs > this.#slowMs) {
        outcome.finding = { input, why: `${input.length} bytes took ${Math.round(tookMs)} ms` };
      }
    } catch (error) {
      const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
      outcome.finding = { input, why };
    }
  }

  #keep(input: Uint8Array): void {
    const { corpus } = this.outcome;
    if (!corpus.includes(input)) corpus.push(input);
  }
}

/** Of the whole process: other processes do not make a read slow, as they would by the clock. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** What a thread is told that tries one target. */
export interface GuidedOrder {
  readonly target: string;
  readonly seed: number;
  readonly seconds: number;
  /** Int32: inputs begun, and the length of the one that is read now; behind them its bytes. */
  readonly current: SharedArrayBuffer;
}

export const CURRENT_HEAD_BYTES = 8;
