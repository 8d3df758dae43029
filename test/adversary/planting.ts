import { Reservation } from '../../src/account/reservation.ts';

/** Replaces a function or value of the service; returns what restores it. */
export function replaced<T extends object, K extends keyof T>(
  owner: T,
  name: K,
  make: (own: T[K]) => T[K],
): () => void {
  const own = owner[name];
  owner[name] = make(own);
  return () => {
    owner[name] = own;
  };
}

/** Plants a bug: a refused request gives back its holdings except those that `forget` removes. */
export function forgettingRelease(forget: (reservation: Reservation) => void): () => void {
  return replaced(
    Reservation.prototype,
    'release',
    (release) =>
      function (this: Reservation) {
        forget(this);
        release.call(this);
      },
  );
}
