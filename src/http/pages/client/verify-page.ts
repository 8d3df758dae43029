import { fieldsOf, responseOfFields } from '../../../certificate/octet-answer.ts';
import { type Check, type CheckName, type Verification, verifyAnswer } from '../../../certificate/verify.ts';
import { type BrowserElement, isSecure, page } from './browser.ts';

/**
 * The script of the verification page: takes an answer that the reader pastes, drops or chooses, gets the
 * public certificate and keys from this service, and checks one against the other here. The answer is sent
 * nowhere.
 */

/** How often the certificate is asked for again while it is not logged yet, and how long between. */
const PROOF_ATTEMPTS = 10;
const PROOF_WAIT_MS = 500;

const CERTIFICATE_ID = /^cert_[0-9a-hjkmnp-tv-z]{26}$/;

/** What the reader is told instead of a result. */
class Trouble extends Error {
  override name = 'Trouble';
}

const TITLES: Readonly<Record<CheckName, string>> = {
  'certificate id': 'Certificate id',
  'request id': 'Request',
  metadata: 'Time, source and mode',
  delivered: 'Values and salt',
  lots: 'Hashes of the lots',
  status: 'Withdrawals',
  keys: 'Keys of the log',
  inclusion: 'Place in the log',
  signature: 'Signature of the log',
  dates: 'Dates',
  witnesses: 'Witnesses',
};

const form = element('check');
const answer = element('answer');
const file = element('file');
const octetsFile = element('octets');
const button = element('check-button');
const result = element('result');

element('check-off').hidden = true;
form.hidden = false;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  run(async () => answer.value);
});
file.addEventListener('change', () => {
  const chosen = file.files?.[0];
  if (chosen !== undefined) take(chosen);
});
form.addEventListener('dragover', (event) => {
  event.preventDefault();
  form.className = 'over';
});
form.addEventListener('dragleave', () => {
  form.className = '';
});
form.addEventListener('drop', (event) => {
  event.preventDefault();
  form.className = '';
  const dropped = event.dataTransfer?.files[0];
  if (dropped !== undefined) take(dropped);
  else answer.value = event.dataTransfer?.getData('text/plain') ?? '';
});

/** A file is shown where it would have been pasted, then checked. */
function take(chosen: Blob): void {
  run(async () => {
    answer.value = await chosen.text();
    return answer.value;
  });
}

async function run(read: () => Promise<string>): Promise<void> {
  button.disabled = true;
  result.setAttribute('aria-busy', 'true');
  show(made('p', 'Checking…'));
  try {
    show(...report(await verify(await read(), await octetsGiven())));
  } catch (error) {
    const isTold = error instanceof Trouble;
    show(banner('bad', 'Not checked.', isTold ? error.message : `The check itself failed: ${String(error)}`));
    if (!isTold) throw error; // a fault of this script belongs into the browser's console too
  } finally {
    button.disabled = false;
    result.setAttribute('aria-busy', 'false');
    result.focus({ preventScroll: true });
    result.scrollIntoView({ block: 'nearest' });
  }
}

interface Checked {
  readonly verification: Verification;
  readonly hasAnswer: boolean;
  readonly status: unknown;
}

/** The chosen body of an answer in octets; undefined without one. */
async function octetsGiven(): Promise<Uint8Array | undefined> {
  const chosen = octetsFile.files?.[0];
  return chosen === undefined ? undefined : new Uint8Array(await chosen.arrayBuffer());
}

async function verify(text: string, octets: Uint8Array | undefined): Promise<Checked> {
  if (octets !== undefined) return verifyOctets(text.trim(), octets);
  const pasted = text.trim() === '' ? undefined : parsed(text);
  if (member(pasted, 'error') !== undefined && member(pasted, 'data') === undefined) {
    throw new Trouble(
      'This is an error of the service, not an answer: it carries no values and no certificate.',
    );
  }
  // a certificate may be pasted in place of an answer: it is then checked as it was pasted
  const isCertificate = member(pasted, 'certificate') !== undefined && member(pasted, 'data') === undefined;
  const response = isCertificate ? undefined : pasted;
  const [certificate, keys] = await Promise.all([
    isCertificate ? pasted : certificateOf(idFor(response)),
    fetched('/.well-known/qrn-keys.json'),
  ]);
  const verification = await verifyAnswer({
    certificate,
    keys,
    ...(response === undefined ? {} : { response }),
  });
  return {
    verification,
    hasAnswer: response !== undefined,
    status: member(certificate, 'certificate', 'status'),
  };
}

