import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { certificateDocument } from '../../src/certificate/document.ts';
import { CertificateIds } from '../../src/certificate/ids.ts';
import { canonicalText, LeafHasher } from '../../src/certificate/leaf.ts';
import { type Certificate, certificateOf, originOf } from '../../src/certificate/record.ts';
import { InvariantError } from '../../src/core/assert.ts';
import { DATA_ENDPOINTS, ENTROPY_MODES, ORIGINS, TIERS } from '../../src/core/vocabulary.ts';
import { sha256 } from '../../src/crypto/digest.ts';
import { leafHash } from '../../src/crypto/merkle.ts';
import {
  type AnswerEntry,
  type DrawSource,
  EVIDENCE_LEVELS,
  type EvidenceLevel,
  type LotRecord,
  type SegmentContext,
} from '../../src/ledger/records.ts';
import { SYSTEM_SAMPLE_INTERVAL_MS } from '../../src/pool/intake/system-sample.ts';
import {
  answerEntry,
  CONTEXT,
  lotEvidence,
  lotRecord,
  lotWithEvidence,
  seededSource,
  segmentRecord,
  TIME_MS,
} from './fixtures.ts';

fc.configureGlobal({ seed: 20_261_121 });

const ID = 'cert_01234567890123456789abcdef';

function issue(
  lots: LotRecord[],
  source: Partial<DrawSource> = {},
  entry: Partial<AnswerEntry> = {},
): Certificate {
  return issueWith(CONTEXT, lots, source, entry);
}

function issueWith(
  context: SegmentContext,
  lots: LotRecord[],
  source: Partial<DrawSource> = {},
  entry: Partial<AnswerEntry> = {},
): Certificate {
  const of = { ...seededSource(...lots.map((lot) => lot.id)), ...source };
  return certificateOf(ID, answerEntry(1, { mode: of.mode, ...entry }), { source: of, lots, context });
}

const PURE = { mode: 'pure', generation: null } as const;
const CSPRNG = { mode: 'csprng', generation: null } as const;
const system = lotRecord('s', {
  origin: 'system',
  source: 'system',
  circuit: 'none',
  circuitVersion: 'none',
  quantumBackend: 'none',
});
/** A sample of the csprng stream, as this release tests it. */
const sampled = lotRecord('t', {
  ...system,
  id: lotRecord('t').id,
  device: '/dev/urandom, expanded by ChaCha20',
  qubitsUsed: 0,
  circuitDepth: 0,
  rawWindows: 1,
  assessments: system.assessments.slice(1).map((each) => ({ ...each, of: 'system', firstBit: 0 })),
});

