import { plainSignatures } from '../crypto/note.ts';
import type { CertificateDocument } from './document.ts';
import { eventsOf, grouped, merkleDrawing, type Point, pValuePlot } from './drawings.ts';
import {
  ACCENT,
  drawHeading,
  GREY,
  HAIRLINE,
  HASH,
  INK,
  LABEL,
  LABEL_WIDTH,
  MARGIN,
  PAGE,
  RED,
  type Row,
  type Sheet,
  SMALL,
  type TextStyle,
  VALUE,
  WHITE,
  WIDTH,
} from './pdf-sheet.ts';
import { readProof } from './signed-checkpoint.ts';

/**
 * The second page of the PDF certificate: when things happened, the p-values and the place in the log, drawn. The
 * certificate's page on the web draws the same layout (drawings.ts).
 */

/** From the end of a drawing to the heading of the next. */
const GAP = 26;
/** Where the lines at the foot begin; no drawing may reach them. */
const FOOT = 796;

/** Draws the time line, the p-values and the Merkle path, one below the other, from `y` on. */
export function drawDrawings(sheet: Sheet, document: CertificateDocument, y: number): void {
  const { certificate } = document;
  const afterEvents = drawTimeLine(sheet, document, y + 16);
  const afterPlot = drawPValues(sheet, certificate.provenance.lots, afterEvents + GAP);
  drawLog(sheet, certificate.proof, afterPlot + GAP);
  sheet.rule(MARGIN, FOOT, WIDTH, HAIRLINE);
  const notes = 'Times and figures on this page are rounded for people; the exact ones stand in the JSON.';
  sheet.line(notes, MARGIN, FOOT + 14, LABEL, WIDTH);
  sheet.line(certificate.verify_url, MARGIN, FOOT + 26, { ...LABEL, color: ACCENT }, WIDTH);
  sheet.link(certificate.verify_url, MARGIN, FOOT + 17, WIDTH, 12);
}

const EVENT_DOT = 4;

/** The events from left to right, evenly spaced: the times between them may differ by orders of magnitude. */
function drawTimeLine(sheet: Sheet, document: CertificateDocument, from: number): number {
  const line = drawHeading(sheet, 'What happened when', MARGIN, from, WIDTH) + 22;
  const events = eventsOf(document);
  const step = WIDTH / events.length;
  const places = events.map((_, i): Point => ({ x: MARGIN + EVENT_DOT + i * step, y: line }));
  sheet.strokes([places], HAIRLINE, 1.5);
  sheet.dots(places, EVENT_DOT, ACCENT);
  events.forEach(({ what, shownAt, passed }, i) => {
    const x = MARGIN + i * step;
    const width = step - 8;
    sheet.line(shownAt, x, line + 18, SMALL, width);
    sheet.paragraph(what, x, line + 30, { ...SMALL, font: 'bold' }, { width, leading: 11, linesMax: 2 });
    if (passed !== undefined) {
      const middle = x + EVENT_DOT - step / 2 - sheet.widthOf(passed, LABEL) / 2;
      sheet.line(passed, middle, line - 6, LABEL, width);
    }
  });
  sheet.line('The distances on this line are not to scale.', MARGIN, line + 56, LABEL, WIDTH);
  return line + 56;
}

const PLOT_HEIGHT = 104;
/** Left of the plot, for the p-values at its lines. */
const SCALE_WIDTH = 44;

function drawPValues(
  sheet: Sheet,
  lots: CertificateDocument['certificate']['provenance']['lots'],
  from: number,
): number {
  const bottom = drawHeading(sheet, 'Smallest p-value of each tested window', MARGIN, from, WIDTH);
  const [x, y] = [MARGIN + SCALE_WIDTH, bottom + 10];
  const width = WIDTH - SCALE_WIDTH;
  const plot = pValuePlot(lots, { width, height: PLOT_HEIGHT });
  if (plot === undefined) {
    sheet.line('No window was tested.', MARGIN, bottom + 14, SMALL, WIDTH);
    return bottom + 14;
  }
  const { served, raw, radius, countedY, failingY, words } = plot;
  const across = (height: number) => [
    { x, y: y + height },
    { x: x + width, y: y + height },
  ];
  sheet.strokes([across(0), across(countedY), across(PLOT_HEIGHT)], HAIRLINE, 0.5);
  sheet.strokes([across(failingY)], RED, 0.75);
  for (const [label, height] of [
    ['1', 0],
    ['0.01', countedY],
    ['0.000001', failingY],
  ] as const)
    drawEndingAt(sheet, label, x - 6, y + height + 2.8, LABEL);
  const inPlot = (points: readonly Point[]) =>
    points.map((point): Point => ({ x: x + point.x, y: y + point.y }));
  sheet.dots(inPlot(served), radius, ACCENT);
  drawRings(sheet, inPlot(raw), radius);
  sheet.line('a window fails below this line', x + 4, y + failingY + 10, { ...LABEL, color: RED });
  const key = y + PLOT_HEIGHT + 14;
  sheet.dots([{ x: x + 3.5, y: key - 2.8 }], 3.5, ACCENT);
  const servedText = `${served.length} of what answers are drawn from`;
  sheet.line(servedText, x + 12, key, SMALL);
  const second = x + 12 + sheet.widthOf(servedText, SMALL) + 20;
  drawRings(sheet, [{ x: second + 3.5, y: key - 2.8 }], 3.5);
  sheet.line(`${raw.length} of raw noise, may be biased`, second + 12, key, SMALL);
  const box = { width: WIDTH, leading: 11, linesMax: 2 };
  return key + 4 + sheet.paragraph(words, MARGIN, key + 15, SMALL, box);
}

