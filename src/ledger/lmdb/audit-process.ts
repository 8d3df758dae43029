import { messageOf } from '../../core/assert.ts';
import { LedgerError } from '../ledger.ts';
import { packError } from '../packed-error.ts';
import type { AuditOutcome } from './audit-child.ts';
import { auditFolder } from './lmdb.ts';

/** The entry of the process that audit-child.ts starts: audits the folder in its arguments, and sends the outcome. */
const [path, served] = process.argv.slice(2);
const outcome: AuditOutcome = await auditFolder(path, served !== undefined).then(
  (report) => ({ report }),
  (error: unknown) => {
    const known = error instanceof LedgerError ? error : new LedgerError('damaged', messageOf(error));
    return { failure: packError(known) };
  },
);
process.send?.(outcome, () => process.disconnect());
