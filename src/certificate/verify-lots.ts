import { utf8Bytes } from '../core/bytes.ts';
import { isCount, isObject } from '../core/json.ts';
import { fromBase64, toBase64 } from '../crypto/base64.ts';
import {
  equalHashes,
  HASH_BYTES,
  type Hash,
  leafHash,
  PIECE_BYTES,
  PIECE_SALT_BYTES,
  pieceHash,
  rootOfRun,
  splitHashes,
} from '../crypto/merkle.ts';
import { parseHashes } from '../crypto/note.ts';
import type { DrawnRange } from '../ledger/records.ts';
import { UNSIGNED } from './certificate-members.ts';
import type { LotLeaf } from './lot-members.ts';
import { canonical, listAt, member, show, text, timeOf, timeText } from './members.ts';
import type { LoggedAt } from './signed-checkpoint.ts';
import { type Found, refuse } from './verdict.ts';
import { checkMembers, mayTakeMore, valuesVerdict } from './verify-values.ts';
import { heldBefore, WITNESS_CLOCK_MS, type WitnessPolicy } from './verify-witnesses.ts';

/**
 * Verifies that the entropy of an answer was fixed before the answer was issued: signed checkpoints that are older than
 * the answer cover the leaves of its lots, and these leaves commit to what was drawn. Runs in browsers.
 */
export interface GivenAnswer {
  /**
   * The answer's JSON body, parsed. For an answer in octets, what `responseOfFields` made of its header fields. Leave
   * it out to check a certificate alone.
   */
  readonly response?: unknown;
  /** The body of an answer in octets; undefined for an answer in JSON. */
  readonly octets?: Uint8Array;
  /** The reply of the certificate endpoint or of the verification page, parsed. */
  readonly certificate: unknown;
  /**
   * /.well-known/qrn-keys.json, parsed. All trust rests on these keys, so get them from elsewhere than the certificate.
   */
  readonly keys: unknown;
  /** The witnesses that must have cosigned the tree. Without it the verifier asks for no cosignature. */
  readonly witnesses?: WitnessPolicy;
}

/** An answer in JSON that drew at most this many bytes carries an opening. */
const OPENED_BYTES_MAX = 2_048;

/** What the leaf of a lot commits to. */
interface FixedLot extends Pick<LotLeaf, 'pure' | 'seeds'> {
  /** The proofs that the leaf commits to what was drawn, one for each range or seed. Not verified yet. */
  readonly runs: readonly unknown[];
  /** When the log, by its own word, held the leaf, in seconds since 1970. */
  readonly atS: number;
}

/** A range of bytes, with the roots of the blocks that it lies in. The lot's leaf commits to these roots. */
interface BoundRange extends DrawnRange {
  readonly fixed: FixedLot;
  readonly firstBlock: number;
  readonly blockRoots: readonly Hash[];
}

/**
 * Returns the leaves of the lots that a certificate names, in its order. Refuses the document unless it holds every
 * leaf, and each leaf has the hash that the certificate names.
 */
export function readLots(document: unknown, certificate: unknown): readonly unknown[] {
  const named = member(certificate, 'provenance', 'lots');
  const given = member(document, 'lots');
  if (!Array.isArray(named) || named.length === 0) refuse('The certificate names no lot.');
  if (!Array.isArray(given) || given.length !== named.length)
    refuse(`The number of lots in the document is not the ${named.length} that the certificate names.`);
  const ids = named.map((each) => text(member(each, 'id')));
  if (new Set(ids).size < ids.length) refuse('The certificate names a lot twice.');
  const leaves = given.map((each) => member(each, 'leaf'));
  for (const [i, leaf] of leaves.entries()) {
    const id = ids[i];
    const isLot = member(leaf, 'type') === 'lot' && member(leaf, 'version') === 1;
    if (!isLot || id === undefined || member(leaf, 'lot_id') !== id)
      refuse(`The document does not hold the leaf of lot ${show(id)}, but something else in its place.`);
    const hash = canonical(leaf);
    if (hash === undefined || toBase64(leafHash(utf8Bytes(hash))) !== member(named[i], 'leaf'))
      refuse(`The leaf of lot ${id} does not have the hash that the certificate names.`);
  }
  return leaves;
}

export function lotsVerdict({ length }: readonly unknown[]): string {
  return length === 1
    ? 'The leaf of the lot has the hash that the certificate names.'
    : `The leaves of the ${length} lots have the hashes that the certificate names.`;
}

/** Returns a certificate's leaf, the canonical JSON of its signed members; undefined if it is not JSON. */
export function issuedText(certificate: unknown): string | undefined {
  if (!isObject(certificate)) return undefined;
  const issued = Object.entries(certificate).filter(([name]) => !UNSIGNED.some((each) => each === name));
  return canonical(Object.fromEntries(issued));
}