/** Told from the filled points on paper without colour too. */
function drawRings(sheet: Sheet, points: readonly Point[], radius: number): void {
  sheet.dots(points, radius, GREY);
  sheet.dots(points, radius - Math.min(1, radius / 2), WHITE);
}

const TREE_WIDTH = 250;
const LOG_ROW = 14;

function drawLog(sheet: Sheet, proof: string | null, from: number): void {
  const rows = logRows(proof);
  const below = drawHeading(sheet, 'Signed log', MARGIN, from, WIDTH);
  rows.forEach(([label, value], i) => {
    const y = below + 12 + i * LOG_ROW;
    sheet.line(label, MARGIN, y, LABEL);
    sheet.line(value, MARGIN + LABEL_WIDTH, y, label === 'Root' ? HASH : VALUE, WIDTH - LABEL_WIDTH);
  });
  drawMerklePath(sheet, proof, below + rows.length * LOG_ROW + 6);
}

function drawMerklePath(sheet: Sheet, proof: string | null, bottom: number): void {
  const drawing = merkleDrawing(proof, TREE_WIDTH, FOOT - 6 - bottom);
  if (drawing === undefined) return;
  const place = <P extends Point>(point: P): P => ({ ...point, x: MARGIN + point.x, y: bottom + point.y });
  const nodes = drawing.nodes.map(place);
  const siblings = drawing.siblings.map(place);
  const row = drawing.height / (nodes.length + 1);
  const radius = Math.min(5, row / 2.5);
  sheet.strokes(
    siblings.map((sibling, i) => [sibling, nodes[i + 1]]),
    GREY,
    0.75,
  );
  sheet.strokes([nodes], ACCENT, 1.5);
  drawRings(sheet, siblings, 0.8 * radius);
  sheet.dots(nodes, radius, ACCENT);
  const hash: TextStyle = { ...HASH, size: Math.min(7.5, row) };
  for (const { x, y, side, label } of siblings) {
    if (side === 'left') drawEndingAt(sheet, label, x - 8, y + 2.5, hash);
    else sheet.line(label, x + 8, y + 2.5, hash);
  }
  const [leaf, root] = [nodes[0], nodes[nodes.length - 1]];
  const name: TextStyle = { ...SMALL, font: 'bold' };
  // away from the line to the last sibling
  if (siblings.at(-1)?.side === 'left') sheet.line('root', root.x + 9, root.y + 2.8, name);
  else drawEndingAt(sheet, 'root', root.x - 9, root.y + 2.8, name);
  const nameX = leaf.x - sheet.widthOf('this certificate', name) / 2;
  sheet.line('this certificate', nameX, bottom + drawing.height - 3, name);
  const x = MARGIN + TREE_WIDTH + 24;
  const box = { width: PAGE.width - MARGIN - x, leading: 12, linesMax: 5 };
  let y = bottom + 16;
  y += sheet.paragraph(drawing.title, x, y, { font: 'bold', size: 9, color: INK }, box) + 4;
  for (const text of MERKLE_WORDS) y += sheet.paragraph(text, x, y, SMALL, box) + 4;
}

const MERKLE_WORDS = [
  'Each filled node above the lowest is the SHA-256 hash of the two nodes that lead to it, the left one first (RFC 9162). Of each sibling the first eight hex digits are shown; the proof in the JSON has all.',
  'This page shows the proof and does not check it. The address below checks it in the reader’s own browser.',
] as const;

function drawEndingAt(sheet: Sheet, text: string, x: number, y: number, style: TextStyle): void {
  sheet.line(text, x - sheet.widthOf(text, style), y, style);
}

/**
 * Where the proof says the certificate is logged. It is shown, not checked: the reader's own verifier does
 * that.
 */
function logRows(proofText: string | null): Row[] {
  const logged = readProof(proofText);
  if (typeof logged === 'string')
    return [['Entry', 'Being logged: fetch the certificate again in a moment for its signed proof.']];
  const { proof, note, checkpoint } = logged;
  const signers = plainSignatures(note)
    .map(({ name, keyId }) => `${keyId} of ${name}`)
    .join(', ');
  return [
    ['Entry', `leaf ${grouped(proof.index)} of ${grouped(checkpoint.size)} in the log ${checkpoint.origin}`],
    ['Root', `base64:${Buffer.from(checkpoint.root).toString('base64')}`],
    ['Signed by', `Ed25519 key ${signers}`],
  ];
}
