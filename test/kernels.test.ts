import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { buildKernels, KERNEL_MODULES } from '../scripts/build-kernels.ts';

describe('the WebAssembly modules in src/', () => {
  for (const module of KERNEL_MODULES) {
    it(`${module.out} is what its source in assembly/ builds to, byte for byte`, async () => {
      const committed = readFileSync(new URL(`../${module.out}`, import.meta.url));
      assert.ok(committed.equals(await buildKernels(module)), 'stale: run node scripts/build-kernels.ts');
    });
  }
});
