import { DATA_ENDPOINTS, ENTROPY_MODES, ORIGINS, SYSTEM_GENERATORS, TIERS } from '../../core/vocabulary.ts';
import { EVIDENCE_LEVELS } from '../../ledger/records.ts';
import {
  boolean,
  count,
  described,
  listOf,
  object,
  oneOfWords,
  orNull,
  type Schema,
  sha256,
  text,
  time,
} from './schema.ts';

/* The shapes of certificates, and of what the log says of its lots. */
export const requestId = described(
  { type: 'string', pattern: '^req_[0-7][0-9a-hjkmnp-tv-z]{25}$' },
  'Names the request; the same 128 bits as X-Request-ID.',
);
export const certificateId: Schema = { type: 'string', pattern: '^cert_[0-9a-hjkmnp-tv-z]{26}$' };
export const lotId: Schema = { type: 'string', pattern: '^lot_[0-9a-hjkmnp-tv-z]{26}$' };
export const mode = oneOfWords(ENTROPY_MODES, 'The mode that was used.');
export const origin = oneOfWords(ORIGINS, 'What kind of thing produced the raw bits; never upgraded.');

/** Beside a document for which nothing is drawn; a certificate's names what its answer was drawn from. */
export const documentMetadata = object({
  request_id: requestId,
  timestamp: time,
  lang_circuit: text,
  lang_version: text,
  quantum_backend: text,
  nist_verified: boolean,
  powered_by: text,
});

const test = object(
  {
    of: oneOfWords(['raw', 'conditioned', 'system']),
    bits: count,
    sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    passed: count,
    total: count,
    smallest_p: { type: 'number' },
    verified: boolean,
  },
  {
    reason: described(text, 'Why it is not verified.'),
    first_bit: described(count, 'Version 3: place of the first bit.'),
    order: oneOfWords(
      ['shots', 'channels'],
      'Version 3, of raw bits: shot after shot, or channel after channel.',
    ),
  },
  'One run of SP 800-22 on named bits.',
);

const claim = oneOfWords(
  EVIDENCE_LEVELS,
  'How quantum the bits are shown to be, from the weakest to the strongest; never promoted.',
);
const evidence = object(
  {
    claim,
    min_entropy_per_bit: described(
      orNull({ type: 'number', minimum: 0, maximum: 1 }),
      'Per raw bit, under the assumptions; null where the claim gives none.',
    ),
    figures: described(
      { type: 'object', additionalProperties: { type: 'number' } },
      'By name, e.g. ones_share_max.',
    ),
    method: described(text, 'The formula and where it is published.'),
    assumptions: described(text, 'What must be true for it to hold.'),
    not_reached: listOf(object({ claim, why: text })),
  },
  {},
  'Version 2.',
);

const read = object(
  {
    source: described(text, 'As the operator named it.'),
    provider: text,
    device: text,
    lang_circuit: text,
    lang_version: text,
    circuit_sha256: orNull(sha256),
    qubits_used: count,
    circuit_depth: count,
    shots: count,
    calibration: orNull(
      object({
        id: orNull(text),
        date: orNull(text),
        digest: described(sha256, 'Of the whole calibration, as RFC 8785 prints it.'),
      }),
    ),
  },
  {},
  'Version 2: what was read, and how.',
);

const lot = object(
  {
    id: lotId,
    origin,
    deterministic: boolean,
    quantum_backend: text,
    job_id: orNull(text),
    finished_at: time,
    raw_bits: count,
    raw_output: sha256,
    processed: sha256,
    health: object({ samples: count, rct_failures: count, apt_failures: count }),
    min_entropy_per_bit: orNull({ type: 'number' }),
    tested: listOf(test),
  },
  {
    read,
    evidence,
    declared: described(boolean, 'Version 3: the operator alone says that the origin is quantum.'),
    raw_windows: described(count, 'Version 3: windows of raw bits that were assessed; they cover every bit.'),
    committed: described(boolean, 'Version 4: the lot has a leaf in the log.'),
  },
);

const run = object(
  { first: count, hashes: listOf(text), path: listOf(text) },
  {},
  'Neighbouring leaves of a tree and what leads from them to its root; hashes in base64.',
);
const lotProof = object({
  lot_id: text,
  leaf: described(text, 'Canonical JSON.'),
  proof: described(text, 'c2sp.org/tlog-proof of the leaf.'),
  runs: listOf(run),
});
const logged = object({ leaf: text, proof: text });

