import { readFileSync } from 'node:fs';
import { headOf } from '../head.ts';
import type { PlainRoute } from '../route-table.ts';

/** Where the page stands that follows the log in a browser. */
export const LOG_PAGE_PATH = '/log';

/**
 * The page is one file with its script and its style inside, so that a copy of it works anywhere; it says itself which
 * script may run. The service adds that it asks this service alone and is not framed. scripts/build-verifier.ts makes it.
 */
export function logPageRoute(): PlainRoute {
  const body = new Uint8Array(readFileSync(new URL('../../../dist/log-watch.html', import.meta.url)));
  const head = headOf(200, [
    ['Content-Type', 'text/html; charset=utf-8'],
    ['Cache-Control', 'no-cache'],
    ['Content-Security-Policy', "connect-src 'self'; frame-ancestors 'none'"],
    ['Cross-Origin-Opener-Policy', 'same-origin'],
    ['Cross-Origin-Resource-Policy', 'same-origin'],
    ['Referrer-Policy', 'no-referrer'],
    ['X-Content-Type-Options', 'nosniff'],
    ['X-Frame-Options', 'DENY'],
  ]);
  return {
    methods: ['GET', 'HEAD'],
    scope: null,
    limited: false,
    path: LOG_PAGE_PATH,
    handler: () => ({ status: 200, head, body }),
  };
}
