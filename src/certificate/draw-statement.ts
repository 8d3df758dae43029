import { type Chance, chancesOf, type DrawStatement, listSha256, STATEMENT } from './draw.ts';
import { checkChance } from './draw-kinds.ts';
import { checkForm } from './form.ts';
import { canonical, listAt, member, show } from './members.ts';
import { refuse } from './verdict.ts';

/**
 * Checks the statement of a committed draw (docs/draws.md). It must have exactly the members of its kind, and its draw
 * more than one possible outcome. The service checks the same before it commits to a draw. Runs in browsers.
 */

/** How long after its time a draw may stay without an end. The service ends it within moments, even when it is busy. */
export const OVERDUE_MS = 60_000;

/** How many chances the verdict lists; it only counts the others. */
const CHANCES_TOLD = 10;

/** Refuses a request of another form, one with one possible outcome, and one with misleading items. */
export function checkRequest(request: unknown): void {
  checkChance(request);
  for (const name of ['items', 'alphabet']) {
    for (const [i, item] of listAt(request, name).entries()) {
      const what = name === 'items' ? `Item ${i + 1}` : `Character ${i + 1} of the alphabet`;
      if (LINE_BREAK.test(String(item)))
        refuse(`${what} has a line break, so it would look like several lines of a list.`);
      if (name === 'alphabet' && [...String(item)].length !== 1)
        refuse(`${what} is ${show(item)}, not one character.`);
    }
  }
}

/** Every character that a viewer or an editor may show as a line break. */
const LINE_BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;

/** Returns the statement in the document of a draw. Refuses a statement of another form. */
export function readStatement(draw: unknown): DrawStatement {
  const statement = member(draw, 'statement');
  checkForm(STATEMENT, statement, 'statement');
  if (canonical(statement) === undefined) refuse('The statement has text that is not well-formed Unicode.');
  return statement as DrawStatement;
}

/** Checks that the document agrees with its statement, and the request with the list that the statement names. */
export function statementVerdict(draw: unknown, statement: DrawStatement, digest: string): string {
  const { id, request, list, purpose } = statement;
  if (member(draw, 'type') !== 'draw' || member(draw, 'version') !== 1)
    refuse('The document is not that of a draw: its type must be "draw" and its version 1.');
  if (member(draw, 'statement_sha256') !== digest)
    refuse(
      `The statement hashes to ${digest}, but statement_sha256 is ${show(member(draw, 'statement_sha256'))}.`,
    );
  if (member(draw, 'id') !== id)
    refuse(`The statement is of draw ${show(id)}, but the document is of draw ${show(member(draw, 'id'))}.`);
  checkRequest(request);
  const listed = list === undefined ? '' : listText(list, request);
  if (canonical(member(draw, 'chances') ?? null) !== canonical(chancesOf(request) ?? null))
    refuse('The chances in the document do not follow from the weights in the statement.');
  return `Draw ${id} for ${show(purpose)} has a statement that says what is drawn and when: ${digest}.${listed}${chancesText(request)}`;
}

/** Checks that the request draws from the list or its line numbers. Returns which, in a sentence. */
function listText(
  { sha256: hash, size }: NonNullable<DrawStatement['list']>,
  request: DrawStatement['request'],
): string {
  const { kind } = request;
  const other = () => refuse('The request does not draw from the list that the statement names.');
  if (kind === 'sample' || kind === 'weighted') {
    const { items } = request;
    const isWhole = listSha256(items) === hash;
    const isNumbered = kind === 'weighted' && items.every((item, i) => item === String(i + 1));
    if (items.length !== size || !(isWhole || isNumbered)) other();
    if (isWhole) return ' It holds the whole list.';
  } else if (kind !== 'integers') {
    refuse(`The statement names a list, but a draw of ${show(kind)} reads none.`);
  } else {
    const { min, max, unique, sort } = request;
    if (min !== 1 || max !== size || !unique || sort !== 'none') other();
  }
  return ` It draws line numbers of a list of ${show(size)} lines: check that your copy of the list hashes to ${show(hash)}.`;
}

function shareOf({ percent }: Chance): number {
  return percent.startsWith('less') ? 0 : Number(percent.replace('more than ', ''));
}

function chancesText(request: DrawStatement['request']): string {
  const chances = chancesOf(request);
  if (chances === undefined) return '';
  const likeliest = chances.toSorted((a, b) => shareOf(b) - shareOf(a));
  const told = likeliest.slice(0, CHANCES_TOLD).map(({ item, percent }) => `${show(item)} ${percent} %`);
  const others = chances.length - told.length;
  const more = others === 0 ? '' : `, and ${others} more in the statement`;
  return ` The chances in one pick are: ${told.join(', ')}${more}.`;
}
