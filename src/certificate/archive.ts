import { assert } from '../core/assert.ts';
import { CERTIFICATE_ID } from '../core/ids.ts';
import {
  count,
  described,
  listOf,
  object,
  orNull,
  type TypeOf,
  text,
  textLike,
  time,
} from '../core/schema.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { DrawSource, LotRecord, LotRevocation } from '../ledger/records.ts';
import { readEntry } from '../ledger/segment.ts';
import { labelAt } from '../ledger/segment-notes.ts';
import { type CertificateDocument, certificateDocument, type LotProof } from './document.ts';
import { type DrawBody, type DrawDocument, drawDocument } from './draw-document.ts';
import type { CertificateIds } from './ids.ts';
import type { KeysDocument } from './keys-document.ts';
import type { CertificateLog } from './log.ts';
import { type CertifiedLot, runsOf } from './lot-leaf.ts';
import { drawLeafKey, lotLeafKey, revocationKey } from './public-leaves.ts';
import { certificateOf } from './record.ts';
import type { WitnessState } from './witnessed.ts';

const leaf = described(text, 'The leaf in the log, as canonical JSON.');
const proof = described(
  text,
  'The proof that the leaf is in the log, with a signed checkpoint (c2sp.org/tlog-proof).',
);

/** The form of the reply of `/log/lots/<id>`. */
export const PUBLIC_LOT = object({
  lot_id: described(text, 'The identifier of the lot.'),
  leaf,
  proof,
  withdrawal: described(
    orNull(object({ leaf, proof })),
    'The leaf that withdrew the lot. It is null if the lot was not withdrawn.',
  ),
  withdrawals: described(listOf(text), 'The leaves of all withdrawals of lots so far, as canonical JSON.'),
  statement: described(
    orNull(object({ leaf, proof })),
    'The latest leaf that states how many withdrawals the log contains. It is null before the first such leaf.',
  ),
});
export type PublicLot = TypeOf<typeof PUBLIC_LOT>;

/** The form of the reply of GET /v1/draws. */
export const DRAW_LIST = object({
  purpose: described(text, 'The purpose that the list is about.'),
  series: described(
    listOf(
      object({
        id: described(text, 'The identifier of the series.'),
        count: described(count, 'The number of answers in the series.'),
      }),
    ),
    'The series with this purpose: one for each account that used the purpose publicly.',
  ),
  draws: described(
    listOf(
      object({
        series: described(text, 'The identifier of the series.'),
        serial: described(
          count,
          'The serial number of the answer in its series. Numbers start at 1 and have no gaps.',
        ),
        issued_at: described(time, 'The time at which the answer was made.'),
        certificate_id: described(
          orNull(textLike(CERTIFICATE_ID)),
          'The identifier of the certificate. It is null if the answer was not made public.',
        ),
      }),
    ),
    'The answers of one series, in the order of their serial numbers.',
  ),
  next: described(
    orNull(count),
    'The value of `from` that returns the next page. It is null on the last page.',
  ),
});
export type DrawList = TypeOf<typeof DRAW_LIST>;

/** How many answers of a series one reply lists at most. */
const DRAWS_LISTED_MAX = 100;

/** A lot, with its withdrawal if it was withdrawn. */
export interface LotOfRecord {
  readonly lot: LotRecord;
  readonly revocation: LotRevocation | null;
}

interface CertificateSources {
  readonly ledger: Pick<Ledger, 'segment' | 'seriesPage' | 'lot' | 'revocations' | 'draw'>;
  readonly ids: CertificateIds;
  readonly log: CertificateLog;
  readonly keys: KeysDocument;
  /** Why nothing is signed or delivered, and what the operator must do; null if all is well. */
  readonly held?: string | null;
}

/**
 * What the fronts ask about certificates and their log. It runs in the ledger thread, so that it does not delay the
 * replies of the fronts.
 */
export type CertificateService = ReturnType<typeof certificateService>;

