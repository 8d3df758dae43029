import { keysDocument } from '../../src/certificate/keys-document.ts';
import { found } from '../../src/certificate/verdict.ts';
import { type Verification, verifyAnswer } from '../../src/certificate/verify.ts';
import { verifyDraw } from '../../src/certificate/verify-draw.ts';
import { lotVerdict, verifyPublicLot } from '../../src/certificate/verify-public-lot.ts';
import { fromHex } from '../../src/core/bytes.ts';
import { drawScene } from './draw-scene.ts';
import { lotRecord, TIME_MS } from './fixtures.ts';
import { LogWorld } from './log-world.ts';
import { changed } from './scene.ts';
import { readVector, vectorNames } from './vectors.ts';

/**
 * The verdicts of the verifiers, word for word, on true documents in which one member was changed or left out: each
 * refusal must name what is wrong. `node test/certificate/write-vectors.ts` writes the files that the test compares
 * them with.
 */

type Said = (document: unknown) => string;

function wordsOf({ ok, checks, notCovered }: Verification): string {
  const failed = checks.filter((check) => !check.ok).map(({ name, why }) => `${name}: ${why}\n`);
  return ok ? `all holds; not covered: ${notCovered.join(', ')}\n` : failed.join('');
}

/** Changes each member in the parts with this prefix, and returns the verdicts. */
function saidOfChanges(document: object, parts: string, say: Said): string {
  const changes = new Map<string, string[]>();
  for (const [path, to] of changesOf(document)) {
    const place = path.join('.');
    if (!parts.split(' ').some((part) => place.startsWith(part))) continue;
    const said = say(changed(document, place, to)).replaceAll(/[0-9a-f]{64}/g, '…');
    changes.set(said, [...(changes.get(said) ?? []), `  ${place} = ${briefly(to)}\n`]);
  }
  return [...changes].map(([said, places]) => said + places.join('')).join('\n');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Yields other values for every member, and undefined for its absence. */
export function* changesOf(
  value: unknown,
  path: readonly string[] = [],
): Generator<[readonly string[], unknown]> {
  if (path.length > 0) {
    yield [path, undefined];
    for (const to of othersThan(value)) yield [path, to];
  }
  if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value)) yield* changesOf(inner, [...path, name]);
}

function othersThan(value: unknown): readonly unknown[] {
  if (typeof value === 'number') return [value + 1, value - 1];
  if (Array.isArray(value)) return [[...value, 'x'], [...value, ...value.slice(-1)], value.slice(1)];
  if (isRecord(value)) return [{ ...value, stranger: 1 }];
  if (typeof value !== 'string') return [value === null ? 'x' : null];
  if (!/^\d{4}-\d\d-\d\dT/.test(value)) return [`${value}x`];
  return [-1_000, 1_000].map((ms) => new Date(Date.parse(value) + ms).toISOString());
}

function briefly(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 40);
}

/** The parts of a vector's `response`, `certificate` and `keys` that are changed; all if none is named. */
const ANSWERS = {
  'fixed-two-lots': '',
  'label-private':
    'response.label certificate.certificate.label certificate.certificate.provenance certificate.lots.0.runs',
  'label-public': 'response.label certificate.certificate.label',
  octets: 'response certificate.certificate.media_type',
  csprng: 'certificate.certificate.provenance certificate.lots.0.leaf',
  'key-rotated-in': 'keys',
  predecessor: 'keys',
};

/** All of a draw except what its certificate and its answer share with others. */
const DRAW_PARTS =
  'type version id state statement committed_at certificate_id commit chain outcome end answer.data answer.label ' +
  'certificate.certificate.label certificate.certificate.provenance.drawn';

