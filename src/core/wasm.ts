import { readFileSync } from 'node:fs';

/** The parts of WebAssembly that the service uses. TypeScript has these types only in its library for browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => WasmModule;
  readonly Instance: new (module: WasmModule) => { readonly exports: unknown };
};

/** A compiled module; `instantiate` gives it a memory. */
export interface WasmModule {
  readonly [Symbol.toStringTag]: string;
}

export interface WasmMemory {
  /** Each `grow` replaces it by another buffer. */
  readonly buffer: ArrayBuffer;
  /** Adds pages of 64 KiB. */
  grow(pages: number): number;
}

/** An exported constant. */
export interface WasmGlobal {
  readonly value: number;
}

/** Compiles a module that scripts/build-kernels.ts built. `file` is in the caller's folder. */
export function compileWasm(file: URL): WasmModule {
  return new WebAssembly.Module(readFileSync(file));
}

/** Returns a new instance. `Exports` must describe what the source in assembly/ exports; nothing checks it. */
export function instantiate<Exports>(module: WasmModule): Exports {
  return new WebAssembly.Instance(module).exports as Exports;
}

/** Grows a memory until it has `size` bytes. */
export function ensureBytes(memory: WasmMemory, size: number): void {
  const missing = size - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / 65_536));
}
