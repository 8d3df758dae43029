import { compileWasm, instantiate, type WasmMemory } from '../core/wasm.ts';
import { ENTRY_BYTES } from '../ledger/segment.ts';

interface Global {
  readonly value: number;
}

/** See assembly/leaves.ts. */
interface Kernel {
  readonly memory: WasmMemory;
  readonly entriesAt: Global;
  readonly idsAt: Global;
  readonly textBytesMax: Global;
  readonly textAt: Global;
  print(index: number, idAt: number, requestIdAt: number, deliveredAt: number): void;
}

const module = compileWasm(new URL('./leaves.wasm', import.meta.url));

/** Packed entries that `entries` and `ids` have room for. */
export const ENTRIES_MAX = 512;
const ID_BYTES = 16;

/**
 * Memory of its own for packed entries, the ids of their certificates before they are printed, and the text of a leaf. `print` prints
 * the ids and the hash of what was delivered of the entry with an index where they stand in the text.
 */
export function leafKernel() {
  const { memory, entriesAt, idsAt, textBytesMax, textAt, print } = instantiate<Kernel>(module);
  const windowAt = (at: Global, size: number) => new Uint8Array(memory.buffer, at.value, size);
  return {
    entries: windowAt(entriesAt, ENTRIES_MAX * ENTRY_BYTES),
    ids: windowAt(idsAt, ENTRIES_MAX * ID_BYTES),
    text: windowAt(textAt, textBytesMax.value),
    print,
  };
}
