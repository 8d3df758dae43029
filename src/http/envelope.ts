import { utf8Bytes } from '../core/bytes.ts';
import { base32Of, uuidText } from '../core/ids.ts';
import { writeBase32, writeHex, writeLatin1, writeNumber, writeUuid } from '../core/text-bytes.ts';
import type { DrawnFrom } from '../delivery/desk.ts';

/** The facts of one answer that stand around its `data` member. */
export interface EnvelopeFacts {
  readonly from: DrawnFrom;
  /** 16 bytes, printed as `req_…` and as a UUID. */
  readonly requestId: Uint8Array;
  /** ISO 8601, 24 characters. */
  readonly timestamp: string;
  readonly certificateId: string;
  /** 32 bytes; for the caller alone, never stored. */
  readonly certificateSalt: Uint8Array;
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
export function envelopeObject(facts: EnvelopeFacts, poweredBy: string): Record<string, unknown> {
  const { from } = facts;
  return {
    meta: { duration_ms: facts.durationMs, request_id: uuidText(facts.requestId) },
    metadata: {
      certificate_id: facts.certificateId,
      certificate_salt: Buffer.from(facts.certificateSalt).toString('hex'),
      entropy_consumed_bytes: facts.consumedBytes,
      entropy_origin: from.origin,
      lang_circuit: from.circuit,
      lang_version: from.circuitVersion,
      nist_verified: from.nistVerified,
      powered_by: poweredBy,
      processing_time_ms: facts.durationMs,
      quantum_backend: from.quantumBackend,
      request_id: `req_${base32Of(facts.requestId)}`,
      timestamp: facts.timestamp,
    },
    quantum_credits: facts.credits,
  };
}

/** Ids and the time have fixed widths, numbers have not: a template is cut where they go. */
const NUMBER_DIGITS_MAX = 16;

/**
 * The end of every JSON answer from one source: the text behind the `data` member, made once, between whose pieces
 * each answer writes its own ids and numbers as bytes. Members and values are those of `envelopeObject`; a test holds
 * the two equal.
 */
export class EnvelopeTemplate {
  /** The pieces in order; between two of them stands one value. */
  readonly #pieces: readonly Uint8Array[];
  /** Bytes that `write` takes at most. */
  readonly lengthMax: number;

  constructor(from: DrawnFrom, poweredBy: string) {
    const text = (value: string) => JSON.stringify(value);
    this.#pieces = [
      ',"meta":{"duration_ms":',
      ',"request_id":"',
      '"},"metadata":{"certificate_id":"',
      '","certificate_salt":"',
      '","entropy_consumed_bytes":',
      `,"entropy_origin":${text(from.origin)},"lang_circuit":${text(from.circuit)}` +
        `,"lang_version":${text(from.circuitVersion)},"nist_verified":${from.nistVerified}` +
        `,"powered_by":${text(poweredBy)},"processing_time_ms":`,
      `,"quantum_backend":${text(from.quantumBackend)},"request_id":"req_`,
      '","timestamp":"',
      '"},"quantum_credits":{"remaining":',
      ',"total":',
      ',"used":',
      '}}',
    ].map(utf8Bytes);
    const constant = this.#pieces.reduce((sum, piece) => sum + piece.length, 0);
    this.lengthMax = constant + 6 * NUMBER_DIGITS_MAX + 36 + 31 + 64 + 26 + 24; // numbers, ids, salt, time
  }

  /** Writes the end of one answer behind its `data` member; returns where the reply ends. */
  write(facts: EnvelopeFacts, target: Uint8Array, start: number): number {
    const [meta, uuid, id, salt, consumed, source, backend, time, remaining, total, used, close] =
      this.#pieces;
    const { credits } = facts;
    let at = writeNumber(facts.durationMs, target, put(meta, target, start));
    at = writeUuid(facts.requestId, target, put(uuid, target, at));
    at = writeLatin1(facts.certificateId, target, put(id, target, at));
    at = writeHex(facts.certificateSalt, target, put(salt, target, at));
    at = writeNumber(facts.consumedBytes, target, put(consumed, target, at));
    at = writeNumber(facts.durationMs, target, put(source, target, at));
    at = writeBase32(facts.requestId, target, put(backend, target, at));
    at = writeLatin1(facts.timestamp, target, put(time, target, at));
    at = writeCount(credits.remaining, target, put(remaining, target, at));
    at = writeCount(credits.total, target, put(total, target, at));
    at = writeNumber(credits.used, target, put(used, target, at));
    return put(close, target, at);
  }
}

function put(piece: Uint8Array, target: Uint8Array, at: number): number {
  target.set(piece, at);
  return at + piece.length;
}

function writeCount(count: number | null, target: Uint8Array, at: number): number {
  return count === null ? writeLatin1('null', target, at) : writeNumber(count, target, at);
}
