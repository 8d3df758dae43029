import { pack } from 'msgpackr';
import { assert } from '../core/assert.ts';
import { concatBytes, utf8Bytes } from '../core/bytes.ts';
import { base32Of, uuidText } from '../core/ids.ts';
import { isObject } from '../core/json.ts';
import {
  decimalDigits,
  writeBase32,
  writeHex,
  writeLatin1,
  writeNumber,
  writeUuid,
} from '../core/text-bytes.ts';
import { DATA_START, PACKED_HEAD_BYTES_MAX, REPLY_TAIL_BYTES_MAX } from './make.ts';
import type { EchoedMembers } from './request.ts';
import type { DrawnFrom } from './supply.ts';

/** What the text of an answer says of it beside its values. An Answer is one. */
export interface PrintedAnswer {
  readonly from: DrawnFrom;
  /** 16 bytes, printed as `req_…` and as a UUID. */
  readonly requestId: Uint8Array;
  /** ISO 8601, 24 characters. */
  readonly timestamp: string;
  /** 16 bytes, printed as `cert_…`. */
  readonly certificateId: Uint8Array;
  /** 32 bytes; for the caller alone, never stored. */
  readonly salt: Uint8Array;
  readonly durationMs: number;
  readonly consumedBytes: number;
  /** Credits that this answer spends. */
  readonly credits: number;
  /** Credits left and in all, of the month. */
  readonly creditsRemaining: number;
  readonly creditsTotal: number;
  /** In pure mode, canonical JSON (pool/supply/opening.ts); undefined when there is none. */
  readonly opening: string | undefined;
  /** What the caller said of the answer, canonical JSON (label.ts); undefined where it said nothing. */
  readonly labelText?: string | undefined;
}

/** The text of the `data` member around its values, as bytes. */
export interface DataTemplate {
  readonly before: Uint8Array<ArrayBuffer>;
  readonly after: Uint8Array<ArrayBuffer>;
}

/** What every answer of one service says of that service. */
export interface ServiceNames {
  readonly poweredBy: string;
  /** What the id of a certificate follows, behind a slash. */
  readonly verifyUrlBase: string;
}

/** Where anybody reads the certificate of an answer. */
export function verifyUrlOf(
  { certificateId }: Pick<PrintedAnswer, 'certificateId'>,
  { verifyUrlBase }: ServiceNames,
): string {
  return `${verifyUrlBase}/cert_${base32Of(certificateId)}`;
}

/** Stands where the values go; cannot occur in canonical JSON, which escapes control characters. */
const VALUES_MARK = '\u0000';

/**
 * The `data` member in canonical form (RFC 8785: members sorted by name, no spaces, JavaScript's own number
 * and string forms), cut where the values go. All names are ours and all texts well-formed, so JSON.stringify of sorted
 * members is canonical.
 */
