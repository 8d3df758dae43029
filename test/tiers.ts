/** What `npm run test:full` runs and `npm test` does not. */
const FULL_ONLY: readonly string[] = [
  'test/adversary/abuse/',
  'test/adversary/cluster/',
  'test/adversary/crash/',
  'test/adversary/draws.test.ts',
  'test/adversary/fuzz/grammar.test.ts',
  'test/browser/',
  'test/client/browser.test.ts',
  'test/clients/python.test.ts',
  'test/pool/intake/job-crash.test.ts',
  'test/secrets/',
];

export function isInFastTier(file: string): boolean {
  return !FULL_ONLY.some((prefix) => file.startsWith(prefix));
}
