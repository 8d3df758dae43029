import {
  type Color,
  PDFDocument,
  type PDFFont,
  PDFHexString,
  PDFName,
  type PDFPage,
  rgb,
  StandardFonts,
} from '@cantoo/pdf-lib';
import { encodeQR } from 'qr';
import { grouped } from '../core/figures.ts';
import type { Origin } from '../core/vocabulary.ts';
import type { CertificateDocument } from './document.ts';
import { answerFacts, type Fact, hashFacts, lotsTitle, sourceFacts, testFacts } from './facts.ts';
import { provenanceMeaning, sourceWarnings } from './meanings.ts';
import { readProof } from './signed-checkpoint.ts';

/**
 * Prints a certificate on one A4 page. The page says what the JSON says, no more and nothing stronger. What does not
 * fit (a fourth lot, a very long device name) is visibly cut; the JSON has it in full.
 *
 * Lengths are in points (1/72 inch) and heights are measured down from the top edge. The fonts are of the standard 14
 * (ISO 32000-1 §9.6.2.2), which every PDF reader has, so text stays selectable and files small. These fonts hold the
 * Latin characters of WinAnsiEncoding. Any other character is printed as its code point, `{U+91CF}`, so that no text
 * can break the page or pass for another.
 */
const PAGE = { width: 595.28, height: 841.89 };
const MARGIN = 48;
const WIDTH = PAGE.width - 2 * MARGIN;
const GUTTER = 24;
const COLUMN = (WIDTH - GUTTER) / 2;
const RIGHT = MARGIN + COLUMN + GUTTER;
/** Width of the column of labels, which stand left of their values. */
const LABEL_WIDTH = 64;
/** Height at which the block at the foot begins, with the QR code. Nothing above may reach it. */
const FOOT = 700;
const QR_SIDE = 94;
/** More lots than this are counted, not listed. */
const LOTS_LISTED = 3;
/**
 * Heights on a full page: of a fact, of a hash with its two lines, and of the space between a group and the next
 * heading. On a page with room they are stretched.
 */
const ROW = 15;
const HASH_ROW = 26;
const GAP = 20;
const HEADING_HEIGHT = 8;

const INK = rgb(0.09, 0.11, 0.16);
const GREY = rgb(0.4, 0.43, 0.5);
const ACCENT = rgb(0.16, 0.27, 0.55);
const HAIRLINE = rgb(0.82, 0.84, 0.88);
const WHITE = rgb(1, 1, 1);
const GREEN = rgb(0.07, 0.43, 0.26);
const RED = rgb(0.7, 0.11, 0.13);
const AMBER = rgb(0.6, 0.36, 0);
const RED_TINT = rgb(0.99, 0.93, 0.93);
const AMBER_TINT = rgb(1, 0.96, 0.88);

interface TextStyle {
  readonly font: 'regular' | 'bold' | 'mono';
  readonly size: number;
  readonly color: Color;
}

const LABEL: TextStyle = { font: 'regular', size: 8, color: GREY };
const VALUE: TextStyle = { font: 'regular', size: 9, color: INK };
const HEADING: TextStyle = { font: 'bold', size: 8, color: ACCENT };
const HASH: TextStyle = { font: 'mono', size: 8.5, color: INK };
const SMALL: TextStyle = { font: 'regular', size: 8, color: INK };

type Document = CertificateDocument;

/** Returns a PDF of one page. The same document always gives the same bytes. */
export async function certificatePdf(document: Document): Promise<Uint8Array> {
  const sheet = await Sheet.create(document.certificate);
  const banners = bannersOf(document);
  let y = drawHead(sheet, document);
  for (const banner of banners) y = drawBanner(sheet, banner, y);
  drawBody(sheet, document, y);
  drawFoot(sheet, document);
  return sheet.bytes();
}

const STATUS: Readonly<Record<Document['certificate']['status'], { word: string; color: Color }>> = {
  valid: { word: 'VALID', color: GREEN },
  revoked: { word: 'REVOKED', color: RED },
  test: { word: 'TEST SOURCE', color: AMBER },
};

const ORIGIN_WORDS: Readonly<Record<Origin, readonly { word: string; color: Color }[]>> = {
  'quantum-processor': [],
  'qrng-device': [],
  simulated: [{ word: 'SIMULATED', color: AMBER }],
  replay: [{ word: 'REPLAYED', color: AMBER }],
  system: [{ word: 'NOT QUANTUM', color: AMBER }],
};

