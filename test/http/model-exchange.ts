import assert from 'node:assert/strict';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { Budget } from '../../src/fair/budget.ts';
import { DeadlineQueue } from '../../src/http/deadline-queue.ts';
import type { NativeResponse } from '../../src/http/engine.ts';
import { Exchange, type ExchangeHost } from '../../src/http/exchange.ts';
import type { NativeRequest } from '../../src/http/request-head.ts';

import { TurnClock } from '../../src/http/turn-clock.ts';

/**
 * The library's rules as assertions: what is called after the end of a reply, or twice, throws as it would
 * there.
 */
export class ModelResponse implements NativeResponse {
  readonly sent: number[] = [];
  /** Of each offer, whether its bytes never change. */
  readonly constants: boolean[] = [];
  /** How many bytes the socket takes at each offer. */
  readonly takes: number[];
  ended = false;
  paused = false;
  abortHandler: (() => void) | undefined;
  writable: ((offset: number) => boolean) | undefined;
  failAt: string | undefined;

  constructor(takes: readonly number[] = []) {
    this.takes = [...takes];
  }

  #use(what: string): void {
    assert.ok(!this.ended, `${what} after the end`);
    if (this.failAt === what) throw new Error(`the library fails at ${what}`);
  }
  writeStatus(_head: Uint8Array): void {
    this.#use('writeStatus');
  }
  writeHeader(): void {
    this.#use('writeHeader');
  }
  end(body: Uint8Array): void {
    this.#use('end');
    this.sent.push(...body);
    this.ended = true;
  }
  endWithoutBody(): void {
    this.#use('endWithoutBody');
    this.ended = true;
  }
  write(part: Uint8Array): boolean {
    this.#use('write');
    this.sent.push(...part);
    return (this.takes.shift() ?? part.length) >= part.length;
  }
  tryEnd(rest: Uint8Array, totalBytes: number, isConstant: boolean): [boolean, boolean] {
    this.#use('tryEnd');
    this.constants.push(isConstant);
    assert.equal(
      rest.length,
      totalBytes - this.sent.length,
      'what is offered goes on where the socket stopped',
    );
    const taken = Math.min(rest.length, this.takes.shift() ?? rest.length);
    for (const byte of rest.subarray(0, taken)) this.sent.push(byte);
    this.ended = this.sent.length === totalBytes;
    return [taken === rest.length, this.ended];
  }
  getRemoteAddress(): ArrayBuffer {
    return Uint8Array.of(127, 0, 0, 1).buffer;
  }
  getWriteOffset(): number {
    this.#use('getWriteOffset');
    return this.sent.length;
  }
  onWritable(handler: (offset: number) => boolean): void {
    this.#use('onWritable');
    this.writable = handler;
  }
  onAborted(handler: () => void): void {
    this.#use('onAborted');
    assert.equal(this.abortHandler, undefined, 'one abort handler');
    this.abortHandler = handler;
  }
  onData(): void {
    this.#use('onData');
  }
  pause(): void {
    this.#use('pause');
    this.paused = true;
  }
  cork(write: () => void): void {
    this.#use('cork');
    write();
  }
  close(): void {
    this.#use('close');
    this.ended = true;
    this.abortHandler?.();
  }
}

export class ModelHost implements ExchangeHost {
  readonly memory: Budget;
  draining = false;
  nowMs = 0;
  heldBytes = 0;
  readonly turns: TurnClock;
  readonly waiting = new DeadlineQueue<Exchange>(10);
  readonly sending = new DeadlineQueue<Exchange>(20);
  readonly faults: unknown[] = [];

  constructor(clock: Clock = systemClock, memory = new Budget(LIMITS.largeReplyBytesMax)) {
    this.memory = memory;
    this.turns = new TurnClock(clock);
  }

  fault(_exchange: Exchange, error: unknown): void {
    this.faults.push(error);
  }
}

const REQUEST: NativeRequest = { getUrl: () => '/x', getQuery: () => undefined, forEach: () => {} };
export const HEAD = new TextEncoder().encode('200 OK');

export function exchangeOn(
  response: ModelResponse,
  host = new ModelHost(),
  request: NativeRequest = REQUEST,
  method = 'GET',
): { exchange: Exchange; host: ModelHost } {
  return { exchange: new Exchange(host, response, method, request), host };
}
