import { hexToBytes } from '@noble/hashes/utils.js';
import { concatBytes, utf8Bytes } from '../core/bytes.ts';
import { type CertifiedLabel, LABEL } from './certified-label.ts';
import { checkForm } from './form.ts';
import { member, show, text } from './members.ts';
import { digestText, refuse } from './verdict.ts';

/** Checks the label of an answer, which is what the caller said of it, against its certificate. Runs in browsers. */

/** The first byte of what a commitment hashes (answer/label.ts). */
const PURPOSE_BYTE = 0x04;
const USER_DATA_BYTE = 0x05;

/**
 * Checks the label of a certificate and, if there is a response, compares it with the answer's label. `response` is
 * undefined if only the certificate is at hand, and for an answer in octets, which carries no label.
 */
export function labelVerdict(response: unknown, certificate: unknown): string {
  const label = member(certificate, 'label');
  if (label === undefined) refuse('The answer has a label, but the certificate has none.');
  checkForm(LABEL, label, 'label');
  const certified = label as CertifiedLabel;
  const { serial, series, user_data: userData, user_data_sha256: digest } = certified;
  checkTexts('certificate', certified);
  const hasPurpose = certified.purpose !== undefined || certified.purpose_commitment !== undefined;
  if (hasPurpose && (series === undefined || serial === undefined || serial < 1))
    refuse('The label of the certificate has a purpose, but lacks the series or the serial number.');
  if (!hasPurpose && (series !== undefined || serial !== undefined))
    refuse('The label of the certificate has a series or a serial number, but no purpose.');
  if (userData !== undefined && digest !== digestText(userData))
    refuse('user_data_sha256 of the certificate is not the hash of its user_data.');
  if (response !== undefined) compare(response, certified);
  return holdsText(certified);
}

/** Refuses text that is not well-formed Unicode: its UTF-8 would be that of another text, and so would its hash. */
function checkTexts(whose: string, label: unknown): void {
  for (const name of ['purpose', 'user_data']) {
    const value = member(label, name);
    if (value !== undefined && text(value)?.isWellFormed() !== true)
      refuse(`${name} of the ${whose}'s label is not well-formed text.`);
  }
}

/** Checks that the label of the answer and that of its certificate say the same. */
function compare(response: unknown, certified: CertifiedLabel): void {
  const told = member(response, 'label');
  if (told === undefined) refuse('The certificate has a label, but the answer has none.');
  const salt = text(member(response, 'metadata', 'certificate_salt')) ?? '';
  if (!/^[0-9a-f]{64}$/.test(salt)) refuse('metadata.certificate_salt is not 64 hex digits.');
  checkTexts('answer', told);
  const isPublic = certified.public;
  const expected: Record<string, unknown> = { public: isPublic };
  const purpose = member(told, 'purpose');
  const userData = member(told, 'user_data');
  if (purpose !== undefined) {
    expected['series'] = member(told, 'series');
    if (isPublic) expected['purpose'] = purpose;
    else expected['purpose_commitment'] = commitment(PURPOSE_BYTE, salt, purpose);
  }
  if (userData !== undefined) {
    if (isPublic) {
      expected['user_data'] = userData;
      expected['user_data_sha256'] = digestText(text(userData) ?? '');
    } else expected['user_data_commitment'] = commitment(USER_DATA_BYTE, salt, userData);
  }
  const digest = member(told, 'user_data_sha256');
  if (digest !== undefined) expected['user_data_sha256'] = digest;
  if (member(told, 'public') !== isPublic)
    refuse('The label of the answer differs from the certificate in public.');
  const { serial: _, ...rest }: Readonly<Record<string, unknown>> = certified; // assigned after the answer
  const names = new Set([...Object.keys(expected), ...Object.keys(rest)]);
  const differing = [...names].filter((name) => expected[name] !== rest[name]);
  if (differing.length > 0)
    refuse(`The label of the answer differs from the certificate in ${differing.join(', ')}.`);
}

function holdsText({ serial, series, purpose }: CertifiedLabel): string {
  const of = purpose === undefined ? 'one purpose' : `the purpose ${show(purpose)}`;
  const numbered =
    serial === undefined
      ? ''
      : ` It is number ${show(serial)} of series ${show(series)}: the answers of one account for ${of}.`;
  return `The label is as certified.${numbered}`;
}

function commitment(byte: number, salt: string, value: unknown): string {
  return digestText(concatBytes(Uint8Array.of(byte), hexToBytes(salt), utf8Bytes(text(value) ?? '')));
}
