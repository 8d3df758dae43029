import { createHash } from 'node:crypto';

/** MTH(D[n]) as RFC 9162 §2.1.1 defines it, over leaf hashes. */
export function referenceRoot(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return new Uint8Array(createHash('sha256').digest());
  if (leaves.length === 1) return leaves[0];
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  const node = createHash('sha256')
    .update(Uint8Array.of(1))
    .update(referenceRoot(leaves.slice(0, k)))
    .update(referenceRoot(leaves.slice(k)));
  return new Uint8Array(node.digest());
}

/** PATH(index, D[n]) as RFC 9162 §2.1.3.1 defines it, over leaf hashes. */
export function referencePath(leaves: readonly Uint8Array[], index: number): Uint8Array<ArrayBuffer>[] {
  if (leaves.length <= 1) return [];
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return index < k
    ? [...referencePath(left, index), new Uint8Array(referenceRoot(right))]
    : [...referencePath(right, index - k), new Uint8Array(referenceRoot(left))];
}
