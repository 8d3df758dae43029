import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { parseLogs, Witness, WitnessError } from '../../src/certificate/witness.ts';
import { toBase64 } from '../../src/crypto/base64.ts';
import { sha256Hex } from '../../src/crypto/digest.ts';
import { verifyEd25519 } from '../../src/crypto/ed25519.ts';
import {
  COSIGNATURE_TYPE,
  checkpointText,
  cosignatureText,
  formatNote,
  noteKeyId,
  parseNote,
  parseVerifierKey,
  readTimestamped,
  verifierKey,
} from '../../src/crypto/note.ts';
import { SigningKey } from '../../src/crypto/signing.ts';
import { fetchWhole } from '../support/http.ts';
import { temporaryFolder } from '../support/ledger-folder.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { STRIPPED } from '../support/server.ts';

/**
 * Against the rules of c2sp.org/tlog-witness, and against checkpoints that another implementation made: the tree of five leaves with which
 * litewitness is tested, signed by a key that nobody here has.
 */
const LOG = 'sigsum.org/v1/tree/4d6d8825a6bb689d459628312889dfbb0bcd41b5211d9e1ce768b0ff0309e562';
const LOG_KEY = new Uint8Array(
  Buffer.from('ffdc2d4d98e4124d3feaf788c0c2f9abfd796083d1f0495437f302ec79cf100f', 'hex'),
);
const KEY = SigningKey.fromSeed(new Uint8Array(32).fill(5));
const NAME = 'witness.example/w1';

function hash(first: number, second: number): string {
  const bytes = new Uint8Array(32);
  bytes[0] = first;
  bytes[1] = second;
  return toBase64(bytes);
}

const ROOTS: Readonly<Record<number, string>> = {
  1: hash(0x2a, 0),
  3: 'RcCI1Nk56ZcSmIEfIn0SleqtV7uvrlXNccFx595Iwl0=',
  5: 'QrtXrQZCCvpIgsSmOsah7HdICzMLLyDfxToMql9WTjY=',
};
const SIGNATURES: Readonly<Record<number, string>> = {
  1: 'UgIom7fPZTqpxWWhyjWduBvTvGVqsokMbqTArsQilegKoFBJQjUFAmQ0+YeSPM3wfUQMFSzVnnNuWRTYrajXpNUbIQY=',
  3: 'UgIom2VbtIcdFbwFAy1n7s6IkAxIY6J/GQOTuZF2ORV39d75cbAj2aQYwyJre36kezNobZs4SUUdrcawfAB8WVrx6go=',
  5: 'UgIomw/EOJmWi0i1FQsOj+etB7F8IccFam/jgd6wzRns4QPVmyEZtdvl1U2KEmLOZ/ASRcWJi0tW90dJWAShei7sDww=',
};
const ONE_TO_THREE = [hash(0x2a, 1), hash(0x2a, 2)];
const THREE_TO_FIVE = [
  hash(0x2a, 2),
  hash(0x2a, 3),
  'wgiIFdZfYNv6WU1OllBKsWnLYIS/DBMqt8Uh/S4OukE=',
  hash(0x2a, 4),
];

function request(old: number, proof: readonly string[], size: number, signature = SIGNATURES[size]): string {
  const head = [`old ${old}`, ...proof].join('\n');
  return `${head}\n\n${LOG}\n${size}\n${ROOTS[size]}\n\n— ${LOG} ${signature}\n`;
}

function world(t: TestContext) {
  const directory = temporaryFolder(t);
  const clock = new ManualClock(1_679_315_147_500);
  const logs = parseLogs(`# a log of another operator\n\n${verifierKey(LOG, LOG_KEY)}\n`);
  const start = () => new Witness({ name: NAME, key: KEY, logs, directory, clock });
  return { directory, clock, start };
}