/**
 * Checks that the log committed to the answer's entropy before the answer was issued. `logged` is the certificate's own
 * place in the log; undefined if its proof cannot be read.
 */
export function fixedVerdict(
  input: GivenAnswer,
  certificate: unknown,
  lots: Found<readonly LotLeaf[]>,
  logged: LoggedAt | undefined,
): string {
  const { octets, witnesses } = input;
  const mode = member(certificate, 'entropy_mode');
  if (mode === 'csprng')
    refuse('It cannot be shown that the entropy was fixed before: values of csprng mode come from no lot.');
  // An answer in octets has no place for an opening: treat the opening as null.
  const response =
    octets === undefined || !isObject(input.response) ? input.response : { opening: null, ...input.response };
  const fixed = lots().map((leaf, i) => fixedLot(input, certificate, logged, leaf, i));
  const bound = mode === 'pure' ? pureVerdict(certificate, fixed, response) : seedVerdict(certificate, fixed);
  const latestS = Math.max(...fixed.map(({ atS }) => atS));
  const seen =
    witnesses === undefined
      ? ''
      : `, and at least ${witnesses.quorum} witnesses had seen them by then (clocks may differ by ${WITNESS_CLOCK_MS / 1_000} s)`;
  return `The log says that it held the lots by ${timeText(latestS)}, before the answer was issued${seen}. ${bound}`;
}

/** Checks that the log holds the leaf of the lot, and held it before the certificate was issued. */
function fixedLot(
  input: GivenAnswer,
  certificate: unknown,
  logged: LoggedAt | undefined,
  told: LotLeaf,
  place: number,
): FixedLot {
  const { lot_id: id, pure, seeds } = told;
  const proof = listAt(input.certificate, 'lots')[place];
  const leaf = [canonical(told) ?? '', member(proof, 'proof')] as const;
  const { at, atS } = heldBefore(`lot ${id}`, leaf, input, {
    event: 'the answer was issued',
    latestMs: timeOf(member(certificate, 'issued_at')),
    clocksMs: WITNESS_CLOCK_MS,
  });
  if (logged?.checkpoint.origin === at.checkpoint.origin && at.proof.index >= logged.proof.index)
    refuse(`Lot ${id} was logged after the certificate.`);
  // The log signs in whole seconds.
  if (!(Math.floor(timeOf(told.finished_at) / 1_000) <= atS))
    refuse(`The log says that it held lot ${id} at ${timeText(atS)}, which is before the lot ended.`);
  const runs = member(proof, 'runs');
  const isCut = [pure.block_bytes, pure.bytes, pure.piece_bytes].every((each) => each % PIECE_BYTES === 0);
  if (!isCut || pure.piece_bytes !== PIECE_BYTES || !Array.isArray(runs))
    refuse(`The leaf or the proof of lot ${id} does not have the form that it must have.`);
  return { pure, seeds, runs, atS };
}

function seedVerdict(certificate: unknown, [lot]: readonly FixedLot[]): string {
  const index = member(certificate, 'provenance', 'seed', 'index');
  const run = readRun(lot.runs[0]);
  if (run === undefined || run.first !== index || run.hashes.length !== 1 || lot.runs.length !== 1)
    refuse(`The document has no proof that seed ${show(index)} is of its lot.`);
  const root = rootOfRun(lot.seeds.count, run.first, run.hashes, run.path);
  if (root === undefined || run.path.length > 0 || toBase64(root) !== lot.seeds.root)
    refuse(`The proof of seed ${index} does not lead to the seeds that its lot committed to.`);
  return `The seed of the answer is number ${index} of the ${lot.seeds.count} seeds that the lot committed to.`;
}

function pureVerdict(certificate: unknown, fixed: readonly FixedLot[], response: unknown): string {
  const drawn = member(certificate, 'provenance', 'drawn');
  if (!Array.isArray(drawn) || drawn.length === 0)
    refuse('The certificate does not say which bytes were drawn: provenance.drawn is missing or empty.');
  const used = fixed.map(() => 0);
  const ranges: BoundRange[] = [];
  let total = 0;
  for (const each of drawn) {
    const range = readRange(each, fixed.length);
    if (range === undefined)
      refuse('The bytes that the certificate says were drawn are not whole pieces of its lots.');
    total += range.bytes;
    const lot = fixed[range.lot];
    const bound = boundRange(range, lot, lot.runs[used[range.lot]++]);
    if (bound === undefined)
      refuse(
        `The document does not prove that lot ${range.lot + 1} committed to the bytes drawn from byte ${range.offset}.`,
      );
    ranges.push(bound);
  }
  if (fixed.some((lot, i) => lot.runs.length !== used[i]))
    refuse('The proof of a lot covers more than what was drawn.');
  if (response === undefined)
    return 'Whether the answer was made of these bytes was not checked: only an answer in JSON that drew at most 2,048 bytes can show that.';
  const [endpoint, data] = [member(certificate, 'endpoint'), member(response, 'data')];
  const opening = member(response, 'opening');
  // The certificate decides whether the answer was in octets: whoever gives the answer could omit the opening.
  if (opening === null && text(member(certificate, 'media_type')) !== undefined)
    return 'It cannot be shown that the answer was made of these bytes: an answer in octets carries no opening.';
  checkMembers(endpoint, data);
  if (opening !== undefined && opening !== null) return openingVerdict(ranges, response, endpoint);
  // A certificate that says more was drawn than the values take does not excuse a missing opening.
  if (total <= OPENED_BYTES_MAX || !mayTakeMore(endpoint, data, OPENED_BYTES_MAX))
    refuse('The answer must have an opening, which shows the bytes that it was made of, and has none.');
  return 'It cannot be shown that the answer was made of these bytes: it is too long to carry an opening.';
}

