import { write, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { pino } from 'pino';

/**
 * The log of the service, on stderr: a line for each error and for each step of starting and stopping. A fault that
 * repeats takes a few lines and a count. A line holds the facts that the caller names; callers never pass requests,
 * headers or key material. Lines are JSON, or text for a person where stderr is a terminal.
 */
export interface Log {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

const STDERR = 2;

export interface LogSettings {
  readonly logLevel: LogLevel;
  /** Whether lines have colours on a terminal. JSON never has. */
  readonly logColour: boolean;
}

/** Returns the log of this thread. */
export function createLog({ logLevel, logColour }: LogSettings): Log {
  const { write: writeLine } = stderrLines;
  const forPerson = isatty(STDERR) ? (line: string) => writeLine(personLine(line, logColour)) : writeLine;
  const options = { level: logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return sparingLog(pino(options, { write: forPerson }));
}

/**
 * The first `EQUAL_LINES_MAX` of equal lines are written. After that a line every `EQUAL_LINES_MS` says how many more
 * there were, until an interval has none.
 */
const EQUAL_LINES_MAX = 5;
const EQUAL_LINES_MS = 10_000;

/**
 * Returns a log that writes a few lines for a repeated fault and then a count, so that a flood of bad requests or a
 * full disk does not cost a line each time. Two lines are equal when they have the same level, message and `error`,
 * whatever their other facts. Lines of level info without an `error` are all written.
 */
export function sparingLog(log: Log): Log {
  /** How often each line came recently. A report of left-out lines sets the count back to `EQUAL_LINES_MAX`. */
  const counts = new Map<string, number>();
  const spared =
    (level: 'info' | 'warn' | 'error') =>
    (facts: object, message: string): void => {
      const error = 'error' in facts ? { error: facts.error } : undefined;
      if (level === 'info' && error === undefined) {
        log.info(facts, message);
        return;
      }
      const line = `${level} ${message} ${error?.error}`;
      const count = counts.get(line) ?? 0;
      counts.set(line, count + 1);
      if (count < EQUAL_LINES_MAX) log[level](facts, message);
      if (count > 0) return;
      const timer = setInterval(() => {
        const lines = counts.get(line)! - EQUAL_LINES_MAX;
        if (lines > 0) {
          log[level]({ lines, of: message, ...error }, 'equal lines left out');
          counts.set(line, EQUAL_LINES_MAX);
        } else {
          counts.delete(line);
          clearInterval(timer);
        }
      }, EQUAL_LINES_MS).unref();
    };
  return {
    debug: (facts, message) => log.debug(facts, message),
    info: spared('info'),
    warn: spared('warn'),
    error: spared('error'),
  };
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** The most bytes that wait for a destination that takes none; further lines are lost. */
const WAITING_BYTES_MAX = 256 * 1024;
/** How long to wait before the next attempt when the reader takes nothing now (EAGAIN). */
const RETRY_MS = 100;

/**
 * Writes lines to a file descriptor and never waits or fails. A log on a full disk, or on a pipe that nobody reads,
 * loses lines and stops nothing else. Lost lines are counted.
 */
export class LineWriter {
  readonly #fd: number;
  readonly #lost: Int32Array<SharedArrayBuffer>;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #isWriting = false;

  /** `lost` holds the count of lost lines; several threads may share it. */
  constructor(fd: number, lost = new Int32Array(new SharedArrayBuffer(4))) {
    this.#fd = fd;
    this.#lost = lost;
    process.on('exit', () => this.#flush());
  }

  /** Returns the number of lines lost since the last call. */
  takeLost(): number {
    return Atomics.exchange(this.#lost, 0, 0);
  }

  /** Writes one line. It is an arrow function so that it can be passed on without its object. */
  readonly write = (line: string): void => {
    if (this.#waitingBytes + line.length > WAITING_BYTES_MAX) {
      Atomics.add(this.#lost, 0, 1);
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
      if (error !== null) Atomics.add(this.#lost, 0, lines);
      this.#waitingBytes -= waitingBytes;
      this.#isWriting = false;
      this.#next();
    });
  }

  /** Tries once, at the end of the process, to write the lines that still wait. */
  #flush(): void {
    try {
      if (this.#waiting.length > 0) writeSync(this.#fd, this.#waiting.join(''));
    } catch {
      // there is nobody left to tell
    }
  }
}

const LOST_KEY = 'qrn: lost log lines';

/** Returns the count that all threads of the process share: a thread inherits it from the one that started it. */
function sharedLost(): Int32Array<SharedArrayBuffer> {
  const inherited = getEnvironmentData(LOST_KEY);
  if (inherited instanceof SharedArrayBuffer) return new Int32Array(inherited);
  const shared = new SharedArrayBuffer(4);
  setEnvironmentData(LOST_KEY, shared as unknown as Parameters<typeof setEnvironmentData>[1]);
  return new Int32Array(shared);
}

const stderrLines = new LineWriter(STDERR, sharedLost());

/** Returns the number of lines that the threads of this process have lost since the last call. */
export function takeLostLogLines(): number {
  return stderrLines.takeLost();
}

const COLOURS: Readonly<Record<number, string>> = { 20: '2', 30: '36', 40: '33', 50: '31' };
const LEVELS: Readonly<Record<number, string>> = { 20: 'debug', 30: 'info ', 40: 'warn ', 50: 'error' };

/** Returns a JSON line as text for a person: time, level and message, and below them a line for each fact. */
export function personLine(json: string, colour: boolean): string {
  const { level, time, msg, ...facts } = JSON.parse(json) as { level: number; time: string; msg: string };
  const width = Math.max(...Object.keys(facts).map((name) => name.length));
  const shown = Object.entries(facts).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `\n${FACT_INDENT}${dimmed(name, colour)}${' '.repeat(width - name.length)}  ${text}`;
  });
  const named = LEVELS[level] ?? String(level);
  const painted = colour ? `\u001b[${COLOURS[level] ?? '0'}m${named}\u001b[0m` : named;
  return `${[dimmed(time.slice(11, 19), colour), painted, msg].join('  ')}${shown.join('')}\n`;
}

/** Puts facts below the message: as wide as the time, the level and the blanks before it. */
const FACT_INDENT = ' '.repeat(17);

function dimmed(text: string, colour: boolean): string {
  return colour ? `\u001b[2m${text}\u001b[0m` : text;
}
