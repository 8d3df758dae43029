import { hexToBytes } from '@noble/hashes/utils.js';
import { concatBytes, utf8Bytes } from '../core/bytes.ts';
import { isObject, member, show, text } from './members.ts';
import { digestText, failed, holds, type Verdict } from './verdict.ts';

/** Checks what the caller said of an answer against its certificate. Runs in browsers. */

/** First byte of a commitment (answer/label.ts). */
const PURPOSE_BYTE = 0x04;
const USER_DATA_BYTE = 0x05;

/**
 * Undefined where neither the certificate nor the answer has a label. `response` is undefined where only the certificate is
 * at hand, and of an answer in octets, which has no place for a label.
 */
export function labelVerdict(response: unknown, certificate: unknown): Verdict | undefined {
  const certified = member(certificate, 'label');
  const told = member(response, 'label');
  if (certified === undefined && told === undefined) return undefined;
  if (certified === undefined) return failed('The answer has a label, the certificate has none.');
  if (!isObject(certified) || typeof certified['public'] !== 'boolean')
    return failed('The label of the certificate is not an object that says whether it is public.');
  const failure =
    flawOf(certified) ?? (response === undefined ? undefined : difference(response, told, certified));
  return failure === undefined ? holds(holdsText(certified)) : failed(failure);
}

function flawOf(certified: Readonly<Record<string, unknown>>): string | undefined {
  const { serial, series, user_data: userData, user_data_sha256: digest } = certified;
  const odd = noText(certified);
  if (odd !== undefined) return `${odd} of the certificate's label is not well-formed text.`;
  const isNumbered = typeof serial === 'number' && Number.isSafeInteger(serial) && serial >= 1;
  const hasPurpose = certified['purpose'] !== undefined || certified['purpose_commitment'] !== undefined;
  if (hasPurpose && !(typeof series === 'string' && isNumbered))
    return 'The label has a purpose without a series and a serial.';
  if (!hasPurpose && (series !== undefined || serial !== undefined))
    return 'The label has a serial without a purpose.';
  if (userData !== undefined && digest !== digestText(text(userData) ?? ''))
    return 'user_data_sha256 of the certificate is not the hash of its user_data.';
  return undefined;
}

/** A member that should be text in Unicode and is not: it would hash like another one. */
function noText(label: unknown): string | undefined {
  return ['purpose', 'user_data'].find((name) => {
    const value = member(label, name);
    return value !== undefined && text(value)?.isWellFormed() !== true;
  });
}

function difference(
  response: unknown,
  told: unknown,
  certified: Readonly<Record<string, unknown>>,
): string | undefined {
  if (told === undefined) return 'The certificate has a label, the answer has none.';
  const salt = text(member(response, 'metadata', 'certificate_salt')) ?? '';
  if (!/^[0-9a-f]{64}$/.test(salt)) return 'metadata.certificate_salt is not 64 hex digits.';
  const odd = noText(told);
  if (odd !== undefined) return `${odd} of the answer's label is not well-formed text.`;
  const isPublic = certified['public'];
  const expected: Record<string, unknown> = { public: isPublic };
  const purpose = member(told, 'purpose');
  const userData = member(told, 'user_data');
  if (purpose !== undefined) {
    expected['series'] = member(told, 'series');
    if (isPublic === true) expected['purpose'] = purpose;
    else expected['purpose_commitment'] = commitment(PURPOSE_BYTE, salt, purpose);
  }
  if (userData !== undefined) {
    if (isPublic === true) {
      expected['user_data'] = userData;
      expected['user_data_sha256'] = digestText(text(userData) ?? '');
    } else expected['user_data_commitment'] = commitment(USER_DATA_BYTE, salt, userData);
  }
  const digest = member(told, 'user_data_sha256');
  if (digest !== undefined) expected['user_data_sha256'] = digest;
  if (member(told, 'public') !== isPublic)
    return 'The label of the answer differs from the certificate in public.';
  const names = new Set([...Object.keys(expected), ...Object.keys(certified)]);
  names.delete('serial'); // known to the ledger alone
  const differing = [...names].filter((name) => expected[name] !== certified[name]);
  return differing.length === 0
    ? undefined
    : `The label of the answer differs from the certificate in ${differing.join(', ')}.`;
}

function holdsText(certified: Readonly<Record<string, unknown>>): string {
  const { serial, series, purpose } = certified;
  const of = purpose === undefined ? 'its purpose' : `the purpose ${show(purpose)}`;
  const numbered =
    serial === undefined ? '' : ` It is answer ${show(serial)} of ${show(series)}, its account and ${of}.`;
  return `What the caller said of the answer is as certified.${numbered}`;
}

function commitment(byte: number, salt: string, value: unknown): string {
  return digestText(concatBytes(Uint8Array.of(byte), hexToBytes(salt), utf8Bytes(text(value) ?? '')));
}
