import { assert } from './assert.ts';
import { putBytes, utf8Bytes } from './bytes.ts';
import { decimalDigits, writeLatin1, writeNumber } from './text-bytes.ts';
import { compileWasm, instantiate, type WasmMemory } from './wasm.ts';

interface Global {
  readonly value: number;
}

/** See assembly/prints.ts. */
interface Kernel {
  readonly memory: WasmMemory;
  readonly valueBytes: Global;
  readonly valuesMax: Global;
  readonly valuesAt: Global;
  readonly layoutsMax: Global;
  readonly layoutBytes: Global;
  readonly placesMax: Global;
  readonly layoutsAt: Global;
  readonly placesAt: Global;
  readonly asHex: Global;
  readonly asBase32: Global;
  readonly asUuid: Global;
  print(layout: number, count: number): void;
  forget(value: number, layout: number, at: number): void;
}

const kernel = instantiate<Kernel>(compileWasm(new URL('./prints.wasm', import.meta.url)));
const memory = new Uint8Array(kernel.memory.buffer);
const LAYOUT_BYTES = kernel.layoutBytes.value;
const VALUE_BYTES = kernel.valueBytes.value;
const PLACES_MAX = kernel.placesMax.value;
const layoutsAt = kernel.layoutsAt.value;
const valuesAt = kernel.valuesAt.value;
/** Of each value in a layout its form, which value it is, and where it stands. */
const WORDS_OF_PLACE = 3;
const places = new Uint32Array(
  kernel.memory.buffer,
  kernel.placesAt.value,
  kernel.layoutsMax.value * PLACES_MAX * WORDS_OF_PLACE,
);

/** How bytes are printed, and how wide that is: 32 of them as hex, 16 in base32 (ids.ts) or as a UUID. */
const FORMS = {
  hex: { code: kernel.asHex.value, width: 64 },
  base32: { code: kernel.asBase32.value, width: 26 },
  uuid: { code: kernel.asUuid.value, width: 36 },
} as const;
export type BytesForm = keyof typeof FORMS;

/** A whole number from 0 to 2^53 - 1, printed in decimal. */
interface NumberSlot<A, B> {
  readonly number: (a: A, b: B) => number;
}

/** Bytes, printed in a form. */
interface BytesSlot<A, B> {
  readonly form: BytesForm;
  readonly bytes: (a: A, b: B) => Uint8Array;
  /** It is erased in the kernel's memory when the text is copied. */
  readonly isSecret?: true;
}

/** A text in Latin-1 that seldom changes, always of the same width. It is kept with the layout. */
interface TextSlot<A, B> {
  readonly width: number;
  readonly text: (a: A, b: B) => string;
}

/** What changes from one text to the next. */
export type Slot<A, B> = NumberSlot<A, B> | BytesSlot<A, B> | TextSlot<A, B>;

/** A slot of bytes: its place among the slots, and which of the inputs of the kernel it prints. */
interface PrintedSlot {
  readonly form: BytesForm;
  readonly isSecret: boolean;
  readonly place: number;
  readonly input: number;
}

const DIGITS_MAX = 16;
/** A few combinations of widths serve nearly all texts of a template. */
const LAYOUTS_MAX = 64;

/** A text laid out for one combination of widths. */
interface Layout {
  /** The widths of its numbers. */
  readonly digits: readonly number[];
  /** Without its values. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each slot starts. */
  readonly at: readonly number[];
  /** Its place in the kernel's memory, while it has one. */
  index: number;
  /** The text there. */
  text: Uint8Array<ArrayBuffer>;
  /** The numbers that stand in it. */
  readonly values: number[];
  /** The value that its layout shows now in the slot that seldom changes. */
  seldom: string | undefined;
}

/** The layout that has each place in the kernel's memory. Places are given anew in turn. */
const owners: (Layout | undefined)[] = Array.from({ length: kernel.layoutsMax.value }, () => undefined);
let nextIndex = 0;

/**
 * A text whose fixed parts are made once. It is laid out for each combination of the widths of its numbers, and each text writes
 * what is new in it over the layout: numbers here, bytes in WebAssembly. So neither a head nor the end of a body needs a string or
 * an object, and every number is printed without padding. `A` and `B` are what the slots read.
 */
export class Template<A, B> {
  /** Bytes that a text takes at most. */
  readonly lengthMax: number;
  /** What stands before each slot, and behind the last. */
  readonly #texts: readonly Uint8Array[];
  readonly #slots: readonly Slot<A, B>[];
  /** Each number once, however often it is printed. */
  readonly #numbers: readonly ((a: A, b: B) => number)[];
  /** The places of each. */
  readonly #placesOf: readonly (readonly number[])[];
  /** The bytes, each once. */
  readonly #inputs: readonly ((a: A, b: B) => Uint8Array)[];
  readonly #printed: readonly PrintedSlot[];
  readonly #secrets: readonly PrintedSlot[];
  readonly #seldom: { readonly slot: TextSlot<A, B>; readonly place: number } | undefined;
  /** Of the text that is written now. */
  readonly #values: number[];
  readonly #layouts = new Map<number, Layout>();
  #last: Layout;

