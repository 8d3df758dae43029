import { isoTime } from '../core/clock.ts';
import { CERTIFICATE_ID, REQUEST_ID } from '../core/ids.ts';
import {
  boolean,
  count,
  described,
  object,
  oneOfWords,
  type Schema,
  text,
  textLike,
  time,
} from '../core/schema.ts';
import { ENTROPY_MODES, ORIGINS } from '../core/vocabulary.ts';
import type { Answer } from './answer.ts';
import type { AnswerForm } from './request.ts';
import type { DrawnFrom } from './supply.ts';
import { type BytesSlot, type TextSlot, textIn } from './template.ts';

/** What a reply prints about its answer, apart from the values. */
export type PrintedAnswer = Pick<
  Answer,
  | 'from'
  | 'bytes'
  | 'start'
  | 'issuedAtMs'
  | 'durationMs'
  | 'consumedBytes'
  | 'credits'
  | 'creditsRemaining'
  | 'creditsTotal'
  | 'more'
>;

/** The texts about the service that every answer prints. */
export interface ServiceNames {
  readonly poweredBy: string;
  /** `verify_url` is this, a slash and the certificate id. */
  readonly verifyUrlBase: string;
}

/** The objects of a body that hold these fields. `drawn` is `data.metadata`, which the commitment covers. */
export type Group = 'meta' | 'metadata' | 'quantum_credits' | 'drawn';

interface FieldBase {
  readonly group: Group;
  /** Name of the member in its group. */
  readonly name: string;
  readonly schema: Schema;
  /** Name of the header field with the same value, if there is one. */
  readonly header?: string;
  /** True if every answer has the header field. Otherwise only bare values have it, because they have no other metadata. */
  readonly isInEveryHead?: true;
}

/** A value that is the same in all answers from one source. */
interface FixedField extends FieldBase {
  readonly fixed: (from: DrawnFrom, names: ServiceNames) => string | boolean;
}

/** A number that changes from answer to answer. */
interface NumberField extends FieldBase {
  readonly number: (answer: PrintedAnswer) => number;
}

/** Bytes that change from answer to answer, printed after a constant text. */
interface BytesField extends FieldBase, BytesSlot {
  readonly before: (names: ServiceNames) => string;
}

/** A text that is the same for many answers. */
type TextField = FieldBase & TextSlot<PrintedAnswer>;

export type AnswerField = FixedField | NumberField | BytesField | TextField;

export const requestIdSchema = described(
  textLike(REQUEST_ID),
  'The identifier of the request. It encodes the same 128 bits as the `X-Request-ID` header.',
);
export const certificateIdSchema = textLike(CERTIFICATE_ID);
export const modeSchema = oneOfWords(ENTROPY_MODES, 'The entropy mode of the answer.');
const originSchema = oneOfWords(
  ORIGINS,
  'The kind of source that produced the raw bits. The service never reports a better origin than the true one.',
);

const nothing = () => '';

/**
 * All fields of an answer apart from its values, in the order of the header fields: the name of each member, its meaning, its
 * header field, and how it is printed. The bodies in JSON and MessagePack, the heads, the header fields that CORS exposes, the
 * OpenAPI document and the documentation are made from this table.
 */
