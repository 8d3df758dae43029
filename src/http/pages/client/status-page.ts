import { type BrowserElement, element, page } from './browser.ts';
import { fetched } from './checks.ts';

/* The script of the status page: asks for the figures now and then, and writes those that changed into the page. */

const INTERVAL_MS = 2_000;

setInterval(async () => {
  try {
    show((await fetched('/status.json')) as Readonly<Record<string, string>>);
    element('freshness').textContent = ', and change as you look.';
  } catch {
    element('freshness').textContent = '; the service does not answer now.';
  }
}, INTERVAL_MS);

function show(texts: Readonly<Record<string, string>>): void {
  for (const each of page.querySelectorAll('[data-live]')) {
    const text = texts[each.dataset['live'] ?? ''];
    if (text !== undefined && each.textContent !== text) each.textContent = text;
  }
  for (const each of page.querySelectorAll('[data-live-path]'))
    set(each, 'd', texts[each.dataset['livePath'] ?? '']);
  for (const each of page.querySelectorAll('[data-live-label]'))
    set(each, 'aria-label', texts[each.dataset['liveLabel'] ?? '']);
  const edition = element('edition');
  edition.hidden = texts['edition'] === edition.dataset['edition'];
}

function set(target: BrowserElement, name: string, value: string | undefined): void {
  if (value !== undefined) target.setAttribute(name, value);
}
