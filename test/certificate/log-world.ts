import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { type CertificateService, certificateService } from '../../src/certificate/archive.ts';
import { CertificateIds } from '../../src/certificate/ids.ts';
import { type KeysDocument, keysDocument } from '../../src/certificate/keys-document.ts';
import { revocationText } from '../../src/certificate/leaf.ts';
import { CertificateLog } from '../../src/certificate/log.ts';
import { certifiedLot } from '../../src/certificate/lot-leaf.ts';
import { canonicalText } from '../../src/certificate/members.ts';
import { drawLeafKey, revocationKey } from '../../src/certificate/public-leaves.ts';
import { certificateOf } from '../../src/certificate/record.ts';
import { utf8Bytes } from '../../src/core/bytes.ts';
import { fromBase64 } from '../../src/crypto/base64.ts';
import { verifyEd25519 } from '../../src/crypto/ed25519.ts';
import { type LogKeys, publishedKey } from '../../src/crypto/key-files.ts';
import { type Hash, leafHash, verifyConsistency, verifyInclusion } from '../../src/crypto/merkle.ts';
import {
  cosignatureText,
  parseCheckpoint,
  parseNote,
  parseProof,
  readTimestamped,
} from '../../src/crypto/note.ts';
import { SigningKey } from '../../src/crypto/signing.ts';
import type { DrawLeaf } from '../../src/ledger/draw-records.ts';
import { LedgerError, type LogRecord, type LogStep, type ReleasedLots } from '../../src/ledger/ledger.ts';
import type { LotRecord, LotRevocation, SegmentRecord } from '../../src/ledger/records.ts';
import { readEntries } from '../../src/ledger/segment.ts';
import { referenceRoot } from '../reference/merkle.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { NO_SERIES, TIME_MS } from './fixtures.ts';

const ORIGIN = 'qrn.example/log';

/** Keys as key files give them, without files. The seed makes them the same in every run. */
export function logKeys(...seeds: number[]): LogKeys {
  const keys = seeds.map((seed) => SigningKey.fromSeed(new Uint8Array(32).fill(seed)));
  const published = keys.map(({ publicKey }) => publishedKey(ORIGIN, publicKey, '2026-11-21T08:00:00.000Z'));
  const last = published.length - 1;
  return { name: ORIGIN, current: keys[last], currentKeyId: published[last].key_id, published };
}

export class StoreFault extends Error {}

/** The places of the leaves of segments with consecutive numbers. */
interface Sealed {
  readonly segment: number;
  readonly firstLeaf: number;
  readonly counts: readonly number[];
}

/** A ledger of maps whose next write can be made to fail, before it is done or after. */
export class LogWorld {
  readonly segments = new Map<number, SegmentRecord>();
  readonly lots = new Map<string, LotRecord>();
  /** Time at which each lot was released. */
  readonly released = new Map<string, number>();
  readonly withdrawn: LotRevocation[] = [];
  /** Leaves of draws, by ordinal, that wait and that ever waited. */
  readonly drawLeaves = new Map<number, DrawLeaf>();
  readonly #everyDrawLeaf = new Map<number, DrawLeaf>();
  readonly records = new Map<string, Uint8Array>();
  readonly sealed = new Set<number>();
  /** Called once between the read of unsealed segments and the next write. */
  beforeWrite = async () => {};
  nextWrite: 'done' | 'lost' | 'done, but said to have failed' = 'done';
  writes = 0;
  /** Whether a step is refused where the log has moved on; false plants the fault. */
  comparesStates = true;
  readonly ids = new CertificateIds(new Uint8Array(32).fill(9));
  keys = logKeys(1);
  readonly clock = new ManualClock(TIME_MS + 500);
  #lastCheckpoint: { size: number; root: Uint8Array<ArrayBuffer> } | undefined;

