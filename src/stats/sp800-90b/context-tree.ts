/**
 * The contexts of a predictor over a wide alphabet: a tree whose root is the empty context and whose branch
 * for a symbol leads to the context longer by that symbol at its old end. Each context counts what followed
 * it and knows the most frequent successor, the largest symbol among equals (SP 800-90B 6.3.9,
 * 6.3.10).
 */
export class ContextTree {
  static readonly ROOT = 0;
  static readonly NONE = -1;

  /** By context and symbol: a context and eight bits. */
  readonly #children = new Map<number, number>();
  readonly #successors = new Map<number, number>();
  /** By context. */
  readonly #bestCounts = [0];
  readonly #bestSymbols = [0];

  /** The context one symbol longer than `context`, or NONE. */
  child(context: number, symbol: number): number {
    return this.#children.get((context << 8) | symbol) ?? ContextTree.NONE;
  }

  /** Adds the context one symbol longer; it must not exist. */
  addChild(context: number, symbol: number): number {
    const child = this.#bestCounts.push(0) - 1;
    this.#bestSymbols.push(0);
    this.#children.set((context << 8) | symbol, child);
    return child;
  }

  /** How often the most frequent successor followed this context; 0 for a context that has counted none. */
  bestCount(context: number): number {
    return this.#bestCounts[context];
  }

  bestSymbol(context: number): number {
    return this.#bestSymbols[context];
  }

  /** Whether `symbol` has followed this context. */
  hasSuccessor(context: number, symbol: number): boolean {
    return this.#successors.has((context << 8) | symbol);
  }

  /** Counts one occurrence of `symbol` after this context; gives how many there are now. */
  countSuccessor(context: number, symbol: number): number {
    const count = (this.#successors.get((context << 8) | symbol) ?? 0) + 1;
    this.#successors.set((context << 8) | symbol, count);
    const best = this.#bestCounts[context];
    if (count > best || (count === best && symbol > this.#bestSymbols[context])) {
      this.#bestCounts[context] = count;
      this.#bestSymbols[context] = symbol;
    }
    return count;
  }
}
