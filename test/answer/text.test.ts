import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { pack, unpack } from 'msgpackr';
import type { PrintedAnswer } from '../../src/answer/fields.ts';
import { PACKED_HEAD_BYTES_MAX } from '../../src/answer/make.ts';
import type { DrawnFrom } from '../../src/answer/supply.ts';
import { ReplyTemplate } from '../../src/answer/template.ts';
import {
  bodyTemplateOf,
  completePacked,
  dataTemplate,
  envelopeObject,
  hasMoreMembers,
  tailOf,
  withMoreMembers,
} from '../../src/answer/text.ts';
import { loadConfig } from '../../src/config/sources.ts';
import { concatBytes } from '../../src/core/bytes.ts';
import { replyTemplateOf } from '../../src/http/answer-reply.ts';
import type { RateFacts } from '../../src/http/reply-fields.ts';

const FROM: DrawnFrom = {
  mode: 'quantum-seeded',
  lotIds: ['lot_x'],
  drawn: [{ lot: 0, offset: 0, bytes: 32 }],
  origin: 'simulated',
  circuit: 'superposition-16',
  circuitVersion: '1.0.0',
  quantumBackend: 'simulator-statevector',
  nistVerified: true,
  availableAtMs: 0,
};

const NAMES = { poweredBy: 'Lang', verifyUrlBase: 'https://qrn.example/verify' };
const ODD_NAMES = { poweredBy: 'Läng "1"', verifyUrlBase: 'https://qrn.example/ver"ify\\ä' };
const RATE: RateFacts = {
  remaining: 7,
  resetAtS: 1_795_250_468,
  resetAfterS: 60,
  policy: '"burst";q=750;w=90, "sustained";q=500;w=60',
};

const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const facts = fc.record({
  from: fc.constantFrom(FROM, { ...FROM, nistVerified: false, quantumBackend: 'ä"\\ backend' }),
  requestId: fc.uint8Array({ minLength: 16, maxLength: 16 }),
  issuedAtMs: fc.constant(Date.UTC(2026, 10, 21, 8, 40, 7, 786)),
  certificateId: fc.uint8Array({ minLength: 16, maxLength: 16 }),
  salt: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  durationMs: fc.nat({ max: 99_999_999 }),
  consumedBytes: fc.nat({ max: 2 ** 32 }),
  credits: count,
  creditsRemaining: count,
  creditsTotal: count,
  opening: fc.constantFrom(undefined, '{"bytes":"AA==","path":""}'),
  labelText: fc.constantFrom(undefined, '{"public":true,"purpose":"raffle"}'),
});

describe('the data of an answer', () => {
  it('is canonical JSON around its values, whatever it echoes', () => {
    const echoed = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(fc.integer()),
    );
    const name = fc.stringMatching(/^[a-z][a-z_]{0,8}$/);
    const members = fc.dictionary(name, fc.oneof(echoed, fc.dictionary(name, echoed)));
    fc.assert(
      fc.property(members, fc.constantFrom('values', 'bytes', 'a'), fc.string(), (told, valueKey, source) => {
        fc.pre(!(valueKey in told)); // no endpoint echoes a parameter under the name of its values
        const { before, after } = dataTemplate(valueKey, told, 'pure', source);
        const metadata = { entropy_mode: 'pure', quantum_source: source };
        const data = { ...told, metadata, [valueKey]: [1, 2] };
        assert.equal(`${Buffer.from(before)}[1,2]${Buffer.from(after)}`, canonicalize(data));
      }),
    );
  });
});

/** The reply of an answer whose data is 1. */
function replyOf(each: PrintedAnswer, template: ReplyTemplate<PrintedAnswer, RateFacts>, rate = RATE) {
  const record = concatBytes(each.requestId, each.certificateId, each.salt, Buffer.from('1'));
  template.print(each, rate, record, 0, record.length);
  const [head, body] = [template.head, template.body].map((bytes) => Buffer.from(bytes));
  template.forget();
  return { head: head.toString('latin1'), body };
}

