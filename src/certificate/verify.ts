import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { concatBytes, utf8Bytes } from '../core/bytes.ts';
import { bytesOfBase32 } from '../core/ids.ts';
import { allowsEvidence, type EvidenceLevel, isEvidenceLevel, weakestEvidence } from '../ledger/records.ts';
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
import { digestText, failed, holds, type Verdict } from './verdict.ts';
import { labelVerdict } from './verify-label.ts';
import { fixedVerdict } from './verify-lots.ts';
import { type WitnessPolicy, witnessVerdict } from './verify-witnesses.ts';

/**
 * Verifies an answer, its certificate and the log's word for it, from what a client holds and from nothing
 * else: the same code for the command line, the verification page and anyone's own use. Runs where WebCrypto
 * does (browsers over https, Deno, Node); neither this file nor what it imports uses anything of Node.
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

export type CheckName =
  | 'certificate id'
  | 'request id'
  | 'metadata'
  | 'delivered'
  /** Where the certificate or the answer has one. */
  | 'label'
  | 'lots'
  | 'status'
  | 'keys'
  | 'inclusion'
  | 'signature'
  | 'dates'
  /** From version 4 on, and of any version where it is required. */
  | 'fixed'
  | 'witnesses'
  /** Of a committed draw alone. */
  | DrawCheckName;

export type DrawCheckName =
  | 'statement'
  | 'commitment'
  | 'logged'
  | 'secret'
  | 'nonce'
  | 'beacon'
  | 'values'
  | 'end';

/** Never throws: what cannot be read is a check that failed. */
export async function verifyAnswer(input: VerificationInput): Promise<Verification> {
  const { response, octets, certificate, keys, witnesses } = input;
  const document = member(certificate, 'certificate') ?? certificate;
  const logged = readProof(member(document, 'proof'));
  const signed = await readSignatures(keys, logged);
  const checks: Check[] = [];
  const add = (name: CheckName, verdict: Verdict) => checks.push(check(name, verdict));
  if (response !== undefined) {
    add('certificate id', certificateId(response, document));
    add('request id', requestId(response, document));
    add('metadata', metadata(input, document));
  }
  if (response !== undefined || octets !== undefined) add('delivered', delivered(input, document));
  const label = labelVerdict(octets === undefined ? response : undefined, document);
  if (label !== undefined) add('label', label);
  add('lots', lotsNamed(document));
  add('status', statusNow(certificate, document));
  add('keys', keysListed(keys));
  add('inclusion', inclusion(document, logged));
  add('signature', signature(logged, signed));
  add('dates', dates(document, signed));
  if (versionOf(document) >= 4 || input.requireFixed === true)
    add('fixed', await fixedVerdict(input, document, logged));
  if (witnesses !== undefined)
    add('witnesses', await witnessVerdict(certificate, document, logged, witnesses));
  return {
    ok: checks.every((check) => check.ok),
    checks,
    notCovered: response === undefined ? [] : notCovered(response, octets !== undefined),
  };
}

/** A failed check says why; a passed one says what holds. */
export function check(name: CheckName, verdict: Verdict): Check {
  return 'failure' in verdict
    ? { name, ok: false, why: verdict.failure }
    : { name, ok: true, why: verdict.holds };
}

function certificateId(response: unknown, document: unknown): Verdict {
  const id = text(member(document, 'id'));
  const url = text(member(document, 'verify_url'));
  const asked = member(response, 'metadata', 'certificate_id');
  if (id === undefined) return failed('The certificate has no id.');
  if (asked !== id) return failed(`The response names ${show(asked)}, the certificate is ${id}.`);
  if (!url?.endsWith(`/${id}`)) return failed('verify_url does not end in the id.');
  return holds(`The response names certificate ${id}.`);
}

function requestId(response: unknown, document: unknown): Verdict {
  const id = text(member(document, 'request_id'));
  const named = member(response, 'metadata', 'request_id');
  const uuid = member(response, 'meta', 'request_id');
  const bits = id?.startsWith('req_') ? bytesOfBase32(id.slice(4)) : undefined;
  if (bits === undefined) return failed('The certificate has no request_id.');
  if (named !== id) return failed(`The response has request ${show(named)}, the certificate is for ${id}.`);
  if (uuid !== uuidOf(bits))
    return failed(`meta.request_id is ${show(uuid)}, not the same 128 bits as ${id}.`);
  return holds(`Both are of request ${id}.`);
}

function metadata({ response, octets }: VerificationInput, document: unknown): Verdict {
  const differing = REPEATED.filter(([inResponse, inCertificate]) => {
    const certified = member(document, ...inCertificate.split('.'));
    const told = member(response, ...inResponse.split('.'));
    // no header field carries it
    if (octets !== undefined && told === undefined && inResponse === 'metadata.powered_by') return false;
    return certified === undefined || told !== certified;
  }).map(([inResponse]) => inResponse);
  const type = member(response, 'media_type');
  if (type !== undefined && type !== member(document, 'media_type')) differing.push('media_type');
  return differing.length > 0
    ? failed(`Not as certified: ${differing.join(', ')}.`)
    : holds('Time, circuit, backend, origin, mode and test result are as certified.');
}

