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
  id: described(text, 'The identifier of the lot.'),
  leaf: described(textLike(/^[A-Za-z0-9+/]{43}=$/), 'The leaf hash of the lot in the log, in base64.'),
});
const drawnPiece = object({
  lot: described(count, 'The index of the lot in `lots`, from 0.'),
  offset: described(count, 'The offset of the first byte within the lot, from 0.'),
  bytes: described(count, 'The number of bytes.'),
});

const TOP = {
  version: told(constant(1), 'The version of the certificate format.', () => 1 as const),
  id: told(textLike(CERTIFICATE_ID), 'The identifier of the certificate.', ({ id }) => id),
  issued_at: told(time, 'The time at which the answer was made.', ({ issuedAt }) => issuedAt),
  request_id: told(
    textLike(REQUEST_ID),
    'The identifier of the request. It encodes the same 128 bits as the `X-Request-ID` header.',
    ({ requestId }) => requestId,
  ),
  endpoint: told(
    oneOfWords(DATA_ENDPOINTS),
    'The endpoint that the values were requested from.',
    ({ endpoint }) => endpoint,
  ),
  entropy_mode: told(oneOfWords(ENTROPY_MODES), 'The entropy mode of the answer.', ({ mode }) => mode),
  media_type: told(
    text,
    'The media type of the body that `hashes.delivered` covers. Absent if the hash covers the JSON member `data`.',
    ({ mediaType }) => mediaType,
    { isOptional: true },
  ),
  label: told(
    LABEL,
    'The label that the caller gave the answer. Absent if the caller gave none.',
    ({ label }) => label,
    { isOptional: true },
  ),
};

const PROVENANCE = {
  lang_circuit: derived(
    text,
    'The name of the quantum circuit of the first lot.',
    (from) => circuitOf(from).lang_circuit,
  ),
  lang_version: derived(
    text,
    'The version of the circuit compiler of the first lot.',
    (from) => circuitOf(from).lang_version,
  ),
  quantum_backend: derived(
    text,
    'The quantum processor or device of the first lot.',
    (from) => circuitOf(from).quantum_backend,
  ),
  qubits_used: derived(
    count,
    'The number of qubits that the circuit of the first lot used.',
    (from) => circuitOf(from).qubits_used,
  ),
  circuit_depth: derived(
    count,
    'The depth of the circuit of the first lot.',
    (from) => circuitOf(from).circuit_depth,
  ),
  origin: derived(
    oneOfWords(ORIGINS),
    'The kind of source that produced the raw bits. If the origins of the lots differ, this is the weakest of them.',
    ({ lots }) => originOf(lots),
  ),
  evidence: derived(
    oneOfWords(EVIDENCE_LEVELS),
    'How well the quantum origin of the raw bits is supported. If the claims of the lots differ, this is the weakest of them.',
    ({ lots }) => evidenceOf(lots),
    { modes: QUANTUM },
  ),
  system_entropy: told(
    oneOfWords(SYSTEM_GENERATORS),
    'The generator of the operating system. In quantum-seeded mode its output is mixed into the seed; in csprng mode it produced the values.',
    ({ systemGenerator }) => systemGenerator,
    { modes: ['quantum-seeded', 'csprng'] },
  ),
  seed: told(
    object({ index: described(count, 'The index of the seed within the lot, from 0.') }),
    'The seed of the lot that the values were derived from.',
    ({ seed }) => seed,
    { modes: ['quantum-seeded'] },
  ),
  drawn: told(
    someOf(drawnPiece),
    'The pieces of pure bytes that the answer was drawn from, in the order in which they were drawn.',
    ({ drawn }) => drawn,
    { modes: ['pure'] },
  ),
  sample: told(
    { type: 'boolean', const: true },
    'Always `true` in csprng mode: the lot is a tested sample of the generator that produced the values. The values themselves do not come from the lot.',
    () => true as const,
    { modes: ['csprng'] },
  ),
  lots: told(
    someOf(lotEntry),
    'The lots that the answer was drawn from, in the order of drawing.',
    ({ named }) => named,
  ),
};

const VERIFICATION = {
  nist_sp800_22: derived(
    text,
    'How many tests of NIST SP 800-22 the tested windows that the answer was drawn from passed: `<passed>/<total> passed`, or `not tested`.',
    nistResultOf,
  ),
  nist_verified: derived(
    boolean,
    'Whether every bit that the answer was drawn from lies in a tested window that passed.',
    nistVerifiedOf,
  ),
  dieharder: derived(
    constant('not implemented'),
    'Always `not implemented`: the service does not run the Dieharder tests.',
    () => 'not implemented' as const,
  ),
  min_entropy_per_bit: derived(
    orNull(share),
    'The estimated min-entropy per raw bit. If the estimates of the lots differ, this is the lowest of them.',
    ({ lots }) => minEntropyOf(lots),
  ),
};

const HASHES = {
  raw_output: derived(
    sha256,
    'The SHA-256 hash of the raw bits of the lot. For several lots, the hash of the concatenated hashes of the lots.',
    ({ lots }) => joinedDigest(lots.map((lot) => lot.raw_output)),
  ),
  processed: derived(
    sha256,
    'The SHA-256 hash of the conditioned bytes of the lot. For several lots, the hash of the concatenated hashes of the lots.',
    ({ lots }) => joinedDigest(lots.map((lot) => lot.processed)),
  ),
  delivered: told(
    sha256,
    'The SHA-256 hash of the salt followed by the delivered values.',
    ({ delivered }) => delivered,
  ),
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
  provenance: ['Where the entropy of the answer came from.', PROVENANCE],
  verification: ['The results of the tests of the bits that the answer was drawn from.', VERIFICATION],
  hashes: ['SHA-256 hashes of the raw bits, of the conditioned bytes and of the delivered values.', HASHES],
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
