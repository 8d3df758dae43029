import { assert } from '../core/assert.ts';
import { toHex, utf8Bytes } from '../core/bytes.ts';
import { base32Of, uuidText } from '../core/ids.ts';
import { decimalDigits, writeLatin1, writeNumber } from '../core/text-bytes.ts';
import { compileWasm, instantiate, type WasmMemory } from '../core/wasm.ts';
import {
  AT_CERTIFICATE_ID,
  AT_REQUEST_ID,
  AT_SALT,
  DATA_START,
  RECORD_BYTES_MAX,
  TAIL_BYTES_MAX,
} from './make.ts';

interface Global {
  readonly value: number;
}

/** See assembly/prints.ts. */
interface Kernel {
  readonly memory: WasmMemory;
  readonly layoutsMax: Global;
  readonly layoutBytes: Global;
  readonly layoutsAt: Global;
  readonly headBytesMax: Global;
  readonly recordBytesMax: Global;
  readonly recordHeadBytes: Global;
  readonly tailBytesMax: Global;
  readonly dataEnd: Global;
  readonly openingBytes: Global;
  readonly placesMax: Global;
  readonly placesAt: Global;
  readonly noMore: Global;
  readonly asHex: Global;
  readonly asBase32: Global;
  readonly asUuid: Global;
  print(layout: number, recordBytes: number): void;
  forget(layout: number, recordBytes: number): void;
}

const kernel = instantiate<Kernel>(compileWasm(new URL('./prints.wasm', import.meta.url)));
const memory = new Uint8Array(kernel.memory.buffer);
const LAYOUT_BYTES = kernel.layoutBytes.value;
const layoutsAt = kernel.layoutsAt.value;
const DATA_END = kernel.dataEnd.value;
const HEAD_BYTES_MAX = kernel.headBytesMax.value;
assert(kernel.recordHeadBytes.value === DATA_START, 'the kernel knows where in a record the data stand');
assert(kernel.recordBytesMax.value === RECORD_BYTES_MAX, 'the kernel has room for a record');
assert(kernel.tailBytesMax.value === TAIL_BYTES_MAX, 'the kernel has room for the text behind the data');
/**
 * The kernel's table of places, three words for each: the form, the offset of the bytes in the record, and the offset in the layout
 * at which they are printed. An additional place marks the end.
 */
const WORDS_OF_PLACE = 3;
const PLACES = kernel.placesMax.value + 1;
const places = new Uint32Array(
  kernel.memory.buffer,
  kernel.placesAt.value,
  kernel.layoutsMax.value * PLACES * WORDS_OF_PLACE,
);

/** Bytes of `{"data":`, with which every body begins. */
export const OPENING_BYTES = kernel.openingBytes.value;

/** How bytes are printed: the size in bytes, the width in characters, and the same text as the kernel prints. */
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

/** Bytes of the record. Bytes that are printed as hex are secret: `forget` erases their digits. */
export interface BytesSlot {
  readonly form: keyof typeof FORMS;
  readonly bytes: keyof typeof PLACE_IN_RECORD;
}

/** A text in Latin-1 that seldom changes and always has the same width. It stays in the layout until it changes. */
export interface TextSlot<A> {
  readonly width: number;
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

export type Slot<A, B> = NumberSlot<A, B> | BytesSlot | TextSlot<A>;
export type Part<A, B> = string | Slot<A, B>;

const DIGITS_MAX = 16;
/** Bound on the layouts of a template. A few combinations of widths serve nearly all replies. */
const LAYOUTS_MAX = 64;

/** A reply laid out for one combination of the widths of its numbers. */
interface Layout {
  /** The widths of its numbers. */
  readonly digits: readonly number[];
  /** Head and tail with empty slots. */
  readonly headText: Uint8Array;
  readonly tailText: Uint8Array;
  /** The offset of each slot in the layout. */
  readonly at: readonly number[];
  /** Its index in the kernel's memory. Valid only while `owners[index]` is this layout. */
  index: number;
  /** The head in the kernel's memory. */
  head: Uint8Array<ArrayBuffer>;
  /** The offsets in the kernel's memory at which the data and the body end. */
  dataEnd: number;
  bodyEnd: number;
  /** The numbers that it shows now. */
  readonly values: number[];
  /** The text that it shows now in the slot that seldom changes. */
  seldom: string | undefined;
}

/** The layout at each index of the kernel's memory. A new layout replaces the one that was entered longest ago. */
const owners: (Layout | undefined)[] = Array.from({ length: kernel.layoutsMax.value }, () => undefined);
let nextIndex = 0;

/**
 * Prints replies whose fixed parts are made once: the head, and the tail of the body that follows the data. There is a layout
 * for each combination of the widths of the numbers. A reply writes only what has changed over the layout, numbers here and
 * bytes in WebAssembly. So it needs neither a string nor an object, and no number is padded. The slots read an `A` and a `B`.
 */
export class ReplyTemplate<A, B> {
  readonly #head: Section<A, B>;
  readonly #tail: Section<A, B>;
  /** The numbers of all slots, each once even if several slots print it. */
  readonly #numbers: readonly ((a: A, b: B) => number)[];
  /** For each number the indexes of its slots, among the slots of head and tail. */
  readonly #placesOf: readonly (readonly number[])[];
  readonly #slots: readonly Slot<A, B>[];
  readonly #seldom: { readonly slot: TextSlot<A>; readonly place: number } | undefined;
  /** The numbers of the reply that is printed now. */
  readonly #values: number[];
  readonly #layouts = new Map<number, Layout>();
  #layout: Layout;
  #recordBytes = 0;

