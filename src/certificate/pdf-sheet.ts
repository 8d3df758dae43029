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

/**
 * An A4 page and what can be set on it. Lengths are points (1/72 inch), heights are measured from the top
 * edge down. The fonts are of the standard 14 (ISO 32000-1 §9.6.2.2), which every reader brings: text stays
 * selectable and a page small. They hold the Latin characters of WinAnsiEncoding; any other is printed as its
 * code point, `{U+91CF}`, so that no text can break the page or be shown as another one.
 */
export const PAGE = { width: 595.28, height: 841.89 } as const;

export type FontName = 'regular' | 'bold' | 'mono';

export interface TextStyle {
  readonly font: FontName;
  readonly size: number;
  readonly color: Color;
  /** Extra space between characters. */
  readonly tracking?: number;
}

export interface SheetFacts {
  readonly title: string;
  readonly subject: string;
  readonly keywords: readonly string[];
  readonly producer: string;
  /** When the document was made: the file says the same whenever it is drawn. */
  readonly at: Date;
}

// margins, colours and text styles of the PDF certificate

export const MARGIN = 48;
export const WIDTH = PAGE.width - 2 * MARGIN;

/** Of the labels beside their values. */
export const LABEL_WIDTH = 64;

export type Row = readonly [label: string, value: string];

export const INK = rgb(0.09, 0.11, 0.16);
export const GREY = rgb(0.4, 0.43, 0.5);
export const ACCENT = rgb(0.16, 0.27, 0.55);
export const HAIRLINE = rgb(0.82, 0.84, 0.88);
export const WHITE = rgb(1, 1, 1);
export const GREEN = rgb(0.07, 0.43, 0.26);
export const RED = rgb(0.7, 0.11, 0.13);
export const AMBER = rgb(0.6, 0.36, 0);
export const RED_TINT = rgb(0.99, 0.93, 0.93);
export const AMBER_TINT = rgb(1, 0.96, 0.88);

export const LABEL: TextStyle = { font: 'regular', size: 8, color: GREY };
export const VALUE: TextStyle = { font: 'regular', size: 9, color: INK };
export const HEADING: TextStyle = { font: 'bold', size: 7.5, color: ACCENT, tracking: 0.8 };
export const HASH: TextStyle = { font: 'mono', size: 8.5, color: INK };
export const SMALL: TextStyle = { font: 'regular', size: 8, color: INK };

export class Sheet {
  /** A character was printed as its code point. */
  hasCodePoints = false;
  readonly #document: PDFDocument;
  readonly #page: PDFPage;
  readonly #fonts: Readonly<Record<FontName, PDFFont>>;
  readonly #printable: ReadonlySet<number>;

  private constructor(document: PDFDocument, fonts: Record<FontName, PDFFont>) {
    this.#document = document;
    this.#page = document.addPage([PAGE.width, PAGE.height]);
    this.#fonts = fonts;
    this.#printable = new Set(fonts.regular.getCharacterSet());
  }

  static async create(facts: SheetFacts): Promise<Sheet> {
    // updateMetadata would write the time of drawing: equal documents must give equal files
    const document = await PDFDocument.create({ updateMetadata: false });
    document.setTitle(facts.title, { showInWindowTitleBar: true });
    document.setSubject(facts.subject);
    document.setKeywords([...facts.keywords]);
    document.setProducer(facts.producer);
    document.setCreator(facts.producer);
    document.setLanguage('en');
    document.setCreationDate(facts.at);
    document.setModificationDate(facts.at);
    return new Sheet(document, {
      regular: await document.embedFont(StandardFonts.Helvetica),
      bold: await document.embedFont(StandardFonts.HelveticaBold),
      mono: await document.embedFont(StandardFonts.Courier),
    });
  }

  bytes(): Promise<Uint8Array> {
    return this.#document.save();
  }

  widthOf(text: string, style: TextStyle): number {
    const shown = this.#pieces(text);
    const tracked = shown.length * (style.tracking ?? 0);
    return this.#fonts[style.font].widthOfTextAtSize(shown.join(''), style.size) + tracked;
  }

  /** One line with its baseline at `y`, cut with an ellipsis when it is wider than `width`. */
  line(text: string, x: number, y: number, style: TextStyle, width = Number.POSITIVE_INFINITY): void {
    const shown = this.#fitted(text, style, width);
    const { size, color, tracking } = style;
    this.#page.drawText(shown, {
      x,
      y: PAGE.height - y,
      size,
      color,
      font: this.#fonts[style.font],
      ...(tracking === undefined ? {} : { characterSpacing: tracking }),
    });
  }

  /** At most `linesMax` lines, broken at spaces; gives the height that they take. */
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

  rule(x: number, y: number, width: number, color: Color, thickness = 0.5): void {
    this.box(x, y - thickness / 2, width, thickness, color);
  }

  /** A QR code of `side` points, as vector squares: runs of dark modules in a row are one rectangle. */
  qrCode(text: string, x: number, y: number, side: number): void {
    // the page around it is the quiet zone, so the border of one module that the encoder insists on goes
    const bordered = encodeQR(text, 'raw', { ecc: 'medium', border: 1 });
    const modules = bordered.slice(1, -1).map((row) => row.slice(1, -1));
    const unit = side / modules.length;
    let path = '';
    modules.forEach((row, at) => {
      let from = 0;
      while (from < row.length) {
        let to = from;
        while (to < row.length && row[to]) to++;
        if (to > from) path += `M${from} ${at}h${to - from}v1h${from - to}z`;
        from = to + 1;
      }
    });
    this.#page.drawSvgPath(path, { x, y: PAGE.height - y, scale: unit, color: rgb(0, 0, 0) });
  }

  /** Makes an area open the URL. */
  link(url: string, x: number, y: number, width: number, height: number): void {
    const { context } = this.#document;
    const bottom = PAGE.height - y - height;
    const annotation = context.obj({
      Type: 'Annot',
      Subtype: 'Link',
      Rect: [x, bottom, x + width, bottom + height],
      Border: [0, 0, 0],
      A: {
        Type: 'Action',
        S: 'URI',
        URI: PDFHexString.of(Buffer.from(new URL(url).href, 'latin1').toString('hex')),
      },
    });
    this.#page.node.addAnnot(context.register(annotation));
    this.#page.node.set(PDFName.of('Tabs'), PDFName.of('S'));
  }

  /** What is printed, character by character. */
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
    const tracking = style.tracking ?? 0;
    const fits = (shown: string, count: number) =>
      font.widthOfTextAtSize(shown, style.size) + count * tracking <= width;
    const whole = pieces.join('');
    if (fits(whole, pieces.length)) return whole;
    let least = 0;
    let most = pieces.length;
    while (least < most) {
      const middle = (least + most + 1) >> 1;
      if (fits(`${pieces.slice(0, middle).join('')}…`, middle + 1)) least = middle;
      else most = middle - 1;
    }
    return `${pieces.slice(0, least).join('').trimEnd()}…`;
  }
}

/** A title with a line below it, its baseline at `y`; gives where the line ends. */
export function drawHeading(sheet: Sheet, title: string, x: number, y: number, width: number): number {
  sheet.line(title.toUpperCase(), x, y, HEADING, width);
  sheet.rule(x, y + 6, width, HAIRLINE);
  return y + 8;
}
