import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** What the programs of these suites have in common. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * Results as lines of JSON in a file, so that a run which was interrupted counts and the next one goes on from it. Without a path
 * they are kept in memory alone.
 */
export class ResultFile<T> {
  readonly all: T[];
  readonly #path: string | undefined;

  /** Throws when the file holds something else. A last line that was not written whole is left out. */
  constructor(path: string | undefined) {
    this.#path = path;
    const lines = path !== undefined && existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
    this.all = lines.slice(0, -1).map((line) => JSON.parse(line) as T);
  }

  add(result: T): void {
    this.all.push(result);
    if (this.#path !== undefined) appendFileSync(this.#path, `${JSON.stringify(result)}\n`);
  }
}
