import type { Ledger } from '../../src/store/ledger.ts';
import type { SimMachine } from './machine.ts';
import type { Invariant } from './oracle/violation.ts';
import type { Life } from './wire.ts';

/** A bug that is planted into the service, to see that the simulation finds it. */
export interface Mutant {
  readonly name: string;
  /** What it breaks. */
  readonly breaks: readonly Invariant[];
  /** What the ledger is for one life, before the way to it. */
  ledger(inner: Ledger, life: Life, machine: SimMachine): Ledger;
  /** What the service has for its ledger. */
  door(ledger: Ledger, life: Life): Ledger;
  /** Changes code of the service; what it returns changes it back. */
  plant(): () => void;
}

export const unchanged: Mutant = {
  name: 'none',
  breaks: [],
  ledger: (inner) => inner,
  door: (ledger) => ledger,
  plant: () => () => {},
};
