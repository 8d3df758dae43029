import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { utf8Bytes } from '../core/bytes.ts';
import type { Clock } from '../core/clock.ts';
import { makeFolder, replaceFile } from '../core/files.ts';
import { sha256Hex } from '../crypto/digest.ts';
import { emptyRoot, equalHashes, type Hash, verifyConsistency } from '../crypto/merkle.ts';
import {
  type Checkpoint,
  COSIGNATURE_TYPE,
  ED25519_TYPE,
  formatNote,
  type Note,
  parseCount,
  parseHashes,
  parseVerifierKey,
  type VerifierKey,
  verifierKey,
} from '../crypto/note.ts';
import { noteSignature, type SigningKey } from '../crypto/signing.ts';
import { type CheckpointNote, readCheckpoint, signaturesBy } from './signed-checkpoint.ts';
import { found, refuse } from './verdict.ts';

/**
 * A witness of transparency logs (c2sp.org/tlog-witness). For each log that it knows it keeps the newest checkpoint
 * that it has cosigned. It cosigns another one only if that is the same tree, or the same tree with more leaves. It
 * writes each checkpoint to disk before it answers, so neither a crash nor a race makes it go back. It holds no leaves
 * and knows no certificates.
 */
export interface WitnessOptions {
  /** Name of the witness. By convention it is a URL without its scheme. */
  readonly name: string;
  readonly key: SigningKey;
  /** Verifier keys of the logs. The name of each is the log's origin; a log may have several keys. */
  readonly logs: readonly VerifierKey[];
  /** Folder of the cosigned checkpoints, one file for each log. */
  readonly directory: string;
  readonly clock: Clock;
}

export interface WitnessReply {
  readonly status: 200 | 400 | 403 | 404 | 409 | 422;
  readonly contentType: 'text/plain; charset=utf-8' | 'text/x.tlog.size';
  readonly body: string;
}

/** Longest body of a request in bytes: room for 63 hashes and for the longest note that is read. */
export const ADD_CHECKPOINT_BYTES_MAX = 72 * 1024;
/** c2sp.org/tlog-witness allows a client no more. */
const PROOF_LINES_MAX = 63;

export class WitnessError extends Error {
  override name = 'WitnessError';
}

interface CosignedLog {
  readonly checkpoint: Checkpoint;
  /** The checkpoint with the log's signatures and ours. */
  readonly note: string;
}

interface AddCheckpoint extends CheckpointNote {
  readonly oldSize: number;
  readonly proof: readonly Hash[];
}

export class Witness {
  readonly #options: WitnessOptions;
  readonly #cosigned = new Map<string, CosignedLog>();
  /** The witness's own verifier key, in the form in which clients are configured with it. */
  readonly verifierKey: string;

  /**
   * Reads the cosigned checkpoints from disk. Throws WitnessError for a file that cannot be read, because a witness
   * must not forget what it has cosigned.
   */
  constructor(options: WitnessOptions) {
    this.#options = options;
    const { name, key, logs, directory } = options;
    this.verifierKey = verifierKey(name, key.publicKey, COSIGNATURE_TYPE);
    makeFolder(directory);
    for (const origin of new Set(logs.map((log) => log.name))) {
      const path = this.#pathOf(origin);
      if (existsSync(path)) this.#cosigned.set(origin, readCosigned(path, origin));
    }
  }

