import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { FuzzTarget } from './targets/target.ts';

const CORPUS = new URL('./corpus/', import.meta.url);

/** The inputs to begin with: the target's own and the files of its folder, one an input, in the order of their names. */
export function corpusOf({ name, seeds = () => [] }: FuzzTarget): Uint8Array[] {
  const folder = new URL(`${name}/`, CORPUS);
  const files = existsSync(folder) ? readdirSync(folder).sort() : [];
  return [...seeds(), ...files.map((file) => new Uint8Array(readFileSync(new URL(file, folder))))];
}
