import { memberOf } from './json-path.ts';

/** What a reply says in words, under the names that these services use; empty when it says nothing. */
export function wordsOf(json: unknown): string {
  for (const name of ['message', 'error', 'detail', 'error_description']) {
    const member = memberOf(json, name);
    if (typeof member === 'string') return member;
    const inner = memberOf(member, 'message');
    if (typeof inner === 'string') return inner;
  }
  return '';
}
