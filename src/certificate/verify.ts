import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { concatBytes, utf8Bytes } from '../core/bytes.ts';
import { bytesOfBase32 } from '../core/ids.ts';
import { canonical, member, show, text, timeOf, timeText } from './members.ts';
import { notCovered, REPEATED } from './not-covered.ts';
import {
  holdsLeaf,
  knownKeys,
  type LoggedAt,
  readProof,
  readSignatures,
  type Signed,
} from './signed-checkpoint.ts';
import { digestText, found, refuse } from './verdict.ts';
import { derivedVerdict, formedLots } from './verify-derived.ts';
import { labelVerdict } from './verify-label.ts';
import { fixedVerdict, type GivenAnswer, issuedText, lotsVerdict, readLots } from './verify-lots.ts';
import { witnessVerdict } from './verify-witnesses.ts';

/**
 * Verifies an answer, its certificate and the proof that the log holds the certificate, from files that the client has
 * and from nothing else. The command line, the verification page and other programs run this same code. It runs in
 * browsers, Deno, Bun and Node: neither this file nor what it imports uses a module of Node.
 */
export interface VerificationInput extends GivenAnswer {
  /**
   * The salt of the octets, 64 hex digits, for a caller who kept no other header field. Without `response` the verifier
   * compares only the values with the certificate, and not what the answer says about itself.
   */
  readonly salt?: string;
  /** Whether to fail an answer unless its certificate shows that the entropy was fixed before the answer was issued. */
  readonly requireFixed?: boolean;
}

export interface Verification {
  readonly ok: boolean;
  readonly checks: readonly Check[];
  /** Paths of the members of the response that no certificate covers, such as durations and credits. */
  readonly notCovered: readonly string[];
}

export interface Check {
  readonly name: CheckName;
  readonly ok: boolean;
  /** What the check found, in a sentence. */
  readonly why: string;
}

export type AddCheck = (name: CheckName, holds: () => string) => void;

export type CheckName =
  | 'certificate id'
  | 'request id'
  | 'metadata'
  | 'delivered'
  /** Only if the certificate or the answer has a label. */
  | 'label'
  | 'lots'
  | 'derived'
  | 'status'
  | 'keys'
  | 'inclusion'
  | 'signature'
  | 'dates'
  /** In the quantum modes, and with `requireFixed` in csprng mode too. */
  | 'fixed'
  | 'witnesses'
  /** For committed draws alone. */
  | DrawCheckName;

type DrawCheckName = 'statement' | 'commitment' | 'logged' | 'secret' | 'nonce' | 'beacon' | 'values' | 'end';

/** Runs all checks. Never throws: input that cannot be read fails a check. */
export function verifyAnswer(input: VerificationInput): Verification {
  const { response, octets, certificate, keys, witnesses } = input;
  const document = member(certificate, 'certificate') ?? certificate;
  const logged = found(() => readProof(member(document, 'proof')));
  const signed = found(() => readSignatures(keys, logged()));
  const leaves = found(() => readLots(certificate, document));
  const lots = found(() => formedLots(leaves()));
  const checks: Check[] = [];
  const add: AddCheck = (name, holds) => checks.push(check(name, holds));
  if (response !== undefined) {
    add('certificate id', () => certificateIdVerdict(response, document));
    add('request id', () => requestIdVerdict(response, document));
    add('metadata', () => metadataVerdict(input, document));
  }
  if (response !== undefined || octets !== undefined)
    add('delivered', () => deliveredVerdict(input, document));
  const labelled = octets === undefined ? response : undefined;
  if (member(document, 'label') !== undefined || member(labelled, 'label') !== undefined)
    add('label', () => labelVerdict(labelled, document));
  add('lots', () => lotsVerdict(leaves()));
  add('derived', () => derivedVerdict(document, lots));
  add('status', () => statusVerdict(certificate, document, leaves()));
  add('keys', () => keysVerdict(keys));
  add('inclusion', () => inclusionVerdict(document, logged()));
  add('signature', () => signatureVerdict(logged(), signed()));
  add('dates', () => datesVerdict(document, leaves(), signed.known));
  if (member(document, 'entropy_mode') !== 'csprng' || input.requireFixed === true)
    add('fixed', () => fixedVerdict(input, document, lots, logged.known));
  if (witnesses !== undefined)
    add('witnesses', () => witnessVerdict(certificate, document, logged(), witnesses));
  return {
    ok: checks.every((each) => each.ok),
    checks,
    notCovered: response === undefined ? [] : notCovered(response, octets !== undefined),
  };
}

