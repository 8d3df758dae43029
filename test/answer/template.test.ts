import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  AT_CERTIFICATE_ID,
  AT_REQUEST_ID,
  AT_SALT,
  DATA_START,
  RECORD_BYTES_MAX,
  TAIL_BYTES_MAX,
} from '../../src/answer/make.ts';
import { isInMemory, type Part, ReplyTemplate } from '../../src/answer/template.ts';
import { InvariantError } from '../../src/core/assert.ts';

interface Facts {
  readonly one: number;
  readonly two: number;
  /** Two characters. */
  readonly word: string;
  /** 16, 16 and 32 bytes. */
  readonly requestId: Uint8Array;
  readonly certificateId: Uint8Array;
  readonly salt: Uint8Array;
  readonly data: Uint8Array;
}

const one = { number: (facts: Facts) => facts.one };
const two = { number: (facts: Facts, factor: number) => facts.two * factor };
const word = { text: (facts: Facts) => facts.word };
const asUuid = { form: 'uuid', bytes: 'requestId' } as const;
const asBase32 = { form: 'base32', bytes: 'requestId' } as const;
const certificate = { form: 'base32', bytes: 'certificateId' } as const;
const salt = { form: 'hex', bytes: 'salt' } as const;
const HEAD: Part<Facts, number>[] = ['<', one, 'ä', asUuid, two, '|', certificate, '>'];
const TAIL: Part<Facts, number>[] = ['<', one, asUuid, '"', salt, '"', word, asBase32, salt, two, '>'];

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const uuidOf = (id: Uint8Array) => hexOf(id).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
/** Encodes the id as one big number, five bits at a time. */
function base32Of(id: Uint8Array): string {
  const digits = BigInt(`0x${hexOf(id)}`)
    .toString(32)
    .padStart(26, '0');
  return digits.replace(/./g, (digit) => '0123456789abcdefghjkmnpqrstvwxyz'[Number.parseInt(digit, 32)]);
}

const ANY: Facts = {
  one: 1,
  two: 2,
  word: 'ab',
  requestId: Uint8Array.from({ length: 16 }, (_, i) => 17 * i),
  certificateId: Uint8Array.from({ length: 16 }, (_, i) => 255 - 15 * i),
  salt: Uint8Array.from({ length: 32 }, (_, i) => 0xc1 ^ (3 * i)),
  data: Buffer.from('[1,2]'),
};

/** The record of an answer, from byte 5 on. */
function recordOf({ requestId, certificateId, salt, data }: Facts): Uint8Array {
  const bytes = new Uint8Array(5 + DATA_START + data.length + 7).fill(0xee);
  bytes.set(requestId, 5 + AT_REQUEST_ID);
  bytes.set(certificateId, 5 + AT_CERTIFICATE_ID);
  bytes.set(salt, 5 + AT_SALT);
  bytes.set(data, 5 + DATA_START);
  return bytes;
}

/** Head and body as text. */
function printed(
  template: ReplyTemplate<Facts, number>,
  facts: Facts,
  factor: number,
  hasData = true,
): [string, string] {
  template.print(facts, factor, recordOf(facts), 5, 5 + DATA_START + (hasData ? facts.data.length : 0));
  const both: [string, string] = [text(template.head), text(template.body)];
  template.forget();
  return both;
}

function due(facts: Facts, factor: number, hasData = true): [string, string] {
  const { one, two, word, requestId, certificateId, salt, data } = facts;
  const tail = `<${one}${uuidOf(requestId)}"${hexOf(salt)}"${word}${base32Of(requestId)}${hexOf(salt)}${two * factor}>`;
  return [
    `<${one}ä${uuidOf(requestId)}${two * factor}|${base32Of(certificateId)}>`,
    `{"data":${hasData ? text(data) : ''}${tail}`,
  ];
}

