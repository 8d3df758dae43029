import { readFileSync } from 'node:fs';

/** What the service uses of WebAssembly. Its types come only with those of browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => WasmModule;
  readonly Instance: new (module: WasmModule) => { readonly exports: unknown };
};

/** A compiled module; `instantiate` gives it a memory. */
export interface WasmModule {
  readonly [Symbol.toStringTag]: string;
}

export interface WasmMemory {
  /** Another buffer after each `grow`. */
  readonly buffer: ArrayBuffer;
  /** Adds pages of 64 KiB. */
  grow(pages: number): number;
}

/** Compiles a module that scripts/build-kernels.ts built; `file` lies beside the caller's. */
export function compileWasm(file: URL): WasmModule {
  return new WebAssembly.Module(readFileSync(file));
}

/** A fresh instance. `Exports` names what its source in assembly/ exports; nothing checks that it does. */
export function instantiate<Exports>(module: WasmModule): Exports {
  return new WebAssembly.Instance(module).exports as Exports;
}

/** Grows a memory until it has `size` bytes. */
export function ensureBytes(memory: WasmMemory, size: number): void {
  const missing = size - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / 65_536));
}
