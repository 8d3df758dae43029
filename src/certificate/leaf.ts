import { assert } from '../core/assert.ts';
import { utf8Bytes } from '../core/bytes.ts';
import { isoTime } from '../core/clock.ts';
import { writeLatin1 } from '../core/text-bytes.ts';
import { compileWasm, instantiate, type WasmMemory } from '../core/wasm.ts';
import { HASH_BYTES } from '../crypto/merkle.ts';
import { sha256 } from '../crypto/sha256.ts';
import type { DrawSource, LotRevocation, SegmentRecord } from '../ledger/records.ts';
import { ENDPOINT_OF_CODE, ENTRY_BYTES, EntryCursor } from '../ledger/segment.ts';
import { labelAt } from '../ledger/segment-notes.ts';
import type { IssuedCertificate } from './certificate-members.ts';
import { nistResultOf, nistVerifiedOf } from './derive.ts';
import type { CertificateIds } from './ids.ts';
import type { CertifiedLot } from './lot-leaf.ts';
import { canonicalText } from './members.ts';
import { type CertificateFacts, certificateOf, derivedFrom } from './record.ts';

/**
 * Leaves of the log. One of a certificate is the canonical JSON (RFC 8785) of it as issued. LeafHasher makes
 * the same hashes faster, for sealing: all certificates of one endpoint and form from one source differ in four
 * members of fixed length, so it makes their text once, writes those members over it, and hashes the buffer,
 * which starts with the 0x00 of RFC 9162 §2.1.1. The tests of test/certificate compare the two.
 */

/** The leaf that makes a withdrawal part of the log. */
export function revocationText({ lotId, why, atMs }: LotRevocation): string {
  const revokedAt = new Date(atMs).toISOString();
  return canonicalText({ type: 'revocation', version: 1, lot_id: lotId, reason: why, revoked_at: revokedAt });
}

const LEAF_BYTE = Uint8Array.of(0);
const TIME_CHARACTERS = 24;
/** Templates kept: as many as sources are in use at a time, times seven endpoints, with room. */
const TEMPLATES_MAX = 512;

/**
 * What stands before each member that is written over. No other text of a certificate holds these: inside a string the quotes
 * are escaped, and a lot has no such id.
 */
const BEFORE = {
  id: '"id":"cert_',
  requestId: '"request_id":"req_',
  issuedAt: '"issued_at":"',
  delivered: '"delivered":"sha256:',
  drawn: '"drawn":',
} as const;

interface LeafTemplate {
  /** 0x00, then the leaf's text. */
  readonly bytes: Uint8Array;
  /** Where each member stands; `drawn`, which differs between all answers, in pure mode alone. */
  readonly at: Readonly<Record<keyof typeof BEFORE, number>>;
}

interface Global {
  readonly value: number;
}

/** See assembly/leaves.ts. */
interface LeafKernel {
  readonly memory: WasmMemory;
  readonly entriesAt: Global;
  readonly idsAt: Global;
  readonly textBytesMax: Global;
  readonly textAt: Global;
  print(index: number, idAt: number, requestIdAt: number, deliveredAt: number): void;
}

const module = compileWasm(new URL('./leaves.wasm', import.meta.url));

/** Packed entries that the kernel has room for. */
const ENTRIES_MAX = 512;
const ID_BYTES = 16;

/**
 * A kernel with memory of its own for packed entries, for the ids of their certificates as 16 bytes each, and for the text of one
 * leaf. `print` takes the index of an entry and writes both ids and the hash of what was delivered into the text, at the places given.
 */
export function leafKernel() {
  const { memory, entriesAt, idsAt, textBytesMax, textAt, print } = instantiate<LeafKernel>(module);
  const windowAt = (at: Global, size: number) => new Uint8Array(memory.buffer, at.value, size);
  return {
    entries: windowAt(entriesAt, ENTRIES_MAX * ENTRY_BYTES),
    ids: windowAt(idsAt, ENTRIES_MAX * ID_BYTES),
    text: windowAt(textAt, textBytesMax.value),
    print,
  };
}

export class LeafHasher {
  readonly #ids: CertificateIds;
  readonly #templates = new Map<string, LeafTemplate>();
  readonly #kernel = leafKernel();
  /** The template whose text lies in the kernel, that text, and the time that it states. Many leaves share a millisecond. */
  #loaded: LeafTemplate | undefined;
  #text: Uint8Array = this.#kernel.text;
  #writtenMs = Number.NaN;

  constructor(ids: CertificateIds) {
    this.#ids = ids;
  }

