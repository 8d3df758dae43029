import { printable } from '../../../src/certificate/members.ts';
import type { Verification } from '../../../src/certificate/verify.ts';
import type { DrawVerification } from '../../../src/certificate/verify-draw.ts';

/** The exit statuses of both verifiers beside 0. */
export const TAMPERED = 1;
export const NOT_CHECKED = 2;
/** A draw that is what was logged, and has no result that counts. */
export const WITHOUT_RESULT = 3;

/** The exit status that a verification comes to. */
export function exitStatusOf(verification: Verification | DrawVerification): 0 | 1 | 3 {
  if (!verification.ok) return TAMPERED;
  const standing = 'standing' in verification ? verification.standing : 'revealed';
  return standing === 'revealed' ? 0 : WITHOUT_RESULT;
}

/** A committed draw, which holds its certificate itself. */
export function isDraw(document: unknown): boolean {
  return (document as { type?: unknown } | null | undefined)?.type === 'draw';
}

/** A line per check with what it found; then what no check is about. */
export function verificationText({ checks, notCovered }: Verification): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.map(
    ({ name, ok, why }) => `${ok ? 'ok    ' : 'FAILED'}  ${name.padEnd(width)}  ${printable(why)}`,
  );
  if (notCovered.length > 0) lines.push(`no certificate speaks of ${printable(notCovered.join(', '))}`);
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * The verdict in one line; `what` was verified. A draw that did not end as it promised is told by how it stands, even
 * though every check holds.
 */
export function verdictText(verification: Verification | DrawVerification, what: string): string {
  const failed = verification.checks.filter(({ ok }) => !ok).map(({ name }) => name);
  if (failed.length > 0) return `${what}: not verified: ${failed.join(', ')} failed`;
  if (!('standing' in verification) || verification.advice === undefined) return `${what}: verified`;
  return `${what}: ${verification.standing}: ${printable(verification.advice)}`;
}
