import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Ledger, LedgerError } from '../../src/ledger/ledger.ts';
import { Chance } from './chance.ts';

/**
 * The call was not made, or it was and its answer got lost: the caller cannot tell. It is the error of a port to a
 * ledger's thread that is gone.
 */
export class InjectedFault extends LedgerError {
  override name = 'InjectedFault';

  constructor(message: string) {
    super('stopped', message);
  }
}

const FAULTS = ['none', 'fail before', 'fail after', 'delay', 'duplicate'] as const;
export type Fault = (typeof FAULTS)[number];

/** Turns of the event loop that a delayed call waits. */
const DELAY_TURNS = 3;
const NEVER_FAULTY: ReadonlySet<string | symbol> = new Set(['close', 'audit', 'backup']);

/**
 * Does to each call what networks and disks do: loses it, loses its answer after it was persisted, delays it, or
 * makes it twice. Two wrappers with the same seed do the same to the same sequence of calls.
 */
export function faultyLedger(inner: () => Ledger, draw: () => Fault): Ledger {
  return new Proxy({} as Ledger, {
    get(_target, method: string) {
      return (...args: unknown[]) => {
        const ledger = inner() as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
        // A copy for each call: a ledger behind a port takes its arguments' buffers away.
        const call = () => ledger[method](...structuredClone(args));
        return NEVER_FAULTY.has(method) ? call() : faultyCall(call, draw());
      };
    },
  });
}

async function faultyCall(call: () => Promise<unknown>, fault: Fault): Promise<unknown> {
  switch (fault) {
    case 'none':
      return call();
    case 'fail before':
      throw new InjectedFault('lost before it was made');
    case 'fail after':
      await call();
      throw new InjectedFault('made, and its answer lost');
    case 'delay':
      for (let turn = 0; turn < DELAY_TURNS; turn++) await nextTurn();
      return call();
    case 'duplicate': {
      const result = await call();
      await call();
      return result;
    }
  }
}

/** Faults drawn from a seed; a share `calm` (0 to 1) of the calls meets none. */
export function faultsOf(simSeed: number, calm: number): () => Fault {
  const chance = new Chance(simSeed);
  return () => (chance.chance(calm) ? 'none' : chance.pick(FAULTS.slice(1)));
}
