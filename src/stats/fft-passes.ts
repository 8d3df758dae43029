/**
 * The butterflies of fft.ts. All passes share one contract (Stockham): with n = blocks·radix, element j of
 * the q-th interleaved transform lies at j·stride + q; block p takes elements p + blocks·i (i < radix),
 * transforms them by the radix-point DFT and writes result k, times e^(-2πi pk/n), to element radix·p + k of
 * the other pair of arrays. The tables hold these factors for k = 1 .. radix-1, p after p. The plain twin is
 * test/reference/dft.ts.
 *
 * Written out, with every element read once, because that is what makes them fast: V8 does not merge two reads of one
 * element. In typed arrays they take as long as in plain ones, and no heap of the worker that tests a lot.
 */

export type PassFunction = (
  xr: Float64Array,
  xi: Float64Array,
  yr: Float64Array,
  yi: Float64Array,
  blocks: number,
  stride: number,
  cos: Float64Array,
  sin: Float64Array,
) => void;

const COS_72 = Math.cos((2 * Math.PI) / 5);
const SIN_72 = Math.sin((2 * Math.PI) / 5);
const COS_144 = Math.cos((4 * Math.PI) / 5);
const SIN_144 = Math.sin((4 * Math.PI) / 5);

/** y[at] = (re + i im)(cos + i sin). */
function put(
  yr: Float64Array,
  yi: Float64Array,
  at: number,
  re: number,
  im: number,
  cos: number,
  sin: number,
): void {
  yr[at] = re * cos - im * sin;
  yi[at] = re * sin + im * cos;
}

export const pass2: PassFunction = (xr, xi, yr, yi, blocks, stride, cos, sin) => {
  const half = blocks * stride;
  for (let p = 0; p < blocks; p++) {
    const c1 = cos[p];
    const s1 = sin[p];
    let o = 2 * stride * p;
    const end = stride * (p + 1);
    for (let i = end - stride; i < end; i++, o++) {
      const x0r = xr[i];
      const x0i = xi[i];
      const x1r = xr[i + half];
      const x1i = xi[i + half];
      yr[o] = x0r + x1r;
      yi[o] = x0i + x1i;
      put(yr, yi, o + stride, x0r - x1r, x0i - x1i, c1, s1);
    }
  }
};

export const pass4: PassFunction = (xr, xi, yr, yi, blocks, stride, cos, sin) => {
  const quarter = blocks * stride;
  for (let p = 0; p < blocks; p++) {
    const t = 3 * p;
    const c1 = cos[t];
    const s1 = sin[t];
    const c2 = cos[t + 1];
    const s2 = sin[t + 1];
    const c3 = cos[t + 2];
    const s3 = sin[t + 2];
    let o = 4 * stride * p;
    const end = stride * (p + 1);
    for (let i = end - stride; i < end; i++, o++) {
      const x0r = xr[i];
      const x0i = xi[i];
      const x1r = xr[i + quarter];
      const x1i = xi[i + quarter];
      const x2r = xr[i + 2 * quarter];
      const x2i = xi[i + 2 * quarter];
      const x3r = xr[i + 3 * quarter];
      const x3i = xi[i + 3 * quarter];
      const evenRe = x0r + x2r;
      const evenIm = x0i + x2i;
      const midRe = x0r - x2r;
      const midIm = x0i - x2i;
      const oddRe = x1r + x3r;
      const oddIm = x1i + x3i;
      const turnRe = x1i - x3i;
      const turnIm = x3r - x1r;
      yr[o] = evenRe + oddRe;
      yi[o] = evenIm + oddIm;
      put(yr, yi, o + stride, midRe + turnRe, midIm + turnIm, c1, s1);
      put(yr, yi, o + 2 * stride, evenRe - oddRe, evenIm - oddIm, c2, s2);
      put(yr, yi, o + 3 * stride, midRe - turnRe, midIm - turnIm, c3, s3);
    }
  }
};

export const pass5: PassFunction = (xr, xi, yr, yi, blocks, stride, cos, sin) => {
  const fifth = blocks * stride;
  for (let p = 0; p < blocks; p++) {
    const t = 4 * p;
    const c1 = cos[t];
    const s1 = sin[t];
    const c2 = cos[t + 1];
    const s2 = sin[t + 1];
    const c3 = cos[t + 2];
    const s3 = sin[t + 2];
    const c4 = cos[t + 3];
    const s4 = sin[t + 3];
    let o = 5 * stride * p;
    const end = stride * (p + 1);
    for (let i = end - stride; i < end; i++, o++) {
      const x0r = xr[i];
      const x0i = xi[i];
      const x1r = xr[i + fifth];
      const x1i = xi[i + fifth];
      const x2r = xr[i + 2 * fifth];
      const x2i = xi[i + 2 * fifth];
      const x3r = xr[i + 3 * fifth];
      const x3i = xi[i + 3 * fifth];
      const x4r = xr[i + 4 * fifth];
      const x4i = xi[i + 4 * fifth];
      const aRe = x1r + x4r;
      const aIm = x1i + x4i;
      const bRe = x2r + x3r;
      const bIm = x2i + x3i;
      const cRe = x1r - x4r;
      const cIm = x1i - x4i;
      const dRe = x2r - x3r;
      const dIm = x2i - x3i;
      yr[o] = x0r + aRe + bRe;
      yi[o] = x0i + aIm + bIm;
      let midRe = x0r + COS_72 * aRe + COS_144 * bRe;
      let midIm = x0i + COS_72 * aIm + COS_144 * bIm;
      let turnRe = SIN_72 * cIm + SIN_144 * dIm;
      let turnIm = -SIN_72 * cRe - SIN_144 * dRe;
      put(yr, yi, o + stride, midRe + turnRe, midIm + turnIm, c1, s1);
      put(yr, yi, o + 4 * stride, midRe - turnRe, midIm - turnIm, c4, s4);
      midRe = x0r + COS_144 * aRe + COS_72 * bRe;
      midIm = x0i + COS_144 * aIm + COS_72 * bIm;
      turnRe = SIN_144 * cIm - SIN_72 * dIm;
      turnIm = SIN_72 * dRe - SIN_144 * cRe;
      put(yr, yi, o + 2 * stride, midRe + turnRe, midIm + turnIm, c2, s2);
      put(yr, yi, o + 3 * stride, midRe - turnRe, midIm - turnIm, c3, s3);
    }
  }
};
