import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Account } from '../../src/account/directory.ts';
import { systemClock } from '../../src/core/clock.ts';
import { Budget } from '../../src/fair/budget.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { type BodyOwner, HELD_BODY_FROM_BYTES } from '../../src/http/exchange.ts';
import { isLoopback } from '../../src/http/request-head.ts';
import { exchangeOn, HEAD, ModelHost, ModelResponse } from './model-exchange.ts';

interface Sending {
  readonly head?: Uint8Array;
  readonly account?: Account | undefined;
  readonly method?: string;
  readonly owner?: BodyOwner;
}

/** An exchange whose handler has returned, and then sends this body. */
function sent(
  host: ModelHost,
  body: Uint8Array,
  { head = HEAD, account, method, owner }: Sending = {},
  response = new ModelResponse(),
): { readonly exchange: Exchange; readonly response: ModelResponse } {
  const { exchange } = exchangeOn(response, host, undefined, method);
  exchange.account = account;
  exchange.leaveHandler();
  exchange.send(head, body, owner);
  return { exchange, response };
}

function assertNothingHeld(host: ModelHost): void {
  assert.deepEqual([host.waiting.size, host.sending.size, host.heldBytes], [0, 0, 0]);
}

describe('an exchange', () => {
  it('needs no abort handler when it is answered within the request handler', () => {
    const response = new ModelResponse();
    const { exchange, host } = exchangeOn(response);
    exchange.send(HEAD, HEAD);
    exchange.leaveHandler();
    assert.deepEqual([response.ended, response.abortHandler], [true, undefined]);
    assertNothingHeld(host);
  });

  it('sends every byte once and in order, however little the socket takes, even when its owner uses the body again', () => {
    const pieces = fc.array(fc.integer({ min: 0, max: 9_000 }), { maxLength: 12 });
    fc.assert(
      fc.property(fc.integer({ min: 16_384, max: 40_000 }), pieces, fc.boolean(), (size, takes, later) => {
        const body = Uint8Array.from({ length: size }, (_, i) => i % 251);
        const expected = [...body];
        const response = new ModelResponse([0, ...takes]);
        const { exchange, host } = exchangeOn(response);
        if (later) exchange.leaveHandler();
        exchange.send(HEAD, body, { release: () => void body.fill(255) });
        if (!later) exchange.leaveHandler();
        assert.deepEqual([host.waiting.size, host.sending.size, host.heldBytes], [0, 1, size]);
        while (!response.ended) response.writable!(response.sent.length);
        assert.deepEqual(response.sent, expected);
        assertNothingHeld(host);
      }),
      { numRuns: 60 },
    );
  });

  it('holds a large body instead of copying it', () => {
    const body = new Uint8Array(HELD_BODY_FROM_BYTES + 2_000);
    const response = new ModelResponse([1_000]);
    const { exchange } = exchangeOn(response);
    exchange.send(HEAD, body);
    exchange.leaveHandler();
    body.fill(7, 1_000);
    response.writable!(1_000);
    assert.equal(response.sent[1_000], 7);
  });

  it('keeps a copy of a small rest, and not the whole body for it', () => {
    const size = 4 * HELD_BODY_FROM_BYTES;
    const body = Uint8Array.from({ length: size }, (_, i) => i % 251);
    const expected = [...body];
    const response = new ModelResponse([1_000, 3 * HELD_BODY_FROM_BYTES, 10]);
    const { exchange, host } = exchangeOn(response);
    let released = 0;
    exchange.send(HEAD, body, { release: () => void released++ });
    exchange.leaveHandler();
    assert.deepEqual([host.heldBytes, released], [size, 0], 'a large rest is a view of the whole body');
    response.writable!(1_000);
    const rest = size - 1_000 - 3 * HELD_BODY_FROM_BYTES;
    assert.deepEqual([host.heldBytes, released], [rest, 1], 'a small one is a copy');
    body.fill(255);
    while (!response.ended) response.writable!(response.sent.length);
    assert.deepEqual(response.sent, expected);
    assertNothingHeld(host);
  });

  it('releases its body exactly once and holds nothing, whatever becomes of the reply', () => {
    const body = new Uint8Array(HELD_BODY_FROM_BYTES + 1_000);
    /** What happens to the reply. */
    const ends: Record<string, (exchange: Exchange, response: ModelResponse, owner: BodyOwner) => void> = {
      'taken at once': (exchange, _response, owner) => exchange.send(HEAD, body, owner),
      'taken in pieces'(exchange, response, owner) {
        response.takes.push(10, 20);
        exchange.send(HEAD, body, owner);
        exchange.leaveHandler();
        response.writable!(10);
        assert.equal(told, 0, 'the rest is held');
        response.writable!(30);
      },
      'its reader goes away'(exchange, response, owner) {
        response.takes.push(10);
        exchange.send(HEAD, body, owner);
        exchange.leaveHandler();
        assert.equal(told, 0, 'the rest is held');
        response.abortHandler!();
      },
      'its connection is cut'(exchange, response, owner) {
        response.takes.push(10);
        exchange.send(HEAD, body, owner);
        exchange.leaveHandler();
        exchange.destroy();
        assert.ok(exchange.isAborted);
      },
      'its rest is copied'(exchange, response, owner) {
        response.takes.push(10);
        exchange.send(HEAD, body.subarray(1_000), owner);
        assert.equal(told, 1, 'the copy is held');
        exchange.leaveHandler();
        response.abortHandler!();
      },
      'nobody is there'(exchange, response, owner) {
        exchange.leaveHandler();
        response.abortHandler!();
        exchange.send(HEAD, body, owner);
      },
      'there was another reply'(exchange, _response, owner) {
        exchange.send(HEAD, HEAD);
        exchange.send(HEAD, body, owner);
      },
      'it breaks off'(exchange, response, owner) {
        response.failAt = 'tryEnd';
        assert.throws(() => exchange.send(HEAD, body, owner));
      },
    };
    let told = 0;
    for (const [name, end] of Object.entries(ends)) {
      const response = new ModelResponse();
      const { exchange, host } = exchangeOn(response);
      told = 0;
      end(exchange, response, { release: () => void told++ });
      exchange.leaveHandler();
      assertNothingHeld(host);
      exchange.destroy();
      assert.equal(told, 1, name);
    }
  });

  it('tells the engine that a small document never changes, and nothing of bodies with an owner or of large memory', () => {
    const isConstant = (body: Uint8Array, owner?: BodyOwner) => {
      const response = new ModelResponse();
      exchangeOn(response).exchange.send(HEAD, body, owner);
      return response.constants;
    };
    const large = new Uint8Array(HELD_BODY_FROM_BYTES);
    assert.deepEqual(isConstant(new Uint8Array(200_000)), [true]);
    assert.deepEqual(
      isConstant(new Uint8Array(200_000), { release: () => {} }),
      [false],
      'it may be used again',
    );
    assert.deepEqual(isConstant(large.subarray(0, 20_000)), [false], 'a part of it would keep all of it');
  });

  it('books what no owner accounts for while it is held, and cuts a document that has no room', () => {
    const memory = new Budget(2 * 30_000);
    const host = new ModelHost(systemClock, memory);
    const hold = (bytes: number, owner?: BodyOwner) =>
      sent(host, new Uint8Array(bytes), { ...(owner && { owner }) }, new ModelResponse([10]));
    const first = hold(20_010);
    assert.equal(memory.total, 20_000);
    assert.ok(hold(20_010).exchange.isAborted, 'there is no room for a second document');
    assert.equal(memory.total, 20_000);
    const answer = hold(20_010, { release: () => {} });
    assert.equal(answer.exchange.isAborted, false, 'an answer was paid for');
    assert.equal(memory.total, 40_000, 'its copy is booked');
    const large = hold(HELD_BODY_FROM_BYTES + 10, { release: () => {} });
    assert.equal(memory.total, 40_000, 'a large answer is counted by its owner');
    for (const { exchange } of [first, answer, large]) exchange.destroy();
    assert.equal(memory.total, 0);
    assertNothingHeld(host);
  });

  it('waits under the deadline of answers, then under that of replies', () => {
    const response = new ModelResponse([10]);
    const { exchange, host } = exchangeOn(response);
    host.nowMs = 5;
    exchange.leaveHandler();
    assert.deepEqual([host.waiting.overdue(14), host.waiting.overdue(15)], [undefined, exchange]);
    host.nowMs = 12;
    exchange.send(HEAD, new Uint8Array(20_000));
    assert.equal(host.waiting.size, 0);
    assert.deepEqual([host.sending.overdue(31), host.sending.overdue(32)], [undefined, exchange]);
  });

  it('cuts the connection when a reply breaks off, and the sender learns why', () => {
    for (const failAt of ['writeStatus', 'tryEnd', 'getWriteOffset']) {
      for (const later of [false, true]) {
        const response = new ModelResponse([10]);
        response.failAt = failAt;
        const { exchange, host } = exchangeOn(response);
        if (later) exchange.leaveHandler();
        assert.throws(() => exchange.send(HEAD, new Uint8Array(20_000)), new RegExp(`fails at ${failAt}`));
        assert.ok(response.ended && exchange.isAborted);
        exchange.leaveHandler();
        exchange.send(HEAD, HEAD);
        assertNothingHeld(host);
      }
    }
  });

  it('reports an abort listener that throws and calls it once', () => {
    const response = new ModelResponse();
    const { exchange, host } = exchangeOn(response);
    const failure = new Error('listener');
    exchange.onAbort = () => {
      throw failure;
    };
    exchange.leaveHandler();
    response.abortHandler!();
    assert.deepEqual(host.faults, [failure]);
    assertNothingHeld(host);
  });
});

describe('the addresses of this machine', () => {
  it('are those of loopback, in IPv4, IPv6 and IPv4 written as IPv6', () => {
    const mapped = (...ipv4: number[]) => Uint8Array.of(...new Array(10).fill(0), 255, 255, ...ipv4);
    const ours = [Uint8Array.of(127, 0, 0, 1), Uint8Array.of(127, 9, 9, 9), mapped(127, 0, 0, 1)];
    for (const address of [...ours, Uint8Array.of(...new Array(15).fill(0), 1)])
      assert.ok(isLoopback(address));
    const others = [
      Uint8Array.of(128, 0, 0, 1),
      Uint8Array.of(10, 0, 0, 1),
      mapped(10, 0, 0, 1),
      new Uint8Array(0),
    ];
    for (const address of [...others, new Uint8Array(16)]) assert.ok(!isLoopback(address));
  });
});
