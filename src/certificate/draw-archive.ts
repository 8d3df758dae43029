import type { DrawStore } from '../ledger/ledger.ts';
import type { CertificateArchive } from './archive.ts';
import { type DrawBody, type DrawDocument, drawDocument } from './draw.ts';
import type { CertificateLog } from './log.ts';

/** Committed draws by their id, with all that their check needs. */
export class DrawArchive {
  readonly #draws: Pick<DrawStore, 'draw'>;
  readonly #certificates: Pick<CertificateArchive, 'find'>;
  readonly #log: Pick<CertificateLog, 'drawLeafOf'>;

  constructor(options: {
    draws: Pick<DrawStore, 'draw'>;
    certificates: Pick<CertificateArchive, 'find'>;
    log: Pick<CertificateLog, 'drawLeafOf'>;
  }) {
    this.#draws = options.draws;
    this.#certificates = options.certificates;
    this.#log = options.log;
  }

  /** Undefined for an id that is unknown, and for a draw whose answer is not durable yet. */
  async draw(id: string): Promise<DrawDocument | undefined> {
    const record = await this.#draws.draw(id);
    const body = record && (JSON.parse(record.body) as DrawBody);
    if (!body?.committed) return undefined;
    const { committed } = body;
    const certificate = await this.#certificates.find(committed.certificate_id);
    const [commit, end] = await Promise.all([
      this.#log.drawLeafOf({ drawId: id, kind: 'commit' }),
      this.#log.drawLeafOf({ drawId: id, kind: 'end' }),
    ]);
    const proofs = { commit: commit?.proof ?? null, end: end?.proof ?? null };
    return drawDocument({ ...body, committed }, typeof certificate === 'string' ? null : certificate, proofs);
  }
}
