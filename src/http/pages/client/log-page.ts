import { checkFinding } from '../../../certificate/finding.ts';
import { type FollowState, pollLog } from '../../../certificate/follow.ts';
import { LogDoubt, LogUnavailable, type ReadPath } from '../../../certificate/log-source.ts';
import { member, text } from '../../../certificate/members.ts';
import { utcTime } from '../../../core/figures.ts';
import { banner, element, made } from './browser.ts';

/*
 * The script of log-watch.html. Like `qrn log watch` it follows the log of the service that sent the page, or of any service if
 * the page is a file. It stores what it has seen in this browser only.
 */

interface Seen {
  /** Milliseconds since 1970 of the first poll. */
  readonly sinceMs: number;
  readonly state: FollowState;
}

/** The parts of the browser's interface that only this page uses. Reading `localStorage` throws if the browser stores no data. */
const browser = globalThis as unknown as {
  readonly localStorage: {
    getItem(key: string): string | null;
    setItem(key: string, value: string): void;
    removeItem(key: string): void;
  };
  readonly location: { readonly protocol: string; readonly origin: string };
};
const { location } = browser;

const INTERVAL_MS = 60_000;
const ANSWER_DEADLINE_MS = 10_000;
const ANSWER_BYTES_MAX = 1024 * 1024;
const isFile = location.protocol === 'file:';

const address = element('address');
const button = element('watch-button');
const form = element('watch');
const verdict = element('verdict');
let next: ReturnType<typeof setTimeout> | undefined;

form.hidden = false;
element('address-part').hidden = !isFile;
if (!isFile) address.value = location.origin;
form.addEventListener('submit', (event) => {
  event.preventDefault();
  watch();
});
element('forget').onclick = () => {
  kept((storage) => storage.removeItem(keyOf(originOf())));
  tell(
    'wait',
    'The saved log is deleted.',
    'The next reading pins the keys again and begins at the first leaf.',
  );
  for (const id of ['facts', 'withdrawals', 'finding']) element(id).hidden = true;
};
if (!isFile) watch();

async function watch(): Promise<void> {
  clearTimeout(next);
  button.disabled = true;
  if (verdict.textContent === '')
    tell(
      'wait',
      'Reading the log.',
      'The first reading reads the whole log; later readings read only the new leaves.',
    );
  try {
    if (await pollOnce(originOf())) next = setTimeout(watch, INTERVAL_MS);
  } finally {
    button.disabled = false;
  }
}

function originOf(): string {
  return URL.canParse(address.value) ? new URL(address.value).origin : location.origin;
}

/** Reads the log once and shows the result. Returns false when it found misbehaviour: then there is nothing more to read. */
async function pollOnce(origin: string): Promise<boolean> {
  const nowMs = Date.now();
  let poll: Awaited<ReturnType<typeof pollLog>>;
  const seen = readSeen(origin);
  try {
    poll = await pollLog(seen?.state, { read: readerOf(origin), url: origin, nowMs });
  } catch (error) {
    if (error instanceof LogDoubt) {
      const words = `${error.message} No signature of the log proves this to others. This page reads the log again in a minute.`;
      tell('bad', 'The log contradicts what this browser knows about it.', words);
      return true;
    }
    if (!(error instanceof LogUnavailable)) {
      tell('bad', 'The check itself failed.', String(error));
      throw error; // a fault of this script must appear in the browser's console too
    }
    tell('wait', 'The log cannot be read.', `${error.message}. This page tries again in a minute.`);
    return true;
  }
  if ('finding' in poll) {
    const { finding } = poll;
    const { holds, why } = checkFinding(finding);
    tell('bad', 'The log was changed.', finding.what);
    element('finding-check').textContent = holds ? `${why} The signatures of the log prove it.` : why;
    element('finding-text').value = JSON.stringify(finding, null, 2);
    element('finding').hidden = false;
    return false;
  }
  const { state, size, atS, isStale } = poll;
  const sinceMs = seen?.sinceMs ?? nowMs;
  const isKept = keepSeen(origin, { sinceMs, state });
  element('finding').hidden = true;
  showState({ sinceMs, state }, size, atS);
  const at = utcTime(nowMs);
  if (isStale)
    tell(
      'wait',
      'The service showed an older state of the log.',
      `That state is part of the log that this browser saw before. Read at ${at}.`,
    );
  else if (!isKept)
    tell(
      'wait',
      'The log is consistent, but nothing was saved.',
      'This browser does not store data for this page.',
    );
  else if (seen === undefined)
    tell(
      'good',
      'The log is consistent.',
      `Its keys were pinned at ${at}. Later readings are compared with this one.`,
    );
  else
    tell(
      'good',
      'The log only grew.',
      `Read at ${at} and compared with everything seen since ${utcTime(sinceMs)}.`,
    );
  return true;
}

function showState({ sinceMs, state }: Seen, size: number, atS: number): void {
  const listed = member(state.keys, 'keys');
  const ids = (Array.isArray(listed) ? listed : []).map((key) => text(member(key, 'key_id')));
  const values = {
    origin: text(member(state.keys, 'origin')) ?? '',
    keys: ids.join(', '),
    size: size.toLocaleString('en-US'),
    signed: utcTime(atS * 1_000),
    lots: Object.keys(state.lots).length.toLocaleString('en-US'),
    since: utcTime(sinceMs),
  };
  for (const [id, value] of Object.entries(values)) element(id).textContent = value;
  const items = state.withdrawals.map((leaf) => {
    const told: unknown = JSON.parse(leaf);
    const part = (name: string) => text(member(told, name)) ?? '';
    return made('li', `${part('lot_id')} at ${part('revoked_at')}: ${part('reason')}`);
  });
  element('withdrawn').replaceChildren(...items.reverse());
  element('none-withdrawn').hidden = items.length > 0;
  for (const id of ['facts', 'withdrawals']) element(id).hidden = false;
}

function readerOf(origin: string): ReadPath {
  return async (path) => {
    try {
      const response = await fetch(`${origin}${path}`, {
        redirect: 'error',
        signal: AbortSignal.timeout(ANSWER_DEADLINE_MS),
      });
      if (!response.ok) throw new LogUnavailable(`${path} answered ${response.status}`);
      const bytes = new Uint8Array(await response.arrayBuffer());
      if (bytes.length > ANSWER_BYTES_MAX) throw new LogUnavailable(`the answer of ${path} is too large`);
      return bytes;
    } catch (error) {
      throw error instanceof LogUnavailable ? error : new LogUnavailable(`${path}: ${String(error)}`);
    }
  };
}

function readSeen(origin: string): Seen | undefined {
  const found = kept((storage) => storage.getItem(keyOf(origin)));
  return typeof found === 'string' ? (JSON.parse(found) as Seen) : undefined;
}

/** Stores what was seen. Returns false if the browser stores no data, or has no room for more. */
function keepSeen(origin: string, seen: Seen): boolean {
  return kept((storage) => storage.setItem(keyOf(origin), JSON.stringify(seen))) !== false;
}

function kept<T>(use: (storage: typeof browser.localStorage) => T): T | false {
  try {
    return use(browser.localStorage);
  } catch {
    return false;
  }
}

function keyOf(origin: string): string {
  return `qrn-log ${origin}`;
}

function tell(kind: 'good' | 'wait' | 'bad', title: string, told: string): void {
  verdict.replaceChildren(banner(kind, title, told));
}
