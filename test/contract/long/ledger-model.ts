import { ledgerModel } from '../ledger-model.ts';

/** The long form of the histories in ledger.test.ts, part of `npm run test:night`. */
ledgerModel('fsync', 100);
ledgerModel('commit', 100);
