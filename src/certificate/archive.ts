import { assert } from '../core/assert.ts';
import type { Books, DrawStore, EntropyStore } from '../ledger/ledger.ts';
import type { DrawSource, LotRecord, LotRevocation } from '../ledger/records.ts';
import { readEntry } from '../ledger/segment.ts';
import { labelAt } from '../ledger/segment-notes.ts';
import { type CertificateDocument, certificateDocument, type LotProof } from './document.ts';
import { type DrawBody, type DrawDocument, drawDocument } from './draw.ts';
import type { CertificateIds } from './ids.ts';
import type { KeysDocument } from './keys-document.ts';
import type { CertificateLog, LoggedLot } from './log.ts';
import { type CertifiedLot, certifiedLot, runsOf } from './lot-leaf.ts';
import { drawLeafKey, lotLeafKey, type ProvenLeaf, revocationKey } from './public-leaves.ts';
import { certificateOf } from './record.ts';
import type { WitnessState } from './witnessed.ts';

/** What `/log/lots/<id>` answers. */
export interface PublicLot extends ProvenLeaf {
  readonly lot_id: string;
  /** Null when the lot was not withdrawn. */
  readonly withdrawal: ProvenLeaf | null;
  /** The leaves of all withdrawals that the statement counts, in order. */
  readonly withdrawals: readonly string[];
  /** The newest public leaf that says how many there are; null before the first. */
  readonly statement: ProvenLeaf | null;
}

/** What GET /v1/draws answers. */
export interface DrawList {
  readonly purpose: string;
  /** One for each account that used the purpose publicly, with how many answers it has had. */
  readonly series: readonly { readonly id: string; readonly count: number }[];
  readonly draws: readonly {
    readonly series: string;
    readonly serial: number;
    readonly issued_at: string;
    /** Null where the answer was not made public. */
    readonly certificate_id: string | null;
  }[];
  /** The serial that continues the list; null at its end. */
  readonly next: number | null;
}

/** Answers of a series in one list. */
const DRAWS_LISTED_MAX = 100;

/** A lot, and its withdrawal if there was one. */
export interface LotOfRecord {
  readonly lot: LotRecord;
  readonly revocation: LotRevocation | null;
}

interface ArchiveOptions {
  readonly books: Pick<Books, 'segment' | 'seriesPage'>;
  readonly entropy: Pick<EntropyStore, 'lot' | 'revocations'>;
  readonly ids: CertificateIds;
  readonly log: CertificateLog;
}

/** Lots kept. */
const LOTS_MAX = 256;
/** Hashes of their trees that are kept, 32 bytes each: 4 MiB. A lot of 4 Mbit has 300. */
const HASHES_MAX = 2 ** 17;

interface KeptLot extends CertifiedLot {
  /** Undefined until the log holds it: of a sample of the csprng stream alone. */
  readonly logged: LoggedLot | undefined;
}

/** Certificates by their id: made again from the records they were issued from. */
export class CertificateArchive {
  readonly #books: ArchiveOptions['books'];
  readonly #entropy: ArchiveOptions['entropy'];
  readonly #ids: CertificateIds;
  readonly #log: CertificateLog;
  /**
   * The lots that were asked for last, the one asked for longest ago first: whoever may look certificates up needs no key, and
   * a look-up that decoded the lot and hashed its trees again took 20 times as long.
   */
  readonly #kept = new Map<string, KeptLot>();
  #hashesKept = 0;

  constructor({ books, entropy, ids, log }: ArchiveOptions) {
    this.#books = books;
    this.#entropy = entropy;
    this.#ids = ids;
    this.#log = log;
  }

  /** A lot for its public page; undefined when there is none. */
  async lot(id: string): Promise<LotOfRecord | undefined> {
    const lot = await this.#entropy.lot(id);
    if (lot === undefined) return undefined;
    const revocation = (await this.#entropy.revocations()).find(({ lotId }) => lotId === id);
    return { lot, revocation: revocation ?? null };
  }

  #forget(id: string): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    this.#hashesKept -= hashesOf(kept);
    this.#kept.delete(id);
  }

