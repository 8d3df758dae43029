import type { InclusionProofText } from '../crypto/note.ts';
import type { CertificateDocument } from './document.ts';
import { readProof } from './signed-checkpoint.ts';

/*
 * What a certificate says, laid out: its p-values, its path to the root of the log and the order of its events, as its
 * page draws them. All of it is computed from the certificate and its lots. Lengths
 * are those of the caller's unit, heights are measured from the top edge down.
 */

type Lot = CertificateDocument['lots'][number]['leaf'];

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The plot ends at p = 10^-8; what is smaller stands at the bottom. */
const DECADES = 8;
/** The centre of a point stays this far inside the plot, in decades. */
const INSET = 0.4;
/** The rule of docs/evidence.md: a row below 0.01 counts against the window, one below 0.000001 fails it. */
const COUNTED_BELOW = 2;
const FAILING_BELOW = 6;

/** The smallest p-value of every tested window, in the order of the lots, on a logarithmic scale. */
interface PValuePlot {
  /** Windows of what answers are drawn from. */
  readonly served: readonly Point[];
  /** Windows of raw noise. */
  readonly raw: readonly Point[];
  readonly radius: number;
  /** Where p = 0.01 and p = 0.000001 lie. */
  readonly countedY: number;
  readonly failingY: number;
  /** Rounded. */
  readonly least: string;
  readonly words: string;
}

/** Undefined when nothing was tested. */
export function pValuePlot(lots: readonly Lot[], { width, height }: Size): PValuePlot | undefined {
  const tested = lots.flatMap((lot) => lot.tested);
  if (tested.length === 0) return undefined;
  const y = (decades: number) => (height * Math.min(decades, DECADES)) / DECADES;
  const step = width / tested.length;
  const raw: Point[] = [];
  const served: Point[] = [];
  tested.forEach(({ of, smallest_p: p }, i) => {
    const decades = p > 0 ? -Math.log10(p) : DECADES;
    const point = { x: (i + 0.5) * step, y: y(Math.max(INSET, Math.min(decades, DECADES - INSET))) };
    (of === 'raw' ? raw : served).push(point);
  });
  const least = rounded(Math.min(...tested.map(({ smallest_p: p }) => p)));
  return {
    served,
    raw,
    radius: Math.min(3.5, Math.max(1.5, step / 3)),
    countedY: y(COUNTED_BELOW),
    failingY: y(FAILING_BELOW),
    least,
    words: `Smallest p-value of each of ${grouped(tested.length)} tested windows, ${grouped(raw.length)} of them of raw noise: the least is ${least}. A window fails below 0.000001.`,
  };
}

/** Three significant figures: the exact one stands in the JSON. */
export function rounded(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1);
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(3)));
}

/** A figure of six decimals that is promised as a least, to three decimals: never rounded up. */
export function roundedDown(value: number): string {
  return String(Math.floor(Math.round(value * 1e6) / 1000) / 1000);
}

export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

interface Step {
  /** The side on which the sibling stands. */
  readonly side: 'left' | 'right';
  readonly sibling: string;
}

/** The siblings from the leaf up, with the side on which each is hashed (RFC 9162, 2.1.3.2). */
export function stepsOf({ index, path }: Pick<InclusionProofText, 'index' | 'path'>, size: number): Step[] {
  let place = index;
  let last = size - 1;
  return path.map((hash) => {
    const isLeft = place % 2 === 1 || place === last;
    if (isLeft) {
      while (place % 2 === 0 && place !== 0) {
        place = Math.floor(place / 2);
        last = Math.floor(last / 2);
      }
    }
    place = Math.floor(place / 2);
    last = Math.floor(last / 2);
    return { side: isLeft ? 'left' : 'right', sibling: Buffer.from(hash).toString('hex') };
  });
}

const ROW = 24;
/** Below the leaf, for its name. */
const LEAF_NAME = 16;
const SIBLING_AWAY = 58;

/** The way from the leaf up to the signed root. */
interface MerkleDrawing extends Size {
  /** From the leaf up to the root; each is hashed from the one before and the sibling of the same row. */
  readonly nodes: readonly Point[];
  /** One for each node but the root. */
  readonly siblings: readonly (Point & { readonly side: Step['side']; readonly label: string })[];
  readonly title: string;
  readonly words: string;
}

/**
 * Undefined while the certificate is being logged.
 */
export function merkleDrawing(proofText: string | null, width: number): MerkleDrawing | undefined {
  const logged = readProof(proofText);
  if (typeof logged === 'string') return undefined;
  const { proof, checkpoint } = logged;
  const steps = stepsOf(proof, checkpoint.size);
  const height = ROW * (steps.length + 1) + LEAF_NAME;
  const yOf = (i: number) => height - LEAF_NAME - ROW / 2 - ROW * i;
  const middle = width / 2;
  const listed = steps.map(({ side, sibling }) => `${side} ${sibling.slice(0, 8)}`).join(', ');
  return {
    width,
    height,
    nodes: Array.from({ length: steps.length + 1 }, (_, i) => ({ x: middle, y: yOf(i) })),
    siblings: steps.map(({ side, sibling }, i) => ({
      x: middle + (side === 'left' ? -SIBLING_AWAY : SIBLING_AWAY),
      y: yOf(i),
      side,
      label: `${sibling.slice(0, 8)}…`,
    })),
    title: `From leaf ${grouped(proof.index)} up to the signed root of ${grouped(checkpoint.size)} entries`,
    words:
      `Leaf ${grouped(proof.index)} of ${grouped(checkpoint.size)}: hashed with ${steps.length} siblings up to the signed root.` +
      (steps.length === 0 ? '' : ` Siblings from the leaf up: ${listed}.`),
  };
}

interface TimedEvent {
  readonly at: string;
  /** To the second, for people. */
  readonly shownAt: string;
  readonly what: string;
  /** Since the event before, rounded; undefined of the first. */
  readonly passed: string | undefined;
}

/** What happened when, the earliest first: lots read, the answer issued, a withdrawal. */
export function eventsOf({ certificate, lots, revocation }: CertificateDocument): TimedEvent[] {
  const finished = lots.map(({ leaf }) => leaf.finished_at).sort();
  const [first, last] = [finished[0], finished.at(-1)];
  const events: Pick<TimedEvent, 'at' | 'what'>[] = [];
  if (first !== undefined && finished.length === 1)
    events.push({ at: first, what: 'The lot was read and tested' });
  if (first !== undefined && last !== undefined && finished.length > 1) {
    events.push({ at: first, what: 'The first lot was read and tested' });
    events.push({ at: last, what: 'The last lot was read and tested' });
  }
  events.push({ at: certificate.issued_at, what: 'The answer was issued' });
  if (revocation !== undefined)
    events.push({ at: revocation.revoked_at, what: 'The operator withdrew a lot' });
  events.sort((a, b) => a.at.localeCompare(b.at));
  return events.map(({ at, what }, i) => ({
    at,
    shownAt: `${at.slice(0, 19).replace('T', ' ')} UTC`,
    what,
    passed: i === 0 ? undefined : `${durationText(Date.parse(at) - Date.parse(events[i - 1].at))} later`,
  }));
}

function durationText(ms: number): string {
  const units: [unit: string, ms: number][] = [
    ['days', 86_400_000],
    ['hours', 3_600_000],
    ['minutes', 60_000],
    ['seconds', 1_000],
  ];
  const found = units.find(([, size]) => ms >= 2 * size);
  return found === undefined ? `${ms} ms` : `${Math.round(ms / found[1])} ${found[0]}`;
}
