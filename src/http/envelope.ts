import { assert } from '../core/assert.ts';
import { REPLY_HEAD, REPLY_TAIL_BYTES_MAX } from '../delivery/deliver.ts';
import type { DrawnFrom } from '../delivery/desk.ts';

/** The facts of one answer that stand around its `data` member. */
export interface EnvelopeFacts {
  readonly from: DrawnFrom;
  /** `req_` form and UUID form of the same 128 bits. */
  readonly requestIdText: string;
  readonly requestUuid: string;
  readonly timestamp: string;
  readonly certificateId: string;
  /** 64 hex digits; for the caller alone, never stored. */
  readonly certificateSalt: string;
  readonly poweredBy: string;
  readonly durationMs: number;
  readonly consumedBytes: number;
  readonly credits: CreditFacts;
}

/** Credits of the account; null means unlimited. */
export interface CreditFacts {
  readonly remaining: number | null;
  readonly used: number;
  readonly total: number | null;
}

/** `metadata`, `meta` and `quantum_credits` of every data answer (specification, Resources; one shape for all modes). */
export function envelopeObject(facts: EnvelopeFacts): Record<string, unknown> {
  const { from } = facts;
  return {
    meta: { duration_ms: facts.durationMs, request_id: facts.requestUuid },
    metadata: {
      certificate_id: facts.certificateId,
      certificate_salt: facts.certificateSalt,
      entropy_consumed_bytes: facts.consumedBytes,
      entropy_origin: from.origin,
      lang_circuit: from.circuit,
      lang_version: from.circuitVersion,
      nist_verified: from.nistVerified,
      powered_by: facts.poweredBy,
      processing_time_ms: facts.durationMs,
      quantum_backend: from.quantumBackend,
      request_id: facts.requestIdText,
      timestamp: facts.timestamp,
    },
    quantum_credits: facts.credits,
  };
}

/** The parts of the envelope that stay the same for all answers from one source, as JSON text. */
interface ConstantText {
  readonly beforeRequestId: string;
}

const constants = new WeakMap<DrawnFrom, ConstantText>();

function constantText(from: DrawnFrom, poweredBy: string): ConstantText {
  let text = constants.get(from);
  if (text === undefined) {
    const beforeRequestId =
      `,"entropy_origin":${JSON.stringify(from.origin)},"lang_circuit":${JSON.stringify(from.circuit)}` +
      `,"lang_version":${JSON.stringify(from.circuitVersion)},"nist_verified":${from.nistVerified}` +
      `,"powered_by":${JSON.stringify(poweredBy)},"quantum_backend":${JSON.stringify(from.quantumBackend)}` +
      ',"request_id":"';
    constants.set(from, (text = { beforeRequestId }));
  }
  return text;
}

/**
 * Completes a reply in place: `{"data":` stands before the `data` member that ends at `dataEnd`, the envelope behind
 * it. The same members and values as `envelopeObject`; a test holds the two equal. Returns the reply's bytes.
 */
export function completeJson(
  buffer: Uint8Array<ArrayBuffer>,
  dataEnd: number,
  facts: EnvelopeFacts,
): Uint8Array<ArrayBuffer> {
  const target = Buffer.from(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  target.write(REPLY_HEAD, 0, 'latin1');
  const { credits } = facts;
  const tail =
    `,"meta":{"duration_ms":${facts.durationMs},"request_id":"${facts.requestUuid}"}` +
    `,"metadata":{"certificate_id":"${facts.certificateId}","certificate_salt":"${facts.certificateSalt}"` +
    `,"entropy_consumed_bytes":${facts.consumedBytes}${constantText(facts.from, facts.poweredBy).beforeRequestId}` +
    `${facts.requestIdText}","processing_time_ms":${facts.durationMs},"timestamp":"${facts.timestamp}"}` +
    `,"quantum_credits":{"remaining":${credits.remaining},"total":${credits.total},"used":${credits.used}}}`;
  assert(tail.length <= REPLY_TAIL_BYTES_MAX, 'the envelope keeps to its bound');
  const end = dataEnd + target.write(tail, dataEnd, 'latin1');
  return buffer.subarray(0, end);
}
