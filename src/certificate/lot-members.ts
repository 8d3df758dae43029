import { assert } from '../core/assert.ts';
import { CERTIFICATE_ID } from '../core/ids.ts';
import {
  boolean,
  constant,
  count,
  described,
  LIST_ITEMS_MAX,
  listOf,
  object,
  oneOfWords,
  orNull,
  type Schema,
  sha256,
  share,
  someOf,
  text,
  textLike,
  time,
} from '../core/schema.ts';
import { ORIGINS } from '../core/vocabulary.ts';
import { toBase64 } from '../crypto/base64.ts';
import { type HashTree, PIECE_BYTES } from '../crypto/merkle.ts';
import { EVIDENCE_LEVELS, type LotRecord, PURE_BLOCK_BYTES } from '../ledger/records.ts';
import { canonical } from './members.ts';
import { digestText } from './verdict.ts';

/**
 * The members of a lot's leaf in the log, one row each. The leaf, its type, the OpenAPI document and the verifiers'
 * checks all follow from the rows. Verifiers accept members that they do not know, so that rows can be added later.
 * Runs in browsers.
 */

/** The trees over the roots of a lot's pure blocks and over the hashes of its seeds. */
export interface LotTrees {
  readonly blocks: HashTree;
  readonly seeds: HashTree;
}

interface LotRow<T> {
  readonly schema: Schema;
  readonly of: (lot: LotRecord, trees: LotTrees) => T;
}

function row<T>(schema: Schema, meaning: string, of: LotRow<T>['of']): LotRow<T> {
  return { schema: described(schema, meaning), of };
}

const claim = oneOfWords(
  EVIDENCE_LEVELS,
  'How well the quantum origin of the raw bits is supported. The values are listed from the weakest to the strongest claim.',
);

const TESTED = object(
  {
    of: oneOfWords(
      ['raw', 'conditioned', 'system'],
      'Which bits were tested: raw bits of the source, conditioned bits, or the csprng stream (`system`).',
    ),
    bits: described(count, 'The number of tested bits.'),
    first_bit: described(count, 'The offset of the first tested bit, from 0.'),
    sha256: described(textLike(/^[0-9a-f]{64}$/), 'The SHA-256 hash of the tested bits, packed into bytes.'),
    passed: described(count, 'The number of p-values that passed.'),
    total: described(count, 'The number of all p-values.'),
    smallest_p: described(share, 'The smallest p-value.'),
    verified: described(boolean, 'Whether the tested bits passed SP 800-22 as a whole.'),
  },
  {
    order: oneOfWords(
      ['shots', 'channels'],
      'The order of the tested raw bits: shot by shot, or channel by channel.',
    ),
    reason: described(text, 'The reason why `verified` is false.'),
  },
);

const EVIDENCE = object({
  claim,
  min_entropy_per_bit: described(
    orNull(share),
    'The min-entropy per raw bit that follows from the method and the assumptions.',
  ),
  figures: described(
    { type: 'object', additionalProperties: { type: 'number' } },
    'The measured figures that the claim is computed from, by name.',
  ),
  method: described(text, 'The formula and the publication that it comes from.'),
  assumptions: described(text, 'The assumptions under which the claim holds.'),
  not_reached: described(
    listOf(object({ claim, why: described(text, 'The reason why this claim is not made.') })),
    'The stronger claims that are not made, with the reasons.',
  ),
});

const CALIBRATION = object({
  id: described(orNull(text), 'The identifier of the calibration at the provider.'),
  date: described(orNull(text), 'The date of the calibration, as the provider states it.'),
  digest: described(
    sha256,
    'The SHA-256 hash of the complete calibration data as canonical JSON (RFC 8785).',
  ),
});

const HEALTH = object({
  samples: described(count, 'The number of raw bits that were tested.'),
  rct_failures: described(count, 'The number of alarms of the repetition count test.'),
  apt_failures: described(count, 'The number of alarms of the adaptive proportion test.'),
});