  readonly store = {
    putLog: async (records: readonly LogRecord[], step?: LogStep, released?: ReleasedLots) => {
      const { beforeWrite } = this;
      this.beforeWrite = async () => {};
      await beforeWrite();
      const outcome = this.nextWrite;
      this.nextWrite = 'done';
      if (outcome === 'lost') throw new StoreFault('lost');
      if (step !== undefined && this.comparesStates) {
        const stored = this.records.get(step.key);
        if (!isDeepStrictEqual(stored && Buffer.from(stored), step.expected && Buffer.from(step.expected)))
          throw new LedgerError('conflict', `the record ${step.key} has changed`);
      }
      for (const sequence of step?.sealed ?? []) this.sealed.add(sequence);
      for (const id of released?.lotIds ?? []) this.released.set(id, released?.atMs ?? 0);
      this.writes++;
      for (const { key, value } of records) this.records.set(key, new Uint8Array(value));
      if (outcome !== 'done') throw new StoreFault('done all the same');
    },
    getLog: async (key: string) => {
      const value = this.records.get(key);
      return value && new Uint8Array(value);
    },
    unsealed: async (certificates: number) => {
      let missing = certificates;
      return [...this.segments.values()]
        .filter(({ sequence }) => !this.sealed.has(sequence))
        .sort((a, b) => a.sequence - b.sequence)
        .filter(({ count }) => {
          missing -= count;
          return missing + count > 0;
        });
    },
    lot: async (id: string) => this.lots.get(id),
    pendingLots: async (limit: number) =>
      [...this.lots.values()]
        .filter(({ id, accepted }) => accepted && !this.released.has(id))
        .slice(0, limit),
    revocations: async () => [...this.withdrawn],
    drawLeaves: async (limit: number) =>
      [...this.drawLeaves].slice(0, limit).map(([ordinal, leaf]) => ({ ...leaf, ordinal })),
    drawLeavesLogged: async (ordinals: readonly number[]) => {
      for (const ordinal of ordinals) this.drawLeaves.delete(ordinal);
    },
  };

  addDrawLeaf(leaf: DrawLeaf): void {
    const ordinal = this.#everyDrawLeaf.size + 1;
    this.drawLeaves.set(ordinal, leaf);
    this.#everyDrawLeaf.set(ordinal, leaf);
  }

  commit(segment: SegmentRecord): void {
    this.segments.set(segment.sequence, segment);
  }

  open(): Promise<CertificateLog> {
    return CertificateLog.open(this.options());
  }

  options() {
    return { store: this.store, ids: this.ids, keys: this.keys, clock: this.clock };
  }

  /**
   * The leaf of every certificate and withdrawal that is logged, by its place in the tree, made the plain
   * way.
   */
  leaves(): Uint8Array<ArrayBuffer>[] {
    const leaves: Uint8Array<ArrayBuffer>[] = [];
    const place = (at: number, text: string) => {
      assert.equal(leaves[at], undefined, `leaf ${at} is one thing`);
      leaves[at] = leafHash(utf8Bytes(text));
    };
    for (const segment of this.segments.values()) {
      const { sequence } = segment;
      const record = this.records.get(`seals/${String(Math.floor(sequence / 64)).padStart(16, '0')}`);
      if (record === undefined) continue;
      const seals = JSON.parse(Buffer.from(record).toString()) as Sealed[];
      const own = seals.filter((seal) => seal.counts[sequence - seal.segment] !== undefined);
      assert.ok(own.length <= 1, 'a segment is sealed once');
      if (own.length === 0) continue;
      const first = own[0].counts
        .slice(0, sequence - own[0].segment)
        .reduce((leaf, count) => leaf + count, own[0].firstLeaf);
      [...readEntries(segment.entries)].forEach((entry, i) => {
        const source = segment.sources[entry.source];
        const known = source.lotIds.map((id) => this.lots.get(id)).filter((lot) => lot !== undefined);
        const lots = known.map(certifiedLot);
        const facts = { source, lots, context: segment.context };
        place(first + i, canonicalText(certificateOf(this.ids.textOf(segment.sequence, i), entry, facts)));
      });
    }
    for (const [key, value] of this.records) {
      if (!/^public\/\d/.test(key)) continue;
      const { index, leaf } = JSON.parse(Buffer.from(value).toString()) as { index: number; leaf: string };
      place(index, leaf);
    }
    for (const revocation of this.withdrawn)
      this.#assertNamed(revocationKey(revocation.lotId), revocationText(revocation));
    for (const draw of this.#everyDrawLeaf.values()) this.#assertNamed(drawLeafKey(draw), draw.text);
    return leaves;
  }

  /** Asserts that the leaf logged under the name, if any, has this text. */
  #assertNamed(name: string, text: string): void {
    const n = this.records.get(name);
    if (n === undefined) return;
    const key = `public/${Buffer.from(n).toString().padStart(16, '0')}`;
    assert.equal(JSON.parse(Buffer.from(this.records.get(key) ?? []).toString()).leaf, text, name);
  }