describe('a certificate', () => {
  it('keeps the leaf of version 1 to the byte', () => {
    const golden = readFileSync(
      new URL('../vectors/certificate/leaf-v1.json', import.meta.url),
      'utf8',
    ).trimEnd();
    assert.equal(canonicalText(issue([lotRecord('a'), lotRecord('b', { jobId: null })], PURE)), golden);
  });

  it('has every field that the specification names, of its type', () => {
    const certificate = issue([lotRecord('a')]);
    assert.equal(certificate.id, ID);
    assert.equal(certificate.issued_at, '2026-11-21T08:30:00.124Z');
    assert.match(certificate.request_id, /^req_[0-9a-hjkmnp-tv-z]{26}$/);
    assert.equal(certificate.verify_url, `https://qrn.example/verify/${ID}`);
    const { provenance, verification, hashes } = certificate;
    assert.deepEqual(
      [provenance.lang_circuit, provenance.lang_version, provenance.quantum_backend],
      ['superposition-16', '1.0.0', 'simulator-statevector'],
    );
    assert.deepEqual([provenance.qubits_used, provenance.circuit_depth], [16, 1]);
    assert.equal(verification.nist_sp800_22, '186/188 passed', 'of the block that answers are drawn from');
    assert.equal(verification.dieharder, 'not implemented');
    assert.equal(verification.min_entropy_per_bit, 0.8561);
    for (const digest of Object.values(hashes)) assert.match(digest, /^sha256:[0-9a-f]{64}$/);
    assert.equal(hashes.delivered, `sha256:${'01'.repeat(32)}`);
    assert.equal(hashes.raw_output, provenance.lots[0].raw_output, 'one lot: its own hash');
    assert.deepEqual(provenance.generation, { tier: 'pro', number: 7 });
  });

  it('joins the digests of several lots in order, with the weakest estimate and origin and all tests', () => {
    const lots = [
      lotRecord('a', { origin: 'quantum-processor', minEntropyPerBit: 0.9 }),
      lotRecord('b', { minEntropyPerBit: 0.7 }),
    ];
    const { hashes, provenance, verification } = issue(lots, PURE);
    for (const [name, digests] of [
      ['raw_output', lots.map((lot) => lot.rawSha256)],
      ['processed', lots.map((lot) => lot.processedSha256)],
    ] as const) {
      const joined = createHash('sha256')
        .update(Buffer.from(digests.join(''), 'hex'))
        .digest('hex');
      assert.equal(hashes[name], `sha256:${joined}`);
    }
    assert.deepEqual(
      provenance.lots.map((lot) => [lot.id, lot.origin]),
      lots.map((lot) => [lot.id, lot.origin]),
    );
    assert.equal(provenance.origin, 'simulated');
    assert.equal(provenance.shots, 131_072);
    assert.equal(verification.min_entropy_per_bit, 0.7);
    assert.equal(verification.nist_sp800_22, '372/376 passed');
    assert.notEqual(hashes.raw_output, issue(lots.toReversed(), PURE).hashes.raw_output, 'order matters');
  });

  it('never has a stronger origin than the weakest of its lots', () => {
    for (const [i, strong] of ORIGINS.entries()) {
      for (const weak of ORIGINS.slice(i)) {
        const lots = [lotRecord('a', { origin: strong }), lotRecord('b', { origin: weak })];
        assert.equal(originOf(lots), weak);
        assert.equal(originOf(lots.toReversed()), weak);
      }
    }
  });

  it('states no origin for csprng, whatever its lot says', () => {
    for (const lot of [system, lotRecord('a')]) {
      const { provenance } = issue([lot], { mode: 'csprng', generation: null });
      const { lang_circuit, lang_version, quantum_backend, qubits_used, circuit_depth } = provenance;
      assert.deepEqual([lang_circuit, lang_version, quantum_backend], ['none', 'none', 'none']);
      assert.deepEqual([qubits_used, circuit_depth], [0, 0]);
    }
  });

  it('says in words what the origin and the mode mean', () => {
    assert.match(issue([lotRecord('a')]).provenance.meaning, /no quantum hardware/);
    assert.match(
      issue([system], { mode: 'csprng', generation: null }).provenance.meaning,
      /no quantum origin/,
    );
    assert.match(issue([lotRecord('a')], PURE).provenance.meaning, /nothing else/);
  });

  it('does not say that what was not tested has passed', () => {
    const [raw, conditioned] = lotRecord('a').assessments;
    const short = {
      ...conditioned,
      bits: 100,
      sp80022: { ...conditioned.sp80022, verified: false, reason: 'too few bits' },
    };
    const cases: [lots: LotRecord[], text: string, verified: boolean][] = [
      [[lotRecord('a', { assessments: [] })], 'not tested', false],
      [[lotRecord('a', { assessments: [raw] })], 'not tested', false],
      [[lotRecord('a'), lotRecord('b', { assessments: [raw] })], 'not tested', false],
      [[lotRecord('a', { assessments: [raw, short] })], '186/188 passed', false],
      [[lotRecord('a'), lotRecord('b', { assessments: [raw, short] })], '372/376 passed', false],
    ];
    for (const [lots, text, verified] of cases) {
      const { verification, provenance } = issue(lots, PURE);
      assert.deepEqual([verification.nist_sp800_22, verification.nist_verified], [text, verified]);
      for (const tested of provenance.lots.flatMap((lot) => lot.tested)) {
        assert.equal(tested.reason, tested.verified ? undefined : 'too few bits');
      }
    }
    const unknown = issue([lotRecord('a'), lotRecord('b', { minEntropyPerBit: null })], PURE);
    assert.equal(unknown.verification.min_entropy_per_bit, null);
  });

  it('refuses lots that are not those the source names, and no lots at all', () => {
    const lot = lotRecord('a');
    const facts = { source: seededSource(lot.id), lots: [lotRecord('b')], context: CONTEXT };
    assert.throws(() => certificateOf(ID, answerEntry(1), facts), InvariantError);
    assert.throws(() => issue([]), InvariantError);
    assert.throws(() => issue([lot], {}, { mode: 'pure' }), InvariantError);
    assert.throws(() => issue([lotRecord('a', { processedSha256: '' })]), InvariantError);
  });
});