function drawHead(sheet: Sheet, { certificate }: Document): number {
  sheet.box(0, 0, PAGE.width, 6, ACCENT);
  sheet.line('QUANTUM RANDOM NUMBER SERVICE', MARGIN, 50, { ...LABEL, font: 'bold' });
  sheet.line('Certificate of provenance', MARGIN, 78, { font: 'bold', size: 24, color: INK });
  sheet.line(certificate.id, MARGIN, 96, { font: 'mono', size: 11, color: INK });
  const style: TextStyle = { font: 'bold', size: 10, color: WHITE };
  let right = PAGE.width - MARGIN;
  // Drawn from right to left, so the origin stands left of the status.
  for (const { word, color } of [
    STATUS[certificate.status],
    ...ORIGIN_WORDS[certificate.provenance.origin],
  ]) {
    const width = sheet.widthOf(word, style) + 20;
    right -= width;
    sheet.box(right, 60, width, 22, color);
    sheet.line(word, right + 10, 74.6, style);
    right -= 6;
  }
  sheet.box(MARGIN, 110, WIDTH, 0.5, HAIRLINE);
  return 118;
}

interface Banner {
  readonly title: string;
  readonly text: string;
  readonly color: Color;
  readonly tint: Color;
}

function bannersOf(document: Document): Banner[] {
  const { revocation } = document;
  const banners: Banner[] = [];
  if (revocation !== undefined) {
    const title = `Revoked ${revocation.revoked_at}: do not rely on this answer.`;
    const text = `Lot ${revocation.lot_id} was withdrawn: ${revocation.reason}`;
    banners.push({ title, text, color: RED, tint: RED_TINT });
  }
  const amber = { color: AMBER, tint: AMBER_TINT };
  return [...banners, ...sourceWarnings(document).map(([title, text]) => ({ title, text, ...amber }))];
}

function drawBanner(sheet: Sheet, { title, text, color, tint }: Banner, y: number): number {
  const style: TextStyle = { ...SMALL, size: 8.5 };
  const box = { width: WIDTH - 28, leading: 11, linesMax: 2 };
  const lines = Math.min(box.linesMax, sheet.wrapped(text, style, box.width).length);
  const height = 21 + lines * box.leading;
  sheet.box(MARGIN, y, WIDTH, height, tint);
  sheet.box(MARGIN, y, 4, height, color);
  sheet.line(title, MARGIN + 16, y + 14.5, { font: 'bold', size: 9.5, color }, box.width);
  sheet.paragraph(text, MARGIN + 16, y + 26.5, style, box);
  return y + height + 6;
}

/** Draws what is between the banners and the foot, and spreads the spare height over its rows and groups. */
function drawBody(sheet: Sheet, document: Document, from: number): void {
  // With more than two banners there is no room for the runs of each sequence; the web page has them.
  const hasSequences = bannersOf(document).length <= 2;
  const pairs: readonly (readonly [Group, Group])[] = [
    [
      ['The answer', answerFacts(document.certificate)],
      ['Source of the raw bits', sourceFacts(document)],
    ],
    [
      ['Tests', testFacts(document, hasSequences)],
      [lotsTitle(document.lots.length), lotRows(document)],
    ],
  ];
  // The sentence about OpenSSL's generator can make a fourth line: then all lines share the height of three.
  const meaning = provenanceMeaning(document);
  const lines = sheet.wrapped(meaning, VALUE, WIDTH).length;
  const words = { width: WIDTH, leading: lines > 3 ? 9 : 12, linesMax: lines > 3 ? 4 : 3 };
  const hashes = hashFacts(document.certificate);

  const rows = pairs.flatMap(([[, left], [, right]]) => Math.max(left.length, right.length));
  const spread = rows.reduce((sum, each) => sum + each * ROW, 3 * GAP + hashes.length * HASH_ROW);
  const height = 4 * HEADING_HEIGHT + Math.min(lines, words.linesMax) * words.leading + spread;
  let y = from + 16;
  const stretch = 1 + Math.max(0, FOOT - GAP - y - height) / spread;
  const [row, gap] = [ROW * stretch, GAP * stretch];
  for (const [left, right] of pairs)
    y = Math.max(drawGroup(sheet, left, MARGIN, y, row), drawGroup(sheet, right, RIGHT, y, row)) + gap;
  y = drawHeading(sheet, 'In words', MARGIN, y, WIDTH);
  y += sheet.paragraph(meaning, MARGIN, y + 12, lines > 3 ? SMALL : VALUE, words) + gap;
  y = drawHeading(sheet, 'Hashes', MARGIN, y, WIDTH) + 12;
  for (const [name, of, hash] of hashes) {
    sheet.line(name, MARGIN, y, { ...LABEL, font: 'bold', color: INK });
    sheet.line(of, MARGIN + LABEL_WIDTH, y, LABEL);
    sheet.line(hash, MARGIN + LABEL_WIDTH, y + 11, HASH, WIDTH - LABEL_WIDTH);
    y += HASH_ROW * stretch;
  }
}

type Group = readonly [title: string, rows: readonly Fact[]];

