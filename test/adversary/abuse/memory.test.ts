import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noProc } from '../../support/raw-http.ts';
import { shippedStart } from '../../support/server.ts';
import { withServer } from './arena.ts';
import { attackMemory, memoryFigure, RESIDENT_MIB_MAX } from './memory.ts';

test(
  'three accounts that have 40 MB replies made and kept take no more memory than is promised',
  {
    skip: noProc,
  },
  () =>
    withServer(
      { QRN_ACCESS_LOG_SAMPLE: '0' },
      async (server) => {
        const found = await attackMemory(server, {
          tiers: ['developer', 'developer', 'developer'],
          connections: 6,
          requestsMax: 6,
          seconds: 20,
          accept: 'application/msgpack',
        });
        assert.ok(found.answered > 0, memoryFigure(found));
        assert.ok(found.peakMib <= RESIDENT_MIB_MAX, memoryFigure(found));
        assert.equal(found.othersServed, found.othersAsked, memoryFigure(found));
      },
      shippedStart,
    ),
);
