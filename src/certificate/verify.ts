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
import { fixedVerdict, issuedText, lotsVerdict, readLots } from './verify-lots.ts';
import { type WitnessPolicy, witnessVerdict } from './verify-witnesses.ts';

/**
 * Verifies an answer, its certificate and the log's word for it, from what a client holds and from nothing
 * else: the same code for the command line, the verification page and anyone's own use. Runs in
 * browsers, Deno, Bun and Node: neither this file nor what it imports needs anything of Node.
 */
export interface VerificationInput {
  /**
   * The answer's JSON body, parsed; of an answer in octets what its header fields say (`responseOfFields`). Leave it
   * out to check a certificate alone.
   */
  readonly response?: unknown;
  /** The octets that the certificate commits to, where it does: the body of an answer in octets. */
  readonly octets?: Uint8Array;
  /**
   * The salt of the octets, 64 hex digits, where nothing else of the header fields was kept. Then the values are checked
   * against the certificate, and not what the answer said of itself.
   */
  readonly salt?: string;
  /** What the certificate endpoint or the verification page answered, parsed. */
  readonly certificate: unknown;
  /**
   * /.well-known/qrn-keys.json, parsed: the anchor of trust, best had from elsewhere than the certificate.
   */
  readonly keys: unknown;
  /** Who else must have seen the tree; without it nobody else is asked for. */
  readonly witnesses?: WitnessPolicy;
  /** Fails an answer whose certificate does not show that what it was drawn from was fixed before. */
  readonly requireFixed?: boolean;
}

export interface Verification {
  readonly ok: boolean;
  readonly checks: readonly Check[];
  /** Members of the response that no certificate speaks of, such as durations and credits. */
  readonly notCovered: readonly string[];
}

export interface Check {
  readonly name: CheckName;
  readonly ok: boolean;
  /** What was found, in a sentence. */
  readonly why: string;
}

export type AddCheck = (name: CheckName, holds: () => string) => void;

export type CheckName =
  | 'certificate id'
  | 'request id'
  | 'metadata'
  | 'delivered'
  /** Where the certificate or the answer has one. */
  | 'label'
  | 'lots'
  | 'derived'
  | 'status'
  | 'keys'
  | 'inclusion'
  | 'signature'
  | 'dates'
  /** Of quantum modes, and of csprng where it is required. */
  | 'fixed'
  | 'witnesses'
  /** Of a committed draw alone. */
  | DrawCheckName;

type DrawCheckName = 'statement' | 'commitment' | 'logged' | 'secret' | 'nonce' | 'beacon' | 'values' | 'end';

/** Never throws: what cannot be read is a check that failed. */
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
    add('certificate id', () => certificateId(response, document));
    add('request id', () => requestId(response, document));
    add('metadata', () => metadata(input, document));
  }
  if (response !== undefined || octets !== undefined) add('delivered', () => delivered(input, document));
  const labelled = octets === undefined ? response : undefined;
  if (member(document, 'label') !== undefined || member(labelled, 'label') !== undefined)
    add('label', () => labelVerdict(labelled, document));
  add('lots', () => lotsVerdict(leaves()));
  add('derived', () => derivedVerdict(document, lots));
  add('status', () => statusNow(certificate, document, leaves()));
  add('keys', () => keysListed(keys));
  add('inclusion', () => inclusion(document, logged()));
  add('signature', () => signature(logged(), signed()));
  add('dates', () => dates(document, leaves(), signed.known));
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

/** `holds` gives what holds, in a sentence, or refuses. */
export function check(name: CheckName, holds: () => string): Check {
  const { known, refusal = '' } = found(holds);
  return { name, ok: known !== undefined, why: known ?? refusal };
}

function certificateId(response: unknown, document: unknown): string {
  const id = text(member(document, 'id'));
  const url = text(member(document, 'verify_url'));
  const asked = member(response, 'metadata', 'certificate_id');
  if (id === undefined) refuse('The certificate has no id.');
  if (asked !== id) refuse(`The response names ${show(asked)}, the certificate is ${id}.`);
  if (!url?.endsWith(`/${id}`)) refuse('verify_url does not end in the id.');
  return `The response names certificate ${id}.`;
}

function requestId(response: unknown, document: unknown): string {
  const id = text(member(document, 'request_id'));
  const named = member(response, 'metadata', 'request_id');
  const uuid = member(response, 'meta', 'request_id');
  const bits = id?.startsWith('req_') ? bytesOfBase32(id.slice(4)) : undefined;
  if (bits === undefined) refuse('The certificate has no request_id.');
  if (named !== id) refuse(`The response has request ${show(named)}, the certificate is for ${id}.`);
  if (uuid !== uuidOf(bits)) refuse(`meta.request_id is ${show(uuid)}, not the same 128 bits as ${id}.`);
  return `Both are of request ${id}.`;
}

function metadata({ response }: VerificationInput, document: unknown): string {
  const differing = REPEATED.filter(([inResponse, inCertificate]) => {
    const certified = member(document, ...inCertificate.split('.'));
    const told = member(response, ...inResponse.split('.'));
    return certified === undefined || told !== certified;
  }).map(([inResponse]) => inResponse);
  const type = member(response, 'media_type');
  if (type !== undefined && type !== member(document, 'media_type')) differing.push('media_type');
  if (differing.length > 0) refuse(`Not as certified: ${differing.join(', ')}.`);
  return 'Time, circuit, backend, origin, mode and test result are as certified.';
}