const root = described(text, 'The root hash of the Merkle tree over these blocks or seeds, in base64.');
const PURE = object({
  bytes: described(count, 'The number of bytes for pure mode.'),
  block_bytes: described({ ...count, minimum: 1 }, 'The number of bytes in a block.'),
  piece_bytes: described(count, 'The number of bytes in a piece.'),
  root,
});

const UPSTREAM = object({
  log: described(text, 'The name of the log that contains the certificates.'),
  origin: oneOfWords(ORIGINS, 'The weakest origin that the certificates state.'),
  certificates: described(
    someOf(
      object({
        id: described(textLike(CERTIFICATE_ID), 'The identifier of the certificate.'),
        leaf: described(
          textLike(/^[A-Za-z0-9+/]{43}=$/),
          'The leaf hash of the certificate in that log, in base64.',
        ),
      }),
    ),
    'The certificates of the other service that cover the raw bits.',
  ),
});

export const LOT_MEMBERS = {
  type: row(constant('lot'), 'The type of the leaf.', () => 'lot' as const),
  version: row(constant(1), 'The version of the leaf format.', () => 1 as const),
  lot_id: row(text, 'The identifier of the lot.', (lot) => lot.id),
  source: row(text, 'The name that the operator gave the source.', (lot) => lot.source),
  provider: row(text, 'The provider that runs the device.', (lot) => lot.provider),
  device: row(text, 'The name of the device at its provider.', (lot) => lot.device),
  quantum_backend: row(
    text,
    'The identifier of the quantum processor or device.',
    (lot) => lot.quantumBackend,
  ),
  job_id: row(orNull(text), 'The identifier of the job at the provider.', (lot) => lot.jobId),
  origin: row(oneOfWords(ORIGINS), 'The kind of source that produced the raw bits.', (lot) => lot.origin),
  declared: row(
    boolean,
    'Whether the quantum origin rests only on the declaration of the operator.',
    (lot) => lot.isDeclared,
  ),
  deterministic: row(
    boolean,
    'Whether a deterministic test source produced the lot.',
    (lot) => lot.deterministic,
  ),
  lang_circuit: row(text, 'The name of the quantum circuit.', (lot) => lot.circuit),
  lang_version: row(text, 'The version of the circuit compiler.', (lot) => lot.circuitVersion),
  circuit_sha256: row(orNull(sha256), 'The SHA-256 hash of the circuit as it was submitted.', (lot) =>
    lot.circuitSha256 === null ? null : prefixed(lot.circuitSha256),
  ),
  qubits_used: row(count, 'The number of qubits that the circuit used.', (lot) => lot.qubitsUsed),
  circuit_depth: row(count, 'The depth of the circuit.', (lot) => lot.circuitDepth),
  shots: row(count, 'The number of times that the circuit was run.', (lot) => lot.shots),
  calibration: row(orNull(CALIBRATION), 'The calibration of the device at the time of the job.', (lot) =>
    lot.calibration === null ? null : calibrationOf(lot.calibration),
  ),
  upstream: row(
    orNull(UPSTREAM),
    'The certificates under which another service delivered the raw bits. It is null if the raw bits came directly from a source.',
    ({ upstream }) => (upstream === undefined ? null : upstreamOf(upstream)),
  ),
  finished_at: row(time, 'The time at which reading the raw bits ended.', (lot) =>
    new Date(lot.finishedAtMs).toISOString(),
  ),
  raw_bits: row(count, 'The number of raw bits that were read.', (lot) => lot.rawBits),
  raw_output: row(sha256, 'The SHA-256 hash of the raw bits as the source delivered them.', (lot) =>
    prefixed(lot.rawSha256),
  ),
  processed: row(sha256, 'The SHA-256 hash of the conditioned bytes.', (lot) =>
    prefixed(lot.processedSha256),
  ),
  health: row(HEALTH, 'The results of the continuous health tests (SP 800-90B §4.4).', ({ health }) => ({
    samples: health.samples,
    rct_failures: health.rctFailures,
    apt_failures: health.aptFailures,
  })),
  min_entropy_per_bit: row(
    orNull(share),
    'The estimated min-entropy per raw bit (SP 800-90B §6.3). It is null if too few bits were read.',
    (lot) => lot.minEntropyPerBit,
  ),
  raw_windows: row(
    count,
    'The number of windows of raw bits that were assessed. Together the windows cover every bit in both orders.',
    (lot) => lot.rawWindows,
  ),
  tested: row(
    { ...listOf(TESTED), maxItems: LIST_ITEMS_MAX },
    'The runs of the SP 800-22 tests. The service erased the conditioned bits of every window that failed.',
    (lot) => lot.assessments.map(testedOf),
  ),
  evidence: row(
    orNull(EVIDENCE),
    'How well the quantum origin of the lot is supported. It is null for a sample of the csprng stream.',
    (lot) => (lot.evidence === undefined ? null : evidenceOf(lot.evidence)),
  ),
  pure: row(
    PURE,
    'The bytes for pure mode, divided into blocks, and the hash that commits to them.',
    (lot, { blocks }) => ({
      bytes: committed(lot).pureBytes,
      block_bytes: PURE_BLOCK_BYTES,
      piece_bytes: PIECE_BYTES,
      root: toBase64(blocks.root),
    }),
  ),
  seeds: row(
    object({ count: described(count, 'The number of seeds.'), root }),
    'The seeds for quantum-seeded mode, and the hash that commits to them.',
    (_, { seeds }) => ({ count: seeds.size, root: toBase64(seeds.root) }),
  ),
} as const satisfies Readonly<Record<string, LotRow<unknown>>>;

