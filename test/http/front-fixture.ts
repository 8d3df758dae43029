import { after } from 'node:test';
import { systemClock } from '../../src/core/clock.ts';
import type { Log } from '../../src/core/log.ts';
import { type Front, type FrontOptions, startFront } from '../../src/http/front.ts';
import { headOf } from '../../src/http/head.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly facts: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export class RecordingLog implements Log {
  readonly lines: LogLine[] = [];

  debug(facts: object, message: string): void {
    this.lines.push({ level: 'debug', facts: { ...facts }, message });
  }
  info(facts: object, message: string): void {
    this.lines.push({ level: 'info', facts: { ...facts }, message });
  }
  warn(facts: object, message: string): void {
    this.lines.push({ level: 'warn', facts: { ...facts }, message });
  }
  error(facts: object, message: string): void {
    this.lines.push({ level: 'error', facts: { ...facts }, message });
  }
}

export const PLAIN_HEAD = headOf(200, [['Content-Type', 'text/plain']]);

/** A test that fails leaves its front open, which would keep the process of its file from ending. */
const started = new Set<Front>();
after(() => Promise.all([...started].map((front) => front.drain(0))));

/** A front on a free port with short deadlines. Close it with `drain(0)`. */
export async function frontWith(
  handle: FrontOptions['handle'],
  options: Partial<FrontOptions> = {},
): Promise<{ front: Front; log: RecordingLog }> {
  const log = new RecordingLog();
  const front = await startFront({ host: '127.0.0.1', port: 0, clock: systemClock, log, handle, ...options });
  started.add(front);
  return { front, log };
}

const UNTIL_LOOKS_MAX = 30_000;

/** Resolves when `condition` holds; throws after 30,000 looks, a minute at least. */
export async function until(condition: () => boolean): Promise<void> {
  for (let looks = 0; !condition(); looks++) {
    if (looks === UNTIL_LOOKS_MAX) throw new Error(`waited in vain for: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