  /**
   * The leaf hashes of a segment's certificates, one behind the other, and the latest time at which one was issued.
   * `lotOf` gives every lot that its sources name.
   */
  leavesOf(
    segment: SegmentRecord,
    lotOf: (id: string) => CertifiedLot,
  ): { readonly hashes: Uint8Array<ArrayBuffer>; readonly latestMs: number } {
    const { count, entries } = segment;
    assert(entries.length === count * ENTRY_BYTES, 'a segment has as many entries as it says');
    const templates = segment.sources.map(() => [] as (LeafTemplate | undefined)[]);
    const cursor = new EntryCursor(entries);
    const hashes = new Uint8Array(count * HASH_BYTES);
    let latestMs = 0;
    for (let i = 0; cursor.next(); i++) {
      const at = i % ENTRIES_MAX;
      if (at === 0) this.#fill(segment, i);
      latestMs = Math.max(latestMs, cursor.issuedAtMs);
      const label = segment.notes && labelAt(segment, i);
      const known = templates[cursor.source];
      const key = cursor.octetCode * ENDPOINT_OF_CODE.length + cursor.endpointCode;
      const template =
        label === undefined ? (known[key] ??= this.#template(segment, cursor, lotOf)) : undefined;
      if (template === undefined || template.bytes.length > this.#kernel.text.length) {
        const entry = { ...cursor.entry(), ...(label && { label }) };
        const id = this.#ids.textOf(segment.sequence, i);
        sha256(leafBytes(certificateOf(id, entry, factsOf(segment, cursor, lotOf))), hashes, i * HASH_BYTES);
        continue;
      }
      this.#write(template, at, cursor.issuedAtMs);
      const source = segment.sources[cursor.source];
      if (source.mode === 'pure') writeLatin1(drawnText(source), this.#text, template.at.drawn);
      sha256(this.#text, hashes, i * HASH_BYTES);
    }
    return { hashes, latestMs };
  }

  /** Gives the kernel the entries from an index on, and their ids. */
  #fill({ sequence, count, entries }: SegmentRecord, from: number): void {
    const before = Math.min(count, from + ENTRIES_MAX);
    this.#kernel.entries.set(entries.subarray(from * ENTRY_BYTES, before * ENTRY_BYTES));
    this.#kernel.ids.set(this.#ids.blocks(sequence, from, before - from));
  }

  #write(template: LeafTemplate, index: number, issuedAtMs: number): void {
    const { bytes, at } = template;
    if (template !== this.#loaded) {
      this.#kernel.text.set(bytes);
      this.#text = this.#kernel.text.subarray(0, bytes.length);
      this.#loaded = template;
      this.#writtenMs = Number.NaN;
    }
    this.#kernel.print(index, at.id, at.requestId, at.delivered);
    if (issuedAtMs === this.#writtenMs) return;
    this.#writtenMs = issuedAtMs;
    const time = isoTime(issuedAtMs);
    assert(time.length === TIME_CHARACTERS, 'a time is before the year 10000');
    writeLatin1(time, this.#text, at.issuedAt);
  }

  #template(segment: SegmentRecord, cursor: EntryCursor, lotOf: (id: string) => CertifiedLot): LeafTemplate {
    const entry = cursor.entry();
    const facts = factsOf(segment, cursor, lotOf);
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
      template = templateOf(leafBytes(certificateOf(this.#ids.textOf(0, 0), entry, facts)));
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

/** As canonical JSON. */
function drawnText({ drawn }: DrawSource): string {
  return `[${drawn.map(({ lot, offset, bytes }) => `{"bytes":${bytes},"lot":${lot},"offset":${offset}}`).join(',')}]`;
}

/** What the text of a pure answer depends on beside what is written over it: the length of that, and its windows. */
function writtenOver(facts: CertificateFacts): readonly unknown[] {
  const from = derivedFrom(facts);
  return [drawnText(facts.source).length, nistResultOf(from), nistVerifiedOf(from)];
}

/** 0x00 (RFC 9162 §2.1.1), then the leaf's text. */
function leafBytes(certificate: IssuedCertificate): Buffer {
  return Buffer.concat([LEAF_BYTE, utf8Bytes(canonicalText(certificate))]);
}

function templateOf(bytes: Buffer): LeafTemplate {
  const places = Object.entries(BEFORE).map(([member, before]) => {
    const at = bytes.indexOf(before);
    assert(at > 0 || member === 'drawn', `${member} stands in every certificate`);
    return [member, at + before.length];
  });
  return { bytes, at: Object.fromEntries(places) as LeafTemplate['at'] };
}
