import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js';
import { leafHash, type Sha256, verifyInclusion } from '../crypto/merkle.ts';
import { type LoggedAt, readProof, readSignatures } from './signed-checkpoint.ts';

const utf8 = new TextEncoder();
const sha256: Sha256 = (data) => new Uint8Array(nobleSha256(data));

/** A leaf that stands in a tree which the log has signed. */
export interface LoggedLeaf {
  readonly at: LoggedAt;
  /** When the log says that it held the leaf, in seconds since 1970. */
  readonly atS: number;
}

/** Where and when the log held the text as a leaf; a sentence says why that is not shown. Runs in browsers. */
export async function loggedLeaf(leaf: string, proof: unknown, keys: unknown): Promise<LoggedLeaf | string> {
  if (proof === null || proof === undefined) return 'It is not in the log yet: fetch it again in a moment.';
  const at = readProof(proof);
  if (typeof at === 'string') return at;
  const { index, path } = at.proof;
  const { size, root } = at.checkpoint;
  if (!verifyInclusion(sha256, leafHash(sha256, utf8.encode(leaf)), index, size, path, root))
    return `It is not leaf ${index} of the tree that its proof names.`;
  const signed = await readSignatures(keys, at);
  if (typeof signed === 'string') return signed;
  const atS = Math.min(...signed.flatMap((each) => each.atS ?? []));
  if (!Number.isFinite(atS)) return 'The checkpoint does not say when the log signed it.';
  const isRightful = signed.some(
    ({ key, atS: timed }) => timed === undefined && (key.retiredMs === null || atS * 1_000 <= key.retiredMs),
  );
  return isRightful ? { at, atS } : 'The key that signed the checkpoint had been retired before.';
}