  /** A lot that something was drawn from. What leads from its leaf to the bytes never changes. */
  async #lot(id: string): Promise<KeptLot> {
    const kept = this.#kept.get(id) ?? (await this.#readLot(id));
    this.#forget(id);
    if (kept.logged === undefined) return kept;
    this.#kept.set(id, kept);
    this.#hashesKept += hashesOf(kept);
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= LOTS_MAX && this.#hashesKept <= HASHES_MAX) break;
      this.#forget(oldest);
    }
    return kept;
  }

  async #readLot(id: string): Promise<KeptLot> {
    const lot = await this.#entropy.lot(id);
    assert(lot !== undefined, `lot ${id} was durable before anything was drawn from it`);
    return { ...certifiedLot(lot), logged: await this.#log.lotOf(id) };
  }

  /** `malformed`: 400 `invalid_id`. `unknown`: 404 `cert_not_found`. */
  async find(id: string): Promise<CertificateDocument | 'malformed' | 'unknown'> {
    const place = this.#ids.placeOf(id);
    if (typeof place === 'string') return place;
    const segment = await this.#books.segment(place.segment);
    const entry = segment && readEntry(segment.entries, place.index);
    if (segment === undefined || entry === undefined) return 'unknown';
    const source = segment.sources[entry.source];
    const lots = await Promise.all(source.lotIds.map((lotId) => this.#lot(lotId)));
    const label = labelAt(segment, place.index);
    const facts = { source, lots, context: segment.context };
    const certificate = certificateOf(id, label === undefined ? entry : { ...entry, label }, facts);
    const proof = (await this.#log.proofOf(place.segment, place.index)) ?? null;
    const shown = { verifyUrlBase: segment.context.verifyUrlBase, proof };
    const proven = await Promise.all(
      lots.map((lot, place) => lotProof(lot, place, source, entry.issuedAtMs)),
    );
    return certificateDocument(certificate, shown, proven, await this.#entropy.revocations());
  }

  /** Undefined for an id that is unknown, and for a draw whose answer is not durable yet. */
  async draw(store: Pick<DrawStore, 'draw'>, id: string): Promise<DrawDocument | undefined> {
    const record = await store.draw(id);
    const body = record && (JSON.parse(record.body) as DrawBody);
    if (!body?.committed) return undefined;
    const { committed } = body;
    const certificate = await this.find(committed.certificate_id);
    const [commit, end] = await Promise.all([
      this.#log.leafOf(drawLeafKey({ drawId: id, kind: 'commit' })),
      this.#log.leafOf(drawLeafKey({ drawId: id, kind: 'end' })),
    ]);
    const proofs = { commit: commit?.proof ?? null, end: end?.proof ?? null };
    return drawDocument({ ...body, committed }, typeof certificate === 'string' ? null : certificate, proofs);
  }

  /** Answers of a series of a public purpose, from a serial on; of its first series where none is named. */
  async draws(purpose: string, asked: string | undefined, from: number): Promise<DrawList> {
    const part = { series: asked, from, limit: DRAWS_LISTED_MAX + 1 };
    const { series, answers } = await this.#books.seriesPage(purpose, part);
    const id = asked ?? series.at(0)?.id ?? '';
    const draws = answers.slice(0, DRAWS_LISTED_MAX).map((each) => ({
      series: id,
      serial: each.serial,
      issued_at: new Date(each.issuedAtMs).toISOString(),
      certificate_id: each.isPublic ? this.#ids.textOf(each.sequence, each.index) : null,
    }));
    return { purpose, series, draws, next: answers.at(DRAWS_LISTED_MAX)?.serial ?? null };
  }

  /** What is public of a lot; undefined for one that is unknown, or that is not logged. */
  async publicLot(id: string): Promise<PublicLot | undefined> {
    const logged = await this.#log.leafOf(lotLeafKey(id));
    if (logged === undefined) return undefined;
    return {
      lot_id: id,
      ...logged,
      withdrawal: (await this.#log.leafOf(revocationKey(id))) ?? null,
      ...(await this.#log.withdrawals()),
    };
  }
}

/** How the bytes drawn are bound to a lot, which was logged before anything was drawn from it. */
async function lotProof(
  { leaf, logged, trees }: KeptLot,
  place: number,
  { mode, drawn }: DrawSource,
  issuedAtMs: number,
): Promise<LotProof> {
  const isBound = logged !== undefined || mode === 'csprng';
  assert(isBound, `lot ${leaf.lot_id} was logged before anything was drawn from it`);
  const proof = (await logged?.proofFor(issuedAtMs)) ?? null;
  const ranges = drawn.filter(({ lot }) => lot === place);
  return { leaf, proof, runs: runsOf(trees, mode, ranges) };
}

function hashesOf({ trees: { blocks, seeds } }: CertifiedLot): number {
  return blocks.nodes + seeds.nodes;
}

/**
 * What the fronts ask of certificates and their log. Lives in the ledger thread, so that none of it delays a
 * reply.
 */
export type CertificateService = ReturnType<typeof certificateService>;

/** `whyHeld`: why nothing is signed or delivered, and what the operator can do; null when all is well. */
export function certificateService(
  archive: CertificateArchive,
  log: CertificateLog,
  keys: KeysDocument,
  whyHeld: string | null = null,
) {
  return {
    held: async () => whyHeld,
    find: (id: string) => archive.find(id),
    /** Answers of a public purpose, for anybody. */
    draws: (purpose: string, series: string | undefined, from: number) =>
      archive.draws(purpose, series, from),
    /** What is public of a committed draw; undefined for an unknown one. */
    draw: async (_id: string): Promise<DrawDocument | undefined> => undefined,
    lot: (id: string) => archive.lot(id),
    /** Every public key that ever signed for this log. */
    keys: async () => keys,
    checkpoint: async () => log.checkpoint,
    /** The witnesses that the service asks, in the order of QRN_WITNESSES. */
    witnesses: async (): Promise<readonly WitnessState[]> => [],
    publicLeaves: (from: number, limit: number) => log.publicLeaves(from, limit),
    publicLot: (id: string) => archive.publicLot(id),
    tile: (level: number, index: number) => log.tile(level, index),
    /** The hashes from one size to another (RFC 9162 §2.1.4); undefined for sizes that the log does not have. */
    async consistencyProof(from: number, to: number) {
      if (!(from >= 1 && from <= to && to <= log.size)) return undefined;
      return log.consistencyProof(from, to);
    },
  };
}
