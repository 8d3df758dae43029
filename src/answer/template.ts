import { assert } from '../core/assert.ts';
import { toHex, utf8Bytes } from '../core/bytes.ts';
import { base32Of, uuidText } from '../core/ids.ts';
import { writeLatin1, writeNumber } from '../core/text-bytes.ts';
import { compileWasm, instantiate, type WasmGlobal, type WasmMemory } from '../core/wasm.ts';
import {
  AT_CERTIFICATE_ID,
  AT_REQUEST_ID,
  AT_SALT,
  DATA_START,
  RECORD_BYTES_MAX,
  TAIL_BYTES_MAX,
} from './make.ts';

/** See assembly/prints.ts. */
interface Kernel {
  readonly memory: WasmMemory;
  readonly headBytesMax: WasmGlobal;
  readonly recordBytesMax: WasmGlobal;
  readonly recordHeadBytes: WasmGlobal;
  readonly tailBytesMax: WasmGlobal;
  readonly openingBytes: WasmGlobal;
  readonly headAt: WasmGlobal;
  readonly dataEndAt: WasmGlobal;
  readonly slotsMax: WasmGlobal;
  readonly slotsAt: WasmGlobal;
  readonly slotBytes: WasmGlobal;
  readonly cellsMax: WasmGlobal;
  readonly cellBytes: WasmGlobal;
  readonly programBytesMax: WasmGlobal;
  readonly asEnd: WasmGlobal;
  readonly asText: WasmGlobal;
  readonly asCell: WasmGlobal;
  readonly asHex: WasmGlobal;
  readonly asBase32: WasmGlobal;
  readonly asUuid: WasmGlobal;
  readonly asTail: WasmGlobal;
  print(slot: number, recordBytes: number): number;
  forget(recordBytes: number, headBytes: number, tailBytes: number): void;
}

const kernel = instantiate<Kernel>(compileWasm(new URL('./prints.wasm', import.meta.url)));
const memory = new Uint8Array(kernel.memory.buffer);
const HEAD_AT = kernel.headAt.value;
const HEAD_BYTES_MAX = kernel.headBytesMax.value;
const DATA_END_AT = kernel.dataEndAt.value;
const SLOTS_AT = kernel.slotsAt.value;
const SLOT_BYTES = kernel.slotBytes.value;
const CELL_BYTES = kernel.cellBytes.value;
const PROGRAM_AT = kernel.cellsMax.value * CELL_BYTES;
assert(kernel.recordHeadBytes.value === DATA_START, 'the kernel knows where in a record the data stand');
assert(kernel.recordBytesMax.value === RECORD_BYTES_MAX, 'the kernel has room for a record');
assert(kernel.tailBytesMax.value === TAIL_BYTES_MAX, 'the kernel has room for the text behind the data');

/** Bytes of `{"data":`, with which every body begins. */
export const OPENING_BYTES = kernel.openingBytes.value;

/** How bytes are printed: the kernel's code, the size in bytes, the width in characters, and the same text as the kernel prints. */
const FORMS = {
  hex: { code: kernel.asHex.value, size: 32, width: 64, text: toHex },
  base32: { code: kernel.asBase32.value, size: 16, width: 26, text: base32Of },
  uuid: { code: kernel.asUuid.value, size: 16, width: 36, text: uuidText },
} as const;

const PLACE_IN_RECORD = {
  requestId: AT_REQUEST_ID,
  certificateId: AT_CERTIFICATE_ID,
  salt: AT_SALT,
} as const;

/** A whole number from 0 to 2^53 - 1, printed in decimal. */
interface NumberSlot<A, B> {
  readonly number: (a: A, b: B) => number;
}

/** Bytes of the record. */
export interface BytesSlot {
  readonly form: keyof typeof FORMS;
  readonly bytes: keyof typeof PLACE_IN_RECORD;
}

/** A text in Latin-1 of at most 28 characters that seldom changes. */
export interface TextSlot<A> {
  readonly text: (a: A) => string;
}

