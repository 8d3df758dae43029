import { assert } from '../core/assert.ts';
import type { Books, EntropyStore } from '../ledger/ledger.ts';
import { readEntry } from '../ledger/segment.ts';
import { type CertificateDocument, certificateDocument, certificateOf } from './certificate.ts';
import type { CertificateIds } from './ids.ts';
import type { CertificateLog } from './log.ts';

/** Certificates by their id: made again from the records they were issued from. */
export class CertificateArchive {
  readonly #books: Pick<Books, 'segment'>;
  readonly #entropy: Pick<EntropyStore, 'lot' | 'revocations'>;
  readonly #ids: CertificateIds;
  readonly #log: Pick<CertificateLog, 'proofOf'>;

  constructor(options: {
    books: Pick<Books, 'segment'>;
    entropy: Pick<EntropyStore, 'lot' | 'revocations'>;
    ids: CertificateIds;
    log: Pick<CertificateLog, 'proofOf'>;
  }) {
    this.#books = options.books;
    this.#entropy = options.entropy;
    this.#ids = options.ids;
    this.#log = options.log;
  }

  /** `malformed`: 400 `invalid_id`. `unknown`: 404 `cert_not_found`. */
  async find(id: string): Promise<CertificateDocument | 'malformed' | 'unknown'> {
    const place = this.#ids.placeOf(id);
    if (typeof place === 'string') return place;
    const segment = await this.#books.segment(place.segment);
    const entry = segment && readEntry(segment.entries, place.index);
    if (segment === undefined || entry === undefined) return 'unknown';
    const source = segment.sources[entry.source];
    const lots = await Promise.all(
      source.lotIds.map(async (lotId) => {
        const lot = await this.#entropy.lot(lotId);
        assert(lot !== undefined, `lot ${lotId} was durable before anything was drawn from it`);
        return lot;
      }),
    );
    const certificate = certificateOf(id, entry, { source, lots, context: segment.context });
    const proof = await this.#log.proofOf(place.segment, place.index);
    return certificateDocument(certificate, proof ?? null, await this.#entropy.revocations());
  }
}
