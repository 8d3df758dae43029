import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { noProc, Target } from '../../support/raw-http.ts';
import { TestServer } from '../../support/server.ts';
import { assertOutlivesCrowd } from './http-clients.ts';

const DESCRIPTORS = 120;

describe('a service that may open few files', { skip: noProc }, () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.start({ QRN_RESERVOIR_BYTES: '65536' }, undefined, {
      shell: `ulimit -n ${DESCRIPTORS} && exec "$0" "$@"`,
    });
  });
  after(() => server.stop());

  it('keeps what it needs itself from a crowd of connections, and serves again when that has gone', async () => {
    const target = new Target(server, server.key);
    const watched: number[] = [];
    const watch = setInterval(() => watched.push(target.descriptors()), 20);
    await assertOutlivesCrowd(target, DESCRIPTORS, 300);
    clearInterval(watch);
    assert.ok(Math.max(...watched) < DESCRIPTORS, `${Math.max(...watched)} of ${DESCRIPTORS} were open`);
  });
});
