import { boolean, count, integer, object, sha256, text, time } from '../core/schema.ts';
import { checkChance } from './draw-kinds.ts';
import { checkForm } from './form.ts';
import { canonical, listAt, member, show, text as textIn } from './members.ts';
import { digestText, refuse } from './verdict.ts';

/**
 * What the statement of a committed draw may say (docs/draws.md): exactly the members of its kind, and more than one
 * possible outcome. The service asks the same of a draw before it commits to it. Runs in browsers.
 */

const STATEMENT = object(
  { type: text, version: integer, id: text, request: {}, purpose: text, public: boolean, due_at: time },
  {
    list: object({ sha256, size: count }),
    user_data: text,
    user_data_sha256: sha256,
    nonce: text,
    nonce_sha256: sha256,
    beacon: object({ chain: text, round: count }),
    gives_up_at: time,
  },
);

/** A draw is revealed within moments of its time, also while the service is busy. */
export const OVERDUE_MS = 60_000;

/** Items and chances that a sentence names before it counts the others. */
const CHANCES_TOLD = 10;

/** Refuses what is to be drawn where it is not sound. */
export function checkRequest(request: unknown): void {
  checkChance(request);
  for (const name of ['items', 'alphabet']) {
    for (const [i, item] of listAt(request, name).entries()) {
      const what = name === 'items' ? `Item ${i + 1}` : `Character ${i + 1} of the alphabet`;
      if (LINE_BREAK.test(String(item)))
        refuse(`${what} has a line break: it would pass for several lines of a list.`);
      if (name === 'alphabet' && [...String(item)].length !== 1)
        refuse(`${what} is ${show(item)}, not one character.`);
    }
  }
}

/** Everything that a reader or an editor shows as a new line. */
const LINE_BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;

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
  const id = textIn(member(statement, 'id'));
  if (id === undefined || member(draw, 'id') !== id)
    refuse(`The statement is of draw ${show(id)}, the document of ${show(member(draw, 'id'))}.`);
  checkForm(STATEMENT, statement, 'statement');
  checkRequest(member(statement, 'request'));
  const request = member(statement, 'request');
  const listed = listText(member(statement, 'list'), request);
  if (canonical(member(draw, 'chances') ?? null) !== canonical(chancesOf(request) ?? null))
    refuse('The chances in the document are not those of the weights in the statement.');
  const purpose = textIn(member(statement, 'purpose'));
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