describe('the envelope of an answer', () => {
  it('has the same content as bytes and as an object', () => {
    fc.assert(
      fc.property(facts, fc.constantFrom(NAMES, ODD_NAMES), (each, names) => {
        const { body } = replyOf(each, new ReplyTemplate([], tailOf(each.from, names)));
        const hasMore = each.opening !== undefined || each.labelText !== undefined;
        assert.equal(hasMoreMembers(each), hasMore);
        const parsed = JSON.parse(Buffer.from(hasMore ? withMoreMembers(body, each) : body).toString('utf8'));
        const more = [each.opening, each.labelText].map((text) => text && JSON.parse(text));
        assert.deepEqual([parsed.opening, parsed.label], more);
        assert.deepEqual(parsed, { data: 1, ...envelopeObject(each, names) });
      }),
    );
  });

  it('is laid out once for each source and rate', () => {
    assert.equal(bodyTemplateOf(FROM, NAMES), bodyTemplateOf(FROM, NAMES));
    assert.notEqual(bodyTemplateOf({ ...FROM }, NAMES), bodyTemplateOf(FROM, NAMES));
    assert.equal(replyTemplateOf(FROM, RATE, NAMES), replyTemplateOf(FROM, { ...RATE, remaining: 3 }, NAMES));
    assert.notEqual(
      replyTemplateOf(FROM, RATE, NAMES),
      replyTemplateOf(FROM, { ...RATE, policy: undefined }, NAMES),
    );
  });

  it('fits the longest names that the settings allow', () => {
    const { poweredBy: name, verifyUrlBase } = loadConfig({
      QRN_POWERED_BY: '\u{1f600}'.repeat(100),
      QRN_VERIFY_URL_BASE: `https://${'v'.repeat(504)}`,
    });
    const from = { ...FROM, quantumBackend: 'b'.repeat(80) };
    replyTemplateOf(from, RATE, { poweredBy: name, verifyUrlBase: verifyUrlBase! });
  });

  it('precedes the values in MessagePack, however long the alphabet that is echoed', () => {
    const [each] = fc.sample(facts, { numRuns: 1 });
    const packed = pack(['a', 'b']);
    for (const characters of [2, 1_000]) {
      const members = { alphabet: '𝄞'.repeat(characters), count: 2, length: 1 };
      const bytes = new Uint8Array(PACKED_HEAD_BYTES_MAX + packed.length);
      bytes.set(packed, PACKED_HEAD_BYTES_MAX);
      const answer = { ...each, packedStart: PACKED_HEAD_BYTES_MAX, packedEnd: bytes.length };
      const reply = completePacked(answer, NAMES, { valueKey: 'values', members }, bytes);
      const isInPlace = characters === 2 && each.opening === undefined && each.labelText === undefined;
      assert.equal(reply.buffer === bytes.buffer, isInPlace);
      const { data, ...rest } = unpack(reply);
      assert.deepEqual([data.alphabet, data.values], [members.alphabet, ['a', 'b']]);
      assert.deepEqual(rest, envelopeObject(each, NAMES));
    }
  });

  it('has a head with the current values, and nothing of the previous answer', () => {
    const [one, two] = fc.sample(facts, { numRuns: 2 });
    const headText = (answer: typeof one, at: RateFacts) =>
      replyOf({ ...answer, from: FROM }, replyTemplateOf(FROM, at, NAMES), at).head;
    const first = headText({ ...one, creditsRemaining: 12 }, RATE);
    assert.match(first, /^200 OK\r\nContent-Type: application\/json\r\n/);
    const standing = '\r\nX-RateLimit-Remaining: 7\r\nX-RateLimit-Reset: 1795250468';
    assert.ok(first.includes(`\r\nX-Quantum-Credits-Remaining: 12${standing}\r\n`));
    assert.ok(
      first.endsWith(
        '\r\nRateLimit-Policy: "burst";q=750;w=90, "sustained";q=500;w=60\r\nRateLimit: "burst";r=7;t=60',
      ),
    );
    const second = headText({ ...two, creditsRemaining: 3 }, { ...RATE, remaining: 100, policy: undefined });
    assert.ok(second.endsWith(standing.replace(': 7', ': 100')));
  });
});
