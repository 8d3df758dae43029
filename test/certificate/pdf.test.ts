import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { inflateSync } from 'node:zlib';
import { PDFDocument } from '@cantoo/pdf-lib';
import fc from 'fast-check';
import type { CertificateDocument } from '../../src/certificate/document.ts';
import { provenanceMeaning } from '../../src/certificate/meanings.ts';
import { certificatePdf } from '../../src/certificate/pdf.ts';
import { sha256Hex } from '../../src/crypto/digest.ts';
import { EVIDENCE_LEVELS, type LotRecord } from '../../src/ledger/records.ts';
import { anyCharacter } from '../support/any-character.ts';
import { lotEvidence, lotRecord, lotWithEvidence, sampleLot } from './fixtures.ts';
import { changed, type SceneOptions, scene } from './scene.ts';

const PAGE = { width: 595.28, height: 841.89 };

interface SetText {
  /** Distance from the left and the bottom edge, in points. */
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

/** Returns every piece of text of the page with its position. */
function textsOf(pdf: Uint8Array): SetText[] {
  const texts = [...contentOf(pdf).matchAll(/1 0 0 1 (\S+) (\S+) Tm\s+<([0-9A-F]*)> Tj/g)];
  return texts.map(([, x, y, hex]) => ({ x: Number(x), y: Number(y), text: textOf(hex) }));
}

/** WinAnsiEncoding is windows-1252. */
function textOf(hex: string): string {
  return new TextDecoder('windows-1252').decode(Buffer.from(hex, 'hex'));
}

/** The content stream that has the texts. */
function contentOf(pdf: Uint8Array): string {
  const file = Buffer.from(pdf);
  for (let at = file.indexOf('\nstream\n'); at >= 0; at = file.indexOf('\nstream\n', at + 1)) {
    const start = at + '\nstream\n'.length;
    const content = inflateSync(file.subarray(start, file.indexOf('\nendstream', start))).toString('latin1');
    if (content.includes(' Tj')) return content;
  }
  assert.fail('the page has no text');
}

/** Operators that are the same for every thing that is drawn. */
const EVERYWHERE = ['q', 'BT', 'ET', 'T*', 'f', 'h', '[] 0 d', '24 TL', '1 0 0 1 0 0 cm', '1 0 0 -1 0 0 cm'];

/** Returns what is drawn, one thing a line: colour, font, position and text, and a hash of the QR code's squares. */
function drawnOn(pdf: Uint8Array): string {
  const things = contentOf(pdf)
    .split('\nQ\n')
    .map((thing) => {
      if (thing.length > 5_000) return `QR code ${sha256Hex(Buffer.from(thing))}`;
      const lines = thing.split('\n').filter((line) => !EVERYWHERE.includes(line));
      return lines
        .join(' ')
        .replace(/<([0-9A-F]*)> Tj/, (_, hex: string) => textOf(hex))
        .replace(/-\d+ (\S+) Tf/, ' $1');
    });
  return things.join('\n');
}

function linesOf(pdf: Uint8Array): string[] {
  return textsOf(pdf).map(({ text }) => text);
}

/** Checks what must hold for every certificate: one page of A4, with everything inside and nothing overlapping. */
async function assertWellSet(pdf: Uint8Array): Promise<void> {
  const document = await PDFDocument.load(pdf);
  assert.equal(document.getPageCount(), 1);
  assert.deepEqual(document.getPage(0).getSize(), PAGE);
  const texts = textsOf(pdf);
  assert.ok(texts.length > 10);
  for (const { x, y, text } of texts)
    assert.ok(x >= 48 && x < PAGE.width - 48 && y > 12 && y < PAGE.height - 40, `${text} is on the page`);
  const foot = texts.findIndex(({ text }) => text === 'CHECK IT YOURSELF');
  assert.ok(foot > 0);
  const lowest = Math.min(...texts.slice(0, foot).map(({ y }) => y));
  assert.ok(lowest >= PAGE.height - 700 + 3, 'all ends above the foot');
  assert.ok(lowest <= PAGE.height - 700 + 40, 'no part of the page stays empty');
  const places = texts.map(({ x, y }) => `${x} ${y}`);
  assert.equal(new Set(places).size, places.length, 'no two texts in one place');
}

async function withLots(lots: readonly LotRecord[], revoked?: string): Promise<CertificateDocument> {
  return (await scene({ lots, mode: 'pure', ...(revoked === undefined ? {} : { revoked }) })).document;
}

describe('the certificate as a PDF', () => {
  it('keeps its drawing exactly: a plain page, and one with every banner', async () => {
    const { document: plain } = await scene();
    const lots = Array.from('abcd', (name) =>
      lotWithEvidence(name, 'calibrated', {
        isDeclared: name === 'c',
        deterministic: name === 'd',
        health: { samples: 1_048_576, rctFailures: 2, aptFailures: 1, grade: 'intermittent' },
        ...(name === 'b' ? { minEntropyPerBit: null } : {}),
      }),
    );
    const said = { purpose: 'spring raffle 2026', userData: 'list\nof May', userDataSha256: undefined };
    const { document: bannered } = await scene({
      ...{ lots, mode: 'pure', octets: { type: 'int32', body: new Uint8Array(4) } },
      revoked:
        'the cryostat warmed up during the read, and nobody saw it before the next morning came '.repeat(2),
      label: { request: { isPublic: true, ...said }, serial: 1_234 },
    });
    const pages = await Promise.all([plain, bannered].map(certificatePdf));
    for (const page of pages) await assertWellSet(page);
    const golden = readFileSync(new URL('../vectors/certificate/pages.txt', import.meta.url), 'utf8');
    assert.equal(pages.map(drawnOn).join('\n'), golden);
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

  it('states what is special about each kind of certificate', async () => {
    const [a, b] = [lotRecord('a'), lotRecord('b')];
    const end = { lot: 0, offset: 8_688, bytes: 16 };
    const start = { lot: 1, offset: 0, bytes: 32 };
    const certificates = Array.from({ length: 200 }, (_, i) => ({ id: `cert_${i}`, leaf: 'leaf' }));
    const upstream = { log: 'hub.example/log', origin: 'simulated', certificates } as const;
    const revoked = { lots: [a], revoked: 'detector fault' };
    const said = { purpose: 'spring raffle 2026', userData: 'list\nof May', userDataSha256: undefined };
    const labelled = (isPublic: boolean, more = {}) => ({
      label: { request: { isPublic, ...said, ...more }, serial: 1_234 },
    });
    const lotsOf = (names: string) =>
      ({ lots: Array.from(names, (name) => lotRecord(name)), mode: 'pure' }) as const;
    const cases: [SceneOptions, says: (string | RegExp)[], not: RegExp][] = [
      [{ drawn: [{ lot: 0, offset: 96, bytes: 32 }] }, ['seed 3 of the lot', 'VALID'], /^Cites$|REVOKED/],
      [{ lots: [a], mode: 'pure', drawn: [end] }, ['bytes 8688 to 8703 of the lot'], /more$/],
      [{ lots: [a, b], mode: 'pure', drawn: [end, start] }, [/ 8703 of the lot, and 1 more$/], /^$/],
      [{ lots: [lotRecord('a', { upstream })] }, ['200 certificates of hub.example/log'], /^$/],
      [revoked, ['REVOKED', /^Revoked 2026-11-21T08:31:00.123Z: do not rely on this answer\.$/], /VALID/],
      [revoked, [`Lot ${a.id} was withdrawn: detector fault`], /^$/],
      [labelled(true), ['no. 1,234 of spring raffle 2026', 'list of May'], /private/],
      [labelled(false), ['no. 1,234 of a private text', 'a private text'], /raffle|May/],
      [labelled(true, { purpose: undefined }), ['list of May'], /^Purpose$|raffle/],
      [lotsOf('abc'), ['THE 3 LOTS OF THIS ANSWER', lotRecord('c').id], /listed in the JSON/],
      [lotsOf('abcd'), ['and 1 more, listed in the JSON'], /^lot_d/],
      [{ unlogged: true }, [/^Being logged: fetch the certificate again/], /in the log qrn/],
      [
        { lots: [sampleLot('a')], mode: 'csprng' },
        ['from the system, not from the lot'],
        /superposition-16|16 qubits|^Evidence$/,
      ],
    ];
    for (const [options, says, not] of cases) {
      const pdf = await certificatePdf((await scene(options)).document);
      await assertWellSet(pdf);
      const lines = linesOf(pdf);
      for (const each of says)
        assert.ok(
          lines.some((line) => (typeof each === 'string' ? line === each : each.test(line))),
          `${each} in ${lines.join('\n')}`,
        );
      assert.deepEqual(
        lines.filter((line) => not.test(line)),
        [],
      );
    }
  });

  it('stays on one page, whatever it contains, and does not shorten the statement of evidence', async () => {
    const deterministic = { deterministic: true, evidence: lotEvidence('simulated') } as const;
    const many = Array.from({ length: 40 }, (_, i) =>
      lotRecord(`x${i}`, {
        ...deterministic,
        provider: 'P'.repeat(400),
        quantumBackend: 'iiii '.repeat(200),
        circuit: 'W'.repeat(300),
        jobId: '7'.repeat(5_000),
      }),
    );
    const four = ['a', 'b', 'c', 'd'].map((name) => lotRecord(name, deterministic));
    // of a leaf of 2^40, with every banner
    const bannered = await withLots(four, 'x '.repeat(200));
    const [head, ...rest] = bannered.certificate.proof!.split('\n\n');
    const [version, , hash] = head.split('\n');
    const deep = [version, 'index 733007751850', ...Array<string>(40).fill(hash)].join('\n');
    const grown = [deep, rest[0].replace(/\n\d+\n/, '\n1099511627776\n'), ...rest.slice(1)].join('\n\n');
    let long = changed(bannered, 'certificate.proof', grown);
    long = changed(long, 'lots.0.leaf.declared', true);
    long = changed(long, 'certificate.media_type', 'application/octet-stream');
    const declared = lotWithEvidence('a', 'calibrated', { isDeclared: true });
    const { document: plain } = await scene({ lots: [declared], revoked: 'detector fault' });
    const claims = EVIDENCE_LEVELS.map(async (claim): Promise<[CertificateDocument, RegExp[]]> => {
      const figure = claim === 'calibrated' ? ', 0\\.732 per raw bit' : '';
      const lots = [lotWithEvidence('a', 'calibrated'), lotWithEvidence('b', claim)];
      return [await withLots(lots), [new RegExp(`^${claim}${figure}$`)]];
    });
    const cases: [CertificateDocument, says: RegExp[]][] = [
      [long, [/^Leaf 733,007,751,850 of 1,099,511,627,776/]],
      [
        await withLots(many, 'the cryostat warmed up during the read '.repeat(40)),
        [/^THE 40 LOTS OF THIS ANSWER$/, /^and 37 more, listed in the JSON$/, /^7+…$/],
      ],
      ...(await Promise.all(claims)),
      // the longest words: of a platform without a kernel's generator, the evidence at its end
      [changed(plain, 'certificate.provenance.system_entropy', 'openssl'), []],
    ];
    for (const [document, says] of cases) {
      const pdf = await certificatePdf(document);
      await assertWellSet(pdf);
      const lines = linesOf(pdf);
      for (const each of says)
        assert.ok(
          lines.some((line) => each.test(line)),
          String(each),
        );
      const words = lines.slice(lines.indexOf('IN WORDS') + 1, lines.indexOf('HASHES')).join(' ');
      assert.equal(words, provenanceMeaning(document), 'not cut');
    }
  });

  it('prints characters that its fonts lack as code points', async () => {
    const lot = lotRecord('a', { quantumBackend: '量子 é', jobId: 'a\u0000b\n😀' });
    const lines = linesOf(await certificatePdf(await withLots([lot])));
    assert.ok(lines.includes('{U+91CF}{U+5B50} é'));
    assert.ok(lines.includes('a{U+0000}b{U+000A}{U+1F600}'));
    assert.ok(lines.some((line) => line.includes('{U+…}: a character by its Unicode number')));
    const plain = linesOf(await certificatePdf(await withLots([lotRecord('a')])));
    assert.ok(!plain.some((line) => line.includes('U+')));
  });

  it('lays out any text in any place', async () => {
    const { document } = await scene({ revoked: 'x' });
    const places = [
      ...['quantum_backend', 'lang_circuit', 'lang_version'].map((name) => `certificate.provenance.${name}`),
      ...['provider', 'device', 'job_id'].map((name) => `lots.0.leaf.${name}`),
    ];
    const text = fc.string({
      unit: fc.oneof(anyCharacter, fc.constant('\ud800')),
    });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), text, text, async (place, value, reason) => {
        const told = changed(document, place, value);
        await assertWellSet(await certificatePdf(changed(told, 'revocation.reason', reason)));
      }),
      { numRuns: 30 },
    );
  });
});
