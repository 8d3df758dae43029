import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { traceIdOf, traceparentOf } from '../../src/http/request-id.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

describe('traceparent', () => {
  it('is accepted only in the form of version 00', () => {
    const id = Uint8Array.from({ length: 16 }, (_, i) => i);
    for (const flags of ['00', '01']) {
      const field = `00-${TRACE}-${PARENT}-${flags}`;
      assert.equal(traceIdOf(field), TRACE);
      assert.equal(traceparentOf(field, id), `00-${TRACE}-08090a0b0c0d0e0f-${flags}`);
    }
    const wrong = [
      '',
      `01-${TRACE}-${PARENT}-01`,
      `ff-${TRACE}-${PARENT}-01`,
      `00-${TRACE}-${PARENT}-01-what`,
      `00-${TRACE.toUpperCase()}-${PARENT}-01`,
      `00-${TRACE.slice(1)}-${PARENT}-01`,
      `00-${'0'.repeat(32)}-${PARENT}-01`,
      `00-${TRACE}-${'0'.repeat(16)}-01`,
      ` 00-${TRACE}-${PARENT}-01`,
      `00-${TRACE}-${PARENT}-01\n`,
      `00-${TRACE}-${PARENT}-0g`,
    ];
    for (const field of wrong)
      assert.deepEqual([traceIdOf(field), traceparentOf(field, id)], [undefined, undefined], field);
  });
});
