import { MessageChannel } from 'node:worker_threads';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { connectLedger, serveLedger } from '../../../src/service/ledger-link.ts';
import { openJournaledLedger, openTestLedger } from '../../support/ledger-folder.ts';
import { ledgerContract } from './ledger.contract.ts';
import { contract, onFolder } from './ledgers.ts';

for (const durability of ['fsync', 'commit'] as const) {
  ledgerContract(
    `LMDB behind the journal of a front, durability ${durability}`,
    onFolder((path, clock) => openJournaledLedger(path, { durability, clock })),
    { withoutRepeats: 'a front commits each segment once, and what the journal has was acknowledged' },
  );
}

contract(
  'LMDB behind a port',
  onFolder(async (path, clock) => behindPort(await openTestLedger(path, { clock }))),
);

/** Returns the ledger as another thread has it. */
function behindPort(ledger: Ledger): Ledger {
  const { port1, port2 } = new MessageChannel();
  serveLedger(ledger, port2);
  const far = connectLedger(port1);
  const { close } = far;
  return Object.assign(far, {
    async close() {
      await close();
      await ledger.close();
    },
  });
}
