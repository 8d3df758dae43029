import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import type { CertificateService } from '../../src/certificate/archive.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { serveFront } from '../../src/service/ledger-link.ts';
import { openLedgerPorts } from '../../src/service/ledger-thread.ts';
import { OneEachTurn } from '../../src/workers/call.ts';

it('the ports of a front run one look-up of each kind per turn, after the calls that everything depends on', async (t) => {
  const order: string[] = [];
  /** Count of the calls of each name in each turn of the loop. */
  const inTurn = new Map<string, number>();
  let turn = 0;
  let next = setImmediate(function count() {
    turn++;
    next = setImmediate(count);
  });
  t.after(() => clearImmediate(next));
  const serves =
    (name: string, value: unknown = null) =>
    async () => {
      order.push(name);
      inTurn.set(`${name} ${turn}`, (inTurn.get(`${name} ${turn}`) ?? 0) + 1);
      return value;
    };
  const channels = {
    ledger: new MessageChannel(),
    keyed: new MessageChannel(),
    keyless: new MessageChannel(),
  };
  const { ledger, keyed, keyless } = channels;
  t.after(() => [ledger, keyed, keyless].forEach(({ port1 }) => void port1.close()));
  serveFront(
    { ledger: ledger.port1, keyed: keyed.port1, keyless: keyless.port1 },
    { isShared: serves('call', true), usage: serves('usage', []) } as unknown as Ledger,
    { find: serves('find') } as unknown as CertificateService,
    { keyed: new OneEachTurn(), keyless: new OneEachTurn() },
  );
  const front = openLedgerPorts({ ledger: ledger.port2, keyed: keyed.port2, keyless: keyless.port2 });
  const lookUps = [
    ...Array.from({ length: 512 }, () => front.keyedLookUps.usage(1, 0)),
    ...Array.from({ length: 64 }, () => front.certificates.find('x')),
  ];
  await assert.rejects(front.keyedLookUps.usage(1, 0), { code: 'overloaded' });
  await assert.rejects(front.certificates.find('x'), { code: 'overloaded' });
  assert.equal(await front.ledger.isShared(), true);
  await Promise.all(lookUps);
  assert.equal(order.length, 512 + 64 + 1);
  // the counter and the look-ups of one turn run in any order
  for (const [call, count] of inTurn) assert.ok(count <= 2, `${count} calls of ${call}`);
  assert.ok(order.indexOf('call') < 10, `${order.indexOf('call')} look-ups came first`);
  assert.ok(order.indexOf('find') < 10, 'those without a key take turns with those that have one');
  assert.ok(order.slice(0, 140).filter((name) => name === 'find').length >= 60);
});