/** Returns one check. `holds` returns what holds, in a sentence, or throws Refusal. */
export function check(name: CheckName, holds: () => string): Check {
  const { known, refusal = '' } = found(holds);
  return { name, ok: known !== undefined, why: known ?? refusal };
}

function certificateIdVerdict(response: unknown, document: unknown): string {
  const id = text(member(document, 'id'));
  const url = text(member(document, 'verify_url'));
  const asked = member(response, 'metadata', 'certificate_id');
  if (id === undefined) refuse('The certificate has no id.');
  if (asked !== id) refuse(`The answer names certificate ${show(asked)}, but this is certificate ${id}.`);
  if (!url?.endsWith(`/${id}`)) refuse('verify_url of the certificate does not end in its id.');
  return `The answer names certificate ${id}.`;
}

function requestIdVerdict(response: unknown, document: unknown): string {
  const id = text(member(document, 'request_id'));
  const named = member(response, 'metadata', 'request_id');
  const uuid = member(response, 'meta', 'request_id');
  const bits = id?.startsWith('req_') ? bytesOfBase32(id.slice(4)) : undefined;
  if (bits === undefined) refuse('The certificate has no request_id.');
  if (named !== id)
    refuse(`The answer is of request ${show(named)}, but the certificate is of request ${id}.`);
  if (uuid !== uuidOf(bits))
    refuse(`meta.request_id is ${show(uuid)}, not the UUID of the same 128 bits as ${id}.`);
  return `The answer and the certificate are of request ${id}.`;
}

function metadataVerdict({ response }: VerificationInput, document: unknown): string {
  const differing = REPEATED.filter(([inResponse, inCertificate]) => {
    const certified = member(document, ...inCertificate.split('.'));
    const told = member(response, ...inResponse.split('.'));
    return certified === undefined || told !== certified;
  }).map(([inResponse]) => inResponse);
  const type = member(response, 'media_type');
  if (type !== undefined && type !== member(document, 'media_type')) differing.push('media_type');
  if (differing.length > 0) refuse(`The answer differs from the certificate in: ${differing.join(', ')}.`);
  return 'Time, circuit, backend, origin, mode and test result are as certified.';
}

/**
 * Checks that `hashes.delivered` is SHA-256(salt || canonical JSON of `data`) or, if the certificate names a media
 * type, SHA-256(salt || octets). Only whoever holds the answer knows the salt.
 */
function deliveredVerdict({ response, octets, salt: given }: VerificationInput, document: unknown): string {
  const certified = member(document, 'hashes', 'delivered');
  const type = member(document, 'media_type');
  const salt = given ?? text(member(response, 'metadata', 'certificate_salt'));
  const bytes = type === undefined ? jsonBytes(response, octets) : octets;
  if (salt === undefined || !/^[0-9a-f]{64}$/.test(salt))
    refuse('metadata.certificate_salt is not 64 hex digits.');
  if (type !== undefined && octets === undefined)
    refuse(`The certificate is of an answer in octets (${show(type)}), but this answer is in JSON.`);
  if (bytes === undefined && octets !== undefined)
    refuse('The certificate is of an answer in JSON, but this answer is in octets.');
  if (bytes === undefined) refuse('The answer has no member data.');
  const digest = digestText(concatBytes(hexToBytes(salt), bytes));
  if (digest !== certified)
    refuse(`The salt and the data hash to ${digest}, but the certificate names ${show(certified)}.`);
  return type === undefined
    ? 'The data is what was delivered, bit for bit.'
    : `The octets are what was delivered, bit for bit. Their media type is ${text(type) ?? show(type)}.`;
}

/** Returns the bytes that the certificate of an answer in JSON commits to; undefined for octets and without `data`. */
function jsonBytes(response: unknown, octets: Uint8Array | undefined): Uint8Array | undefined {
  const data = octets === undefined ? canonical(member(response, 'data')) : undefined;
  return data === undefined ? undefined : utf8Bytes(data);
}

