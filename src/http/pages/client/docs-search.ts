import { element, made } from './browser.ts';
import { fetched } from './checks.ts';

/* The search of the documentation, over the pages, parameters, headings and errors that /docs/search.json lists. */

const RESULTS_MAX = 12;

interface Entry {
  readonly path: string;
  readonly title: string;
  readonly place: string;
  readonly text: string;
}

const field = element('search');
const results = element('search-results');
const status = element('search-status');
let entries: Promise<readonly Entry[]> | undefined;

field.addEventListener('input', show);
field.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  field.value = '';
  show();
});

async function show(): Promise<void> {
  entries ??= fetched('/docs/search.json') as Promise<readonly Entry[]>;
  const all = await entries;
  const words = field.value
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const found = words.length === 0 ? [] : ranked(all, words).slice(0, RESULTS_MAX);
  results.replaceChildren(
    ...found.map(({ path, title, place }) => {
      const link = made('a', title);
      link.setAttribute('href', path);
      const item = made('li');
      item.append(link, made('span', place));
      return item;
    }),
  );
  results.hidden = found.length === 0;
  status.textContent =
    words.length === 0 ? '' : found.length === 0 ? 'Nothing found.' : `${found.length} results.`;
}

/** Those in which every word stands; a title that begins with one comes first, then a title that has it. */
function ranked(all: readonly Entry[], words: readonly string[]): Entry[] {
  const scored = all.map((entry) => {
    const title = entry.title.toLowerCase();
    const text = `${title} ${entry.place} ${entry.text}`.toLowerCase();
    const scores = words.map((word) =>
      title === word
        ? 6
        : title.startsWith(word)
          ? 4
          : title.includes(word)
            ? 3
            : text.includes(word)
              ? 1
              : 0,
    );
    return { entry, score: scores.includes(0) ? 0 : scores.reduce<number>((sum, each) => sum + each, 0) };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ entry }) => entry);
}