  /** Returns the certificates of the segments that are committed here. */
  service(log: CertificateLog, keys: KeysDocument = keysDocument(this.keys)): CertificateService {
    const ledger = {
      ...this.store,
      segment: async (sequence: number) => this.segments.get(sequence),
      seriesPage: async () => NO_SERIES,
      draw: async () => undefined,
    };
    return certificateService({ ledger, ids: this.ids, log, keys });
  }

  /** Verifies all that the log says, from scratch; gives the number of leaves. */
  async check(log: CertificateLog): Promise<number> {
    const leaves = this.leaves();
    assert.ok(!leaves.includes(undefined as never) && leaves.length === log.size, 'leaves have no holes');
    const note = parseNote(log.checkpoint);
    const checkpoint = note && parseCheckpoint(note.text);
    assert.ok(note && checkpoint);
    assert.equal(checkpoint.size, leaves.length);
    assert.deepEqual(Buffer.from(checkpoint.root), Buffer.from(referenceRoot(leaves)));
    for (const { keyId, signature } of note.signatures) {
      const plain = this.keys.published.find((each) => each.key_id === keyId);
      const key =
        plain ?? this.keys.published.find(({ cosigner_key }) => cosigner_key?.includes(`+${keyId}+`));
      const timed = plain === undefined ? readTimestamped(signature) : undefined;
      const message = timed === undefined ? note.text : cosignatureText(timed.atS, note.text);
      const publicKey = fromBase64(key?.public_key ?? '');
      assert.ok(publicKey && verifyEd25519(publicKey, utf8Bytes(message), timed?.signature ?? signature));
    }
    const before = this.#lastCheckpoint;
    if (before !== undefined) {
      const proof = await log.consistencyProof(before.size, checkpoint.size);
      assert.ok(verifyConsistency(before.size, before.root, checkpoint.size, checkpoint.root, proof));
    }
    this.#lastCheckpoint = checkpoint;
    await this.#checkProofs(log, leaves);
    return leaves.length;
  }

  async #checkProofs(log: CertificateLog, leaves: readonly Hash[]): Promise<void> {
    for (const { sequence, count } of this.segments.values()) {
      for (const index of new Set([0, count >> 1, count - 1])) {
        const text = await log.proofOf(sequence, index);
        if (text !== undefined) checkProof(text, leaves);
      }
    }
    for (const { lotId } of this.withdrawn) {
      const logged = await log.leafOf(revocationKey(lotId));
      if (logged !== undefined) checkProof(logged.proof, leaves);
    }
  }
}

export function checkProof(text: string, leaves: readonly Hash[]): void {
  const proof = parseProof(text);
  const note = proof && parseNote(proof.note);
  const checkpoint = note && parseCheckpoint(note.text);
  assert.ok(proof && checkpoint);
  const { index, path } = proof;
  assert.ok(verifyInclusion(leaves[index], index, checkpoint.size, path, checkpoint.root));
}
