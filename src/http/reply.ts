import { pack } from 'msgpackr';
import { NO_STORE } from '../answer/fields.ts';
import { utf8Bytes } from '../core/bytes.ts';
import { type Field, headOf } from './head.ts';
import { MEDIA_TYPES, type Representation } from './representation.ts';

/** A whole reply, ready for Exchange.send. */
export interface Reply {
  readonly head: Uint8Array<ArrayBuffer>;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Random values are in the body, which is then sent as it is (http/compression.ts). */
  readonly hasValues?: true;
  /** The body is made when it is read: not before the turn in which it is sent. */
  readonly isMadeLate?: true;
}

/** Text is sent as UTF-8. */
export function replyOf(
  status: number,
  contentType: string,
  content: string | Uint8Array<ArrayBuffer>,
  fields: readonly Field[],
): Reply {
  const body = typeof content === 'string' ? utf8Bytes(content) : content;
  return { head: headOf(status, [['Content-Type', contentType], ...fields]), body };
}

/** A value as MessagePack or as JSON, which no cache keeps. */
export function valueReply(
  status: number,
  form: Representation,
  value: object,
  fields: readonly Field[] = [],
): Reply {
  const content = form === 'msgpack' ? new Uint8Array(pack(value)) : JSON.stringify(value);
  return replyOf(status, MEDIA_TYPES[form], content, [NO_STORE, ...fields]);
}

/** A document that pages of every origin may read. */
export function publicReply(
  contentType: string,
  content: string | Uint8Array<ArrayBuffer>,
  cacheControl: string,
  { status = 200, fields = [] }: { readonly status?: number; readonly fields?: readonly Field[] } = {},
): Reply {
  return replyOf(status, contentType, content, [
    ['Cache-Control', cacheControl],
    ['Access-Control-Allow-Origin', '*'],
    ['X-Content-Type-Options', 'nosniff'],
    ...fields,
  ]);
}

/** Sends the reader elsewhere; 308 for good and by the same method. */
export function redirectReply(status: 302 | 308, location: string, fields: readonly Field[] = []): Reply {
  return { head: headOf(status, [['Location', location], NO_STORE, ...fields]), body: new Uint8Array(0) };
}
