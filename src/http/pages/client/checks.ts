import { member } from '../../../certificate/members.ts';
import type { Check, Verification, VerificationInput } from '../../../certificate/verify.ts';
import type { DrawStanding, DrawVerification } from '../../../certificate/verify-draw.ts';
import type { WitnessPolicy } from '../../../certificate/verify-witnesses.ts';
import { type BrowserElement, banner, element, made, page } from './browser.ts';

/*
 * Checks in the page. The script gets the public certificate and the public keys from this service, checks them and the
 * answer against each other, and shows each check. It sends the answer nowhere. It loads the verifier for the first check,
 * because that is twenty times as large as the script of the pages.
 */

/** How often, and at which interval, the script asks for a certificate that is not logged yet. */
const PROOF_ATTEMPTS = 10;
const PROOF_WAIT_MS = 500;

/** A reason why nothing could be checked. Its message is shown to the reader. */
export class Trouble extends Error {
  override name = 'Trouble';
}

export interface Checked {
  readonly verification: Verification | DrawVerification;
  readonly subject: 'answer' | 'certificate' | 'draw';
  readonly status: unknown;
}

/** Verifies an answer with the given certificate, or with that of `id`. Without an answer verifies only the certificate. */
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

/** Checks an answer that the page itself requested. Returns the report, followed by a link to the certificate. */
export async function checkedAnswer(response: unknown): Promise<BrowserElement[]> {
  const id = String(member(response, 'metadata', 'certificate_id'));
  const certificate = made('a', 'Open its certificate');
  certificate.setAttribute('href', `/verify/${id}`);
  return [...report(await checkAnswer(id, { response })), certificate];
}

/** Requests an answer that needs no key, a throw of a die, and returns it as text. */
export async function sampleAnswer(): Promise<string> {
  const response = await fetch('/demo/die', { method: 'POST', credentials: 'omit' });
  const text = await response.text();
  if (response.ok) return text;
  throw new Trouble(
    `The service refused the request: ${String(member(JSON.parse(text), 'error', 'message'))}`,
  );
}

/** Verifies the document of a committed draw. Needs only the document and the keys of the log. */
export async function checkDraw(draw: unknown): Promise<Checked> {
  const { verifyDraw } = await import('../../../certificate/verify-draw.ts');
  const witnesses = await witnessesGiven();
  const verification = await verifyDraw({ draw, keys: await keysOfLog(), ...witnesses, nowMs: Date.now() });
  return { verification, subject: 'draw', status: member(draw, 'certificate', 'certificate', 'status') };
}

/** Reads the witnesses that must have seen the log from the fields of the page; none if the fields are empty. */
async function witnessesGiven(): Promise<{ readonly witnesses?: WitnessPolicy }> {
  const [keys, quorum] = ['witnesses', 'quorum'].map((id) => page.getElementById(id)?.value.trim() ?? '');
  if (keys === '' && quorum === '') return {};
  const { readWitnessPolicy } = await import('../../../certificate/verify-witnesses.ts');
  const policy = readWitnessPolicy(keys, quorum);
  if (typeof policy === 'string') throw new Trouble(`Witnesses: ${policy}.`);
  return { witnesses: policy };
}

/** Gets a certificate. While it has no proof yet, asks again a few times. */
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

/** Gets a JSON document from this service. */
export async function fetched(path: string): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(path, { headers: { accept: 'application/json' } });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Trouble(`The service could not be reached (${error.message}).`);
  }
  if (response.status === 404) throw new Trouble('This service has no certificate with this identifier.');
  if (!response.ok) throw new Trouble(`The service answered ${response.status} for ${path}.`);
  return response.json();
}

/** Shows the result of `work`, or why it failed. The button is disabled meanwhile. */
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
    if (!(error instanceof Trouble)) throw error; // a fault of this script must appear in the browser's console too
  } finally {
    button.disabled = false;
  }
}

/** Does the main check of the page, and moves the focus to its result. */
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

/** Returns a banner with the outcome, the list of checks, and the members that no certificate covers. */
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
    const hint = made('p', `The certificate does not cover: ${notCovered.join(', ')}.`);
    hint.className = 'hint';
    details.append(hint);
  }
  return [verdict, details];
}

/** Returns the banner for a check that could not be done. */
function troubleBanner(error: unknown): BrowserElement {
  const isTold = error instanceof Trouble;
  return banner('bad', 'Not checked.', isTold ? error.message : `The check itself failed: ${String(error)}`);
}

/** Returns the banner for a draw whose checks all hold. */
function drawSummary({ standing, advice }: DrawVerification): BrowserElement {
  if (advice === undefined) return banner('good', 'Verified.', 'The draw ended as its statement promised.');
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
    return banner('good', 'The certificate is valid.', 'Paste the answer to check its values too.');
  if (failed.length === 0) return banner('good', 'Verified.', 'These are the certified values.');
  if (status === 'revoked' && failed.every((check) => check.name === 'status'))
    return banner(
      'bad',
      'Genuine, but revoked.',
      'This is what was certified, but the operator has since withdrawn one of its lots.',
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
