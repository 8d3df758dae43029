import { pack } from 'msgpackr';
import type { DataRequest } from '../answer/data-request.ts';
import { DATA_START, type Delivered } from '../answer/deliver.ts';
import { dataMembers } from '../answer/frame.ts';
import { concatBytes } from '../core/bytes.ts';
import { base32Of, uuidText } from '../core/ids.ts';
import { AnswerTemplate, creditText, sourceFields } from './answer-template.ts';
import { type EnvelopeFacts, envelopeObject } from './envelope.ts';
import { type Field, headOf } from './head.ts';
import { type RateFacts, rateFields } from './rate-fields.ts';
import { MEDIA_TYPES, negotiate, type Representation } from './representation.ts';

const REPLY_OPENING = new Uint8Array(Buffer.from('{"data":'));

/** A data answer as it will leave once it is durable. */
export interface AnswerReply {
  readonly body: Uint8Array<ArrayBuffer>;
  /** The head; made when it is sent. */
  readonly head: () => Uint8Array;
}

/** The form of an answer: JSON unless the client asks for MessagePack or, for bytes and batches, the bare values. */
export function representationOf(accept: string, request: DataRequest): Representation {
  if (accept === '' || accept === '*/*') return 'json';
  const binary = !request.dryRun && (request.endpoint === 'bytes' || request.endpoint === 'batch');
  return negotiate(accept, binary ? ['json', 'msgpack', 'octet-stream'] : ['json', 'msgpack']);
}

/** The usual case: JSON, completed in place in the buffer that holds the `data` member. */
export function jsonReply(
  delivered: Delivered,
  facts: EnvelopeFacts,
  poweredBy: string,
  rate: RateFacts | undefined,
): AnswerReply {
  const { buffer, dataEnd } = delivered.made;
  const template = AnswerTemplate.of(delivered.from, poweredBy, rate);
  const start = DATA_START - REPLY_OPENING.length;
  buffer.set(REPLY_OPENING, start);
  const end = template.envelope.write(facts, buffer, dataEnd);
  return { body: buffer.subarray(start, end), head: () => template.headOf(facts, rate) };
}

/** The body in any form. */
export function bodyOf(
  request: DataRequest,
  delivered: Delivered,
  facts: EnvelopeFacts,
  poweredBy: string,
  form: Representation,
): Uint8Array<ArrayBuffer> {
  const { from, made } = delivered;
  if (form === 'octet-stream' && made.octets !== undefined) return made.octets;
  if (made.packed === undefined) return jsonReply(delivered, facts, poweredBy, undefined).body;
  // large values were packed where they were made: a front would stand still for as long as it packs them
  return concatBytes(
    packedUpTo('data', envelopeObject(facts, poweredBy)),
    packedUpTo(request.valueKey, dataMembers(request, from.mode, from.quantumBackend)),
    made.packed,
  );
}

/** An object in MessagePack with one more member, up to where the value of that one stands. */
function packedUpTo(name: string, members: Readonly<Record<string, unknown>>): Uint8Array {
  return pack({ ...members, [name]: null }).subarray(0, -1); // null is one byte
}

/** The header fields of an answer that speak of it, not of the moment. */
export function answerFields(facts: EnvelopeFacts, form: Representation, ignored: string): Field[] {
  const fields: Field[] = [
    ...sourceFields(facts.from),
    ['X-Request-ID', uuidText(facts.requestId)],
    ['X-Quantum-Credits-Remaining', creditText(facts.credits.remaining)],
  ];
  if (ignored !== '') fields.push(['X-Ignored-Parameters', ignored]);
  // the bare values carry their metadata in headers alone
  if (form === 'octet-stream') {
    fields.push(
      ['X-Certificate-ID', `cert_${base32Of(facts.certificateId)}`],
      ['X-Certificate-Salt', Buffer.from(facts.certificateSalt).toString('hex')],
      ['X-Timestamp', facts.timestamp],
      ['X-Processing-Time-Ms', String(facts.durationMs)],
      ['X-Entropy-Consumed-Bytes', String(facts.consumedBytes)],
      ['X-Quantum-Credits-Used', String(facts.credits.used)],
    );
  }
  return fields;
}

/** A head made field by field, for the forms that no template serves. */
export function fieldsHead(
  form: Representation,
  fields: readonly Field[],
  rate: RateFacts | undefined,
): Uint8Array {
  return headOf(200, [['Content-Type', MEDIA_TYPES[form]], ...fields, ...rateFields(rate)]);
}
