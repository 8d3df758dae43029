import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { keysDocument } from '../../src/certificate/keys-document.ts';
import { revocationText } from '../../src/certificate/leaf.ts';
import { CertificateLog } from '../../src/certificate/log.ts';
import { noteOf } from '../../src/certificate/log-state.ts';
import { certifiedLot, statementText } from '../../src/certificate/lot-leaf.ts';
import { findUnseenLots } from '../../src/certificate/unseen-lots.ts';
import { lotVerdict, verifyPublicLot } from '../../src/certificate/verify-public-lot.ts';
import { BlockCommitment } from '../../src/crypto/block-commitment.ts';
import { sha256Hex } from '../../src/crypto/digest.ts';
import { CompactRange, HashTree, leafHash, pieceHash, rootOfRun, seedHash } from '../../src/crypto/merkle.ts';
import { COSIGNATURE_TYPE, formatNote } from '../../src/crypto/note.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { referenceRoot } from '../reference/merkle.ts';
import {
  answerEntry,
  committedBlocks,
  lotRecord,
  sampleLot,
  seededSource,
  segmentRecord,
  TIME_MS,
} from './fixtures.ts';
import { checkProof, LogWorld, logKeys } from './log-world.ts';
import { publicLots } from './said.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('public leaves', () => {
  it('keep their bytes and the hashes in them', async () => {
    const lot = lotRecord('a');
    const withdrawal = revocationText({ lotId: lot.id, why: 'a "fault" \u00e9', atMs: TIME_MS });
    const one = new CompactRange();
    one.append(leafHash(Buffer.from(withdrawal)), () => {});
    const [block] = committedBlocks(lot.id);
    const made = {
      lot: certifiedLot(lot).text,
      sample: certifiedLot(sampleLot('b')).text,
      withdrawal,
      statement: statementText(TIME_MS, one),
      piece: hex(pieceHash(new Uint8Array(16).fill(1), new Uint8Array(16).fill(2))),
      seed: hex(seedHash(new Uint8Array(32).fill(3))),
      block: hex(new BlockCommitment(block).tree.root),
      salts: sha256Hex(new BlockCommitment(block).salts(0, 256)),
    };
    const path = new URL('../vectors/certificate/leaf-kinds.json', import.meta.url);
    assert.deepEqual(made, JSON.parse(readFileSync(path, 'utf8')));
  });
});

describe('a small tree', () => {
  it('has the root of RFC 9162, and proves every run of its leaves and no other', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 70 }), fc.nat(), fc.nat(), fc.nat(), (size, a, b, flip) => {
        const leaves = Array.from({ length: size }, (_, i) => sha256(Buffer.from(`leaf ${i}`)));
        const tree = new HashTree(leaves);
        assert.equal(hex(tree.root), hex(referenceRoot(leaves)));
        const from = a % size;
        const before = from + 1 + (b % (size - from));
        const run = leaves.slice(from, before);
        const proof = tree.runProof(from, before);
        const rest = [...proof, leaves[0]];
        assert.equal(hex(rootOfRun(size, from, run, rest)!), hex(tree.root));
        assert.equal(rest.length, 1, 'takes what it needs and no more');
        const at = flip % run.length;
        const changed = run.with(at, sha256(run[at]));
        assert.notEqual(hex(rootOfRun(size, from, changed, [...proof])!), hex(tree.root));
        if (proof.length > 0) assert.equal(rootOfRun(size, from, run, proof.slice(1)), undefined);
        assert.equal(rootOfRun(size, size - run.length + 1, run, [...proof]), undefined);
      }),
      { numRuns: 300 },
    );
  });
});

