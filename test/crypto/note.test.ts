import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { toHex, utf8Bytes } from '../../src/core/bytes.ts';
import { fromBase64, toBase64 } from '../../src/crypto/base64.ts';
import { verifyEd25519 } from '../../src/crypto/ed25519.ts';
import {
  checkpointText,
  formatNote,
  formatProof,
  isKeyName,
  noteKeyId,
  parseCheckpoint,
  parseNote,
  parseProof,
  verifierKey,
} from '../../src/crypto/note.ts';
import { SigningKey } from '../../src/crypto/signing.ts';

/** golang.org/x/mod/sumdb/note, the format's reference implementation. */
const PETER = {
  name: 'PeterNeumann',
  seed: 'AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz',
  verifierKey: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  note:
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n" +
    '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
};
/** c2sp.org/signed-note, Verifier keys. */
const SPEC = {
  verifierKey: 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k',
  note:
    'This is an example message.\n\n' +
    '— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n',
};
/** c2sp.org/signed-note, Format: an empty line within the text. */
const POEM =
  'Ognuno sta solo sul cuor della terra\ntrafitto da un raggio di sole:\n\ned è subito sera.\n\n' +
  '— quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=\n';
/** c2sp.org/tlog-checkpoint. */
const CHECKPOINT =
  'example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n' +
  '— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n';

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64(base64);
  assert.ok(bytes);
  return bytes;
}

describe('signed notes', () => {
  it('have the verifier key, key id, text and signature of the reference implementation', () => {
    const key = SigningKey.fromSeed(bytesOf(PETER.seed).subarray(1));
    assert.equal(verifierKey(PETER.name, key.publicKey), PETER.verifierKey);
    const text = PETER.note.slice(0, PETER.note.lastIndexOf('\n\n') + 1);
    const keyId = noteKeyId(PETER.name, key.publicKey);
    const signature = key.sign(utf8Bytes(text));
    assert.equal(formatNote({ text, signatures: [{ name: PETER.name, keyId, signature }] }), PETER.note);
  });

  it('verify in the examples of the specification', () => {
    for (const { verifierKey: trusted, note } of [PETER, SPEC]) {
      const [name, keyId, typed] = trusted
        .split('+')
        .slice(0, 2)
        .concat(trusted.split('+').slice(2).join('+'));
      const publicKey = bytesOf(typed).subarray(1);
      assert.equal(noteKeyId(name, publicKey), keyId);
      const parsed = parseNote(note);
      assert.equal(parsed?.signatures[0].keyId, keyId);
      assert.ok(verifyEd25519(publicKey, utf8Bytes(parsed.text), parsed.signatures[0].signature));
    }
  });

  it('are read and written as in the examples of the specifications', () => {
    for (const note of [POEM, CHECKPOINT, PETER.note, SPEC.note]) {
      const parsed = parseNote(note);
      assert.ok(parsed);
      assert.equal(formatNote(parsed), note);
    }
    assert.equal(parseNote(POEM)?.text.split('\n').length, 5, 'an empty line belongs to the text');
  });

  it('are refused unless they have exactly the form of a note', () => {
    const line = '— a.example/b AAAAAAAA\n';
    assert.ok(parseNote(`text\n\n${line}`));
    const flawed: [why: string, note: string][] = [
      ['no signature', 'text\n\n'],
      ['no blank line', `text\n${line}`],
      ['no text', `\n\n${line}`],
      ['no last newline', `text\n\n${line.slice(0, -1)}`],
      ['a hyphen for the dash', `text\n\n${line.replace('—', '-')}`],
      ['a fourth word', `text\n\n${line.replace('\n', ' x\n')}`],
      ['no name', `text\n\n${line.replace('a.example/b', '')}`],
      ['a plus in the name', `text\n\n${line.replace('/', '+')}`],
      ['a control character', `te\txt\n\n${line}`],
      ['a carriage return', `text\r\n\n${line}`],
      ['half a surrogate pair', `te\ud800xt\n\n${line}`],
      ['a key id alone', `text\n\n${line.replace('AAAAAAAA', 'AAAAAA==')}`],
      ['base64 that is not canonical', `text\n\n${line.replace('AAAAAAAA', 'AAAAAAB=')}`],
      ['too long', `${'x'.repeat(70_000)}\n\n${line}`],
    ];
    for (const [why, note] of flawed) assert.equal(parseNote(note), undefined, why);
  });

  it('have key names without spaces and plus', () => {
    for (const name of ['', 'a b', 'a\u00a0b', 'a\u2003b', 'a+b', 'a\nb', 'a\u0007b'])
      assert.ok(!isKeyName(name), name);
    for (const name of ['example.com/qrn', 'PeterNeumann', 'é', 'a\ufeffb']) assert.ok(isKeyName(name));
  });
});

