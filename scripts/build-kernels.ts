import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

/**
 * Makes src/values/kernels.wasm of assembly/. The same bytes from the same sources: the compiler is JavaScript and knows
 * no time and no machine. test/values/kernels.test.ts holds the committed ones against a fresh build.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const OUT = 'kernels.wasm';

/** The 64 KiB pages of the windows and tables of assembly/; nothing is allocated beyond. */
const PAGES = 3;

const OPTIONS = [
  'assembly/kernels.ts',
  ...['--outFile', OUT],
  '-O3',
  '--noAssert', // no array is ever indexed
  ...['--runtime', 'stub'], // nor an object made
  ...['--use', 'abort='],
  ...['--enable', 'simd'],
  ...['--initialMemory', String(PAGES), '--maximumMemory', String(PAGES)],
];

export async function buildKernels(): Promise<Uint8Array> {
  let built: Uint8Array | undefined;
  const { error, stderr } = await asc.main(OPTIONS, {
    readFile: (name, folder) => readFile(join(root, folder, name), 'utf8').catch(missing),
    writeFile: (name, contents) => {
      if (name === OUT) built = contents as Uint8Array;
    },
    listFiles: () => [],
  });
  if (error !== null || built === undefined) throw new Error(`the kernels do not compile:\n${stderr}`);
  return built;
}

/** The compiler tries several names for a module. */
function missing(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT') throw error;
  return null;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(join(root, 'src/values', OUT), await buildKernels());
}
