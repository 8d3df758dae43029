import { randomFillSync } from 'node:crypto';
import { base32Of, stampUuidV7 } from '../core/ids.ts';

/*
 * The names of a request: the id that the service gives it, and the trace that its client may have named.
 */

/** Id of a request, 16 bytes: 48 bits of Unix milliseconds, then random bits (UUID version 7, RFC 9562 §5.7). */
export type RequestId = Uint8Array<ArrayBuffer>;

/** A source of random bytes for ids. */
export interface RandomBytes {
  fill(bytes: Uint8Array): void;
}

/** For the few ids that are made outside the pipeline. Each fill is a system call. */
export const SYSTEM_RANDOM: RandomBytes = { fill: (bytes) => void randomFillSync(bytes) };

export function newRequestId(random: RandomBytes, wallMs: number): RequestId {
  const id = new Uint8Array(16);
  random.fill(id);
  stampUuidV7(id, wallMs);
  return id;
}

/** Returns the id as `metadata.request_id` and error bodies print it. */
export function requestIdText(id: Uint8Array): string {
  return `req_${base32Of(id)}`;
}

/*
 * The trace of a request (W3C Trace Context, https://www.w3.org/TR/trace-context/). The reply to a request with a valid
 * `traceparent` carries one of the same trace, and its log lines name the trace. An invalid `traceparent` is ignored.
 */

/** The format of version 00 (§3.2.2). Ids of only zeros are invalid (§3.2.2.3, §3.2.2.4). */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;

export function traceIdOf(traceparent: string): string | undefined {
  return TRACEPARENT.exec(traceparent)?.[1];
}

/**
 * Returns the `traceparent` of the reply: the same trace and flags with this request as the parent. The parent id is the last 8
 * bytes of the request id, so that a trace leads to the request. They are never all zero, because they hold the variant bits
 * (RFC 9562 §4.1).
 */
export function traceparentOf(traceparent: string, requestId: Uint8Array): string | undefined {
  const parentId = Buffer.from(requestId.buffer, requestId.byteOffset + 8, 8).toString('hex');
  return TRACEPARENT.test(traceparent) ? traceparent.replace(TRACEPARENT, `00-$1-${parentId}-$2`) : undefined;
}
