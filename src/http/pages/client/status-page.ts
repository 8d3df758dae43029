import { type BrowserNode, element } from './browser.ts';

/* The script of the status page: loads the page again now and then, and shows what changed of it. */

const INTERVAL_MS = 2_000;

/** What of a browser only this page uses. It parses a document whose scripts never run. */
interface DocumentRequest {
  responseType: 'document';
  readonly response: { getElementById(id: string): BrowserNode | null } | null;
  onloadend: () => void;
  open(method: 'GET', path: string): void;
  send(): void;
}
const { XMLHttpRequest } = globalThis as unknown as { readonly XMLHttpRequest: new () => DocumentRequest };

setInterval(() => {
  const request = new XMLHttpRequest();
  request.open('GET', '/status');
  request.responseType = 'document';
  request.onloadend = () => {
    const fresh = request.response?.getElementById('main') ?? null;
    if (fresh !== null) update(element('main'), fresh);
    element('freshness').textContent =
      fresh === null ? '; the service does not answer now.' : ', and change as you look.';
  };
  request.send();
}, INTERVAL_MS);

/** Puts `fresh` in the place of what is shown, in the smallest parts that differ: focus and selection elsewhere stay. */
function update(shown: BrowserNode, fresh: BrowserNode): void {
  if (shown.isEqualNode(fresh)) return;
  const parts = [...fresh.childNodes];
  const hasSameFrame = shown.cloneNode(false).isEqualNode(fresh.cloneNode(false));
  if (!hasSameFrame || parts.length === 0 || parts.length !== shown.childNodes.length) {
    shown.replaceWith(fresh);
    return;
  }
  for (const [i, part] of parts.entries()) update(shown.childNodes[i], part);
}