/** Draws a titled list of labels and values. Returns the height at which it ends. */
function drawGroup(sheet: Sheet, [title, rows]: Group, x: number, y: number, row: number): number {
  const bottom = drawHeading(sheet, title, x, y, COLUMN);
  rows.forEach(([label, value], i) => {
    const baseline = bottom + 12 + i * row;
    sheet.line(label, x, baseline, LABEL, LABEL_WIDTH);
    sheet.line(value, x + LABEL_WIDTH, baseline, VALUE, COLUMN - LABEL_WIDTH);
  });
  return bottom + rows.length * row;
}

/** Draws a title with its baseline at `y` and a line below it. Returns the height at which the heading ends. */
function drawHeading(sheet: Sheet, title: string, x: number, y: number, width: number): number {
  sheet.line(title.toUpperCase(), x, y, HEADING, width);
  sheet.box(x, y + 6, width, 0.5, HAIRLINE);
  return y + HEADING_HEIGHT;
}

function lotRows({ lots }: Document): Fact[] {
  if (lots.length === 1) {
    const [{ leaf }] = lots;
    return [
      ['Lot', leaf.lot_id],
      ['Measured', leaf.finished_at],
      ['Raw bits', grouped(leaf.raw_bits)],
    ];
  }
  const rows = lots.slice(0, LOTS_LISTED).map(({ leaf }, i): Fact => [`Lot ${i + 1}`, leaf.lot_id]);
  const more = lots.length - LOTS_LISTED;
  return more > 0 ? [...rows, ['', `and ${grouped(more)} more, listed in the JSON`]] : rows;
}

const PROVES =
  'With the answer it belongs to, this certificate proves which values were delivered, when, to which request and ' +
  'from which lots of bits, and that the record stands unchanged in a signed, append-only log.';
const PROVES_NOT =
  'It does not prove that a qubit was measured, nor that values are random: tests can refute randomness, not prove ' +
  'it, and passing SP 800-22 here is not a certification by NIST. Values and salt are not on this page; without the salt the hash gives nothing away.';

function drawFoot(sheet: Sheet, { certificate }: Document): void {
  const url = certificate.verify_url;
  const x = MARGIN + QR_SIDE + 20;
  const width = PAGE.width - MARGIN - x;
  sheet.box(MARGIN, FOOT, WIDTH, 0.5, HAIRLINE);
  sheet.qrCode(url, MARGIN, FOOT + 14, QR_SIDE);
  sheet.link(url, MARGIN, FOOT + 14, QR_SIDE, QR_SIDE);
  sheet.line('CHECK IT YOURSELF', x, FOOT + 21, HEADING);
  const address: TextStyle = { font: 'regular', size: 9, color: ACCENT };
  sheet.line(url, x, FOOT + 34, address, width);
  sheet.link(url, x, FOOT + 24, Math.min(width, sheet.widthOf(url, address)), 14);
  sheet.line(loggedText(certificate.proof), x, FOOT + 46, SMALL, width);
  const box = { width, leading: 10.5, linesMax: 3 };
  let y = FOOT + 63;
  y += sheet.paragraph(PROVES, x, y, SMALL, box) + 4;
  y += sheet.paragraph(PROVES_NOT, x, y, SMALL, box) + 2;
  const notes = `Certificate form ${certificate.version}. Status as of when this page was made; the address above says what holds now.`;
  const legend = sheet.hasCodePoints ? ' {U+…}: a character by its Unicode number.' : '';
  sheet.line(`${notes}${legend}`, MARGIN, 824, { ...LABEL, size: 7 }, WIDTH);
}

/** Returns the place in the log that the proof names. The reader's own verifier checks the proof, not this page. */
function loggedText(proofText: string | null): string {
  if (proofText === null)
    return 'Being logged: fetch the certificate again in a moment for its signed proof.';
  const { proof, checkpoint } = readProof(proofText);
  return `Leaf ${grouped(proof.index)} of ${grouped(checkpoint.size)} in the log ${checkpoint.origin}`;
}

/** A page, with methods that draw on it. */
class Sheet {
  /** Whether a character was printed as its code point. */
  hasCodePoints = false;
  readonly #document: PDFDocument;
  readonly #page: PDFPage;
  readonly #fonts: Readonly<Record<TextStyle['font'], PDFFont>>;
  readonly #printable: ReadonlySet<number>;

  private constructor(document: PDFDocument, fonts: Record<TextStyle['font'], PDFFont>) {
    this.#document = document;
    this.#page = document.addPage([PAGE.width, PAGE.height]);
    this.#fonts = fonts;
    this.#printable = new Set(fonts.regular.getCharacterSet());
  }