describe('version 2', () => {
  it('keeps the leaf of version 2 to the byte', () => {
    const golden = readFileSync(
      new URL('../vectors/certificate/leaf-v2.json', import.meta.url),
      'utf8',
    ).trimEnd();
    const lots = [lotWithEvidence('a', 'calibrated'), lotWithEvidence('b', 'calibrated')];
    assert.equal(canonicalText(issue(lots, PURE)), golden);
  });

  it('is version 1, what was read and the evidence, and nothing else', () => {
    const lots = [lotWithEvidence('a', 'calibrated'), lotWithEvidence('b', 'calibrated')];
    const { version, provenance, ...rest } = issue(lots, PURE);
    const without = lots.map(({ evidence: _, ...lot }) => lot);
    const { version: before, provenance: provenanceBefore, ...restBefore } = issue(without, PURE);
    assert.deepEqual([version, before], [2, 1]);
    assert.deepEqual(rest, restBefore);
    const { evidence, meaning, lots: certified, ...facts } = provenance;
    const { meaning: meaningBefore, lots: certifiedBefore, ...factsBefore } = provenanceBefore;
    assert.deepEqual(facts, factsBefore);
    assert.equal(evidence, 'calibrated');
    assert.equal(
      meaning,
      `${meaningBefore} Evidence: published readout errors and the lots’ own shots, assuming pure states, and bits that are independent and identically distributed.`,
    );
    assert.deepEqual(
      certified.map(({ evidence: _, read: __, ...lot }) => lot),
      certifiedBefore,
    );
    assert.deepEqual(certified[0].read, {
      source: 'simulator',
      provider: 'local',
      device: 'statevector-16',
      lang_circuit: 'superposition-16',
      lang_version: '1.0.0',
      circuit_sha256: `sha256:${'c'.repeat(64)}`,
      qubits_used: 16,
      circuit_depth: 1,
      shots: 65_536,
      calibration: {
        id: 'cal-7',
        date: '2026-11-20T06:00:00Z',
        digest: `sha256:${createHash('sha256').update('{"date":"2026-11-20T06:00:00Z","id":"cal-7","readout_e01":[0.004,0.25]}').digest('hex')}`,
      },
    });
    const { minEntropyPerBit, notReached, ...same } = lotEvidence('calibrated');
    assert.deepEqual(certified[0].evidence, {
      ...same,
      min_entropy_per_bit: minEntropyPerBit,
      not_reached: notReached,
    });
  });

  it('names the weakest claim of its lots, in any order', () => {
    for (const [i, weak] of EVIDENCE_LEVELS.entries()) {
      for (const strong of EVIDENCE_LEVELS.slice(i)) {
        const lots = [lotWithEvidence('a', strong), lotWithEvidence('b', weak)];
        assert.equal(issue(lots, PURE).provenance.evidence, weak);
        assert.equal(issue(lots.toReversed(), PURE).provenance.evidence, weak);
      }
    }
  });

  it('is of version 1, byte for byte as before, when one lot has no evidence', () => {
    const old = lotRecord('b');
    const lots = [lotWithEvidence('a', 'calibrated'), old];
    const mixed = issue(lots, PURE);
    const { evidence: _, ...bare } = lots[0];
    assert.equal(canonicalText(mixed), canonicalText(issue([bare, old], PURE)));
    assert.equal(mixed.version, 1);
  });

  it('says what the claim rests on', () => {
    const meaningOf = (claim: EvidenceLevel) => issue([lotWithEvidence('a', claim)]).provenance.meaning;
    assert.match(meaningOf('simulated'), /no quantum hardware.*Evidence: none of a quantum origin\.$/);
    assert.match(meaningOf('calibrated'), /independent and identically distributed\.$/);
    assert.equal(new Set(EVIDENCE_LEVELS.map(meaningOf)).size, EVIDENCE_LEVELS.length);
  });
});

