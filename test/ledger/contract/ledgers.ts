import type { TestContext } from 'node:test';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { temporaryFolder } from '../../support/ledger-folder.ts';
import { NOON_MS } from '../../support/ledger-records.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { drawsContract } from './draws.contract.ts';
import { type ContractOptions, ledgerContract, type OpenLedger } from './ledger.contract.ts';
import { sourcesContract } from './sources.contract.ts';

/** Runs all suites on one implementation. */
export function contract(
  name: string,
  open: (t: TestContext) => Promise<OpenLedger>,
  options: ContractOptions = {},
): void {
  ledgerContract(name, open, options);
  sourcesContract(name, open, options);
  drawsContract(name, open);
}

/** A ledger that lasts in a folder, which is opened by its path. */
export function onFolder(openLedger: (path: string, clock: ManualClock) => Promise<Ledger>) {
  return async (t: TestContext) => {
    const path = temporaryFolder(t);
    const clock = new ManualClock(NOON_MS);
    let ledger = await openLedger(path, clock);
    const reopen = async () => {
      await ledger.close();
      ledger = await openLedger(path, clock);
      return ledger;
    };
    return { ledger, clock, reopen, current: () => ledger, close: () => ledger.close() };
  };
}
