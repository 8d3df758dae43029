import type { RawResponse } from './error.ts';

/** A promise of an answer, which also gives access to the response. */
export interface PendingCall<T> extends Promise<T> {
  /** Resolves to the answer and the response with its status, header fields and body. */
  withResponse(): Promise<{ readonly answer: T; readonly response: RawResponse }>;
}

/** Returns a PendingCall whose answer `read` takes from the response. */
export function pendingCall<T>(
  coming: Promise<RawResponse>,
  read: (response: RawResponse) => T,
): PendingCall<T> {
  const answered = coming.then(read);
  return Object.assign(answered, {
    withResponse: async () => ({ answer: await answered, response: await coming }),
  });
}
