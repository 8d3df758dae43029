import assert from 'node:assert/strict';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { Budget } from '../../src/fair/budget.ts';
import { Fair } from '../../src/fair/fair.ts';
import { DeadlineQueue } from '../../src/http/deadline-queue.ts';
import type { ReplyHead, Wire } from '../../src/http/engine.ts';
import { Exchange } from '../../src/http/exchange.ts';
import type { Front } from '../../src/http/front.ts';
import type { NativeRequest } from '../../src/http/request-head.ts';
import { type RandomBytes, SYSTEM_RANDOM } from '../../src/http/request-id.ts';

/** The rules of an engine as assertions: what is called after the end of a reply, or twice, throws as it would there. */
export class ModelWire implements Wire {
  readonly isGone = false;
  readonly isFromLoopback = true;
  head: ReplyHead | undefined;
  readonly sent: number[] = [];
  /** For each offer, whether its bytes never change. */
  readonly constants: boolean[] = [];
  /** Count of bytes that the socket takes at each offer. */
  readonly takes: number[];
  isFull = false;
  /** True if a socket that took all bytes has no room either. */
  fills = false;
  ended = false;
  gone: (() => void) | undefined;
  hasRoom: (() => void) | undefined;
  failAt: 'begin' | 'offer' | 'end' | undefined;

  constructor(takes: readonly number[] = []) {
    this.takes = [...takes];
  }

  #use(what: string): void {
    assert.ok(!this.ended, `${what} after the end`);
    if (this.failAt === what) throw new Error(`the engine fails at ${what}`);
  }
  send(head: Uint8Array, body: Uint8Array, saysClose: boolean): void {
    this.begin({ head, length: body.length, saysClose, isLast: false });
    this.sent.push(...body);
    this.ended = true;
  }
  begin(head: ReplyHead, hasRoom?: () => void): void {
    this.#use('begin');
    assert.equal(this.head, undefined, 'one reply');
    this.head = head;
    this.hasRoom = hasRoom;
  }
  offer(rest: Uint8Array, isConstant: boolean): number {
    this.#use('offer');
    this.constants.push(isConstant);
    const { length } = this.head!;
    if (length !== undefined)
      assert.equal(rest.length, length - this.sent.length, 'it goes on where the socket stopped');
    const taken = Math.min(rest.length, this.takes.shift() ?? rest.length);
    this.isFull = taken < rest.length || this.fills;
    for (const byte of rest.subarray(0, taken)) this.sent.push(byte);
    if (length === undefined && taken === rest.length) this.sent.push(0x0a);
    if (this.sent.length === length) this.ended = true;
    return taken;
  }
  end(): void {
    this.#use('end');
    this.ended = true;
  }
  onBody(): void {
    this.#use('onBody');
  }
  onGone(gone: () => void): void {
    this.#use('onGone');
    assert.equal(this.gone, undefined, 'one listener');
    this.gone = gone;
  }
  cut(): void {
    this.#use('cut');
    this.ended = true;
    this.gone?.();
  }
}

/** The parts of a front that its exchanges use. */
export class ModelHost {
  readonly fair: Fair;
  readonly random: RandomBytes;
  draining = false;
  nowMs = 0;
  readonly waiting = new DeadlineQueue<Exchange>();
  readonly sending = new DeadlineQueue<Exchange>();
  readonly faults: unknown[] = [];

  constructor(
    memory = new Budget(LIMITS.largeReplyBytesMax),
    clock: Clock = systemClock,
    random: RandomBytes = SYSTEM_RANDOM,
  ) {
    this.fair = Object.assign(new Fair(clock), { memory });
    this.random = random;
  }

  fault(exchange: Exchange, error: unknown): void {
    this.faults.push(error);
    exchange.destroy();
  }
}

const REQUEST: NativeRequest = { getUrl: () => '/x', getQuery: () => undefined, forEach: () => {} };
export const HEAD = new TextEncoder().encode('200 OK');

export function exchangeOn(
  wire: ModelWire,
  host = new ModelHost(),
  request: NativeRequest = REQUEST,
  method = 'GET',
): { exchange: Exchange; host: ModelHost } {
  return { exchange: new Exchange(host as unknown as Front, wire, method, request), host };
}
