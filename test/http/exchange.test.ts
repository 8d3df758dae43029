import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Account } from '../../src/account/directory.ts';
import { systemClock } from '../../src/core/clock.ts';
import { Budget } from '../../src/fair/budget.ts';
import { Fair } from '../../src/fair/fair.ts';
import {
  type BodyOwner,
  type Exchange,
  HELD_BODY_FROM_BYTES,
  type Pipeline,
} from '../../src/http/exchange.ts';
import { corsPolicy } from '../../src/http/reply-fields.ts';
import { isLoopback } from '../../src/http/request-head.ts';
import { exchangeOn, HEAD, ModelHost, ModelWire } from './model-exchange.ts';

interface Sending {
  readonly head?: Uint8Array;
  readonly account?: Account | undefined;
  readonly method?: string;
  readonly owner?: BodyOwner;
}

/** An exchange that sends this body. */
function sent(
  host: ModelHost,
  body: Uint8Array,
  { head = HEAD, account, method, owner }: Sending = {},
  wire = new ModelWire(),
): { readonly exchange: Exchange; readonly wire: ModelWire } {
  const { exchange } = exchangeOn(wire, host, undefined, method);
  exchange.account = account;
  exchange.send(head, body, owner);
  return { exchange, wire };
}

/** An exchange whose reply may begin in lines. */
function inLines(takes: readonly number[]): { wire: ModelWire; exchange: Exchange; host: ModelHost } {
  const wire = new ModelWire(takes);
  const { exchange, host } = exchangeOn(wire);
  exchange.account = { record: { number: 1 } } as Account;
  exchange.begin({
    record: { replied: () => {} },
    turns: { current: () => ({ wallMs: 0, monotonicMs: 0 }) },
    fair: new Fair(systemClock),
    random: { fill: () => {} },
    cors: corsPolicy([]),
  } as unknown as Pipeline);
  return { wire, exchange, host };
}

function assertNothingHeld(host: ModelHost): void {
  assert.deepEqual([host.waiting.size, host.sending.size, host.heldBytes], [0, 0, 0]);
}