/** Checks the status against the lots. The status may change, so the log does not hold it; it does hold the lots. */
function statusVerdict(certificate: unknown, document: unknown, leaves: readonly unknown[]): string {
  const status = member(document, 'status');
  const deterministic = leaves.some((lot) => member(lot, 'deterministic') === true);
  if (status === 'revoked') {
    const reason = member(certificate, 'revocation', 'reason');
    refuse(`The operator withdrew a lot of this certificate: ${text(reason) ?? 'no reason is given'}.`);
  }
  if (status !== (deterministic ? 'test' : 'valid'))
    refuse(
      `status is ${show(status)}, but with these lots it must be ${deterministic ? '"test"' : '"valid"'}.`,
    );
  return deterministic
    ? 'A deterministic test source made the values: they are not random.'
    : 'According to the document, none of the lots was withdrawn.';
}

function inclusionVerdict(document: unknown, logged: LoggedAt): string {
  const leaf = issuedText(document);
  const { index } = logged.proof;
  const { size } = logged.checkpoint;
  if (leaf === undefined || !holdsLeaf(logged, leaf))
    refuse(`The certificate is not leaf ${index} of the tree of ${size} leaves that its proof names.`);
  return `The certificate is leaf ${index} of the signed tree of ${size} leaves.`;
}

/** Checks that each key id and verifier key follows from its public key, and that the current key is listed. */
function keysVerdict(keys: unknown): string {
  const current = member(keys, 'current_key_id');
  if (!knownKeys(keys).some((key) => key.keyId === current))
    refuse('current_key_id of the keys document names no key that the document lists.');
  return 'The keys document is well-formed.';
}

function signatureVerdict({ checkpoint }: LoggedAt, signed: readonly Signed[]): string {
  const keyIds = signed.map(({ key }) => key.keyId);
  const whose = keyIds.length === 1 ? 'key' : 'keys';
  return `The checkpoint of the log ${checkpoint.origin} is signed by ${whose} ${keyIds.join(' and ')}.`;
}

/**
 * Checks that every lot had ended when the certificate was issued, that a key that signed was in use then and when it
 * signed, and that the checkpoint is no older than the certificate. `signed` is undefined if no signature holds.
 */
function datesVerdict(
  document: unknown,
  leaves: readonly unknown[],
  signed: readonly Signed[] | undefined,
): string {
  const issuedAt = member(document, 'issued_at');
  const issuedMs = timeOf(issuedAt);
  if (Number.isNaN(issuedMs)) refuse(`issued_at is ${show(issuedAt)}, not a time.`);
  for (const lot of leaves) {
    const finishedAt = member(lot, 'finished_at');
    if (!(timeOf(finishedAt) <= issuedMs))
      refuse(
        `The certificate was issued at ${show(issuedAt)}, but a lot of it ended at ${show(finishedAt)}.`,
      );
  }
  if (signed === undefined)
    return 'The certificate was issued after its lots ended. No valid signature shows more.';
  const begun = signed.filter(({ key }) => key.beganMs <= issuedMs);
  if (begun.length === 0)
    refuse(
      `The certificate was issued at ${show(issuedAt)}, before the key that signed the checkpoint was created.`,
    );
  // After a rotation the new key signs the checkpoint too, later than the retired one: one rightful key is enough.
  const isRightful = ({ key: { retiredMs }, atS }: Signed) =>
    retiredMs === null || Math.max(issuedMs, atS * 1000) <= retiredMs;
  if (!begun.some(isRightful)) refuse('The key that signed the checkpoint had already been retired.');
  const earliest = Math.min(...signed.map(({ atS }) => atS));
  // The log signs in whole seconds.
  if (earliest < Math.floor(issuedMs / 1000))
    refuse(`The log says that it signed at ${timeText(earliest)}, before the certificate was issued.`);
  return `The certificate was issued after its lots ended. The log says that it signed by ${timeText(earliest)}.`;
}

function uuidOf(bits: Uint8Array): string {
  return bytesToHex(bits).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
