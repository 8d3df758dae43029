import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChshWitness, RawRead, Witness, XBasisWitness } from '../../backend/backend.ts';
import { concatBytes, utf8Bytes, wipe } from '../../core/bytes.ts';
import { seal } from '../../crypto/sealed-box.ts';

/**
 * The raw shots of a lot, kept so that an operator may publish them when nothing of the lot is secret any
 * more. They determine its seeds and every byte that pure mode delivered of it, so they are kept sealed for a
 * key that is not on this machine: neither the service nor a thief of its disk can open them.
 */

/** What must be known of a lot, beside its record, to compute its figures again. */
export interface RawShots {
  readonly read: Pick<RawRead, 'bits' | 'width' | 'shots' | 'witness'>;
  /** What the source claimed: conditioning takes no more. */
  readonly claimedMinEntropyPerBit: number;
}

type Head = Omit<XBasisWitness, 'bits'> | Omit<ChshWitness, 'settings' | 'clusterShots'> | null;

interface RawHead {
  readonly width: number;
  readonly shots: number;
  readonly claimedMinEntropyPerBit: number;
  readonly witness: Head;
  /** Lengths of the parts behind the head, in bytes. */
  readonly parts: readonly number[];
}

/** A line of JSON, and behind it the packed bits and those of the witness. The caller wipes them. */
export function encodeRawShots({ read, claimedMinEntropyPerBit }: RawShots): Uint8Array<ArrayBuffer> {
  const { bits, width, shots, witness } = read;
  const parts = [bits, ...partsOf(witness)];
  const head: RawHead = {
    width,
    shots,
    claimedMinEntropyPerBit,
    witness: headOf(witness),
    parts: parts.map(({ length }) => length),
  };
  return concatBytes(utf8Bytes(`${JSON.stringify(head)}\n`), ...parts);
}

/** Throws RangeError for anything that encodeRawShots did not make. */
export function decodeRawShots(bytes: Uint8Array): RawShots {
  const end = bytes.indexOf(0x0a);
  const head = parsedHead(Buffer.from(bytes.subarray(0, Math.max(0, end))).toString('utf8'));
  const sizes = head?.parts;
  const whole = Array.isArray(sizes) && sizes.every((size) => Number.isSafeInteger(size) && size >= 0);
  if (head === undefined || !whole || sizes.reduce((sum, size) => sum + size, end + 1) !== bytes.length) {
    throw new RangeError('not the raw shots of a lot: the head or its lengths are wrong');
  }
  let at = end + 1;
  const [bits, ...rest] = sizes.map((size) => bytes.slice(at, (at += size)));
  const { width, shots, claimedMinEntropyPerBit } = head;
  if (bits === undefined || bits.length !== Math.ceil((width * shots) / 8)) {
    throw new RangeError(`not the raw shots of a lot: ${shots} shots of ${width} channels take other bytes`);
  }
  const witness = witnessOf(head.witness, rest);
  return { read: { bits, width, shots, ...(witness && { witness }) }, claimedMinEntropyPerBit };
}

function parsedHead(text: string): RawHead | undefined {
  try {
    return JSON.parse(text) as RawHead;
  } catch {
    return undefined;
  }
}

/** What a source delivers behind the raw bits: test shots, or settings. */
export function deliveredBehind(witness: Witness | undefined): Uint8Array[] {
  if (witness === undefined) return [];
  return [witness.kind === 'x-basis' ? witness.bits : witness.settings];
}

function partsOf(witness: Witness | undefined): Uint8Array[] {
  const delivered = deliveredBehind(witness);
  if (witness?.kind !== 'chsh') return delivered;
  const { buffer, byteOffset, byteLength } = witness.clusterShots;
  return [...delivered, new Uint8Array(buffer, byteOffset, byteLength)];
}

function headOf(witness: Witness | undefined): Head {
  if (witness === undefined) return null;
  if (witness.kind === 'x-basis') {
    const { bits: _, ...head } = witness;
    return head;
  }
  const { settings: _, clusterShots: __, ...head } = witness;
  return head;
}

function witnessOf(head: Head, parts: readonly Uint8Array<ArrayBuffer>[]): Witness | undefined {
  if (head === null) return undefined;
  if (head.kind === 'x-basis') return { ...head, bits: parts[0] };
  return { ...head, settings: parts[0], clusterShots: new Uint32Array(parts[1].buffer) };
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
    mkdirSync(folder, { recursive: true, mode: 0o700 });
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
