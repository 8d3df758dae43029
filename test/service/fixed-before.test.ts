import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Verification, verifyAnswer } from '../../src/certificate/verify.ts';
import { fromBase64 } from '../../src/crypto/base64.ts';
import { CompactRange, leafHash, verifyInclusion } from '../../src/crypto/merkle.ts';
import { parseCheckpoint, parseNote, parseProof } from '../../src/crypto/note.ts';
import { fetchWhole } from '../support/http.ts';
import { until } from '../support/server.ts';
import { LocalService } from '../support/service.ts';

/** On the real service: the entropy of an answer is in the signed log before the answer is issued. */

interface PureAnswer {
  data: Record<string, unknown>;
  metadata: { certificate_id: string };
  opening?: { bytes: string; path: string; salts: string };
}

interface Document {
  certificate: {
    version: number;
    proof: string | null;
    provenance: {
      lots: { id: string }[];
      drawn: { lot: number; offset: number; bytes: number }[] | null;
      seed: { index: number } | null;
    };
  };
  lots: { leaf: { version: number }; proof: string; runs: { hashes: string[] }[] }[];
}

interface PublicLot {
  leaf: string;
  proof: string;
  withdrawal: { leaf: string; proof: string } | null;
  withdrawals: string[];
  statement: { leaf: string; proof: string };
}

