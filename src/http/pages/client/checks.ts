import { member } from '../../../certificate/members.ts';
import type { Check, Verification, VerificationInput } from '../../../certificate/verify.ts';
import type { DrawStanding, DrawVerification } from '../../../certificate/verify-draw.ts';
import type { WitnessPolicy } from '../../../certificate/verify-witnesses.ts';
import { type BrowserElement, banner, element, made, page } from './browser.ts';

/*
 * Checks in the page: gets the public certificate and the public keys from this service, checks one against the other
 * and the answer against both, and shows each check. An answer is sent nowhere. The verifier is loaded when the first check
 * is asked for: it is thirty times as large as the script of any page.
 */

/** How often the certificate is asked for again while it is not logged yet, and how long between. */
const PROOF_ATTEMPTS = 10;
const PROOF_WAIT_MS = 500;

/** What the reader is told instead of a result. */
export class Trouble extends Error {
  override name = 'Trouble';
}

export interface Checked {
  readonly verification: Verification | DrawVerification;
  /** What was checked. */
  readonly subject: 'answer' | 'certificate' | 'draw';
  readonly status: unknown;
}

/** Verifies what is given by the certificate of the id, or by the one that is given; without an answer that alone. */
export async function checkAnswer(
  id: string,
  given: Partial<Omit<VerificationInput, 'keys' | 'witnesses'>>,
): Promise<Checked> {
  const { verifyAnswer } = await import('../../../certificate/verify.ts');
  const [certificate, keys] = await Promise.all([given.certificate ?? certificateOf(id), keysOfLog()]);
  const verification = await verifyAnswer({ ...given, certificate, keys, ...(await witnessesGiven()) });
  const isAlone = given.response === undefined && given.octets === undefined;
  const status = member(certificate, 'certificate', 'status');
  return { verification, subject: isAlone ? 'certificate' : 'answer', status };
}

/** What comes of the check of an answer that the page itself got, with the way to its certificate behind. */
export async function checkedAnswer(response: unknown): Promise<BrowserElement[]> {
  const id = String(member(response, 'metadata', 'certificate_id'));
  const certificate = made('a', 'Open its certificate');
  certificate.setAttribute('href', `/verify/${id}`);
  return [...report(await checkAnswer(id, { response })), certificate];
}

/** A fresh answer of the service, as text: a throw of a die, which needs no key. */
export async function sampleAnswer(): Promise<string> {
  const response = await fetch('/demo/die', { method: 'POST', credentials: 'omit' });
  const text = await response.text();
  if (response.ok) return text;
  throw new Trouble(`The service gave no answer: ${String(member(JSON.parse(text), 'error', 'message'))}`);
}

/** Verifies the document of a committed draw, by nothing but itself and the keys of the log. */
export async function checkDraw(draw: unknown): Promise<Checked> {
  const { verifyDraw } = await import('../../../certificate/verify-draw.ts');
  const witnesses = await witnessesGiven();
  const verification = await verifyDraw({ draw, keys: await keysOfLog(), ...witnesses, nowMs: Date.now() });
  return { verification, subject: 'draw', status: member(draw, 'certificate', 'certificate', 'status') };
}

/** Who else must have seen the log, as the fields of the page name them; nothing when no witness is named. */
async function witnessesGiven(): Promise<{ readonly witnesses?: WitnessPolicy }> {
  const [keys, quorum] = ['witnesses', 'quorum'].map((id) => page.getElementById(id)?.value.trim() ?? '');
  if (keys === '' && quorum === '') return {};
  const { readWitnessPolicy } = await import('../../../certificate/verify-witnesses.ts');
  const policy = readWitnessPolicy(keys, quorum);
  if (typeof policy === 'string') throw new Trouble(`Witnesses: ${policy}.`);
  return { witnesses: policy };
}

/** Asks again for a moment when the certificate has no proof yet. */
async function certificateOf(id: string): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const certificate = await fetched(`/verify/${id}`);
    if (member(certificate, 'certificate', 'proof') !== null || attempt === PROOF_ATTEMPTS)
      return certificate;
    await new Promise((resolve) => setTimeout(resolve, PROOF_WAIT_MS));
  }
}

function keysOfLog(): Promise<unknown> {
  return fetched('/.well-known/qrn-keys.json');
}

