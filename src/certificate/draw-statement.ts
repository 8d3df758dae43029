import { isObject } from '../core/json.ts';
import { canonical, listAt, member, show, text } from './members.ts';
import { digestText, refuse } from './verdict.ts';

/**
 * What the statement of a committed draw may say (docs/draws.md): exactly the members of its kind, and more than one
 * possible outcome. The service asks the same of a draw before it commits to it. Runs in browsers.
 */

/** Members of a statement, and those that it may have. */
const STATEMENT = ['type', 'version', 'id', 'request', 'purpose', 'public', 'due_at'];
const OPTIONAL = ['list', 'user_data', 'user_data_sha256', 'nonce', 'nonce_sha256', 'beacon', 'gives_up_at'];

/** Beside `kind`. A member that the samplers do not read would show readers what is not drawn from. */
const REQUESTS: Readonly<Record<string, readonly string[]>> = {
  integers: ['count', 'min', 'max', 'unique', 'sort'],
  floats: ['count', 'precision'],
  bytes: ['count', 'length', 'encoding', 'single'],
  uuid: ['count'],
  sample: ['count', 'items'],
  weighted: ['count', 'items', 'weights'],
  strings: ['count', 'length', 'alphabet'],
  sequences: ['count', 'ranges', 'sort'],
  permutations: ['count', 'length'],
  gaussians: ['count', 'mean', 'stddev', 'digits'],
};
const RANGE = ['length', 'min', 'max', 'unique'];
const NAMED_LIST = ['sha256', 'size'];
const BEACON = ['chain', 'round'];

/** A draw is revealed within moments of its time, also while the service is busy. */
export const OVERDUE_MS = 60_000;

/** Items and chances that a sentence names before it counts the others. */
const CHANCES_TOLD = 10;

/** Refuses a statement that is not sound. Its hash is not looked at. */
function checkStatement(statement: unknown): void {
  const [list, beacon] = [member(statement, 'list'), member(statement, 'beacon')];
  checkMembers('statement', statement, STATEMENT, OPTIONAL);
  checkRequest(member(statement, 'request'));
  if (list !== undefined) checkMembers('list', list, NAMED_LIST);
  if (beacon !== undefined) checkMembers('beacon', beacon, BEACON);
}

/** Refuses what is to be drawn where it is not sound. */
export function checkRequest(request: unknown): void {
  const kind = text(member(request, 'kind'));
  const names = kind !== undefined && Object.hasOwn(REQUESTS, kind) ? REQUESTS[kind] : undefined;
  if (names === undefined) refuse(`There is no kind ${show(member(request, 'kind'))} of values to draw.`);
  checkMembers('request', request, ['kind', ...names]);
  const ranges = listAt(request, 'ranges');
  for (const range of ranges) checkMembers('range of the request', range, RANGE);
  for (const each of [request, ...ranges]) checkTypes(each);
  for (const name of ['items', 'alphabet']) {
    for (const [i, item] of listAt(request, name).entries()) {
      const what = name === 'items' ? `Item ${i + 1}` : `Character ${i + 1} of the alphabet`;
      if (typeof item !== 'string') refuse(`${what} is ${show(item)}, not a text.`);
      if (LINE_BREAK.test(item))
        refuse(`${what} has a line break: it would pass for several lines of a list.`);
      if (name === 'alphabet' && [...item].length !== 1)
        refuse(`${what} is ${show(item)}, not one character.`);
    }
  }
  if (hasOneOutcome(request)) refuse('The draw has one possible outcome: nothing is left to chance.');
}

/** Everything that a reader or an editor shows as a new line. */
const LINE_BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;
const ORDERS: readonly unknown[] = ['none', 'ascending', 'descending'];

/** A word that the samplers do not know would be shown and not done. */
function checkTypes(value: unknown): void {
  for (const name of ['unique', 'single']) {
    const told = member(value, name);
    if (told !== undefined && typeof told !== 'boolean')
      refuse(`${name} is ${show(told)}, not true or false.`);
  }
  const sort = member(value, 'sort');
  if (sort !== undefined && !ORDERS.includes(sort))
    refuse(`sort is ${show(sort)}, not none, ascending or descending.`);
}

function checkMembers(
  what: string,
  value: unknown,
  required: readonly string[],
  optional: readonly string[] = [],
): void {
  if (!isObject(value)) refuse(`The ${what} is ${show(value)}, not an object.`);
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) refuse(`The ${what} lacks the member ${show(missing)}.`);
  const stranger = Object.keys(value).find((name) => !required.includes(name) && !optional.includes(name));
  if (stranger !== undefined)
    refuse(`The ${what} has a member ${show(stranger)}, which a ${what} does not have.`);
}

