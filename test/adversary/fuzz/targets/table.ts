import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { INPUT_BYTES_MAX } from '../mutate.ts';
import { BACKEND_TARGETS } from './backend.ts';
import { CERTIFICATE_TARGETS } from './certificate.ts';
import { JOB_TARGETS } from './jobs.ts';
import { STORE_TARGETS } from './store.ts';
import type { FuzzTarget } from './target.ts';

/** Every reader of foreign data except requests, which are tried over the wire (table-cases.ts, strange.ts). */
export const FUZZ_TARGETS: readonly FuzzTarget[] = [
  ...CERTIFICATE_TARGETS,
  ...STORE_TARGETS,
  ...BACKEND_TARGETS,
  ...JOB_TARGETS,
];

const CORPUS = new URL('../corpus/', import.meta.url);

/**
 * Returns the initial inputs: the target's own and the files of its folder, one an input, in the order of their names.
 */
export function corpusOf({ name, seeds = () => [] }: FuzzTarget): Uint8Array[] {
  const folder = new URL(`${name}/`, CORPUS);
  const files = existsSync(folder) ? readdirSync(folder).sort() : [];
  const corpus = [...seeds(), ...files.map((file) => new Uint8Array(readFileSync(new URL(file, folder))))];
  const longest = Math.max(...corpus.map(({ length }) => length));
  if (longest > INPUT_BYTES_MAX)
    throw new Error(`an input of ${name} has ${longest} of ${INPUT_BYTES_MAX} bytes`);
  return corpus;
}
