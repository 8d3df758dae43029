import { ApiError, type ErrorCode, type ErrorFacts } from '../core/errors.ts';
import { LedgerError, type LedgerErrorReason } from './ledger.ts';

/** An error on its way to another thread or process. */
export type PackedError =
  | { readonly kind: 'api'; readonly code: ErrorCode; readonly facts: ErrorFacts }
  | { readonly kind: 'ledger'; readonly reason: LedgerErrorReason; readonly message: string }
  | { readonly kind: 'other'; readonly name: string; readonly message: string; readonly stack: string };

/** Keeps the class and code of ApiError and LedgerError; any other error keeps its name, message and stack. */
export function packError(error: unknown): PackedError {
  if (error instanceof ApiError) return { kind: 'api', code: error.code, facts: error.facts };
  if (error instanceof LedgerError) return { kind: 'ledger', reason: error.reason, message: error.message };
  if (error instanceof Error) {
    return { kind: 'other', name: error.name, message: error.message, stack: error.stack ?? '' };
  }
  return { kind: 'other', name: 'Error', message: String(error), stack: '' };
}

export function unpackError(packed: PackedError): Error {
  if (packed.kind === 'api') return new ApiError(packed.code, packed.facts);
  if (packed.kind === 'ledger') return new LedgerError(packed.reason, packed.message);
  const error = new Error(packed.message);
  error.name = packed.name;
  error.stack = packed.stack;
  return error;
}