/** Returns the service. It makes each certificate again from the records of its answer. */
export function certificateService(sources: CertificateSources) {
  const { ledger, ids, log, keys, held = null } = sources;

  /** Resolves to the certificate. `malformed` means 400 `invalid_id`, `unknown` 404 `cert_not_found`. */
  async function find(id: string): Promise<CertificateDocument | 'malformed' | 'unknown'> {
    const place = ids.placeOf(id);
    if (typeof place === 'string') return place;
    const segment = await ledger.segment(place.segment);
    const entry = segment && readEntry(segment.entries, place.index);
    if (segment === undefined || entry === undefined) return 'unknown';
    const source = segment.sources[entry.source];
    const lots = await Promise.all(source.lotIds.map(drawnFrom));
    const label = labelAt(segment, place.index);
    const facts = { source, lots, context: segment.context };
    const certificate = certificateOf(id, label === undefined ? entry : { ...entry, label }, facts);
    const proof = (await log.proofOf(place.segment, place.index)) ?? null;
    const shown = { verifyUrlBase: segment.context.verifyUrlBase, proof };
    const proven = await Promise.all(lots.map((lot, i) => lotProof(lot, i, source, entry.issuedAtMs)));
    return certificateDocument(certificate, shown, proven, await ledger.revocations());
  }

  async function drawnFrom(lotId: string): Promise<CertifiedLot> {
    const lot = await log.lots.get(lotId);
    assert(lot !== undefined, `lot ${lotId} was durable before anything was drawn from it`);
    return lot;
  }

  /** Resolves to the proofs that a lot is logged and that its leaf commits to what the answer drew. */
  async function lotProof(
    { leaf, trees }: CertifiedLot,
    place: number,
    { mode, drawn }: DrawSource,
    issuedAtMs: number,
  ): Promise<LotProof> {
    const proof = (await log.lotProof(leaf.lot_id, issuedAtMs)) ?? null;
    const isBound = proof !== null || mode === 'csprng';
    assert(isBound, `lot ${leaf.lot_id} was logged before anything was drawn from it`);
    const ranges = drawn.filter(({ lot }) => lot === place);
    return { leaf, proof, runs: runsOf(trees, mode, ranges) };
  }

  return {
    held: async () => held,
    find,
    /** Resolves to the public document of a draw; undefined if it is unknown or its answer not yet durable. */
    async draw(id: string): Promise<DrawDocument | undefined> {
      const record = await ledger.draw(id);
      const body = record && (JSON.parse(record.body) as DrawBody);
      if (!body?.committed) return undefined;
      const { committed } = body;
      const certificate = await find(committed.certificate_id);
      const [commit, end] = await Promise.all(
        (['commit', 'end'] as const).map((kind) => log.leafOf(drawLeafKey({ drawId: id, kind }))),
      );
      const proofs = { commit: commit?.proof ?? null, end: end?.proof ?? null };
      const whole = typeof certificate === 'string' ? null : certificate;
      return drawDocument({ ...body, committed }, whole, proofs);
    },
    /** Resolves to a page of a public purpose's series, from serial `from` on; by default of the first series. */
    async draws(purpose: string, asked: string | undefined, from: number): Promise<DrawList> {
      const part = { series: asked, from, limit: DRAWS_LISTED_MAX + 1 };
      const { series, answers } = await ledger.seriesPage(purpose, part);
      const id = asked ?? series.at(0)?.id ?? '';
      const listed = answers.slice(0, DRAWS_LISTED_MAX).map((each) => ({
        series: id,
        serial: each.serial,
        issued_at: new Date(each.issuedAtMs).toISOString(),
        certificate_id: each.isPublic ? ids.textOf(each.sequence, each.index) : null,
      }));
      return { purpose, series, draws: listed, next: answers.at(DRAWS_LISTED_MAX)?.serial ?? null };
    },
    /** Resolves to a lot for its public page; undefined if there is none. */
    async lot(id: string): Promise<LotOfRecord | undefined> {
      const lot = await ledger.lot(id);
      if (lot === undefined) return undefined;
      const revocation = (await ledger.revocations()).find(({ lotId }) => lotId === id);
      return { lot, revocation: revocation ?? null };
    },
    /** Resolves to the public document of a lot; undefined if the lot is unknown or not logged. */
    async publicLot(id: string): Promise<PublicLot | undefined> {
      const logged = await log.leafOf(lotLeafKey(id));
      if (logged === undefined) return undefined;
      const withdrawal = (await log.leafOf(revocationKey(id))) ?? null;
      return { lot_id: id, ...logged, withdrawal, ...(await log.withdrawals()) };
    },
    /** Resolves to the document of all public keys that ever signed for this log. */
    keys: async () => keys,
    checkpoint: async () => log.checkpoint,
    /** Resolves to the witnesses that the service asks, in the order of QRN_WITNESSES. */
    witnesses: async (): Promise<readonly WitnessState[]> => [],
    publicLeaves: (from: number, limit: number) => log.publicLeaves(from, limit),
    tile: (level: number, index: number) => log.tile(level, index),
    /** Resolves to a consistency proof (RFC 9162 §2.1.4); undefined for sizes that the log does not have. */
    async consistencyProof(from: number, to: number) {
      if (!(from >= 1 && from <= to && to <= log.size)) return undefined;
      return log.consistencyProof(from, to);
    },
  };
}
