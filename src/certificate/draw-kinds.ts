import { bytesToHex } from '@noble/hashes/utils.js';
import {
  boolean,
  integer,
  listOf,
  object,
  oneOfWords,
  orNull,
  type Schema,
  text as textForm,
} from '../core/schema.ts';
import type { SequenceRange, ValueRequest } from '../values/value-request.ts';
import { gaussians } from './draw-gaussians.ts';
import {
  type ByteStream,
  floats,
  integers,
  permutation,
  sample,
  strings,
  uuid,
  weighted,
} from './draw-samplers.ts';
import { checkForm } from './form.ts';
import { member, show, text } from './members.ts';
import { refuse } from './verdict.ts';

/**
 * The kinds of values that a committed draw can have: the form of each kind's request, and how its values are drawn.
 * This is the verifier's own implementation: it imports only types of src/values. Runs in browsers.
 */
type DrawnKind = Exclude<ValueRequest['kind'], 'bitstring' | 'shuffle'>;
type Request<K extends DrawnKind> = Extract<ValueRequest, { readonly kind: K }>;

interface Kind<R> {
  /** The members besides `kind` and `count`. Others are refused, since they could show what is not drawn. */
  readonly members: Readonly<Record<string, Schema>>;
  /** Returns whether the values can be drawn. Left out where every request of the form is possible. */
  readonly isPossible?: (request: R) => boolean;
  /** Returns whether all bytes give the same values. Left out where that cannot be. */
  readonly hasOneOutcome?: (request: R) => boolean;
  readonly draw: (request: R, bytes: ByteStream) => readonly unknown[];
}

/** Most values of a draw, and most numbers in all values together. It bounds the time that a check takes. */
export const NUMBERS_MAX = 100_000;
/** Most items that the weighted picks of a draw may step over, since each pick tries one item after the other. */
const STEPS_MAX = 2 ** 28;

const upTo = (maximum: number, minimum = 1): Schema => ({ ...integer, minimum, maximum });
const someOf = (items: Schema): Schema => ({ ...listOf(items), minItems: 1, maxItems: NUMBERS_MAX });
const texts = someOf(textForm);
const range = { min: integer, max: integer, unique: boolean };
const sort = oneOfWords(['none', 'ascending', 'descending']);