describe('a witness', () => {
  it('cosigns a growing log, with the time, and is verified by its key', (t) => {
    const { start } = world(t);
    const witness = start();
    const replies = [request(0, [], 1), request(1, ONE_TO_THREE, 3), request(3, THREE_TO_FIVE, 5)].map(
      (body) => witness.addCheckpoint(body),
    );
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200],
    );
    const text = `${LOG}\n5\n${ROOTS[5]}\n`;
    const note = parseNote(`${text}\n${replies[2].body}`);
    const [signature] = note?.signatures ?? [];
    const timed = readTimestamped(signature.signature);
    assert.equal(timed?.atS, 1_679_315_147);
    assert.ok(verifyEd25519(KEY.publicKey, Buffer.from(cosignatureText(timed.atS, text)), timed.signature));
    assert.deepEqual(
      [signature.name, signature.keyId],
      [NAME, noteKeyId(NAME, KEY.publicKey, COSIGNATURE_TYPE)],
    );
    assert.equal(witness.verifierKey, verifierKey(NAME, KEY.publicKey, COSIGNATURE_TYPE));
  });

  it('cosigns the same checkpoint again, with a new time', (t) => {
    const { start, clock } = world(t);
    const witness = start();
    const first = witness.addCheckpoint(request(0, [], 1));
    clock.advance(60_000);
    const again = witness.addCheckpoint(request(1, [], 1));
    assert.equal(again.status, 200);
    assert.notEqual(again.body, first.body);
  });

  it('refuses what the protocol says', (t) => {
    const { start } = world(t);
    const witness = start();
    assert.equal(witness.addCheckpoint(request(0, [], 1)).status, 200);
    const forged = `${SIGNATURES[3].slice(0, -4)}6gx=`.replace('6gx=', '6gw=');
    const cases: [what: string, body: string, status: number, told?: string][] = [
      ['a wrong signature', request(1, ONE_TO_THREE, 3, forged), 403],
      ['no signature of a known key', request(1, ONE_TO_THREE, 3).replace(`— ${LOG} Ug`, `— ${LOG} Vg`), 403],
      ['an unknown log', request(1, ONE_TO_THREE, 3).replaceAll('e562', 'e563'), 404],
      ['no proof', request(1, [], 3), 422],
      ['a wrong proof', request(1, [ONE_TO_THREE[0], hash(0x2a, 0x10)], 3), 422],
      ['a proof where none belongs', request(0, ONE_TO_THREE, 3), 409, '1\n'],
      ['another old size', request(3, THREE_TO_FIVE, 5), 409, '1\n'],
      ['an old size above the new', request(3, [], 1), 400],
      ['no old size', request(1, [], 3).replace('old 1', 'old'), 400],
      ['an old size with a zero before it', request(1, [], 3).replace('old 1', 'old 01'), 400],
      ['a proof of 64 lines', request(1, new Array(64).fill(hash(1, 1)), 3), 400],
      ['a line that is no hash', request(1, ['x'], 3), 400],
      ['no checkpoint', 'old 1\n\nnothing\n', 400],
      ['nothing', '', 400],
    ];
    for (const [what, body, status, told] of cases) {
      const reply = witness.addCheckpoint(body);
      assert.equal(reply.status, status, `${what}: ${reply.body}`);
      if (told !== undefined)
        assert.deepEqual([reply.body, reply.contentType], [told, 'text/x.tlog.size'], what);
    }
    assert.equal(
      witness.addCheckpoint(request(1, ONE_TO_THREE, 3)).status,
      200,
      'none of them changed anything',
    );
  });

  it('leaves out signatures of unknown keys, keeps a doubled one once, and refuses malformed ones', (t) => {
    const { start } = world(t);
    const line = `— ${LOG} ${SIGNATURES[1]}\n`;
    const unknown = `— other.example/log ${toBase64(new Uint8Array(68).fill(1))}\n`;
    const wrong = `— ${LOG} ${SIGNATURES[3]}\n`;
    assert.equal(start().checkpoint(sha256Hex(Buffer.from(LOG))).status, 404);
    const cases: [what: string, more: string, status: number][] = [
      ['a line that is no signature', '— x\n', 400],
      ['a signature that is no base64', `— ${LOG} *\n`, 400],
      ['an empty line behind them', '\n', 400],
      ['no newline at the end', '— x y', 400],
      ['a right and a wrong signature of the same key', wrong, 403],
      ['the same signature seventeen times', line.repeat(16), 403],
      ['an unknown key, and the same signature sixteen times', unknown + line.repeat(15), 200],
    ];
    for (const [what, more, status] of cases) {
      const witness = start();
      const reply = witness.addCheckpoint(request(0, [], 1) + more);
      assert.equal(reply.status, status, `${what}: ${reply.body}`);
      if (status === 200) {
        const kept = witness.checkpoint(sha256Hex(Buffer.from(LOG))).body;
        assert.equal(kept, `${LOG}\n1\n${ROOTS[1]}\n\n${line}${reply.body}`);
        assert.equal(parseNote(kept)?.signatures.length, 2);
      }
    }
  });

  it('refuses a fork of the same size, a smaller tree, and both after a restart', (t) => {
    const { directory, clock } = world(t);
    const log = SigningKey.fromSeed(new Uint8Array(32).fill(6));
    const origin = 'fork.example/log';
    const logs = parseLogs(verifierKey(origin, log.publicKey));
    const start = () => new Witness({ name: NAME, key: KEY, logs, directory, clock });
    const body = (old: number, size: number, root: Uint8Array<ArrayBuffer>) => {
      const text = checkpointText({ origin, size, root });
      const keyId = noteKeyId(origin, log.publicKey);
      const signatures = [{ name: origin, keyId, signature: log.sign(Buffer.from(text)) }];
      return `old ${old}\n\n${formatNote({ text, signatures })}`;
    };
    const root = (fill: number) => new Uint8Array(32).fill(fill);
    let witness = start();
    const second = start(); // another process on the same folder, begun before there was anything in it
    assert.equal(witness.addCheckpoint(body(0, 7, root(1))).status, 200);
    assert.equal(second.addCheckpoint(body(0, 7, root(2))).status, 409, 'a fork for another process');
    assert.equal(second.addCheckpoint(body(7, 7, root(2))).status, 409, 'a fork for another process');
    for (let life = 0; life < 2; life++) {
      const fork = witness.addCheckpoint(body(7, 7, root(2)));
      assert.equal(fork.status, 409, 'a fork');
      assert.match(fork.body, /another tree of 7 leaves was cosigned/);
      assert.equal(witness.addCheckpoint(body(0, 3, root(3))).status, 409, 'a smaller tree');
      assert.equal(witness.addCheckpoint(body(7, 9, root(4))).status, 422, 'more, and not of the same tree');
      witness = start();
    }
    assert.equal(witness.addCheckpoint(body(7, 7, root(1))).status, 200);
    const other = start();
    assert.equal(other.addCheckpoint(body(0, 0, root(0))).status, 409);
  });

  it('does not start over when its state is torn', (t) => {
    const { directory, start } = world(t);
    start().addCheckpoint(request(0, [], 1));
    const [file] = readdirSync(directory);
    const path = join(directory, file);
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, 60));
    assert.throws(start, WitnessError);
    writeFileSync(`${path}.draft`, 'a draft that a crash left is in nobody’s way');
    assert.throws(start, WitnessError);
  });

  it('accepts only verifier keys of logs', () => {
    const cosigner = verifierKey(NAME, KEY.publicKey, COSIGNATURE_TYPE);
    assert.equal(parseVerifierKey(cosigner)?.type, COSIGNATURE_TYPE);
    for (const wrong of [
      cosigner,
      'x',
      `${NAME}+00000000+${toBase64(KEY.publicKey)}`,
      cosigner.replace('+', '+0'),
    ])
      assert.throws(() => parseLogs(`\n${wrong}`), /^WitnessError: line 2 is not the verifier key of a log/);
  });
});

