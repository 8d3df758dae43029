/** What a job or a device gave, shot by shot; packed as RawRead.bits. */
export interface Shots {
  readonly bits: Uint8Array<ArrayBuffer>;
  readonly shots: number;
}

/** Packs shots one by one: bit i of a shot becomes channel i. */
export class ShotPacker {
  readonly #bits: Uint8Array<ArrayBuffer>;
  readonly #width: number;
  #shots = 0;

  /** Room for at most `shotsMax` shots. */
  constructor(width: number, shotsMax: number) {
    this.#width = width;
    this.#bits = new Uint8Array(Math.ceil((width * shotsMax) / 8));
  }

  /** `isOne(channel)` for the channels 0 to width - 1. */
  add(isOne: (channel: number) => boolean): void {
    let at = this.#shots++ * this.#width;
    for (let channel = 0; channel < this.#width; channel++, at++) {
      if (isOne(channel)) this.#bits[at >>> 3] |= 0x80 >>> (at & 7);
    }
  }

  /** What was added. */
  take(): Shots {
    const size = Math.ceil((this.#shots * this.#width) / 8);
    return { bits: this.#bits.slice(0, size), shots: this.#shots };
  }
}