/** The verdicts by file name. */
export const SAID: Readonly<Record<string, () => string | Promise<string>>> = {
  ...Object.fromEntries(
    Object.entries(ANSWERS).map(([name, parts]) => [
      `answer-${name}`,
      () => {
        const { response, certificate, keys, octets } = readVector(name);
        const body = octets === undefined ? {} : { octets: fromHex(octets) };
        const say = (input: unknown) =>
          wordsOf(verifyAnswer({ ...(input as { certificate: unknown; keys: unknown }), ...body }));
        return saidOfChanges({ response, certificate, keys }, parts, say);
      },
    ]),
  ),
  'draw-without-beacon': () => ofDraw({ hasBeacon: false }, DRAW_PARTS),
  'draw-with-beacon': () =>
    ofDraw({ statement: { nonce: '00ff' }, nonce: '00ff' }, 'statement.beacon outcome.beacon chain'),
  'draw-failed': () => ofDraw({ end: 'failed', reason: 'beacon_missing' }, 'outcome state end'),
  'draw-not-ended': () => ofDraw({ end: 'none', hasBeacon: false }, 'outcome state end answer commit'),
  'what-holds': wordsOfTrueDocuments,
  'lot-kept': async () => ofLot((await publicLots()).kept),
  'lot-withdrawn': async () => ofLot((await publicLots()).withdrawn),
};

/** Returns each sentence that a check says of valid vectors and draws, once. */
async function wordsOfTrueDocuments(): Promise<string> {
  const answers = vectorNames().map(readVector);
  const verifications: Verification[] = answers
    .filter(({ fails }) => fails.length === 0)
    .map(({ octets, ...input }) => verifyAnswer({ ...input, ...(octets && { octets: fromHex(octets) }) }));
  const nonce = { statement: { nonce: '00ff' }, nonce: '00ff' };
  for (const options of [
    {},
    { ...nonce, hasBeacon: false },
    { end: 'none' },
    { end: 'cancelled', reason: 'cancelled' },
  ] as const) {
    const { document, keys } = await drawScene(options);
    verifications.push(verifyDraw({ draw: document, keys, nowMs: TIME_MS + 5_000 }));
  }
  const words = verifications.flatMap(({ checks }) => checks.map(({ name, why }) => `${name}: ${why}\n`));
  return [...new Set(words)].join('').replaceAll(/[0-9a-f]{64}/g, '…');
}

async function ofDraw(options: Parameters<typeof drawScene>[0], parts: string): Promise<string> {
  const { document, keys } = await drawScene(options);
  return saidOfChanges(document, parts, (draw) =>
    wordsOf(verifyDraw({ draw, keys, nowMs: TIME_MS + 5_000 })),
  );
}

/** The file of that name. */
export function saidFile(name: string): URL {
  return new URL(`../vectors/certificate/said/${name}.txt`, import.meta.url);
}

/** Three lots; the second was withdrawn, and the third counts that. What is told of the first two, before it and after it. */
export async function publicLots() {
  const w = new LogWorld();
  const log = await w.open();
  const lots = ['a', 'b', 'c'].map((name) => lotRecord(name));
  const [a, b, c] = lots.map(({ id }) => id);
  const service = w.service(log);
  const told = async () =>
    JSON.parse(JSON.stringify([await service.publicLot(a), await service.publicLot(b)]));
  for (const lot of lots.slice(0, 2)) w.lots.set(lot.id, lot);
  await log.seal();
  w.withdrawn.push({ lotId: b, why: 'a fault', atMs: TIME_MS });
  await log.seal();
  const before = await told();
  w.lots.set(c, lots[2]);
  await log.seal();
  const after = await told();
  const keys = keysDocument(w.keys);
  const [kept, withdrawn] = [a, b].map((lotId, i) => ({ lotId, document: after[i], keys }));
  return { a, b, before, after, keys, kept, withdrawn };
}

type ToldLot = Awaited<ReturnType<typeof publicLots>>['kept'];

function ofLot({ lotId, document, keys }: ToldLot): string {
  return saidOfChanges(document, '', (changes) => {
    const { known, refusal } = found(() => lotVerdict(lotId, verifyPublicLot(lotId, changes, keys)));
    return `${known ?? refusal}\n`;
  });
}
