import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { pack, unpack } from 'msgpackr';
import type { PrintedAnswer, ServiceNames } from '../../src/answer/fields.ts';
import { PACKED_HEAD_BYTES_MAX } from '../../src/answer/make.ts';
import type { DrawnFrom } from '../../src/answer/supply.ts';
import { ReplyTemplate } from '../../src/answer/template.ts';
import { bodyTemplateOf, completePacked, dataTemplate, tailOf, withMore } from '../../src/answer/text.ts';
import { loadConfig } from '../../src/config/sources.ts';
import { concatBytes, toHex } from '../../src/core/bytes.ts';
import { base32Of } from '../../src/core/ids.ts';
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
  bytes: fc.uint8Array({ minLength: 64, maxLength: 64 }).map((ids) => concatBytes(ids, Buffer.from('1'))),
  start: fc.constant(0),
  issuedAtMs: fc.constant(Date.UTC(2026, 10, 21, 8, 40, 7, 786)),
  durationMs: fc.nat({ max: 99_999_999 }),
  consumedBytes: fc.nat({ max: 2 ** 32 }),
  credits: count,
  creditsRemaining: count,
  creditsTotal: count,
  more: fc.constantFrom(
    '',
    ',"label":{"public":true,"purpose":"raffle"}',
    ',"label":{"public":true},"opening":{"bytes":"AA=="}',
  ),
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

/** The members of a body beside `data`. */
function envelopeOf(each: PrintedAnswer, names: ServiceNames): object {
  const { from, bytes, issuedAtMs, durationMs, consumedBytes, credits, creditsRemaining, creditsTotal } =
    each;
  const id = (at: number) => base32Of(bytes.subarray(at, at + 16));
  const uuid = toHex(bytes.subarray(0, 16)).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return {
    meta: { duration_ms: durationMs, request_id: uuid },
    metadata: {
      certificate_id: `cert_${id(16)}`,
      certificate_salt: toHex(bytes.subarray(32, 64)),
      entropy_consumed_bytes: consumedBytes,
      entropy_origin: from.origin,
      lang_circuit: from.circuit,
      lang_version: from.circuitVersion,
      nist_verified: from.nistVerified,
      powered_by: names.poweredBy,
      processing_time_ms: durationMs,
      quantum_backend: from.quantumBackend,
      request_id: `req_${id(0)}`,
      timestamp: new Date(issuedAtMs).toISOString(),
      verify_url: `${names.verifyUrlBase}/cert_${id(16)}`,
    },
    quantum_credits: { remaining: creditsRemaining, total: creditsTotal, used: credits },
    ...(JSON.parse(`{${each.more.slice(1)}}`) as object),
  };
}

/** The reply of an answer whose data is 1. */
function replyOf(each: PrintedAnswer, template: ReplyTemplate<PrintedAnswer, RateFacts>, rate = RATE) {
  template.print(each, rate, each.bytes, 0, each.bytes.length);
  const [head, body] = [template.head, template.body].map((bytes) => Buffer.from(bytes));
  template.forget();
  return { head: head.toString('latin1'), body };
}

describe('the envelope of an answer', () => {
  it('has every member with its value, in the same order in both formats', () => {
    fc.assert(
      fc.property(facts, fc.constantFrom(NAMES, ODD_NAMES), (each, names) => {
        const { body } = replyOf(each, new ReplyTemplate([], tailOf(each.from, names)));
        const text = Buffer.from(withMore(body, each.more)).toString('utf8');
        assert.equal(text, JSON.stringify({ data: 1, ...envelopeOf(each, names) }));
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
      bytes.set(each.bytes.subarray(0, 64));
      const answer = { ...each, bytes, packedStart: PACKED_HEAD_BYTES_MAX, packedEnd: bytes.length };
      const reply = completePacked(answer, NAMES, { valueKey: 'values', members });
      const isInPlace = characters === 2 && each.more === '';
      assert.equal(reply.buffer === bytes.buffer, isInPlace);
      const { data, ...rest } = unpack(reply);
      assert.deepEqual([data.alphabet, data.values], [members.alphabet, ['a', 'b']]);
      assert.equal(JSON.stringify(rest), JSON.stringify(envelopeOf(each, NAMES)));
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
