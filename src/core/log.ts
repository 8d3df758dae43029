import { write, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { pino } from 'pino';

/**
 * Where the service says what happened: a line for each error and each step of its life on stderr, never one
 * for each request. A line holds facts that the caller names; requests, headers and key material are never
 * passed. Lines are JSON, and text for a person where stderr is a terminal.
 */
export interface Log {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

const STDERR = 2;

/** The log of this thread. `colour` only matters on a terminal. */
export function createLog(level: LogLevel, { colour = false }: { readonly colour?: boolean } = {}): Log {
  const { write: writeLine } = stderrLines;
  const forPerson = isatty(STDERR) ? (line: string) => writeLine(personLine(line, colour)) : writeLine;
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return pino(options, { write: forPerson });
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** What waits for a destination that takes nothing, at most; beyond it lines are lost. */
const WAITING_BYTES_MAX = 256 * 1024;
/** How long to wait for a reader that takes nothing now (EAGAIN). */
const RETRY_MS = 100;

/**
 * Writes lines to a file descriptor without ever waiting for it or failing: a log on a full disk, or on a
 * pipe that nobody reads, loses lines and stops nothing else. Lost lines are counted.
 */
export class LineWriter {
  lost = 0;
  readonly #fd: number;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #isWriting = false;

  constructor(fd: number) {
    this.#fd = fd;
    process.on('exit', () => this.#flush());
  }

  /** Bound, so that it can be passed on. */
  readonly write = (line: string): void => {
    if (this.#waitingBytes + line.length > WAITING_BYTES_MAX) {
      this.lost++;
      return;
    }
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
    if (!this.#isWriting) this.#next();
  };

  #next(): void {
    if (this.#waiting.length === 0) return;
    const lines = this.#waiting;
    this.#waiting = [];
    this.#isWriting = true;
    this.#send(Buffer.from(lines.join('')), lines.length, this.#waitingBytes);
  }

  #send(rest: Buffer, lines: number, waitingBytes: number): void {
    write(this.#fd, rest, (error, written) => {
      if (error?.code === 'EAGAIN') {
        setTimeout(() => this.#send(rest, lines, waitingBytes), RETRY_MS).unref();
        return;
      }
      if (error === null && written < rest.length) {
        this.#send(rest.subarray(written), lines, waitingBytes);
        return;
      }
      if (error !== null) this.lost += lines;
      this.#waitingBytes -= waitingBytes;
      this.#isWriting = false;
      this.#next();
    });
  }

  /** At the end of the process what still waits is tried once. */
  #flush(): void {
    try {
      if (this.#waiting.length > 0) writeSync(this.#fd, this.#waiting.join(''));
    } catch {
      // there is nobody left to tell
    }
  }
}

const stderrLines = new LineWriter(STDERR);

/** Lines of this thread that could not be written. */
export function lostLogLines(): number {
  return stderrLines.lost;
}

const COLOURS: Readonly<Record<number, string>> = { 20: '2', 30: '36', 40: '33', 50: '31' };
const LEVELS: Readonly<Record<number, string>> = { 20: 'debug', 30: 'info ', 40: 'warn ', 50: 'error' };

/** A JSON line as a person reads it: time, level, message, then the facts. */
export function personLine(json: string, colour: boolean): string {
  const { level, time, msg, ...facts } = JSON.parse(json) as { level: number; time: string; msg: string };
  const shown = Object.entries(facts).map(([name, value]) => {
    return `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
  });
  const named = LEVELS[level] ?? String(level);
  const painted = colour ? `\u001b[${COLOURS[level] ?? '0'}m${named}\u001b[0m` : named;
  return `${[time.slice(11, 19), painted, msg, ...shown].join('  ')}\n`;
}
