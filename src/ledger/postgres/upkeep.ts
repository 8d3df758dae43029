import { auditStore } from '../domain/audit.ts';
import type { Walk } from '../domain/auditor.ts';
import type { LedgerIntegrity } from '../integrity.ts';
import { type AuditReport, type Ledger, LedgerError, type Upkeep } from '../ledger.ts';
import type { Key } from '../store.ts';
import type { Database, Session } from './connection.ts';
import type { NodeIdentity } from './node.ts';
import { ONE_MOMENT, rangeOf } from './postgres-store.ts';

/** Records read at a time: some megabytes of segments. */
const RECORDS_READ = 64;

type Folder = Pick<Ledger, 'audit' | 'integrity'>;

/**
 * Audits the books of all nodes, and the blocks of this node in `folder`, which is undefined on a machine without blocks.
 * `node` is undefined for a command.
 */
export function postgresUpkeep(
  database: Database,
  folder: Folder | undefined,
  node: Pick<NodeIdentity, 'database'> | undefined,
): Upkeep {
  return {
    async audit() {
      const books = await database.transact(async (session) => {
        await session.run(ONE_MOMENT);
        return auditBooks(session);
      });
      const blocks = await folder?.audit();
      const problems = [...books.problems, ...(blocks?.problems ?? [])];
      const { blocksUnclaimed = 0, blocksClaimed = 0 } = blocks ?? {};
      return { ...books, ok: problems.length === 0, problems, blocksUnclaimed, blocksClaimed };
    },

    async backup() {
      throw new LedgerError(
        'refused',
        'the ledger is in PostgreSQL: back it up with the tools of PostgreSQL, such as pg_basebackup or pg_dump',
      );
    },

    async integrity(): Promise<LedgerIntegrity> {
      const ofFolder = (await folder?.integrity()) ?? { startAudit: 'none', scrub: null };
      return { ...ofFolder, database: node?.database() ?? null };
    },
  };
}

/** Audits the books of all nodes. The transaction of the session must see one moment of them. */
export function auditBooks(session: Session): Promise<AuditReport> {
  const walk: Walk = async (table, visit) => {
    let from: Key | undefined;
    for (;;) {
      const range = { ...(from === undefined ? {} : { from }), limit: RECORDS_READ + 1 };
      const rows = await rangeOf(session, table, range);
      for (const { key, value } of rows.slice(0, RECORDS_READ)) visit(key, value);
      from = rows[RECORDS_READ]?.key;
      if (from === undefined) return;
    }
  };
  return auditStore(walk, false);
}