const KINDS: { readonly [K in DrawnKind]: Kind<Request<K>> } = {
  integers: {
    members: { ...range, sort },
    isPossible: (request) => isRange(request, request.count),
    hasOneOutcome: (request) => isFixed(request, request.count, request.sort),
    draw: integers,
  },
  floats: {
    members: { precision: orNull(upTo(15)) },
    draw: ({ count, precision }, bytes) => floats(count, precision, bytes),
  },
  bytes: {
    members: { length: upTo(1_024), encoding: oneOfWords(['hex', 'base64']), single: boolean },
    isPossible: ({ count, length }) => count * length <= NUMBERS_MAX,
    draw: ({ count, length, encoding }, bytes) =>
      times(count, () => {
        const value = bytes.take(length);
        return encoding === 'hex' ? bytesToHex(value) : btoa(String.fromCharCode(...value));
      }),
  },
  uuid: { members: {}, draw: ({ count }, bytes) => times(count, () => uuid(bytes.take(16))) },
  sample: {
    members: { items: texts },
    isPossible: ({ count, items }) => count <= items.length,
    hasOneOutcome: ({ items }) => new Set(items).size === 1,
    draw: ({ count, items }, bytes) => sample(items, count, bytes),
  },
  weighted: {
    members: { items: texts, weights: someOf(upTo(2 ** 53, 1)) },
    isPossible: ({ count, items, weights }) =>
      weights.length === items.length &&
      count * items.length <= STEPS_MAX &&
      weights.reduce((sum, weight) => sum + BigInt(weight), 0n) <= 2n ** 53n,
    hasOneOutcome: ({ items }) => new Set(items).size === 1,
    draw: ({ count, items, weights }, bytes) => weighted(items, weights, count, bytes),
  },
  strings: {
    members: { length: upTo(128), alphabet: texts },
    isPossible: ({ count, length, alphabet }) =>
      count * length <= NUMBERS_MAX && new Set(alphabet).size === alphabet.length,
    hasOneOutcome: ({ alphabet }) => alphabet.length === 1,
    draw: ({ count, length, alphabet }, bytes) => strings(count, length, alphabet, bytes),
  },
  sequences: {
    members: { ranges: someOf(object({ length: upTo(NUMBERS_MAX), ...range })), sort },
    isPossible: ({ count, ranges }) =>
      ranges.every((each) => isRange(each, each.length)) &&
      count * ranges.reduce((sum, { length }) => sum + length, 0) <= NUMBERS_MAX,
    hasOneOutcome: ({ ranges, sort }) => ranges.every((each) => isFixed(each, each.length, sort)),
    draw: ({ count, ranges, sort }, bytes) =>
      times(count, () => ranges.map((each) => integers({ ...each, count: each.length, sort }, bytes))),
  },
  permutations: {
    members: { length: upTo(10_000) },
    isPossible: ({ count, length }) => count * length <= NUMBERS_MAX,
    hasOneOutcome: ({ length }) => length === 1,
    draw: ({ count, length }, bytes) => times(count, () => permutation(length, bytes)),
  },
  gaussians: {
    members: {
      mean: { type: 'number', minimum: -1e6, maximum: 1e6 },
      stddev: { type: 'number', minimum: 1e-9, maximum: 1e6 },
      digits: upTo(14, 2),
    },
    isPossible: ({ count }) => count <= 10_000,
    // The spread is smaller than one unit of the last digit.
    hasOneOutcome: ({ mean, stddev, digits }) =>
      stddev < 10 ** (Math.floor(Math.log10(Math.abs(mean) + stddev)) - digits + 1),
    draw: (request, bytes) => gaussians(request.count, request, bytes),
  },
};

/** Returns the values drawn from the bytes. Refuses a request of another form, and one whose values cannot be drawn. */
export function drawnValues(request: unknown, bytes: ByteStream): readonly unknown[] {
  const { draw, isPossible = () => true } = soundKind(request);
  if (!isPossible(request as never))
    refuse(`The request asks for values of ${text(member(request, 'kind'))} that cannot be drawn.`);
  return draw(request as never, bytes);
}

/** Refuses a request of another form, and one that has only one possible outcome. */
export function checkChance(request: unknown): void {
  const { hasOneOutcome = () => false } = soundKind(request);
  if (hasOneOutcome(request as never))
    refuse('The draw has only one possible outcome, so nothing is left to chance.');
}

/** Returns the kind of a request. Refuses a request that does not have the form of its kind. */
function soundKind(request: unknown): Kind<never> {
  const name = text(member(request, 'kind'));
  if (name === undefined || !Object.hasOwn(KINDS, name))
    refuse(
      `The request has the kind ${show(member(request, 'kind'))}, not one of ${Object.keys(KINDS).join(', ')}.`,
    );
  const kind = KINDS[name as DrawnKind];
  checkForm(object({ kind: textForm, count: upTo(NUMBERS_MAX), ...kind.members }), request, 'request');
  return kind;
}

type Range = Pick<SequenceRange, 'min' | 'max' | 'unique'>;

/** Returns whether the range has at most 2^53 numbers and, if they must be unique, at least `count`. */
function isRange({ min, max, unique }: Range, count: number): boolean {
  // Compare max - min, not that plus 1: 2^53 + 1 is not a double. The samplers accept no word for a span beyond 2^53.
  const reach = max - min;
  return reach >= 0 && reach < 2 ** 53 && (!unique || reach + 1 >= count);
}

/** Returns whether the outcome is fixed: one number, or all numbers of the range in a stated order. */
function isFixed({ min, max, unique }: Range, count: number, sort: string): boolean {
  return min === max || (unique && max - min + 1 === count && sort !== 'none');
}

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}
