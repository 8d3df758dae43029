import { CERTIFICATE_ID, REQUEST_ID } from '../core/ids.ts';
import {
  boolean,
  constant,
  count,
  described,
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
import {
  DATA_ENDPOINTS,
  type DataEndpoint,
  ENTROPY_MODES,
  type EntropyMode,
  ORIGINS,
  SYSTEM_GENERATORS,
  type SystemGenerator,
} from '../core/vocabulary.ts';
import { EVIDENCE_LEVELS } from '../ledger/records.ts';
import { type CertifiedLabel, LABEL } from './certified-label.ts';
import {
  circuitOf,
  type DerivedFrom,
  evidenceOf,
  joinedDigest,
  minEntropyOf,
  nistResultOf,
  nistVerifiedOf,
  originOf,
} from './derive.ts';

/**
 * The members of a certificate, one row each, in the order of the reply. The signed text, the type, the OpenAPI
 * document and the verifiers' checks all follow from the rows. A certificate has no other member.
 *
 * `told` rows are about the answer. `derived` rows follow from the lots: the service makes them and a verifier checks
 * them with the same function. Runs in browsers.
 */

/** What the `told` rows are made from. */
export interface Told {
  readonly id: string;
  readonly issuedAt: string;
  readonly requestId: string;
  readonly endpoint: DataEndpoint;
  readonly mode: EntropyMode;
  readonly mediaType: string | undefined;
  readonly label: CertifiedLabel | undefined;
  readonly systemGenerator: SystemGenerator;
  readonly seed: { readonly index: number } | undefined;
  readonly drawn:
    | readonly { readonly lot: number; readonly offset: number; readonly bytes: number }[]
    | undefined;
  /** The lots. `leaf` is the hash of the lot's leaf in the log, in base64. */
  readonly named: readonly { readonly id: string; readonly leaf: string }[];
  /** `sha256:` and 64 hex digits. */
  readonly delivered: string;
}

interface Row<T, From> {
  readonly schema: Schema;
  /** The modes whose certificates have the member. */
  readonly modes: readonly EntropyMode[];
  /** Whether a certificate of these modes may lack the member. */
  readonly isOptional: boolean;
  readonly isDerived: boolean;
  readonly of: (from: From) => T;
}

interface RowOptions {
  readonly modes?: readonly EntropyMode[];
  readonly isOptional?: boolean;
}

function rowsOf<From>(isDerived: boolean) {
  return <T>(
    schema: Schema,
    meaning: string,
    of: (from: From) => T,
    { modes = ENTROPY_MODES, isOptional = false }: RowOptions = {},
  ): Row<T, From> => ({ schema: described(schema, meaning), modes, isOptional, isDerived, of });
}

const told = rowsOf<Told>(false);
const derived = rowsOf<DerivedFrom>(true);

const QUANTUM: readonly EntropyMode[] = ['quantum-seeded', 'pure'];
const lotEntry = object({
  id: described(text, 'Names it.'),
  leaf: described(textLike(/^[A-Za-z0-9+/]{43}=$/), 'The leaf of the log: canonical JSON, or its hash.'),
});
const drawnPiece = object({
  lot: described(count, 'The place of the lot in the list of lots.'),
  offset: described(count, 'The first byte.'),
  bytes: described(count, 'Bytes, encoded or counted.'),
});

const TOP = {
  version: told(constant(1), 'Of this form.', () => 1 as const),
  id: told(textLike(CERTIFICATE_ID), 'Names the certificate.', ({ id }) => id),
  issued_at: told(time, 'When the answer was made.', ({ issuedAt }) => issuedAt),
  request_id: told(
    textLike(REQUEST_ID),
    'Names the request; the same 128 bits as X-Request-ID.',
    ({ requestId }) => requestId,
  ),
  endpoint: told(oneOfWords(DATA_ENDPOINTS), 'The endpoint that was asked.', ({ endpoint }) => endpoint),
  entropy_mode: told(oneOfWords(ENTROPY_MODES), 'The mode that was used.', ({ mode }) => mode),
  media_type: told(
    text,
    'Of an answer of bare values: what `hashes.delivered` is over. Left out where it is over JSON.',
    ({ mediaType }) => mediaType,
    { isOptional: true },
  ),
  label: told(LABEL, 'What the caller said of the answer.', ({ label }) => label, { isOptional: true }),
};

const PROVENANCE = {
  lang_circuit: derived(text, 'The circuit of the first lot.', (from) => circuitOf(from).lang_circuit),
  lang_version: derived(text, 'The version of its compiler.', (from) => circuitOf(from).lang_version),
  quantum_backend: derived(
    text,
    'The quantum processor of the first lot.',
    (from) => circuitOf(from).quantum_backend,
  ),
  qubits_used: derived(count, 'Qubits of the circuit.', (from) => circuitOf(from).qubits_used),
  circuit_depth: derived(count, 'Depth of the circuit.', (from) => circuitOf(from).circuit_depth),
  origin: derived(
    oneOfWords(ORIGINS),
    'What kind of thing produced the raw bits: the weakest of the lots; never upgraded.',
    ({ lots }) => originOf(lots),
  ),
  evidence: derived(
    oneOfWords(EVIDENCE_LEVELS),
    'How quantum the lots are shown to be: the weakest claim of them.',
    ({ lots }) => evidenceOf(lots),
    { modes: QUANTUM },
  ),
  system_entropy: told(
    oneOfWords(SYSTEM_GENERATORS),
    'The generator that was mixed in, or that gave the values of csprng.',
    ({ systemGenerator }) => systemGenerator,
    { modes: ['quantum-seeded', 'csprng'] },
  ),
  seed: told(
    object({ index: described(count, 'The place, from 0.') }),
    'Which of the seeds of the lot served.',
    ({ seed }) => seed,
    { modes: ['quantum-seeded'] },
  ),
  drawn: told(
    someOf(drawnPiece),
    'Which of the pure bytes of the lots were drawn, in order; `lot` is the place in `lots`.',
    ({ drawn }) => drawn,
    { modes: ['pure'] },
  ),
  sample: told(
    { type: 'boolean', const: true },
    'The lot is a sample of the stream that gave the values, and not what they were drawn from.',
    () => true as const,
    { modes: ['csprng'] },
  ),
  lots: told(
    someOf(lotEntry),
    'Every lot, in the order in which they were drawn from, with the hash of its leaf in the log.',
    ({ named }) => named,
  ),
};

const VERIFICATION = {
  nist_sp800_22: derived(
    text,
    '`<passed>/<total> passed` of the tested windows that the answer was drawn from, or `not tested`.',
    nistResultOf,
  ),
  nist_verified: derived(
    boolean,
    'Every bit that the answer drew on lies in a tested window that passed.',
    nistVerifiedOf,
  ),
  dieharder: derived(
    constant('not implemented'),
    'That test is not implemented.',
    () => 'not implemented' as const,
  ),
  min_entropy_per_bit: derived(orNull(share), 'Estimated on raw bits: the least of the lots.', ({ lots }) =>
    minEntropyOf(lots),
  ),
};

const HASHES = {
  raw_output: derived(
    sha256,
    'Of the raw bits of the lot; of several, of their digests joined.',
    ({ lots }) => joinedDigest(lots.map((lot) => lot.raw_output)),
  ),
  processed: derived(sha256, 'Of the conditioned bytes, joined likewise.', ({ lots }) =>
    joinedDigest(lots.map((lot) => lot.processed)),
  ),
  delivered: told(sha256, 'Of the salt and what was delivered.', ({ delivered }) => delivered),
};

type Members<Rows> = {
  readonly [Name in keyof Rows]: Rows[Name] extends Row<infer T, never> ? T : never;
};

/** Members that the reply adds to the certificate as issued. They are not signed and not part of the leaf. */
export const UNSIGNED = ['status', 'verify_url', 'proof'] as const;

/** The certificate as it is issued and signed. */
export type IssuedCertificate = Members<typeof TOP> & {
  readonly provenance: Members<typeof PROVENANCE>;
  readonly verification: Members<typeof VERIFICATION>;
  readonly hashes: Members<typeof HASHES>;
};

type AnyRow = Row<unknown, Told & DerivedFrom>;
type Section = Readonly<Record<string, AnyRow>>;

/** The members that are objects, each with its meaning and its rows. */
const SECTIONS: Readonly<
  Record<'provenance' | 'verification' | 'hashes', readonly [meaning: string, rows: Section]>
> = {
  provenance: ['Where the entropy came from.', PROVENANCE],
  verification: ['How the bits were tested.', VERIFICATION],
  hashes: ['SHA-256 digests.', HASHES],
};

/** Every row with the path of its member, such as `provenance.origin`. */
export const CERTIFICATE_ROWS: readonly (readonly [path: string, row: AnyRow])[] = [
  ...Object.entries(TOP as Section),
  ...Object.entries(SECTIONS).flatMap(([section, [, rows]]) =>
    Object.entries(rows).map(([name, row]) => [`${section}.${name}`, row] as const),
  ),
];

/** Returns the certificate that follows from these facts. Leaves out the members that its mode does not have. */
export function certificateMembers(from: Told & DerivedFrom): IssuedCertificate {
  const sections = Object.entries(SECTIONS).map(([name, [, rows]]) => [name, membersOf(rows, from)]);
  return { ...membersOf(TOP, from), ...Object.fromEntries(sections) } as unknown as IssuedCertificate;
}

function membersOf(rows: Section, from: Told & DerivedFrom): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const [name, { modes, of }] of Object.entries(rows)) {
    const value = modes.includes(from.mode) ? of(from) : undefined;
    if (value !== undefined) members[name] = value;
  }
  return members;
}

/**
 * Returns the schema of a certificate of one mode. Without a mode it is the schema of all certificates, in which a
 * member is required only if every mode has it. `beside` are further members.
 */
export function certificateForm(mode?: EntropyMode, beside: Readonly<Record<string, Schema>> = {}): Schema {
  const inner = Object.entries(SECTIONS).map(
    ([name, [meaning, rows]]) => [name, described(formOf(rows, mode), meaning)] as const,
  );
  return formOf(TOP, mode, { ...Object.fromEntries(inner), ...beside });
}

function formOf(
  rows: Section,
  mode: EntropyMode | undefined,
  beside: Readonly<Record<string, Schema>> = {},
): Schema {
  const present: Record<string, Schema> = {};
  const optional: Record<string, Schema> = {};
  for (const [name, { schema, modes, isOptional }] of Object.entries(rows)) {
    if (mode !== undefined && !modes.includes(mode)) continue;
    const isSure = !isOptional && (mode !== undefined || modes.length === ENTROPY_MODES.length);
    (isSure ? present : optional)[name] = schema;
  }
  return object({ ...present, ...beside }, optional);
}