function boundRange(range: DrawnRange, fixed: FixedLot, told: unknown): BoundRange | undefined {
  const { offset, bytes } = range;
  const { bytes: pureBytes, block_bytes: blockBytes, root: pureRoot } = fixed.pure;
  if (offset + bytes > pureBytes) return undefined;
  const firstBlock = Math.floor(offset / blockBytes);
  const blocks = Math.ceil((offset + bytes) / blockBytes) - firstBlock;
  const run = readRun(told);
  if (run === undefined || run.first !== firstBlock || run.hashes.length !== blocks) return undefined;
  const root = rootOfRun(Math.ceil(pureBytes / blockBytes), firstBlock, run.hashes, run.path);
  if (root === undefined || run.path.length > 0 || toBase64(root) !== pureRoot) return undefined;
  return { ...range, fixed, firstBlock, blockRoots: run.hashes };
}

/** Checks that the opening holds the pieces that the blocks commit to, and that the values follow from them. */
function openingVerdict(ranges: readonly BoundRange[], response: unknown, endpoint: unknown): string {
  const part = (name: string) => fromBase64(text(member(response, 'opening', name)) ?? '');
  const [bytes, salts, pathBytes] = [part('bytes'), part('salts'), part('path')];
  const length = ranges.reduce((sum, range) => sum + range.bytes, 0);
  const isWhole = bytes?.length === length && salts?.length === (length / PIECE_BYTES) * PIECE_SALT_BYTES;
  if (!isWhole || pathBytes === undefined || pathBytes.length % HASH_BYTES !== 0)
    refuse('The opening does not hold as many bytes and salts as were drawn.');
  const path = splitHashes(pathBytes);
  let at = 0;
  for (const { fixed, firstBlock, blockRoots, offset, bytes: size } of ranges) {
    let from = offset;
    for (const [i, blockRoot] of blockRoots.entries()) {
      const start = (firstBlock + i) * fixed.pure.block_bytes;
      const end = Math.min(start + fixed.pure.block_bytes, fixed.pure.bytes);
      const pieces: Hash[] = [];
      for (let piece = from; piece < Math.min(end, offset + size); piece += PIECE_BYTES, at += PIECE_BYTES) {
        const saltAt = (at / PIECE_BYTES) * PIECE_SALT_BYTES;
        const salt = salts.subarray(saltAt, saltAt + PIECE_SALT_BYTES);
        pieces.push(pieceHash(salt, bytes.subarray(at, at + PIECE_BYTES)));
      }
      const root = rootOfRun((end - start) / PIECE_BYTES, (from - start) / PIECE_BYTES, pieces, path);
      if (root === undefined || !equalHashes(root, blockRoot))
        refuse('The bytes in the opening are not those that the lot committed to.');
      from = end;
    }
  }
  if (path.length > 0) refuse('The opening holds more than what was drawn.');
  return valuesVerdict(endpoint, member(response, 'data'), bytes);
}

function readRange(value: unknown, lots: number): DrawnRange | undefined {
  const [lot, offset, bytes] = ['lot', 'offset', 'bytes'].map((name) => member(value, name));
  if (!isCount(lot) || !isCount(offset) || !isCount(bytes) || lot >= lots || bytes === 0) return undefined;
  const isWhole = offset % PIECE_BYTES === 0 && bytes % PIECE_BYTES === 0;
  return isWhole && Number.isSafeInteger(offset + bytes) ? { lot, offset, bytes } : undefined;
}

function readRun(value: unknown): { first: number; hashes: Hash[]; path: Hash[] } | undefined {
  const first = member(value, 'first');
  const hashes = parseHashes(member(value, 'hashes'));
  const path = parseHashes(member(value, 'path'));
  return isCount(first) && hashes !== undefined && path !== undefined ? { first, hashes, path } : undefined;
}
