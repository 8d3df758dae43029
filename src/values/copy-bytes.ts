/** Up to here a loop is faster than making the view that `set` needs (bench `values`). */
const LOOP_MAX = 48;

/** Copies `size` bytes between arrays that do not share them. */
export function copyBytes(
  from: Uint8Array,
  fromAt: number,
  to: Uint8Array,
  toAt: number,
  size: number,
): void {
  if (size <= LOOP_MAX) {
    for (let i = 0; i < size; i++) to[toAt + i] = from[fromAt + i];
  } else {
    to.set(from.subarray(fromAt, fromAt + size), toAt);
  }
}
