/**
 * What `npm run test:full` runs and `npm test` does not, by the start of the path: tests with processes that are killed, with
 * programs of others, or that take more than five core-seconds (`node test/run.ts --times TEXT`) where shorter ones guard the same seam.
 */
const FULL_ONLY: readonly string[] = [
  'test/adversary/abuse/',
  'test/adversary/crash/',
  'test/adversary/draws.test.ts',
  'test/adversary/fuzz/',
  'test/adversary/liars/',
  'test/api/fronts.test.ts',
  'test/api/stream.test.ts',
  'test/api/tls.test.ts',
  'test/browser/',
  'test/certificate/cosigning.test.ts',
  'test/certificate/incarnation.test.ts',
  'test/cli/assess.test.ts',
  'test/cli/client.test.ts',
  'test/cli/entropy-dossier.test.ts',
  'test/cli/evidence.test.ts',
  'test/cli/heard.test.ts',
  'test/client/browser.test.ts',
  'test/client/package.test.ts',
  'test/clients/',
  'test/deploy/',
  'test/docs/evidence.test.ts',
  'test/docs/pages.test.ts',
  'test/docs/readme.test.ts',
  'test/http/openapi-types.test.ts',
  'test/http/parsing-time.test.ts',
  'test/ledger/crash.test.ts',
  'test/ledger/postgres/',
  'test/overload/stalled.test.ts',
  'test/pool/intake/job-crash.test.ts',
  'test/secrets/',
  'test/service/cluster.test.ts',
  'test/service/exit.test.ts',
  'test/service/fixed-before.test.ts',
  'test/service/idle.test.ts',
  'test/service/import-lmdb.test.ts',
  'test/service/outage.test.ts',
  'test/service/restart.test.ts',
  'test/service/self-test.test.ts',
  'test/service/told-faults.test.ts',
  'test/sources/',
  'test/stats/sp800-90b/known-answers.test.ts',
];

export function isInFastTier(file: string): boolean {
  return !FULL_ONLY.some((prefix) => file.startsWith(prefix));
}
