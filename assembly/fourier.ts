/**
 * The butterflies of src/stats/fft.ts. All passes share one contract (Stockham): with n = blocks·radix, element j of the
 * q-th of `stride` interleaved transforms lies at j·stride + q; block p takes elements p + blocks·i (i < radix), transforms
 * them by the radix-point DFT and writes result k, times e^(-2πi pk/n), to element radix·p + k of the other array. An array
 * of complex numbers consists of the real parts and, `parts` bytes later, the imaginary ones. `roots` holds for k = 1 ..
 * radix-1 the cosines of all blocks and then their sines. test/reference/dft.ts is a plain implementation to compare with.
 *
 * A vector holds two numbers: of two of the interleaved transforms or, in the first pass, which has only one, of two
 * blocks. Each array has room for what is read and written after the last block.
 */

const COS_72: f64 = 0.30901699437494745;
const SIN_72: f64 = 0.9510565162951535;
const COS_144: f64 = -0.8090169943749473;
const SIN_144: f64 = 0.5877852522924732;

/** The distances in a pass, in bytes: of real and imaginary parts, rows of roots, strides, and results of two blocks. */
let parts: usize = 0;
let rootBytes: usize = 0;
let strideBytes: usize = 0;
let resultBytes: usize = 0;

@inline
function sum(a: v128, b: v128): v128 {
  return f64x2.add(a, b);
}

@inline
function difference(a: v128, b: v128): v128 {
  return f64x2.sub(a, b);
}

@inline
function times(a: v128, factor: f64): v128 {
  return f64x2.mul(a, f64x2.splat(factor));
}

/** Writes two numbers, of neighbouring transforms or of two blocks. */
@inline
function write(isFirst: bool, at: usize, numbers: v128): void {
  if (isFirst) {
    v128.store64_lane(at, numbers, 0);
    v128.store64_lane(at + resultBytes, numbers, 1);
  } else v128.store(at, numbers);
}

@inline
function rootAt(isFirst: bool, at: usize): v128 {
  return isFirst ? v128.load(at) : v128.load64_splat(at);
}

/** Writes result k > 0 times its root. */
@inline
function put(isFirst: bool, y: usize, k: usize, roots: usize, re: v128, im: v128): void {
  const cos = rootAt(isFirst, roots + (2 * k - 2) * rootBytes);
  const sin = rootAt(isFirst, roots + (2 * k - 1) * rootBytes);
  const at = y + k * strideBytes;
  write(isFirst, at, difference(f64x2.mul(re, cos), f64x2.mul(im, sin)));
  write(isFirst, at + parts, sum(f64x2.mul(re, sin), f64x2.mul(im, cos)));
}

@inline
function butterfly2(isFirst: bool, x: usize, y: usize, step: usize, roots: usize): void {
  const x0r = v128.load(x);
  const x0i = v128.load(x + parts);
  const x1r = v128.load(x + step);
  const x1i = v128.load(x + step + parts);
  write(isFirst, y, sum(x0r, x1r));
  write(isFirst, y + parts, sum(x0i, x1i));
  put(isFirst, y, 1, roots, difference(x0r, x1r), difference(x0i, x1i));
}

@inline
function butterfly4(isFirst: bool, x: usize, y: usize, step: usize, roots: usize): void {
  const x0r = v128.load(x);
  const x0i = v128.load(x + parts);
  const x1r = v128.load(x + step);
  const x1i = v128.load(x + step + parts);
  const x2r = v128.load(x + 2 * step);
  const x2i = v128.load(x + 2 * step + parts);
  const x3r = v128.load(x + 3 * step);
  const x3i = v128.load(x + 3 * step + parts);
  const evenRe = sum(x0r, x2r);
  const evenIm = sum(x0i, x2i);
  const midRe = difference(x0r, x2r);
  const midIm = difference(x0i, x2i);
  const oddRe = sum(x1r, x3r);
  const oddIm = sum(x1i, x3i);
  const turnRe = difference(x1i, x3i);
  const turnIm = difference(x3r, x1r);
  write(isFirst, y, sum(evenRe, oddRe));
  write(isFirst, y + parts, sum(evenIm, oddIm));
  put(isFirst, y, 1, roots, sum(midRe, turnRe), sum(midIm, turnIm));
  put(isFirst, y, 2, roots, difference(evenRe, oddRe), difference(evenIm, oddIm));
  put(isFirst, y, 3, roots, difference(midRe, turnRe), difference(midIm, turnIm));
}