export type LotLeaf = {
  readonly [Name in keyof typeof LOT_MEMBERS]: ReturnType<(typeof LOT_MEMBERS)[Name]['of']>;
};

export const LOT_LEAF: Schema = {
  ...object(Object.fromEntries(Object.entries(LOT_MEMBERS).map(([name, { schema }]) => [name, schema]))),
  additionalProperties: true,
};

/** Returns the leaf of the lot. */
export function lotLeafOf(lot: LotRecord, trees: LotTrees): LotLeaf {
  const members = Object.entries(LOT_MEMBERS).map(([name, { of }]) => [name, of(lot, trees)]);
  return Object.fromEntries(members) as unknown as LotLeaf;
}

function committed({ id, commitment }: LotRecord): NonNullable<LotRecord['commitment']> {
  assert(commitment !== undefined, `lot ${id} was accepted, and so committed to its blocks`);
  return commitment;
}

function prefixed(digest: string): string {
  assert(digest.length === 64, 'a digest has 64 hex digits');
  return `sha256:${digest}`;
}

function calibrationOf(calibration: NonNullable<LotRecord['calibration']>) {
  const { id, date } = calibration;
  return {
    id: id === undefined ? null : String(id),
    date: date === undefined ? null : String(date),
    digest: digestText(canonical(calibration) ?? ''),
  };
}

function upstreamOf({ log, origin, certificates }: NonNullable<LotRecord['upstream']>) {
  return { log, origin, certificates: certificates.map(({ id, leaf }) => ({ id, leaf })) };
}

function testedOf({ of, bits, firstBit, order, sha256: digest, sp80022 }: LotRecord['assessments'][number]) {
  const { passed, total, smallestP, verified, reason } = sp80022;
  return {
    of,
    bits,
    first_bit: firstBit,
    sha256: digest,
    passed,
    total,
    smallest_p: smallestP,
    verified,
    ...(order === undefined ? {} : { order }),
    ...(verified ? {} : { reason }),
  };
}

function evidenceOf({
  claim: claimed,
  minEntropyPerBit,
  notReached,
  ...said
}: NonNullable<LotRecord['evidence']>) {
  return {
    claim: claimed,
    min_entropy_per_bit: minEntropyPerBit,
    figures: said.figures,
    method: said.method,
    assumptions: said.assumptions,
    not_reached: notReached.map((each) => ({ claim: each.claim, why: each.why })),
  };
}
