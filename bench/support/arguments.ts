import { parseArgs } from 'node:util';
import type { BenchRun, Suite } from './suite.ts';

export interface BenchArguments {
  readonly operands: readonly string[];
  readonly effort: Pick<BenchRun, 'rounds' | 'seconds'>;
  readonly help: boolean;
}

const EFFORT = { rounds: 3, seconds: 1 };
const LONG_EFFORT = { rounds: 9, seconds: 3 };

export const OPTIONS_HELP = `  --long         ${LONG_EFFORT.rounds} rounds of ${LONG_EFFORT.seconds} s instead of ${EFFORT.rounds} of ${EFFORT.seconds} s
  --rounds N     counted rounds of each contender
  --seconds N    load of one round, whole seconds
  --help`;

/** Throws a TypeError or RangeError with a sentence when the arguments make no sense. */
export function readArguments(args: readonly string[]): BenchArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      long: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const usual = values.long ? LONG_EFFORT : EFFORT;
  const effort = {
    rounds: wholeNumber('--rounds', values.rounds, usual.rounds),
    seconds: wholeNumber('--seconds', values.seconds, usual.seconds),
  };
  return { operands: positionals, effort, help: values.help };
}

function wholeNumber(option: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new RangeError(`${option} is a whole number from 1 on`);
  return Number(text);
}

/** The suites of these names, in their own order. */
export function chooseSuites(names: readonly string[], suites: readonly Suite[]): readonly Suite[] {
  const unknown = names.find((name) => !suites.some((suite) => suite.name === name));
  if (unknown !== undefined) {
    throw new RangeError(
      `there is no suite ${unknown}; there are ${suites.map(({ name }) => name).join(', ')}`,
    );
  }
  return suites.filter((suite) => names.includes(suite.name));
}

export function listOf(suites: readonly Suite[]): string {
  return suites
    .map(
      ({ name, summary, byDefault }) =>
        `  ${name.padEnd(24)} ${summary}${byDefault ? '' : ' (only when named)'}`,
    )
    .join('\n');
}