const ANSWER_FIELDS: readonly AnswerField[] = [
  {
    group: 'metadata',
    name: 'lang_circuit',
    header: 'X-Lang-Circuit',
    isInEveryHead: true,
    schema: described(text, 'The name of the quantum circuit, or `none` in csprng mode.'),
    fixed: ({ circuit }) => circuit,
  },
  {
    group: 'metadata',
    name: 'lang_version',
    header: 'X-Lang-Version',
    isInEveryHead: true,
    schema: described(text, 'The version of the circuit compiler, or `none` in csprng mode.'),
    fixed: ({ circuitVersion }) => circuitVersion,
  },
  {
    group: 'metadata',
    name: 'quantum_backend',
    header: 'X-Quantum-Backend',
    isInEveryHead: true,
    schema: described(text, 'The quantum processor or device, or `none` in csprng mode.'),
    fixed: ({ quantumBackend }) => quantumBackend,
  },
  {
    group: 'metadata',
    name: 'nist_verified',
    header: 'X-NIST-Verified',
    isInEveryHead: true,
    schema: described(
      boolean,
      'Whether the bits that the answer was drawn from passed the statistical tests of NIST SP 800-22.',
    ),
    fixed: ({ nistVerified }) => nistVerified,
  },
  {
    group: 'drawn',
    name: 'entropy_mode',
    header: 'X-Entropy-Mode',
    isInEveryHead: true,
    schema: modeSchema,
    fixed: ({ mode }) => mode,
  },
  {
    group: 'metadata',
    name: 'entropy_origin',
    header: 'X-Entropy-Origin',
    isInEveryHead: true,
    schema: originSchema,
    fixed: ({ origin }) => origin,
  },
  {
    group: 'meta',
    name: 'request_id',
    header: 'X-Request-ID',
    isInEveryHead: true,
    schema: described({ type: 'string', format: 'uuid' }, 'The identifier of the request, as a UUID.'),
    before: nothing,
    form: 'uuid',
    bytes: 'requestId',
  },
  {
    group: 'quantum_credits',
    name: 'remaining',
    header: 'X-Quantum-Credits-Remaining',
    isInEveryHead: true,
    schema: described(count, 'The credits that the account has left this month. 2^53 - 1 means unlimited.'),
    number: ({ creditsRemaining }) => creditsRemaining,
  },
  {
    group: 'metadata',
    name: 'certificate_id',
    header: 'X-Certificate-ID',
    schema: described(
      certificateIdSchema,
      'The identifier of the certificate of this answer. `GET /v1/certificate` returns the certificate.',
    ),
    before: () => 'cert_',
    form: 'base32',
    bytes: 'certificateId',
  },
  {
    group: 'metadata',
    name: 'certificate_salt',
    header: 'X-Certificate-Salt',
    schema: described(
      { type: 'string', pattern: '^[0-9a-f]{64}$' },
      'The salt of the hash `hashes.delivered` in the certificate, 64 hex digits. Only the caller receives the salt; the ledger does not store it.',
    ),
    before: nothing,
    form: 'hex',
    bytes: 'salt',
  },
  {
    group: 'metadata',
    name: 'timestamp',
    header: 'X-Timestamp',
    schema: described(time, 'The time at which the service received the request, in ISO 8601 and UTC.'),
    text: ({ issuedAtMs }) => isoTime(issuedAtMs), // the same for all requests of a millisecond
  },
  {
    group: 'metadata',
    name: 'processing_time_ms',
    header: 'X-Processing-Time-Ms',
    schema: described(count, 'The time from receiving the request to making the answer, in milliseconds.'),
    number: durationMs,
  },
  {
    group: 'metadata',
    name: 'entropy_consumed_bytes',
    header: 'X-Entropy-Consumed-Bytes',
    schema: described(
      count,
      'The entropy that the service drew for the answer, in bytes. It includes draws that rejection sampling discarded.',
    ),
    number: ({ consumedBytes }) => consumedBytes,
  },
  {
    group: 'quantum_credits',
    name: 'used',
    header: 'X-Quantum-Credits-Used',
    schema: described(count, 'The credits that this request spent.'),
    number: ({ credits }) => credits,
  },
  {
    group: 'metadata',
    name: 'verify_url',
    header: 'X-Verify-URL',
    schema: described(
      { type: 'string', format: 'uri' },
      'The URL of the public page of the certificate, where anyone can read and verify it.',
    ),
    before: ({ verifyUrlBase }) => `${verifyUrlBase}/cert_`,
    form: 'base32',
    bytes: 'certificateId',
  },
  {
    group: 'drawn',
    name: 'quantum_source',
    schema: described(
      text,
      'The quantum processor or device, or `none` in csprng mode. Equal to `metadata.quantum_backend`.',
    ),
    fixed: ({ quantumBackend }) => quantumBackend,
  },
  {
    group: 'metadata',
    name: 'powered_by',
    schema: described(
      text,
      'The name of the technology that the service uses. It is the same in every answer.',
    ),
    fixed: (_, { poweredBy }) => poweredBy,
  },
  {
    group: 'metadata',
    name: 'request_id',
    schema: requestIdSchema,
    before: () => 'req_',
    form: 'base32',
    bytes: 'requestId',
  },
  {
    group: 'meta',
    name: 'duration_ms',
    schema: described(count, 'The same value as `metadata.processing_time_ms`.'),
    number: durationMs,
  },
  {
    group: 'quantum_credits',
    name: 'total',
    schema: described(count, 'The credits that the account has each month. 2^53 - 1 means unlimited.'),
    number: ({ creditsTotal }) => creditsTotal,
  },
];

function durationMs(answer: PrintedAnswer): number {
  return answer.durationMs;
}

/** Returns the fields of a group, sorted by name as canonical JSON requires. */
export function fieldsOf(group: Group): readonly AnswerField[] {
  const fields = new Map(
    ANSWER_FIELDS.filter((field) => field.group === group).map((field) => [field.name, field]),
  );
  return [...fields.keys()].sort().map((name) => fields.get(name)!);
}

/** Returns the schema of a group's object. */
export function schemaOf(group: Group): Schema {
  return object(Object.fromEntries(fieldsOf(group).map(({ name, schema }) => [name, schema])));
}

/** Returns the value of a field in one answer. */
function valueIn(field: AnswerField, answer: PrintedAnswer, names: ServiceNames) {
  if ('fixed' in field) return field.fixed(answer.from, names);
  if ('number' in field) return field.number(answer);
  if ('text' in field) return field.text(answer);
  return field.before(names) + textIn(answer, field);
}

export type HeadedField = AnswerField & { readonly header: string };

/** The fields that every answer has in its head, and those that only bare values have there. */
export const [IN_EVERY_HEAD, IN_BARE_HEADS] = [true, false].map((isEvery) =>
  ANSWER_FIELDS.filter(
    (field): field is HeadedField => field.header !== undefined && (field.isInEveryHead === true) === isEvery,
  ),
);

/** Sent with every answer, because no cache may store random values. */
export const NO_STORE = ['Cache-Control', 'no-store'] as const;

/** Returns the header fields that belong to the answer, not to the moment of sending. A retry gets the same ones. */
export function keptFields(
  answer: PrintedAnswer & { readonly form: AnswerForm },
  names: ServiceNames,
  mediaType: string,
  ignored: string,
): (readonly [name: string, value: string])[] {
  const withValues = (fields: readonly HeadedField[]) =>
    fields.map((field) => [field.header, String(valueIn(field, answer, names))] as const);
  return [
    ['Content-Type', mediaType],
    NO_STORE,
    ...withValues(IN_EVERY_HEAD),
    ...(ignored === '' ? [] : [['X-Ignored-Parameters', ignored] as const]),
    // bare values have all their metadata in header fields
    ...(answer.form === 'octet-stream' ? withValues(IN_BARE_HEADS) : []),
  ];
}
