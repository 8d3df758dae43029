import type { HealthCheck } from '../http/plain-routes.ts';
import type { DatabaseState } from '../ledger/integrity.ts';
import { type ExposedFamily, gauge } from './exposition.ts';
import type { ReadingRow } from './readings.ts';

const DATABASE_AWAY =
  'PostgreSQL does not answer: requests that draw are refused with 503 until it does. The log names the cause.';

const CLOCK_SKEWED =
  "The clock of this node differs from PostgreSQL's by more than a second, and the node is not ready. Set the clock.";

const STANDBY_LATE =
  'Commits wait for a standby of PostgreSQL: requests that draw are refused with 503 until one follows. See pg_stat_replication.';

/** The database that several nodes share; nothing where the books lie in a folder. */
export const DATABASE_ROW: ReadingRow = {
  check: {
    name: 'ledger:database',
    optional: true,
    of: ({ integrity: { database } }) => database && databaseCheck(database),
  },
  families: ({ integrity: { database } }) => database && databaseFamilies(database),
};

/** Without the database nothing is acknowledged; with a clock of its own a node would begin months at another time. */
function databaseCheck(state: DatabaseState): HealthCheck {
  const { isAway, isSkewed, isStandbyLate, skewMs, unsealedSegments } = state;
  const output = isAway ? DATABASE_AWAY : isSkewed ? CLOCK_SKEWED : isStandbyLate ? STANDBY_LATE : undefined;
  return {
    componentType: 'datastore',
    status: output === undefined ? 'pass' : 'fail',
    observedValue: !isAway,
    ...(output === undefined ? {} : { output }),
    details: { clock_skew_ms: skewMs, unsealed_segments: unsealedSegments },
  };
}

function databaseFamilies({ isAway, skewMs, unsealedSegments }: DatabaseState): ExposedFamily[] {
  return [
    gauge('qrn_database_up', 'Whether the database that holds the books answers.', isAway ? 0 : 1),
    gauge(
      'qrn_database_clock_skew_seconds',
      "How far this node's clock is ahead of the database's.",
      skewMs / 1_000,
    ),
    gauge(
      'qrn_database_unsealed_segments',
      'Segments of all nodes that wait to be logged.',
      unsealedSegments,
    ),
  ];
}
