import { utf8Bytes } from '../core/bytes.ts';
import { base32Of, uuidText } from '../core/ids.ts';
import { writeBase32, writeHex, writeLatin1, writePadded, writeUuid } from '../core/text-bytes.ts';
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

/** Digits that any duration, byte count or credit count fits. */
const NUMBER_WIDTH = 16;

type SlotName =
  | 'durationMs'
  | 'uuid'
  | 'certificateId'
  | 'salt'
  | 'consumedBytes'
  | 'processingMs'
  | 'requestId'
  | 'timestamp'
  | 'remaining'
  | 'total'
  | 'used';

const SLOT_WIDTHS: Readonly<Record<SlotName, number>> = {
  durationMs: NUMBER_WIDTH,
  uuid: 36,
  certificateId: 31,
  salt: 64,
  consumedBytes: NUMBER_WIDTH,
  processingMs: NUMBER_WIDTH,
  requestId: 26,
  timestamp: 24,
  remaining: NUMBER_WIDTH,
  total: NUMBER_WIDTH,
  used: NUMBER_WIDTH,
};

/**
 * The end of every JSON answer from one source: the text behind the `data` member, made once, in which each answer
 * writes its own ids and numbers at fixed places. Numbers stand behind blanks, which JSON ignores. Members and values
 * are those of `envelopeObject`; a test holds the two equal.
 */
export class EnvelopeTemplate {
  readonly #bytes: Uint8Array;
  readonly #at = {} as Record<SlotName, number>;

  constructor(from: DrawnFrom, poweredBy: string) {
    const text = (value: string) => JSON.stringify(value);
    const parts: (string | { slot: SlotName })[] = [
      ',"meta":{"duration_ms":',
      { slot: 'durationMs' },
      ',"request_id":"',
      { slot: 'uuid' },
      '"},"metadata":{"certificate_id":"',
      { slot: 'certificateId' },
      '","certificate_salt":"',
      { slot: 'salt' },
      '","entropy_consumed_bytes":',
      { slot: 'consumedBytes' },
      `,"entropy_origin":${text(from.origin)},"lang_circuit":${text(from.circuit)}`,
      `,"lang_version":${text(from.circuitVersion)},"nist_verified":${from.nistVerified}`,
      `,"powered_by":${text(poweredBy)},"processing_time_ms":`,
      { slot: 'processingMs' },
      `,"quantum_backend":${text(from.quantumBackend)},"request_id":"req_`,
      { slot: 'requestId' },
      '","timestamp":"',
      { slot: 'timestamp' },
      '"},"quantum_credits":{"remaining":',
      { slot: 'remaining' },
      ',"total":',
      { slot: 'total' },
      ',"used":',
      { slot: 'used' },
      '}}',
    ];
    let at = 0;
    const pieces = parts.map((part) => {
      const piece =
        typeof part === 'string' ? utf8Bytes(part) : new Uint8Array(SLOT_WIDTHS[part.slot]).fill(0x20);
      if (typeof part !== 'string') this.#at[part.slot] = at;
      at += piece.length;
      return piece;
    });
    this.#bytes = new Uint8Array(Buffer.concat(pieces));
  }

  /** Bytes that `write` takes. */
  get length(): number {
    return this.#bytes.length;
  }

  /** Writes the end of one answer behind its `data` member; returns where the reply ends. */
  write(facts: EnvelopeFacts, target: Uint8Array, start: number): number {
    target.set(this.#bytes, start);
    const at = this.#at;
    const { credits } = facts;
    writePadded(facts.durationMs, target, start + at.durationMs, NUMBER_WIDTH);
    writeUuid(facts.requestId, target, start + at.uuid);
    writeLatin1(facts.certificateId, target, start + at.certificateId);
    writeHex(facts.certificateSalt, target, start + at.salt);
    writePadded(facts.consumedBytes, target, start + at.consumedBytes, NUMBER_WIDTH);
    writePadded(facts.durationMs, target, start + at.processingMs, NUMBER_WIDTH);
    writeBase32(facts.requestId, target, start + at.requestId);
    writeLatin1(facts.timestamp, target, start + at.timestamp);
    writeCount(credits.remaining, target, start + at.remaining);
    writeCount(credits.total, target, start + at.total);
    writePadded(credits.used, target, start + at.used, NUMBER_WIDTH);
    return start + this.#bytes.length;
  }
}

function writeCount(count: number | null, target: Uint8Array, at: number): void {
  if (count === null) writeLatin1('null', target, at);
  else writePadded(count, target, at, NUMBER_WIDTH);
}
