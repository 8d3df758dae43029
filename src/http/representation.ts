import { ApiError } from '../core/errors.ts';

/** Forms in which an answer can be sent (SPEC-NOTES, representations). */
export type Representation = 'json' | 'msgpack' | 'octet-stream' | 'problem' | 'health';

export const MEDIA_TYPES: Readonly<Record<Representation, string>> = {
  json: 'application/json',
  msgpack: 'application/msgpack',
  'octet-stream': 'application/octet-stream',
  problem: 'application/problem+json',
  health: 'application/health+json',
};

/** Members beyond this are not read: no client sends more, and each costs time. */
const MEMBERS_MAX = 32;

/** A member of a list that states preferences: a media range, or a content coding. */
interface Weighted {
  /** In lower case. */
  readonly name: string;
  /** From 0 (never) to 1. */
  readonly quality: number;
}

// token ["/" token] of RFC 9110 §5.6.2, and a parameter whose value is a token or a quoted string (§5.6.4, §5.6.6)
const NAME = /[\t ]*([!#$%&'*+.^_`|~0-9A-Za-z-]+(?:\/[!#$%&'*+.^_`|~0-9A-Za-z-]+)?)/y;
const PARAMETER =
  /[\t ]*;[\t ]*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)=("[^"\\]*(?:\\.[^"\\]*)*"|[!#$%&'*+.^_`|~0-9A-Za-z-]+))?/y;
const SEPARATOR = /[\t ]*(?:,|$)/y;
const QUALITY = /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/; // qvalue, RFC 9110 §12.4.2

/**
 * The members of an Accept or Accept-Encoding field in the client's order. One that is malformed is left out, the others count.
 * Of its parameters the weight alone is read: no form of ours differs in another, and a charset matters to none.
 */
export function parseWeighted(field: string): Weighted[] {
  const members: Weighted[] = [];
  let at = 0;
  for (let i = 0; at < field.length && i < MEMBERS_MAX; i++) {
    const [member, end] = readMember(field, at);
    SEPARATOR.lastIndex = end;
    if (SEPARATOR.test(field)) {
      if (member !== undefined) members.push(member);
      at = SEPARATOR.lastIndex;
    } else {
      const comma = field.indexOf(',', end);
      at = comma < 0 ? field.length : comma + 1;
    }
  }
  return members;
}

function readMember(field: string, start: number): [member: Weighted | undefined, end: number] {
  NAME.lastIndex = start;
  const found = NAME.exec(field);
  if (found === null) return [undefined, start];
  let end = NAME.lastIndex;
  let quality = 1;
  for (;;) {
    PARAMETER.lastIndex = end;
    const parameter = PARAMETER.exec(field);
    if (parameter === null) break;
    end = PARAMETER.lastIndex;
    if (parameter[1] !== 'q' && parameter[1] !== 'Q') continue;
    if (!QUALITY.test(parameter[2])) return [undefined, end];
    quality = Number(parameter[2]);
  }
  return [{ name: found[1].toLowerCase(), quality }, end];
}

/** The media ranges of an Accept field (RFC 9110 §12.5.1), such as `text/*`. */
export function parseAccept(accept: string): Weighted[] {
  return parseWeighted(accept).filter(({ name }) => name.includes('/'));
}

/** A form that can be sent. */
export interface Offer {
  /** As Content-Type gives it. */
  readonly mediaType: string;
}

interface Match {
  readonly quality: number;
  /** 0: any, 1: type/*, 2: named in full. The most specific range decides the quality (RFC 9110 §12.5.1). */
  readonly precision: number;
  /** Place in the client's list. */
  readonly order: number;
}

function matchOf({ mediaType }: Offer, ranges: readonly Weighted[]): Match | undefined {
  const [whole] = mediaType.split(';', 1);
  const ofPrecision = ['*/*', `${whole.split('/', 1)[0]}/*`, whole];
  let best: Match | undefined;
  ranges.forEach(({ name, quality }, order) => {
    const precision = ofPrecision.indexOf(name);
    if (precision > (best?.precision ?? -1)) best = { quality, precision, order };
  });
  return best;
}

const OFFERS = Object.fromEntries(
  Object.entries(MEDIA_TYPES).map(([name, mediaType]) => [name, { name, mediaType }]),
) as unknown as Readonly<Record<Representation, Offer & { readonly name: Representation }>>;

/** The form to answer in, one of `offered`, of which the first is the default; see `chooseOffer`. */
export function negotiate<R extends Representation>(accept: string, offered: readonly R[], otherwise?: R): R {
  const offers = offered.map((name) => OFFERS[name]);
  return chooseOffer(accept, offers, otherwise === undefined ? undefined : OFFERS[otherwise]).name as R;
}

/**
 * The offer that the client accepts best. The best quality wins; of equals the one that the client names more exactly,
 * then the one it names first, then the earlier offered. Where the client accepts none of them `otherwise` is sent, or
 * without one an ApiError not_acceptable is thrown (RFC 9110 §15.5.7). An Accept field without a single well-formed
 * range counts as absent, and then the first is sent.
 */
export function chooseOffer<O extends Offer>(accept: string, offers: readonly O[], otherwise?: O): O {
  const preset = offers[0];
  if (accept === '' || accept === '*/*' || accept === preset.mediaType) return preset;
  const ranges = parseAccept(accept);
  if (ranges.length === 0) return preset;
  let chosen: O | undefined;
  let best: Match = { quality: 0, precision: 0, order: 0 };
  for (const candidate of offers) {
    const match = matchOf(candidate, ranges);
    if (match === undefined || match.quality === 0) continue;
    if (isBetter(match, best)) {
      chosen = candidate;
      best = match;
    }
  }
  if (chosen !== undefined) return chosen;
  // problem+json is the form of errors alone: who accepts nothing else takes an answer as JSON
  const takesProblems = (matchOf(OFFERS.problem, ranges)?.quality ?? 0) > 0;
  if (preset.mediaType === MEDIA_TYPES.json && takesProblems) return preset;
  if (otherwise !== undefined) return otherwise;
  const types = offers.map(({ mediaType }) => mediaType);
  throw new ApiError('not_acceptable', {
    message: `This resource can be sent as ${types.join(', ')}; Accept allows none of them.`,
    details: { available: types },
  });
}

function isBetter(one: Match, other: Match): boolean {
  if (one.quality !== other.quality) return one.quality > other.quality;
  if (one.precision !== other.precision) return one.precision > other.precision;
  return one.order < other.order;
}

/** Whether a Content-Type is application/json: parameters (a charset) and letter case do not matter. */
export function isJson(contentType: string): boolean {
  return /^application\/json[\t ]*(?:;|$)/i.test(contentType);
}
