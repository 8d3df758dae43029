import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { bytesOfBase32 } from '../core/ids.ts';
import { leafHash, type Sha256, verifyInclusion } from '../crypto/merkle.ts';
import {
  allowsEvidence,
  isEvidenceLevel,
  type ReachedEvidence,
  sharedEvidence,
  weakestEvidence,
} from '../ledger/records.ts';
import { canonical, isObject, member, show, text, timeOf, timeText } from './members.ts';
import { notCovered, REPEATED } from './not-covered.ts';
import { knownKeys, type LoggedAt, readProof, readSignatures, type Signed } from './signed-checkpoint.ts';
import { labelFinding } from './verify-label.ts';
import { fixedFinding } from './verify-lots.ts';
import { WITNESS_CLOCK_MS, type WitnessPolicy, witnessFinding } from './verify-witnesses.ts';

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

const utf8 = new TextEncoder();
const sha256: Sha256 = (data) => new Uint8Array(nobleSha256(data));

/** Never throws: what cannot be read is a check that failed. */
export async function verifyAnswer(input: VerificationInput): Promise<Verification> {
  const document = member(input.certificate, 'certificate') ?? input.certificate;
  const logged = readProof(member(document, 'proof'));
  const signed = await readSignatures(input.keys, logged);
  const checks: Check[] = [];
  if (input.response !== undefined) {
    checks.push(
      checkCertificateId(input.response, document),
      checkRequestId(input.response, document),
      checkMetadata(input, document),
    );
  }
  if (input.response !== undefined || input.octets !== undefined) {
    checks.push(checkDelivered(input, document));
  }
  const label = labelFinding(input.octets === undefined ? input.response : undefined, document);
  if (label !== undefined) {
    checks.push(
      'failure' in label ? check('label', label.failure, '') : check('label', undefined, label.holds),
    );
  }
  checks.push(
    checkLots(document),
    checkStatus(input.certificate, document),
    checkKeys(input.keys),
    checkInclusion(document, logged),
    checkSignature(logged, signed),
    checkDates(document, signed),
  );
  if (versionOf(document) >= 4 || input.requireFixed === true)
    checks.push(await checkFixed(input, document, logged));
  if (input.witnesses !== undefined)
    checks.push(await checkWitnesses(input, document, logged, input.witnesses));
  return {
    ok: checks.every((check) => check.ok),
    checks,
    notCovered: input.response === undefined ? [] : notCovered(input.response, input.octets !== undefined),
  };
}

/** A failed check says why; a passed one says what holds. */
function check(name: CheckName, failure: string | undefined, holds: string): Check {
  return failure === undefined ? { name, ok: true, why: holds } : { name, ok: false, why: failure };
}

function checkCertificateId(response: unknown, document: unknown): Check {
  const id = text(member(document, 'id'));
  const url = text(member(document, 'verify_url'));
  const asked = member(response, 'metadata', 'certificate_id');
  let failure: string | undefined;
  if (id === undefined) failure = 'The certificate has no id.';
  else if (asked !== id) failure = `The response names ${show(asked)}, the certificate is ${id}.`;
  else if (!url?.endsWith(`/${id}`)) failure = 'verify_url does not end in the id.';
  return check('certificate id', failure, `The response names certificate ${id}.`);
}

function checkRequestId(response: unknown, document: unknown): Check {
  const id = text(member(document, 'request_id'));
  const named = member(response, 'metadata', 'request_id');
  const uuid = member(response, 'meta', 'request_id');
  const bits = id?.startsWith('req_') ? bytesOfBase32(id.slice(4)) : undefined;
  let failure: string | undefined;
  if (bits === undefined) failure = 'The certificate has no request_id.';
  else if (named !== id) failure = `The response has request ${show(named)}, the certificate is for ${id}.`;
  else if (uuid !== uuidOf(bits))
    failure = `meta.request_id is ${show(uuid)}, not the same 128 bits as ${id}.`;
  return check('request id', failure, `Both are of request ${id}.`);
}

function checkMetadata({ response, octets }: VerificationInput, document: unknown): Check {
  const differing = REPEATED.filter(([inResponse, inCertificate]) => {
    const certified = member(document, ...inCertificate);
    const told = member(response, ...inResponse);
    // no header field carries it
    if (octets !== undefined && told === undefined && inResponse[1] === 'powered_by') return false;
    return certified === undefined || told !== certified;
  });
  const type = member(response, 'media_type');
  if (type !== undefined && type !== member(document, 'media_type')) {
    differing.push([['media_type'], ['media_type']]);
  }
  const names = differing.map(([inResponse]) => inResponse.join('.')).join(', ');
  return check(
    'metadata',
    names === '' ? undefined : `Not as certified: ${names}.`,
    'Time, circuit, backend, origin, mode and test result are as certified.',
  );
}

/**
 * `delivered` is SHA-256(salt || canonical JSON of `data`), or SHA-256(salt || octets) where the certificate names their
 * media type; only who holds the response has the salt.
 */