describe('lots in the log', () => {
  it('have a leaf before they are released, in the order in which they came', async () => {
    const w = new LogWorld();
    const log = await w.open();
    for (const name of ['a', 'b']) {
      const lot = lotRecord(name);
      w.lots.set(lot.id, lot);
    }
    const [first, second] = [...w.lots.keys()];
    assert.equal(await log.lotProof(first, w.clock.wall), undefined);
    assert.equal(await log.seal(), 3, 'the lots, and a statement');
    assert.deepEqual(
      [...w.released],
      [first, second].map((id) => [id, w.clock.wallMs()]),
    );
    const leaves = (await log.publicLeaves(0, 9)).map(({ leaf }) => leaf);
    const hashes = leaves.map((leaf) => leafHash(Buffer.from(leaf)));
    for (const [i, id] of [first, second].entries()) {
      checkProof((await log.lotProof(id, w.clock.wall))!, hashes);
      assert.equal((await log.leafOf(`lot/${id}`))?.leaf, leaves[i]);
    }
    assert.equal(await log.seal(), 0);
  });

  it('are not released when their leaf could not be stored, and are logged once if it was stored after all', async () => {
    for (const outcome of ['lost', 'done, but said to have failed'] as const) {
      const w = new LogWorld();
      const log = await w.open();
      const lot = lotRecord('a');
      w.lots.set(lot.id, lot);
      w.nextWrite = outcome;
      await assert.rejects(log.seal());
      assert.equal(w.released.size, outcome === 'lost' ? 0 : 1, 'by the transaction that stores its leaf');
      await log.seal();
      assert.equal(w.released.size, 1);
      assert.equal((await log.publicLeaves(0, 9)).length, 2);
      assert.equal(log.size, 2);
    }
  });

  it('wait until enough witnesses have seen them, including those released before witnesses were required', async () => {
    const w = new LogWorld();
    const [first, second] = [lotRecord('a'), lotRecord('b')];
    w.lots.set(first.id, first);
    await (await w.open()).seal();
    const releasedMs = w.clock.wall;
    w.clock.wall += 60_000;
    const log = await CertificateLog.open({ ...w.options(), isWitnessed: true });
    const asked = (keyId: string) => (name: string) => {
      return { key: { name, keyId, type: COSIGNATURE_TYPE, publicKey: new Uint8Array(32) }, url: '' };
    };
    const find = (unclaimed: number, names = ['w1', 'w2'], keyId = '01020304') =>
      findUnseenLots(
        {
          lots: async () => [first],
          pendingLots: async () => [],
          unclaimedBlocks: async () => unclaimed,
        },
        w.store,
        { witnesses: names.map(asked(keyId)), quorum: 2 },
      );
    assert.equal(await (await find(0)).settle(), true, 'nothing is left of it to draw');
    const unseen = await find(3);
    assert.equal(await unseen.settle(), false, 'nobody has seen it');
    w.lots.set(second.id, second);
    await log.seal();
    assert.ok(!w.released.has(second.id));
    const cosignedBy = (...names: string[]) => {
      const { text, signatures } = noteOf(log.checkpoint);
      const own = names.map((name) => ({ name, keyId: '01020304', signature: new Uint8Array(72).fill(1) }));
      return formatNote({ text, signatures: [...signatures, ...own] });
    };
    await log.addWitnessed(log.size, cosignedBy('w1', 'w3'));
    assert.equal(await unseen.settle(), false, 'one of them, and a witness that is not asked for');
    assert.deepEqual(unseen.lots(), [first]);
    const proofNow = async () => (await log.lotProof(first.id, w.clock.wall + 1_000)) ?? '';
    assert.match(await proofNow(), /^— w3 /m);
    await log.addWitnessed(log.size, cosignedBy('w1', 'w2'));
    assert.equal(await unseen.settle(), true);
    assert.deepEqual(unseen.lots(), []);
    await (await CertificateLog.open({ ...w.options(), isWitnessed: true })).seal();
    assert.ok(w.released.has(second.id), 'after a restart too');
    const before = await log.lotProof(first.id, releasedMs + 1_000);
    assert.ok(before !== undefined && !/^— w/m.test(before), 'an answer from before');
    assert.match(await proofNow(), /^— w2 /m, 'a cosignature that came later is not left out');
    const without = await w.open(); // nobody is asked any more
    const third = lotRecord('c');
    w.lots.set(third.id, third);
    await without.seal();
    const own = await without.lotProof(third.id, w.clock.wall + 1_000);
    assert.ok(own !== undefined && !/^— w/m.test(own), 'no witness has seen it');
    assert.equal(await (await find(3)).settle(), true, 'after a restart too');
    assert.equal(await (await find(3, ['w1', 'w4'])).settle(), false, 'other witnesses are asked for');
    assert.equal(await (await find(3, ['w1', 'w2'], '05060708')).settle(), false, 'they have other keys now');
  });

  it('are followed by a statement of the earlier withdrawals, as withdrawals are', async () => {
    const w = new LogWorld();
    const log = await w.open();
    w.withdrawn.push({ lotId: 'lot_x', why: 'a fault', atMs: TIME_MS });
    await log.seal();
    w.lots.set(lotRecord('a').id, lotRecord('a'));
    await log.seal();
    const leaves = (await log.publicLeaves(0, 9)).map(({ leaf }) => leaf);
    const types = leaves.map((leaf) => (JSON.parse(leaf) as { type: string }).type);
    assert.deepEqual(types, ['revocation', 'statement', 'lot', 'statement']);
    const root = Buffer.from(leafHash(Buffer.from(leaves[0]))).toString('base64');
    for (const at of [1, 3]) {
      const { withdrawals } = JSON.parse(leaves[at]) as { withdrawals: object };
      assert.deepEqual(withdrawals, { count: 1, root });
    }
    assert.deepEqual((await log.withdrawals()).withdrawals, [leaves[0]]);
  });

  it('are replaced by a statement after an hour with other leaves, and by nothing in an hour without any leaf', async () => {
    const w = new LogWorld();
    const log = await w.open();
    w.clock.wall += 3_600_000;
    const { writes } = w;
    assert.equal(await log.seal(), 0);
    assert.equal(w.writes, writes, 'nothing is written');
    assert.deepEqual(await log.withdrawals(), { withdrawals: [], statement: null });
    w.withdrawn.push({ lotId: 'lot_x', why: 'a fault', atMs: TIME_MS });
    await log.seal();
    w.lots.set(lotRecord('x').id, lotRecord('x'));
    w.released.set(lotRecord('x').id, 0);
    w.commit(segmentRecord(1, [seededSource(lotRecord('x').id)], [answerEntry(1)]));
    assert.equal(await log.seal(), 1, 'a withdrawal was logged just now');
    w.clock.wall += 3_600_000;
    w.commit(segmentRecord(2, [seededSource(lotRecord('x').id)], [answerEntry(2)]));
    assert.equal(await log.seal(), 2);
    const { statement, withdrawals } = await log.withdrawals();
    const { at, withdrawals: counted } = JSON.parse(statement!.leaf);
    assert.equal(Date.parse(at), w.clock.wall - (w.clock.wall % 1_000), 'when it was signed');
    assert.equal(counted.count, 1);
    assert.equal(withdrawals.length, 1);
  });
});

