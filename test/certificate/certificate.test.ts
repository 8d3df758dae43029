import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { IssuedCertificate } from '../../src/certificate/certificate-members.ts';
import {
  type CertificateDocument,
  certificateDocument,
  type LotProof,
} from '../../src/certificate/document.ts';
import { CertificateIds } from '../../src/certificate/ids.ts';
import { LeafHasher } from '../../src/certificate/leaf.ts';
import { certifiedLot } from '../../src/certificate/lot-leaf.ts';
import { provenanceMeaning } from '../../src/certificate/meanings.ts';
import { canonicalText } from '../../src/certificate/members.ts';
import { certificateOf } from '../../src/certificate/record.ts';
import { resultOf } from '../../src/certificate/windows.ts';
import { type BareType, DATA_ENDPOINTS, ENTROPY_MODES } from '../../src/core/vocabulary.ts';
import { leafHash } from '../../src/crypto/merkle.ts';
import {
  type AnswerEntry,
  type DrawnRange,
  type DrawSource,
  type LotRecord,
  nistVerified,
  SEED_BLOCK_BYTES,
  type SegmentContext,
} from '../../src/ledger/records.ts';
import { SYSTEM_SAMPLE_INTERVAL_MS } from '../../src/pool/intake/system-sample.ts';
import {
  answerEntry,
  CONTEXT,
  lotRecord,
  lotWithEvidence,
  sampleLot,
  seededSource,
  segmentRecord,
  TIME_MS,
  tested,
} from './fixtures.ts';

const ID = 'cert_01234567890123456789abcdef';

interface Issued {
  readonly mode?: DrawSource['mode'];
  readonly drawn?: readonly DrawnRange[];
  readonly entry?: Partial<AnswerEntry>;
  readonly context?: SegmentContext;
}

function sourceOf(lots: readonly LotRecord[], { mode = 'quantum-seeded', drawn }: Issued): DrawSource {
  const whole = lots.map((_, lot) => ({ lot, offset: 0, bytes: 32 }));
  const lotIds = lots.map(({ id }) => id);
  return { mode, lotIds, drawn: drawn ?? (mode === 'csprng' ? [] : whole) };
}

function issue(lots: readonly LotRecord[], how: Issued = {}): IssuedCertificate {
  const source = sourceOf(lots, how);
  const facts = { source, lots: lots.map(certifiedLot), context: how.context ?? CONTEXT };
  return certificateOf(ID, answerEntry(1, { mode: source.mode, ...how.entry }), facts);
}

function documentOf(lots: readonly LotRecord[], how: Issued = {}): CertificateDocument {
  return certificateDocument(issue(lots, how), SHOWN, lots.map(proofOf), []);
}

function proofOf(lot: LotRecord): LotProof {
  return { leaf: certifiedLot(lot).leaf, proof: null, runs: [] };
}

const SHOWN = { verifyUrlBase: 'https://qrn.example/verify', proof: null };
const PURE = { mode: 'pure' } as const;
const CSPRNG = { mode: 'csprng' } as const;

describe('a certificate', () => {
  it('keeps the bytes of its leaf, in each mode', () => {
    const lots = [lotWithEvidence('a', 'calibrated'), lotRecord('b', { jobId: null })];
    const openssl = { ...CONTEXT, systemGenerator: 'openssl' } as const;
    const leaves = [
      issue(lots, PURE),
      issue(lots.slice(1)),
      issue(lots.slice(1), { context: openssl }),
      issue([sampleLot('c')], CSPRNG),
    ].map(canonicalText);
    const golden = readFileSync(
      new URL('../vectors/certificate/leaf-certificate.jsonl', import.meta.url),
      'utf8',
    );
    assert.equal(`${leaves.join('\n')}\n`, golden);
  });

  it('of several lots has the weakest estimate, and none if one lot was not assessed', () => {
    const [good, weak] = [
      lotRecord('a', { minEntropyPerBit: 0.9 }),
      lotRecord('b', { minEntropyPerBit: 0.7 }),
    ];
    const unknown = lotRecord('c', { minEntropyPerBit: null });
    assert.equal(issue([good, weak], PURE).verification.min_entropy_per_bit, 0.7);
    assert.equal(issue([good, unknown], PURE).verification.min_entropy_per_bit, null);
  });
});

