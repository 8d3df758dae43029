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

const claim = oneOfWords(EVIDENCE_LEVELS, 'From the weakest to the strongest; never promoted.');

const TESTED = object(
  {
    of: oneOfWords(['raw', 'conditioned', 'system'], 'What was tested: system is the csprng stream.'),
    bits: described(count, 'How many bits.'),
    first_bit: described(count, 'Place of the first bit.'),
    sha256: described(textLike(/^[0-9a-f]{64}$/), 'Of the bits, packed.'),
    passed: described(count, 'How many p-values passed.'),
    total: described(count, 'All of them.'),
    smallest_p: described(share, 'The smallest p-value.'),
    verified: described(boolean, 'Whether the tests passed.'),
  },
  {
    order: oneOfWords(['shots', 'channels'], 'Of raw bits: shot after shot, or channel after channel.'),
    reason: described(text, 'Why it is not verified.'),
  },
);

const EVIDENCE = object({
  claim,
  min_entropy_per_bit: described(orNull(share), 'Per raw bit, under the assumptions.'),
  figures: described({ type: 'object', additionalProperties: { type: 'number' } }, 'By name.'),
  method: described(text, 'The formula and where it is published.'),
  assumptions: described(text, 'What must be true for it to hold.'),
  not_reached: described(
    listOf(object({ claim, why: described(text, 'Why not.') })),
    'The stronger claims, and why they are not made.',
  ),
});

const CALIBRATION = object({
  id: described(orNull(text), 'Names it.'),
  date: described(orNull(text), 'The day, in UTC.'),
  digest: described(sha256, 'SHA-256 of what it names.'),
});

const HEALTH = object({
  samples: described(count, 'Raw bits that were tested.'),
  rct_failures: described(count, 'Alarms of the repetition count test.'),
  apt_failures: described(count, 'Alarms of the adaptive proportion test.'),
});

const root = described(text, 'The root of the tree over them.');
const PURE = object({
  bytes: described(count, 'Bytes, encoded or counted.'),
  block_bytes: described({ ...count, minimum: 1 }, 'Bytes of one block.'),
  piece_bytes: described(count, 'Bytes of one piece.'),
  root,
});

const UPSTREAM = object({
  log: described(text, 'The name of the log that holds them.'),
  origin: oneOfWords(ORIGINS, 'The weakest that they name.'),
  certificates: described(
    someOf(
      object({
        id: described(textLike(CERTIFICATE_ID), 'Names it.'),
        leaf: described(
          textLike(/^[A-Za-z0-9+/]{43}=$/),
          'The leaf of the log: canonical JSON, or its hash.',
        ),
      }),
    ),
    'Of each its id, and the hash of its leaf in that log.',
  ),
});

export const LOT_MEMBERS = {
  type: row(constant('lot'), 'The kind of the leaf.', () => 'lot' as const),
  version: row(constant(1), 'Of this form.', () => 1 as const),
  lot_id: row(text, 'Names the lot.', (lot) => lot.id),
  source: row(text, 'The source, as the operator named it.', (lot) => lot.source),
  provider: row(text, 'Who runs the device.', (lot) => lot.provider),
  device: row(text, 'The device, as its provider names it.', (lot) => lot.device),
  quantum_backend: row(text, 'The identifier of the quantum processor.', (lot) => lot.quantumBackend),
  job_id: row(orNull(text), 'The provider’s name of the job.', (lot) => lot.jobId),
  origin: row(oneOfWords(ORIGINS), 'What kind of thing produced the raw bits.', (lot) => lot.origin),
  declared: row(boolean, 'The operator alone says that the origin is quantum.', (lot) => lot.isDeclared),
  deterministic: row(boolean, 'Made by a deterministic test source.', (lot) => lot.deterministic),
  lang_circuit: row(text, 'The circuit.', (lot) => lot.circuit),
  lang_version: row(text, 'The version of the circuit compiler.', (lot) => lot.circuitVersion),
  circuit_sha256: row(orNull(sha256), 'Of the circuit as it was submitted.', (lot) =>
    lot.circuitSha256 === null ? null : prefixed(lot.circuitSha256),
  ),
  qubits_used: row(count, 'Qubits of the circuit.', (lot) => lot.qubitsUsed),
  circuit_depth: row(count, 'Depth of the circuit.', (lot) => lot.circuitDepth),
  shots: row(count, 'Times that the circuit was run.', (lot) => lot.shots),
  calibration: row(
    orNull(CALIBRATION),
    'The calibration as its provider names it, and the hash of all of it as RFC 8785 prints it.',
    (lot) => (lot.calibration === null ? null : calibrationOf(lot.calibration)),
  ),
  upstream: row(
    orNull(UPSTREAM),
    'The certificates of another service under which the raw bits came; null where they came from a source itself.',
    ({ upstream }) => (upstream === undefined ? null : upstreamOf(upstream)),
  ),
  finished_at: row(time, 'When the read ended.', (lot) => new Date(lot.finishedAtMs).toISOString()),
  raw_bits: row(count, 'Bits that were read.', (lot) => lot.rawBits),
  raw_output: row(sha256, 'Of the raw bits as the backend delivered them.', (lot) => prefixed(lot.rawSha256)),
  processed: row(sha256, 'Of the bytes after conditioning.', (lot) => prefixed(lot.processedSha256)),
  health: row(HEALTH, 'The continuous health tests (SP 800-90B 4.4).', ({ health }) => ({
    samples: health.samples,
    rct_failures: health.rctFailures,
    apt_failures: health.aptFailures,
  })),
  min_entropy_per_bit: row(
    orNull(share),
    'SP 800-90B 6.3 on the raw bits; null where too few were read.',
    (lot) => lot.minEntropyPerBit,
  ),
  raw_windows: row(
    count,
    'Windows of raw bits that were assessed; together they cover every bit in both orders.',
    (lot) => lot.rawWindows,
  ),
  tested: row(
    { ...listOf(TESTED), maxItems: LIST_ITEMS_MAX },
    'Runs of SP 800-22. What lay in a conditioned window that failed was erased.',
    (lot) => lot.assessments.map(testedOf),
  ),
  evidence: row(
    orNull(EVIDENCE),
    'How quantum the lot is shown to be; null for a sample of the csprng stream.',
    (lot) => (lot.evidence === undefined ? null : evidenceOf(lot.evidence)),
  ),
  pure: row(
    PURE,
    'The blocks of pure mode, and the root of the tree over the roots of their trees.',
    (lot, { blocks }) => ({
      bytes: committed(lot).pureBytes,
      block_bytes: PURE_BLOCK_BYTES,
      piece_bytes: PIECE_BYTES,
      root: toBase64(blocks.root),
    }),
  ),
  seeds: row(
    object({ count: described(count, 'How many.'), root }),
    'The seeds, and the root of the tree over their hashes.',
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
