import type { HttpReply } from '../../core/http-request.ts';
import { BackendError } from '../backend.ts';
import { memberOf } from '../provider.ts';
import type { Decoder, QrngService } from './presets.ts';

/**
 * Returns the bytes of exactly `items` items, in their order. Throws a BackendError if the reply is not whole
 * (`retryable`), is not what the description says (`permanent`), or is no list of outcomes (`no_raw_shots`).
 */
export function decodeReply(
  reply: HttpReply,
  json: unknown,
  service: QrngService,
  items: number,
): Uint8Array<ArrayBuffer> {
  const wanted = items * service.item_bytes;
  const pieces = piecesOf(reply, json, service);
  if (service.list === 'items') {
    if (pieces.length !== items) throw notWhole(`${pieces.length} of ${items} items`);
    for (const piece of pieces) {
      if (piece.length !== service.item_bytes) {
        throw notWhole(`an item of ${piece.length} instead of ${service.item_bytes} bytes`);
      }
    }
  }
  const bytes = new Uint8Array(Buffer.concat(pieces));
  if (bytes.length !== wanted) throw notWhole(`${bytes.length} of ${wanted} bytes`);
  return bytes;
}

function piecesOf(reply: HttpReply, json: unknown, service: QrngService): Buffer[] {
  const { decoder, item_bytes: itemBytes, path } = service;
  if (decoder === 'bytes') return [Buffer.from(reply.body)];
  const values = path === '' ? textItems(reply, decoder) : valuesAt(json, path);
  if (values === undefined) throw unlike(`the reply has nothing at ${path}`);
  return values.map((value) => {
    // Shares or counts of outcomes have no order, so their entropy is unknown.
    if (typeof value === 'object' || (typeof value === 'number' && !Number.isInteger(value))) {
      throw new BackendError(
        'no_raw_shots',
        'the reply contains probabilities or counts instead of the outcomes in order',
      );
    }
    return decoder === 'decimal' ? decimalBytes(value, itemBytes) : textBytes(value, decoder);
  });
}

function textItems({ body }: HttpReply, decoder: Decoder): readonly string[] {
  const text = new TextDecoder('latin1').decode(body).trim();
  return decoder === 'decimal' ? text.split(/[\s,]+/) : [text];
}

function textBytes(value: unknown, decoder: Exclude<Decoder, 'decimal' | 'bytes'>): Buffer {
  if (typeof value !== 'string') throw unlike(`an item is a ${typeof value} instead of ${decoder} text`);
  if (decoder === 'base64') return base64Bytes(value);
  if (decoder === 'hex') {
    if (!/^([0-9a-f]{2})*$/i.test(value)) throw unlike('an item is not hex');
    return Buffer.from(value, 'hex');
  }
  if (!/^([01]{8})*$/.test(value))
    throw unlike('an item does not consist of groups of eight characters 0 and 1');
  return Buffer.from((value.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** Decodes base64 (RFC 4648 §4). Accepts line breaks and missing padding, but no other characters or stray bits. */
function base64Bytes(value: string): Buffer {
  const text = value.replaceAll(/\s/g, '').replace(/={0,2}$/, '');
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64').replace(/={0,2}$/, '') !== text) throw unlike('an item is not base64');
  return bytes;
}

/** A whole number of up to 10,000 bits, the longest that a service documents: 3,011 digits. */
const DIGITS = /^\d{1,3011}$/;

/** Returns an unsigned whole number, given as a JSON number or as text, in `itemBytes` bytes, big-endian. */
function decimalBytes(value: unknown, itemBytes: number): Buffer {
  const isExact = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
  if (!isExact && !(typeof value === 'string' && DIGITS.test(value))) {
    throw unlike('an item is not an unsigned whole number');
  }
  const hex = BigInt(value as number | string)
    .toString(16)
    .padStart(2 * itemBytes, '0');
  if (hex.length > 2 * itemBytes) throw unlike(`an item does not fit into ${itemBytes} bytes`);
  return Buffer.from(hex, 'hex');
}

function notWhole(what: string): BackendError {
  return new BackendError('retryable', what);
}

function unlike(what: string): BackendError {
  return new BackendError('permanent', what);
}

/**
 * Returns whether the text is a path to values in a reply: names joined by dots. `[]` after a name, or alone, stands
 * for every entry of a list, e.g. `data`, `jobs[].bytes`, `random_numbers[].decimal`.
 */
export function isJsonPath(path: string): boolean {
  return /^(\[\]|[\w-]+(\[\])?)(\.[\w-]+(\[\])?)*$/.test(path);
}

/**
 * Returns the values at `path`, in order. If the path ends at a list, its entries are the values. Entries that lack a
 * member are left out. Undefined if the reply lacks the first name of the path.
 */
export function valuesAt(json: unknown, path: string): readonly unknown[] | undefined {
  let values: readonly unknown[] = [json];
  for (const [index, step] of path.split('.').entries()) {
    const name = step.replace('[]', '');
    if (name !== '') values = values.map((value) => memberOf(value, name));
    values = values.filter((value) => value !== undefined && value !== null);
    if (index === 0 && values.length === 0) return undefined;
    if (step.endsWith('[]')) values = values.filter(Array.isArray).flat(1);
  }
  return values.flat();
}
