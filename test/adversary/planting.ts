import { syncBuiltinESMExports } from 'node:module';
import { Reservation } from '../../src/account/reservation.ts';

type Arguments<F> = F extends (...args: infer A) => unknown ? A : never;
type Result<F> = F extends (...args: never[]) => infer R ? R : never;

/** Sets a member of the service; returns what restores it. */
export function replaced<T extends object, K extends keyof T>(owner: T, name: K, value: T[K]): () => void {
  const own = owner[name];
  owner[name] = value;
  return () => {
    owner[name] = own;
  };
}

/** Replaces a method: `planted` gets the method itself, bound to its object, the object, and the arguments of the call. */
export function around<T extends object, K extends keyof T>(
  owner: T,
  name: K,
  planted: (own: T[K], self: T, ...args: Arguments<T[K]>) => Result<T[K]>,
): () => void {
  const own = owner[name] as (...args: unknown[]) => unknown;
  const method = function (this: T, ...args: unknown[]) {
    return planted(own.bind(this) as T[K], this, ...(args as Arguments<T[K]>));
  };
  return replaced(owner, name, method as T[K]);
}

/** Does the same for a function of a module of Node, for all its importers. */
export function aroundBuiltin<T extends object, K extends keyof T>(
  ...change: Parameters<typeof around<T, K>>
): () => void {
  const undo = around(...change);
  syncBuiltinESMExports();
  return () => {
    undo();
    syncBuiltinESMExports();
  };
}

/** Plants a bug: a refused request gives back its holdings except those that `forget` removes. */
export function forgettingRelease(forget: (reservation: Reservation) => void): () => void {
  return around(Reservation.prototype, 'release', (release, reservation) => {
    forget(reservation);
    release();
  });
}
