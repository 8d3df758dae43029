import { readFileSync } from 'node:fs';
import { sha256Hex } from '../../crypto/digest.ts';
import type { Reply } from '../error-reply.ts';
import { headOf } from '../head.ts';
import type { PlainRoute } from '../route-table.ts';

/**
 * What pages load. Each name that a page uses carries the hash of them all, so that a copy never goes stale.
 */
interface Asset {
  readonly name: string;
  readonly contentType: string;
  readonly file: URL;
}

const MODULE = 'text/javascript; charset=utf-8';
const ASSETS: readonly Asset[] = [
  {
    name: 'page.css',
    contentType: 'text/css; charset=utf-8',
    file: new URL('./page.css', import.meta.url),
  },
  {
    name: 'docs.css',
    contentType: 'text/css; charset=utf-8',
    file: new URL('./docs.css', import.meta.url),
  },
  {
    name: 'drawings.css',
    contentType: 'text/css; charset=utf-8',
    file: new URL('./drawings.css', import.meta.url),
  },
  { name: 'icon.svg', contentType: 'image/svg+xml', file: new URL('./icon.svg', import.meta.url) },
  // made by scripts/build-verifier.ts, which a test runs again to compare
  {
    name: 'verify-page.mjs',
    contentType: MODULE,
    file: new URL('../../../dist/verify-page.mjs', import.meta.url),
  },
  {
    name: 'draw-page.mjs',
    contentType: MODULE,
    file: new URL('../../../dist/draw-page.mjs', import.meta.url),
  },
  {
    name: 'status-page.mjs',
    contentType: MODULE,
    file: new URL('../../../dist/status-page.mjs', import.meta.url),
  },
  {
    name: 'docs-page.mjs',
    contentType: MODULE,
    file: new URL('../../../dist/docs-page.mjs', import.meta.url),
  },
  {
    name: 'qrn-verify.mjs',
    contentType: MODULE,
    file: new URL('../../../dist/qrn-verify.mjs', import.meta.url),
  },
  {
    name: 'qrn-verify-draw.mjs',
    contentType: MODULE,
    file: new URL('../../../dist/qrn-verify-draw.mjs', import.meta.url),
  },
];

/** The verifier under a name that stays, for whoever wants to keep a copy and check with that. */
export const VERIFIER_PATH = '/assets/qrn-verify.mjs';

export interface PageAssets {
  readonly routes: readonly PlainRoute[];
  /** The path of an asset as pages name it. */
  path(name: string): string;
}

/** Reads the assets. Throws when one is missing. */
export function loadPageAssets(): PageAssets {
  const loaded = ASSETS.map((asset) => ({ ...asset, bytes: new Uint8Array(readFileSync(asset.file)) }));
  const digest = sha256Hex(Buffer.concat(loaded.map(({ bytes }) => bytes))).slice(0, 16);
  const path = (name: string) => `/assets/${digest}/${name}`;
  const open = { methods: ['GET', 'HEAD'], scope: null, limited: false } as const;
  const routes = loaded.flatMap(({ name, contentType, bytes }): PlainRoute[] => {
    const forEver = reply(contentType, bytes, 'public, max-age=31536000, immutable');
    const named = { ...open, path: path(name), handler: () => forEver };
    if (`/assets/${name}` !== VERIFIER_PATH) return [named];
    const forNow = reply(contentType, bytes, 'public, max-age=300');
    return [named, { ...open, path: VERIFIER_PATH, handler: () => forNow }];
  });
  return { routes, path };
}

function reply(contentType: string, body: Uint8Array<ArrayBuffer>, cacheControl: string): Reply {
  const head = headOf(200, [
    ['Content-Type', contentType],
    ['Cache-Control', cacheControl],
    ['Access-Control-Allow-Origin', '*'],
    ['X-Content-Type-Options', 'nosniff'],
  ]);
  return { status: 200, head, body };
}
