import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CertificateIds } from '../../src/certificate/ids.ts';
import { InvariantError } from '../../src/core/assert.ts';
import { base32Of } from '../../src/core/ids.ts';

const KEY = Uint8Array.from({ length: 32 }, (_, i) => i);
const ids = new CertificateIds(KEY);
const FORM = /^cert_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

describe('CertificateIds', () => {
  it('reads ids of every earlier release', () => {
    // HKDF-SHA-256 and AES-256-ECB, computed by an independent program in another language.
    const given: [segment: number, index: number, node: number, text: string][] = [
      [1, 0, 0, 'cert_0pn4n80gmet93fgwq1x2qwe9mf'],
      [281474976710655, 4294967295, 65535, 'cert_3dpq2x3kyjd1wtdd0b6swesqm9'],
      [123456789012, 42, 3, 'cert_5ncns9gffbg5bag3yn80yqp61q'],
    ];
    for (const [segment, index, node, text] of given) {
      const of = new CertificateIds(KEY, [{ number: node, firstSegment: 0 }]);
      assert.equal(of.textOf(segment, index), text);
      assert.deepEqual(of.placeOf(text), { segment, index });
    }
  });

  it('gives every place an id of the right form, and finds the place by the id', () => {
    const segments = fc.oneof(
      fc.nat(1000),
      fc.maxSafeNat().map((n) => n % 2 ** 48),
    );
    fc.assert(
      fc.property(segments, fc.nat(0xffff_ffff), (segment, index) => {
        const text = ids.textOf(segment, index);
        assert.match(text, FORM);
        assert.deepEqual(ids.placeOf(text), { segment, index });
      }),
    );
    for (const [segment, index] of [
      [0, 0],
      [2 ** 48 - 1, 2 ** 32 - 1],
    ]) {
      assert.deepEqual(ids.placeOf(ids.textOf(segment, index)), { segment, index });
    }
  });

  it('gives the same ids in a batch, from any index on', () => {
    const batch = (from: number, count: number) => {
      const blocks = ids.blocks([{ segment: 7, from, count }]);
      return Array.from(
        { length: count },
        (_, i) => `cert_${base32Of(blocks.subarray(16 * i, 16 * i + 16))}`,
      );
    };
    assert.deepEqual(
      batch(3, 5),
      [3, 4, 5, 6, 7].map((index) => ids.textOf(7, index)),
    );
    assert.deepEqual(batch(0, 0), []);
    assert.equal(new Set(batch(0, 500)).size, 500);
    const first = 2 ** 32 - 1;
    const ranges = [0, 1, 2].map((i) => ({ segment: first + i, from: 3 + i, count: 5 - i }));
    const each = ranges.map((range) => ids.blocks([range]));
    assert.deepEqual(Buffer.from(ids.blocks(ranges)), Buffer.concat(each), 'of several segments');
  });

  it('reports an id of another form as malformed', () => {
    const good = ids.textOf(1, 1);
    const flawed = [
      '',
      'cert_',
      good.slice(1),
      good.slice(0, -1),
      `${good}0`,
      `${good}\n`,
      good.toUpperCase(),
      good.replace('cert_', 'req_'),
      `cert_${'i'.repeat(26)}`,
      `cert_${'u'.repeat(26)}`,
    ];
    for (const text of flawed) assert.equal(ids.placeOf(text), 'malformed', JSON.stringify(text));
  });

  it('reports an id as unknown that it did not issue: of another key or node, changed or made up', () => {
    const good = ids.textOf(1, 1);
    for (const first of '89abcdefghjkmnpqrstvwxyz') {
      assert.equal(ids.placeOf(`cert_${first}${good.slice(6)}`), 'unknown', first);
    }
    assert.equal(new CertificateIds(KEY, [{ number: 1, firstSegment: 0 }]).placeOf(good), 'unknown');
    assert.equal(new CertificateIds(new Uint8Array(32)).placeOf(good), 'unknown');
    for (let at = 5; at < good.length; at++) {
      const other = good[at] === '0' ? '1' : '0';
      assert.equal(
        ids.placeOf(good.slice(0, at) + other + good.slice(at + 1)),
        'unknown',
        `changed at ${at}`,
      );
    }
  });

  it('has a fingerprint that differs between keys, and between nodes', () => {
    const others = [
      new CertificateIds(new Uint8Array(32)),
      new CertificateIds(KEY, [{ number: 1, firstSegment: 0 }]),
      ids,
    ];
    assert.equal(new Set(others.map((each) => each.fingerprint)).size, 3);
    assert.equal(new CertificateIds(KEY).fingerprint, ids.fingerprint);
  });

  it('refuses keys and places that do not fit their widths', () => {
    assert.throws(() => new CertificateIds(new Uint8Array(16)), RangeError);
    assert.throws(() => new CertificateIds(KEY, [{ number: 65_536, firstSegment: 0 }]), InvariantError);
    const [segmentMax, indexMax] = [2 ** 48 - 1, 2 ** 32 - 1];
    for (const [segment, from, count] of [
      [segmentMax + 1, 0, 1],
      [-1, 0, 1],
      [0.5, 0, 1],
      [1, indexMax + 1, 0],
      [1, -1, 1],
      [1, indexMax, 2],
      [1, 0, -1],
    ])
      assert.throws(
        () => ids.blocks([{ segment, from, count }]),
        InvariantError,
        `${segment} ${from} ${count}`,
      );
    assert.equal(ids.blocks([{ segment: segmentMax, from: indexMax - 1, count: 2 }]).length, 32);
  });

  it('returns the newest incarnation that a segment belongs to', () => {
    const all = [0, 3, 9].map((number, i) => ({ number, firstSegment: 100 * i }));
    const of = new CertificateIds(KEY, all);
    for (const [segment, number] of [
      [0, 0],
      [99, 0],
      [100, 3],
      [199, 3],
      [200, 9],
    ]) {
      const own = new CertificateIds(KEY, [{ number, firstSegment: 0 }]);
      const one = { segment, from: 0, count: 1 };
      if (segment > 0)
        assert.deepEqual(of.blocks([{ ...one, segment: segment - 1 }, one]).slice(16), own.blocks([one]));
      assert.equal(of.textOf(segment, 1), own.textOf(segment, 1));
      assert.deepEqual(of.placeOf(own.textOf(segment, 1)), { segment, index: 1 });
    }
  });
});
