import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RawRead } from '../../backend/backend.ts';
import { concatBytes, utf8Bytes, wipe } from '../../core/bytes.ts';
import { makeFolder } from '../../core/files.ts';
import { seal } from '../../crypto/sealed-box.ts';

/**
 * The raw shots of a lot, kept so that an operator may publish them when nothing of the lot is secret any more. They
 * determine the lot's seeds and every byte that pure mode delivered from it. So they are sealed with a public key whose
 * private key is not on this machine: neither the service nor a thief of its disk can open them.
 */

/** What one needs besides a lot's record to compute its figures again. */
export interface RawShots {
  readonly read: Pick<RawRead, 'bits' | 'width' | 'shots'>;
  /** What the source claimed. Conditioning assumed no more. */
  readonly claimedMinEntropyPerBit: number;
}

type RawHead = Pick<RawRead, 'width' | 'shots'> & Omit<RawShots, 'read'>;

/** Returns a line of JSON followed by the packed bits. The caller wipes it. */
export function encodeRawShots({ read, claimedMinEntropyPerBit }: RawShots): Uint8Array<ArrayBuffer> {
  const { bits, width, shots } = read;
  const head: RawHead = { width, shots, claimedMinEntropyPerBit };
  return concatBytes(utf8Bytes(`${JSON.stringify(head)}\n`), bits);
}

/** Decodes what encodeRawShots made. Throws RangeError for anything else. */
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

/** A folder of sealed raw shots, one file a lot, of at most `bytesMax` bytes. It deletes the oldest first. */
export class RawShotStore {
  readonly #folder: string;
  readonly #recipient: Uint8Array;
  readonly #bytesMax: number;

  /** `recipient` is the X25519 public key of the person who may open the files (`qrn evidence keygen`). */
  constructor(folder: string, recipient: Uint8Array, bytesMax: number) {
    this.#folder = folder;
    this.#recipient = recipient;
    this.#bytesMax = bytesMax;
    makeFolder(folder);
  }

  /** Seals and writes the shots of one lot, unless they alone exceed the bound. Throws errors of the file system. */
  keep(lotId: string, shots: RawShots): void {
    const encoded = encodeRawShots(shots);
    const box = seal(this.#recipient, encoded);
    wipe(encoded);
    if (!this.#makeRoom(box.length)) return;
    const path = rawShotsPath(this.#folder, lotId);
    writeFileSync(`${path}.new`, box, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }

  /** Deletes the oldest files, whose names sort by time. Returns false if the new file alone exceeds the bound. */
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

/** Returns the path of the sealed shots of a lot. */
export function rawShotsPath(folder: string, lotId: string): string {
  return join(folder, `${lotId}${SUFFIX}`);
}

/** Returns the sealed shots of a lot; undefined if they are not kept. */
export function sealedRawShots(folder: string, lotId: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return new Uint8Array(readFileSync(rawShotsPath(folder, lotId)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
