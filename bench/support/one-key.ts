import { createAccount, createKey } from '../../src/account/administration.ts';
import { OwnedCells } from '../../src/account/cells.ts';
import { AccountDirectory } from '../../src/account/directory.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Tier } from '../../src/core/vocabulary.ts';
import { memoryLedger } from '../../test/support/memory-ledger.ts';

/** Calls `use` with a directory of one account with one key, and with the key. */
export async function withOneKey<T>(
  tier: Tier,
  use: (directory: AccountDirectory, key: string) => Promise<T>,
): Promise<T> {
  const ledger = memoryLedger(systemClock);
  const account = await createAccount(ledger, systemClock, { name: 'bench', tier });
  const { text: key } = await createKey(ledger, systemClock, { accountId: account.id });
  const cells = await OwnedCells.open(ledger, systemClock);
  const directory = await AccountDirectory.open({ ledger, cells, clock: systemClock });
  try {
    return await use(directory, key);
  } finally {
    directory.close();
  }
}
