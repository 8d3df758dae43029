import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js';
import { InvariantError } from '../../src/core/assert.ts';
import { fromHex, toHex } from '../../src/core/bytes.ts';
import { sha256 } from '../../src/crypto/digest.ts';
import {
  CompactRange,
  consistencyProof,
  emptyRoot,
  type Hash,
  inclusionProof,
  leafHash,
  nodeHash,
  type ReadNode,
  verifyConsistency,
  verifyInclusion,
} from '../../src/crypto/merkle.ts';
import { referenceRoot } from '../reference/merkle.ts';

/**
 * The eight entries, their roots and proofs that Certificate Transparency implementations share as known
 * answers.
 */
const ENTRIES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map(fromHex);
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
const INCLUSION: [index: number, size: number, path: string[]][] = [
  [0, 1, []],
  [
    0,
    8,
    [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  ],
  [
    5,
    8,
    [
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
  [2, 3, ['fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125']],
  [
    1,
    5,
    [
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  ],
];
const CONSISTENCY: [from: number, to: number, path: string[]][] = [
  [1, 1, []],
  [
    1,
    8,
    [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  ],
  [
    6,
    8,
    [
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
  [
    2,
    5,
    [
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  ],
];

/** A tree of leaves made from their index, with every node it told of. */
function grow(leaves: readonly Hash[]): { range: CompactRange; readNode: ReadNode; roots: Hash[] } {
  const nodes = new Map<string, Hash>();
  const range = new CompactRange(sha256);
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

const known = grow(ENTRIES.map((entry) => leafHash(sha256, entry)));
const LEAVES = Array.from({ length: 70 }, (_, i) => leafHash(sha256, Uint8Array.of(i)));
const tree = grow(LEAVES);

describe('Merkle tree (RFC 9162 §2.1)', () => {
  it('has the hash of an empty string as its root without leaves', () => {
    assert.equal(
      toHex(new CompactRange(sha256).root()),
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    );
    assert.deepEqual(emptyRoot(sha256), new CompactRange(sha256).root());
  });

  it('has the known roots for one to eight entries', () => {
    assert.deepEqual(known.roots.slice(1).map(toHex), ROOTS);
  });

  it('has the roots of the recursive definition', () => {
    for (let size = 0; size <= LEAVES.length; size++) {
      assert.deepEqual(tree.roots[size], referenceRoot(LEAVES.slice(0, size)), `size ${size}`);
    }
  });

  it('hashes no leaf as a node, and gives the same by any SHA-256', () => {
    const [left, right] = LEAVES;
    const joined = new Uint8Array([...left, ...right]);
    assert.notDeepEqual(leafHash(sha256, joined), nodeHash(sha256, left, right));
    const pure = (data: Uint8Array) => new Uint8Array(nobleSha256(data));
    assert.deepEqual(leafHash(pure, joined), new Uint8Array(leafHash(sha256, joined)));
    assert.deepEqual(nodeHash(pure, left, right), new Uint8Array(nodeHash(sha256, left, right)));
  });

  it('grows on from a compact range as from all of its leaves', () => {
    for (let size = 0; size < LEAVES.length; size++) {
      const first = new CompactRange(sha256);
      for (const leaf of LEAVES.slice(0, size)) first.append(leaf, () => {});
      const second = new CompactRange(sha256, first.size, first.roots);
      for (const leaf of LEAVES.slice(size)) second.append(leaf, () => {});
      assert.deepEqual(second.root(), tree.range.root());
      assert.equal(second.size, LEAVES.length);
    }
  });

  it('takes no compact range whose roots do not fit its size', () => {
    assert.throws(() => new CompactRange(sha256, 3, [LEAVES[0]]), InvariantError);
    assert.throws(() => new CompactRange(sha256, -1), InvariantError);
    assert.throws(() => new CompactRange(sha256, 0.5), InvariantError);
  });

  it('counts beyond 32 bits', () => {
    const size = 2 ** 40 + 1;
    const range = new CompactRange(sha256, size, [LEAVES[0], LEAVES[1]]);
    const completed: string[] = [];
    range.append(LEAVES[2], (level, index) => completed.push(`${level}/${index}`));
    assert.deepEqual(completed, [`0/${size}`, `1/${2 ** 39}`]);
    const pair = nodeHash(sha256, LEAVES[1], LEAVES[2]);
    assert.deepEqual(range.root(), nodeHash(sha256, LEAVES[0], pair));
    assert.ok(verifyInclusion(sha256, LEAVES[2], size, size + 1, [LEAVES[1], LEAVES[0]], range.root()));
  });
});

describe('proofs of inclusion', () => {
  it('are those that are published of the known tree', async () => {
    for (const [index, size, path] of INCLUSION) {
      const proof = await inclusionProof(sha256, index, size, known.readNode);
      assert.deepEqual(proof.map(toHex), path, `${index} of ${size}`);
    }
  });

  it('verify every leaf of every tree in its place and in no other', async () => {
    for (let size = 1; size <= 40; size++) {
      for (let index = 0; index < size; index++) {
        const proof = await inclusionProof(sha256, index, size, tree.readNode);
        const holds = (leaf: number, at: number, of: number, path = proof) =>
          verifyInclusion(sha256, LEAVES[leaf], at, of, path, tree.roots[size]);
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
      assert.ok(!verifyInclusion(sha256, LEAVES[0], index, size, [], root));
    }
    assert.ok(verifyInclusion(sha256, LEAVES[0], 0, 1, [], root));
  });
});

describe('proofs of consistency', () => {
  it('are those that are published of the known tree', async () => {
    for (const [from, to, path] of CONSISTENCY) {
      const proof = await consistencyProof(sha256, from, to, known.readNode);
      assert.deepEqual(proof.map(toHex), path, `${from} to ${to}`);
    }
  });

  it('verify every pair of sizes, and no other root', async () => {
    for (let to = 0; to <= 40; to++) {
      for (let from = 0; from <= to; from++) {
        const proof = await consistencyProof(sha256, from, to, tree.readNode);
        const holds = (fromRoot: Hash, toRoot: Hash, path = proof) =>
          verifyConsistency(sha256, from, fromRoot, to, toRoot, path);
        assert.ok(holds(tree.roots[from], tree.roots[to]), `${from} to ${to}`);
        assert.ok(!holds(LEAVES[0], tree.roots[to]) || from === 1, 'another first root');
        // From nothing, everything follows.
        assert.equal(holds(tree.roots[from], LEAVES[1]), from === 0 && to > 0, 'another second root');
        assert.ok(!holds(tree.roots[from], tree.roots[to], [...proof, LEAVES[0]]), 'one hash more');
        if (proof.length > 0)
          assert.ok(!holds(tree.roots[from], tree.roots[to], proof.slice(1)), 'one hash less');
      }
    }
  });

  it('are refused from a larger tree to a smaller one', () => {
    assert.ok(!verifyConsistency(sha256, 2, tree.roots[2], 1, tree.roots[1], []));
  });
});
