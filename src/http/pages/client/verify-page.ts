import { member } from '../../../certificate/members.ts';
import { fieldsOf, responseOfFields } from '../../../certificate/octet-answer.ts';
import { CERTIFICATE_ID } from '../../../core/ids.ts';
import { repeatedMember } from '../../../core/repeated-member.ts';
import { element } from './browser.ts';
import { type Checked, checkAnswer, checkDraw, sampleAnswer, showCheck, Trouble } from './checks.ts';

/*
 * The script of the verification page. It takes an answer that the reader pastes, drops or chooses, and checks it in the
 * page (checks.ts). It sends the answer nowhere.
 */

const form = element('check');
const answer = element('answer');
const file = element('file');
const octetsFile = element('octets');
const button = element('check-button');

button.disabled = false;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  run(async () => answer.value);
});
element('sample-button').addEventListener('click', () => {
  run(async () => {
    answer.value = await sampleAnswer();
    return answer.value;
  });
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

/** Shows a file in the field for pasting, and checks it. */
function take(chosen: Blob): void {
  run(async () => {
    answer.value = await chosen.text();
    return answer.value;
  });
}

function run(read: () => Promise<string>): Promise<void> {
  return showCheck(button, async () => verify(await read(), await octetsGiven()));
}

/** Reads the file with the body of an answer in octets; undefined if none is chosen. */
async function octetsGiven(): Promise<Uint8Array | undefined> {
  const chosen = octetsFile.files?.[0];
  return chosen === undefined ? undefined : new Uint8Array(await chosen.arrayBuffer());
}

async function verify(text: string, octets: Uint8Array | undefined): Promise<Checked> {
  if (octets !== undefined) return verifyOctets(text.trim(), octets);
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
  return checkAnswer(idFor(pasted), pasted === undefined ? {} : { response: pasted });
}

/** Checks an answer in octets. `text` is its header fields, or only the salt. */
async function verifyOctets(text: string, octets: Uint8Array): Promise<Checked> {
  if (/^[0-9a-f]{64}$/.test(text)) return checkAnswer(idFor(undefined), { salt: text, octets });
  const response = responseOfFields(fieldsOf(text));
  if (member(response, 'metadata', 'certificate_salt') === undefined) {
    throw new Trouble(
      'Paste the headers of the answer, including X-Certificate-Salt, or only the value of X-Certificate-Salt.',
    );
  }
  return checkAnswer(idFor(response), { response, octets });
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

/** Returns the id of the page's certificate. On the page without a certificate, returns the id that the answer names. */
function idFor(response: unknown): string {
  const ofPage = form.dataset['certificate'];
  if (ofPage !== undefined && ofPage !== '') return ofPage;
  if (response === undefined) throw new Trouble('Paste the answer first.');
  const named = member(response, 'metadata', 'certificate_id');
  if (typeof named !== 'string' || !CERTIFICATE_ID.test(named))
    throw new Trouble('The answer names no certificate in metadata.certificate_id.');
  return named;
}