/**
 * `delivered` is SHA-256(salt || canonical JSON of `data`), or SHA-256(salt || octets) where the certificate names their
 * media type; only who holds the response has the salt.
 */
function delivered({ response, octets, salt: given }: VerificationInput, document: unknown): string {
  const certified = member(document, 'hashes', 'delivered');
  const type = member(document, 'media_type');
  const salt = given ?? text(member(response, 'metadata', 'certificate_salt'));
  const bytes = type === undefined ? jsonBytes(response, octets) : octets;
  if (salt === undefined || !/^[0-9a-f]{64}$/.test(salt))
    refuse('metadata.certificate_salt is not 64 hex digits.');
  if (type !== undefined && octets === undefined)
    refuse(`The certificate is of octets, ${show(type)}; the answer is not.`);
  if (bytes === undefined && octets !== undefined)
    refuse('The certificate is of JSON; the answer is in octets.');
  if (bytes === undefined) refuse('The response has no data.');
  const digest = digestText(concatBytes(hexToBytes(salt), bytes));
  if (digest !== certified)
    refuse(`The data and the salt hash to ${digest}, certified is ${show(certified)}.`);
  return type === undefined
    ? 'The data is what was delivered, bit for bit.'
    : `The octets are what was delivered, bit for bit. They are ${text(type) ?? show(type)}.`;
}

/** What a certificate of JSON commits to. */
function jsonBytes(response: unknown, octets: Uint8Array | undefined): Uint8Array | undefined {
  const data = octets === undefined ? canonical(member(response, 'data')) : undefined;
  return data === undefined ? undefined : utf8Bytes(data);
}

/** The log does not hold the status, which may change; what it follows from does stand in the log. */
function statusNow(certificate: unknown, document: unknown, leaves: readonly unknown[]): string {
  const status = member(document, 'status');
  const deterministic = leaves.some((lot) => member(lot, 'deterministic') === true);
  if (status === 'revoked') {
    const reason = member(certificate, 'revocation', 'reason');
    refuse(`A lot was withdrawn: ${text(reason) ?? 'no reason is given'}.`);
  }
  if (status !== (deterministic ? 'test' : 'valid'))
    refuse(`status is ${show(status)}; the lots make it ${deterministic ? 'test' : 'valid'}.`);
  return deterministic
    ? 'A deterministic test source made this: not random.'
    : 'The document says of no lot that it was withdrawn.';
}

function inclusion(document: unknown, logged: LoggedAt): string {
  const leaf = issuedText(document);
  const { index } = logged.proof;
  const { size } = logged.checkpoint;
  if (leaf === undefined || !holdsLeaf(logged, leaf))
    refuse(`The certificate is not leaf ${index} of the tree of ${size} that the proof names.`);
  return `The certificate is leaf ${index} of the logged tree of ${size}.`;
}

/** Key ids and verifier keys must follow from the keys themselves. */
function keysListed(keys: unknown): string {
  const current = member(keys, 'current_key_id');
  if (!knownKeys(keys).some((key) => key.keyId === current))
    refuse('current_key_id does not name a listed key.');
  return 'The keys are well-formed.';
}

function signature({ checkpoint }: LoggedAt, signed: readonly Signed[]): string {
  const keyIds = signed.map(({ key }) => key.keyId);
  return `The checkpoint is signed by ${keyIds.join(' and ')} of ${checkpoint.origin}.`;
}

/**
 * Every lot had ended when the certificate was issued, the key that signed had begun and was not retired, and
 * the checkpoint is no older than the certificate in it. `signed` is undefined where no signature holds.
 */
function dates(document: unknown, leaves: readonly unknown[], signed: readonly Signed[] | undefined): string {
  const issuedAt = member(document, 'issued_at');
  const issuedMs = timeOf(issuedAt);
  if (Number.isNaN(issuedMs)) refuse(`issued_at is ${show(issuedAt)}, not a time.`);
  for (const lot of leaves) {
    const finishedAt = member(lot, 'finished_at');
    if (!(timeOf(finishedAt) <= issuedMs))
      refuse(`It was issued at ${show(issuedAt)}, and a lot of it ended at ${show(finishedAt)}.`);
  }
  if (signed === undefined) return 'Issued after its lots ended. No signature that holds says more.';
  const begun = signed.filter(({ key }) => key.beganMs <= issuedMs);
  if (begun.length === 0)
    refuse(`It was issued at ${show(issuedAt)}, before the key that signed the checkpoint began.`);
  // a key that was rotated in has signed beside the retired one, and later
  const isRightful = ({ key: { retiredMs }, atS }: Signed) =>
    retiredMs === null || Math.max(issuedMs, atS * 1000) <= retiredMs;
  if (!begun.some(isRightful)) refuse('The key that signed the checkpoint had been retired before.');
  const earliest = Math.min(...signed.map(({ atS }) => atS));
  // the log's time has whole seconds
  if (earliest < Math.floor(issuedMs / 1000))
    refuse(`The log says that it signed at ${timeText(earliest)}, before the certificate was issued.`);
  return `Issued after its lots ended; the log says that it signed by ${timeText(earliest)}.`;
}

function uuidOf(bits: Uint8Array): string {
  return bytesToHex(bits).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
