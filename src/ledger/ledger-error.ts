/**
 * Why the ledger says no. None of these is a client's doing, so none is in the error table: the command line prints
 * the message, the service logs it.
 * - conflict: the id is taken by different content.
 * - refused: the call breaks a rule of the ledger (unknown account, blocks of a rejected lot, a write by a tool).
 * - damaged: a stored record does not carry its own checksum or shape.
 * - unusable: the folder cannot be opened (newer format, another server, not a ledger).
 * - stopped: a commit failed or another server took the folder; nothing more will be written.
 */
export type LedgerErrorReason = 'conflict' | 'refused' | 'damaged' | 'unusable' | 'stopped';

export class LedgerError extends Error {
  override name = 'LedgerError';
  readonly reason: LedgerErrorReason;

  constructor(reason: LedgerErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
