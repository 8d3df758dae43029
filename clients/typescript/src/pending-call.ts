import type { RawResponse } from './error.ts';

/** An answer to come, and beside it the response that it came in. */
export interface PendingCall<T> extends Promise<T> {
  /** The answer and the response: status, header fields and the body as it came. */
  withResponse(): Promise<{ readonly answer: T; readonly response: RawResponse }>;
}

/** Reads an answer from a response when that comes. */
export function pendingCall<T>(
  coming: Promise<RawResponse>,
  read: (response: RawResponse) => T,
): PendingCall<T> {
  const answered = coming.then(read);
  return Object.assign(answered, {
    withResponse: async () => ({ answer: await answered, response: await coming }),
  });
}