describe('the result of SP 800-22', () => {
  const seedAt = (index: number): Issued => ({ drawn: [{ lot: 0, offset: 32 * index, bytes: 32 }] });
  const pureAt = (offset: number, bytes: number): Issued => ({ ...PURE, drawn: [{ lot: 0, offset, bytes }] });

  it('covers every byte as counting the erased bytes one by one does', () => {
    const window = fc.record({
      from: fc.nat(40),
      bytes: fc.integer({ min: 1, max: 30 }),
      failed: fc.boolean(),
      passed: fc.nat(9),
    });
    fc.assert(
      fc.property(
        fc.array(window, { maxLength: 5 }),
        fc.nat(60),
        fc.integer({ min: 1, max: 30 }),
        (made, from, bytes) => {
          // a window counts as failed from 10^6 bits on: one such "byte" here stands for 125,000
          const unit = 125_000;
          const list = made.map((each) => ({
            ...tested('conditioned', {
              firstBit: each.from * unit * 8,
              bits: each.bytes * unit * 8,
              passed: each.passed,
              total: 9,
              verified: !each.failed,
            }),
          }));
          const { leaf } = certifiedLot(lotRecord('a', { assessments: list }));
          const kept: number[] = [];
          for (let at = 0; at < 70; at++) {
            const isErased = made.some(
              (each) => each.failed && at >= each.from && at < each.from + each.bytes,
            );
            if (!isErased) kept.push(at);
          }
          const places = kept.slice(from, from + bytes);
          const sound = made.filter((each) => !each.failed);
          const holds = (each: (typeof made)[number], at: number) =>
            at >= each.from && at < each.from + each.bytes;
          const touched = sound.filter((each) => places.some((at) => holds(each, at)));
          const isCovered = places.every((at) => sound.some((each) => holds(each, at)));
          const isInside = from + bytes <= kept.length;
          const result = resultOf({ ...leaf, seeds: { count: 0, root: '' } }, 'pure', [
            { offset: from * unit, bytes: bytes * unit },
          ]);
          if (!isInside) return;
          assert.equal(
            result?.passed,
            touched.length === 0 ? undefined : touched.reduce((sum, each) => sum + each.passed, 0),
          );
          if (result !== undefined) assert.equal(result.verified, isCovered);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('is verified for every draw from a lot whose served bytes have all passed, and for no other', () => {
    const whole = tested('conditioned', { passed: 180 });
    const last = tested('conditioned', { firstBit: 600_000 });
    const failed = tested('conditioned', { firstBit: 0, passed: 3, verified: false });
    const short = tested('conditioned', { bits: 800_000, verified: false });
    for (const assessments of [[whole, last], [failed, last], [short], [tested('raw')], [failed]]) {
      const lot = lotRecord('a', { assessments });
      const draws: Issued[] = [seedAt(0), seedAt(4), pureAt(0, 16), pureAt(8_688, 16)];
      for (const draw of draws)
        assert.equal(issue([lot], draw).verification.nist_verified, nistVerified(lot));
    }
    assert.equal(SEED_BLOCK_BYTES, 32);
  });
});

describe('the wording of a certificate', () => {
  const meaningOf = (lots: readonly LotRecord[], how: Issued = {}) =>
    provenanceMeaning(documentOf(lots, how));

  it('says of a declared device that nothing attests it, even if only one of several lots is declared', () => {
    const device = { origin: 'qrng-device' } as const;
    const declared = lotRecord('a', { ...device, isDeclared: true });
    const words = meaningOf([lotRecord('b', device), declared], PURE);
    assert.match(words, /operator declares to be quantum; nothing attests it\./);
    assert.doesNotMatch(words, /from a quantum random number device/);
    assert.match(meaningOf([lotRecord('b', device)], PURE), /from a quantum random number device/);
  });

  it('says of csprng that the lot is a renewed sample of this process’s own stream', () => {
    const hours = SYSTEM_SAMPLE_INTERVAL_MS / 3_600_000;
    const words = meaningOf([sampleLot('a')], CSPRNG);
    assert.match(
      words,
      new RegExp(
        `is a sample .*own stream in the same way, not the bytes used; it is renewed every ${hours} hours`,
      ),
    );
    assert.match(words, /no quantum origin/);
  });
});

describe('status', () => {
  it('is valid, test for a deterministic source, and revoked when any lot was withdrawn', () => {
    const lots = [lotRecord('a'), lotRecord('b')];
    const test = [lotRecord('a', { deterministic: true }), lotRecord('b')];
    const other = { lotId: lotRecord('c').id, why: 'unrelated', atMs: TIME_MS };
    const withdrawn = { lotId: lots[1].id, why: 'detector fault', atMs: TIME_MS };
    const shown = (drawn: readonly LotRecord[], revocations: (typeof other)[]) =>
      certificateDocument(issue(drawn, PURE), SHOWN, drawn.map(proofOf), revocations);
    assert.equal(shown(lots, [other]).certificate.status, 'valid');
    assert.equal(shown(test, []).certificate.status, 'test');
    for (const each of [lots, test]) {
      const document = shown(each, [other, withdrawn]);
      assert.equal(document.certificate.status, 'revoked');
      assert.deepEqual(document.revocation, {
        lot_id: lots[1].id,
        reason: 'detector fault',
        revoked_at: '2026-11-21T08:30:00.123Z',
      });
    }
  });
});

describe('LeafHasher', () => {
  const ids = new CertificateIds(new Uint8Array(32).fill(3));

  it("gives the hash of the leaf's text for any entry from any source", () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 12 });
    const windows = [
      tested('conditioned', { bits: 32_000, passed: 180 }),
      tested('conditioned', { firstBit: 32_000, passed: 5, verified: false }),
      tested('conditioned', { firstBit: 1_032_000, passed: 187 }),
    ];
    const lots = [
      lotRecord('a'),
      lotRecord('b', { origin: 'quantum-processor', jobId: null, minEntropyPerBit: null }),
      lotWithEvidence('c', 'calibrated', { assessments: windows }),
      lotWithEvidence('d', 'statistical', { assessments: [] }),
    ];
    const piece = fc.nat({ max: 542 });
    const source = fc.record({
      mode: fc.constantFrom(...ENTROPY_MODES),
      lots: fc.array(fc.constantFrom(...lots), { minLength: 1, maxLength: 3 }),
      circuit: text,
      drawn: fc.array(fc.record({ piece, bytes: fc.constantFrom(16, 32) }), { minLength: 3, maxLength: 3 }),
      systemGenerator: fc.constantFrom('kernel' as const, 'openssl' as const),
    });
    const octets = fc.constantFrom<BareType | undefined>(undefined, 'int32', 'csv');
    const entry = fc.record({
      requestId: fc.uint8Array({ minLength: 16, maxLength: 16 }),
      delivered: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      issuedAtMs: fc.nat({ max: 4_000_000_000_000 }),
      endpoint: fc.constantFrom(...DATA_ENDPOINTS),
      octets,
      source: fc.nat(1),
    });
    const hasher = new LeafHasher(ids); // one for all runs: what it keeps must never leak from one into another
    fc.assert(
      fc.property(
        fc.tuple(source, source),
        fc.array(entry, { minLength: 1, maxLength: 12 }),
        fc.nat(),
        (of, made, sequence) => {
          const named = new Map<string, ReturnType<typeof certifiedLot>>();
          const sources = of.map((each, i): DrawSource => {
            const taken = each.mode === 'pure' ? each.lots : each.lots.slice(0, 1);
            const lotIds = taken.map((lot) => {
              const id = `${lot.id} ${i} ${each.circuit}`;
              const own = { id, circuit: each.circuit };
              named.set(id, certifiedLot(each.mode === 'csprng' ? sampleLot('s', own) : { ...lot, ...own }));
              return id;
            });
            const drawn = {
              pure: taken.map((_, lot) => ({
                lot,
                offset: 16 * each.drawn[lot].piece,
                bytes: each.drawn[lot].bytes,
              })),
              'quantum-seeded': [{ lot: 0, offset: 32 * (each.drawn[0].piece % 5), bytes: 32 }],
              csprng: [],
            }[each.mode];
            return { mode: each.mode, lotIds, drawn };
          });
          const entries = made.map((each, i) => answerEntry(i, { ...each, mode: of[each.source].mode }));
          const context = { ...CONTEXT, systemGenerator: of[0].systemGenerator };
          const segment = segmentRecord(sequence + 1, sources, entries, context);
          const lotOf = (id: string) => named.get(id)!;
          const plain = entries.map((each, i) => {
            const from = sources[each.source];
            const facts = { source: from, lots: from.lotIds.map(lotOf), context };
            const certificate = certificateOf(ids.textOf(segment.sequence, i), each, facts);
            return leafHash(Buffer.from(canonicalText(certificate)));
          });
          assert.equal(hex(hasher.leavesOf([segment], lotOf).hashes), plain.map(hex).join(''));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('hashes the leaves of large segments with several templates, labels and text lengths in order', () => {
    const long = certifiedLot(lotRecord('b', { circuit: 'x'.repeat(70_000) }));
    const lots = new Map([certifiedLot(lotRecord('a')), long].map((lot) => [lot.leaf.lot_id, lot]));
    const sources = [...lots.keys()].map((id) => seededSource(id));
    const lotOf = (id: string) => lots.get(id)!;
    const entries = Array.from({ length: 1_100 }, (_, i): AnswerEntry => {
      const label = i % 300 === 7 ? { label: { isPublic: true, userData: `of ${i}` } } : {};
      const endpoint = DATA_ENDPOINTS[(i >> 2) % 3];
      return answerEntry(i, {
        endpoint,
        source: Number(i % 250 === 3),
        issuedAtMs: TIME_MS + (i >> 4),
        ...label,
      });
    });
    const segments = [1, 7].map((sequence) => segmentRecord(sequence, sources, entries));
    const plain = segments.flatMap(({ sequence }) =>
      entries.map((each, i) => {
        const source = sources[each.source];
        const facts = { source, lots: source.lotIds.map(lotOf), context: CONTEXT };
        return leafHash(Buffer.from(canonicalText(certificateOf(ids.textOf(sequence, i), each, facts))));
      }),
    );
    const { hashes, latestMs } = new LeafHasher(ids).leavesOf(segments, lotOf);
    assert.equal(hex(hashes), plain.map(hex).join(''));
    assert.equal(latestMs, TIME_MS + (1_099 >> 4));
  });

  it('does not overwrite text of a lot that looks like a member', () => {
    const lot = certifiedLot(lotRecord('a', { circuit: '"request_id":"req_' }));
    const source = seededSource(lot.leaf.lot_id);
    const entry = answerEntry(1);
    const plain = certificateOf(ids.textOf(1, 0), entry, { source, lots: [lot], context: CONTEXT });
    const { hashes } = new LeafHasher(ids).leavesOf([segmentRecord(1, [source], [entry])], () => lot);
    assert.equal(hex(hashes), hex(leafHash(Buffer.from(canonicalText(plain)))));
  });
});

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
