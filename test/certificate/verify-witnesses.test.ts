import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CertificateDocument } from '../../src/certificate/document.ts';
import { verifyAnswer } from '../../src/certificate/verify.ts';
import { readWitnessPolicy, WITNESS_CLOCK_MS } from '../../src/certificate/verify-witnesses.ts';
import { sha256 } from '../../src/crypto/digest.ts';
import {
  COSIGNATURE_TYPE,
  cosignatureText,
  formatNote,
  noteKeyId,
  parseNote,
  timestampedSignature,
  verifierKey,
} from '../../src/crypto/note.ts';
import { SigningKey } from '../../src/crypto/signing.ts';
import { committedLot, lotRecord, TIME_MS } from './fixtures.ts';
import { scene } from './scene.ts';

const SECOND = Math.floor(TIME_MS / 1_000);

function witness(seed: number) {
  const key = SigningKey.fromSeed(new Uint8Array(32).fill(seed));
  const name = `witness.example/w${seed}`;
  return { name, key, verifier: verifierKey(sha256, name, key.publicKey, COSIGNATURE_TYPE) };
}

/** The proof with the witness's cosignature on its checkpoint. */
function cosigned(proof: string | null, { name, key }: ReturnType<typeof witness>, atS: number): string {
  assert.ok(proof !== null);
  const blank = proof.indexOf('\n\n') + 2;
  const note = parseNote(proof.slice(blank));
  assert.ok(note !== undefined);
  const signature = timestampedSignature(atS, key.sign(Buffer.from(cosignatureText(atS, note.text))));
  const keyId = noteKeyId(sha256, name, key.publicKey, COSIGNATURE_TYPE);
  const signatures = [...note.signatures, { name, keyId, signature }];
  return proof.slice(0, blank) + formatNote({ text: note.text, signatures });
}

type Times = readonly (readonly [seed: number, atS: number])[];

/** The check of a seeded answer of version 4 whose lot and certificate were seen at these times. */
async function check(lotSeen: Times, seen: Times, quorum: number, named = [1, 2, 3]) {
  const lots = [await committedLot(lotRecord('a'))];
  const { document, keys } = await scene({ lots, drawn: [{ lot: 0, offset: 32, bytes: 32 }] });
  const over = (proof: string | null, times: Times) =>
    times.reduce<string | null>((text, [seed, atS]) => cosigned(text, witness(seed), atS), proof);
  const certificate = {
    ...document,
    certificate: { ...document.certificate, proof: over(document.certificate.proof, seen) },
    lots: document.lots?.map((lot) => ({ ...lot, proof: over(lot.proof, lotSeen) })),
  } as CertificateDocument;
  const witnesses = { keys: named.map((seed) => witness(seed).verifier), quorum };
  const { checks } = await verifyAnswer({ certificate, keys, witnesses });
  const of = (name: string) => checks.find((each) => each.name === name);
  return { ...of('witnesses'), fixed: of('fixed') };
}

describe('the witnesses of a certificate', () => {
  it('say between which two times it was logged, when they had seen the log with its lots alone', async () => {
    const lotSeen: Times = [
      [1, SECOND - 20],
      [2, SECOND - 30],
    ];
    const { ok, why, fixed } = await check(
      lotSeen,
      [
        [1, SECOND + 2],
        [2, SECOND + 5],
        [3, SECOND + 9],
      ],
      2,
    );
    assert.equal(ok, true, why);
    assert.match(
      why ?? '',
      /: logged between 2026-11-21T08:29:30.000Z, when witnesses had seen the log with 1 leaves and so without it, and 2026-11-21T08:30:05.000Z\.$/,
    );
    assert.equal(fixed?.ok, true, fixed?.why);
  });

  it('say by when alone, when too few of them had seen its lots before', async () => {
    const seen: Times = [
      [1, SECOND + 2],
      [2, SECOND + 5],
    ];
    const { ok, why, fixed } = await check([[1, SECOND - 20]], seen, 2);
    assert.equal(ok, true, why);
    assert.match(why ?? '', /: logged between 2026-11-21T08:30:00.\d{3}Z, by the log's own word, and /);
    assert.equal(fixed?.ok, false, 'but the lots are not known to have been fixed before');
    assert.match(fixed?.why ?? '', /^1 of the 2 witnesses that are asked for saw lot /);
  });

  it('fail when there are too few, or one is named twice, or one saw the tree before it was issued', async () => {
    const two: Times = [
      [1, SECOND + 2],
      [2, SECOND + 5],
    ];
    assert.match(
      (await check(two, two, 3)).why ?? '',
      /^2 of the 3 witnesses that are asked for saw the tree: /,
    );
    assert.match((await check(two, two, 2, [1, 1])).why ?? '', /^1 of the 2 witnesses/);
    const early: Times = [[1, SECOND - WITNESS_CLOCK_MS / 1_000 - 1]];
    assert.match((await check(early, early, 1, [1])).why ?? '', /saw the tree at .*, before the certificate/);
    assert.match((await check(two, two, 4)).why ?? '', /^The quorum is 4, and 3 witnesses are named\.$/);
  });
});

describe('a policy', () => {
  it('is keys with commas or white space between them, and a quorum', () => {
    assert.deepEqual(readWitnessPolicy('a, b\nc', ''), { keys: ['a', 'b', 'c'], quorum: 3 });
    assert.deepEqual(readWitnessPolicy('a,b', '1'), { keys: ['a', 'b'], quorum: 1 });
    assert.equal(readWitnessPolicy(' ,', ''), 'no witness is named');
    for (const wrong of ['0', '3', '1.5', 'x'])
      assert.equal(readWitnessPolicy('a,b', wrong), `the quorum is 1 to 2, not ${JSON.stringify(wrong)}`);
  });
});
