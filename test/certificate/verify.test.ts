import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  canonical,
  listAt,
  member,
  parsedObject,
  printable,
  show,
  timeOf,
  timeText,
} from '../../src/certificate/members.ts';
import { fieldsOf, responseOfFields } from '../../src/certificate/octet-answer.ts';
import { type CheckName, type Verification, verifyAnswer } from '../../src/certificate/verify.ts';
import { mayTakeMore } from '../../src/certificate/verify-values.ts';
import { answerEntry, lotRecord, seededSource, segmentRecord, TIME_MS } from './fixtures.ts';
import { SAID, saidFile } from './said.ts';
import { changed, octetFieldsOf, scene } from './scene.ts';
import { readVector } from './vectors.ts';

/** An answer in pure mode with its certificate and keys, each through JSON as a client has it. */
async function pureAnswer(lots = [lotRecord('a'), lotRecord('b')]) {
  const { world, service, ...held } = await scene({ lots, mode: 'pure' });
  const { response, document: certificate, keys } = held;
  return { world, service, ...throughJson({ response, certificate, keys }) };
}

function throughJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

function failed(verification: Verification): CheckName[] {
  return verification.checks.filter((check) => !check.ok).map((check) => check.name);
}

/** The checks that read the lots. */
const OF_LOTS: readonly CheckName[] = ['lots', 'derived', 'status', 'dates', 'fixed'];

describe('verifyAnswer', () => {
  it('passes what the service returned, and names each check', async () => {
    const s = await pureAnswer();
    const verification = await verifyAnswer(s);
    assert.deepEqual(failed(verification), []);
    assert.ok(verification.ok);
    assert.deepEqual(
      verification.checks.map((check) => check.name),
      [
        'certificate id',
        'request id',
        'metadata',
        'delivered',
        'lots',
        'derived',
        'status',
        'keys',
        'inclusion',
        'signature',
        'dates',
        'fixed',
      ],
    );
    for (const check of verification.checks) assert.notEqual(check.why, '');
  });

  it('accepts members in any order', async () => {
    const s = await pureAnswer();
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .toReversed()
          .map(([name, inner]) => [name, reversed(inner)]),
      );
    };
    const again = {
      response: reversed(s.response),
      certificate: reversed(s.certificate),
      keys: reversed(s.keys),
    };
    assert.ok((await verifyAnswer(again)).ok);
  });

  it('verifies a certificate alone, but not without its lots', async () => {
    const { certificate, keys } = await pureAnswer();
    const verification = await verifyAnswer({ certificate, keys });
    assert.ok(verification.ok);
    assert.equal(verification.checks.length, 8);
    const bare = await verifyAnswer({ certificate: certificate.certificate, keys });
    assert.deepEqual(failed(bare), OF_LOTS);
    assert.match(bare.checks[0].why, /number of lots in the document is not the 2 that/);
  });
});

it('a failed check gives the reason for which a lot was withdrawn', async () => {
  const s = await pureAnswer();
  s.world.withdrawn.push({ lotId: lotRecord('b').id, why: 'detector fault', atMs: TIME_MS });
  const certificate = await s.service.find(s.world.ids.textOf(4, 13));
  const { checks } = await verifyAnswer({ ...s, certificate });
  const [failure, ...others] = checks.filter(({ ok }) => !ok);
  assert.deepEqual([failure.name, others], ['status', []]);
  assert.match(failure.why, /detector fault/);
});

it('a range of a lot that the certificate does not name is refused, wherever it is', async () => {
  const s = await pureAnswer();
  const { drawn = [] } = s.certificate.certificate.provenance;
  for (const ranges of [
    [{ lot: 2, offset: 0, bytes: 16 }, ...drawn],
    [...drawn, { lot: 2, offset: 0, bytes: 16 }],
  ]) {
    const certificate = changed(s.certificate, 'certificate.provenance.drawn', ranges);
    const { checks } = await verifyAnswer({ ...s, certificate });
    assert.equal(
      checks.find(({ name }) => name === 'derived')?.why,
      'The certificate draws from lot 3, but names only 2.',
    );
  }
});