  /** `head` is the head as head.ts makes it; `tail` is the part of the body that follows the data. */
  constructor(head: readonly Part<A, B>[], tail: readonly Part<A, B>[]) {
    this.#head = sectionOf(head);
    this.#tail = sectionOf(tail);
    const slots = [...this.#head.slots, ...this.#tail.slots];
    this.#slots = slots;
    this.#numbers = [...new Set(slots.flatMap((slot) => ('number' in slot ? [slot.number] : [])))];
    assert(this.#numbers.length <= 12, 'the widths of twelve numbers make a key');
    this.#values = this.#numbers.map(() => 0);
    this.#placesOf = this.#numbers.map((number) =>
      slots.flatMap((slot, place) => ('number' in slot && slot.number === number ? [place] : [])),
    );
    const printed = slots.filter((slot) => 'bytes' in slot);
    assert(printed.length < PLACES, 'the kernel has room for the places of a template');
    const seldom = slots.flatMap((slot, place) => ('text' in slot ? [{ slot, place }] : []));
    assert(seldom.length <= 1, 'one slot of a template seldom changes');
    this.#seldom = seldom[0];
    this.#layout = this.#layOut(this.#numbers.map(() => DIGITS_MAX));
    const { headText, tailText } = this.#layout;
    assert(headText.length <= HEAD_BYTES_MAX, 'the longest head of a reply fits the room kept for it');
    // a longer tail would overwrite other answers when it is written behind the data of a long answer (Answer.print)
    assert(tailText.length <= TAIL_BYTES_MAX, 'the longest text behind the data fits the room kept for it');
  }

  /**
   * Prints the reply of the record at [from, to) of `bytes`, with or without its data. `head` and `body` are valid, and the secrets
   * stay in memory, until `forget` is called.
   */
  print(a: A, b: B, bytes: Uint8Array, from: number, to: number): void {
    assert(this.#recordBytes === 0, 'a reply is forgotten before the next is printed');
    assert(to - from >= DATA_START && to - from <= RECORD_BYTES_MAX, 'a record fits the room kept for it');
    const layout = this.#layoutOf(a, b);
    this.#recordBytes = to - from;
    memory.set(bytes.subarray(from, to), layout.dataEnd - this.#recordBytes);
    kernel.print(layout.index, this.#recordBytes);
  }

  /** The head of the reply that was printed. */
  get head(): Uint8Array<ArrayBuffer> {
    return this.#layout.head;
  }

  /** The body of the reply that was printed. */
  get body(): Uint8Array<ArrayBuffer> {
    const { dataEnd, bodyEnd } = this.#layout;
    return memory.subarray(dataEnd - this.#recordBytes + DATA_START - OPENING_BYTES, bodyEnd);
  }

  /** Erases the record, with its data, and the digits of its salt. */
  forget(): void {
    kernel.forget(this.#layout.index, this.#recordBytes);
    this.#recordBytes = 0;
  }

  /** Returns a layout that shows the numbers of this reply: mostly the layout of the reply before, with a few numbers rewritten. */
  #layoutOf(a: A, b: B): Layout {
    const values = this.#values;
    const numbers = this.#numbers;
    let layout = this.#layout;
    let isAsWide = true;
    for (let i = 0; i < numbers.length; i++) {
      const value = numbers[i](a, b);
      values[i] = value;
      if (value !== layout.values[i] && decimalDigits(value) !== layout.digits[i]) isAsWide = false;
    }
    if (!isAsWide) this.#layout = layout = this.#keptLayout();
    if (owners[layout.index] !== layout) this.#enter(layout);
    const textAt = layoutsAt + layout.index * LAYOUT_BYTES;
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (value === layout.values[i]) continue;
      for (const place of this.#placesOf[i]) writeNumber(value, memory, textAt + layout.at[place]);
      layout.values[i] = value;
    }
    const seldom = this.#seldom;
    if (seldom === undefined) return layout;
    const text = seldom.slot.text(a);
    if (text === layout.seldom) return layout;
    assert(text.length === seldom.slot.width, 'a text that seldom changes is always as wide');
    writeLatin1(text, memory, textAt + layout.at[seldom.place]);
    layout.seldom = text;
    return layout;
  }

  /** Puts the layout into the kernel's memory. */
  #enter(layout: Layout): void {
    const index = nextIndex;
    nextIndex = (nextIndex + 1) % owners.length;
    owners[index] = layout;
    const textAt = layoutsAt + index * LAYOUT_BYTES;
    const { headText, tailText, at } = layout;
    memory.set(headText, textAt);
    memory.set(tailText, textAt + DATA_END);
    const printed = this.#slots.flatMap((slot, place) =>
      'bytes' in slot ? [FORMS[slot.form].code, PLACE_IN_RECORD[slot.bytes], at[place]] : [],
    );
    places.set([...printed, kernel.noMore.value], index * PLACES * WORDS_OF_PLACE);
    layout.index = index;
    layout.head = memory.subarray(textAt, textAt + headText.length);
    layout.dataEnd = textAt + DATA_END;
    layout.bodyEnd = textAt + DATA_END + tailText.length;
    layout.values.fill(Number.NaN);
    layout.seldom = undefined;
  }

  #keptLayout(): Layout {
    const digits = this.#values.map(decimalDigits);
    const key = digits.reduce((sum, each) => sum * (DIGITS_MAX + 1) + each, 0);
    let layout = this.#layouts.get(key);
    if (layout !== undefined) return layout;
    if (this.#layouts.size >= LAYOUTS_MAX) this.#layouts.clear();
    layout = this.#layOut(digits);
    this.#layouts.set(key, layout);
    return layout;
  }

  #layOut(digits: readonly number[]): Layout {
    const at: number[] = [];
    const widthOf = (slot: Slot<A, B>) => {
      if ('number' in slot) return digits[this.#numbers.indexOf(slot.number)];
      return 'bytes' in slot ? FORMS[slot.form].width : slot.width;
    };
    const textOf = ({ texts, slots }: Section<A, B>, start: number) => {
      const widths = slots.map(widthOf);
      const size = [...widths, ...texts.map((text) => text.length)].reduce((sum, each) => sum + each, 0);
      const bytes = new Uint8Array(size);
      let end = 0;
      texts.forEach((text, i) => {
        bytes.set(text, end);
        end += text.length;
        if (i === widths.length) return;
        at.push(start + end);
        end += widths[i];
      });
      return bytes;
    };
    const headText = textOf(this.#head, 0);
    const tailText = textOf(this.#tail, DATA_END);
    const values = digits.map(() => Number.NaN);
    return {
      digits,
      headText,
      tailText,
      at,
      index: 0,
      head: NO_BYTES,
      dataEnd: 0,
      bodyEnd: 0,
      values,
      seldom: undefined,
    };
  }
}

const NO_BYTES = new Uint8Array(0);

/** The slots of a head or a tail, and the fixed texts before each slot and after the last. */
interface Section<A, B> {
  readonly texts: readonly Uint8Array[];
  readonly slots: readonly Slot<A, B>[];
}

function sectionOf<A, B>(parts: readonly Part<A, B>[]): Section<A, B> {
  const texts = [''];
  const slots: Slot<A, B>[] = [];
  for (const part of parts) {
    if (typeof part === 'string') texts[slots.length] += part;
    else {
      slots.push(part);
      texts.push('');
    }
  }
  return { texts: texts.map(utf8Bytes), slots };
}

/**
 * Returns true when these bytes are anywhere in the memory that replies are printed in.
 * @internal for tests: nothing else can see the memory
 */
export function isInMemory(bytes: Uint8Array): boolean {
  return Buffer.from(memory.buffer).includes(Buffer.from(bytes));
}
