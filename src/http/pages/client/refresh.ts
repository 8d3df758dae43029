import { type BrowserNode, element } from './browser.ts';

const INTERVAL_MS = 2_000;

/** The part of the browser's interface that only this page uses. It parses a document without running its scripts. */
interface DocumentRequest {
  responseType: 'document';
  readonly response: { getElementById(id: string): BrowserNode | null } | null;
  onloadend: () => void;
  open(method: 'GET', path: string): void;
  send(): void;
}
const { XMLHttpRequest } = globalThis as unknown as { readonly XMLHttpRequest: new () => DocumentRequest };

/** Loads the status page every two seconds, and updates the parts that have changed. */
export function keepFresh(): void {
  setInterval(() => {
    const request = new XMLHttpRequest();
    request.open('GET', '/status');
    request.responseType = 'document';
    request.onloadend = () => {
      const fresh = request.response?.getElementById('main') ?? null;
      if (fresh !== null) update(element('main'), fresh);
      element('freshness').textContent =
        fresh === null ? '; the service does not answer now.' : ', updated automatically.';
    };
    request.send();
  }, INTERVAL_MS);
}

/** Replaces the smallest parts of `shown` that differ from `fresh`, so that focus and selection elsewhere are kept. */
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
