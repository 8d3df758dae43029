import type { Hold } from '../fair/budget.ts';
import type { ReplyHead, Wire } from './engine.ts';
import type { BodyOwner, Exchange, ExchangeHost } from './exchange.ts';

/**
 * An unread rest of at least this size is held as a view, a smaller one as a copy. So a larger body must not change once it
 * is sent.
 */
export const HELD_BODY_FROM_BYTES = 256 * 1024;

const NO_BYTES = new Uint8Array(0);

/**
 * A large body, or a body in lines, that is offered to the socket piece by piece. The part that the socket does not take
 * stays in our memory, under a deadline.
 */
export class OfferedBody {
  readonly #exchange: Exchange;
  readonly #host: ExchangeHost;
  readonly #wire: Wire;
  #isInLines = false;
  /** The owner of the body or the line, until it is released. */
  #owner: BodyOwner | undefined;
  /** The bytes that the client has not read yet. */
  #rest: Uint8Array = NO_BYTES;
  /** Bytes of memory that the rest keeps alive. A view keeps the whole body alive. */
  #heldBytes = 0;
  /** Its share of the memory budget, for bodies without an owner. */
  #booked: Hold | undefined;
  /** Called with true when the client has read the line, with false when it has gone. */
  #lineTaken: ((isTaken: boolean) => void) | undefined;

  constructor(exchange: Exchange, host: ExchangeHost, wire: Wire) {
    this.#exchange = exchange;
    this.#host = host;
    this.#wire = wire;
  }

  /** Sends the head and the whole body. `owner` is that of `Exchange.send`. */
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
        this.#lineTaken = undefined; // reject, and do not resolve as if the client had gone
        this.#exchange.destroy();
        reject(error);
      }
    });
  }

  /** Releases everything. Called when the reply is finished or the client has gone. */
  close(): void {
    this.#letGo();
    this.#tellTaken(false);
  }

  #tellTaken(isTaken: boolean): void {
    const resolveLine = this.#lineTaken;
    this.#lineTaken = undefined;
    resolveLine?.(isTaken);
  }

  /**
   * Offers the rest of a body or of a line to the socket. The library cannot close the connection after an offered body. So
   * it reads nothing more from a connection that is to close, which serves no further request, and cuts it after 10 s of
   * idleness.
   */
  #offer(rest: Uint8Array): void {
    // a large body counts as changing, so that the engine copies its pieces: a view of a piece would keep the whole body alive
    const isConstant = this.#owner === undefined && rest.buffer.byteLength < HELD_BODY_FROM_BYTES;
    const taken = this.#wire.offer(rest, isConstant);
    if (taken < rest.length) this.#hold(rest, taken);
    else if (!this.#isInLines) this.#exchange.finish();
    else {
      this.#letGo();
      if (!this.#wire.isFull) this.#tellTaken(true);
    }
  }

  /**
   * Keeps the bytes that the client has not read. Copies a small rest, because a view would keep the whole body in memory while the
   * client does not read. Cuts a document or a replay whose account already holds its share of memory: the client can ask again
   * at no charge. Never cuts an answer for this, because answers were admitted before they were paid for (answer/admission.ts).
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

  /** Gives up the rest and releases the body. */
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
