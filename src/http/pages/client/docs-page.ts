import { type Call, codeOf, type FieldKind, languagesOf, prettyJson, queryOf } from '../code-samples.ts';
import { type BrowserElement, element, made, page } from './browser.ts';
import { attempt, checkAnswer, member, report } from './checks.ts';
import { offerCopies } from './copy.ts';
import './docs-search.ts';
import { writeCode } from './highlight.ts';

/**
 * The forms of the documentation. The key is read from its field when a request is sent and kept nowhere
 * else; what comes back is shown as text.
 */

/** Beyond this much text a page becomes slow; the rest is left out and said so. */
const SHOWN_MAX = 20_000;

for (const code of page.querySelectorAll('code[data-language]')) writeCode(code, code.textContent);
offerCopies();
for (const radio of page.querySelectorAll('.tabs input')) {
  radio.addEventListener('change', () => chooseLanguage(radio.value));
}
for (const name of wordsOf(element('try').dataset['names'])) {
  const form = element(`try-${name}`);
  form.addEventListener('input', () => writeSamples(name, form));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(name, form);
  });
}

function wordsOf(list: string | undefined): string[] {
  return (list ?? '').split(' ').filter((word) => word !== '');
}

/** The language of one example becomes that of all. */
function chooseLanguage(language: string): void {
  for (const radio of page.querySelectorAll(`.tabs input[value="${language}"]`)) radio.checked = true;
}

/** The call that the form describes now. */
function callOf(name: string, form: BrowserElement): Call {
  const { method = 'GET', path = '', base = '', fields } = form.dataset;
  return {
    name,
    method,
    path,
    baseUrl: base,
    fields: wordsOf(fields)
      .map((field) => {
        const [id, kind] = field.split(':') as [string, FieldKind];
        return { name: id, kind, value: element(`${name}-${id}`).value.trim() };
      })
      .filter(({ value }) => value !== ''),
    body: page.getElementById(`${name}-body`)?.value,
  };
}

function writeSamples(name: string, form: BrowserElement): void {
  const call = callOf(name, form);
  for (const language of languagesOf(name)) writeCode(element(`${name}-${language}`), codeOf(language, call));
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
    const call = callOf(name, form);
    const query = queryOf(call);
    const response = await fetch(query === '' ? call.path : `${call.path}?${query}`, requestOf(call, key));
    const text = await response.text();
    const tookMs = Math.round(performance.now() - started);
    show(name, text, response.headers.get('Content-Type') ?? '');
    status.textContent = `${response.status} in ${tookMs} ms`;
  } catch (error) {
    status.textContent = `No answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function requestOf({ method, body }: Call, key: string): RequestInit {
  const headers: Record<string, string> = { Authorization: `Bearer ${key}` };
  const options: RequestInit = { method, headers, credentials: 'omit' };
  if (body === undefined) return options;
  headers['Content-Type'] = 'application/json';
  return { ...options, body };
}

function show(name: string, text: string, contentType: string): void {
  const isLines = contentType.startsWith('application/x-ndjson');
  const answer: unknown = contentType.includes('json') && !isLines ? JSON.parse(text) : undefined;
  const isText = contentType.startsWith('text/') || isLines;
  const whole =
    answer !== undefined ? prettyJson(answer) : isText ? text : `(${contentType}, ${text.length} characters)`;
  const rest = whole.length - SHOWN_MAX;
  writeCode(
    element(`${name}-answer`),
    rest > 0 ? `${whole.slice(0, SHOWN_MAX)}\n… and ${rest} characters more` : whole,
  );
  element(`${name}-reply`).hidden = false;
  offerToVerify(name, answer);
}

/** Behind the reply stands the check of that very reply, as the page of its certificate would make it. */
function offerToVerify(name: string, answer: unknown): void {
  const button = element(`${name}-verify`);
  element(`${name}-checks`).replaceChildren();
  button.hidden = member(answer, 'metadata', 'certificate_id') === undefined;
  button.onclick = () => verify(name, button, answer);
}

function verify(name: string, button: BrowserElement, answer: unknown): Promise<void> {
  const checks = element(`${name}-checks`);
  checks.replaceChildren(made('p', 'Checking …'));
  return attempt(button, checks, async () => {
    const certificate = made('a', 'Open its certificate');
    certificate.setAttribute('href', `/verify/${member(answer, 'metadata', 'certificate_id')}`);
    return [...report(await checkAnswer(answer)), certificate];
  });
}