describe('status', () => {
  it('is valid, test for a deterministic source, and revoked when any lot was withdrawn', () => {
    const lots = [lotRecord('a'), lotRecord('b')];
    const valid = issue(lots, PURE);
    const test = issue([lotRecord('a', { deterministic: true }), lotRecord('b')], PURE);
    const other = { lotId: lotRecord('c').id, why: 'unrelated', atMs: TIME_MS };
    const withdrawn = { lotId: lots[1].id, why: 'detector fault', atMs: TIME_MS };
    assert.equal(certificateDocument(valid, null, [other]).certificate.status, 'valid');
    assert.equal(certificateDocument(test, null, []).certificate.status, 'test');
    for (const certificate of [valid, test]) {
      const document = certificateDocument(certificate, 'proof', [other, withdrawn]);
      assert.equal(document.certificate.status, 'revoked');
      assert.deepEqual(document.revocation, {
        lot_id: lots[1].id,
        reason: 'detector fault',
        revoked_at: '2026-11-21T08:30:00.123Z',
      });
    }
  });

  it('stands with the proof beside what was issued, and changes nothing of it', () => {
    const certificate = issue([lotRecord('a')]);
    const { status, proof, ...issued } = certificateDocument(certificate, null, []).certificate;
    assert.deepEqual([status, proof], ['valid', null]);
    assert.equal(canonicalText(issued), canonicalText(certificate));
  });
});

describe('LeafHasher', () => {
  const ids = new CertificateIds(new Uint8Array(32).fill(3));

  it('gives the hash of the text of the leaf for any entry from any source', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 12 });
    const lots = [
      lotRecord('a'),
      lotRecord('b', { origin: 'quantum-processor', jobId: null, minEntropyPerBit: null }),
      lotWithEvidence('c', 'calibrated'),
      lotWithEvidence('d', 'statistical'),
      system,
      sampled,
    ];
    const range = fc.record({ lot: fc.constant(0), offset: fc.nat({ max: 2 ** 20 }), bytes: fc.nat() });
    const source = fc.record({
      mode: fc.constantFrom(...ENTROPY_MODES),
      lots: fc.array(fc.constantFrom(...lots), { minLength: 1, maxLength: 3 }),
      generation: fc.option(fc.record({ tier: fc.constantFrom(...TIERS), number: fc.nat() })),
      device: text,
      drawn: fc.option(fc.array(range, { minLength: 1, maxLength: 3 }), { nil: undefined }),
    });
    const entry = fc.record({
      requestId: fc.uint8Array({ minLength: 16, maxLength: 16 }),
      delivered: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      issuedAtMs: fc.nat({ max: 4_000_000_000_000 }),
      endpoint: fc.constantFrom(...DATA_ENDPOINTS),
      source: fc.nat(1),
    });
    const hasher = new LeafHasher(ids); // one for all runs: what it keeps must never leak from one into another
    fc.assert(
      fc.property(
        fc.tuple(source, source),
        fc.array(entry, { minLength: 1, maxLength: 12 }),
        fc.nat(),
        (of, made, sequence) => {
          const named = new Map<string, LotRecord>();
          const sources = of.map((each, i) => ({
            mode: each.mode,
            generation: each.generation,
            ...(each.drawn && { drawn: each.drawn }),
            lotIds: each.lots.map((lot) => {
              const id = `${lot.id} ${i} ${each.device}`;
              named.set(id, { ...lot, id, device: each.device });
              return id;
            }),
          }));
          const entries = made.map((each, i) => answerEntry(i, { ...each, mode: of[each.source].mode }));
          const segment = segmentRecord(sequence + 1, sources, entries);
          const lotOf = (id: string) => named.get(id)!;
          const plain = entries.map((each, i) => {
            const drawn = sources[each.source];
            const facts = { source: drawn, lots: drawn.lotIds.map(lotOf), context: segment.context };
            const certificate = certificateOf(ids.textOf(segment.sequence, i), each, facts);
            return leafHash(sha256, Buffer.from(canonicalText(certificate)));
          });
          assert.deepEqual(hasher.leavesOf(segment, lotOf).hashes.map(hex), plain.map(hex));
        },
      ),
      { numRuns: 150 },
    );
  });

  it('hashes another text where the configuration differs', () => {
    const lot = lotRecord('a');
    const hasher = new LeafHasher(ids);
    const segment = segmentRecord(1, [seededSource(lot.id)], [answerEntry(1)]);
    const contexts = [
      segment.context,
      { ...segment.context, poweredBy: 'other' },
      { ...segment.context, verifyUrlBase: 'https://other.example' },
    ];
    const hashes = contexts.map((context) =>
      hex(hasher.leavesOf({ ...segment, context }, () => lot).hashes[0]),
    );
    assert.equal(new Set(hashes).size, 3);
  });

  it('throws for a text with the marks of the template in it, and hashes no wrong leaf', () => {
    for (const device of ['\uE000'.repeat(26), 'x\uE003', '\uE002']) {
      const lot = lotRecord('a', { device });
      const segment = segmentRecord(1, [seededSource(lot.id)], [answerEntry(1)]);
      assert.throws(() => new LeafHasher(ids).leavesOf(segment, () => lot), InvariantError);
    }
  });
});

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

