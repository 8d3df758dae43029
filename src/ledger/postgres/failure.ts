import { messageOf } from '../../core/assert.ts';
import { ApiError } from '../../core/errors.ts';
import { LedgerError } from '../ledger.ts';

/** Returns the error of a failed opening with a message that tells the operator what to do. */
export function openFailure(error: unknown, url: string): Error {
  const told = awayFailure(error, url);
  if (told instanceof LedgerError) return told;
  const why = messageOf(told);
  return new LedgerError('unusable', `the ledger in PostgreSQL at ${placeOf(url)} cannot be opened: ${why}`, {
    cause: told,
  });
}

/**
 * Turns `storage_unavailable`, which clients get while PostgreSQL does not answer, into an error that tells the operator what
 * to do. Returns any other error as it is. For starts and commands: a running service goes on, and its clients ask again.
 */
export function awayFailure(error: unknown, url: string): unknown {
  if (!(error instanceof ApiError) || error.code !== 'storage_unavailable') return error;
  return new LedgerError(
    'unusable',
    `PostgreSQL does not answer at ${placeOf(url)}: start it, or correct QRN_LEDGER`,
  );
}

/** Returns a connection string without user and password, for messages. */
export function placeOf(url: string): string {
  return url.replace(/^(\w+:\/\/).*@/, '$1').replace(/[?&](?:ssl)?password=[^&]*/g, '');
}
