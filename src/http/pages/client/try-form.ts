import { member } from '../../../certificate/members.ts';
import { prettyJson, targetOf } from '../code-samples.ts';
import { type BrowserElement, element, made, page } from './browser.ts';
import { attempt, checkedAnswer } from './checks.ts';

/** Bound on the characters of a reply that are shown: more would make the page slow. */
const SHOWN_MAX = 20_000;

/**
 * Sends the call of a page of the documentation. Reads the key from its field when it sends a request, and stores it
 * nowhere. Shows the reply as text.
 */
export function offerToSend(form: BrowserElement): void {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(form);
  });
}

async function send({ dataset }: BrowserElement): Promise<void> {
  const { method = 'GET', path = '' } = dataset;
  const status = element('try-status');
  const key = page.getElementById('key');
  if (key?.value.trim() === '') {
    status.textContent = 'Enter the API key first.';
    key.focus({ preventScroll: false });
    return;
  }
  status.textContent = 'Waiting for the answer …';
  const fields = [...page.querySelectorAll('[data-parameter]')];
  const given = fields.map((each) => [each.dataset['parameter'] ?? '', each.value.trim()] as const);
  const target = targetOf(path, Object.fromEntries(given.filter(([, value]) => value !== '')));
  const body = page.getElementById('body')?.value;
  const headers = {
    Accept: 'application/json, */*;q=0.5',
    ...(key === null ? {} : { Authorization: `Bearer ${key.value.trim()}` }),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  try {
    const started = performance.now();
    const init = { method, headers, credentials: 'omit' as const };
    const response = await fetch(target, body === undefined ? init : { ...init, body });
    show(await response.text(), response.headers.get('Content-Type') ?? '');
    status.textContent = `${response.status} in ${Math.round(performance.now() - started)} ms`;
  } catch (error) {
    status.textContent = `No answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function show(text: string, contentType: string): void {
  const isText = /^text\/|ndjson/.test(contentType);
  const answer: unknown = contentType.includes('json') && !isText ? JSON.parse(text) : undefined;
  const shown =
    answer !== undefined ? prettyJson(answer) : isText ? text : `(${contentType}, ${text.length} characters)`;
  const rest = shown.length - SHOWN_MAX;
  element('answer').textContent =
    rest > 0 ? `${shown.slice(0, SHOWN_MAX)}\n… and ${rest} characters more` : shown;
  element('reply').hidden = false;
  offerToVerify(answer);
}

/** Offers to check the reply, as the page of its certificate would. */
function offerToVerify(answer: unknown): void {
  const button = element('verify');
  const checks = element('checks');
  checks.replaceChildren();
  button.hidden = member(answer, 'metadata', 'certificate_salt') === undefined;
  button.onclick = () => {
    checks.replaceChildren(made('p', 'Checking …'));
    attempt(button, checks, () => checkedAnswer(answer));
  };
}
