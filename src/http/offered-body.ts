import type { Hold } from '../fair/budget.ts';
import type { ReplyHead, Wire } from './engine.ts';
import type { BodyOwner, Exchange, ExchangeHost } from './exchange.ts';

/** A body of at least this size must not change once it is sent: until it is taken it is held, not copied. */
export const HELD_BODY_FROM_BYTES = 256 * 1024;

const NO_BYTES = new Uint8Array(0);

/**
 * A body that is offered to the socket piece by piece: a large one, or lines. What the socket does not take stays with us, under a
 * deadline.
 */
export class OfferedBody {
  readonly #exchange: Exchange;
  readonly #host: ExchangeHost;
  readonly #wire: Wire;
  #isInLines = false;
  /** Of the body, or of a line, while it is read. */
  #owner: BodyOwner | undefined;
  /** What its reader has not taken yet. */
  #rest: Uint8Array = NO_BYTES;
  /** Bytes of memory that the rest keeps alive: more than the rest itself while that is a view. */
  #heldBytes = 0;
  /** What it takes of the memory of the host. */
  #booked: Hold | undefined;
  /** Told whether the reader took the last line. */
  #lineTaken: ((isTaken: boolean) => void) | undefined;

  constructor(exchange: Exchange, host: ExchangeHost, wire: Wire) {
    this.#exchange = exchange;
    this.#host = host;
    this.#wire = wire;
  }

  /** Sends the whole body behind its head. Its owner as `Exchange.send` takes it. */
  send(head: ReplyHead, body: Uint8Array, owner: BodyOwner | undefined): void {
    this.#owner = owner;
    this.begin(head);
    this.#offer(body);
  }

  begin(head: ReplyHead): void {
    const exchange = this.#exchange;
    this.#isInLines = head.length === undefined;
    this.#wire.begin(head, () => {
      try {
        if (this.#rest.length > 0) exchange.spend(() => this.#offer(this.#rest));
        else this.#tellTaken(true);
      } catch (error) {
        this.#host.fault(exchange, error);
        exchange.destroy();
      }
    });
  }

  /** Sends a line; see `Exchange.sendLine`. */
  sendLine(line: Uint8Array, owner: BodyOwner | undefined): Promise<boolean> {
    this.#owner = owner;
    return new Promise((resolve, reject) => {
      this.#lineTaken = resolve;
      try {
        this.#offer(line);
      } catch (error) {
        this.#lineTaken = undefined; // a fault is not a reader that has gone
        this.#exchange.destroy();
        reject(error);
      }
    });
  }

  /** The reply is finished, or its reader has gone. */
  close(): void {
    this.#letGo();
    this.#tellTaken(false);
  }

  #tellTaken(isTaken: boolean): void {
    const told = this.#lineTaken;
    this.#lineTaken = undefined;
    told?.(isTaken);
  }

  /**
   * Offers the rest of a body or of a line to the socket. The library cannot be told to close behind a body that is offered, so
   * nothing more is read from a closing connection: whatever else its client sends is not served, and the library cuts it when
   * it has been idle for 10 s.
   */
  #offer(rest: Uint8Array): void {
    const isConstant = this.#owner === undefined && rest.buffer.byteLength < HELD_BODY_FROM_BYTES; // a piece keeps all of it
    const taken = this.#wire.offer(rest, isConstant);
    if (taken < rest.length) this.#hold(rest, taken);
    else if (!this.#isInLines) this.#exchange.finish();
    else {
      this.#letGo();
      if (!this.#wire.isFull) this.#tellTaken(true);
    }
  }

  /**
   * Keeps what the reader has not taken. A small rest is copied, because a view of it would keep the whole body in memory for as
   * long as its reader rests. A document or a replay whose account already holds its share of memory is cut: its client can ask
   * again without paying. An answer is never cut for this, since it was admitted before it was paid for (answer/admission.ts).
   */
  #hold(unsent: Uint8Array, taken: number): void {
    const { memory } = this.#host.fair;
    const { owner } = this.#exchange;
    const rest = unsent.subarray(taken);
    const isCopied = rest.length < HELD_BODY_FROM_BYTES;
    const isHeld = this.#rest.length > 0;
    if (isHeld && isCopied === this.#rest.length < HELD_BODY_FROM_BYTES) {
      this.#rest = rest;
      return;
    }
    if (!isHeld && this.#owner === undefined && !memory.fits(owner, rest.length)) {
      this.#exchange.destroy();
      return;
    }
    this.#uncount();
    this.#rest = isCopied ? rest.slice() : rest;
    this.#heldBytes = isCopied ? rest.length : unsent.length;
    this.#host.heldBytes += this.#heldBytes;
    if (isCopied) this.#releaseBody();
    if (this.#owner === undefined) this.#booked = memory.add(owner, this.#heldBytes);
    if (!isHeld) this.#exchange.restartDeadline();
  }

  #uncount(): void {
    this.#host.heldBytes -= this.#heldBytes;
    this.#heldBytes = 0;
    this.#booked?.resize(0);
    this.#booked = undefined;
  }

  /** Of the body that was sent. */
  #letGo(): void {
    this.#uncount();
    this.#rest = NO_BYTES;
    this.#releaseBody();
  }

  #releaseBody(): void {
    const owner = this.#owner;
    this.#owner = undefined;
    owner?.release();
  }
}
