import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Answer, Asker } from '../../src/answer/answer.ts';
import type { DataRequest } from '../../src/answer/request.ts';
import { systemClock } from '../../src/core/clock.ts';
import { ApiError } from '../../src/core/errors.ts';
import type { EntropyMode } from '../../src/core/vocabulary.ts';
import { BlockStream } from '../../src/http/block-stream.ts';
import type { Exchange } from '../../src/http/exchange.ts';

/** A stream of JSON blocks whose answers come when the test says so, to a socket that it opens and shuts. */
function streamOf(blocks: number, mode: EntropyMode = 'quantum-seeded') {
  const asked: Asker[] = [];
  const sent: string[] = [];
  const released: number[] = [];
  let hasRoom = true;
  let onRoom = () => {};
  const exchange = {
    requestId: new Uint8Array(16),
    mode,
    offer: { mediaType: 'application/x-ndjson' },
    ignored: '',
    account: { meter: { left: () => ({ credits: null }) } },
    rate: undefined,
    isGone: false,
    isAborted: false,
    isAnswered: false,
    isDraining: false,
    gather: (write: () => void) => write(),
    beginStream: (_head: Uint8Array, room: () => void) => {
      onRoom = room;
    },
    sendPart: (part: Uint8Array) => {
      sent.push(Buffer.from(part).toString());
      return hasRoom;
    },
    endParts: () => sent.push('(end)'),
    restartDeadline: () => {},
    tellHeld: () => {},
    onAbort: undefined as (() => void) | undefined,
    pipeline: {
      explain: (_exchange: unknown, error: unknown) => error as ApiError,
      record: { answered: () => {}, brokeOff: () => {} },
      clock: systemClock,
      random: { fill: () => {} },
    },
  };
  const request = {} as DataRequest;
  const plan = { blocks, first: 0, format: undefined, requestOf: () => request };
  const stream = new BlockStream(exchange as unknown as Exchange, plan, (block) => asked.push(block));
  asked.push(stream.begin());
  return {
    asked,
    released,
    exchange,
    text: () => sent.join(''),
    answer: (index: number) => {
      const body = Buffer.from(`{"block":${index}}`);
      asked[index].answered({ body, release: () => released.push(index) } as unknown as Answer);
    },
    shut: () => {
      hasRoom = false;
    },
    open: () => {
      hasRoom = true;
      onRoom();
    },
  };
}

describe('the blocks of a stream', () => {
  it('are made one more at a time with each that the socket takes, and are sent in their order', () => {
    const { asked, answer, text, released } = streamOf(6);
    assert.equal(asked.length, 1, 'the first block alone decides the mode and the status');
    answer(0);
    assert.equal(asked.length, 3);
    answer(2);
    answer(1);
    assert.equal(text(), '{"block":0}\n{"block":1}\n{"block":2}\n');
    assert.equal(asked.length, 6);
    answer(4);
    answer(5);
    answer(3);
    assert.ok(text().endsWith('{"block":4}\n{"block":5}\n{"end":{"first":0,"blocks":6,"of":6}}\n(end)'));
    assert.deepEqual(released, [0, 1, 2, 3, 4, 5]);
  });

  it('are not asked for behind the first that waits for the socket', () => {
    const { asked, answer, shut, open } = streamOf(9);
    shut();
    answer(0);
    assert.equal(asked.length, 1, 'a reader that takes no whole block pays for one');
    open();
    assert.equal(asked.length, 3);
  });

  it('are six ahead of the socket at most, however many it took', () => {
    const { asked, answer, shut, open } = streamOf(99);
    for (let index = 0; index < 20; index++) answer(index);
    assert.equal(asked.length, 26);
    shut();
    for (let index = 20; index < 26; index++) answer(index);
    assert.equal(asked.length, 26);
    open();
    assert.equal(asked.length, 32);
  });

  it('are made one at a time in pure mode', () => {
    const { asked, answer } = streamOf(5, 'pure');
    answer(0);
    assert.equal(asked.length, 2);
    answer(1);
    assert.equal(asked.length, 3);
  });

  it('behind one that is refused are not sent, and give their memory back', () => {
    const { asked, answer, text, released } = streamOf(9);
    answer(0);
    answer(2);
    asked[1].refused(new ApiError('overloaded', { retryAfterS: 1 }));
    assert.match(text(), /^\{"block":0\}\n\{"error":.*"code":"overloaded".*"next":1\}\n\(end\)$/);
    assert.equal(asked.length, 3);
    assert.deepEqual(released, [0, 2]);
  });

  it('that were made when the client leaves give their memory back', () => {
    const { exchange, answer, released } = streamOf(9);
    answer(0);
    answer(2);
    exchange.isAborted = true;
    exchange.onAbort?.();
    answer(1);
    assert.deepEqual(released, [0, 2, 1]);
  });
});