describe('an exchange', () => {
  it('sends every byte once and in order, however little the socket takes, even when its owner uses the body again', () => {
    const pieces = fc.array(fc.integer({ min: 0, max: 9_000 }), { maxLength: 12 });
    fc.assert(
      fc.property(fc.integer({ min: 16_384, max: 40_000 }), pieces, (size, takes) => {
        const body = Uint8Array.from({ length: size }, (_, i) => i % 251);
        const expected = [...body];
        const wire = new ModelWire([0, ...takes]);
        const { exchange, host } = exchangeOn(wire);
        exchange.send(HEAD, body, { release: () => void body.fill(255) });
        assert.deepEqual([host.waiting.size, host.sending.size, host.heldBytes], [0, 1, size]);
        while (!wire.ended) wire.hasRoom!();
        assert.deepEqual(wire.sent, expected);
        assertNothingHeld(host);
      }),
      { numRuns: 60 },
    );
  });

  it('holds a large body instead of copying it', () => {
    const body = new Uint8Array(HELD_BODY_FROM_BYTES + 2_000);
    const wire = new ModelWire([1_000]);
    const { exchange } = exchangeOn(wire);
    exchange.send(HEAD, body);
    body.fill(7, 1_000);
    wire.hasRoom!();
    assert.equal(wire.sent[1_000], 7);
  });

  it('keeps a copy of a small rest, and not the whole body for it', () => {
    const size = 4 * HELD_BODY_FROM_BYTES;
    const body = Uint8Array.from({ length: size }, (_, i) => i % 251);
    const expected = [...body];
    const wire = new ModelWire([1_000, 3 * HELD_BODY_FROM_BYTES, 10]);
    const { exchange, host } = exchangeOn(wire);
    let released = 0;
    exchange.send(HEAD, body, { release: () => void released++ });
    assert.deepEqual([host.heldBytes, released], [size, 0], 'a large rest is a view of the whole body');
    wire.hasRoom!();
    const rest = size - 1_000 - 3 * HELD_BODY_FROM_BYTES;
    assert.deepEqual([host.heldBytes, released], [rest, 1], 'a small one is a copy');
    body.fill(255);
    while (!wire.ended) wire.hasRoom!();
    assert.deepEqual(wire.sent, expected);
    assertNothingHeld(host);
  });

  it('releases its body exactly once and holds nothing, whatever becomes of the reply', () => {
    const body = new Uint8Array(HELD_BODY_FROM_BYTES + 1_000);
    /** What happens to the reply. */
    const ends: Record<string, (exchange: Exchange, wire: ModelWire, owner: BodyOwner) => void> = {
      'taken at once': (exchange, _wire, owner) => exchange.send(HEAD, body, owner),
      'taken in pieces'(exchange, wire, owner) {
        wire.takes.push(10, 20);
        exchange.send(HEAD, body, owner);
        wire.hasRoom!();
        assert.equal(told, 0, 'the rest is held');
        wire.hasRoom!();
      },
      'its reader goes away'(exchange, wire, owner) {
        wire.takes.push(10);
        exchange.send(HEAD, body, owner);
        assert.equal(told, 0, 'the rest is held');
        wire.gone!();
      },
      'its connection is cut'(exchange, wire, owner) {
        wire.takes.push(10);
        exchange.send(HEAD, body, owner);
        exchange.destroy();
        assert.ok(exchange.isAborted);
      },
      'its rest is copied'(exchange, wire, owner) {
        wire.takes.push(10);
        exchange.send(HEAD, body.subarray(1_000), owner);
        assert.equal(told, 1, 'the copy is held');
        wire.gone!();
      },
      'nobody is there'(exchange, wire, owner) {
        wire.gone!();
        exchange.send(HEAD, body, owner);
      },
      'there was another reply'(exchange, _wire, owner) {
        exchange.send(HEAD, HEAD);
        exchange.send(HEAD, body, owner);
      },
      'it breaks off'(exchange, wire, owner) {
        wire.failAt = 'offer';
        assert.throws(() => exchange.send(HEAD, body, owner));
      },
    };
    let told = 0;
    for (const [name, end] of Object.entries(ends)) {
      const wire = new ModelWire();
      const { exchange, host } = exchangeOn(wire);
      told = 0;
      end(exchange, wire, { release: () => void told++ });
      assertNothingHeld(host);
      exchange.destroy();
      assert.equal(told, 1, name);
    }
  });

  it('tells the engine that a small document never changes, and nothing of bodies with an owner or of large memory', () => {
    const isConstant = (body: Uint8Array, owner?: BodyOwner) => {
      const wire = new ModelWire();
      exchangeOn(wire).exchange.send(HEAD, body, owner);
      return wire.constants;
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
    const host = new ModelHost(memory);
    const hold = (bytes: number, owner?: BodyOwner) =>
      sent(host, new Uint8Array(bytes), { ...(owner && { owner }) }, new ModelWire([10]));
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

  it('cuts the connection when a reply breaks off, and the sender learns why', () => {
    for (const failAt of ['begin', 'offer'] as const) {
      const wire = new ModelWire([10]);
      wire.failAt = failAt;
      const { exchange, host } = exchangeOn(wire);
      assert.throws(() => exchange.send(HEAD, new Uint8Array(20_000)), new RegExp(`fails at ${failAt}`));
      assert.ok(wire.ended && exchange.isAborted);
      exchange.send(HEAD, HEAD);
      assertNothingHeld(host);
    }
  });

  it('cuts the connection when a reply in lines breaks off, and the sender learns why', async () => {
    for (const failAt of ['begin', 'offer', 'end'] as const) {
      const { wire, exchange, host } = inLines([]);
      wire.failAt = failAt;
      const reply = async () => {
        exchange.beginLines(HEAD);
        await exchange.sendLine(HEAD, undefined);
        exchange.endLines();
      };
      await assert.rejects(reply(), new RegExp(`fails at ${failAt}`));
      assert.ok(wire.ended && exchange.isAborted);
      assert.equal(await exchange.sendLine(HEAD, undefined), false);
      exchange.endLines(); // what breaks a stream off may end it again
      assertNothingHeld(host);
    }
  });

  it('sends each line whole, and says when its reader has room for the next, or has gone', async () => {
    const begun = (takes: readonly number[]) => {
      const all = inLines(takes);
      all.exchange.beginLines(HEAD);
      return all;
    };
    const line = Buffer.from('line');
    const { wire, exchange, host } = begun([4, 1, 2]);
    const released: string[] = [];
    wire.fills = true;
    const first = exchange.sendLine(line, { release: () => void released.push('first') });
    assert.equal(await Promise.race([first, 'full']), 'full', 'the line feed has filled the socket');
    assert.deepEqual(released, ['first']);
    wire.fills = false;
    wire.hasRoom!();
    assert.equal(await first, true);
    const second = exchange.sendLine(line, { release: () => void released.push('second') });
    assert.equal(host.heldBytes, 2);
    wire.fills = true;
    wire.hasRoom!();
    assert.equal(await Promise.race([second, 'full']), 'full', 'the last byte has filled the socket');
    wire.hasRoom!();
    assert.equal(await second, true);
    exchange.endLines();
    assert.equal(Buffer.from(wire.sent).toString(), 'line\nline\n');
    assert.deepEqual(released, ['first', 'second']);
    const gone = begun([1]);
    const last = gone.exchange.sendLine(line, { release: () => void released.push('third') });
    gone.wire.gone!();
    assert.equal(await last, false);
    assert.equal(await gone.exchange.sendLine(line, { release: () => void released.push('fourth') }), false);
    assert.deepEqual(released.slice(2), ['third', 'fourth']);
    for (const each of [host, gone.host]) assertNothingHeld(each);
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
