import { printable } from '../certificate/members.ts';
import type { Verification } from '../certificate/verify.ts';

/** A line per check with what it found; then what no check is about. */
export function verificationText({ checks, notCovered }: Verification): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.map(
    ({ name, ok, why }) => `${ok ? 'ok    ' : 'FAILED'}  ${name.padEnd(width)}  ${printable(why)}`,
  );
  if (notCovered.length > 0) lines.push(`no certificate speaks of ${printable(notCovered.join(', '))}`);
  return lines.map((line) => `${line}\n`).join('');
}

/** The verdict in one line; `what` was verified. */
export function verdictText({ checks }: Verification, what: string): string {
  const failed = checks.filter(({ ok }) => !ok).map(({ name }) => name);
  return failed.length === 0 ? `${what}: verified` : `${what}: not verified: ${failed.join(', ')} failed`;
}
