import { assert } from '../core/assert.ts';
import { base32Of } from '../core/ids.ts';
import { bareMediaType } from '../core/vocabulary.ts';
import {
  type AnswerEntry,
  type DrawSource,
  SEED_BLOCK_BYTES,
  type SegmentContext,
} from '../ledger/records.ts';
import { certificateMembers, type IssuedCertificate } from './certificate-members.ts';
import { certifiedLabel } from './certified-label.ts';
import type { DerivedFrom } from './derive.ts';
import type { CertifiedLot } from './lot-leaf.ts';

/**
 * The certificate of one answer, as it is issued. It is a pure function of records that never change, so the service
 * does not store it but makes it again for each request. Its canonical JSON (RFC 8785) is a leaf of the log: if this
 * code made one byte differently, the proofs of all earlier certificates would no longer hold.
 */

/** What a certificate is made of besides its entry. */
export interface CertificateFacts {
  readonly source: DrawSource;
  /** The lots that `source` names, in its order. */
  readonly lots: readonly CertifiedLot[];
  readonly context: SegmentContext;
}

export function certificateOf(id: string, entry: AnswerEntry, facts: CertificateFacts): IssuedCertificate {
  const { source, lots, context } = facts;
  const { endpoint, octets, label } = entry;
  assert(entry.mode === source.mode, 'an entry and its source agree on the mode');
  assert(lots.length > 0, 'every answer was drawn from a lot');
  assert(
    lots.length === source.lotIds.length && lots.every(({ leaf }, i) => leaf.lot_id === source.lotIds[i]),
    'the lots are those the source names',
  );
  const [seed] = source.drawn;
  return certificateMembers({
    id,
    issuedAt: new Date(entry.issuedAtMs).toISOString(),
    requestId: `req_${base32Of(entry.requestId)}`,
    endpoint,
    delivered: `sha256:${Buffer.from(entry.delivered).toString('hex')}`,
    mediaType: octets === undefined ? undefined : bareMediaType(octets),
    label: label === undefined ? undefined : certifiedLabel(label),
    systemGenerator: context.systemGenerator,
    seed: source.mode === 'quantum-seeded' ? { index: seed.offset / SEED_BLOCK_BYTES } : undefined,
    drawn: source.drawn,
    ...derivedFrom(facts),
    named: lots.map(({ leaf, hash }) => ({ id: leaf.lot_id, leaf: hash })),
  });
}

/** Returns what the certificate's statements about its lots are derived from. */
export function derivedFrom({ source, lots }: Pick<CertificateFacts, 'source' | 'lots'>): DerivedFrom {
  return {
    mode: source.mode,
    lots: lots.map(({ leaf }) => leaf),
    spans: lots.map((_, i) => source.drawn.filter(({ lot }) => lot === i)),
  };
}