/**
 * `delivered` is SHA-256(salt || canonical JSON of `data`), or SHA-256(salt || octets) where the certificate names their
 * media type; only who holds the response has the salt.
 */
function delivered({ response, octets, salt: given }: VerificationInput, document: unknown): Verdict {
  const certified = member(document, 'hashes', 'delivered');
  const type = member(document, 'media_type');
  const salt = given ?? text(member(response, 'metadata', 'certificate_salt'));
  const bytes = type === undefined ? jsonBytes(response, octets) : octets;
  if (salt === undefined || !/^[0-9a-f]{64}$/.test(salt))
    return failed('metadata.certificate_salt is not 64 hex digits.');
  if (type !== undefined && octets === undefined)
    return failed(`The certificate is of octets, ${show(type)}; the answer is not.`);
  if (bytes === undefined && octets !== undefined)
    return failed('The certificate is of JSON; the answer is in octets.');
  if (bytes === undefined) return failed('The response has no data.');
  const digest = digestText(concatBytes(hexToBytes(salt), bytes));
  if (digest !== certified)
    return failed(`The data and the salt hash to ${digest}, certified is ${show(certified)}.`);
  return type === undefined
    ? holds('The data is what was delivered, bit for bit.')
    : holds(`The octets are what was delivered, bit for bit. They are ${text(type) ?? show(type)}.`);
}

/** What a certificate of JSON commits to. */
function jsonBytes(response: unknown, octets: Uint8Array | undefined): Uint8Array | undefined {
  const data = octets === undefined ? canonical(member(response, 'data')) : undefined;
  return data === undefined ? undefined : utf8Bytes(data);
}

/**
 * One lot's hashes stand alone; those of several are joined in order and hashed (decisions, Certificates,
 * lot). What is claimed of all of them is what the weakest claims.
 */
function lotsNamed(document: unknown): Verdict {
  const lots = member(document, 'provenance', 'lots');
  if (!Array.isArray(lots) || lots.length === 0) return failed('The certificate names no lot.');
  const failures: string[] = [];
  // another form is for another verifier: this one would leave checks out
  if (!VERSIONS.includes(member(document, 'version')))
    failures.push(`The version is ${show(member(document, 'version'))}; this verifier knows 1 to 4.`);
  for (const name of ['raw_output', 'processed']) {
    const certified = member(document, 'hashes', name);
    const digests = lots.map((lot) => text(member(lot, name)) ?? '');
    if (!digests.every((digest) => /^sha256:[0-9a-f]{64}$/.test(digest)))
      failures.push(`A lot has no ${name}.`);
    else if (certified !== joined(digests)) failures.push(`hashes.${name} is not that of the lots.`);
  }
  // version 4 is of lots with evidence and of older ones without
  const isSilent =
    versionOf(document) === 1 ||
    member(document, 'entropy_mode') === 'csprng' ||
    (versionOf(document) >= 4 && lots.some((lot) => member(lot, 'evidence') === undefined));
  const evidence = isSilent ? noEvidence(document) : checkEvidence(document, lots);
  if (evidence !== undefined) failures.push(evidence);
  return failures.length > 0
    ? failed(failures.join(' '))
    : holds(`The hashes are those of the lots named${evidenceText(document)}.`);
}

const VERSIONS: readonly unknown[] = [1, 2, 3, 4];

function versionOf(document: unknown): number {
  const version = member(document, 'version');
  return typeof version === 'number' ? version : 0;
}

/** A lot without evidence leaves nothing to say of all of them; version 1 and csprng speak of no lot's either. */
function noEvidence(document: unknown): string | undefined {
  const isWithout = versionOf(document) === 1 || member(document, 'entropy_mode') === 'csprng';
  const lots = isWithout ? member(document, 'provenance', 'lots') : [];
  const told = [member(document, 'provenance', 'evidence')];
  for (const lot of Array.isArray(lots) ? lots : []) told.push(member(lot, 'evidence'));
  if (told.every((each) => each === undefined)) return undefined;
  return isWithout
    ? 'Version 1 and csprng do not speak of evidence.'
    : 'It speaks of evidence that one of its lots does not have.';
}

function evidenceText(document: unknown): string {
  const claim = text(member(document, 'provenance', 'evidence'));
  return claim === undefined ? '' : `, and so is the evidence: ${claim}`;
}

/** From version 2 on: every lot has a claim that its origin allows. The weakest of them stands for all. */
function checkEvidence(document: unknown, lots: readonly unknown[]): string | undefined {
  const claims: EvidenceLevel[] = [];
  for (const lot of lots) {
    const claim = member(lot, 'evidence', 'claim');
    if (!isEvidenceLevel(claim)) return 'A lot has no evidence.';
    const origin = member(lot, 'origin');
    if (!allowsEvidence(origin, claim)) return `A lot of origin ${show(origin)} claims ${show(claim)}.`;
    claims.push(claim);
  }
  const certified = member(document, 'provenance', 'evidence');
  const weakest = weakestEvidence(claims);
  if (certified === weakest) return undefined;
  return `The evidence is ${show(certified)}, the weakest of the lots has ${show(weakest)}.`;
}