/** JSON that this service publishes. */
export async function fetched(path: string): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(path, { headers: { accept: 'application/json' } });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Trouble(`The service could not be reached (${error.message}).`);
  }
  if (response.status === 404) throw new Trouble('This service has nothing with that id.');
  if (!response.ok) throw new Trouble(`The service answered ${response.status} for ${path}.`);
  return response.json();
}

/** Shows what comes of the work, or why nothing does; the button waits meanwhile. */
export async function attempt(
  button: BrowserElement,
  shown: BrowserElement,
  work: () => Promise<BrowserElement[]>,
): Promise<void> {
  button.disabled = true;
  try {
    shown.replaceChildren(...(await work()));
  } catch (error) {
    shown.replaceChildren(troubleBanner(error));
    if (!(error instanceof Trouble)) throw error; // a fault of this script belongs into the browser's console too
  } finally {
    button.disabled = false;
  }
}

/** Does the one check that the page is for, and leads the reader to its outcome. */
export async function showCheck(button: BrowserElement, check: () => Promise<Checked>): Promise<void> {
  const result = element('result');
  result.setAttribute('aria-busy', 'true');
  result.replaceChildren(made('p', 'Checking…'));
  try {
    await attempt(button, result, async () => report(await check()));
  } finally {
    result.setAttribute('aria-busy', 'false');
    result.focus({ preventScroll: true });
    result.scrollIntoView({ block: 'nearest' });
  }
}

/** What was checked: a banner with the outcome, each check, and what no certificate speaks of. */
function report({ verification, subject, status }: Checked): BrowserElement[] {
  const { checks, notCovered } = verification;
  const isDraw = verification.ok && 'standing' in verification;
  const verdict = isDraw ? drawSummary(verification) : summary(checks, subject, status);
  const details = made('details');
  details.className = 'exact';
  if (checks.some((check) => !check.ok)) details.setAttribute('open', '');
  const title = made('summary');
  title.append(made('span', 'What was checked'));
  details.append(title, list(checks));
  if (notCovered.length > 0) {
    const hint = made('p', `No certificate speaks of: ${notCovered.join(', ')}.`);
    hint.className = 'hint';
    details.append(hint);
  }
  return [verdict, details];
}

/** What is shown when nothing could be checked. */
function troubleBanner(error: unknown): BrowserElement {
  const isTold = error instanceof Trouble;
  return banner('bad', 'Not checked.', isTold ? error.message : `The check itself failed: ${String(error)}`);
}

/** A draw of which every check holds: what its reader has in hand. */
function drawSummary({ standing, advice }: DrawVerification): BrowserElement {
  if (advice === undefined) return banner('good', 'Verified.', 'This draw ended as its statement promised.');
  return banner(standing === 'pending' ? 'wait' : 'bad', STANDINGS[standing], advice);
}

const STANDINGS: Readonly<Record<DrawStanding, string>> = {
  revealed: 'Verified.',
  pending: 'Pending: genuine so far.',
  overdue: 'Overdue: it has no result.',
  cancelled: 'Cancelled: genuine, without a result.',
  failed: 'Failed: genuine, without a result.',
};

function summary(checks: readonly Check[], subject: Checked['subject'], status: unknown): BrowserElement {
  const failed = checks.filter((check) => !check.ok);
  if (failed.length === 0 && subject === 'certificate')
    return banner('good', 'The certificate holds.', 'Paste the answer to check its values too.');
  if (failed.length === 0) return banner('good', 'Everything holds.', 'These are the certified values.');
  if (status === 'revoked' && failed.every((check) => check.name === 'status'))
    return banner(
      'bad',
      'Genuine, but revoked.',
      'It is what was certified, and the operator withdrew a lot of it since.',
    );
  const count = `${failed.length} of ${checks.length} checks failed.`;
  return banner('bad', count, `Do not rely on this ${subject}.`);
}

function list(checks: readonly Check[]): BrowserElement {
  const items = made('ul');
  for (const { name, ok, why } of checks) {
    const item = made('li');
    item.className = ok ? 'holds good' : 'fails bad';
    const words = made('div');
    words.append(made('strong', name), made('p', why));
    item.append(made('span', ok ? '✓ holds' : '✗ fails'), words);
    items.append(item);
  }
  return items;
}
