import { randomFillSync } from 'node:crypto';
import { base32Of, stampUuidV7, uuidText } from '../core/ids.ts';

/**
 * 128 bits that name one request: 48 bits of Unix milliseconds, then random (UUID version 7, RFC 9562 §5.7).
 */
export type RequestId = Uint8Array<ArrayBuffer>;

export function newRequestId(wallMs: number): RequestId {
  const id = new Uint8Array(16);
  randomFillSync(id);
  stampUuidV7(id, wallMs);
  return id;
}

/** As `metadata.request_id` and error bodies print it. */
export function requestIdText(id: Uint8Array): string {
  return `req_${base32Of(id)}`;
}

/** The same bits as `X-Request-ID` and `meta.request_id` print them. */
export function requestIdUuid(id: Uint8Array): string {
  return uuidText(id);
}

/** Both spellings, for a line of the log: whoever reports a request may know either. */
export function requestNames(id: Uint8Array): { request_id: string; x_request_id: string } {
  return { request_id: requestIdText(id), x_request_id: requestIdUuid(id) };
}