describe('version 3', () => {
  const assessed = (name: string, changes: Partial<LotRecord> = {}): LotRecord => ({
    ...lotWithEvidence(name, 'calibrated'),
    rawWindows: 10,
    ...changes,
  });

  it('is version 2, the tested windows and whether its origin is declared', () => {
    const lot = assessed('a');
    const windows = lot.assessments.map((each) => ({
      ...each,
      firstBit: 1_000_000,
      order: 'channels' as const,
    }));
    const { version, provenance, verification } = issue([{ ...lot, assessments: windows }], PURE);
    const { version: before, provenance: provenanceBefore } = issue(
      [lotWithEvidence('a', 'calibrated')],
      PURE,
    );
    assert.deepEqual([version, before], [3, 2]);
    const { lots: certified, ...facts } = provenance;
    const { lots: certifiedBefore, ...factsBefore } = provenanceBefore;
    assert.deepEqual(facts, factsBefore);
    const [{ declared, raw_windows: rawWindows, tested, ...rest }] = certified;
    assert.deepEqual([declared, rawWindows], [false, 10]);
    const [{ tested: testedBefore, ...restBefore }] = certifiedBefore;
    assert.deepEqual(rest, restBefore);
    assert.deepEqual(
      tested,
      testedBefore.map((each) => ({ ...each, first_bit: 1_000_000, order: 'channels' })),
    );
    assert.match(verification.meaning, / nist_verified is about the blocks drawn on: /);
  });

  it('is given only when every bit of every lot was assessed', () => {
    const old = lotWithEvidence('b', 'calibrated');
    assert.equal(issue([assessed('a'), old], PURE).version, 2);
    const { evidence: _, ...none } = assessed('c');
    assert.equal(issue([none], PURE).version, 1);
  });

  it('says of a declared device that nothing attests it, also when only one lot of several is declared', () => {
    const device = { origin: 'qrng-device' } as const;
    const declared = assessed('a', { ...device, isDeclared: true });
    const { provenance } = issue([assessed('b', device), declared], PURE);
    assert.deepEqual(
      provenance.lots.map((lot) => lot.declared),
      [false, true],
    );
    assert.match(provenance.meaning, /operator declares to be quantum; nothing attests it\./);
    assert.doesNotMatch(provenance.meaning, /from a quantum random number device/);
    const processor = assessed('a', { origin: 'quantum-processor', isDeclared: true });
    assert.match(issue([processor], PURE).provenance.meaning, /operator declares to be quantum/);
    assert.match(
      issue([assessed('b', device)], PURE).provenance.meaning,
      /from a quantum random number device/,
    );
  });

  it('keeps the leaf of version 3 to the byte, in each mode', () => {
    const golden = readFileSync(
      new URL('../vectors/certificate/leaf-v3.jsonl', import.meta.url),
      'utf8',
    ).trimEnd();
    const lots = [assessed('a'), assessed('b', { isDeclared: true, origin: 'qrng-device' })];
    const context = { ...CONTEXT, systemGenerator: 'kernel' } as const;
    const leaves = [
      issueWith(context, lots, PURE),
      issueWith(context, [lots[0]]),
      issueWith({ ...context, systemGenerator: 'openssl' }, [lots[0]]),
      issueWith(context, [sampled], CSPRNG),
      issueWith({ ...context, systemGenerator: 'openssl' }, [sampled], CSPRNG),
    ].map(canonicalText);
    assert.equal(leaves.join('\n'), golden);
  });

  it('names the generator of the system where system entropy took part, and what follows without a kernel', () => {
    const kernel = { ...CONTEXT, systemGenerator: 'kernel' } as const;
    const openssl = { ...CONTEXT, systemGenerator: 'openssl' } as const;
    const lot = assessed('a');
    const seeded = issueWith(kernel, [lot]).provenance;
    assert.equal(seeded.system_entropy, 'kernel');
    assert.match(
      seeded.meaning,
      /mixed with system entropy\. System entropy: read from the kernel’s generator\./,
    );
    for (const certificate of [issueWith(openssl, [lot]), issueWith(openssl, [sampled], CSPRNG)]) {
      assert.equal(certificate.provenance.system_entropy, 'openssl');
      assert.match(certificate.provenance.meaning, /OpenSSL’s generator in the memory of the process/);
    }
    assert.ok(!('system_entropy' in issueWith(kernel, [lot], PURE).provenance), 'pure takes none');
    assert.ok(
      !('system_entropy' in issue([lot]).provenance),
      'a segment of an earlier release does not tell',
    );
  });

  it('says of csprng that the lot is a renewed sample of this process’s own stream, and claims no evidence', () => {
    const context = { ...CONTEXT, systemGenerator: 'kernel' } as const;
    const { version, provenance, verification } = issueWith(context, [sampled], CSPRNG);
    assert.equal(version, 3);
    const hours = SYSTEM_SAMPLE_INTERVAL_MS / 3_600_000;
    assert.match(
      provenance.meaning,
      new RegExp(`own stream as answers are drawn, renewed every ${hours} hours`),
    );
    assert.match(provenance.meaning, /not the bytes used/);
    assert.match(
      verification.meaning,
      /the sample that this process drew from its own stream, not about the values/,
    );
    assert.ok(!('evidence' in provenance) && !('evidence' in provenance.lots[0]));
    assert.deepEqual(
      provenance.lots[0].tested.map(({ of, bits, first_bit }) => [of, bits, first_bit]),
      [['system', 1_000_000, 0]],
    );
  });

  it('names for pure every tested block that the values came from, and for seeded those of the seed', () => {
    const lot = assessed('a');
    const tested = [0, 1_000_000, 1_600_000].map((firstBit) => ({ ...lot.assessments[1], firstBit }));
    const conditioned = { ...lot, assessments: [lot.assessments[0], ...tested] };
    for (const [source, meaning] of [
      [
        PURE,
        /nist_verified is about the blocks drawn on: every bit of the lots that serves lies in a tested window that passed/,
      ],
      [
        {},
        /nist_verified is about the lot that gave the seed: every bit .* The values themselves are output of ChaCha20\./,
      ],
    ] as const) {
      const { provenance, verification } = issue([conditioned], source);
      const named = provenance.lots[0].tested.filter(({ of }) => of === 'conditioned');
      assert.deepEqual(
        named.map(({ first_bit, bits }) => [first_bit, bits]),
        [
          [0, 1_000_000],
          [1_000_000, 1_000_000],
          [1_600_000, 1_000_000],
        ],
      );
      assert.match(verification.meaning, meaning);
    }
  });

  it('says of a seeded answer that its values are output of ChaCha20', () => {
    const { verification } = issue([assessed('a')]);
    assert.match(verification.meaning, /lot that gave the seed.*output of ChaCha20\.$/);
  });

  it('counts the last window that passed, whatever failed behind it', () => {
    const [raw, conditioned] = assessed('a').assessments;
    const failed = { ...conditioned, sp80022: { ...conditioned.sp80022, verified: false, reason: 'failed' } };
    const { verification } = issue([assessed('a', { assessments: [raw, conditioned, failed] })], PURE);
    assert.equal(verification.nist_verified, true);
  });
});
