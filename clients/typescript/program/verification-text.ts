import { printable } from '../../../src/certificate/members.ts';
import type { Verification } from '../../../src/certificate/verify.ts';
import type { DrawVerification } from '../../../src/certificate/verify-draw.ts';

/** The exit statuses of both verifiers, besides 0. */
export const TAMPERED = 1;
export const NOT_CHECKED = 2;
/** The draw is the one that was logged, and it has no valid result. */
export const WITHOUT_RESULT = 3;

/** Returns the exit status for a verification. */
export function exitStatusOf(verification: Verification | DrawVerification): 0 | 1 | 3 {
  if (!verification.ok) return TAMPERED;
  const standing = 'standing' in verification ? verification.standing : 'revealed';
  return standing === 'revealed' ? 0 : WITHOUT_RESULT;
}

/** Returns whether the document is a committed draw, which contains its certificate. */
export function isDraw(document: unknown): boolean {
  return (document as { type?: unknown } | null | undefined)?.type === 'draw';
}

/** Returns a line for each check with its finding, and a line that names the members that no check covers. */
export function verificationText({ checks, notCovered }: Verification): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.map(
    ({ name, ok, why }) => `${ok ? 'ok    ' : 'FAILED'}  ${name.padEnd(width)}  ${printable(why)}`,
  );
  if (notCovered.length > 0)
    lines.push(`not covered by the certificate: ${printable(notCovered.join(', '))}`);
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * Returns the verdict on `what` in one line. For a draw without a result it states where the draw stands, even though
 * every check holds.
 */
export function verdictText(verification: Verification | DrawVerification, what: string): string {
  const failed = verification.checks.filter(({ ok }) => !ok).map(({ name }) => name);
  if (failed.length > 0) return `${what}: not verified: ${failed.join(', ')} failed`;
  if (!('standing' in verification) || verification.advice === undefined) return `${what}: verified`;
  return `${what}: ${verification.standing}: ${printable(verification.advice)}`;
}