describe('checkpoints', () => {
  it('are read and written as in the example of the specification', () => {
    const text = parseNote(CHECKPOINT)?.text ?? '';
    const checkpoint = parseCheckpoint(text);
    assert.ok(checkpoint);
    assert.equal(checkpoint.origin, 'example.com/behind-the-sofa');
    assert.equal(checkpoint.size, 20_852_163);
    assert.equal(toHex(checkpoint.root).slice(0, 16), '0ac5186a91863e8e');
    assert.equal(checkpointText(checkpoint), text);
  });

  it('may have extension lines, and are refused in every other form', () => {
    const root = toBase64(new Uint8Array(32));
    assert.ok(parseCheckpoint(`o\n0\n${root}\n`));
    assert.ok(parseCheckpoint(`o\n12\n${root}\nextension\n`));
    const flawed = [
      '',
      `o\n12\n`,
      `\n12\n${root}\n`,
      `o\n012\n${root}\n`,
      `o\n-1\n${root}\n`,
      `o\n1e3\n${root}\n`,
      `o\n9007199254740992\n${root}\n`,
      `o\n12\n${root}`,
      `o\n12\n${root.slice(4)}\n`,
      `o\n12\n${root}\n\n`,
    ];
    for (const text of flawed) assert.equal(parseCheckpoint(text), undefined, JSON.stringify(text));
  });
});

describe('proofs of inclusion as text', () => {
  const path = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte));

  it('have the form of c2sp.org/tlog-proof', () => {
    const text = formatProof({ index: 73_894, path: path.slice(0, 1), note: CHECKPOINT });
    const hash = 'AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=';
    assert.equal(text, `c2sp.org/tlog-proof@v1\nindex 73894\n${hash}\n\n${CHECKPOINT}`);
  });

  it('are parsed as they were written', () => {
    fc.assert(
      fc.property(fc.nat({ max: Number.MAX_SAFE_INTEGER }), fc.nat(3), (index, hashes) => {
        const proof = { index, path: path.slice(0, hashes), note: CHECKPOINT };
        assert.deepEqual(parseProof(formatProof(proof)), proof);
      }),
    );
  });

  it('are refused in every other form', () => {
    const text = formatProof({ index: 7, path, note: CHECKPOINT });
    const flawed: [why: string, text: string][] = [
      ['another version', text.replace('@v1', '@v2')],
      ['no index', text.replace('index 7\n', '')],
      ['an index with a leading zero', text.replace('index 7', 'index 07')],
      ['a hash too short', text.replace('AQEBAQEB', '')],
      ['extra data', text.replace('index 7', 'extra AAAA\nindex 7')],
      ['no checkpoint', text.slice(0, text.indexOf('\n\n'))],
      [
        'more hashes than a tree has levels',
        formatProof({ index: 7, path: Array(54).fill(path[0]), note: '' }),
      ],
    ];
    for (const [why, changed] of flawed) assert.equal(parseProof(changed), undefined, why);
  });
});

describe('base64', () => {
  it('is RFC 4648 §4', () => {
    // RFC 4648 §10
    const known = ['', 'Zg==', 'Zm8=', 'Zm9v', 'Zm9vYg==', 'Zm9vYmE=', 'Zm9vYmFy'];
    known.forEach((text, length) => {
      const bytes = utf8Bytes('foobar'.slice(0, length));
      assert.equal(toBase64(bytes), text);
      assert.deepEqual(fromBase64(text), bytes);
    });
  });

  it('refuses a second text for the same bytes', () => {
    for (const text of ['Zh==', 'Zm9=', 'Zg', 'Zg=', 'Zg== ', 'Zm9v\n', 'Zm-_', '====', '=']) {
      assert.equal(fromBase64(text), undefined, JSON.stringify(text));
    }
  });
});
