import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it, test } from 'node:test';
import { concatBytes, fromHex, toHex } from '../../src/core/bytes.ts';
import { nodeHashesByFour } from '../../src/crypto/hash-kernel.ts';
import {
  CompactRange,
  consistencyProof,
  emptyRoot,
  type Hash,
  inclusionProof,
  leafHash,
  nodeHash,
  nodeHashes,
  type ReadNode,
  splitHashes,
  verifyConsistency,
  verifyInclusion,
} from '../../src/crypto/merkle.ts';
import { referenceRoot } from '../reference/merkle.ts';

/** Known answers that Certificate Transparency implementations share. */
const { entries, roots, inclusion, consistency } = JSON.parse(
  readFileSync(new URL('../vectors/crypto/merkle.json', import.meta.url), 'utf8'),
) as {
  entries: string[];
  roots: string[];
  inclusion: { index: number; size: number; path: string[] }[];
  consistency: { from: number; to: number; path: string[] }[];
};

/** A tree of leaves made from their index, with every node it told of. */
function grow(leaves: readonly Hash[]): { range: CompactRange; readNode: ReadNode; roots: Hash[] } {
  const nodes = new Map<string, Hash>();
  const range = new CompactRange();
  const roots = [range.root()];
  for (const leaf of leaves) {
    range.append(leaf, (level, index, hash) => {
      assert.ok(!nodes.has(`${level}/${index}`), 'a node is told of once');
      nodes.set(`${level}/${index}`, hash);
    });
    roots.push(range.root());
  }
  const readNode: ReadNode = async (level, index) => {
    const hash = nodes.get(`${level}/${index}`);
    assert.ok(hash, `node ${level}/${index} exists`);
    return hash;
  };
  return { range, readNode, roots };
}

const known = grow(entries.map((entry) => leafHash(fromHex(entry))));
const LEAVES = Array.from({ length: 70 }, (_, i) => leafHash(Uint8Array.of(i)));
const tree = grow(LEAVES);

describe('Merkle tree (RFC 9162 §2.1)', () => {
  it('has the hash of an empty string as its root without leaves', () => {
    assert.equal(
      toHex(new CompactRange().root()),
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    );
    assert.deepEqual(emptyRoot(), new CompactRange().root());
  });

  it('has the known roots for one to eight entries', () => {
    assert.deepEqual(known.roots.slice(1).map(toHex), roots);
  });

  it('has the roots of the recursive definition', () => {
    for (let size = 0; size <= LEAVES.length; size++) {
      assert.deepEqual(tree.roots[size], referenceRoot(LEAVES.slice(0, size)), `size ${size}`);
    }
  });

  it('never has the same hash for a leaf and a node', () => {
    const [left, right] = LEAVES;
    const joined = new Uint8Array([...left, ...right]);
    assert.notDeepEqual(leafHash(joined), nodeHash(left, right));
  });

  it('appends a run of leaves with the same result as one after the other, also from a compact range', async () => {
    for (let size = 0; size < LEAVES.length; size++) {
      const first = new CompactRange();
      for (const leaf of LEAVES.slice(0, size)) first.append(leaf, () => {});
      const second = new CompactRange(first.size, first.roots);
      const told: Promise<unknown>[] = [];
      second.append(concatBytes(...LEAVES.slice(size)), (level, index, run) => {
        for (const [i, hash] of splitHashes(run).entries())
          told.push(tree.readNode(level, index + i).then((node) => assert.deepEqual(hash, node)));
      });
      await Promise.all(told);
      assert.deepEqual(second.root(), tree.range.root());
      assert.equal(second.size, LEAVES.length);
    }
  });

  it('counts beyond 32 bits', () => {
    const size = 2 ** 40 + 1;
    const range = new CompactRange(size, [LEAVES[0], LEAVES[1]]);
    const completed: string[] = [];
    range.append(LEAVES[2], (level, index) => completed.push(`${level}/${index}`));
    assert.deepEqual(completed, [`0/${size}`, `1/${2 ** 39}`]);
    const pair = nodeHash(LEAVES[1], LEAVES[2]);
    assert.deepEqual(range.root(), nodeHash(LEAVES[0], pair));
    assert.ok(verifyInclusion(LEAVES[2], size, size + 1, [LEAVES[1], LEAVES[0]], range.root()));
  });
});

