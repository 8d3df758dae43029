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

/** A front on a free port with short deadlines. Close it with `drain(0)`. */
export async function frontWith(
  handle: FrontOptions['handle'],
  options: Partial<FrontOptions> = {},
): Promise<{ front: Front; log: RecordingLog }> {
  const log = new RecordingLog();
  const front = await startFront({ host: '127.0.0.1', port: 0, clock: systemClock, log, handle, ...options });
  return { front, log };
}

/** Resolves when `condition` holds; the suite's own time limit ends a wait that never does. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}