let local: LocalService;
describe('values that were fixed before they were requested', () => {
  before(async () => {
    local = await LocalService.start({}, {});
    await local.service.ready;
  });
  after(() => local.stop());

  const fetched = async <Body>(path: string) =>
    (await (await fetchWhole(`${local.origin}${path}`)).json()) as Body;

  async function documentOf(id: string): Promise<Document> {
    let document: Document | undefined;
    await until('the certificate is logged', async () => {
      document = (await local.ask<Document>(`/certificate?id=${id}`)).body;
      return document.certificate.proof !== null;
    });
    return document!;
  }

  async function verified(response: unknown, certificate: unknown): Promise<Verification> {
    return verifyAnswer({ response, certificate, keys: await fetched('/.well-known/qrn-keys.json') });
  }

  const failedOf = ({ checks }: Verification) =>
    checks.filter(({ ok }) => !ok).map(({ name, why }) => `${name}: ${why}`);
  const fixedOf = ({ checks }: Verification) => checks.find(({ name }) => name === 'fixed')!.why;

  const PURE_PATHS = [
    '/bytes?count=16&entropy_mode=pure',
    '/bytes?count=1024&encoding=base64&entropy_mode=pure',
    '/uuid?count=3&entropy_mode=pure',
    '/bitstring?length=77&entropy_mode=pure',
    '/integers?count=5&min=1&max=6&entropy_mode=pure',
    '/floats?count=3&entropy_mode=pure',
  ];

  describe('the entropy of an answer', () => {
    it('was in the signed log before, for pure answers of every kind', async () => {
      for (const path of PURE_PATHS) {
        const { body } = await local.ask<PureAnswer>(path);
        const document = await documentOf(body.metadata.certificate_id);
        assert.equal(document.certificate.version, 1);
        const verification = await verified(body, document);
        assert.deepEqual(failedOf(verification), [], path);
        assert.match(
          fixedOf(verification),
          /^The log says that it held the lots by .*, before the answer was issued\. (The values follow from|The answer opens the) bytes that/,
        );
        assert.deepEqual(
          verification.notCovered.filter((name) => name.startsWith('opening')),
          [],
        );
      }
    });

    it('takes at most half a KiB of the answer to prove', async () => {
      for (const path of [
        '/bytes?entropy_mode=pure',
        '/integers?entropy_mode=pure',
        '/uuid?entropy_mode=pure',
      ]) {
        const { body } = await local.ask<PureAnswer>(path);
        assert.ok(JSON.stringify(body.opening).length + ',"opening":'.length <= 512, path);
      }
    });

    it('was a seed of the log in seeded mode, and the certificate names no tier', async () => {
      const { body } = await local.ask<PureAnswer>('/integers');
      assert.equal(body.opening, undefined);
      const document = await documentOf(body.metadata.certificate_id);
      assert.ok(Number.isInteger(document.certificate.provenance.seed?.index));
      assert.doesNotMatch(JSON.stringify(document), /tier|"pro"|generation/);
      const verification = await verified(body, document);
      assert.deepEqual(failedOf(verification), []);
      assert.match(fixedOf(verification), /The seed of the answer is number \d+ of the 64/);
    });

    it('never overlaps that of another answer', async () => {
      const taken: { from: number; before: number; lot: string }[] = [];
      for (let i = 0; i < 12; i++) {
        const { body } = await local.ask<PureAnswer>(
          `/integers?count=${1 + 300 * (i % 3)}&entropy_mode=pure`,
        );
        const { provenance } = (await documentOf(body.metadata.certificate_id)).certificate;
        for (const { lot, offset, bytes } of provenance.drawn!) {
          const range = { from: offset, before: offset + bytes, lot: provenance.lots[lot].id };
          for (const other of taken) {
            const isApart =
              other.lot !== range.lot || other.before <= range.from || range.before <= other.from;
            assert.ok(isApart, `${JSON.stringify(range)} and ${JSON.stringify(other)}`);
          }
          taken.push(range);
        }
      }
    });

    it('is refused when any part of its proof is changed', async () => {
      const { body } = await local.ask<PureAnswer>('/bytes?count=40&entropy_mode=pure');
      const document = await documentOf(body.metadata.certificate_id);
      const flipped = (text: string) => (text[0] === 'A' ? 'B' : 'A') + text.slice(1);
      const lot = ['lots', 'derived', 'status', 'dates', 'fixed'];
      const changes: [change: (answer: PureAnswer, certificate: Document) => void, fails?: string[]][] = [
        [(answer) => (answer.opening!.bytes = flipped(answer.opening!.bytes))],
        [(answer) => (answer.opening!.salts = flipped(answer.opening!.salts))],
        [(answer) => (answer.opening!.path = flipped(answer.opening!.path))],
        [(answer) => delete answer.opening],
        [(_, { lots }) => (lots[0].runs[0].hashes[0] = flipped(lots[0].runs[0].hashes[0]))],
        [(_, { lots }) => (lots[0].leaf.version = 2), lot],
        [(_, { lots }) => (lots.length = 0), lot],
        [(_, { lots }) => lots[0].runs.push(lots[0].runs[0])],
      ];
      for (const [i, [change, fails = ['fixed']]] of changes.entries()) {
        const [answer, certificate] = structuredClone([body, document] as const);
        change(answer, certificate);
        const names = failedOf(await verified(answer, certificate)).map((each) => each.split(':')[0]);
        assert.deepEqual(names, fails, `change ${i}`);
      }
    });
  });

  describe('the public leaves', () => {
    it('are all shown, are in the tree, and count the earlier withdrawals', async () => {
      const { body } = await local.ask<PureAnswer>('/bytes?entropy_mode=pure');
      const [{ id }] = (await documentOf(body.metadata.certificate_id)).certificate.provenance.lots;
      const before = await fetched<PublicLot>(`/log/lots/${id}`);
      assert.equal((JSON.parse(before.leaf) as { lot_id: string }).lot_id, id);
      assert.equal(before.withdrawal, null);
      assertIncluded(before.leaf, before.proof);
      await local.service.ledger.revokeLot({ lotId: id, why: 'a fault', atMs: Date.now() });
      let lot = before;
      await until('the withdrawal is logged', async () => {
        lot = await fetched<PublicLot>(`/log/lots/${id}`);
        return lot.withdrawal !== null;
      });
      assert.match(lot.withdrawal!.leaf, new RegExp(`"lot_id":"${id}","reason":"a fault"`));
      assertIncluded(lot.withdrawal!.leaf, lot.withdrawal!.proof);
      await until('a later lot counts it', async () => {
        lot = await fetched<PublicLot>(`/log/lots/${id}`);
        return lot.withdrawals.length === 1;
      });
      assert.deepEqual(lot.withdrawals, [lot.withdrawal!.leaf]);
      assertIncluded(lot.statement.leaf, lot.statement.proof);
      const { leaves } = await fetched<{ leaves: { index: number; leaf: string }[] }>('/log/leaves?from=0');
      const range = new CompactRange();
      for (const { leaf } of leaves) {
        const told = JSON.parse(leaf) as { type: string; withdrawals?: { count: number; root: string } };
        if (told.type === 'revocation') range.append(leafHash(Buffer.from(leaf)), () => {});
        if (told.type === 'statement')
          assert.deepEqual(told.withdrawals, {
            count: range.size,
            root: Buffer.from(range.root()).toString('base64'),
          });
      }
      assert.equal(range.size, 1);
      assert.deepEqual(
        (await fetched<{ leaves: object[] }>(`/log/leaves?from=${leaves[1].index}`)).leaves.slice(
          0,
          leaves.length - 1,
        ),
        leaves.slice(1),
      );
    });

    it('do not exist for an unknown lot', async () => {
      for (const path of ['/log/lots/lot_00000000000000000000000000', '/log/lots/x', '/log/leaves?from=-1'])
        assert.equal((await fetchWhole(`${local.origin}${path}`)).status, 404);
    });
  });

  function assertIncluded(leaf: string, proofText: string): void {
    const proof = parseProof(proofText)!;
    const { size, root } = parseCheckpoint(parseNote(proof.note)!.text)!;
    assert.ok(fromBase64(Buffer.from(root).toString('base64')));
    assert.ok(verifyInclusion(leafHash(Buffer.from(leaf)), proof.index, size, proof.path, root));
  }
});
