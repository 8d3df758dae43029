import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RawRead } from '../../backend/backend.ts';
import { concatBytes, utf8Bytes, wipe } from '../../core/bytes.ts';
import { makeFolder } from '../../core/files.ts';
import { seal } from '../../crypto/sealed-box.ts';

/**
 * The raw shots of a lot, kept so that an operator may publish them when nothing of the lot is secret any
 * more. They determine its seeds and every byte that pure mode delivered of it, so they are kept sealed for a
 * key that is not on this machine: neither the service nor a thief of its disk can open them.
 */

/** What must be known of a lot, beside its record, to compute its figures again. */
export interface RawShots {
  readonly read: Pick<RawRead, 'bits' | 'width' | 'shots'>;
  /** What the source claimed: conditioning takes no more. */
  readonly claimedMinEntropyPerBit: number;
}

type RawHead = Pick<RawRead, 'width' | 'shots'> & Omit<RawShots, 'read'>;

/** A line of JSON, and behind it the packed bits. The caller wipes them. */
export function encodeRawShots({ read, claimedMinEntropyPerBit }: RawShots): Uint8Array<ArrayBuffer> {
  const { bits, width, shots } = read;
  const head: RawHead = { width, shots, claimedMinEntropyPerBit };
  return concatBytes(utf8Bytes(`${JSON.stringify(head)}\n`), bits);
}

/** Throws RangeError for anything that encodeRawShots did not make. */
export function decodeRawShots(bytes: Uint8Array): RawShots {
  const end = bytes.indexOf(0x0a);
  const head = parsedHead(Buffer.from(bytes.subarray(0, Math.max(0, end))).toString('utf8'));
  if (head === undefined) throw new RangeError('not the raw shots of a lot: the head is wrong');
  const { width, shots, claimedMinEntropyPerBit } = head;
  const bits = bytes.slice(end + 1);
  if (bits.length !== Math.ceil((width * shots) / 8)) {
    throw new RangeError(`not the raw shots of a lot: ${shots} shots of ${width} channels take other bytes`);
  }
  return { read: { bits, width, shots }, claimedMinEntropyPerBit };
}

function parsedHead(text: string): RawHead | undefined {
  try {
    return JSON.parse(text) as RawHead;
  } catch {
    return undefined;
  }
}

const SUFFIX = '.sealed';

/** A folder of sealed raw shots, one file a lot, in at most `bytesMax` bytes: the oldest go first. */
export class RawShotStore {
  readonly #folder: string;
  readonly #recipient: Uint8Array;
  readonly #bytesMax: number;

  /** `recipient` is the X25519 public key of who may open them (`qrn evidence keygen`). */
  constructor(folder: string, recipient: Uint8Array, bytesMax: number) {
    this.#folder = folder;
    this.#recipient = recipient;
    this.#bytesMax = bytesMax;
    makeFolder(folder);
  }

  /** Seals and writes the shots of one lot. Throws what the file system says. */
  keep(lotId: string, shots: RawShots): void {
    const encoded = encodeRawShots(shots);
    const box = seal(this.#recipient, encoded);
    wipe(encoded);
    if (!this.#makeRoom(box.length)) return;
    const path = rawShotsPath(this.#folder, lotId);
    writeFileSync(`${path}.new`, box, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }

  /** False when the file alone is above the bound. Ids of lots sort by time. */
  #makeRoom(size: number): boolean {
    if (size > this.#bytesMax) return false;
    const names = readdirSync(this.#folder).sort();
    const kept = names.map((name) => ({ name, size: statSync(join(this.#folder, name)).size }));
    let total = kept.reduce((sum, each) => sum + each.size, size);
    for (const { name, size: freed } of kept) {
      if (total <= this.#bytesMax) break;
      rmSync(join(this.#folder, name), { force: true });
      total -= freed;
    }
    return true;
  }
}

/** Where the sealed shots of a lot lie. */
export function rawShotsPath(folder: string, lotId: string): string {
  return join(folder, `${lotId}${SUFFIX}`);
}

/** The sealed shots of a lot; undefined when they are not kept. */
export function sealedRawShots(folder: string, lotId: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return new Uint8Array(readFileSync(rawShotsPath(folder, lotId)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