  /** Answers POST add-checkpoint with this body. */
  addCheckpoint(body: string): WitnessReply {
    const request = found(() => parseAddCheckpoint(body));
    if (request.known === undefined) return refusal(400, request.refusal ?? '');
    const { oldSize, proof, note, checkpoint } = request.known;
    const { origin, size, root } = checkpoint;
    const keys = this.#options.logs.filter((log) => log.name === origin);
    if (keys.length === 0) return refusal(404, `the log ${origin} is not known here`);
    const signatures = trustedSignatures(note, keys);
    if (signatures.length === 0)
      return refusal(403, 'the checkpoint is not signed by a key of the log that is known here');
    if (oldSize > size) return refusal(400, 'the old size is larger than the checkpoint');
    const latest = this.#latest(origin)?.checkpoint;
    const known = latest?.size ?? 0;
    if (oldSize !== known) return { status: 409, contentType: 'text/x.tlog.size', body: `${known}\n` };
    // c2sp.org/tlog-witness: a fork is 409, a proof that does not hold is 422.
    if (latest !== undefined && size === known && !equalHashes(root, latest.root))
      return refusal(409, `another tree of ${size} leaves was cosigned: the log has forked`);
    const isConsistent =
      oldSize === 0
        ? proof.length === 0 && (size > 0 || equalHashes(root, emptyRoot()))
        : latest !== undefined && verifyConsistency(oldSize, latest.root, size, root, proof);
    if (!isConsistent) return refusal(422, 'the consistency proof does not hold');
    const { name, key, clock } = this.#options;
    const cosignature = noteSignature(name, key, note.text, Math.floor(clock.wallMs() / 1000));
    const stored = formatNote({ text: note.text, signatures: [...signatures, cosignature] });
    replaceFile(this.#pathOf(origin), stored);
    this.#cosigned.set(origin, { checkpoint, note: stored });
    const [, lines] = formatNote({ text: note.text, signatures: [cosignature] }).split('\n\n');
    return { status: 200, contentType: 'text/plain; charset=utf-8', body: lines };
  }

  /** Answers GET <origin hash>/checkpoint with the newest cosigned checkpoint. `originHash` is in hex. */
  checkpoint(originHash: string): WitnessReply {
    for (const [origin, { note }] of this.#cosigned) {
      if (sha256Hex(utf8Bytes(origin)) === originHash)
        return { status: 200, contentType: 'text/plain; charset=utf-8', body: note };
    }
    return refusal(404, 'no checkpoint of this log was cosigned');
  }

  /** Returns what was cosigned last. Reads the disk each time, because another process may use the same folder. */
  #latest(origin: string): CosignedLog | undefined {
    const path = this.#pathOf(origin);
    const kept = this.#cosigned.get(origin);
    const stored = existsSync(path) ? readCosigned(path, origin) : undefined;
    return stored === undefined || (kept?.checkpoint.size ?? 0) > stored.checkpoint.size ? kept : stored;
  }

  #pathOf(origin: string): string {
    return join(this.#options.directory, `${sha256Hex(utf8Bytes(origin))}.checkpoint`);
  }
}

/** Reads one verifier key a line, and skips empty lines and those that begin with #. Throws WitnessError. */
export function parseLogs(text: string): VerifierKey[] {
  return text.split('\n').flatMap((line, i) => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return [];
    const key = parseVerifierKey(trimmed);
    if (key?.type !== ED25519_TYPE)
      throw new WitnessError(
        `line ${i + 1} is not the verifier key of a log: NAME+ID+KEY with an Ed25519 key`,
      );
    return [key];
  });
}

/** Parses the body of an add-checkpoint request. Throws Refusal. */
function parseAddCheckpoint(body: string): AddCheckpoint {
  const blank = body.indexOf('\n\n');
  if (blank < 0) refuse('there is no empty line before the checkpoint');
  const [oldLine, ...proofLines] = body.slice(0, blank).split('\n');
  const oldSize = oldLine.startsWith('old ') ? parseCount(oldLine.slice('old '.length)) : undefined;
  if (oldSize === undefined) refuse('the first line is not "old" and a size');
  if (proofLines.length > PROOF_LINES_MAX) refuse(`the proof has more than ${PROOF_LINES_MAX} lines`);
  const proof = parseHashes(proofLines) ?? refuse('a line of the proof is not a hash in base64');
  return { oldSize, proof, ...readCheckpoint(body.slice(blank + 2)) };
}

/** Returns one signature for each of these keys that signed; none if one of the signatures is wrong. */
function trustedSignatures(note: Note, keys: readonly VerifierKey[]): Note['signatures'] {
  const signed = found(() => signaturesBy(note, keys)).known ?? [];
  return [...new Map(signed.map(({ key, line }) => [key, line])).values()];
}

function readCosigned(path: string, origin: string): CosignedLog {
  const note = readFileSync(path, 'utf8');
  const { checkpoint } = found(() => readCheckpoint(note)).known ?? {};
  if (checkpoint?.origin === origin) return { checkpoint, note };
  throw new WitnessError(
    `${path} does not hold the checkpoint that was cosigned last for ${origin}: restore it, or retire this witness`,
  );
}

function refusal(status: 400 | 403 | 404 | 409 | 422, why: string): WitnessReply {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${why}\n` };
}