export function dataTemplate(
  valueKey: string,
  members: EchoedMembers,
  entropyMode: string,
  quantumSource: string,
): DataTemplate {
  const texts: Record<string, string> = {
    metadata: JSON.stringify(dataMetadata(entropyMode, quantumSource)),
    [valueKey]: VALUES_MARK,
  };
  for (const [name, value] of Object.entries(members))
    texts[name] = JSON.stringify(isObject(value) ? sortedByName(value) : value);
  const text = Object.keys(texts)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${texts[name]}`)
    .join(',');
  const cut = text.indexOf(VALUES_MARK);
  return { before: utf8Bytes(`{${text.slice(0, cut)}`), after: utf8Bytes(`${text.slice(cut + 1)}}`) };
}

function sortedByName(members: object): object {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function dataMetadata(entropyMode: string, quantumSource: string): Record<string, string> {
  return { entropy_mode: entropyMode, quantum_source: quantumSource };
}

/**
 * `metadata`, `meta` and `quantum_credits` of every data answer (specification, Resources; one shape for all modes).
 */
export function envelopeObject(answer: PrintedAnswer, names: ServiceNames): Record<string, unknown> {
  const { from } = answer;
  return {
    meta: { duration_ms: answer.durationMs, request_id: uuidText(answer.requestId) },
    metadata: {
      certificate_id: `cert_${base32Of(answer.certificateId)}`,
      certificate_salt: Buffer.from(answer.salt).toString('hex'),
      entropy_consumed_bytes: answer.consumedBytes,
      entropy_origin: from.origin,
      lang_circuit: from.circuit,
      lang_version: from.circuitVersion,
      nist_verified: from.nistVerified,
      powered_by: names.poweredBy,
      processing_time_ms: answer.durationMs,
      quantum_backend: from.quantumBackend,
      request_id: `req_${base32Of(answer.requestId)}`,
      timestamp: answer.timestamp,
      verify_url: verifyUrlOf(answer, names),
    },
    quantum_credits: {
      remaining: answer.creditsRemaining,
      used: answer.credits,
      total: answer.creditsTotal,
    },
    ...(answer.labelText === undefined ? {} : { label: JSON.parse(answer.labelText) as unknown }),
    ...(answer.opening === undefined ? {} : { opening: JSON.parse(answer.opening) as unknown }),
  };
}

/**
 * Completes a MessagePack reply before its values, which are one MessagePack value; returns the whole
 * reply: in place where there is room, else in memory of its own.
 */
export function completePacked(
  answer: PrintedAnswer & { readonly packedStart: number; readonly packedEnd: number },
  names: ServiceNames,
  { valueKey, members }: { readonly valueKey: string; readonly members: EchoedMembers },
  bytes: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  const { from, packedStart, packedEnd } = answer;
  const { mode, quantumBackend } = from;
  const head = concatBytes(
    packedUpTo('data', envelopeObject(answer, names)),
    packedUpTo(valueKey, { ...members, metadata: dataMetadata(mode, quantumBackend) }),
  );
  // an alphabet that the answer echoes may be longer than the room before the values
  const isLong = hasMoreMembers(answer) || head.length > PACKED_HEAD_BYTES_MAX;
  if (isLong) return concatBytes(head, bytes.subarray(packedStart, packedEnd));
  const replyStart = packedStart - head.length;
  bytes.set(head, replyStart);
  return bytes.subarray(replyStart, packedEnd);
}

/** An object in MessagePack with one more member, up to where the value of that one stands. */
function packedUpTo(name: string, members: Readonly<Record<string, unknown>>): Uint8Array {
  return pack({ ...members, [name]: null }).subarray(0, -1); // null is one byte
}

/** How every JSON reply begins; written right before the `data` member. */
const REPLY_OPENING = utf8Bytes('{"data":');
assert(REPLY_OPENING.length <= DATA_START, 'the opening of a reply fits before its data member');

/** Completes a JSON reply in place around its `data` member; returns the whole reply. */
export function completeJson(
  answer: PrintedAnswer,
  template: EnvelopeTemplate,
  bytes: Uint8Array<ArrayBuffer>,
  start: number,
  dataEnd: number,
): Uint8Array<ArrayBuffer> {
  const replyStart = start + DATA_START - REPLY_OPENING.length;
  bytes.set(REPLY_OPENING, replyStart);
  return bytes.subarray(replyStart, template.write(answer, bytes, dataEnd));
}

/** True when the reply has members that only some have, for which the room of its making is too small. */
export function hasMoreMembers({ opening, labelText }: PrintedAnswer): boolean {
  return opening !== undefined || labelText !== undefined;
}

/** A JSON reply with the members that only some have, as its last. Erases the reply that it was made of. */
export function withMoreMembers(
  reply: Uint8Array<ArrayBuffer>,
  { opening, labelText }: PrintedAnswer,
): Uint8Array<ArrayBuffer> {
  const label = labelText === undefined ? '' : `,"label":${labelText}`;
  const end = utf8Bytes(`${label}${opening === undefined ? '' : `,"opening":${opening}`}}`);
  const whole = concatBytes(reply.subarray(0, -1), end);
  reply.fill(0);
  return whole;
}

/**
 * The end of every JSON answer from one source: the text behind the `data` member. Members and values are those of
 * `envelopeObject`; a test holds the two equal. Ids, salt and time have fixed widths, numbers do not: the whole text is
 * laid out once for each combination of their widths, and an answer copies it and writes its own bytes over it.
 */
export class EnvelopeTemplate {
  /** Bytes that `write` takes at most. */
  readonly lengthMax: number;
  readonly #pieces: readonly Uint8Array[];
  readonly #layouts = new Map<number, Layout>();
  #layout: Layout;

  constructor(from: DrawnFrom, { poweredBy, verifyUrlBase }: ServiceNames) {
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
      `","verify_url":${text(verifyUrlBase).slice(0, -1)}/cert_`,
      '"},"quantum_credits":{"remaining":',
      ',"total":',
      ',"used":',
      '}}',
    ].map(utf8Bytes);
    const widest = new Layout(
      this.#pieces,
      widthsOf(DIGITS_MAX, DIGITS_MAX, DIGITS_MAX, DIGITS_MAX, DIGITS_MAX),
    );
    this.lengthMax = widest.bytes.length;
    // Answers lie side by side in memory: a text beyond its room would overwrite the next one.
    assert(
      this.lengthMax <= REPLY_TAIL_BYTES_MAX,
      'the longest text behind the values fits the room kept for it',
    );
    this.#layout = widest;
  }

  /** The template for a source; the same object for the same source. */
  static of(from: DrawnFrom, names: ServiceNames): EnvelopeTemplate {
    let template = templates.get(from);
    if (template === undefined) templates.set(from, (template = new EnvelopeTemplate(from, names)));
    return template;
  }

  /** Writes the end of one answer behind its `data` member; returns where the reply ends. */
  write(answer: PrintedAnswer, target: Uint8Array, start: number): number {
    const { requestId, durationMs, consumedBytes, credits, creditsRemaining, creditsTotal } = answer;
    const layout = this.#layoutOf(
      decimalDigits(durationMs),
      decimalDigits(consumedBytes),
      decimalDigits(creditsRemaining),
      decimalDigits(creditsTotal),
      decimalDigits(credits),
    );
    layout.setTime(answer.timestamp);
    target.set(layout.bytes, start);
    const { at } = layout;
    writeNumber(durationMs, target, start + at[0]);
    writeUuid(requestId, target, start + at[1]);
    writeBase32(answer.certificateId, target, start + at[2]);
    writeHex(answer.salt, target, start + at[3]);
    writeNumber(consumedBytes, target, start + at[4]);
    writeNumber(durationMs, target, start + at[5]);
    writeBase32(requestId, target, start + at[6]);
    target.copyWithin(start + at[8], start + at[2], start + at[2] + ID);
    writeNumber(creditsRemaining, target, start + at[9]);
    writeNumber(creditsTotal, target, start + at[10]);
    writeNumber(credits, target, start + at[11]);
    return start + layout.bytes.length;
  }

  /** Answers of one source mostly have the widths of the one before. */
  #layoutOf(duration: number, consumed: number, remaining: number, total: number, used: number): Layout {
    const key = (((duration * 17 + consumed) * 17 + remaining) * 17 + total) * 17 + used;
    if (this.#layout.key === key) return this.#layout;
    let layout = this.#layouts.get(key);
    if (layout === undefined) {
      if (this.#layouts.size >= LAYOUTS_MAX) this.#layouts.clear();
      layout = new Layout(this.#pieces, widthsOf(duration, consumed, remaining, total, used));
      layout.key = key;
      this.#layouts.set(key, layout);
    }
    this.#layout = layout;
    return layout;
  }
}

/** A safe integer has 16 digits at most: a width is below 17, and five of them make a key. */
const DIGITS_MAX = 16;
/** UUID, id, salt and time have fixed widths. */
const [UUID, ID, SALT, TIME] = [36, 26, 64, 24];
/** Which value is the time. */
const TIME_PLACE = 7;

/** Widths of the values between the pieces, from the number of digits of each count. */
function widthsOf(
  duration: number,
  consumed: number,
  remaining: number,
  total: number,
  used: number,
): number[] {
  return [duration, UUID, ID, SALT, consumed, duration, ID, TIME, ID, remaining, total, used];
}

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
    writeLatin1(time, this.bytes, this.at[TIME_PLACE]);
  }
}

const templates = new WeakMap<DrawnFrom, EnvelopeTemplate>();
