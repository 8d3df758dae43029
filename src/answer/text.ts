import canonicalize from 'canonicalize';
import { pack } from 'msgpackr';
import { concatBytes, utf8Bytes } from '../core/bytes.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import type { Answer } from './answer.ts';
import { type AnswerField, fieldsOf, type PrintedAnswer, type ServiceNames } from './fields.ts';
import { DATA_START, type DataTemplate, PACKED_HEAD_BYTES_MAX } from './make.ts';
import type { DataRequest, EchoedMembers } from './request.ts';
import type { DrawnFrom } from './supply.ts';
import { OPENING_BYTES, type Part, ReplyTemplate } from './template.ts';

/** Placeholder for the values. It cannot occur in canonical JSON, which escapes control characters. */
const VALUES_MARK = '\u0000';

/**
 * Returns the text of the `data` member in canonical form (RFC 8785: members sorted by name, no spaces, JavaScript's own
 * number and string forms), cut where the values go. JSON.stringify of sorted members is canonical here, because the
 * service chooses all names and all texts are well-formed.
 */
export function dataTemplate(
  valueKey: string,
  members: EchoedMembers,
  mode: string,
  source: string,
): DataTemplate {
  const texts: Record<string, string> = {
    metadata: JSON.stringify(drawnMembers(mode, source)),
    [valueKey]: VALUES_MARK,
  };
  for (const [name, value] of Object.entries(members))
    texts[name] = isObject(value) ? canonicalize(value)! : JSON.stringify(value);
  const text = Object.keys(texts)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${texts[name]}`)
    .join(',');
  const cut = text.indexOf(VALUES_MARK);
  return { before: utf8Bytes(`{${text.slice(0, cut)}`), after: utf8Bytes(`${text.slice(cut + 1)}}`) };
}

/** Returns `data.metadata`. */
function drawnMembers(mode: string, source: string) {
  return { entropy_mode: mode, quantum_source: source };
}

/** The objects that follow `data` in every body, sorted by name. */
const ENVELOPE = ['meta', 'metadata', 'quantum_credits'] as const;

/**
 * Writes the part of a MessagePack reply that precedes its values, and returns the whole reply: in place if the part fits
 * into the room before the values, else in new memory.
 */
export function completePacked(
  answer: PrintedAnswer & Pick<Answer, 'packedStart' | 'packedEnd'>,
  names: ServiceNames,
  { valueKey, members }: Pick<DataRequest, 'valueKey' | 'members'>,
): Uint8Array<ArrayBuffer> {
  const { bytes, packedStart, packedEnd, from } = answer;
  const head = concatBytes(
    packedUpTo('data', envelopeOf(answer, names)),
    packedUpTo(valueKey, { ...members, metadata: drawnMembers(from.mode, from.quantumBackend) }),
  );
  // the parameters that the answer repeats, such as an alphabet, may need more than the room before the values
  const isLong = answer.more !== '' || head.length > PACKED_HEAD_BYTES_MAX;
  if (isLong) return concatBytes(head, bytes.subarray(packedStart, packedEnd));
  const replyStart = packedStart - head.length;
  bytes.set(head, replyStart);
  return bytes.subarray(replyStart, packedEnd);
}

/** Returns the members of a body beside `data`, read from what the template prints around the data. */
function envelopeOf(answer: PrintedAnswer, names: ServiceNames): JsonObject {
  const template = bodyTemplateOf(answer.from, names);
  const { bytes, start } = answer;
  template.print(answer, undefined, bytes, start, start + DATA_START);
  const text = Buffer.from(withMore(template.body.subarray(OPENING_BYTES), answer.more)).toString('utf8');
  template.forget();
  return JSON.parse(`{${text.slice(1)}`) as JsonObject;
}

/** Packs an object whose last member is `name`, and returns the bytes that precede the value of that member. */
function packedUpTo(name: string, members: JsonObject): Uint8Array {
  return pack({ ...members, [name]: null }).subarray(0, -1); // null is one byte
}

/** Returns a copy of a JSON body with more members at its end: see Answer.more. */
export function withMore(body: Uint8Array, more: string): Uint8Array<ArrayBuffer> {
  return concatBytes(body.subarray(0, -1), utf8Bytes(`${more}}`));
}

/** Returns the part of a JSON body that follows the data, for all answers from one source. */
export function tailOf(from: DrawnFrom, names: ServiceNames): Part<PrintedAnswer, unknown>[] {
  const parts = ENVELOPE.flatMap((group) => {
    const members = fieldsOf(group).flatMap((field, i) => [
      `${i === 0 ? '' : ','}"${field.name}":`,
      ...partsOf(field, from, names),
    ]);
    return [`,"${group}":{`, ...members, '}'];
  });
  return [...parts, '}'];
}

/** Returns the parts that print the value of a field in JSON. */
function partsOf(field: AnswerField, from: DrawnFrom, names: ServiceNames) {
  if ('fixed' in field) return [JSON.stringify(field.fixed(from, names))];
  if ('number' in field) return [field];
  return [JSON.stringify('text' in field ? '' : field.before(names)).slice(0, -1), field, '"'];
}

/** Returns the template of bodies that are kept, or that another caller formats, and so have no head. */
export function bodyTemplateOf(from: DrawnFrom, names: ServiceNames): ReplyTemplate<PrintedAnswer, unknown> {
  let template = templates.get(from);
  if (template === undefined) templates.set(from, (template = new ReplyTemplate([], tailOf(from, names))));
  return template;
}

const templates = new WeakMap<DrawnFrom, ReplyTemplate<PrintedAnswer, unknown>>();
