import { planted } from '../../mutants/plant.ts';
import type { Environment } from '../../support/server.ts';
import type { FaultName } from './faults.ts';

/** A bug that is planted in the nodes or in the setup of PostgreSQL, and the faults under which it must show. */
export interface Planted {
  readonly faults: readonly FaultName[];
  readonly environment?: Environment;
  readonly isSynchronous: boolean;
  /** The report that the harness must give of it. */
  readonly finds: RegExp;
}

const POSTGRES = 'src/ledger/postgres';

export const PLANTED = {
  'asynchronous standby': {
    faults: ['failover of a standby that was cut off'],
    isSynchronous: false,
    finds: /acknowledged (answers|certificates) are lost/,
  },
  'no fence': {
    faults: ['pause of a node that is fenced', 'partition of a node that is fenced'],
    environment: planted({
      [`${POSTGRES}/commit.ts`]: [
        'WHERE node = $1 AND slot = $2 AND epoch = $3 RETURNING slot)',
        'WHERE node = $1 AND slot = $2 AND $3::bigint > 0 RETURNING slot)',
      ],
      [`${POSTGRES}/node.ts`]: ['if (epoch !== this.epoch) {', 'if (epoch === null) {'],
    }),
    isSynchronous: true,
    finds: /after it was fenced/,
  },
  'no compare-and-set of the log': {
    faults: ['pause of a node', 'pause of a node'],
    environment: planted({
      'src/ledger/domain/log.ts': ['if (isSame(stored, expected)) return true;', 'return true;'],
      [`${POSTGRES}/postgres-ledger.ts`]: ['sequencer.take().catch(() => false)', 'Promise.resolve(true)'],
    }),
    isSynchronous: true,
    finds: /log/,
  },
  'a cancelled commit taken for success': {
    faults: ['failover after cancelled commits'],
    environment: planted({
      [`${POSTGRES}/connection.ts`]: ['if (code === UNKNOWN_COMMIT)', "if (code === 'never')"],
    }),
    isSynchronous: true,
    finds: /acknowledged (answers|certificates) are lost/,
  },
  'a log shown before a standby has it': {
    faults: Array.from(
      { length: 6 },
      () => 'failover after cancelled commits and the kill of all nodes' as const,
    ),
    environment: planted({
      'src/ledger/domain/log.ts': ['STATE.test(key)', 'key.length < 0'],
    }),
    isSynchronous: true,
    finds: /signed last/,
  },
} as const satisfies Record<string, Planted>;
