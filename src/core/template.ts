import { assert } from './assert.ts';
import { copyBytes, utf8Bytes } from './bytes.ts';
import { decimalDigits, writeNumber } from './text-bytes.ts';

/** A whole number from 0 to 2^53 - 1, printed in decimal. */
interface NumberSlot<A, B> {
  readonly number: (a: A, b: B) => number;
}

/** A value that always has the same width. */
interface WideSlot<A, B> {
  readonly width: number;
  readonly write: (a: A, b: B, target: Uint8Array, at: number) => void;
  /** Of a value that seldom changes, and is nobody's secret: what it is made of. It is kept with the layout. */
  readonly madeOf?: (a: A, b: B) => string;
}

/** What changes from one text to the next. */
export type Slot<A, B> = NumberSlot<A, B> | WideSlot<A, B>;

const DIGITS_MAX = 16;
/** A few combinations of widths serve nearly all texts of a template. */
const LAYOUTS_MAX = 64;

/** A text laid out for one combination of widths. */
interface Layout {
  /** The widths of its numbers. */
  readonly digits: readonly number[];
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each slot starts. */
  readonly at: readonly number[];
  /** The numbers that stand in it. */
  readonly values: number[];
  /** What the slot that seldom changes was made of last. */
  madeOf: string | undefined;
}

/**
 * A text whose fixed parts are made once: it is laid out for each combination of the widths of its numbers, and each text
 * writes what is new in it over the layout. So neither a head nor the end of a body needs a string or an object, and every
 * number is printed without padding. `A` and `B` are what the slots read.
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
  /** `first` is the place of the first slot with the same writer: its text is copied. */
  readonly #wideSlots: readonly (Pick<WideSlot<A, B>, 'write' | 'width'> & {
    readonly place: number;
    readonly first: number;
  })[];
  readonly #seldom: { readonly slot: WideSlot<A, B>; readonly place: number } | undefined;
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
    const wide = slots.flatMap((slot, place) => ('number' in slot ? [] : [{ slot, place }]));
    const seldom = wide.filter(({ slot }) => slot.madeOf !== undefined);
    assert(seldom.length <= 1, 'one slot of a template seldom changes');
    this.#seldom = seldom[0];
    this.#wideSlots = wide
      .filter(({ slot }) => slot.madeOf === undefined)
      .map(({ slot: { write, width }, place }) => {
        const first = wide.find(({ slot }) => slot.write === write)!.place;
        return { write, width, place, first };
      });
    this.#last = this.#layOut(this.#numbers.map(() => DIGITS_MAX));
    this.lengthMax = this.#last.bytes.length;
  }

  /** Writes a text, and returns where it ends. */
  write(a: A, b: B, target: Uint8Array, start: number): number {
    const layout = this.#layoutOf(a, b);
    target.set(layout.bytes, start);
    this.#fill(layout, a, b, target, start);
    return start + layout.bytes.length;
  }

  /** A text in memory of the template: valid until the next one. */
  text(a: A, b: B): Uint8Array<ArrayBuffer> {
    const layout = this.#layoutOf(a, b);
    this.#fill(layout, a, b, layout.bytes, 0);
    return layout.bytes;
  }

  #fill({ at }: Layout, a: A, b: B, target: Uint8Array, start: number): void {
    const wideSlots = this.#wideSlots;
    for (let i = 0; i < wideSlots.length; i++) {
      const { write, width, place, first } = wideSlots[i];
      const from = start + at[first];
      if (first === place) write(a, b, target, from);
      else copyBytes(target, from, target, start + at[place], width);
    }
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
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (value === layout.values[i]) continue;
      for (const place of this.#placesOf[i]) writeNumber(value, layout.bytes, layout.at[place]);
      layout.values[i] = value;
    }
    const seldom = this.#seldom;
    if (seldom === undefined) return layout;
    const madeOf = seldom.slot.madeOf!(a, b);
    if (madeOf === layout.madeOf) return layout;
    seldom.slot.write(a, b, layout.bytes, layout.at[seldom.place]);
    layout.madeOf = madeOf;
    return layout;
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
    const widths = this.#slots.map((slot) =>
      'number' in slot ? digits[this.#numbers.indexOf(slot.number)] : slot.width,
    );
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
    return { digits, bytes, at, values: digits.map(() => Number.NaN), madeOf: undefined };
  }
}
