import { after } from 'node:test';
import { openJournaledLedger, temporaryFolder } from '../../support/ledger-folder.ts';
import { NOON_MS } from '../../support/ledger-records.ts';
import { LedgerThread, SharedClock } from '../../support/ledger-thread.ts';
import { ledgerContract } from './ledger.contract.ts';
import { contract, onFolder } from './ledgers.ts';

for (const durability of ['fsync', 'commit'] as const) {
  ledgerContract(
    `LMDB behind the journal of a front, durability ${durability}`,
    onFolder((path, clock) => openJournaledLedger(path, { durability, clock })),
    { withoutRepeats: 'a front commits each segment once, and what the journal has was acknowledged' },
  );
}

const thread = new LedgerThread();
after(() => thread.stop());

contract('LMDB behind a thread', async (t) => {
  const path = temporaryFolder(t);
  const clock = new SharedClock(NOON_MS);
  let opened = await thread.open(path, 'fsync', clock);
  const reopen = async () => {
    await opened.close();
    opened = await thread.open(path, 'fsync', clock);
    return opened.ledger;
  };
  return {
    ledger: opened.ledger,
    clock,
    reopen,
    current: () => opened.ledger,
    close: () => opened.close(),
  };
});
