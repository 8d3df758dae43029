import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

/**
 * Builds the WebAssembly modules in src/ from assembly/. The same sources give the same bytes: the compiler is JavaScript
 * and knows no time and no machine. test/kernels.test.ts compares the committed modules with a fresh build.
 */
const root = fileURLToPath(new URL('..', import.meta.url));

export interface KernelModule {
  readonly source: string;
  readonly out: string;
  /** 64 KiB pages of memory at the start. */
  readonly pages: number;
  /** A module that works in fixed windows never needs more than it starts with. */
  readonly mayGrow: boolean;
}

export const KERNEL_MODULES: readonly KernelModule[] = [
  { source: 'assembly/kernels.ts', out: 'src/values/kernels.wasm', pages: 5, mayGrow: false },
  { source: 'assembly/estimators.ts', out: 'src/stats/sp800-90b/estimators.wasm', pages: 1, mayGrow: true },
  { source: 'assembly/fourier.ts', out: 'src/stats/fourier.wasm', pages: 1, mayGrow: true },
  { source: 'assembly/prints.ts', out: 'src/answer/prints.wasm', pages: 9, mayGrow: false },
  { source: 'assembly/hashes.ts', out: 'src/crypto/hashes.wasm', pages: 1, mayGrow: false },
  { source: 'assembly/leaves.ts', out: 'src/certificate/leaves.wasm', pages: 4, mayGrow: false },
];

export async function buildKernels({ source, out, pages, mayGrow }: KernelModule): Promise<Uint8Array> {
  const options = [
    source,
    ...['--outFile', out],
    '-O3',
    '--noAssert', // no array is ever indexed
    ...['--runtime', 'stub'], // nor an object made
    ...['--use', 'abort='],
    ...['--enable', 'simd'],
    ...['--initialMemory', String(pages)],
    ...(mayGrow ? [] : ['--maximumMemory', String(pages)]),
  ];
  let built: Uint8Array | undefined;
  const { error, stderr } = await asc.main(options, {
    readFile: (name, folder) => readFile(join(root, folder, name), 'utf8').catch(missing),
    writeFile: (name, contents) => {
      if (name === out) built = contents as Uint8Array;
    },
    listFiles: () => [],
  });
  if (error !== null || built === undefined) throw new Error(`${source} does not compile:\n${stderr}`);
  return built;
}

/** The compiler tries several names for a module. */
function missing(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT') throw error;
  return null;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const module of KERNEL_MODULES) writeFileSync(join(root, module.out), await buildKernels(module));
}
