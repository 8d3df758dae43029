import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type Field, withFields } from './head.ts';
import type { Reply } from './reply.ts';
import { parseWeighted } from './representation.ts';

/*
 * Compresses documents: pages, the OpenAPI document, certificates, usage and metrics. Random values are never compressed:
 * they do not shrink, and the size of a compressed reply would depend on them.
 */

/** Compressing a smaller body would save no packet. */
const BYTES_MIN = 1_024;
/**
 * A larger body would hold up the loop of a front for too long. The OpenAPI document has 566 KB: compressing it takes 15 ms,
 * once.
 */
const BYTES_MAX = 640 * 1_024;
const COMPRESSIBLE = /\r\nContent-Type: (?:text\/|application\/(?:json|health\+json)|image\/svg)/;

type Coding = 'br' | 'gzip';

/** Compressed forms of bodies, for bodies that are sent repeatedly, such as pages that are made once. */
const compressedForms = new WeakMap<Uint8Array, Partial<Record<Coding, Uint8Array<ArrayBuffer>>>>();

/**
 * Returns the reply in the best coding that the client accepts. A document of a compressible type gets Vary: Accept-Encoding
 * even when it is not compressed, because its next version may have another size. Other replies are returned unchanged.
 */
export function compressed(reply: Reply, acceptEncoding: string): Reply {
  const { head, body } = reply;
  const fields = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1');
  if (reply.hasValues || !COMPRESSIBLE.test(fields)) return reply;
  const vary: Field = ['Vary', 'Accept-Encoding'];
  const isWorthIt = body.length >= BYTES_MIN && body.length <= BYTES_MAX;
  const coding = isWorthIt ? codingOf(acceptEncoding) : undefined;
  if (coding === undefined) return { head: withFields(head, [vary]), body };
  return { head: withFields(head, [vary, ['Content-Encoding', coding]]), body: formOf(body, coding) };
}

function formOf(body: Uint8Array<ArrayBuffer>, coding: Coding): Uint8Array<ArrayBuffer> {
  let forms = compressedForms.get(body);
  if (forms === undefined) compressedForms.set(body, (forms = {}));
  return (forms[coding] ??= new Uint8Array(COMPRESS[coding](body)));
}

const COMPRESS: Readonly<Record<Coding, (body: Uint8Array) => Buffer>> = {
  gzip: (body) => gzipSync(body, { level: 5 }),
  br: (body) =>
    brotliCompressSync(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
};

/**
 * Chooses Brotli or gzip by an Accept-Encoding field (RFC 9110 §12.5.3). Returns undefined when the client accepts neither,
 * or prefers the document without a coding. Members with a malformed weight are ignored. If the client accepts neither a
 * coding of the service nor `identity`, the document is sent without a coding: §12.5.3 allows it, and an error would help nobody.
 */
export function codingOf(acceptEncoding: string): Coding | undefined {
  const members = parseWeighted(acceptEncoding);
  const qualities = new Map(members.map(({ name, quality }) => [name.replace(/^x-gzip$/, 'gzip'), quality]));
  const qualityOf = (coding: Coding) => qualities.get(coding) ?? qualities.get('*') ?? 0;
  const br = qualityOf('br');
  const gzip = qualityOf('gzip');
  // `identity` that is not named is acceptable, but only counts when no coding is acceptable
  if (Math.max(br, gzip) <= 0 || (qualities.get('identity') ?? 0) > Math.max(br, gzip)) return undefined;
  return br >= gzip ? 'br' : 'gzip';
}