@inline
function butterfly5(isFirst: bool, x: usize, y: usize, step: usize, roots: usize): void {
  const x0r = v128.load(x);
  const x0i = v128.load(x + parts);
  const x1r = v128.load(x + step);
  const x1i = v128.load(x + step + parts);
  const x2r = v128.load(x + 2 * step);
  const x2i = v128.load(x + 2 * step + parts);
  const x3r = v128.load(x + 3 * step);
  const x3i = v128.load(x + 3 * step + parts);
  const x4r = v128.load(x + 4 * step);
  const x4i = v128.load(x + 4 * step + parts);
  const aRe = sum(x1r, x4r);
  const aIm = sum(x1i, x4i);
  const bRe = sum(x2r, x3r);
  const bIm = sum(x2i, x3i);
  const cRe = difference(x1r, x4r);
  const cIm = difference(x1i, x4i);
  const dRe = difference(x2r, x3r);
  const dIm = difference(x2i, x3i);
  write(isFirst, y, sum(sum(x0r, aRe), bRe));
  write(isFirst, y + parts, sum(sum(x0i, aIm), bIm));
  let midRe = sum(sum(x0r, times(aRe, COS_72)), times(bRe, COS_144));
  let midIm = sum(sum(x0i, times(aIm, COS_72)), times(bIm, COS_144));
  let turnRe = sum(times(cIm, SIN_72), times(dIm, SIN_144));
  let turnIm = difference(times(cRe, -SIN_72), times(dRe, SIN_144));
  put(isFirst, y, 1, roots, sum(midRe, turnRe), sum(midIm, turnIm));
  put(isFirst, y, 4, roots, difference(midRe, turnRe), difference(midIm, turnIm));
  midRe = sum(sum(x0r, times(aRe, COS_144)), times(bRe, COS_72));
  midIm = sum(sum(x0i, times(aIm, COS_144)), times(bIm, COS_72));
  turnRe = difference(times(cIm, SIN_144), times(dIm, SIN_72));
  turnIm = difference(times(dRe, SIN_72), times(cRe, SIN_144));
  put(isFirst, y, 2, roots, sum(midRe, turnRe), sum(midIm, turnIm));
  put(isFirst, y, 3, roots, difference(midRe, turnRe), difference(midIm, turnIm));
}

@inline
function butterfly(radix: i32, isFirst: bool, x: usize, y: usize, step: usize, roots: usize): void {
  if (radix == 2) butterfly2(isFirst, x, y, step, roots);
  else if (radix == 4) butterfly4(isFirst, x, y, step, roots);
  else butterfly5(isFirst, x, y, step, roots);
}

@inline
function pass(radix: i32, x: usize, y: usize, blocks: i32, stride: i32, roots: usize): void {
  const bytes = usize(stride) << 3;
  const step = usize(blocks) * bytes;
  strideBytes = bytes;
  resultBytes = usize(radix) << 3;
  rootBytes = usize(blocks) << 3;
  if (stride == 1) {
    for (let p: i32 = 0; p < blocks; p += 2)
      butterfly(radix, true, x + (usize(p) << 3), y + usize(p) * resultBytes, step, roots + (usize(p) << 3));
    return;
  }
  for (let p: i32 = 0; p < blocks; p++) {
    const from = x + usize(p) * bytes;
    const to = y + usize(p * radix) * bytes;
    // With an odd number of transforms, the last but one is computed twice.
    for (let q: usize = 0; q < bytes; q += 16) {
      const at = min(q, bytes - 16);
      butterfly(radix, false, from + at, to + at, step, roots + (usize(p) << 3));
    }
  }
}

export const firstByte: usize = __heap_base;

/** Sets the distance of the imaginary parts of an array from its real parts, in bytes. */
export function setParts(bytes: usize): void {
  parts = bytes;
}

export function pass2(x: usize, y: usize, blocks: i32, stride: i32, roots: usize): void {
  pass(2, x, y, blocks, stride, roots);
}

export function pass4(x: usize, y: usize, blocks: i32, stride: i32, roots: usize): void {
  pass(4, x, y, blocks, stride, roots);
}

export function pass5(x: usize, y: usize, blocks: i32, stride: i32, roots: usize): void {
  pass(5, x, y, blocks, stride, roots);
}