  static async create({ id, issued_at, status, provenance }: Document['certificate']): Promise<Sheet> {
    // updateMetadata would write the present time, and equal documents must give equal files.
    const document = await PDFDocument.create({ updateMetadata: false });
    document.setTitle(`Certificate ${id}`, { showInWindowTitleBar: true });
    document.setKeywords([id, status, provenance.origin]);
    document.setProducer('Quantum Random Number Service');
    document.setLanguage('en');
    document.setCreationDate(new Date(issued_at));
    document.setModificationDate(new Date(issued_at));
    return new Sheet(document, {
      regular: await document.embedFont(StandardFonts.Helvetica),
      bold: await document.embedFont(StandardFonts.HelveticaBold),
      mono: await document.embedFont(StandardFonts.Courier),
    });
  }

  bytes(): Promise<Uint8Array> {
    return this.#document.save();
  }

  widthOf(text: string, { font, size }: TextStyle): number {
    return this.#fonts[font].widthOfTextAtSize(this.#pieces(text).join(''), size);
  }

  /** Prints one line with its baseline at `y`. If it is wider than `width`, cuts it and adds an ellipsis. */
  line(text: string, x: number, y: number, style: TextStyle, width = Number.POSITIVE_INFINITY): void {
    const { size, color, font } = style;
    const shown = this.#fitted(text, style, width);
    this.#page.drawText(shown, { x, y: PAGE.height - y, size, color, font: this.#fonts[font] });
  }

  /** Prints at most `linesMax` lines, broken at spaces. Returns the height that they take. */
  paragraph(
    text: string,
    x: number,
    y: number,
    style: TextStyle,
    box: { readonly width: number; readonly leading: number; readonly linesMax: number },
  ): number {
    const lines = this.wrapped(text, style, box.width);
    if (lines.length > box.linesMax)
      lines.splice(box.linesMax - 1, Infinity, lines.slice(box.linesMax - 1).join(' '));
    lines.forEach((each, i) => {
      this.line(each, x, y + i * box.leading, style, box.width);
    });
    return lines.length * box.leading;
  }

  wrapped(text: string, style: TextStyle, width: number): string[] {
    const lines: string[] = [];
    let line = '';
    for (const word of text.split(' ')) {
      const longer = line === '' ? word : `${line} ${word}`;
      if (line !== '' && this.widthOf(longer, style) > width) {
        lines.push(line);
        line = word;
      } else line = longer;
    }
    lines.push(line);
    return lines;
  }

  box(x: number, y: number, width: number, height: number, color: Color): void {
    this.#page.drawRectangle({ x, y: PAGE.height - y - height, width, height, color });
  }

  /** Draws a QR code of `side` points as vector squares. */
  qrCode(text: string, x: number, y: number, side: number): void {
    // The empty page around the code is its quiet zone, so remove the border of one module that the encoder requires.
    const bordered = encodeQR(text, 'raw', { ecc: 'medium', border: 1 });
    const modules = bordered.slice(1, -1).map((row) => row.slice(1, -1));
    const squares = modules.flatMap((row, down) =>
      row.map((isDark, across) => (isDark ? `M${across} ${down}h1v1h-1z` : '')),
    );
    const scale = side / modules.length;
    this.#page.drawSvgPath(squares.join(''), { x, y: PAGE.height - y, scale, color: rgb(0, 0, 0) });
  }

  /** Makes an area open the URL. */
  link(url: string, x: number, y: number, width: number, height: number): void {
    const { context } = this.#document;
    const bottom = PAGE.height - y - height;
    const annotation = context.obj({
      Type: 'Annot',
      Subtype: 'Link',
      Rect: [x, bottom, x + width, bottom + height],
      BS: { W: 0 },
      A: {
        Type: 'Action',
        S: 'URI',
        URI: PDFHexString.of(Buffer.from(new URL(url).href, 'latin1').toString('hex')),
      },
    });
    this.#page.node.addAnnot(context.register(annotation));
    this.#page.node.set(PDFName.of('Tabs'), PDFName.of('S'));
  }

  /** Returns what to print for each character: the character, or its code point if the fonts lack it. */
  #pieces(text: string): string[] {
    return Array.from(text, (character) => {
      const codePoint = character.codePointAt(0)!;
      if (this.#printable.has(codePoint)) return character;
      this.hasCodePoints = true;
      return `{U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}}`;
    });
  }

  #fitted(text: string, style: TextStyle, width: number): string {
    const pieces = this.#pieces(text);
    const font = this.#fonts[style.font];
    const fits = (shown: string) => font.widthOfTextAtSize(shown, style.size) <= width;
    if (fits(pieces.join(''))) return pieces.join('');
    let least = 0;
    let most = pieces.length;
    while (least < most) {
      const middle = (least + most + 1) >> 1;
      if (fits(`${pieces.slice(0, middle).join('')}…`)) least = middle;
      else most = middle - 1;
    }
    return `${pieces.slice(0, least).join('').trimEnd()}…`;
  }
}