describe('proofs of inclusion', () => {
  it('equal the published ones of the known tree', async () => {
    for (const { index, size, path } of inclusion) {
      const proof = await inclusionProof(index, size, known.readNode);
      assert.deepEqual(proof.map(toHex), path, `${index} of ${size}`);
    }
  });

  it('verify every leaf of every tree in its place and in no other', async () => {
    for (let size = 1; size <= 40; size++) {
      for (let index = 0; index < size; index++) {
        const proof = await inclusionProof(index, size, tree.readNode);
        const holds = (leaf: number, at: number, of: number, path = proof) =>
          verifyInclusion(LEAVES[leaf], at, of, path, tree.roots[size]);
        assert.ok(holds(index, index, size), `${index} of ${size}`);
        assert.ok(!holds((index + 1) % 70, index, size));
        for (let other = 0; other < size; other++) if (other !== index) assert.ok(!holds(index, other, size));
        assert.ok(!holds(index, index, size, [...proof, LEAVES[0]]), 'one hash more');
        if (proof.length > 0) assert.ok(!holds(index, index, size, proof.slice(1)), 'one hash less');
      }
    }
  });

  it('are refused for a place that the tree does not have', () => {
    const root = tree.roots[1];
    for (const [index, size] of [
      [0, 0],
      [1, 1],
      [-1, 1],
      [0.5, 1],
      [Number.NaN, 1],
      [0, Number.POSITIVE_INFINITY],
    ]) {
      assert.ok(!verifyInclusion(LEAVES[0], index, size, [], root));
    }
    assert.ok(verifyInclusion(LEAVES[0], 0, 1, [], root));
  });
});

describe('proofs of consistency', () => {
  it('equal the published ones of the known tree', async () => {
    for (const { from, to, path } of consistency) {
      const proof = await consistencyProof(from, to, known.readNode);
      assert.deepEqual(proof.map(toHex), path, `${from} to ${to}`);
    }
  });

  it('verify every pair of sizes, and no other root', async () => {
    for (let to = 0; to <= 40; to++) {
      for (let from = 0; from <= to; from++) {
        const proof = await consistencyProof(from, to, tree.readNode);
        const holds = (fromRoot: Hash, toRoot: Hash, path = proof) =>
          verifyConsistency(from, fromRoot, to, toRoot, path);
        assert.ok(holds(tree.roots[from], tree.roots[to]), `${from} to ${to}`);
        assert.ok(!holds(LEAVES[0], tree.roots[to]) || from === 1, 'another first root');
        // An empty log is consistent with every log.
        assert.equal(holds(tree.roots[from], LEAVES[1]), from === 0 && to > 0, 'another second root');
        assert.ok(!holds(tree.roots[from], tree.roots[to], [...proof, LEAVES[0]]), 'one hash more');
        if (proof.length > 0)
          assert.ok(!holds(tree.roots[from], tree.roots[to], proof.slice(1)), 'one hash less');
      }
    }
  });

  it('are refused from a larger tree to a smaller one', () => {
    assert.ok(!verifyConsistency(2, tree.roots[2], 1, tree.roots[1], []));
  });
});

test('four nodes at a time have the same hashes as one after the other, for any count', () => {
  for (const nodes of [0, 1, 2, 3, 4, 5, 511, 512, 513, 1_030]) {
    const level = Uint8Array.from({ length: 64 * nodes }, (_, i) => (i * 131 + (i >> 8) * 7) & 0xff);
    assert.equal(toHex(nodeHashesByFour(level)), toHex(nodeHashes(level)), `${nodes} nodes`);
  }
});
