import type { DrawnFrom } from '../answer/desk.ts';
import { utf8Bytes } from '../core/bytes.ts';
import { base32Of, uuidText } from '../core/ids.ts';
import {
  decimalDigits,
  writeBase32,
  writeHex,
  writeLatin1,
  writeNumber,
  writeUuid,
} from '../core/text-bytes.ts';

/** The facts of one answer that stand around its `data` member. */
export interface EnvelopeFacts {
  readonly from: DrawnFrom;
  /** 16 bytes, printed as `req_…` and as a UUID. */
  readonly requestId: Uint8Array;
  /** ISO 8601, 24 characters. */
  readonly timestamp: string;
  /** 16 bytes, printed as `cert_…`. */
  readonly certificateId: Uint8Array;
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
      certificate_id: `cert_${base32Of(facts.certificateId)}`,
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

/**
 * The end of every JSON answer from one source: the text behind the `data` member. Members and values are those of
 * `envelopeObject`; a test holds the two equal. Ids, salt and time have fixed widths, numbers have not: for each
 * combination of their widths the whole text is laid out once, and an answer is one copy of it with its own bytes
 * written over.
 */
export class EnvelopeTemplate {
  /** Bytes that `write` takes at most. */
  readonly lengthMax: number;
  readonly #pieces: readonly Uint8Array[];
  readonly #layouts = new Map<number, Layout>();
  #layout: Layout;

  constructor(from: DrawnFrom, poweredBy: string) {
    const text = (value: string) => JSON.stringify(value);
    this.#pieces = [
      ',"meta":{"duration_ms":',
      ',"request_id":"',
      '"},"metadata":{"certificate_id":"cert_',
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
    const widest = new Layout(this.#pieces, WIDTHS_MAX);
    this.lengthMax = widest.bytes.length;
    this.#layout = widest;
  }

  /** Writes the end of one answer behind its `data` member; returns where the reply ends. */
  write(facts: EnvelopeFacts, target: Uint8Array, start: number): number {
    const { requestId, durationMs, consumedBytes, credits } = facts;
    const { remaining, total, used } = credits;
    const layout = this.#layoutOf(
      decimalDigits(durationMs),
      decimalDigits(consumedBytes),
      countWidth(remaining),
      countWidth(total),
      decimalDigits(used),
    );
    layout.setTime(facts.timestamp);
    target.set(layout.bytes, start);
    const { at } = layout;
    writeNumber(durationMs, target, start + at[0]);
    writeUuid(requestId, target, start + at[1]);
    writeBase32(facts.certificateId, target, start + at[2]);
    writeHex(facts.certificateSalt, target, start + at[3]);
    writeNumber(consumedBytes, target, start + at[4]);
    writeNumber(durationMs, target, start + at[5]);
    writeBase32(requestId, target, start + at[6]);
    writeCount(remaining, target, start + at[8]);
    writeCount(total, target, start + at[9]);
    writeNumber(used, target, start + at[10]);
    return start + layout.bytes.length;
  }

  /** Answers of one source mostly have the widths of the one before. */
  #layoutOf(duration: number, consumed: number, remaining: number, total: number, used: number): Layout {
    const key = (((duration * 17 + consumed) * 17 + remaining) * 17 + total) * 17 + used;
    if (this.#layout.key === key) return this.#layout;
    let layout = this.#layouts.get(key);
    if (layout === undefined) {
      if (this.#layouts.size >= LAYOUTS_MAX) this.#layouts.clear();
      layout = new Layout(this.#pieces, [
        duration,
        36,
        26,
        64,
        consumed,
        duration,
        26,
        24,
        remaining,
        total,
        used,
      ]);
      layout.key = key;
      this.#layouts.set(key, layout);
    }
    this.#layout = layout;
    return layout;
  }
}

/** A safe integer has 16 digits at most: a width is below 17, and five of them make a key. */
const DIGITS_MAX = 16;
/** Widths of the values between the pieces: duration, UUID, id, salt, consumed, duration, id, time, three counts. */
const WIDTHS_MAX = [
  DIGITS_MAX,
  36,
  26,
  64,
  DIGITS_MAX,
  DIGITS_MAX,
  26,
  24,
  DIGITS_MAX,
  DIGITS_MAX,
  DIGITS_MAX,
];
const TIME = 7;
/** Of each source; a few serve nearly all of its answers. */
const LAYOUTS_MAX = 64;

/** The text for one combination of widths, with what changes left to be written over. */
class Layout {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each value starts. */
  readonly at: readonly number[];
  key = Number.NaN;
  #time = '';

  constructor(pieces: readonly Uint8Array[], widths: readonly number[]) {
    const length = [...pieces.map((piece) => piece.length), ...widths].reduce((sum, each) => sum + each, 0);
    this.bytes = new Uint8Array(length);
    const at: number[] = [];
    let end = 0;
    pieces.forEach((piece, i) => {
      this.bytes.set(piece, end);
      end += piece.length;
      if (i === widths.length) return;
      at.push(end);
      end += widths[i];
    });
    this.at = at;
  }

  /** The time changes once a millisecond, so it is part of the layout. */
  setTime(time: string): void {
    if (time === this.#time) return;
    this.#time = time;
    writeLatin1(time, this.bytes, this.at[TIME]);
  }
}

function countWidth(count: number | null): number {
  return count === null ? 4 : decimalDigits(count);
}

function writeCount(count: number | null, target: Uint8Array, at: number): number {
  return count === null ? writeLatin1('null', target, at) : writeNumber(count, target, at);
}
