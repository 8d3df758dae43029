import type { Clock } from '../core/clock.ts';
import type { Backend } from './backend.ts';
import { createSimulator } from './simulator/simulator.ts';
import { createSystemSource } from './system.ts';

const CONSTRUCTORS: ReadonlyMap<string, (clock: Clock) => Backend> = new Map([
  ['simulator', (clock: Clock): Backend => createSimulator({ clock })],
  ['system', createSystemSource],
]);

/**
 * The backend that the operator named. An unknown name is a mistake in the configuration: the error lists the
 * known.
 */
export function createBackend(name: string, clock: Clock): Backend {
  const create = CONSTRUCTORS.get(name);
  if (create === undefined) {
    throw new Error(`unknown backend "${name}"; known: ${[...CONSTRUCTORS.keys()].join(', ')}`);
  }
  return create(clock);
}
