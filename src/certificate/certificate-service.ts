import type { CertificateArchive } from './archive.ts';
import type { CertificateDocument } from './certificate.ts';
import type { CertificateLog, KeysDocument } from './log.ts';

/** What the fronts ask of certificates and their log. Lives in the ledger thread, so that none of it delays a reply. */
export interface CertificateService {
  /** `malformed`: 400 `invalid_id`. `unknown`: 404 `cert_not_found`. */
  find(id: string): Promise<CertificateDocument | 'malformed' | 'unknown'>;
  /** Every public key that ever signed for this log. */
  keys(): Promise<KeysDocument>;
  /** The newest checkpoint: a signed note. */
  checkpoint(): Promise<string>;
  /** A tile of the newest checkpoint's tree (c2sp.org/tlog-tiles); undefined where there is none. */
  tile(level: number, index: number): Promise<Uint8Array | undefined>;
  /** The hashes from one size to another (RFC 9162 §2.1.4); undefined for sizes that the log does not have. */
  consistencyProof(from: number, to: number): Promise<Uint8Array[] | undefined>;
}

export function certificateService(
  archive: CertificateArchive,
  log: CertificateLog,
  keys: KeysDocument,
): CertificateService {
  return {
    find: (id) => archive.find(id),
    keys: async () => keys,
    checkpoint: async () => log.checkpoint,
    tile: (level, index) => log.tile(level, index),
    async consistencyProof(from, to) {
      if (!(from >= 1 && from <= to && to <= log.size)) return undefined;
      return log.consistencyProof(from, to);
    },
  };
}
