import { member } from '../../../certificate/members.ts';
import { CERTIFICATE_ID } from '../../../core/ids.ts';
import { repeatedMember } from '../../../core/repeated-member.ts';
import { type BrowserElement, element } from './browser.ts';
import { type Checked, checkAnswer, checkDraw, sampleAnswer, showCheck, Trouble } from './checks.ts';

/** Checks the answer that the reader pastes, drops or chooses in the form. It sends the answer nowhere. */
export function offerCheck(form: BrowserElement): void {
  const [answer, file, button] = ['answer', 'file', 'check-button'].map(element);
  const run = (read: () => Promise<string>) =>
    showCheck(button, async () =>
      verify(await read(), await octetsGiven(), form.dataset['certificate'] ?? ''),
    );
  /** Shows a text in the field for pasting, and checks it. */
  const take = (text: Promise<string>) =>
    run(async () => {
      answer.value = await text;
      return answer.value;
    });
  button.disabled = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    run(async () => answer.value);
  });
  element('sample-button').addEventListener('click', () => take(sampleAnswer()));
  file.addEventListener('change', () => {
    const chosen = file.files?.[0];
    if (chosen !== undefined) take(chosen.text());
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
    if (dropped !== undefined) take(dropped.text());
    else answer.value = event.dataTransfer?.getData('text/plain') ?? '';
  });
}

/** Reads the file with the body of an answer in octets; undefined if none is chosen. */
async function octetsGiven(): Promise<Uint8Array | undefined> {
  const chosen = element('octets').files?.[0];
  return chosen === undefined ? undefined : new Uint8Array(await chosen.arrayBuffer());
}

/** `ofPage` is the id of the page's certificate, '' on the page without one: the answer then names its own. */
async function verify(text: string, octets: Uint8Array | undefined, ofPage: string): Promise<Checked> {
  if (octets !== undefined) return verifyOctets(text.trim(), octets, ofPage);
  const pasted = text.trim() === '' ? undefined : parsed(text);
  if (member(pasted, 'error') !== undefined && member(pasted, 'data') === undefined) {
    throw new Trouble(
      'This is an error message of the service and not an answer. It has no values and no certificate.',
    );
  }
  if (member(pasted, 'type') === 'draw') return checkDraw(pasted);
  // a certificate may be pasted in place of an answer: then check that certificate itself
  const isCertificate = member(pasted, 'certificate') !== undefined && member(pasted, 'data') === undefined;
  if (isCertificate) return checkAnswer('', { certificate: pasted });
  return checkAnswer(idFor(pasted, ofPage), pasted === undefined ? {} : { response: pasted });
}

/** Checks an answer in octets. `text` is its header fields, or only the salt. */
async function verifyOctets(text: string, octets: Uint8Array, ofPage: string): Promise<Checked> {
  if (/^[0-9a-f]{64}$/.test(text)) return checkAnswer(idFor(undefined, ofPage), { salt: text, octets });
  const { fieldsOf, responseOfFields } = await import('../../../certificate/octet-answer.ts');
  const response = responseOfFields(fieldsOf(text));
  if (member(response, 'metadata', 'certificate_salt') === undefined) {
    throw new Trouble(
      'Paste the headers of the answer, including X-Certificate-Salt, or only the value of X-Certificate-Salt.',
    );
  }
  return checkAnswer(idFor(response, ofPage), { response, octets });
}

function parsed(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Trouble(
      `This is not JSON (${error.message}). Paste the complete body of the answer, as you received it.`,
    );
  }
  const repeated = repeatedMember(text);
  if (repeated === undefined) return value;
  throw new Trouble(
    `An object in it has two members ${JSON.stringify(repeated)}, and programs differ in which one they read.`,
  );
}

function idFor(response: unknown, ofPage: string): string {
  if (ofPage !== '') return ofPage;
  if (response === undefined) throw new Trouble('Paste the answer first.');
  const named = member(response, 'metadata', 'certificate_id');
  if (typeof named !== 'string' || !CERTIFICATE_ID.test(named))
    throw new Trouble('The answer names no certificate in metadata.certificate_id.');
  return named;
}
