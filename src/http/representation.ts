import { ApiError } from '../core/errors.ts';

/** The representations of replies (SPEC-NOTES, representations). */
export type Representation = 'json' | 'msgpack' | 'octet-stream' | 'problem' | 'health';

export const MEDIA_TYPES: Readonly<Record<Representation, string>> = {
  json: 'application/json',
  msgpack: 'application/msgpack',
  'octet-stream': 'application/octet-stream',
  problem: 'application/problem+json',
  health: 'application/health+json',
};

/** Further members of a list are ignored: no client sends more, and each costs time. */
const MEMBERS_MAX = 32;

/** A member of a list of preferences: a media range or a content coding. */
interface Weighted {
  /** In lower case. */
  readonly name: string;
  /** From 0 (never) to 1. */
  readonly quality: number;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"; // RFC 9110 §5.6.2
/** token ["/" token], and parameters (§5.6.6). Their values are tokens, or quoted strings whose text was removed before. */
const MEMBER = new RegExp(
  `^[\\t ]*(${TOKEN}(?:/${TOKEN})?)((?:[\\t ]*;(?:[\\t ]*${TOKEN}=(?:""|${TOKEN}))?)*)[\\t ]*$`,
);
const QUOTED = new RegExp(`(;[\\t ]*${TOKEN}=)"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"`, 'g'); // §5.6.4
const WEIGHT = /;[\t ]*[qQ]=([^;\t ]*)/g;
const QUALITY = /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/; // qvalue, RFC 9110 §12.4.2

/**
 * Returns the members of an Accept or Accept-Encoding field in the client's order, without the malformed ones. The weight is the
 * only parameter that counts, because no two representations of the service differ in another one.
 */
export function parseWeighted(field: string): Weighted[] {
  const members = field.replace(QUOTED, '$1""').split(',', MEMBERS_MAX);
  return members.flatMap((member) => {
    const [, name = '', parameters = ''] = MEMBER.exec(member) ?? [];
    const weights = [...parameters.matchAll(WEIGHT)].map(([, weight]) => weight);
    if (name === '' || !weights.every((weight) => QUALITY.test(weight))) return [];
    return [{ name: name.toLowerCase(), quality: Number(weights.at(-1) ?? 1) }];
  });
}

/** A representation that can be sent. */
export interface Offer {
  /** The value of Content-Type. */
  readonly mediaType: string;
}

/**
 * Finds the most specific range that matches the offer (RFC 9110 §12.5.1). Returns its quality, its precision (0 for any
 * type, 1 for type/*, 2 for the full name) and its place in the client's list.
 */
function matchOf(mediaType: string, ranges: readonly Weighted[]) {
  const [whole] = mediaType.split(';', 1);
  const ofPrecision = ['*/*', `${whole.split('/', 1)[0]}/*`, whole];
  let best = { quality: 0, precision: -1, order: 0 };
  ranges.forEach(({ name, quality }, order) => {
    const precision = ofPrecision.indexOf(name);
    if (precision > best.precision) best = { quality, precision, order };
  });
  return best;
}

const offerOf = <R extends Representation>(name: R) => ({ name, mediaType: MEDIA_TYPES[name] });

/** Chooses the representation of a reply from `offered`, whose first member is the default; see `chooseOffer`. */
export function negotiate<R extends Representation>(accept: string, offered: readonly R[], otherwise?: R): R {
  return chooseOffer(accept, offered.map(offerOf), otherwise && offerOf(otherwise)).name;
}

/**
 * Returns the offer that the client accepts best: the one with the highest quality, then the one that the client names
 * more exactly, then the one that it names first, then the one that is offered first. If the client accepts none, returns
 * `otherwise`, or without that throws not_acceptable (RFC 9110 §15.5.7). An Accept field without a well-formed range counts
 * as absent: the first offer is returned.
 */
export function chooseOffer<O extends Offer>(accept: string, offers: readonly O[], otherwise?: O): O {
  const preset = offers[0];
  if (accept === '' || accept === '*/*' || accept === preset.mediaType) return preset;
  const ranges = parseWeighted(accept).filter(({ name }) => name.includes('/'));
  if (ranges.length === 0) return preset;
  const [best] = offers
    .map((offer) => ({ offer, ...matchOf(offer.mediaType, ranges) }))
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || b.precision - a.precision || a.order - b.order);
  if (best !== undefined) return best.offer;
  // only errors are sent as problem+json: a client that accepts nothing else gets an answer as JSON
  const takesProblems = matchOf(MEDIA_TYPES.problem, ranges).quality > 0;
  if (preset.mediaType === MEDIA_TYPES.json && takesProblems) return preset;
  if (otherwise !== undefined) return otherwise;
  const types = offers.map(({ mediaType }) => mediaType);
  throw new ApiError('not_acceptable', {
    message: `The Accept header allows none of the media types of the resource: ${types.join(', ')}.`,
    details: { available: types },
  });
}

/** Returns true when a Content-Type is application/json, with any parameters and in any letter case. */
export function isJson(contentType: string): boolean {
  return /^application\/json[\t ]*(?:;|$)/i.test(contentType);
}
