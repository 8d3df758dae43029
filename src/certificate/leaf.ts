import { assert } from '../core/assert.ts';
import { utf8Bytes } from '../core/bytes.ts';
import { isoTime } from '../core/clock.ts';
import { writeLatin1 } from '../core/text-bytes.ts';
import { HASH_BYTES } from '../crypto/merkle.ts';
import { sha256 } from '../crypto/sha256.ts';
import type { DrawSource, LotRevocation, SegmentRecord } from '../ledger/records.ts';
import { ENDPOINT_OF_CODE, ENTRY_BYTES, EntryCursor } from '../ledger/segment.ts';
import { labelAt } from '../ledger/segment-notes.ts';
import type { IssuedCertificate } from './certificate-members.ts';
import { nistResultOf, nistVerifiedOf } from './derive.ts';
import type { CertificateIds, IdRange } from './ids.ts';
import { LANES, LeafKernel, type LeafMember } from './leaf-kernel.ts';
import type { CertifiedLot } from './lot-leaf.ts';
import { canonicalText } from './members.ts';
import { type CertificateFacts, certificateOf, derivedFrom } from './record.ts';

/**
 * Leaves of the log. The leaf of a certificate is the canonical JSON (RFC 8785) of the certificate as issued.
 * LeafHasher computes the leaf hashes faster, for sealing. All certificates of one endpoint and form from one source
 * differ only in four members of fixed length. So LeafHasher makes their text once, behind the 0x00 of RFC 9162 §2.1.1,
 * and a kernel overwrites those members and hashes four leaves at a time. The tests of test/certificate compare both
 * ways.
 */

/** Returns the leaf that logs the withdrawal of a lot. */
export function revocationText({ lotId, why, atMs }: LotRevocation): string {
  const revokedAt = new Date(atMs).toISOString();
  return canonicalText({ type: 'revocation', version: 1, lot_id: lotId, reason: why, revoked_at: revokedAt });
}

const LEAF_BYTE = Uint8Array.of(0);
/** Templates kept: one for each source in use and each endpoint and form, with room. Beyond that all are made again. */
const TEMPLATES_MAX = 512;

/**
 * The text before each member that the kernel overwrites, and the member's length. Each such text occurs once in a
 * certificate: JSON escapes the quotes inside strings, and the id of a lot does not begin with `cert_`.
 */
const WRITTEN = {
  id: ['"id":"cert_', 26],
  requestId: ['"request_id":"req_', 26],
  issuedAt: ['"issued_at":"', 24],
  delivered: ['"delivered":"sha256:', 64],
} as const;
/** The text before the fifth member that is overwritten in pure mode, where every answer draws other bytes. */
const BEFORE_DRAWN = '"drawn":';

interface LeafTemplate {
  /** 0x00, then the leaf's text. */
  readonly bytes: Uint8Array;
  readonly members: Readonly<Record<keyof typeof WRITTEN, LeafMember>>;
  /** Undefined outside pure mode. */
  readonly drawn: LeafMember | undefined;
}

/** A template with the entries in the kernel that wait to be hashed by it. */
interface Waiting extends LeafTemplate {
  /** Indices of the entries in the kernel. */
  readonly indices: number[];
}

export class LeafHasher {
  readonly #ids: CertificateIds;
  readonly #templates = new Map<string, LeafTemplate>();
  readonly #kernel = new LeafKernel();
  readonly #entries = new EntryCursor(this.#kernel.entries);
  /** In pure mode, the text of the `drawn` member of each entry in the kernel. */
  readonly #drawn: string[] = [];

  constructor(ids: CertificateIds) {
    this.#ids = ids;
  }

