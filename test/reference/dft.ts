/** The definition of the discrete Fourier transform, n² multiplications: the twin of src/stats/fft.ts. */
export function dft(re: readonly number[], im: readonly number[]): { re: number[]; im: number[] } {
  const n = re.length;
  const out = { re: new Array<number>(n).fill(0), im: new Array<number>(n).fill(0) };
  for (let k = 0; k < n; k++) {
    for (let j = 0; j < n; j++) {
      const angle = (-2 * Math.PI * ((j * k) % n)) / n;
      out.re[k] += re[j] * Math.cos(angle) - im[j] * Math.sin(angle);
      out.im[k] += re[j] * Math.sin(angle) + im[j] * Math.cos(angle);
    }
  }
  return out;
}
