import assert from 'node:assert/strict';
import canonicalize from 'canonicalize';
import { verifyAnswer } from '../../../../src/certificate/verify.ts';
import { toHex } from '../../../../src/core/bytes.ts';
import {
  checkpointText,
  formatNote,
  formatProof,
  parseCheckpoint,
  parseNote,
  parseProof,
} from '../../../../src/crypto/note.ts';
import { readVector, type VerificationCase, vectorNames } from '../../../certificate/vectors.ts';
import { type FuzzTarget, JSON_WORDS, jsonOf, magnitude, textOf } from './target.ts';

/** Answers with certificate and keys, as a caller has them. */
const vectors = () => vectorNames().map(readVector);

/** Returns what the log holds of a certificate, and the data of its answer: nobody can change these and be believed. */
function believed({ certificate, response, octets }: Partial<VerificationCase>): string {
  const given = certificate as Record<string, unknown>;
  const { status: _, proof: __, ...issued } = (given['certificate'] ?? given) as Record<string, unknown>;
  // Of an answer in octets only the octets are certified.
  const { data } = response as { data: unknown };
  return canonicalize({ issued, ...(typeof octets === 'string' ? { octets } : { data }) })!;
}

let genuine: ReadonlySet<string> | undefined;

const verify: FuzzTarget = {
  name: 'verify',
  words: [...JSON_WORDS, '"version":2', '\\n', '\\ud800'],
  seeds: () => vectors().map((vector) => Buffer.from(JSON.stringify(vector))),
  read: async (input) => {
    // Whether a lot was withdrawn later is not in the log beside the certificate: only the service can say so. That
    // bytes be fixed before the request is a policy, which is not requested here.
    genuine ??= new Set(
      vectors()
        .filter(({ fails }) => fails.every((name) => name === 'status' || name === 'fixed'))
        .map(believed),
    );
    const { value: given } = jsonOf(input) ?? {};
    if (typeof given !== 'object' || given === null) return 'no object';
    const { response, octets: hex, certificate, keys } = given as Partial<VerificationCase>;
    const octets = typeof hex === 'string' ? Buffer.from(hex, 'hex') : undefined; // the hex digits up to the first character that is none
    const { ok, checks } = await verifyAnswer({
      ...(octets === undefined ? {} : { octets }),
      ...(response === undefined ? {} : { response }),
      certificate,
      keys,
    });
    const failed = checks.filter((each) => !each.ok).map(({ name }) => name);
    assert.equal(ok, failed.length === 0);
    // Without a response only the certificate is checked.
    if (ok && response !== undefined)
      assert.ok(
        genuine.has(believed({ response, certificate, keys, ...(octets && { octets: toHex(octets) }) })),
        'a forgery is believed',
      );
    return ok ? 'believed' : failed.join(', ');
  },
};

/** Reads a text as proof, note and checkpoint: each is read as it was written, or not at all. */
const note: FuzzTarget = {
  name: 'note',
  words: [
    ...['\n\n', '\n', '— ', ' ', 'c2sp.org/tlog-proof@v1\n', 'index ', '0', '9007199254740991', '+', '='],
    ...['\u2028', '\u00a0', '\r'],
  ],
  read: (input) => {
    const text = textOf(input);
    const parsed = parseNote(text);
    if (parsed !== undefined) assert.equal(formatNote(parsed), text);
    const proof = parseProof(text);
    if (proof !== undefined) assert.equal(formatProof(proof), text);
    const checkpoint = parseCheckpoint(text);
    // The lines after the third are extensions, which this reader ignores.
    if (checkpoint !== undefined) assert.ok(text.startsWith(checkpointText(checkpoint)));
    const signatures = parsed === undefined ? 'no note' : `note of ${magnitude(parsed.signatures.length)}`;
    const path = proof === undefined ? 'no proof' : `proof of ${magnitude(proof.path.length)}`;
    return `${signatures}, ${path}, ${checkpoint === undefined ? 'no checkpoint' : 'checkpoint'}`;
  },
};

export const CERTIFICATE_TARGETS: readonly FuzzTarget[] = [verify, note];
