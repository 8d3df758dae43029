import { type Call, codeOf, type FieldKind, languagesOf, prettyJson, targetOf } from '../code-samples.ts';
import { type BrowserElement, element, made, page } from './browser.ts';
import { attempt, checkAnswer, member, report } from './checks.ts';
import { offerCopies } from './copy.ts';

/**
 * The script of the documentation: the form of a call. The key is read from its field when a request is sent
 * and kept nowhere else; what comes back is shown as text.
 */

/** Beyond this much text a page becomes slow; the rest is left out and said so. */
const SHOWN_MAX = 20_000;

offerCopies();
const form = page.getElementById('try-form');
if (form !== null) {
  form.addEventListener('input', () => writeSamples(form));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(form);
  });
}

/** The call that the form describes now. */
function callOf({ dataset }: BrowserElement): Call {
  const { name = '', method = 'GET', path = '', base = '', keyed, fields = '' } = dataset;
  return {
    name,
    method,
    path,
    baseUrl: base,
    isKeyed: keyed === 'true',
    fields: fields
      .split(' ')
      .filter((field) => field !== '')
      .map((field) => {
        const [id, kind] = field.split(':') as [string, FieldKind];
        return { name: id, kind, value: element(`field-${id}`).value.trim() };
      })
      .filter(({ value }) => value !== ''),
    body: page.getElementById('body')?.value,
  };
}

function writeSamples(shown: BrowserElement): void {
  const call = callOf(shown);
  for (const language of languagesOf(call.name))
    element(`code-${language}`).textContent = codeOf(language, call);
}

async function send(shown: BrowserElement): Promise<void> {
  const status = element('try-status');
  const call = callOf(shown);
  const key = page.getElementById('key')?.value.trim() ?? '';
  if (call.isKeyed && key === '') {
    status.textContent = 'Fill in the API key first.';
    element('key').focus({ preventScroll: false });
    return;
  }
  status.textContent = 'Waiting for the answer …';
  try {
    const started = performance.now();
    const response = await fetch(targetOf(call), requestOf(call, key));
    const text = await response.text();
    show(text, response.headers.get('Content-Type') ?? '');
    status.textContent = `${response.status} in ${Math.round(performance.now() - started)} ms`;
  } catch (error) {
    status.textContent = `No answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function requestOf({ method, body, isKeyed }: Call, key: string): RequestInit {
  const headers: Record<string, string> = { Accept: 'application/json, */*;q=0.5' };
  if (isKeyed) headers['Authorization'] = `Bearer ${key}`;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  return { method, headers, credentials: 'omit', ...(body === undefined ? {} : { body }) };
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

/** Behind the reply stands the check of that very reply, as the page of its certificate would make it. */
function offerToVerify(answer: unknown): void {
  const button = element('verify');
  const checks = element('checks');
  checks.replaceChildren();
  button.hidden = member(answer, 'metadata', 'certificate_salt') === undefined;
  button.onclick = () => {
    checks.replaceChildren(made('p', 'Checking …'));
    attempt(button, checks, async () => {
      const certificate = made('a', 'Open its certificate');
      certificate.setAttribute('href', `/verify/${member(answer, 'metadata', 'certificate_id')}`);
      return [...report(await checkAnswer(answer)), certificate];
    });
  };
}
