import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { reachedFrom } from '../support/import-graph.ts';

/**
 * The tests of each room, in steps: the next step runs on the mutants that the one before let live. First the tests that
 * mirror the room, then those of other rooms that call it, and last those that send requests to a running service.
 */
export const ROOMS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  account: [
    ['test/account/*.test.ts'],
    ['test/cli/administration.test.ts', 'test/cli/period.test.ts', 'test/http/reply-fields.test.ts'],
    ['test/api/{auth,limits,tiers}.test.ts'],
  ],
  answer: [
    ['test/answer/*.test.ts'],
    ['test/overload/{admission,pending}.test.ts', 'test/workers/dispatch.test.ts'],
    ['test/api/{data,limits,modes,octets,refused,requests,text-forms,batch-integers}.test.ts'],
  ],
  certificate: [
    ['test/certificate/*.test.ts'],
    ['test/cli/{evidence,log,log-watch,verify}.test.ts', 'test/service/{cosigning,ledger-link}.test.ts'],
    ['test/api/{certificates,octets,text-forms}.test.ts'],
  ],
  ledger: [
    ['test/ledger/**/*.test.ts'],
    ['test/contract/*.test.ts', 'test/cli/administration.test.ts'],
    ['test/api/{data,labels,tiers}.test.ts'],
  ],
  http: [
    ['test/http/**/*.test.ts', 'test/overload/*.test.ts'],
    ['test/api/*.test.ts'],
    ['test/adversary/abuse/*.test.ts'],
  ],
  pool: [
    ['test/pool/**/*.test.ts'],
    [
      'test/adversary/liars/*.test.ts',
      'test/certificate/certificate.test.ts',
      'test/observe/evidence-checks.test.ts',
    ],
    ['test/api/{data,modes}.test.ts', 'test/service/{filling-order,self-test}.test.ts'],
  ],
  stats: [['test/stats/**/*.test.ts']],
  values: [
    ['test/values/*.test.ts'],
    ['test/answer/make.test.ts', 'test/workers/dispatch.test.ts'],
    ['test/api/{data,parameters*,batch-integers,text-forms}.test.ts'],
  ],
};

/**
 * The test files that can load a source: those with its name or that import it first, then the others, the fewest imports
 * away first.
 */
export function guardsOf(source: string, tests: readonly string[]): string[][] {
  const name = basename(source, '.ts');
  const rank = (test: string) =>
    basename(test).startsWith(name) ? 0 : (reachedFrom(test).get(source) ?? Number.POSITIVE_INFINITY);
  const ranked = tests.map((test) => ({ test, rank: rank(test) })).filter(({ rank }) => rank < Infinity);
  ranked.sort((one, other) => one.rank - other.rank);
  const near = ranked.filter(({ rank }) => rank <= 1);
  const far = ranked.filter(({ rank }) => rank > 1);
  return [near, far].filter(({ length }) => length > 0).map((some) => some.map(({ test }) => test));
}

/** The files that match patterns, each of which must match one. */
export function filesOf(patterns: readonly string[]): string[] {
  const matching = patterns.map((pattern) => globSync(pattern));
  const idle = matching.findIndex((files) => files.length === 0);
  if (idle !== -1) throw new Error(`no test file matches ${patterns[idle]}`);
  return [...new Set(matching.flat())].sort();
}
