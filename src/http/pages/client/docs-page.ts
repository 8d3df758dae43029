import { type BrowserElement, page } from './browser.ts';

/**
 * The forms of the documentation. The key is read from its field when a request is sent and kept nowhere
 * else; what comes back is shown as text.
 */

/** Beyond this much text a page becomes slow; the rest is left out and said so. */
const SHOWN_MAX = 20_000;

function element(id: string): BrowserElement {
  const found = page.getElementById(id);
  if (found === null) throw new Error(`the page has no ${id}`);
  return found;
}

const panel = element('try');
panel.hidden = false;
for (const name of wordsOf(panel.dataset['names'])) {
  const form = element(`try-${name}`);
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(name, form);
  });
}

function wordsOf(list: string | undefined): string[] {
  return (list ?? '').split(' ').filter((word) => word !== '');
}

async function send(name: string, form: BrowserElement): Promise<void> {
  const status = element(`${name}-status`);
  const key = element('key').value.trim();
  if (key === '') {
    status.textContent = 'Fill in the API key at the top of this page first.';
    element('key').focus({ preventScroll: false });
    return;
  }
  status.textContent = 'Waiting for the answer …';
  try {
    const started = performance.now();
    const response = await fetch(targetOf(name, form), requestOf(name, form, key));
    const text = await response.text();
    const tookMs = Math.round(performance.now() - started);
    show(element(`${name}-answer`), text, response.headers.get('Content-Type') ?? '');
    status.textContent = `${response.status} in ${tookMs} ms`;
  } catch (error) {
    status.textContent = `No answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function targetOf(name: string, form: BrowserElement): string {
  const query = wordsOf(form.dataset['fields'])
    .map((field) => [field, element(`${name}-${field}`).value.trim()] as const)
    .filter(([, value]) => value !== '')
    // commas part items: they stay as they are
    .map(([field, value]) => `${field}=${encodeURIComponent(value).replaceAll('%2C', ',')}`)
    .join('&');
  const path = form.dataset['path'] ?? '';
  return query === '' ? path : `${path}?${query}`;
}

function requestOf(name: string, form: BrowserElement, key: string): RequestInit {
  const method = form.dataset['method'] ?? 'GET';
  const headers: Record<string, string> = { Authorization: `Bearer ${key}` };
  const options: RequestInit = { method, headers, credentials: 'omit' };
  if (method !== 'POST') return options;
  headers['Content-Type'] = 'application/json';
  return { ...options, body: element(`${name}-body`).value };
}

function show(target: BrowserElement, text: string, contentType: string): void {
  const isJson = contentType.includes('json');
  const whole = isJson
    ? JSON.stringify(JSON.parse(text), undefined, 2)
    : `(${contentType}, ${text.length} characters)`;
  const rest = whole.length - SHOWN_MAX;
  target.textContent = rest > 0 ? `${whole.slice(0, SHOWN_MAX)}\n… and ${rest} characters more` : whole;
  target.hidden = false;
}
