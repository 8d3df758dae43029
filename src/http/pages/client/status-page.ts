import { type BrowserElement, EventSource, element, made, page } from './browser.ts';
import { attempt, checkAnswer, member, report, Trouble } from './checks.ts';

/*
 * The script of the status page: writes the figures of each event into the page, and asks for answers that it verifies
 * here. Without events the page says that a reload brings newer figures.
 */

const RASTER_WIDTH = 64;

const events = new EventSource('/events');
events.addEventListener('message', ({ data }) => {
  const texts = JSON.parse(data ?? '{}') as Readonly<Record<string, string>>;
  for (const each of page.querySelectorAll('[data-live]')) write(each, texts[each.dataset['live'] ?? '']);
  for (const each of page.querySelectorAll('[data-live-path]'))
    set(each, 'd', texts[each.dataset['livePath'] ?? '']);
  for (const each of page.querySelectorAll('[data-live-label]'))
    set(each, 'aria-label', texts[each.dataset['liveLabel'] ?? '']);
  const edition = element('edition');
  edition.hidden = texts['edition'] === edition.dataset['edition'];
  element('freshness').textContent = ', and change as you look.';
});
events.addEventListener('error', () => {
  // a browser asks again by itself, unless the service refused
  if (events.readyState === EventSource.CLOSED) element('freshness').textContent = '; reload for newer ones.';
});

function write(target: BrowserElement, text: string | undefined): void {
  if (text !== undefined && target.textContent !== text) target.textContent = text;
}

function set(target: BrowserElement, name: string, value: string | undefined): void {
  if (value !== undefined) target.setAttribute(name, value);
}

if (page.getElementById('samples') !== null) {
  offer('die', (data) => {
    const [value] = member(data, 'values') as number[];
    element('die').textContent = String(value);
  });
  offer('bits', (data) => drawRaster(String(member(data, 'bitstring'))));
}

/** A button asks for an answer, shows it, then says whether it is what was certified. */
function offer(name: 'die' | 'bits', show: (data: unknown) => void): void {
  const button = element(`${name}-button`);
  const checks = element(`${name}-checks`);
  button.addEventListener('click', () => {
    checks.replaceChildren(made('p', 'Asking …'));
    attempt(button, checks, async () => {
      const answer = await sample(name);
      show(member(answer, 'data'));
      checks.replaceChildren(made('p', 'Checking …'));
      const [banner, ...details] = report(await checkAnswer(answer));
      return [banner, folded(details, answer)];
    });
  });
}

async function sample(name: string): Promise<unknown> {
  const response = await fetch(`/demo/${name}`, { method: 'POST', credentials: 'omit' });
  const body: unknown = await response.json();
  if (!response.ok) throw new Trouble(String(member(body, 'error', 'message')));
  return body;
}

function folded(details: readonly BrowserElement[], answer: unknown): BrowserElement {
  const box = made('details');
  const link = made('a', 'Open its certificate');
  link.setAttribute('href', `/verify/${member(answer, 'metadata', 'certificate_id')}`);
  box.append(made('summary', 'What was checked'), ...details, link);
  return box;
}

/** One square for each 1, row after row. */
function drawRaster(bits: string): void {
  const ones = [...bits].flatMap((bit, i) =>
    bit === '1' ? [`M${i % RASTER_WIDTH} ${Math.floor(i / RASTER_WIDTH)}h1v1h-1z`] : [],
  );
  const raster = element('raster');
  raster.querySelector('path')?.setAttribute('d', ones.join(''));
  raster.setAttribute('aria-label', `${bits.length} bits, ${ones.length} of them ones.`);
}