/** `text` is the header fields, or the salt alone. */
async function verifyOctets(text: string, octets: Uint8Array): Promise<Checked> {
  const isSalt = /^[0-9a-f]{64}$/.test(text);
  const response = isSalt ? undefined : responseOfFields(fieldsOf(text));
  if (response !== undefined && member(response, 'metadata', 'certificate_salt') === undefined) {
    throw new Trouble('Paste the header fields of the answer, with X-Certificate-Salt, or that salt alone.');
  }
  const [certificate, keys] = await Promise.all([
    certificateOf(idFor(response)),
    fetched('/.well-known/qrn-keys.json'),
  ]);
  const given = response === undefined ? { salt: text } : { response };
  const verification = await verifyAnswer({ certificate, keys, octets, ...given });
  return { verification, hasAnswer: true, status: member(certificate, 'certificate', 'status') };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Trouble(`This is not JSON (${error.message}). Paste the whole body of the answer, as it came.`);
  }
}

/** The page's own certificate; on the page of none, the one that the answer names. */
function idFor(response: unknown): string {
  const ofPage = form.dataset['certificate'];
  if (ofPage !== undefined && ofPage !== '') return ofPage;
  if (response === undefined) throw new Trouble('Paste the answer first.');
  const named = member(response, 'metadata', 'certificate_id');
  if (typeof named !== 'string' || !CERTIFICATE_ID.test(named))
    throw new Trouble('The answer names no certificate in metadata.certificate_id.');
  return named;
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

async function fetched(path: string): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(path, { headers: { accept: 'application/json' } });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Trouble(`The service could not be reached (${error.message}).`);
  }
  if (response.status === 404) throw new Trouble('This service has no certificate with that id.');
  if (!response.ok) throw new Trouble(`The service answered ${response.status} for ${path}.`);
  return response.json();
}

function report({ verification, hasAnswer, status }: Checked): BrowserElement[] {
  const { checks, notCovered } = verification;
  const shown = [summary(checks, hasAnswer, status), list(checks)];
  if (notCovered.length > 0) {
    const hint = made('p', `No certificate speaks of: ${notCovered.join(', ')}.`);
    hint.className = 'hint';
    shown.push(hint);
  }
  return shown;
}

function summary(checks: readonly Check[], hasAnswer: boolean, status: unknown): BrowserElement {
  const failed = checks.filter((check) => !check.ok);
  if (failed.length === 0 && !hasAnswer)
    return banner('good', 'The certificate holds.', 'Paste the answer to check its values too.');
  if (failed.length === 0) return banner('good', 'Everything holds.', 'These are the certified values.');
  if (status === 'revoked' && failed.every((check) => check.name === 'status'))
    return banner(
      'bad',
      'Genuine, but revoked.',
      'It is what was certified, and the operator withdrew a lot of it since.',
    );
  if (!isSecure && failed.every((check) => check.name === 'signature')) {
    const text =
      'This page was not loaded over https, and there a browser checks no signatures: use qrn verify.';
    return banner('wait', 'All but the signature holds.', text);
  }
  const what = hasAnswer ? 'answer' : 'certificate';
  const count = `${failed.length} of ${checks.length} checks failed.`;
  return banner('bad', count, `Do not rely on this ${what}.`);
}

function list(checks: readonly Check[]): BrowserElement {
  const items = made('ul');
  for (const { name, ok, why } of checks) {
    const item = made('li');
    item.className = ok ? 'holds' : 'fails';
    const words = made('div');
    words.append(made('strong', TITLES[name]), made('p', why));
    item.append(made('span', ok ? '✓ holds' : '✗ fails'), words);
    items.append(item);
  }
  return items;
}

function banner(kind: 'good' | 'wait' | 'bad', title: string, text: string): BrowserElement {
  const words = made('p');
  words.append(made('strong', title), ` ${text}`);
  const box = made('div');
  box.className = `banner ${kind}`;
  box.append(words);
  return box;
}

function show(...nodes: BrowserElement[]): void {
  result.replaceChildren(...nodes);
}

function made(name: Parameters<typeof page.createElement>[0], text = ''): BrowserElement {
  const node = page.createElement(name);
  node.textContent = text;
  return node;
}

function element(id: string): BrowserElement {
  const found = page.getElementById(id);
  if (found === null) throw new Error(`the page has no element #${id}`);
  return found;
}

function member(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}
