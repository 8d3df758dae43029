import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A change of one file: `text` stands in the place of its characters from `start` to `end`. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The change in words, for the report of a survivor. */
  readonly what: string;
}

/** The path of this file, for `node --import`. */
export const PLANT = fileURLToPath(import.meta.url);
/** The environment variable that carries a mutant, or several of different files, as JSON. */
export const VARIABLE = 'MUTANT_PLANTED';

/**
 * Preloaded by the process that tests a mutant (`node --import`): its file is read with the change in it, by every thread,
 * and by the services that it starts (TestServer).
 * The other modules of the service are untouched, and so is the file on disk.
 */
const given = process.env[VARIABLE];
if (given !== undefined) {
  const mutants = [JSON.parse(given) as Mutant | Mutant[]].flat();
  registerHooks({
    load(url, context, nextLoad) {
      const path = url.startsWith('file:') ? fileURLToPath(url.split('?')[0]) : undefined;
      const mutant = mutants.find((each) => each.file === path);
      if (mutant === undefined) return nextLoad(url, context);
      const { file, start, end, text } = mutant;
      const source = readFileSync(file, 'utf8');
      const changed = source.slice(0, start) + text + source.slice(end);
      return { format: 'module-typescript', source: changed, shortCircuit: true };
    },
  });
}

/** The environment of a service in which one text of each file, by its path, stands in the place of another, which the file holds once. */
export function planted(changes: Readonly<Record<string, readonly [from: string, to: string]>>) {
  const mutants = Object.entries(changes).map(([path, [from, to]]): Mutant => {
    const file = resolve(path);
    const [before, ...behind] = readFileSync(file, 'utf8').split(from);
    if (behind.length !== 1) throw new Error(`${path} does not hold once: ${from}`);
    const start = before.length;
    return { file, line: 0, start, end: start + from.length, text: to, what: `${from} becomes ${to}` };
  });
  return { [VARIABLE]: JSON.stringify(mutants) };
}