function checkDelivered({ response, octets, salt: given }: VerificationInput, document: unknown): Check {
  const certified = member(document, 'hashes', 'delivered');
  const type = member(document, 'media_type');
  const salt = given ?? text(member(response, 'metadata', 'certificate_salt'));
  const bytes = type === undefined ? jsonBytes(response, octets) : octets;
  let failure: string | undefined;
  if (salt === undefined || !/^[0-9a-f]{64}$/.test(salt))
    failure = 'metadata.certificate_salt is not 64 hex digits.';
  else if (type !== undefined && octets === undefined)
    failure = `The certificate is of octets, ${show(type)}; the answer is not.`;
  else if (bytes === undefined && octets !== undefined)
    failure = 'The certificate is of JSON; the answer is in octets.';
  else if (bytes === undefined) failure = 'The response has no data.';
  else {
    const salted = new Uint8Array(32 + bytes.length);
    salted.set(hexToBytes(salt));
    salted.set(bytes, 32);
    const delivered = digestText(salted);
    if (delivered !== certified)
      failure = `The data and the salt hash to ${delivered}, certified is ${show(certified)}.`;
  }
  const what = type === undefined ? 'data is' : 'octets are';
  const named = type === undefined ? '' : ` They are ${text(type) ?? show(type)}.`;
  return check('delivered', failure, `The ${what} what was delivered, bit for bit.${named}`);
}

/** What a certificate of JSON commits to. */
function jsonBytes(response: unknown, octets: Uint8Array | undefined): Uint8Array | undefined {
  const data = octets === undefined ? canonical(member(response, 'data')) : undefined;
  return data === undefined ? undefined : utf8.encode(data);
}

/**
 * One lot's hashes stand alone; those of several are joined in order and hashed (decisions, Certificates,
 * lot). What is claimed of all of them is what the weakest claims or, from version 5 on, what each of them reaches.
 */
function checkLots(document: unknown): Check {
  const lots = member(document, 'provenance', 'lots');
  if (!Array.isArray(lots) || lots.length === 0) return check('lots', 'The certificate names no lot.', '');
  const failures: string[] = [];
  // another form is for another verifier: this one would leave checks out
  if (!VERSIONS.includes(member(document, 'version')))
    failures.push(`The version is ${show(member(document, 'version'))}; this verifier knows 1 to 5.`);
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
  return check(
    'lots',
    failures.length === 0 ? undefined : failures.join(' '),
    `The hashes are those of the lots named${evidenceText(document)}.`,
  );
}

/** What the answer was drawn from stood in the log before it was issued. */
async function checkFixed(
  { response, octets, certificate, keys, witnesses, requireFixed = false }: VerificationInput,
  document: unknown,
  logged: LoggedAt | string,
): Promise<Check> {
  const finding = await fixedFinding({
    // an answer that is bare values has no place for an opening
    response: octets === undefined || !isObject(response) ? response : { opening: null, ...response },
    document: certificate,
    certificate: document,
    logged,
    keys,
    witnesses,
    clockMs: WITNESS_CLOCK_MS,
    isRequired: requireFixed,
  });
  return 'failure' in finding
    ? check('fixed', finding.failure, '')
    : check('fixed', undefined, finding.holds.trim());
}

const VERSIONS: readonly unknown[] = [1, 2, 3, 4, 5];

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

/** Up to version 4 the claim of several lots may be one that not all of them reach. */
function evidenceText(document: unknown): string {
  const claim = text(member(document, 'provenance', 'evidence'));
  if (claim === undefined) return '';
  const reached = reachedEvidence(member(document, 'provenance', 'lots'));
  const shared = typeof reached === 'string' ? claim : sharedEvidence(reached);
  const caution = shared === claim ? '' : ` is the weakest claim, and all lots reach only ${shared}`;
  return `, and so is the evidence: ${claim}${caution}`;
}

/**
 * From version 2 on: every lot has a claim that its origin allows. The weakest of them stands for all; from version 5
 * on, the strongest that all reach.
 */
function checkEvidence(document: unknown, lots: readonly unknown[]): string | undefined {
  const reached = reachedEvidence(lots);
  if (typeof reached === 'string') return reached;
  const certified = member(document, 'provenance', 'evidence');
  if (versionOf(document) >= 5) {
    const shared = sharedEvidence(reached);
    if (certified === shared) return undefined;
    return `The evidence is ${show(certified)}, the strongest that all lots reach is ${show(shared)}.`;
  }
  const weakest = weakestEvidence(reached.map(({ claim }) => claim));
  if (certified === weakest) return undefined;
  return `The evidence is ${show(certified)}, the weakest of the lots has ${show(weakest)}.`;
}

/** What each lot claims and what it does not reach; a text says why that cannot be. */
function reachedEvidence(lots: unknown): ReachedEvidence[] | string {
  const reached: ReachedEvidence[] = [];
  for (const lot of Array.isArray(lots) ? (lots as unknown[]) : []) {
    const claim = member(lot, 'evidence', 'claim');
    if (!isEvidenceLevel(claim)) return 'A lot has no evidence.';
    const origin = member(lot, 'origin');
    if (!allowsEvidence(origin, claim)) return `A lot of origin ${show(origin)} claims ${show(claim)}.`;
    const listed = member(lot, 'evidence', 'not_reached');
    const notReached = Array.isArray(listed) ? listed.map((each) => member(each, 'claim')) : [];
    reached.push({ claim, notReached: notReached.filter(isEvidenceLevel) });
  }
  return reached;
}

