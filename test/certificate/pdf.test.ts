import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inflateSync } from 'node:zlib';
import { PDFDocument } from '@cantoo/pdf-lib';
import fc from 'fast-check';
import type { CertificateDocument } from '../../src/certificate/document.ts';
import { eventsOf, stepsOf } from '../../src/certificate/drawings.ts';
import { evidenceMeaning, modeMeaning, originMeaning } from '../../src/certificate/meanings.ts';
import { certificatePdf } from '../../src/certificate/pdf.ts';
import { sha256Hex } from '../../src/crypto/digest.ts';
import { parseProof } from '../../src/crypto/note.ts';
import { EVIDENCE_LEVELS, type LotRecord } from '../../src/ledger/records.ts';
import { anyCharacter } from '../support/any-character.ts';
import { committedLot, lotEvidence, lotRecord, lotWithEvidence, TIME_MS } from './fixtures.ts';
import { changed, type SceneOptions, scene } from './scene.ts';

const PAGE = { width: 595.28, height: 841.89 };

interface SetText {
  /** From the left and the bottom edge, in points. */
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

/** Every piece of text of the pages, where it stands; `only` a page, from 0, or all. */
function textsOf(pdf: Uint8Array, only?: number): SetText[] {
  const texts: SetText[] = [];
  for (const content of only === undefined ? contentsOf(pdf) : [contentsOf(pdf)[only]]) {
    for (const [, x, y, hex] of content.matchAll(/1 0 0 1 (\S+) (\S+) Tm\s+<([0-9A-F]*)> Tj/g)) {
      // WinAnsiEncoding is windows-1252
      const text = new TextDecoder('windows-1252').decode(Buffer.from(hex, 'hex'));
      texts.push({ x: Number(x), y: Number(y), text });
    }
  }
  return texts;
}

/** The content streams, page after page. */
function contentsOf(pdf: Uint8Array): string[] {
  const contents: string[] = [];
  const file = Buffer.from(pdf);
  for (let at = file.indexOf('\nstream\n'); at >= 0; at = file.indexOf('\nstream\n', at + 1)) {
    const start = at + '\nstream\n'.length;
    contents.push(inflateSync(file.subarray(start, file.indexOf('\nendstream', start))).toString('latin1'));
  }
  return contents.filter((content) => content.includes(' Tj'));
}

function linesOf(pdf: Uint8Array, only?: number): string[] {
  return textsOf(pdf, only).map(({ text }) => text);
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Discs are lines without length and with round ends. */
interface Discs {
  readonly color: string;
  readonly width: number;
  readonly centres: readonly Place[];
}

/** What the second page draws by lines: the discs, and the lines between points. */
function strokesOf(pdf: Uint8Array): { discs: Discs[]; lines: Place[][] } {
  const discs: Discs[] = [];
  const lines: Place[][] = [];
  for (const [, color, width, path] of contentsOf(pdf)[1].matchAll(
    /q\n([\d. ]+) RG\n([\d.]+) w\n1 J\n1 j\n((?:[\d.]+ [\d.]+ [ml]\n)+)S\nQ/g,
  )) {
    const paths = path.split(/(?=^\S+ \S+ m$)/m).map((each) =>
      each
        .trim()
        .split('\n')
        .map((point): Place => ({ x: Number(point.split(' ')[0]), y: Number(point.split(' ')[1]) })),
    );
    if (paths.every(([from, to]) => from.x === to.x && from.y === to.y))
      discs.push({ color, width: Number(width), centres: paths.map(([centre]) => centre) });
    else lines.push(...paths);
  }
  return { discs, lines };
}

const COLORS = { accent: '0.16 0.27 0.55', grey: '0.4 0.43 0.5' };

/** What must hold of every certificate: two pages of A4, all of it inside, nothing set over anything else. */
async function assertWellSet(pdf: Uint8Array): Promise<void> {
  const document = await PDFDocument.load(pdf);
  assert.equal(document.getPageCount(), 2);
  for (const [page, footLine, footText] of [
    [0, 700, 'CHECK IT YOURSELF'],
    [1, 796, 'Times and figures on this page are rounded for people; the exact ones stand in the JSON.'],
  ] as const) {
    assert.deepEqual(document.getPage(page).getSize(), PAGE);
    const texts = textsOf(pdf, page);
    assert.ok(texts.length > 10);
    for (const { x, y, text } of texts)
      assert.ok(x >= 48 && x < PAGE.width - 48 && y > 12 && y < PAGE.height - 40, `${text} is on the page`);
    const foot = texts.findIndex(({ text }) => text === footText);
    assert.ok(foot > 0);
    for (const { y, text } of texts.slice(0, foot))
      assert.ok(y >= PAGE.height - footLine + 3, `${text} ends above the foot of page ${page + 1}`);
    const places = texts.map(({ x, y }) => `${x} ${y}`);
    assert.equal(new Set(places).size, places.length, 'no two texts in one place');
  }
  const { discs, lines } = strokesOf(pdf);
  for (const { x, y } of [...discs.flatMap(({ centres }) => centres), ...lines.flat()])
    assert.ok(x >= 48 && x <= PAGE.width - 48 && y > PAGE.height - 796 && y < PAGE.height - 118);
}

async function withLots(lots: readonly LotRecord[], revoked?: string): Promise<CertificateDocument> {
  return (await scene({ lots, mode: 'pure', ...(revoked === undefined ? {} : { revoked }) })).document;
}

describe('the certificate as a PDF', () => {
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

  it('shows what the caller said, and only that a private text is there', async () => {
    const said = { purpose: 'spring raffle 2026', userData: 'list\nof May', userDataSha256: undefined };
    const linesFor = async (isPublic: boolean) => {
      const request = { isPublic, ...said };
      const lot = lotWithEvidence('a', 'simulated');
      const { document } = await scene({ lots: [lot], label: { request, serial: 1_234 } });
      const pdf = await certificatePdf(document);
      for (const { x, y } of textsOf(pdf)) assert.ok(x >= 0 && x < PAGE.width && y > 0 && y < PAGE.height);
      return linesOf(pdf).join('\n');
    };
    const shown = await linesFor(true);
    assert.match(shown, /^no\. 1,234 of spring raffle 2026$/m);
    assert.match(shown, /^list of May$/m);
    const hidden = await linesFor(false);
    assert.match(hidden, /^no\. 1,234 of a private text$/m);
    assert.doesNotMatch(hidden, /raffle|May/);
  });

  it('is the same file for the same certificate, whenever it is drawn', async () => {
    const { document } = await scene();
    assert.deepEqual(await certificatePdf(document), await certificatePdf(structuredClone(document)));
    const other = await scene({ at: 12 });
    assert.notDeepEqual(await certificatePdf(document), await certificatePdf(other.document));
  });

  /** After a change of the pages that is wanted: look at them, then write down their new hashes. */
  it('draws the same pages as ever, to the byte', async () => {
    const label = {
      isPublic: true,
      purpose: 'spring raffle',
      userData: 'list of May',
      userDataSha256: undefined,
    };
    const rich = await scene({
      lots: ['a', 'b', 'c', 'd', 'e'].map((name) =>
        lotWithEvidence(name, 'calibrated', { isDeclared: true }),
      ),
      mode: 'pure',
      label: { request: label, serial: 7 },
      revoked: 'detector fault',
    });
    const system = { origin: 'system', deterministic: true, assessments: [] } as const;
    const bare = await scene({ lots: [lotRecord('a', system)], mode: 'csprng', unlogged: true });
    const hashes = [(await scene()).document, rich.document, bare.document].map(async (document) =>
      sha256Hex(await certificatePdf(document)),
    );
    assert.deepEqual(await Promise.all(hashes), [
      '4ec0e020a224941e480f8e855f45ee2ae3bb3ba6eeb3f780b4e284e46422954d',
      '094f632b75da04506c7077a172fa8f5d0ec0f5e7121433cfcef143768fad41cd',
      '4cec990d3231bc6fbdead164f9b8d7dd6a2259e56bb85d6074bb7c6ee3365163',
    ]);
  });

  it('says where in its lots the answer was drawn', async () => {
    const lots = [await committedLot(lotRecord('a')), await committedLot(lotRecord('b'))];
    const seed = { lot: 0, offset: 96, bytes: 32 };
    const [end, start] = [
      { lot: 0, offset: 8_688, bytes: 16 },
      { lot: 1, offset: 0, bytes: 32 },
    ];
    const cases: [SceneOptions, drawn: string][] = [
      [{}, 'seed of generation 7, pro tier'],
      [{ lots: lots.slice(0, 1), drawn: [seed] }, 'seed 3 of the lot'],
      [{ lots: lots.slice(0, 1), mode: 'pure', drawn: [end] }, 'bytes 8688 to 8703 of the lot'],
      [{ lots, mode: 'pure', drawn: [end, start] }, 'bytes 8688 to 8703 of the lot, and 1 more'],
      [{ mode: 'pure' }, 'from the lots; where is not recorded'],
      [{ mode: 'csprng' }, 'from the system, not from the lot'],
    ];
    for (const [options, drawn] of cases) {
      const lines = linesOf(await certificatePdf((await scene(options)).document), 0);
      assert.equal(lines[lines.indexOf('Drawn') + 1], drawn);
    }
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

  it('says on both pages when the source is simulated, declared, replayed, of the system or for tests', async () => {
    const banner = async (changes: Partial<LotRecord>) => {
      const pdf = await certificatePdf(await withLots([lotRecord('a', changes)]));
      const [first, second] = [0, 1].map((page) =>
        linesOf(pdf, page).filter((line) => /source:|No quantum origin/.test(line)),
      );
      assert.deepEqual(second, first, 'both pages say so');
      return first;
    };
    assert.deepEqual(await banner({ origin: 'simulated' }), [
      'Simulated source: no quantum hardware was involved.',
    ]);
    assert.deepEqual(await banner({ origin: 'replay' }), [
      'Replayed source: recorded bits were played back.',
    ]);
    assert.deepEqual(await banner({ origin: 'system' }), ['No quantum origin.']);
    assert.deepEqual(
      await banner({
        origin: 'quantum-processor',
        isDeclared: true,
        evidence: lotEvidence('statistical'),
        rawWindows: 2,
      }),
      ['Declared source: its origin is not attested.'],
    );
    assert.deepEqual(await banner({ origin: 'quantum-processor' }), []);
    assert.deepEqual(await banner({ origin: 'qrng-device', deterministic: true }), [
      'Test source: this answer is not random.',
    ]);
  });

  it('says that it is revoked, when and why', async () => {
    const lines = linesOf(await certificatePdf(await withLots([lotRecord('a')], 'detector fault')));
    assert.equal(lines.filter((line) => line === 'REVOKED').length, 2, 'on both pages');
    assert.ok(!lines.includes('VALID'));
    assert.ok(lines.includes('Revoked 2026-11-21T08:31:00.123Z: do not rely on this answer.'));
    assert.ok(lines.includes(`Lot ${lotRecord('a').id} was withdrawn: detector fault`));
  });

  it('says that the proof is still to come', async () => {
    const { document } = await scene({ unlogged: true });
    const lines = linesOf(await certificatePdf(document));
    assert.ok(lines.includes('Being logged: fetch the certificate again in a moment for its signed proof.'));
    assert.ok(!lines.some((line) => line.startsWith('Ed25519 key')));
    assert.ok(!lines.includes('root'), 'no path is drawn');
  });

  it('draws the smallest p-value of every window where the web page draws it', async () => {
    const of = (name: 'raw' | 'conditioned', smallestP: number) => {
      const [raw, conditioned] = lotRecord('a').assessments;
      const window = name === 'raw' ? raw : conditioned;
      return { ...window, sp80022: { ...window.sp80022, smallestP } };
    };
    const assessments = [of('raw', 0.0123), of('conditioned', 0.5), of('raw', 1e-4), of('conditioned', 0)];
    const pdf = await certificatePdf(await withLots([lotRecord('a', { assessments })]));
    const { discs, lines } = strokesOf(pdf);
    const windows = (color: string) =>
      discs.find((each) => each.color === color && each.width === 7 && each.centres.length === 2)?.centres;
    const [served, raw] = [windows(COLORS.accent), windows(COLORS.grey)];
    assert.ok(served && raw);
    const across = lines.filter(([from, to]) => from.y === to.y && to.x - from.x > 400);
    const [top, counted, bottom, failing] = across.map(([from]) => from.y);
    const decade = (top - bottom) / 8;
    assert.ok(Math.abs(top - 2 * decade - counted) < 0.02 && Math.abs(top - 6 * decade - failing) < 0.02);
    const decadesOf = (place: Place) => Number(((top - place.y) / decade).toFixed(2));
    assert.deepEqual(raw.map(decadesOf), [1.91, 4]);
    assert.deepEqual(served.map(decadesOf), [0.4, 7.6], 'kept within the plot');
    const [from, to] = across[0];
    const columns = [raw[0], served[0], raw[1], served[1]].map(({ x }) => (x - from.x) / (to.x - from.x));
    assert.deepEqual(
      columns.map((column) => column.toFixed(3)),
      ['0.125', '0.375', '0.625', '0.875'],
    );
    const texts = linesOf(pdf, 1);
    assert.ok(
      texts.includes('2 of what answers are drawn from') && texts.includes('2 of raw noise, may be biased'),
    );
    assert.ok(texts.some((line) => line.endsWith('the least is 0. A window fails below 0.000001.')));
    const without = linesOf(await certificatePdf(await withLots([lotRecord('a', { assessments: [] })])), 1);
    assert.ok(without.includes('No window was tested.'));
  });

  it('draws each sibling of the Merkle path on its side, and the way up to the root', async () => {
    const { document } = await scene();
    const pdf = await certificatePdf(document);
    const proof = parseProof(document.certificate.proof!)!;
    const steps = stepsOf(proof, 21);
    assert.equal(steps.length, 5);
    const texts = textsOf(pdf, 1);
    const { lines } = strokesOf(pdf);
    const way = lines.find((points) => points.length === steps.length + 1);
    assert.ok(way, 'one line from the leaf to the root');
    assert.equal(new Set(way.map(({ x }) => x)).size, 1, 'straight up');
    steps.forEach(({ side, sibling }, i) => {
      const label = texts.find(({ text }) => text === `${sibling.slice(0, 8)}…`);
      assert.ok(label, sibling);
      assert.ok(Math.abs(label.y - way[i].y) < 4, 'beside the node that it is hashed with');
      const edge = lines.find(
        ([from, to]) => from.y === way[i].y && to.x === way[i + 1].x && from.x !== to.x,
      );
      assert.ok(edge);
      assert.deepEqual(edge[1], way[i + 1], 'leads to the node above');
      const sides = [edge[0].x < way[0].x, label.x < edge[0].x].map((isLeft) => (isLeft ? 'left' : 'right'));
      assert.deepEqual(sides, [side, side], 'the sibling, and its label further out');
    });
    const root = texts.find(({ text }) => text === 'root');
    assert.ok(root && Math.abs(root.y - way[steps.length].y) < 4);
    assert.ok(texts.some(({ text }) => text === 'From leaf 13 up to the signed root of 21 entries'));
  });

  it('draws what happened in the order of time, with the times between', async () => {
    const pdf = await certificatePdf(await withLots([lotRecord('a')], 'fault'));
    const texts = textsOf(pdf, 1);
    const placed = (text: string) => texts.find((each) => each.text === text)?.x ?? Number.NaN;
    const expected = [
      '2026-11-21 08:29:56 UTC',
      '4 seconds later',
      '2026-11-21 08:30:00 UTC',
      '60 seconds later',
      '2026-11-21 08:31:00 UTC',
    ].map(placed);
    assert.ok(
      expected.every((x, i) => i === 0 || x > expected[i - 1]),
      String(expected),
    );
    assert.equal(placed('The lot was read and tested'), expected[0]);
    assert.equal(placed('The answer was issued'), expected[2]);
    assert.equal(placed('The operator withdrew a lot'), expected[4]);
    assert.ok(
      strokesOf(pdf).discs.some(({ color, centres }) => color === COLORS.accent && centres.length === 3),
    );
  });

  it('tells a time between events in the largest unit that it has twice', () => {
    const laterBy = (ms: number) => {
      const lots = [{ finished_at: new Date(TIME_MS).toISOString() }];
      const certificate = { provenance: { lots }, issued_at: new Date(TIME_MS + ms).toISOString() };
      return eventsOf({ certificate } as unknown as CertificateDocument)[1].passed;
    };
    const told = [1_999, 2_000, 119_999, 120_000, 7_200_000, 172_800_000].map(laterBy);
    const expected = ['1999 ms', '2 seconds', '120 seconds', '2 minutes', '2 hours', '2 days'];
    assert.deepEqual(
      told,
      expected.map((each) => `${each} later`),
    );
  });

  it('lists three lots, and counts the others', async () => {
    for (const [names, others] of [
      ['abc', []],
      ['abcd', ['and 1 more, listed in the JSON']],
    ] as const) {
      const { document } = await scene({ lots: Array.from(names, (name) => lotRecord(name)), mode: 'pure' });
      const lines = linesOf(await certificatePdf(document), 0);
      assert.deepEqual(
        lines.filter((line) => line.endsWith('listed in the JSON')),
        others,
      );
      assert.equal(lines.filter((line) => /^lot_/.test(line)).length, 3);
    }
  });

  it('draws the path of a leaf of 2^40 below every banner', async () => {
    const evidence = lotEvidence('simulated');
    const lots = ['a', 'b', 'c', 'd'].map((name) => lotRecord(name, { deterministic: true, evidence }));
    const document = await withLots(lots, 'x '.repeat(200));
    const [head, ...rest] = document.certificate.proof!.split('\n\n');
    const hash = head.split('\n')[2];
    const deep = [head.split('\n')[0], 'index 733007751850', ...Array<string>(40).fill(hash)].join('\n');
    const grown = [deep, rest[0].replace('\n21\n', '\n1099511627776\n'), ...rest.slice(1)].join('\n\n');
    let long = changed(document, 'certificate.proof', grown);
    long = changed(long, 'certificate.provenance.lots.0.declared', true);
    long = changed(long, 'certificate.provenance.meaning', 'word '.repeat(300));
    long = changed(long, 'certificate.media_type', 'application/octet-stream');
    const pdf = await certificatePdf(long);
    await assertWellSet(pdf);
    assert.ok(strokesOf(pdf).lines.some((points) => points.length === 41));
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
    const meaning = `${modeMeaning('quantum-seeded', 'openssl')} ${originMeaning('qrng-device', [lotRecord('a', { isDeclared: true })])} ${evidenceMeaning('calibrated', 4)}`;
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

  it('keeps to its pages with many lots, long texts and every banner', async () => {
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

  it('sets any text in any place well', async () => {
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
      unit: fc.oneof(anyCharacter, fc.constant('\ud800')),
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
