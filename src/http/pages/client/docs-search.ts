import MiniSearch from 'minisearch';
import { type BrowserElement, element, made, page } from './browser.ts';

/*
 * The search of the documentation: over its sections, parameters, members and errors, as they stand on the page. It is
 * built when the field is first entered.
 */

const RESULTS_MAX = 12;

interface Entry {
  /** Of the element that it leads to. */
  readonly id: string;
  readonly title: string;
  /** Where it stands. */
  readonly place: string;
  readonly text: string;
}

const field = element('search');
const results = element('search-results');
const status = element('search-status');
let index: MiniSearch<Entry> | undefined;

field.addEventListener('input', show);
field.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  field.value = '';
  show();
});

function show(): void {
  const asked = field.value.trim();
  index ??= built();
  const found = asked === '' ? [] : index.search(asked).slice(0, RESULTS_MAX);
  results.replaceChildren(
    ...found.map(({ id, title, place }) => {
      const link = made('a', title);
      link.setAttribute('href', `#${id}`);
      const item = made('li');
      item.append(link, made('span', place));
      return item;
    }),
  );
  results.hidden = found.length === 0;
  status.textContent = asked === '' ? '' : found.length === 0 ? 'Nothing found.' : `${found.length} results.`;
}

function built(): MiniSearch<Entry> {
  const made = new MiniSearch<Entry>({
    fields: ['title', 'text', 'place'],
    storeFields: ['title', 'place'],
    searchOptions: { boost: { title: 3 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
  });
  made.addAll([...entries()]);
  return made;
}

function* entries(): Generator<Entry> {
  for (const section of page.querySelectorAll('.content section[id]')) {
    const place = textOf(section.querySelector('h2'));
    yield { id: section.id, title: place, place: '', text: textOf(section.querySelector('p')) };
    for (const row of section.querySelectorAll('.params > div[id]')) {
      yield {
        id: row.id,
        title: textOf(row.querySelector('dt')),
        place,
        text: textOf(row.querySelector('dd')),
      };
    }
  }
}

function textOf(found: BrowserElement | null): string {
  return found?.textContent.trim() ?? '';
}