/** Returns the bytes of a slot as text. `start` is where the record starts in `bytes`. */
export function textIn(
  { bytes, start }: { readonly bytes: Uint8Array; readonly start: number },
  { form, bytes: part }: BytesSlot,
): string {
  const at = start + PLACE_IN_RECORD[part];
  return FORMS[form].text(bytes.subarray(at, at + FORMS[form].size));
}

type Slot<A, B> = NumberSlot<A, B> | BytesSlot | TextSlot<A>;
export type Part<A, B> = string | Slot<A, B>;

const DIGITS_MAX = 16;
const TEXT_MAX = 28;

/** The template in each slot of the kernel's memory. A new one replaces the one that was entered longest ago. */
const owners: unknown[] = Array.from({ length: kernel.slotsMax.value }, () => undefined);
let nextSlot = 0;
/** A view of the head of each size that was printed. */
const heads: (Uint8Array<ArrayBuffer> | undefined)[] = Array.from({ length: HEAD_BYTES_MAX + 1 });

/**
 * Prints replies whose fixed parts are made once: the head, and the tail of the body that follows the data. A WebAssembly kernel
 * copies the fixed texts and the record of the answer, and writes ids and salt between them. Numbers are cells of text, which this
 * class rewrites when they change. So a reply needs neither a string nor an object. The slots read an `A` and a `B`.
 */
export class ReplyTemplate<A, B> {
  /** The numbers of all slots, each once even if several slots print it; and the texts. Each has a cell, in this order. */
  readonly #numbers: readonly ((a: A, b: B) => number)[];
  readonly #texts: readonly ((a: A) => string)[];
  /** What the cells show now. */
  readonly #shownNumbers: number[];
  readonly #shownTexts: (string | undefined)[];
  readonly #program: Uint8Array;
  #slot = 0;
  #recordBytes = 0;
  #headBytes = 0;
  #tailBytes = 0;