function joined(digests: readonly string[]): string {
  if (digests.length === 1) return digests[0];
  return digestText(hexToBytes(digests.map((digest) => digest.slice('sha256:'.length)).join('')));
}

/** The log does not hold the status, which may change; what it follows from does stand in the log. */
function statusNow(certificate: unknown, document: unknown): Verdict {
  const status = member(document, 'status');
  const lots = member(document, 'provenance', 'lots');
  const deterministic = Array.isArray(lots) && lots.some((lot) => member(lot, 'deterministic') === true);
  if (status === 'revoked') {
    const reason = member(certificate, 'revocation', 'reason');
    return failed(`A lot was withdrawn: ${text(reason) ?? 'no reason is given'}.`);
  }
  if (status !== (deterministic ? 'test' : 'valid'))
    return failed(`status is ${show(status)}; the lots make it ${deterministic ? 'test' : 'valid'}.`);
  return deterministic
    ? holds('A deterministic test source made this: not random.')
    : holds('The document says of no lot that it was withdrawn.');
}

function inclusion(document: unknown, logged: LoggedAt | string): Verdict {
  if (typeof logged === 'string') return failed(logged);
  const { status: _, proof: __, ...issued } = document as Record<string, unknown>;
  const leaf = canonical(issued);
  const { index } = logged.proof;
  const { size } = logged.checkpoint;
  return leaf !== undefined && holdsLeaf(logged, leaf)
    ? holds(`The certificate is leaf ${index} of the logged tree of ${size}.`)
    : failed(`The certificate is not leaf ${index} of the tree of ${size} that the proof names.`);
}

/** Key ids and verifier keys must follow from the keys themselves. */
function keysListed(keys: unknown): Verdict {
  const listed = knownKeys(keys);
  if (typeof listed === 'string') return failed(listed);
  const current = member(keys, 'current_key_id');
  return listed.some((key) => key.keyId === current)
    ? holds('The keys are well-formed.')
    : failed('current_key_id does not name a listed key.');
}

function signature(logged: LoggedAt | string, signed: readonly Signed[] | string): Verdict {
  if (typeof logged === 'string') return failed(logged);
  if (typeof signed === 'string') return failed(signed);
  const keyIds = signed.filter(({ atS }) => atS === undefined).map(({ key }) => key.keyId);
  return holds(`The checkpoint is signed by ${keyIds.join(' and ')} of ${logged.checkpoint.origin}.`);
}

/**
 * Every lot had ended when the certificate was issued, the key that signed had begun and was not retired, and
 * the checkpoint is no older than the certificate in it.
 */
function dates(document: unknown, signed: readonly Signed[] | string): Verdict {
  const issuedAt = member(document, 'issued_at');
  const issuedMs = timeOf(issuedAt);
  if (Number.isNaN(issuedMs)) return failed(`issued_at is ${show(issuedAt)}, not a time.`);
  const lots = member(document, 'provenance', 'lots');
  for (const lot of Array.isArray(lots) ? lots : []) {
    const finishedAt = member(lot, 'finished_at');
    if (!(timeOf(finishedAt) <= issuedMs))
      return failed(`It was issued at ${show(issuedAt)}, and a lot of it ended at ${show(finishedAt)}.`);
  }
  if (typeof signed === 'string')
    return holds('Issued after its lots ended. No signature that holds says more.');
  const valid = signed.filter(({ key }) => key.beganMs <= issuedMs);
  if (!valid.some(({ atS }) => atS === undefined))
    return failed(`It was issued at ${show(issuedAt)}, before the key that signed the checkpoint began.`);
  const times = signed.flatMap(({ atS }) => (atS === undefined ? [] : [atS]));
  // a key that was rotated in has signed beside the retired one, and later
  const lastMsOf = (each: Signed['key']) =>
    Math.max(issuedMs, ...signed.map(({ key, atS }) => (key === each && atS !== undefined ? atS * 1000 : 0)));
  if (
    !valid.some(
      ({ atS, key }) => atS === undefined && (key.retiredMs === null || lastMsOf(key) <= key.retiredMs),
    )
  )
    return failed('The key that signed the checkpoint had been retired before.');
  if (times.length === 0) return holds('Issued after its lots ended. The log did not say when it signed.');
  const earliest = Math.min(...times);
  // the log's time has whole seconds
  if (earliest < Math.floor(issuedMs / 1000))
    return failed(`The log says that it signed at ${timeText(earliest)}, before the certificate was issued.`);
  return holds(`Issued after its lots ended; the log says that it signed by ${timeText(earliest)}.`);
}

function uuidOf(bits: Uint8Array): string {
  return bytesToHex(bits).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
