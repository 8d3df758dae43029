import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Ask } from '../../src/answer/answer.ts';
import type { DataRequest } from '../../src/answer/request.ts';
import { systemClock } from '../../src/core/clock.ts';
import { ApiError } from '../../src/core/errors.ts';
import { BlockStream } from '../../src/http/block-stream.ts';
import type { Exchange } from '../../src/http/exchange.ts';

/** A stream of JSON blocks whose answers come when the test says so, to a socket that it opens and shuts. */
function streamOf(blocks: number) {
  /** The request ids of the blocks that were asked for. */
  const asked: Ask['requestId'][] = [];
  const sent: string[] = [];
  const released: number[] = [];
  let hasRoom = true;
  let fullBehind = '';
  let onRoom = () => {};
  const exchange = {
    requestId: new Uint8Array(16),
    mode: 'quantum-seeded',
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
      const text = Buffer.from(part).toString();
      sent.push(text);
      if (text === fullBehind) hasRoom = false;
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
  const plan = { blocks, first: 0, requestOf: () => request };
  const stream = new BlockStream(exchange as unknown as Exchange, plan, () =>
    asked.push(stream.ask().requestId),
  );
  asked.push(stream.ask().requestId);
  return {
    asked,
    released,
    exchange,
    text: () => sent.join(''),
    answer: (index: number) => {
      const body = Buffer.from(`{"block":${index}}`);
      stream.made({ body: new Uint8Array(body), isReplay: false, release: () => released.push(index) });
    },
    refuse: (error: ApiError) => stream.refused(error),
    shut: (behind?: string) => {
      if (behind === undefined) hasRoom = false;
      else fullBehind = behind;
    },
    open: () => {
      hasRoom = true;
      onRoom();
    },
  };
}

describe('the blocks of a stream', () => {
  it('are asked for one after the other, as the socket takes them, and a last line follows', () => {
    const { asked, answer, text, released } = streamOf(3);
    for (let index = 0; index < 3; index++) {
      assert.equal(asked.length, index + 1);
      answer(index);
    }
    assert.equal(
      text(),
      '{"block":0}\n{"block":1}\n{"block":2}\n{"end":{"first":0,"blocks":3,"of":3}}\n(end)',
    );
    assert.equal(new Set(asked).size, 3, 'each has a request id of its own');
    assert.deepEqual(released, [0, 1, 2]);
  });

  it('are not asked for while one waits for the socket, nor twice when it has room again and again', () => {
    const { asked, answer, shut, open } = streamOf(9);
    shut();
    answer(0);
    assert.equal(asked.length, 1, 'a reader that takes no whole block pays for one');
    open();
    open();
    assert.equal(asked.length, 2);
    shut('\n');
    answer(1);
    assert.equal(asked.length, 2, 'the last byte has filled the socket');
    open();
    assert.equal(asked.length, 3);
  });

  it('end with the error in the place of one that is refused', () => {
    const { asked, answer, refuse, text, released } = streamOf(9);
    answer(0);
    refuse(new ApiError('overloaded', { retryAfterS: 1 }));
    assert.match(text(), /^\{"block":0\}\n\{"error":.*"code":"overloaded".*"next":1\}\n\(end\)$/);
    assert.equal(asked.length, 2);
    assert.deepEqual(released, [0]);
  });

  it('that wait or are made when the client leaves give their memory back', () => {
    const { exchange, answer, shut, released } = streamOf(9);
    answer(0);
    shut();
    answer(1);
    const other = streamOf(9);
    for (const each of [exchange, other.exchange]) {
      each.isAborted = true;
      each.onAbort?.();
    }
    other.answer(0);
    assert.deepEqual([released, other.released], [[0, 1], [0]]);
  });
});