/** Whatever the bytes are, the values are the same. A request that nothing can be drawn with is none of its business. */
function hasOneOutcome(request: unknown): boolean {
  const [count, items] = [member(request, 'count'), listAt(request, 'items')];
  const sort = member(request, 'sort');
  switch (member(request, 'kind')) {
    case 'integers':
      return isFixed(request, count, sort);
    case 'sample':
    case 'weighted':
      return new Set(items).size === 1;
    case 'strings':
      return listAt(request, 'alphabet').length === 1;
    case 'permutations':
      return member(request, 'length') === 1;
    case 'gaussians': {
      // a spread that does not reach the last digit
      const [mean, stddev, digits] = ['mean', 'stddev', 'digits'].map((name) =>
        Number(member(request, name)),
      );
      return stddev < 10 ** (Math.floor(Math.log10(Math.abs(mean) + stddev)) - digits + 1);
    }
    case 'sequences': {
      const ranges = listAt(request, 'ranges');
      return ranges.length > 0 && ranges.every((range) => isFixed(range, member(range, 'length'), sort));
    }
    default:
      return false;
  }
}

/** A range of one number, or all of a range in a stated order. */
function isFixed(range: unknown, count: unknown, sort: unknown): boolean {
  const [min, max] = [member(range, 'min'), member(range, 'max')];
  if (typeof min !== 'number' || typeof max !== 'number') return false;
  const isWhole = member(range, 'unique') === true && max - min + 1 === count;
  return min === max || (isWhole && (sort === 'ascending' || sort === 'descending'));
}

export interface Chance {
  readonly item: string;
  /** Of one pick, in percent: four digits, such as `33.33`. */
  readonly percent: string;
}

/** The chance of each item of a weighted pick, in its order; undefined for draws in which no item is favoured. */
export function chancesOf(request: unknown): readonly Chance[] | undefined {
  if (member(request, 'kind') !== 'weighted') return undefined;
  const [items, weights] = [listAt(request, 'items'), listAt(request, 'weights')];
  if (items.length !== weights.length || !weights.every((each) => typeof each === 'number')) return undefined;
  const sum = weights.reduce((total, each) => total + each, 0);
  return items.map((item, i) => ({ item: String(item), percent: percentText((weights[i] / sum) * 100) }));
}

/** Four digits, without an exponent. */
function percentText(percent: number): string {
  if (percent < 0.0001) return 'less than 0.0001';
  return percent > 99.99 && percent < 100 ? 'more than 99.99' : String(Number(percent.toPrecision(4)));
}

/** The draw as its statement fixes it, with its list and the chances of its items. */
export function statementVerdict(draw: unknown, statement: unknown, digest: string): string {
  if (member(draw, 'type') !== 'draw' || member(draw, 'version') !== 1)
    refuse('The document is not of a draw of version 1.');
  if (member(statement, 'type') !== 'draw_statement' || member(statement, 'version') !== 1)
    refuse('The statement is not of version 1.');
  if (member(draw, 'statement_sha256') !== digest)
    refuse(`The statement hashes to ${digest}, not to ${show(member(draw, 'statement_sha256'))}.`);
  const id = text(member(statement, 'id'));
  if (id === undefined || member(draw, 'id') !== id)
    refuse(`The statement is of draw ${show(id)}, the document of ${show(member(draw, 'id'))}.`);
  checkStatement(statement);
  const request = member(statement, 'request');
  const listed = listText(member(statement, 'list'), request);
  if (canonical(member(draw, 'chances') ?? null) !== canonical(chancesOf(request) ?? null))
    refuse('The chances in the document are not those of the weights in the statement.');
  const purpose = text(member(statement, 'purpose'));
  return `Draw ${id} for ${show(purpose)} says what is drawn, and when: ${digest}.${listed}${chancesText(request)}`;
}

/** The request draws from the list that has the hash, or from the numbers of its lines. */
function listText(list: unknown, request: unknown): string {
  if (list === undefined) return '';
  const [hash, size] = [member(list, 'sha256'), member(list, 'size')];
  const kind = member(request, 'kind');
  const other = () => refuse('The list in the request is not the one that the statement names.');
  if (kind === 'sample' || kind === 'weighted') {
    const items = listAt(request, 'items');
    const isWhole = digestText(items.map((item) => `${item}\n`).join('')) === hash;
    const isNumbered = kind === 'weighted' && items.every((item, i) => item === String(i + 1));
    if (items.length !== size || !(isWhole || isNumbered)) other();
    if (isWhole) return ' It has the whole list.';
  } else if (kind !== 'integers') {
    refuse(`The statement names a list, and a draw of ${show(kind)} reads none.`);
  } else {
    const isOfLines = member(request, 'min') === 1 && member(request, 'max') === size;
    if (!isOfLines || member(request, 'unique') !== true || member(request, 'sort') !== 'none') other();
  }
  return ` It draws lines of a list of ${show(size)}: check that your copy hashes to ${show(hash)}.`;
}

function shareOf({ percent }: Chance): number {
  return percent.startsWith('less') ? 0 : Number(percent.replace('more than ', ''));
}

function chancesText(request: unknown): string {
  const chances = chancesOf(request);
  if (chances === undefined) return '';
  const likeliest = chances.toSorted((a, b) => shareOf(b) - shareOf(a));
  const told = likeliest.slice(0, CHANCES_TOLD).map(({ item, percent }) => `${show(item)} ${percent} %`);
  const others = chances.length - told.length;
  const more = others === 0 ? '' : `, and ${others} more in the statement`;
  return ` A pick is one of these with this chance: ${told.join(', ')}${more}.`;
}
