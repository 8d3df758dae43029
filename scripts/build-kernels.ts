import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

/**
 * Builds the WebAssembly modules in src/ from assembly/. The same sources give the same bytes, because the compiler is
 * JavaScript and reads neither the time nor the machine. test/kernels.test.ts compares the committed modules with a
 * fresh build.
 */
const root = fileURLToPath(new URL('..', import.meta.url));

export interface KernelModule {
  readonly source: string;
  readonly out: string;
  /** Initial memory in pages of 64 KiB. */
  readonly pages: number;
  /** False for a module that works in fixed windows, which never needs more than its initial memory. */
  readonly mayGrow: boolean;
}

export const KERNEL_MODULES: readonly KernelModule[] = [
  { source: 'assembly/kernels.ts', out: 'src/values/kernels.wasm', pages: 5, mayGrow: false },
  { source: 'assembly/estimators.ts', out: 'src/stats/sp800-90b/estimators.wasm', pages: 1, mayGrow: true },
  { source: 'assembly/fourier.ts', out: 'src/stats/fourier.wasm', pages: 1, mayGrow: true },
  { source: 'assembly/prints.ts', out: 'src/answer/prints.wasm', pages: 6, mayGrow: false },
  { source: 'assembly/hashes.ts', out: 'src/crypto/hashes.wasm', pages: 1, mayGrow: false },
  { source: 'assembly/leaves.ts', out: 'src/certificate/leaves.wasm', pages: 4, mayGrow: false },
];

export async function buildKernels({ source, out, pages, mayGrow }: KernelModule): Promise<Uint8Array> {
  const options = [
    source,
    ...['--outFile', out],
    '-O3',
    '--noAssert', // the sources index no arrays
    ...['--runtime', 'stub'], // and create no objects
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

/** Reports a missing file: the compiler tries several names for a module. */
function missing(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT') throw error;
  return null;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const module of KERNEL_MODULES) writeFileSync(join(root, module.out), await buildKernels(module));
}