describe('a requested lot', () => {
  it('is shown as not withdrawn up to a size, or as withdrawn with the reason', async () => {
    const { a, b, before, after, keys } = await publicLots();
    const signedByS = (TIME_MS + 500 - ((TIME_MS + 500) % 1_000)) / 1_000;
    const cases: [lotId: string, document: unknown, told: object][] = [
      [a, before[0], { leaf: 0, notWithdrawnBefore: 4, signedByS }],
      [a, after[0], { leaf: 0, notWithdrawnBefore: 6, signedByS }],
      [b, before[1], { leaf: 1, withdrawn: 'a fault' }],
      [b, after[1], { leaf: 1, withdrawn: 'a fault' }],
    ];
    for (const [lotId, document, told] of cases)
      assert.deepEqual(verifyPublicLot(lotId, document, keys), told);
    assert.match(
      lotVerdict(a, verifyPublicLot(a, after[0], keys)),
      /^Lot lot_\w+ is leaf 0 of the log\. It had not been withdrawn when the log had 6 leaves, which it signed by /,
    );
  });

  it('is refused when the operator hides its withdrawal, or presents another lot or another log', async () => {
    const { a, b, after, keys } = await publicLots();
    const [good, bad] = after;
    const attacks: Readonly<Record<string, [lotId: string, document: unknown, why: RegExp]>> = {
      'leaves the withdrawal out of the list': [
        b,
        { ...bad, withdrawal: null, withdrawals: [] },
        /counts 1 withdrawals, but the reply lists 0/,
      ],
      'lists another lot in its place': [
        b,
        { ...bad, withdrawal: null, withdrawals: [bad.withdrawals[0].replace(b, a)] },
        /are not those that the statement counts/,
      ],
      'changes the statement': [
        b,
        {
          ...bad,
          statement: { ...bad.statement, leaf: bad.statement.leaf.replace('"count":1', '"count":0') },
        },
        /^The statement: It is not leaf \d of the tree/,
      ],
      'answers with another lot': [b, good, /^The leaf in the reply is not that of lot/],
      'tells another leaf': [
        a,
        { ...good, leaf: good.leaf.replace('"raw_bits":1048576', '"raw_bits":1') },
        /^The leaf of the lot: It is not leaf \d of the tree/,
      ],
      'moves the leaf': [
        a,
        { ...good, proof: good.proof.replace('index 0', 'index 1') },
        /^The leaf of the lot: It is not leaf \d of the tree/,
      ],
    };
    for (const [what, [lotId, document, why]] of Object.entries(attacks))
      assert.throws(() => verifyPublicLot(lotId, document, keys), { name: 'Refusal', message: why }, what);
    const others = keysDocument(logKeys(2));
    assert.throws(() => verifyPublicLot(a, good, others), /None of the known keys signed/);
    for (const nothing of [null, 1, {}, { leaf: '{}' }, { ...good, withdrawals: 'x' }])
      assert.throws(() => verifyPublicLot(a, nothing, keys), { name: 'Refusal' });
  });
});