  /** `head` is the head as head.ts makes it; `tail` is the part of the body that follows the data. */
  constructor(head: readonly Part<A, B>[], tail: readonly Part<A, B>[]) {
    const parts = [...head, ...tail].filter((part) => typeof part !== 'string');
    this.#numbers = [...new Set(parts.flatMap((part) => ('number' in part ? [part.number] : [])))];
    this.#texts = [...new Set(parts.flatMap((part) => ('text' in part ? [part.text] : [])))];
    this.#shownNumbers = this.#numbers.map(() => Number.NaN);
    this.#shownTexts = this.#texts.map(() => undefined);
    assert(
      this.#numbers.length + this.#texts.length <= kernel.cellsMax.value,
      'a slot has room for the cells',
    );
    assert(sizeMaxOf(head) <= HEAD_BYTES_MAX, 'the longest head of a reply fits the room kept for it');
    // a longer tail would overwrite other answers when it is written behind the data of a long answer (Answer.print)
    assert(sizeMaxOf(tail) <= TAIL_BYTES_MAX, 'the longest text behind the data fits the room kept for it');
    const { asTail, asEnd, programBytesMax } = kernel;
    this.#program = Buffer.concat([
      ...this.#instructionsOf(head),
      instruction(asTail.value, 0),
      ...this.#instructionsOf(tail),
      instruction(asEnd.value, 0),
    ]);
    assert(this.#program.length <= programBytesMax.value, 'a slot has room for the program');
  }

  #instructionsOf(parts: readonly Part<A, B>[]): Uint8Array[] {
    const { asText, asCell } = kernel;
    const instructions: Uint8Array[] = [];
    let text = '';
    const endText = () => {
      const bytes = utf8Bytes(text);
      if (bytes.length > 0) instructions.push(instruction(asText.value, bytes.length), bytes);
      text = '';
    };
    for (const part of parts) {
      if (typeof part === 'string') text += part;
      else {
        endText();
        if ('bytes' in part)
          instructions.push(instruction(FORMS[part.form].code, PLACE_IN_RECORD[part.bytes]));
        else if ('number' in part)
          instructions.push(instruction(asCell.value, this.#numbers.indexOf(part.number)));
        else
          instructions.push(instruction(asCell.value, this.#numbers.length + this.#texts.indexOf(part.text)));
      }
    }
    endText();
    return instructions;
  }

  /**
   * Prints the reply of the record at [from, to) of `bytes`, with or without its data. `head` and `body` are valid, and the secrets
   * stay in memory, until `forget` is called.
   */
  print(a: A, b: B, bytes: Uint8Array, from: number, to: number): void {
    const recordBytes = to - from;
    assert(this.#recordBytes === 0, 'a reply is forgotten before the next is printed');
    assert(
      recordBytes >= DATA_START && recordBytes <= RECORD_BYTES_MAX,
      'a record fits the room kept for it',
    );
    if (owners[this.#slot] !== this) this.#enter();
    this.#fillCells(a, b);
    memory.set(bytes.subarray(from, to), DATA_END_AT - recordBytes);
    const sizes = kernel.print(this.#slot, recordBytes);
    this.#recordBytes = recordBytes;
    this.#headBytes = sizes & 0xffff;
    this.#tailBytes = sizes >>> 16;
  }

  /** The head of the reply that was printed. */
  get head(): Uint8Array<ArrayBuffer> {
    return (heads[this.#headBytes] ??= memory.subarray(HEAD_AT, HEAD_AT + this.#headBytes));
  }

  /** The body of the reply that was printed. */
  get body(): Uint8Array<ArrayBuffer> {
    const dataAt = DATA_END_AT - this.#recordBytes + DATA_START;
    return memory.subarray(dataAt - OPENING_BYTES, DATA_END_AT + this.#tailBytes);
  }

  /** Erases the reply. */
  forget(): void {
    kernel.forget(this.#recordBytes, this.#headBytes, this.#tailBytes);
    this.#recordBytes = 0;
  }

  /** Writes the numbers and texts of this reply, where they differ from those of the reply before. */
  #fillCells(a: A, b: B): void {
    let at = SLOTS_AT + this.#slot * SLOT_BYTES;
    const numbers = this.#numbers;
    const shown = this.#shownNumbers;
    for (let i = 0; i < numbers.length; i++, at += CELL_BYTES) {
      const number = numbers[i](a, b);
      if (number === shown[i]) continue;
      memory[at + CELL_BYTES - 1] = writeNumber(number, memory, at) - at;
      shown[i] = number;
    }
    for (let i = 0; i < this.#texts.length; i++, at += CELL_BYTES) {
      const text = this.#texts[i](a);
      if (text === this.#shownTexts[i]) continue;
      assert(text.length <= TEXT_MAX, 'a text fits its cell');
      memory[at + CELL_BYTES - 1] = writeLatin1(text, memory, at) - at;
      this.#shownTexts[i] = text;
    }
  }

  /** Puts the program into the kernel's memory. */
  #enter(): void {
    this.#slot = nextSlot;
    owners[nextSlot] = this;
    nextSlot = (nextSlot + 1) % owners.length;
    memory.set(this.#program, SLOTS_AT + this.#slot * SLOT_BYTES + PROGRAM_AT);
    this.#shownNumbers.fill(Number.NaN);
    this.#shownTexts.fill(undefined);
  }
}

function instruction(code: number, operand: number): Uint8Array {
  return new Uint8Array(Uint16Array.of(code, operand).buffer);
}

/** Returns an upper bound on the bytes that the parts print. */
function sizeMaxOf<A, B>(parts: readonly Part<A, B>[]): number {
  const sizes = parts.map((part) => {
    if (typeof part === 'string') return utf8Bytes(part).length;
    return 'bytes' in part ? FORMS[part.form].width : 'number' in part ? DIGITS_MAX : TEXT_MAX;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * Returns true when these bytes are anywhere in the memory that replies are printed in.
 * @internal for tests: nothing else can see the memory
 */
export function isInMemory(bytes: Uint8Array): boolean {
  return Buffer.from(memory.buffer).includes(Buffer.from(bytes));
}
