import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Account } from '../../src/account/directory.ts';
import { Budget } from '../../src/fair/budget.ts';
import { isLoopback } from '../../src/http/engine.ts';
import { type BodyOwner, type Exchange, HELD_BODY_FROM_BYTES } from '../../src/http/exchange.ts';
import type { RouterOptions } from '../../src/http/router.ts';
import { exchangeOn, HEAD, ModelHost, ModelWire } from './model-exchange.ts';

/** An exchange whose reply may begin in lines. */
function inLines(wire: ModelWire, host?: ModelHost): Exchange {
  const { exchange } = exchangeOn(wire, host);
  exchange.account = { record: { number: 1 } } as Account;
  exchange.service = { record: { replied: () => {} }, corsOrigins: [] } as unknown as RouterOptions;
  return exchange;
}

const heldBytes = ({ sending }: ModelHost) =>
  [...sending.before()].reduce((sum, each) => sum + each.heldBytes, 0);

function assertNothingHeld(host: ModelHost): void {
  assert.deepEqual([host.waiting.size, host.sending.size, heldBytes(host)], [0, 0, 0]);
}

describe('an exchange', () => {
  it('sends every byte once and in order, releases its body once and reports its memory, whatever its reader takes and however it ends (property)', () => {
    const sizes = fc.oneof(
      fc.integer({ min: 16_384, max: 40_000 }),
      fc.integer({ min: HELD_BODY_FROM_BYTES, max: 2 * HELD_BODY_FROM_BYTES }),
    );
    const takes = fc.array(fc.oneof(fc.nat(9_000), fc.nat(200_000)), { minLength: 1, maxLength: 6 });
    /** The events after the reader has taken some bytes. */
    const ends: Readonly<Record<string, (exchange: Exchange, wire: ModelWire) => void>> = {
      'it takes the rest': (_exchange, wire) => wire.hasRoom!(),
      'it goes away': (_exchange, wire) => wire.gone!(),
      'its connection is cut': (exchange) => exchange.destroy(),
      'the engine fails'(_exchange, wire) {
        wire.failAt = 'offer';
        wire.hasRoom!();
      },
    };
    fc.assert(
      fc.property(
        sizes,
        takes,
        fc.constantFrom(...Object.keys(ends)),
        fc.boolean(),
        (size, takes, end, isOwned) => {
          const body = Uint8Array.from({ length: size }, (_, i) => i % 251);
          const expected = body.slice();
          const memory = new Budget(4 * HELD_BODY_FROM_BYTES);
          const wire = new ModelWire(takes);
          const { exchange, host } = exchangeOn(wire, new ModelHost(memory));
          let released = 0;
          const release = () => {
            released++;
            body.fill(255); // its owner uses it again
          };
          exchange.send(HEAD, body, isOwned ? { release } : undefined);
          const isSmall = size < HELD_BODY_FROM_BYTES;
          const constants = [isSmall && !isOwned];
          /** Bytes of the rest when it was copied, which a large one is not. */
          let copied: number | undefined;
          while (!wire.ended && !exchange.isAborted) {
            const rest = size - wire.sent.length;
            if (rest < HELD_BODY_FROM_BYTES) copied ??= rest;
            const held = copied ?? size;
            assert.deepEqual([host.waiting.size, host.sending.size, heldBytes(host)], [0, 1, held]);
            assert.equal(
              memory.total,
              isOwned && copied === undefined ? 0 : held,
              'its owner counts it, or we do',
            );
            assert.equal(released, isOwned && copied !== undefined ? 1 : 0);
            if (wire.takes.length > 0) wire.hasRoom!();
            else ends[end](exchange, wire);
            constants.push(copied !== undefined);
          }
          const isWhole = wire.sent.length === size;
          assert.ok(Buffer.from(wire.sent).equals(expected.subarray(0, wire.sent.length)), 'every byte');
          assert.ok(isWhole || end !== 'it takes the rest');
          assert.equal(exchange.isAborted, !isWhole);
          assert.equal(released, isOwned ? 1 : 0);
          assert.deepEqual(wire.constants, constants.slice(0, wire.constants.length));
          assert.equal(memory.total, 0);
          assertNothingHeld(host);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('releases a body that nobody can receive, or that comes after another reply', () => {
    for (const before of ['gone', 'answered']) {
      const wire = new ModelWire();
      const { exchange, host } = exchangeOn(wire);
      let released = 0;
      if (before === 'gone') wire.gone!();
      else exchange.send(HEAD, HEAD);
      exchange.send(HEAD, new Uint8Array(20_000), { release: () => void released++ });
      assert.equal(released, 1, before);
      assertNothingHeld(host);
    }
  });

  it('drops a document when memory is full, but never an answer, which was paid for', () => {
    const memory = new Budget(2 * 30_000);
    const host = new ModelHost(memory);
    const held = (owner?: BodyOwner) => {
      const { exchange } = exchangeOn(new ModelWire([10]), host);
      exchange.send(HEAD, new Uint8Array(20_010), owner);
      return [exchange.isAborted, memory.total];
    };
    assert.deepEqual(held(), [false, 20_000]);
    assert.deepEqual(held(), [true, 20_000]);
    assert.deepEqual(held({ release: () => {} }), [false, 40_000]);
  });

  it('closes the connection when a reply breaks off, and the sender learns why', () => {
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

  it('closes the connection when a reply in lines breaks off, and the sender learns why', async () => {
    for (const failAt of ['begin', 'offer', 'end'] as const) {
      const [wire, host] = [new ModelWire(), new ModelHost()];
      const exchange = inLines(wire, host);
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

  it('has its deadline anew for each line, after the exchanges that wait since before', async () => {
    const host = new ModelHost();
    const [first, second] = [new ModelWire(), new ModelWire()].map((wire) => inLines(wire, host));
    for (const exchange of [first, second]) {
      exchange.beginLines(HEAD);
      await exchange.sendLine(HEAD, undefined);
    }
    host.nowMs = 5;
    await first.sendLine(HEAD, undefined);
    assert.deepEqual(
      [...host.sending.before()].map((exchange) => [exchange === first, exchange.queuedAtMs]),
      [
        [false, 0],
        [true, 5],
      ],
    );
  });

  it('sends each line whole, and reports when its reader has room for the next, or has gone', async () => {
    const begun = (takes: readonly number[]) => {
      const [wire, host] = [new ModelWire(takes), new ModelHost()];
      const exchange = inLines(wire, host);
      exchange.beginLines(HEAD);
      return { wire, exchange, host };
    };
    const line = Buffer.from('line');
    const { wire, exchange, host } = begun([4, 2]);
    const released: string[] = [];
    wire.fills = true;
    const first = exchange.sendLine(line, { release: () => void released.push('first') });
    assert.equal(await Promise.race([first, 'full']), 'full', 'the line feed has filled the socket');
    assert.deepEqual(released, ['first']);
    wire.fills = false;
    wire.hasRoom!();
    assert.equal(await first, true);
    const second = exchange.sendLine(line, { release: () => void released.push('second') });
    assert.equal(heldBytes(host), 2);
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
  it('are those of loopback, in IPv4, IPv6 and IPv4 written as IPv6, as an engine prints them', () => {
    const ours = ['127.0.0.1', '127.9.9.9', '::1', '0000:0000:0000:0000:0000:0000:0000:0001'];
    for (const address of [...ours, '::ffff:127.0.0.1', '0000:0000:0000:0000:0000:ffff:7f00:0001'])
      assert.ok(isLoopback(address), address);
    for (const address of ['128.0.0.1', '10.0.0.1', '::ffff:10.0.0.1', '::', '::2', ''])
      assert.ok(!isLoopback(address), address);
  });
});
