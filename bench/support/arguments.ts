import { parseArgs } from 'node:util';
import { talk } from './reporter.ts';
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

/** The arguments are invalid; the message is for the user. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Runs a program of the bench. Invalid arguments give one line on stderr and exit code 2. */
export async function main(program: () => Promise<void>): Promise<void> {
  try {
    await program();
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (!(error instanceof UsageError) && !code.startsWith('ERR_PARSE_ARGS')) throw error;
    talk(message);
    process.exitCode = 2;
  }
}

/** Parses the arguments. Throws a UsageError or an error of parseArgs. */
export function readArguments(args: readonly string[]): BenchArguments {
  const flag = { type: 'boolean', default: false } as const;
  const text = { type: 'string' } as const;
  const options = { long: flag, rounds: text, seconds: text, help: flag };
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
  const usual = values.long ? LONG_EFFORT : EFFORT;
  const effort = {
    rounds: wholeNumber('--rounds', values.rounds, usual.rounds),
    seconds: wholeNumber('--seconds', values.seconds, usual.seconds),
  };
  return { operands: positionals, effort, help: values.help };
}

/** Parses the value of an option. Throws a UsageError. */
export function wholeNumber(option: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new UsageError(`${option} is a whole number from 1 on`);
  return Number(text);
}

/** Returns the suites with these names, in running order. */
export function chooseSuites(names: readonly string[], suites: readonly Suite[]): readonly Suite[] {
  const unknown = names.find((name) => !suites.some((suite) => suite.name === name));
  if (unknown !== undefined) {
    throw new UsageError(
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
