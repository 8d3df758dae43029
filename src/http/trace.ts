/**
 * W3C Trace Context (https://www.w3.org/TR/trace-context/): a request that carries a valid `traceparent` is
 * answered with one of the same trace, and its log lines name the trace. Anything else is as good as none: it
 * is neither kept nor sent back.
 */
export interface Trace {
  /** 32 hex digits. */
  readonly traceId: string;
  /** Two hex digits; the last bit says that the caller records this trace. */
  readonly flags: string;
}

/** §3.2.2 of version 00; ids of zeros alone are invalid (§3.2.2.3, §3.2.2.4). */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;

export function parseTraceparent(field: string): Trace | undefined {
  const match = TRACEPARENT.exec(field);
  return match === null ? undefined : { traceId: match[1], flags: match[2] };
}

/**
 * The field of the answer: the same trace, with this request as the parent of what follows. The parent id is
 * the last 8 bytes of the request id, so that one leads to the other; they are never all zero, since they
 * hold its variant bits (RFC 9562 §4.1).
 */
export function traceparentOf(trace: Trace, requestId: Uint8Array): string {
  const parentId = Buffer.from(requestId.buffer, requestId.byteOffset + 8, 8).toString('hex');
  return `00-${trace.traceId}-${parentId}-${trace.flags}`;
}