describe('the template of a reply', () => {
  const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const facts = fc.record({
    one: fc.oneof(fc.nat(20), fc.maxSafeNat()),
    two: fc.oneof(fc.nat(20), fc.nat()),
    word: fc.string({ minLength: 2, maxLength: 2, unit: 'grapheme-ascii' }),
    requestId: bytes(16),
    certificateId: bytes(16),
    salt: bytes(32),
    data: fc.string({ unit: 'grapheme-ascii' }).map((data) => Buffer.from(data)),
  });

  it('prints each reply with its own values, whatever was printed before (property)', () => {
    const template = new ReplyTemplate(HEAD, TAIL);
    fc.assert(
      fc.property(fc.array(facts, { minLength: 1 }), fc.nat(9), fc.boolean(), (list, factor, hasData) => {
        for (const each of list)
          assert.deepEqual(printed(template, each, factor, hasData), due(each, factor, hasData));
      }),
    );
  });

  it('accepts a record up to its bound, and none that is longer or has no room for ids and salt', () => {
    const template = new ReplyTemplate(HEAD, TAIL);
    const longest = { ...ANY, data: new Uint8Array(RECORD_BYTES_MAX - DATA_START).fill(0x31) };
    assert.deepEqual(printed(template, longest, 1), due(longest, 1));
    assert.deepEqual(printed(template, ANY, 1), due(ANY, 1), 'nothing is left of it');
    const longer = { ...ANY, data: new Uint8Array(RECORD_BYTES_MAX - DATA_START + 1) };
    assert.throws(() => printed(template, longer, 1), InvariantError);
    assert.throws(() => template.print(ANY, 1, recordOf(ANY), 5, 5 + DATA_START - 1), InvariantError);
  });

  it('keeps nothing of a record or of the digits of its salt once they are erased', () => {
    const template = new ReplyTemplate(HEAD, TAIL);
    const { salt, data } = { ...ANY, data: Buffer.from('"a secret that was drawn"') };
    template.print(ANY, 1, recordOf({ ...ANY, data }), 5, 5 + DATA_START + data.length);
    const parts = [salt.subarray(0, 16), hexOf(salt).slice(0, 8), hexOf(salt).slice(-8), data];
    for (const part of parts) assert.ok(isInMemory(Buffer.from(part)));
    assert.throws(() => template.print(ANY, 1, recordOf(ANY), 5, 5 + DATA_START), /forgotten/);
    template.forget();
    for (const part of [...parts, salt.subarray(24)]) assert.ok(!isInMemory(Buffer.from(part)));
  });

  it('is rejected when its longest tail does not fit after the data, or its longest head before them', () => {
    const longest = ['x'.repeat(TAIL_BYTES_MAX - 16), one];
    new ReplyTemplate(longest, longest);
    assert.throws(() => new ReplyTemplate<Facts, number>([], ['x', ...longest]), /fits the room/);
    assert.throws(() => new ReplyTemplate<Facts, number>(['x', ...longest], []), /fits the room/);
  });

  it('refuses numbers that it cannot print', () => {
    const template = new ReplyTemplate(HEAD, TAIL);
    for (const value of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
      assert.throws(() => printed(template, { ...ANY, one: value }, 1), InvariantError);
    assert.deepEqual(printed(template, ANY, 1), due(ANY, 1), 'it prints others afterwards');
  });

  it('prints numbers and texts of any width', () => {
    const template = new ReplyTemplate(HEAD, TAIL);
    for (let digits = 0; digits < 15; digits++) {
      for (let others = 0; others < 15; others++) {
        const facts = { ...ANY, one: 10 ** digits, two: 10 ** others };
        assert.deepEqual(printed(template, facts, 1), due(facts, 1));
      }
    }
  });

  it('prints correctly beside more other templates than the kernel has slots', () => {
    const templates = Array.from({ length: 70 }, (_, i) => new ReplyTemplate([`${i}:`, ...HEAD], TAIL));
    for (const factor of [1, 2]) {
      for (const [i, template] of templates.entries()) {
        const [head, body] = due(ANY, factor);
        assert.deepEqual(printed(template, ANY, factor), [`${i}:${head}`, body]);
      }
    }
  });
});