  constructor(parts: readonly (string | Slot<A, B>)[]) {
    const texts = [''];
    const slots: Slot<A, B>[] = [];
    for (const part of parts) {
      if (typeof part === 'string') texts[slots.length] += part;
      else {
        slots.push(part);
        texts.push('');
      }
    }
    this.#texts = texts.map(utf8Bytes);
    this.#slots = slots;
    this.#numbers = [...new Set(slots.flatMap((slot) => ('number' in slot ? [slot.number] : [])))];
    assert(this.#numbers.length <= 5, 'the widths of five numbers make a key');
    this.#values = this.#numbers.map(() => 0);
    this.#placesOf = this.#numbers.map((number) =>
      slots.flatMap((slot, place) => ('number' in slot && slot.number === number ? [place] : [])),
    );
    this.#inputs = [...new Set(slots.flatMap((slot) => ('bytes' in slot ? [slot.bytes] : [])))];
    this.#printed = slots.flatMap((slot, place) => {
      if (!('bytes' in slot)) return [];
      const { form, bytes, isSecret = false } = slot;
      return [{ form, isSecret, place, input: this.#inputs.indexOf(bytes) }];
    });
    assert(this.#inputs.length <= kernel.valuesMax.value, 'the kernel has room for the values of a template');
    assert(this.#printed.length <= PLACES_MAX, 'the kernel has room for the places of a template');
    this.#secrets = this.#printed.filter(({ isSecret }) => isSecret);
    for (const { form } of this.#secrets) assert(form === 'hex', 'the kernel erases what it printed in hex');
    const seldom = slots.flatMap((slot, place) => ('text' in slot ? [{ slot, place }] : []));
    assert(seldom.length <= 1, 'one slot of a template seldom changes');
    this.#seldom = seldom[0];
    this.#last = this.#layOut(this.#numbers.map(() => DIGITS_MAX));
    this.lengthMax = this.#last.bytes.length;
    assert(this.lengthMax <= LAYOUT_BYTES, 'the kernel has room for a text');
  }

  /** Writes a text, and returns where it ends. */
  write(a: A, b: B, target: Uint8Array, start: number): number {
    const layout = this.#printOver(a, b);
    target.set(layout.text, start);
    for (const { input, place } of this.#secrets) kernel.forget(input, layout.index, layout.at[place]);
    return start + layout.text.length;
  }

  /** A text without a secret, in memory of the kernel: valid until the next one of any template. */
  text(a: A, b: B): Uint8Array<ArrayBuffer> {
    assert(this.#secrets.length === 0, 'a text with a secret is written where it is erased');
    return this.#printOver(a, b).text;
  }

  #printOver(a: A, b: B): Layout {
    const layout = this.#layoutOf(a, b);
    const inputs = this.#inputs;
    for (let i = 0; i < inputs.length; i++) putBytes(inputs[i](a, b), memory, valuesAt + i * VALUE_BYTES);
    kernel.print(layout.index, this.#printed.length);
    return layout;
  }

  /** A layout that holds the numbers of this text: mostly that of the one before, in which a few are written anew. */
  #layoutOf(a: A, b: B): Layout {
    const values = this.#values;
    const numbers = this.#numbers;
    let layout = this.#last;
    let isAsWide = true;
    for (let i = 0; i < numbers.length; i++) {
      const value = numbers[i](a, b);
      values[i] = value;
      if (value !== layout.values[i] && decimalDigits(value) !== layout.digits[i]) isAsWide = false;
    }
    if (!isAsWide) this.#last = layout = this.#keptLayout();
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
    const text = seldom.slot.text(a, b);
    if (text === layout.seldom) return layout;
    assert(text.length === seldom.slot.width, 'a text that seldom changes is always as wide');
    writeLatin1(text, memory, textAt + layout.at[seldom.place]);
    layout.seldom = text;
    return layout;
  }

  /** Gives the layout a place in the memory of the kernel. */
  #enter(layout: Layout): void {
    const index = nextIndex;
    nextIndex = (nextIndex + 1) % owners.length;
    owners[index] = layout;
    const textAt = layoutsAt + index * LAYOUT_BYTES;
    memory.set(layout.bytes, textAt);
    this.#printed.forEach(({ form, input, place }, i) => {
      places.set([FORMS[form].code, input, layout.at[place]], (index * PLACES_MAX + i) * WORDS_OF_PLACE);
    });
    layout.index = index;
    layout.text = memory.subarray(textAt, textAt + layout.bytes.length);
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
    const widths = this.#slots.map((slot) => {
      if ('number' in slot) return digits[this.#numbers.indexOf(slot.number)];
      return 'bytes' in slot ? FORMS[slot.form].width : slot.width;
    });
    const size = [...widths, ...this.#texts.map((text) => text.length)].reduce((sum, each) => sum + each, 0);
    const bytes = new Uint8Array(size);
    const at: number[] = [];
    let end = 0;
    this.#texts.forEach((text, i) => {
      bytes.set(text, end);
      end += text.length;
      if (i === widths.length) return;
      at.push(end);
      end += widths[i];
    });
    return {
      digits,
      bytes,
      at,
      index: 0,
      text: bytes,
      values: digits.map(() => Number.NaN),
      seldom: undefined,
    };
  }
}

/**
 * True when these bytes stand anywhere in the memory that texts are printed in.
 * @internal for tests: nothing else can see the memory
 */
export function isInMemory(bytes: Uint8Array): boolean {
  return Buffer.from(memory.buffer).includes(Buffer.from(bytes));
}
