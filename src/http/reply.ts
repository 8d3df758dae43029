import { pack } from 'msgpackr';
import { NO_STORE } from '../answer/fields.ts';
import { utf8Bytes } from '../core/bytes.ts';
import { type Field, headOf } from './head.ts';
import { MEDIA_TYPES, type Representation } from './representation.ts';

/** A whole reply, ready for Exchange.send. */
export interface Reply {
  readonly head: Uint8Array<ArrayBuffer>;
  readonly body: Uint8Array<ArrayBuffer>;
  /** True if the body contains random values. It is then not compressed (http/compression.ts). */
  readonly hasValues?: true;
  /** True if `body` is a getter that makes the body when it is first read, in the turn in which it is sent. */
  readonly isMadeLate?: true;
}

/** Returns a reply with this content. A string is sent as UTF-8. */
export function replyOf(
  status: number,
  contentType: string,
  content: string | Uint8Array<ArrayBuffer>,
  fields: readonly Field[],
): Reply {
  const body = typeof content === 'string' ? utf8Bytes(content) : content;
  return { head: headOf(status, [['Content-Type', contentType], ...fields]), body };
}

/** Returns a reply with a value as MessagePack or JSON, which caches must not store. */
export function valueReply(
  status: number,
  form: Representation,
  value: object,
  fields: readonly Field[] = [],
): Reply {
  const content = form === 'msgpack' ? new Uint8Array(pack(value)) : JSON.stringify(value);
  return replyOf(status, MEDIA_TYPES[form], content, [NO_STORE, ...fields]);
}

/** Returns a reply that pages of every origin may read. */
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

/** Returns a redirect. 308 is permanent and keeps the method; 302 is temporary. */
export function redirectReply(status: 302 | 308, location: string, fields: readonly Field[] = []): Reply {
  return { head: headOf(status, [['Location', location], NO_STORE, ...fields]), body: new Uint8Array(0) };
}
