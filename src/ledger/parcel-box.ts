import { timingSafeEqual } from 'node:crypto';
import { secretCopy, toHex, utf8Bytes, wipe } from '../core/bytes.ts';
import { deriveKey } from '../crypto/digest.ts';
import { type BoxPurpose, open, seal } from '../crypto/sealed-box.ts';
import type { BlockKind } from './records.ts';

/** One life of a node: its number, and which start of it. */
interface ParcelNode {
  readonly number: number;
  readonly epoch: number;
}

/** What a node asks for: one parcel, sealed to a key that is used once. */
export interface ParcelRequest {
  /** X25519, 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly kind: BlockKind;
  readonly recipient: ParcelNode;
}

/** Blocks of one lot that follow each other: `first` is the place of the first one among those of its kind in the lot. */
export interface BlockRun {
  readonly lotId: string;
  readonly first: number;
  readonly count: number;
}

/** What stands beside the bytes of a parcel. They open only for a recipient who names the same. */
export interface ParcelLabel extends ParcelRequest {
  readonly sender: ParcelNode;
  readonly runs: readonly BlockRun[];
}

/**
 * The seal of parcels. It needs the recipient's one-time key and the secret that all nodes share: whoever reads or writes
 * the database, without a node's secrets, learns no byte, and can neither make a parcel nor ask for one.
 */
export class ParcelSeal {
  readonly #secret: Uint8Array<ArrayBuffer>;

  /** `shared`: a secret that all nodes have; it is copied. */
  constructor(shared: Uint8Array) {
    this.#secret = secretCopy(shared);
  }

  /** 32 bytes that show that a node wrote the request. */
  proof(request: ParcelRequest): Uint8Array<ArrayBuffer> {
    return deriveKey('parcelRequest', [this.#secret, contextOf(request)]);
  }

  isProof(request: ParcelRequest, proof: Uint8Array): boolean {
    const own = this.proof(request);
    return proof.length === own.length && timingSafeEqual(own, proof);
  }

  seal(label: ParcelLabel, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    return seal(label.publicKey, bytes, this.#purposeOf(label));
  }

  /** Undefined when the parcel is not what its label says, or is for another key. */
  open(label: ParcelLabel, privateKey: Uint8Array, box: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
    return open(privateKey, box, this.#purposeOf(label));
  }

  erase(): void {
    wipe(this.#secret);
  }

  #purposeOf(label: ParcelLabel): BoxPurpose {
    return { label: 'parcel', bound: [this.#secret, contextOf(label)] };
  }
}

/** JSON of numbers and strings in a fixed order: no two labels have the same. */
function contextOf({ publicKey, kind, recipient, ...label }: ParcelRequest | ParcelLabel): Uint8Array {
  const asked = [toHex(publicKey), kind, recipient.number, recipient.epoch];
  if (!('sender' in label)) return utf8Bytes(JSON.stringify(asked));
  const { sender, runs } = label;
  const sent = [sender.number, sender.epoch, runs.map(({ lotId, first, count }) => [lotId, first, count])];
  return utf8Bytes(JSON.stringify([...asked, ...sent]));
}
