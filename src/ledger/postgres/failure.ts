import { messageOf } from '../../core/assert.ts';
import { ApiError } from '../../core/errors.ts';
import { LedgerError } from '../ledger.ts';

/** The error of an opening as a sentence that an operator can act on. */
export function openFailure(error: unknown, url: string): Error {
  const told = awayFailure(error, url);
  if (told instanceof LedgerError) return told;
  const why = messageOf(told);
  return new LedgerError('unusable', `the ledger in PostgreSQL at ${placeOf(url)} cannot be opened: ${why}`, {
    cause: told,
  });
}

/**
 * What a client is told while PostgreSQL does not answer, as a sentence that an operator can act on; any other error as it is.
 * For a start: a service that runs goes on, and its clients ask again.
 */
export function awayFailure(error: unknown, url: string): unknown {
  if (!(error instanceof ApiError) || error.code !== 'storage_unavailable') return error;
  return new LedgerError(
    'unusable',
    `PostgreSQL does not answer at ${placeOf(url)}: start it, or correct QRN_LEDGER`,
  );
}

/** A connection string without its user and password, for messages. */
export function placeOf(url: string): string {
  return url.replace(/^(\w+:\/\/).*@/, '$1').replace(/[?&](?:ssl)?password=[^&]*/g, '');
}
