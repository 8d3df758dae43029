import { assert } from '../core/assert.ts';
import type { EntropyStore } from '../ledger/ledger.ts';
import type { DrawnRange } from '../ledger/records.ts';
import type { LotProof } from './document.ts';
import type { CertificateLog } from './log.ts';
import { type CertifiedLot, certifiedLot, runsOf } from './lot-leaf.ts';
import { type LoggedLot, proofFor } from './lot-release.ts';

/** Lots kept. */
const LOTS_MAX = 256;
/** Hashes of their trees that are kept, 32 bytes each: 4 MiB. A lot of 4 Mbit has 300. */
const HASHES_MAX = 2 ** 17;

interface KeptLot extends CertifiedLot {
  /** Undefined until the log holds it: of a sample of the csprng stream alone. */
  readonly logged: LoggedLot | undefined;
}

/**
 * The lots that certificates name, and what leads from their leaves to the bytes drawn. It changes only when a lot
 * is released anew, so the lots that were asked for last are kept: whoever may look certificates up needs no key, and a look-up that decoded
 * the lot and hashed its trees again took 20 times as long.
 */
export class LotProofs {
  readonly #entropy: Pick<EntropyStore, 'lot'>;
  readonly #log: Pick<CertificateLog, 'lotOf'>;
  /** The one asked for longest ago first. */
  readonly #kept = new Map<string, KeptLot>();
  #hashes = 0;

  constructor(entropy: Pick<EntropyStore, 'lot'>, log: Pick<CertificateLog, 'lotOf'>) {
    this.#entropy = entropy;
    this.#log = log;
  }

  /** A lot that something was drawn from. */
  async lot(id: string): Promise<CertifiedLot> {
    return await this.#keptLot(id);
  }

  /** `ranges` are those of this lot. */
  async proofOf(
    id: string,
    mode: string,
    ranges: readonly DrawnRange[],
    issuedAtMs: number,
  ): Promise<LotProof> {
    const { leaf, logged, trees } = await this.#keptLot(id);
    assert(
      logged !== undefined || mode === 'csprng',
      `lot ${id} was logged before anything was drawn from it`,
    );
    const proof = logged === undefined ? null : proofFor(logged, issuedAtMs);
    return { leaf, proof, runs: runsOf(trees, mode, ranges) };
  }

  async #keptLot(id: string): Promise<KeptLot> {
    const kept = this.#kept.get(id) ?? (await this.#read(id));
    this.forget(id);
    if (kept.logged === undefined) return kept;
    this.#kept.set(id, kept);
    this.#hashes += hashesOf(kept);
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= LOTS_MAX && this.#hashes <= HASHES_MAX) break;
      this.forget(oldest);
    }
    return kept;
  }

  /** What was kept of a lot is read again. */
  forget(id: string): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    this.#hashes -= hashesOf(kept);
    this.#kept.delete(id);
  }

  async #read(id: string): Promise<KeptLot> {
    const lot = await this.#entropy.lot(id);
    assert(lot !== undefined, `lot ${id} was durable before anything was drawn from it`);
    return { ...certifiedLot(lot), logged: await this.#log.lotOf(id) };
  }
}

function hashesOf({ trees: { blocks, seeds } }: CertifiedLot): number {
  return blocks.nodes + seeds.nodes;
}
