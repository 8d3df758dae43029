import { member } from '../../../certificate/members.ts';
import { fieldsOf, responseOfFields } from '../../../certificate/octet-answer.ts';
import { verifyAnswer } from '../../../certificate/verify.ts';
import { repeatedMember } from '../../../core/repeated-member.ts';
import { element } from './browser.ts';
import {
  type Checked,
  certificateOf,
  checkDraw,
  keysOfLog,
  showCheck,
  Trouble,
  witnessesGiven,
} from './checks.ts';

/*
 * The script of the verification page: takes an answer that the reader pastes, drops or chooses, and checks it here
 * (checks.ts). The answer is sent nowhere.
 */

const CERTIFICATE_ID = /^cert_[0-9a-hjkmnp-tv-z]{26}$/;

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

/** A file is shown where it would have been pasted, then checked. */
function take(chosen: Blob): void {
  run(async () => {
    answer.value = await chosen.text();
    return answer.value;
  });
}

/** A fresh answer of the service, as text. */
async function sampleAnswer(): Promise<string> {
  const response = await fetch('/demo/die', { method: 'POST', credentials: 'omit' });
  const text = await response.text();
  if (!response.ok)
    throw new Trouble(`The service gave no sample: ${String(member(parsed(text), 'error', 'message'))}`);
  return text;
}

function run(read: () => Promise<string>): Promise<void> {
  return showCheck(button, async () => verify(await read(), await octetsGiven()));
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
  if (member(pasted, 'type') === 'draw') return checkDraw(pasted, witnessesGiven());
  // a certificate may be pasted in place of an answer: it is then checked as it was pasted
  const isCertificate = member(pasted, 'certificate') !== undefined && member(pasted, 'data') === undefined;
  const response = isCertificate ? undefined : pasted;
  const [certificate, keys] = await Promise.all([
    isCertificate ? pasted : certificateOf(idFor(response)),
    keysOfLog(),
  ]);
  const verification = await verifyAnswer({
    certificate,
    keys,
    ...witnessesGiven(),
    ...(response === undefined ? {} : { response }),
  });
  return {
    verification,
    subject: response === undefined ? 'certificate' : 'answer',
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
  const [certificate, keys] = await Promise.all([certificateOf(idFor(response)), keysOfLog()]);
  const given = response === undefined ? { salt: text } : { response };
  const verification = await verifyAnswer({ certificate, keys, octets, ...witnessesGiven(), ...given });
  return { verification, subject: 'answer', status: member(certificate, 'certificate', 'status') };
}

function parsed(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Trouble(`This is not JSON (${error.message}). Paste the whole body of the answer, as it came.`);
  }
  const repeated = repeatedMember(text);
  if (repeated === undefined) return value;
  throw new Trouble(
    `It has two members ${JSON.stringify(repeated)} in one object: readers differ in which counts.`,
  );
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