it('a checkpoint of another log with the same keys is refused', async () => {
  const s = await pureAnswer();
  const proof = s.certificate.certificate.proof ?? '';
  const other = proof.replace('qrn.example/log\n', 'qrn.example/lag\n');
  const certificate = changed(s.certificate, 'certificate.proof', other);
  assert.deepEqual(failed(await verifyAnswer({ ...s, certificate })), ['signature']);
});

describe('a document of which one member was changed or left out', () => {
  for (const [name, say] of Object.entries(SAID))
    it(`is refused with words that say what is wrong: ${name}`, async () => {
      assert.equal(await say(), readFileSync(saidFile(name), 'utf8'));
    });
});

describe('the header fields of an answer in octets', () => {
  it('say what its JSON would have said, as far as they exist', () => {
    const { response } = readVector('octets') as { response: Record<string, Record<string, unknown>> };
    const { meta, metadata, media_type: type } = response;
    const head = [
      ...['HTTP/1.1 100 Continue', 'X-Certificate-ID: cert_of_another', '', 'HTTP/1.1 200 OK'],
      ...octetFieldsOf(response).map((line) => line.replace(/^X-Request-ID: .*/, (each) => `${each} `)),
      ...['no field', ': nothing'],
    ];
    const fields = fieldsOf(head.join('\r\n'));
    const names = ['certificate_id', 'certificate_salt', 'entropy_origin', 'lang_circuit', 'lang_version'];
    const known = [...names, 'nist_verified', 'quantum_backend', 'request_id', 'timestamp'];
    assert.deepEqual(responseOfFields(fields), {
      media_type: type,
      data: { metadata: { entropy_mode: 'quantum-seeded' } },
      meta: { request_id: meta['request_id'] },
      metadata: Object.fromEntries(known.map((name) => [name, metadata[name]])),
    });
    assert.deepEqual(responseOfFields(new Map()), { data: { metadata: {} }, meta: {}, metadata: {} });
    const odd = new Map([
      ['x-request-id', 'x'],
      ['x-nist-verified', 'false'],
      ['x-verify-url', 'u'],
    ]);
    const said = { meta: { request_id: 'x' }, metadata: { nist_verified: false, verify_url: 'u' } };
    assert.deepEqual(responseOfFields(odd), { data: { metadata: {} }, ...said });
    assert.deepEqual(
      fieldsOf('a: b\nc: d: e'),
      new Map([
        ['a', 'b'],
        ['c', 'd: e'],
      ]),
    );
  });
});

