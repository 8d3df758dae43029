import { Reservation } from '../../src/account/reservation.ts';

/** Puts another function or value in the place of one of the service's; gives what puts it back. */
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

/** A refused request gives back what it held, but for what `forget` takes out of it. */
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