function joined(digests: readonly string[]): string {
  if (digests.length === 1) return digests[0];
  return digestText(hexToBytes(digests.map((digest) => digest.slice('sha256:'.length)).join('')));
}

/** The log does not hold the status, which may change; what it follows from does stand in the log. */
function checkStatus(certificate: unknown, document: unknown): Check {
  const status = member(document, 'status');
  const lots = member(document, 'provenance', 'lots');
  const deterministic = Array.isArray(lots) && lots.some((lot) => member(lot, 'deterministic') === true);
  let failure: string | undefined;
  if (status === 'revoked') {
    const reason = member(certificate, 'revocation', 'reason');
    failure = `A lot was withdrawn: ${text(reason) ?? 'no reason is given'}.`;
  } else if (status !== (deterministic ? 'test' : 'valid')) {
    failure = `status is ${show(status)}; the lots make it ${deterministic ? 'test' : 'valid'}.`;
  }
  const holds = deterministic
    ? 'A deterministic test source made this: not random.'
    : 'The document says of no lot that it was withdrawn.';
  return check('status', failure, holds);
}

function checkInclusion(document: unknown, logged: LoggedAt | string): Check {
  if (typeof logged === 'string') return check('inclusion', logged, '');
  const { status: _, proof: __, ...issued } = document as Record<string, unknown>;
  const leafText = canonical(issued);
  const { index, path } = logged.proof;
  const { size, root } = logged.checkpoint;
  const included =
    leafText !== undefined &&
    verifyInclusion(sha256, leafHash(sha256, utf8.encode(leafText)), index, size, path, root);
  return check(
    'inclusion',
    included
      ? undefined
      : `The certificate is not leaf ${index} of the tree of ${size} that the proof names.`,
    `The certificate is leaf ${index} of the logged tree of ${size}.`,
  );
}

/** Key ids and verifier keys must follow from the keys themselves. */
function checkKeys(keys: unknown): Check {
  const listed = knownKeys(keys);
  const current = member(keys, 'current_key_id');
  let failure: string | undefined;
  if (typeof listed === 'string') failure = listed;
  else if (!listed.some((key) => key.keyId === current))
    failure = 'current_key_id does not name a listed key.';
  return check('keys', failure, 'The keys are well-formed.');
}

function checkSignature(logged: LoggedAt | string, signed: readonly Signed[] | string): Check {
  if (typeof logged === 'string') return check('signature', logged, '');
  if (typeof signed === 'string') return check('signature', signed, '');
  const keyIds = signed.filter(({ atS }) => atS === undefined).map(({ key }) => key.keyId);
  return check(
    'signature',
    undefined,
    `The checkpoint is signed by ${keyIds.join(' and ')} of ${logged.checkpoint.origin}.`,
  );
}

/**
 * Every lot had ended when the certificate was issued, the key that signed had begun and was not retired, and
 * the checkpoint is no older than the certificate in it.
 */
function checkDates(document: unknown, signed: readonly Signed[] | string): Check {
  const issuedAt = member(document, 'issued_at');
  const issuedMs = timeOf(issuedAt);
  const failed = (why: string) => check('dates', why, '');
  if (Number.isNaN(issuedMs)) return failed(`issued_at is ${show(issuedAt)}, not a time.`);
  const lots = member(document, 'provenance', 'lots');
  for (const lot of Array.isArray(lots) ? lots : []) {
    const finishedAt = member(lot, 'finished_at');
    if (!(timeOf(finishedAt) <= issuedMs))
      return failed(`It was issued at ${show(issuedAt)}, and a lot of it ended at ${show(finishedAt)}.`);
  }
  if (typeof signed === 'string') {
    return check('dates', undefined, 'Issued after its lots ended. No signature that holds says more.');
  }
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
  if (times.length === 0) {
    return check('dates', undefined, 'Issued after its lots ended. The log did not say when it signed.');
  }
  const earliest = Math.min(...times);
  // the log's time has whole seconds
  if (earliest < Math.floor(issuedMs / 1000))
    return failed(`The log says that it signed at ${timeText(earliest)}, before the certificate was issued.`);
  return check(
    'dates',
    undefined,
    `Issued after its lots ended; the log says that it signed by ${timeText(earliest)}.`,
  );
}

/**
 * Enough witnesses have seen the tree, and the times at which they did say between which the certificate was
 * logged.
 */
async function checkWitnesses(
  { certificate }: VerificationInput,
  document: unknown,
  logged: LoggedAt | string,
  policy: WitnessPolicy,
): Promise<Check> {
  const finding = await witnessFinding(certificate, document, logged, policy);
  return 'failure' in finding
    ? check('witnesses', finding.failure, '')
    : check('witnesses', undefined, finding.holds);
}

function digestText(bytes: Uint8Array): string {
  return `sha256:${bytesToHex(sha256(bytes))}`;
}

function uuidOf(bits: Uint8Array): string {
  return bytesToHex(bits).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