/** What the log answers of its public leaves. */
export const LOG_SCHEMAS: Readonly<Record<string, Schema>> = {
  PublicLeaves: object({ leaves: listOf(object({ index: count, leaf: text })) }),
  PublicLot: object({
    lot_id: text,
    leaf: text,
    proof: text,
    facts: lot,
    withdrawal: orNull(logged),
    withdrawals: listOf(text),
    statement: orNull(logged),
  }),
};

/** What the caller said of an answer, in the answer itself. */
export const answerLabel = object(
  { public: boolean },
  { purpose: text, series: text, user_data: text, user_data_sha256: sha256 },
  'What the request said of the answer.',
);

const label = object(
  { public: boolean },
  {
    purpose: described(text, 'In a public label.'),
    purpose_commitment: described(sha256, 'In a private label: of a byte 04, the salt and the purpose.'),
    series: described(text, 'Names the account and the purpose together.'),
    serial: described(count, 'Place among all answers of the series, from 1, none left out.'),
    user_data: described(text, 'In a public label.'),
    user_data_sha256: sha256,
    user_data_commitment: described(sha256, 'In a private label: of a byte 05, the salt and the user data.'),
  },
  'What the caller said of the answer.',
);

/** What GET /v1/draws answers. */
export const drawList = object({
  purpose: text,
  series: described(
    listOf(object({ id: text, count })),
    'One for each account that used the purpose publicly, with how many answers it has had.',
  ),
  draws: listOf(
    object({
      series: text,
      serial: count,
      issued_at: time,
      certificate_id: described(orNull(certificateId), 'Null where the answer was not made public.'),
    }),
  ),
  next: described(orNull(count), 'The value of from that continues the list; null at its end.'),
});

const certificate = object(
  {
    version: described(
      { type: 'integer', enum: [1, 2, 3, 4, 5] },
      '5 names the evidence that all lots of a mixture reach; 4 says where in its lots an answer was drawn; 3 names the tested windows of every lot and the system’s generator; 2 has the evidence of every lot; 1 is of lots that have none.',
    ),
    id: certificateId,
    status: oneOfWords(['valid', 'revoked', 'test']),
    issued_at: time,
    request_id: requestId,
    endpoint: oneOfWords(DATA_ENDPOINTS),
    entropy_mode: mode,
    powered_by: text,
    provenance: object(
      {
        lang_circuit: text,
        lang_version: text,
        quantum_backend: text,
        qubits_used: count,
        circuit_depth: count,
        origin,
        source: text,
        provider: text,
        device: text,
        job_id: orNull(text),
        shots: count,
        lots: listOf(lot),
        meaning: text,
      },
      {
        evidence: described(
          claim,
          'Versions 2 to 4: the weakest claim of the lots. Version 5: the strongest that every lot reaches.',
        ),
        system_entropy: described(
          oneOfWords(SYSTEM_GENERATORS),
          'Version 3, not of pure: the generator that was mixed in, or that gave the values of csprng.',
        ),
        generation: described(
          { anyOf: [object({ tier: oneOfWords(TIERS), number: count }), { type: 'null' }] },
          'Up to version 3.',
        ),
        seed: described(orNull(object({ index: count })), 'Version 4: which of the seeds of the lot served.'),
        drawn: described(
          orNull(listOf(object({ lot: count, offset: count, bytes: count }))),
          'Version 4: which of the pure bytes of the lots were drawn.',
        ),
      },
    ),
    verification: object({
      nist_sp800_22: described(text, '<passed>/<total> passed, or not tested.'),
      nist_verified: boolean,
      dieharder: { type: 'string', const: 'not implemented' },
      min_entropy_per_bit: orNull({ type: 'number', minimum: 0, maximum: 1 }),
      meaning: text,
    }),
    hashes: object({ raw_output: sha256, processed: sha256, delivered: sha256 }),
    verify_url: { type: 'string', format: 'uri' },
    proof: described(orNull(text), 'c2sp.org/tlog-proof; null for a moment after the answer.'),
  },
  {
    label,
    media_type: described(
      text,
      'Of an answer in octets: the octets that hashes.delivered is over. Left out where it is over JSON.',
    ),
  },
);

export const certificateDocument = object(
  { certificate },
  {
    lots: described(listOf(lotProof), 'Version 4: of each lot with a leaf.'),
    revocation: object({ lot_id: text, reason: text, revoked_at: time }),
    metadata: documentMetadata,
  },
);