  /**
   * Returns the leaf hashes of all certificates of the segments, concatenated, and the latest time of issue (Unix ms).
   * `lotOf` returns each lot that the sources of the segments name.
   */
  leavesOf(
    segments: readonly SegmentRecord[],
    lotOf: (id: string) => CertifiedLot,
  ): { readonly hashes: Uint8Array<ArrayBuffer>; readonly latestMs: number } {
    const { entriesMax, hashes: made } = this.#kernel;
    const cursor = this.#entries;
    const hashes = new Uint8Array(segments.reduce((sum, { count }) => sum + count * HASH_BYTES, 0));
    const waiting = new Map<LeafTemplate, Waiting>();
    const places: IdRange[] = [];
    let known: (Waiting | undefined)[][] = [];
    let last: SegmentRecord | undefined;
    let latestMs = 0;
    let done = 0;
    let filled = 0;
    const flush = () => {
      this.#kernel.ids.set(this.#ids.blocks(places.splice(0)));
      for (const each of waiting.values()) this.#hash(each);
      hashes.set(made.subarray(0, filled * HASH_BYTES), done * HASH_BYTES);
      done += filled;
      filled = 0;
    };
    for (const segment of segments) {
      const { sequence, sources, count, entries } = segment;
      assert(entries.length === count * ENTRY_BYTES, 'a segment has as many entries as it says');
      // Segments that were read together share one list of sources and one context, and so the templates.
      if (sources !== last?.sources || segment.context !== last.context) known = sources.map(() => []);
      last = segment;
      for (let i = 0; i < count; i++, filled++) {
        if (filled === entriesMax) flush();
        if (filled === 0 || i === 0) places.push(this.#fill(segment, i, filled));
        cursor.seek(filled);
        latestMs = Math.max(latestMs, cursor.issuedAtMs);
        const label = segment.notes && labelAt(segment, i);
        if (label === undefined) {
          const ofSource = known[cursor.source];
          const key = cursor.octetCode * ENDPOINT_OF_CODE.length + cursor.endpointCode;
          const group = (ofSource[key] ??= this.#waitingIn(waiting, this.#template(segment, lotOf)));
          if (group.bytes.length <= this.#kernel.bytesMax) {
            if (group.drawn !== undefined) this.#drawn[filled] = drawnText(sources[cursor.source]);
            group.indices.push(filled);
            continue;
          }
        }
        const entry = { ...cursor.entry(), ...(label && { label }) };
        const certificate = certificateOf(
          this.#ids.textOf(sequence, i),
          entry,
          factsOf(segment, cursor, lotOf),
        );
        sha256(leafBytes(certificate), made, filled * HASH_BYTES);
      }
    }
    flush();
    return { hashes, latestMs };
  }

  /** Copies entries of a segment from index `from` on into the kernel at `at`, as many as fit. Returns which. */
  #fill({ sequence: segment, count, entries }: SegmentRecord, from: number, at: number): IdRange {
    const before = Math.min(count, from + this.#kernel.entriesMax - at);
    this.#kernel.entries.set(entries.subarray(from * ENTRY_BYTES, before * ENTRY_BYTES), at * ENTRY_BYTES);
    return { segment, from, count: before - from };
  }

  /** Hashes the waiting leaves, four at a time. If fewer than four are left, the last fills the spare lanes. */
  #hash({ bytes, members, drawn, indices }: Waiting): void {
    if (indices.length === 0) return;
    const kernel = this.#kernel;
    const { id, requestId, delivered, issuedAt } = members;
    kernel.take(bytes, [...Object.values(members), ...(drawn === undefined ? [] : [drawn])]);
    const last = indices.length - 1;
    const lanes = [0, 0, 0, 0] satisfies number[];
    const written = [Number.NaN, Number.NaN, Number.NaN, Number.NaN];
    let time = '';
    let timeMs = Number.NaN;
    for (let i = 0; i <= last; i += LANES) {
      for (let lane = 0; lane < LANES; lane++) {
        const index = indices[Math.min(i + lane, last)];
        lanes[lane] = index;
        kernel.print(lane, index, id.at, requestId.at, delivered.at);
        if (drawn !== undefined) writeLatin1(this.#drawn[index], kernel.texts[lane], drawn.at);
        this.#entries.seek(index);
        const { issuedAtMs } = this.#entries;
        if (issuedAtMs === written[lane]) continue; // many leaves share a millisecond
        if (issuedAtMs !== timeMs) time = isoTime((timeMs = issuedAtMs));
        assert(time.length === issuedAt.length, 'a time is before the year 10000');
        writeLatin1(time, kernel.texts[lane], issuedAt.at);
        written[lane] = issuedAtMs;
      }
      kernel.hash(lanes[0], lanes[1], lanes[2], lanes[3]);
    }
    indices.length = 0;
  }

  #waitingIn(waiting: Map<LeafTemplate, Waiting>, template: LeafTemplate): Waiting {
    let group = waiting.get(template);
    if (group === undefined) waiting.set(template, (group = { ...template, indices: [] }));
    return group;
  }

  /** Returns the template of the entry that the cursor points to. */
  #template(segment: SegmentRecord, lotOf: (id: string) => CertifiedLot): LeafTemplate {
    const entry = this.#entries.entry();
    const facts = factsOf(segment, this.#entries, lotOf);
    const { mode, lotIds, drawn } = facts.source;
    const name = JSON.stringify([
      entry.endpoint,
      entry.octets,
      mode,
      lotIds,
      mode === 'pure' ? writtenOver(facts) : drawn,
      segment.context.systemGenerator,
    ]);
    let template = this.#templates.get(name);
    if (template === undefined) {
      const drawnLength = mode === 'pure' ? drawnText(facts.source).length : undefined;
      template = templateOf(leafBytes(certificateOf(this.#ids.textOf(0, 0), entry, facts)), drawnLength);
      if (this.#templates.size >= TEMPLATES_MAX) this.#templates.clear();
      this.#templates.set(name, template);
    }
    return template;
  }
}

function factsOf(
  { sources, context }: SegmentRecord,
  cursor: EntryCursor,
  lotOf: (id: string) => CertifiedLot,
): CertificateFacts {
  const source = sources[cursor.source];
  return { source, lots: source.lotIds.map(lotOf), context };
}

/** Returns the `drawn` member as canonical JSON. */
function drawnText({ drawn }: DrawSource): string {
  return `[${drawn.map(({ lot, offset, bytes }) => `{"bytes":${bytes},"lot":${lot},"offset":${offset}}`).join(',')}]`;
}

/** Returns what else the text of a pure answer depends on: the length of `drawn`, and the test results. */
function writtenOver(facts: CertificateFacts): readonly unknown[] {
  const from = derivedFrom(facts);
  return [drawnText(facts.source).length, nistResultOf(from), nistVerifiedOf(from)];
}

/** Returns 0x00 (RFC 9162 §2.1.1), then the leaf's text. */
function leafBytes(certificate: IssuedCertificate): Buffer {
  return Buffer.concat([LEAF_BYTE, utf8Bytes(canonicalText(certificate))]);
}

function templateOf(bytes: Buffer, drawnLength: number | undefined): LeafTemplate {
  const memberAfter = (before: string, length: number): LeafMember => {
    const at = bytes.indexOf(before);
    assert(at > 0, `${before} stands in every certificate`);
    return { at: at + before.length, length };
  };
  const members = Object.entries(WRITTEN).map(([name, [before, length]]) => [
    name,
    memberAfter(before, length),
  ]);
  return {
    bytes,
    members: Object.fromEntries(members) as LeafTemplate['members'],
    drawn: drawnLength === undefined ? undefined : memberAfter(BEFORE_DRAWN, drawnLength),
  };
}
