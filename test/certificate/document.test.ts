import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CERTIFICATE_ROWS } from '../../src/certificate/certificate-members.ts';
import { LOT_MEMBERS } from '../../src/certificate/lot-members.ts';
import { verifyAnswer } from '../../src/certificate/verify.ts';
import { fromHex } from '../../src/core/bytes.ts';
import { ENTROPY_MODES } from '../../src/core/vocabulary.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { ANSWER_NAMES, answerScene } from './example.ts';
import { readVector, vectorNames } from './vectors.ts';

/** docs/certificates.md says how to write the verifier again; here each of its blocks is computed from the others. */

const text = readFileSync(new URL('../../docs/certificates.md', import.meta.url), 'utf8');
const blocks = new Map<string, string>();
for (const [, name, content] of text.matchAll(/^```\w+ ([\w.-]+)\n([\s\S]*?)\n```$/gm)) {
  assert.ok(!blocks.has(name), `${name} is one block`);
  blocks.set(name, content);
}

function block(name: string): string {
  const found = blocks.get(name);
  assert.ok(found !== undefined, `the document has a block ${name}`);
  return found;
}

interface Example {
  readonly answer: { data: unknown; metadata: { certificate_salt: string } };
  readonly document: {
    certificate: { status: string; verify_url: string; proof: string; hashes: { delivered: string } };
  };
  readonly keys: { origin: string; keys: [{ public_key: string; key_id: string }] };
}

const example = {
  answer: JSON.parse(block('answer')),
  document: JSON.parse(block('certificate')),
  keys: JSON.parse(block('keys')),
} as Example;

