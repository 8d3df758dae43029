import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inflateSync } from 'node:zlib';
import { PDFDocument } from '@cantoo/pdf-lib';
import fc from 'fast-check';
import type { CertificateDocument } from '../../src/certificate/document.ts';
import { evidenceMeaning, modeMeaning, originMeaning } from '../../src/certificate/meanings.ts';
import { certificatePdf } from '../../src/certificate/pdf.ts';
import { EVIDENCE_LEVELS, type LotRecord } from '../../src/ledger/records.ts';
import { lotEvidence, lotRecord, lotWithEvidence } from './fixtures.ts';
import { changed, scene } from './scene.ts';

const PAGE = { width: 595.28, height: 841.89 };

interface SetText {
  /** From the left and the bottom edge, in points. */
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

/** Every piece of text in the file's content streams, where it stands. */
function textsOf(pdf: Uint8Array): SetText[] {
  const texts: SetText[] = [];
  for (const content of contentsOf(pdf)) {
    for (const [, x, y, hex] of content.matchAll(/1 0 0 1 (\S+) (\S+) Tm\s+<([0-9A-F]*)> Tj/g)) {
      // WinAnsiEncoding is windows-1252
      const text = new TextDecoder('windows-1252').decode(Buffer.from(hex, 'hex'));
      texts.push({ x: Number(x), y: Number(y), text });
    }
  }
  return texts;
}

function contentsOf(pdf: Uint8Array): string[] {
  const contents: string[] = [];
  const file = Buffer.from(pdf);
  for (let at = file.indexOf('\nstream\n'); at >= 0; at = file.indexOf('\nstream\n', at + 1)) {
    const start = at + '\nstream\n'.length;
    contents.push(inflateSync(file.subarray(start, file.indexOf('\nendstream', start))).toString('latin1'));
  }
  return contents;
}

function linesOf(pdf: Uint8Array): string[] {
  return textsOf(pdf).map(({ text }) => text);
}

/** What must hold of every page: one, A4, all of it inside, nothing set over anything else. */
async function assertWellSet(pdf: Uint8Array): Promise<void> {
  const document = await PDFDocument.load(pdf);
  assert.equal(document.getPageCount(), 1);
  assert.deepEqual(document.getPage(0).getSize(), PAGE);
  const texts = textsOf(pdf);
  assert.ok(texts.length > 40);
  for (const { x, y, text } of texts) {
    assert.ok(x >= 48 && x < PAGE.width - 48 && y > 12 && y < PAGE.height - 40, `${text} is on the page`);
  }
  const foot = texts.find(({ text }) => text === 'CHECK IT YOURSELF');
  const signed = texts.find(({ text }) => text === 'SIGNED LOG');
  assert.ok(foot && signed);
  assert.ok(signed.y - 60 > foot.y + 20, 'the log lines end above the foot');
  const places = texts.map(({ x, y }) => `${x} ${y}`);
  assert.equal(new Set(places).size, places.length, 'no two texts in one place');
}

async function withLots(lots: readonly LotRecord[], revoked?: string): Promise<CertificateDocument> {
  return (await scene({ lots, mode: 'pure', ...(revoked === undefined ? {} : { revoked }) })).document;
}

describe('the certificate as a page', () => {
  it('says what the certificate says, hashes and id in full', async () => {
    const { document } = await scene();
    const pdf = await certificatePdf(document);
    await assertWellSet(pdf);
    const lines = linesOf(pdf);
    const { certificate } = document;
    const { raw_output, processed, delivered } = certificate.hashes;
    for (const text of [certificate.id, raw_output, processed, delivered, certificate.verify_url]) {
      assert.ok(lines.includes(text), text);
    }
    for (const text of [
      certificate.issued_at,
      certificate.request_id,
      'VALID',
      'seed of generation 7, pro tier',
    ]) {
      assert.ok(lines.includes(text), text);
    }
    assert.ok(lines.includes('186/188 passed, verified'));
    assert.ok(lines.includes('0.856 per raw bit'));
    assert.ok(lines.includes('leaf 13 of 21 in the log qrn.example/log'));
    assert.ok(lines.includes(`Ed25519 key ${(await scene()).keys.current_key_id} of qrn.example/log`));
    assert.ok(lines.some((line) => line.startsWith('It does not prove that a qubit was measured')));
  });

  it('is the same file for the same certificate, whenever it is drawn', async () => {
    const { document } = await scene();
    assert.deepEqual(await certificatePdf(document), await certificatePdf(structuredClone(document)));
    const other = await scene({ at: 12 });
    assert.notDeepEqual(await certificatePdf(document), await certificatePdf(other.document));
  });

  it('carries metadata and links to its page', async () => {
    const { document } = await scene();
    const pdf = await PDFDocument.load(await certificatePdf(document), { updateMetadata: false });
    const { id, issued_at: issuedAt, verify_url: url } = document.certificate;
    assert.equal(pdf.getTitle(), `Certificate ${id}`);
    assert.equal(pdf.getCreationDate()?.getTime(), Math.floor(Date.parse(issuedAt) / 1000) * 1000);
    assert.equal(pdf.getModificationDate()?.getTime(), pdf.getCreationDate()?.getTime());
    assert.ok(pdf.getKeywords()?.includes('simulated'));
    const annotations = pdf.getPage(0).node.Annots();
    assert.equal(annotations?.size(), 2);
    assert.ok(annotations?.lookup(0)?.toString().includes(Buffer.from(url).toString('hex')));
  });

  it('says so when the source is simulated, replayed, of the system or for tests', async () => {
    const banner = async (changes: Partial<LotRecord>) => {
      const lines = linesOf(await certificatePdf(await withLots([lotRecord('a', changes)])));
      return lines.filter((line) => /source:|No quantum origin/.test(line));
    };
    assert.deepEqual(await banner({ origin: 'simulated' }), [
      'Simulated source: no quantum hardware was involved.',
    ]);
    assert.deepEqual(await banner({ origin: 'replay' }), [
      'Replayed source: recorded bits were played back.',
    ]);
    assert.deepEqual(await banner({ origin: 'system' }), ['No quantum origin.']);
    assert.deepEqual(await banner({ origin: 'quantum-processor' }), []);
    assert.deepEqual(await banner({ origin: 'qrng-device', deterministic: true }), [
      'Test source: this answer is not random.',
    ]);
  });

  it('says that it is revoked, when and why', async () => {
    const lines = linesOf(await certificatePdf(await withLots([lotRecord('a')], 'detector fault')));
    assert.ok(lines.includes('REVOKED') && !lines.includes('VALID'));
    assert.ok(lines.includes('Revoked 2026-11-21T08:31:00.123Z: do not rely on this answer.'));
    assert.ok(lines.includes(`Lot ${lotRecord('a').id} was withdrawn: detector fault`));
  });

  it('says that the proof is still to come', async () => {
    const { document } = await scene({ unlogged: true });
    const lines = linesOf(await certificatePdf(document));
    assert.ok(lines.includes('Being logged: fetch the certificate again in a moment for its signed proof.'));
    assert.ok(!lines.some((line) => line.startsWith('Ed25519 key')));
  });

  it('prints a csprng certificate without quantum facts', async () => {
    const { document } = await scene({ mode: 'csprng', lots: [lotRecord('a', { origin: 'system' })] });
    const lines = linesOf(await certificatePdf(document));
    assert.ok(!lines.some((line) => line.includes('superposition-16') || line.includes('16 qubits')));
  });

  it('says what the lots are evidence of, in full, with the weakest claim and the least figure', async () => {
    for (const claim of EVIDENCE_LEVELS) {
      const lots = [lotWithEvidence('a', 'bell-witness'), lotWithEvidence('b', claim)];
      const document = await withLots(lots);
      const pdf = await certificatePdf(document);
      await assertWellSet(pdf);
      const lines = linesOf(pdf);
      const isFigured = claim !== 'simulated' && claim !== 'statistical';
      assert.ok(lines.includes('Evidence'));
      assert.ok(lines.includes(isFigured ? `${claim}, 0.732 per raw bit` : claim), claim);
      const words = lines.slice(lines.indexOf('IN WORDS') + 1, lines.indexOf('HASHES')).join(' ');
      assert.equal(words, document.certificate.provenance.meaning, 'not cut');
    }
    // The longest: of a platform without a kernel's generator, the evidence at its end.
    const long = structuredClone(await withLots([lotWithEvidence('a', 'calibrated')], 'detector fault'));
    const meaning = `${modeMeaning('quantum-seeded', 'openssl')} ${originMeaning('qrng-device', [lotRecord('a', { isDeclared: true })])} ${evidenceMeaning('calibrated')}`;
    const document = {
      certificate: { ...long.certificate, provenance: { ...long.certificate.provenance, meaning } },
    };
    const pdf = await certificatePdf(document);
    await assertWellSet(pdf);
    const lines = linesOf(pdf);
    assert.equal(lines.slice(lines.indexOf('IN WORDS') + 1, lines.indexOf('HASHES')).join(' '), meaning);
    const before = linesOf(await certificatePdf(await withLots([lotRecord('a')])));
    assert.ok(!before.includes('Evidence'), 'version 1 does not speak of it');
  });

  it('keeps to one page with many lots, long texts and every banner', async () => {
    const lots = Array.from({ length: 40 }, (_, i) =>
      lotRecord(`x${i}`, {
        deterministic: true,
        provider: 'P'.repeat(400),
        quantumBackend: 'iiii '.repeat(200),
        circuit: 'W'.repeat(300),
        jobId: '7'.repeat(5_000),
        evidence: lotEvidence('simulated'),
      }),
    );
    const pdf = await certificatePdf(
      await withLots(lots, 'the cryostat warmed up during the read '.repeat(40)),
    );
    await assertWellSet(pdf);
    const lines = linesOf(pdf);
    assert.ok(lines.includes('THE 40 LOTS DRAWN FROM'));
    assert.ok(lines.includes('and 37 more, listed in the JSON'));
    assert.ok(
      lines.some((line) => /^7+…$/.test(line)),
      'what is cut ends in an ellipsis',
    );
  });

  it('prints what its fonts lack as code points', async () => {
    const lot = lotRecord('a', { quantumBackend: '量子 é', jobId: 'a\u0000b\n😀' });
    const lines = linesOf(await certificatePdf(await withLots([lot])));
    assert.ok(lines.includes('{U+91CF}{U+5B50} é'));
    assert.ok(lines.includes('a{U+0000}b{U+000A}{U+1F600}'));
    assert.ok(lines.some((line) => line.includes('{U+…}: a character by its Unicode number')));
    const plain = linesOf(await certificatePdf(await withLots([lotRecord('a')])));
    assert.ok(!plain.some((line) => line.includes('U+')));
  });

  it('any text in any place: one well-set page', async () => {
    const { document } = await scene({ revoked: 'x' });
    const places = [
      'quantum_backend',
      'lang_circuit',
      'lang_version',
      'provider',
      'device',
      'job_id',
      'meaning',
    ];
    const text = fc.string({
      unit: fc.oneof(fc.string({ unit: 'binary', maxLength: 1 }), fc.constant('\ud800')),
    });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), text, text, async (place, value, reason) => {
        const told = changed(document, `certificate.provenance.${place}`, value);
        await assertWellSet(await certificatePdf(changed(told, 'revocation.reason', reason)));
      }),
      { numRuns: 30, seed: 20_261_121 },
    );
  });
});