describe('qrn witness', () => {
  it('serves over HTTP, remembers across restarts, and ends on SIGTERM', async (t) => {
    const state = temporaryFolder(t);
    const logs = join(state, 'logs.txt');
    writeFileSync(logs, `${verifierKey(LOG, LOG_KEY)}\n`);
    const args = ['witness', '--name', NAME, '--logs', logs, '--state', state, '--port', '0'];
    let key: string | undefined;
    for (const [old, proof, size] of [
      [0, [], 1],
      [1, ONE_TO_THREE, 3],
    ] as const) {
      const child = spawn(process.execPath, [...STRIPPED, 'src/main.ts', ...args], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      t.after(() => child.kill('SIGKILL'));
      const { url, verifier } = await started(child);
      key ??= verifier;
      assert.equal(verifier, key, 'the key stays');
      const post = (body: string) => fetchWhole(`${url}/add-checkpoint`, { method: 'POST', body });
      const reply = await post(request(old, proof, size));
      assert.equal(reply.status, 200);
      assert.match(await reply.text(), /^— witness\.example\/w1 \S+\n$/);
      const conflict = await post(request(5, [], 5));
      assert.deepEqual([conflict.status, await conflict.text()], [409, `${size}\n`]);
      assert.equal(conflict.headers.get('content-type'), 'text/x.tlog.size');
      const shown = await fetchWhole(`${url}/${sha256Hex(Buffer.from(LOG))}/checkpoint`);
      assert.ok((await shown.text()).startsWith(`${LOG}\n${size}\n`));
      assert.equal((await post('x'.repeat(100_000))).status, 413);
      assert.equal((await fetchWhole(`${url}/`)).status, 404);
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      assert.equal(await ended, 0);
    }
  });
});

function started(child: ChildProcess): Promise<{ url: string; verifier: string }> {
  return new Promise((resolve, reject) => {
    let out = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString('utf8');
      const [, url, verifier] = /^ready (\S+)\nkey (\S+)\n/.exec(out) ?? [];
      if (url !== undefined) resolve({ url, verifier });
    });
    child.once('exit', (code) => reject(new Error(`qrn witness ended with ${code}: ${out}`)));
  });
}