function sha256(...parts: readonly (Uint8Array | string)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** The lines of a block, each a label of one or more words and a hex string. */
function hexLines(name: string): Buffer[] {
  return block(name)
    .split('\n')
    .map((line) => Buffer.from(line.slice(line.lastIndexOf(' ') + 1), 'hex'));
}

/** Sorted members, no space: enough of RFC 8785 for what has no number that JSON.stringify prints otherwise. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

describe('the worked example', () => {
  it('is what the service produces', async () => {
    const made = JSON.parse(JSON.stringify(await answerScene('worked-example')));
    assert.deepEqual(example, { answer: made.response, document: made.document, keys: made.keys });
  });

  it('shows the hash of the delivered data: of the salt and the canonical data', () => {
    const { data, metadata } = example.answer;
    assert.equal(block('canonical-data'), canonical(data));
    const digest = sha256(Buffer.from(metadata.certificate_salt, 'hex'), block('canonical-data'));
    assert.equal(block('delivered'), `sha256:${digest.toString('hex')}`);
    assert.equal(block('delivered'), example.document.certificate.hashes.delivered);
  });

  it('shows the inclusion: leaf, path and root', () => {
    const { status, verify_url: _, proof, ...issued } = example.document.certificate;
    assert.equal(status, 'valid');
    assert.equal(block('leaf'), canonical(issued));
    assert.equal(block('leaf-hash'), sha256(Buffer.of(0), block('leaf')).toString('hex'));
    assert.equal(`${block('proof')}\n`, proof);
    const [first, node, second, above, third, root] = hexLines('tree');
    const [version, index, ...path] = proof.split('\n');
    assert.deepEqual([version, index], ['c2sp.org/tlog-proof@v1', 'index 3']);
    assert.deepEqual(
      [first, second, third].map((each) => each.toString('base64')),
      path.slice(0, 3),
    );
    assert.deepEqual(node, sha256(Buffer.of(1), first, Buffer.from(block('leaf-hash'), 'hex')));
    assert.deepEqual(above, sha256(Buffer.of(1), second, node));
    assert.deepEqual(root, sha256(Buffer.of(1), above, third));
    assert.equal(block('signed-text').split('\n')[2], root.toString('base64'));
  });

  it('shows the signature: key id, signed text and public key', () => {
    const [keyId, signature, publicKey] = hexLines('signature');
    const [key] = example.keys.keys;
    const { origin } = example.keys;
    assert.equal(publicKey.toString('base64'), key.public_key);
    assert.equal(keyId.toString('hex'), key.key_id);
    assert.deepEqual(keyId, sha256(`${origin}\n`, Buffer.of(1), publicKey).subarray(0, 4));
    const line = `— ${origin} ${Buffer.concat([keyId, signature]).toString('base64')}`;
    const { proof } = example.document.certificate;
    assert.ok(proof.includes(`\n\n${block('signed-text')}\n\n${line}\n`));
    const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), publicKey]);
    const ed25519 = createPublicKey({ key: spki, format: 'der', type: 'spki' });
    assert.ok(verify(null, Buffer.from(`${block('signed-text')}\n`), ed25519, signature));

    const [timeKeyId, seconds, timeSignature] = hexLines('time-signature');
    assert.deepEqual(timeKeyId, sha256(`${origin}\n`, Buffer.of(4), publicKey).subarray(0, 4));
    const [, timeLine, ...rest] = block('signed-time').split('\n');
    assert.equal(rest.join('\n'), block('signed-text'));
    assert.equal(timeLine, `time ${seconds.readBigUInt64BE()}`);
    const timed = Buffer.concat([timeKeyId, seconds, timeSignature]).toString('base64');
    assert.ok(proof.endsWith(`${line}\n— ${origin} ${timed}\n`));
    assert.ok(verify(null, Buffer.from(`${block('signed-time')}\n`), ed25519, timeSignature));
  });

  it('lists every check of the verifier, and no other', async () => {
    const { response, certificate, keys } = readVector('fixed-bytes');
    const { checks } = await verifyAnswer({ response, certificate, keys });
    const table = text.slice(text.indexOf('## The checks'), text.indexOf('## The program'));
    const named = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
    assert.deepEqual(
      named,
      checks.map(({ name }) => name),
    );
  });
});

describe('the tables of members', () => {
  const rowsOf = (title: string) => {
    const from = text.indexOf(title);
    const table = text.slice(from, text.indexOf('\n\n', from));
    return [...table.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map(([, name, meaning]) => [name, meaning]);
  };

  it('are those of the program, in its words', () => {
    const inModes = (modes: readonly string[]) =>
      modes.length === ENTROPY_MODES.length ? '' : ` In ${modes.join(' and ')} mode.`;
    assert.deepEqual(
      rowsOf('| Member | Meaning |'),
      CERTIFICATE_ROWS.map(([path, { schema, modes }]) => [
        path,
        `${schema['description']}${inModes(modes)}`,
      ]),
    );
    assert.deepEqual(
      rowsOf("| Member of a lot's leaf | Meaning |"),
      Object.entries(LOT_MEMBERS).map(([name, { schema }]) => [name, schema['description']]),
    );
  });
});

describe('the vectors', () => {
  const temporary = scratchFolder();
  const names = vectorNames();

  for (const name of ANSWER_NAMES) {
    it(`hold what the service produces: ${name}`, async () => {
      const { response, document: certificate, keys } = await answerScene(name);
      const { what: _, fails, ...stored } = readVector(name);
      assert.deepEqual(JSON.parse(JSON.stringify({ response, certificate, keys })), stored);
      assert.ok(fails.length === 0 || name === 'evidence-of-a-simulator');
    });
  }

  for (const name of names) {
    it(`give in the verifier what ${name} states`, async () => {
      const { fails, octets, require_fixed: requireFixed = false, ...input } = readVector(name);
      const body = octets === undefined ? {} : { octets: fromHex(octets) };
      const { ok, checks } = await verifyAnswer({ ...input, ...body, requireFixed });
      assert.deepEqual(
        checks.filter((check) => !check.ok).map((check) => check.name),
        fails,
      );
      assert.equal(ok, fails.length === 0);
    });

    // the program leaves policies to its reader
    if (readVector(name).require_fixed === true) continue;
    it(`give in the program of the document what ${name} states`, async () => {
      const { status, out } = (await programs())[name];
      // of the table, the program leaves to its reader what is only comparing members
      const compared = ['certificate id', 'request id', 'metadata'];
      // and sampled values, which it does not draw again, with the members that they stand beside
      const isOfSamples = /^(?:invented-(?!bitstring|uuid)|drawn-too-much$|claimed-|batch-)/.test(name);
      const left = isOfSamples ? [...compared, 'fixed'] : compared;
      const expected = readVector(name).fails.filter((check) => !left.includes(check));
      const failed = [...out.matchAll(/^FAILED {2}([^,\n]+)/gm)].map(([, check]) => check);
      const order = (checks: readonly string[]) => [...new Set(checks)].sort();
      assert.deepEqual(order(failed), order(expected), out);
      assert.equal(status, expected.length === 0 ? 0 : 1);
    });
  }

  let ended: Promise<Readonly<Record<string, Ended>>> | undefined;
  /**
   * Returns the output of the document's program for each vector. One process runs it for all, because starting one is
   * most of the work.
   */
  function programs(): Promise<Readonly<Record<string, Ended>>> {
    const filesOf = (name: string) => {
      const { response, octets, certificate, keys } = readVector(name);
      const files = Object.entries({ response, certificate, keys }).map(([part, value]) => {
        const path = join(temporary, `${name}-${part}.json`);
        writeFileSync(path, JSON.stringify(value));
        return path;
      });
      if (octets === undefined) return files;
      const body = join(temporary, `${name}-body.bin`);
      writeFileSync(body, fromHex(octets));
      return [...files, body];
    };
    ended ??= (() => {
      writeFileSync(join(temporary, 'verifier.mjs'), block('verifier.mjs'));
      const runner = join(temporary, 'runner.mjs');
      writeFileSync(runner, RUNNER);
      return run(runner, JSON.stringify(Object.fromEntries(names.map((name) => [name, filesOf(name)]))));
    })();
    return ended;
  }
});

interface Ended {
  readonly status: number;
  readonly out: string;
}

/** Imports the program anew for each vector, with its arguments, and prints what each wrote and its exit code. */
const RUNNER = `
const print = console.log;
const ended = {};
for (const [name, files] of Object.entries(JSON.parse(process.argv[2]))) {
  let out = '';
  console.log = (line) => (out += line + '\\n');
  process.argv.splice(2, Infinity, ...files);
  process.exitCode = 0;
  await import('./verifier.mjs?' + name);
  ended[name] = { status: process.exitCode, out };
}
process.exitCode = 0;
print(JSON.stringify(ended));
`;

function run(program: string, input: string): Promise<Readonly<Record<string, Ended>>> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, input], { env: {}, maxBuffer: 1 << 24 }, (error, out, talk) => {
      if (error !== null || talk !== '') reject(error ?? new Error(talk));
      else resolve(JSON.parse(out) as Readonly<Record<string, Ended>>);
    });
  });
}
