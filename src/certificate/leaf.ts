import { assert } from '../core/assert.ts';
import { concatBytes, utf8Bytes } from '../core/bytes.ts';
import { isoTime } from '../core/clock.ts';
import { writeBase32, writeHex, writeLatin1 } from '../core/text-bytes.ts';
import { sha256 } from '../crypto/digest.ts';
import type { Hash } from '../crypto/merkle.ts';
import type { DrawnRange, DrawSource, LotRevocation, SegmentRecord } from '../ledger/records.ts';
import { ENDPOINT_OF_CODE, EntryCursor } from '../ledger/segment.ts';
import { labelAt } from '../ledger/segment-notes.ts';
import { nistResultOf, nistVerifiedOf } from './derive.ts';
import type { CertificateIds } from './ids.ts';
import type { CertifiedLot } from './lot-leaf.ts';
import { canonicalText } from './members.ts';
import {
  type CertificateFacts,
  certificateOf,
  derivedFrom,
  type IssuedAnswer,
  issueCertificate,
} from './record.ts';

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

/** Before the text of a leaf (RFC 9162 §2.1.1). */
const LEAF_BYTE = Uint8Array.of(0);
const ID_CHARACTERS = 26;
const TIME_CHARACTERS = 24;
const DIGEST_BYTES = 32;
const DIGEST_CHARACTERS = 2 * DIGEST_BYTES;
const ID_BYTES = 16;
/** Templates kept: as many as sources are in use at a time, times seven endpoints, with room. */
const TEMPLATES_MAX = 512;

/**
 * Private-use characters stand where the members go. They cannot be confused with anything else in the text:
 * `templateOf` counts them.
 */
const MARKS = {
  id: '\uE000',
  requestId: '\uE001',
  issuedAt: '\uE002',
  delivered: '\uE003',
  drawn: '\uE004',
} as const;

interface LeafTemplate {
  /** 0x00, then the leaf's text. */
  readonly bytes: Buffer;
  /** Where each member stands; `drawn`, which differs between all answers in pure mode, in no other one. */
  readonly at: Readonly<Record<Exclude<keyof typeof MARKS, 'drawn'>, number>> & { readonly drawn?: number };
}

export class LeafHasher {
  readonly #ids: CertificateIds;
  readonly #templates = new Map<string, LeafTemplate>();

  constructor(ids: CertificateIds) {
    this.#ids = ids;
  }

  /**
   * The leaf hashes of a segment's certificates, in order, and the latest time at which one was issued.
   * `lotOf` gives every lot that its sources name.
   */
  leavesOf(
    segment: SegmentRecord,
    lotOf: (id: string) => CertifiedLot,
  ): { readonly hashes: Hash[]; readonly latestMs: number } {
    const { count, sequence } = segment;
    const ids = this.#ids.blocks(sequence, 0, count);
    const templates = segment.sources.map(() => [] as (LeafTemplate | undefined)[]);
    const cursor = new EntryCursor(segment.entries);
    const hashes = new Array<Hash>(count);
    let latestMs = 0;
    for (let i = 0; i < count; i++) {
      assert(cursor.next(), 'a segment has as many entries as it says');
      latestMs = Math.max(latestMs, cursor.issuedAtMs);
      const label = segment.notes && labelAt(segment, i);
      if (label !== undefined) {
        const source = segment.sources[cursor.source];
        const facts = { source, lots: source.lotIds.map(lotOf), context: segment.context };
        const id = this.#ids.textOf(sequence, i);
        const text = canonicalText(certificateOf(id, { ...cursor.entry(), label }, facts));
        hashes[i] = sha256(concatBytes(LEAF_BYTE, utf8Bytes(text)));
        continue;
      }
      const known = templates[cursor.source];
      const key = cursor.octetCode * ENDPOINT_OF_CODE.length + cursor.endpointCode;
      const template = (known[key] ??= this.#template(segment, cursor, lotOf));
      this.#write(template, cursor, ids, i * ID_BYTES);
      if (template.at.drawn !== undefined)
        template.bytes.write(drawnText(segment.sources[cursor.source]), template.at.drawn, 'latin1');
      hashes[i] = sha256(template.bytes);
    }
    return { hashes, latestMs };
  }

  #write({ bytes, at }: LeafTemplate, cursor: EntryCursor, ids: Uint8Array, idFrom: number): void {
    const { packed } = cursor;
    writeBase32(ids, bytes, at.id, idFrom);
    writeBase32(packed, bytes, at.requestId, cursor.requestIdAt);
    writeHex(packed, bytes, at.delivered, cursor.deliveredAt, DIGEST_BYTES);
    const time = isoTime(cursor.issuedAtMs);
    assert(time.length === TIME_CHARACTERS, 'a time is before the year 10000');
    writeLatin1(time, bytes, at.issuedAt);
  }

  #template(segment: SegmentRecord, cursor: EntryCursor, lotOf: (id: string) => CertifiedLot): LeafTemplate {
    const source = segment.sources[cursor.source];
    const { endpoint, octets } = cursor.entry();
    const facts = { source, lots: source.lotIds.map(lotOf), context: segment.context };
    const name = JSON.stringify([
      endpoint,
      octets,
      source.mode,
      source.lotIds,
      source.mode === 'pure' ? writtenOver(facts) : source.drawn,
      segment.context.systemGenerator,
    ]);
    let template = this.#templates.get(name);
    if (template === undefined) {
      template = templateOf(facts, endpoint, octets);
      if (this.#templates.size >= TEMPLATES_MAX) this.#templates.clear();
      this.#templates.set(name, template);
    }
    return template;
  }
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

function templateOf(
  facts: CertificateFacts,
  endpoint: IssuedAnswer['endpoint'],
  octets: IssuedAnswer['octets'],
): LeafTemplate {
  const { source } = facts;
  const drawn = source.mode === 'pure' ? MARKS.drawn.repeat(drawnText(source).length) : '';
  const marked = canonicalText(
    issueCertificate(facts, {
      id: `cert_${MARKS.id.repeat(ID_CHARACTERS)}`,
      requestId: `req_${MARKS.requestId.repeat(ID_CHARACTERS)}`,
      issuedAt: MARKS.issuedAt.repeat(TIME_CHARACTERS),
      delivered: `sha256:${MARKS.delivered.repeat(DIGEST_CHARACTERS)}`,
      endpoint,
      octets,
      // a text in the place of the list, whose quotes are taken off below
      ...(drawn === '' ? {} : { drawn: drawn as unknown as readonly DrawnRange[] }),
    }),
  );
  const text = drawn === '' ? marked : marked.replace(`"${drawn}"`, drawn);
  const places = new Map<string, number>();
  const pieces: Buffer[] = [Buffer.of(0x00)];
  let length = 1;
  for (const run of text.match(/\uE000+|\uE001+|\uE002+|\uE003+|\uE004+|[^\uE000-\uE004]+/g) ?? []) {
    const member = Object.entries(MARKS).find(([, mark]) => run.startsWith(mark))?.[0];
    if (member !== undefined) {
      assert(!places.has(member), `${member} stands in one place`);
      places.set(member, length);
    }
    const piece = member === undefined ? Buffer.from(run, 'utf8') : Buffer.alloc(run.length);
    pieces.push(piece);
    length += piece.length;
  }
  const isWhole = places.size === (drawn === '' ? 4 : 5);
  assert(isWhole, 'each member that is written over stands in the text');
  return { bytes: Buffer.concat(pieces), at: Object.fromEntries(places) as unknown as LeafTemplate['at'] };
}
