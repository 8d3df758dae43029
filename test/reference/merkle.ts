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