describe('what cannot be read', () => {
  it('is a failed check, never an exception', async () => {
    const s = await pureAnswer();
    const odd: unknown[] = [
      null,
      true,
      7,
      Number.NaN,
      '',
      'text',
      [],
      {},
      { certificate: null },
      { metadata: [] },
      10n,
    ];
    let nested: unknown = 1;
    for (let i = 0; i < 20_000; i++) nested = [nested];
    odd.push({ data: nested, metadata: { certificate_salt: '0'.repeat(64) } }, { data: '\ud800' });
    // what is quoted in a reason
    for (const quoted of [nested, 10n]) odd.push({ metadata: { certificate_id: quoted }, status: quoted });
    for (const each of odd) {
      for (const what of ['response', 'certificate', 'keys'] as const) {
        const verification = await verifyAnswer({ ...s, [what]: each });
        assert.ok(!verification.ok, `${what} ${typeof each}`);
      }
    }
  });

  it('is reported in one line of words, without control characters for the terminal', () => {
    const shown: [value: unknown, words: string][] = [
      [undefined, 'nothing'],
      [null, 'null'],
      [[], 'a list'],
      [{}, 'an object'],
      ['a"b', '"a\\"b"'],
      [7, '7'],
      [false, 'false'],
    ];
    for (const [value, words] of shown) assert.equal(show(value), words);
    assert.equal(printable('a\u001b[2J\u202eb\u2028c\nd'), 'a\\u{1b}[2J\\u{202e}b\\u{2028}c\\u{a}d');
    assert.equal(timeText(1), '1970-01-01T00:00:01.000Z');
    assert.equal(timeText(9e15), '9000000000000000 s after 1970');
    assert.equal(timeOf('2026-11-30T23:59:59.999Z'), Date.UTC(2026, 10, 30, 23, 59, 59, 999));
    for (const none of ['2026-11-31T00:00:00.000Z', '2026-11-30T24:00:00.000Z', '2026-11-30', 'x', 5, null])
      assert.equal(timeOf(none), Number.NaN, String(none));
    assert.deepEqual(parsedObject('{"a":1}'), { a: 1 });
    for (const none of ['[]', '7', 'x', 7, undefined]) assert.equal(parsedObject(none), undefined);
    const nested = { a: { b: [1] }, text: 'x' };
    assert.deepEqual(
      [member(nested, 'a', 'b'), listAt(nested, 'a', 'b'), listAt(nested, 'a')],
      [[1], [1], []],
    );
    assert.deepEqual(
      [member(nested, 'toString'), member(null, 'a'), member(nested)],
      [undefined, undefined, nested],
    );
    assert.equal(canonical({ b: [true, null, 'x'], a: 1 }), '{"a":1,"b":[true,null,"x"]}');
    for (const none of [Number.NaN, ['\ud800'], { '\ud800': 1 }, 10n, { a: undefined }])
      assert.equal(canonical(none), undefined);
  });

  it('is refused without an exception, whatever JSON it is', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue(),
        fc.jsonValue(),
        fc.jsonValue(),
        async (response, certificate, keys) => {
          assert.ok(!(await verifyAnswer({ response, certificate, keys })).ok);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('the archive of certificates', () => {
  it('distinguishes an invalid id from an unknown certificate', async () => {
    const { service, world } = await pureAnswer();
    assert.equal(await service.find('cert_short'), 'malformed');
    assert.equal(await service.find('cert_00000000000000000000000000'), 'unknown');
    assert.equal(await service.find(world.ids.textOf(4, 21)), 'unknown', 'no such entry');
    assert.equal(await service.find(world.ids.textOf(5, 0)), 'unknown', 'no such segment');
  });

  it('returns a certificate before it is logged, without a proof', async () => {
    const { service, world } = await pureAnswer();
    const lot = lotRecord('a');
    world.commit(segmentRecord(6, [seededSource(lot.id)], [answerEntry(1)]));
    const found = await service.find(world.ids.textOf(6, 0));
    assert.ok(typeof found === 'object');
    assert.equal(found.certificate.proof, null);
    assert.equal(found.certificate.status, 'valid');
  });
});

it('an answer whose values may have taken more than 2,048 bytes needs no opening, and any other needs one', () => {
  const listed = (count: number, value: unknown, more: object) => ({
    count,
    values: Array(count).fill(value),
    ...more,
  });
  const die = { min: 1, max: 6, unique: false, sort: 'none' };
  const cases: [endpoint: string, data: object, mayTakeMore: boolean][] = [
    ['integers', listed(100, 1, die), false],
    ['integers', listed(10_000, 1, die), true],
    ['integers', listed(900, 10 ** 15, { ...die, min: 10 ** 15, max: 10 ** 15 + 1 }), false],
    ['integers', listed(10_000, 1, { ...die, max: 1 }), false],
    ['integers', listed(1, 1, { ...die, sort: 'none of these' }), false],
    ['integers', { ...listed(1, 1, die), count: 10_000 }, false],
    ['floats', listed(400, 0.5, { precision: null }), true],
    ['strings', listed(10_000, 'a'.repeat(128), { alphabet: 'ab', length: 128 }), true],
    ['bitstring', { length: 100_000, bitstring: '0'.repeat(100_000) }, true],
    ['bytes', { bits: 8_192, bytes: '00'.repeat(1_024), count: 1_024, encoding: 'hex' }, true],
    ['bytes', { bits: 800, bytes: '00'.repeat(100), count: 100, encoding: 'hex' }, false],
    [
      'batch',
      {
        count: 1_000,
        type: 'bytes',
        params: { length: 1_024, encoding: 'hex' },
        values: Array(1_000).fill('00'.repeat(1_024)),
      },
      true,
    ],
    ['shuffle', { count: 10, items: Array(10).fill('a') }, false],
    ['shuffle', { count: 1_000, items: Array(1_000).fill('a') }, true],
  ];
  for (const [endpoint, data, expected] of cases)
    assert.equal(
      mayTakeMore(endpoint, data, 2_048),
      expected,
      `${endpoint} ${JSON.stringify(data).slice(0, 90)}`,
    );
});
