import { readFileSync } from 'node:fs';
import { sha256Hex } from '../../crypto/digest.ts';
import { publicReply } from '../reply.ts';
import type { PlainRoute } from '../route-table.ts';

/** The files that pages load. scripts/build-verifier.ts makes the scripts; a test runs it again to compare. */
const ASSETS = ['page.css', 'icon.svg', 'page.mjs', 'qrn-verify.mjs'];

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  mjs: 'text/javascript; charset=utf-8',
};

/** The verifier. It also has a path without a hash, for readers who download a copy to check with. */
const VERIFIER = 'qrn-verify.mjs';
export const VERIFIER_PATH = `/assets/${VERIFIER}`;

export interface PageAssets {
  readonly routes: readonly PlainRoute[];
  /** Returns the path by which pages load an asset. */
  path(name: string): string;
}

/**
 * Reads the assets. Throws when one is missing. The paths in pages contain the hash of all assets, so that a cached copy is never
 * out of date.
 */
export function loadPageAssets(): PageAssets {
  const loaded = ASSETS.map((name) => {
    const extension = name.slice(name.lastIndexOf('.') + 1);
    const folder = extension === 'mjs' ? '../../../dist/' : './';
    const bytes = new Uint8Array(readFileSync(new URL(folder + name, import.meta.url)));
    return { name, contentType: CONTENT_TYPES[extension], bytes };
  });
  const digest = sha256Hex(Buffer.concat(loaded.map(({ bytes }) => bytes))).slice(0, 16);
  const path = (name: string) => `/assets/${digest}/${name}`;
  const routes = loaded.flatMap(({ name, contentType, bytes }): PlainRoute[] => {
    const forEver = publicReply(contentType, bytes, 'public, max-age=31536000, immutable');
    const named = { path: path(name), handler: () => forEver };
    if (name !== VERIFIER) return [named];
    const forNow = publicReply(contentType, bytes, 'public, max-age=300');
    return [named, { path: VERIFIER_PATH, handler: () => forNow }];
  });
  const icon = loaded.find(({ name }) => name === 'icon.svg')!;
  // browsers ask for /favicon.ico when a reply names no icon, such as JSON
  const favicon = publicReply(icon.contentType, icon.bytes, 'public, max-age=86400');
  return { routes: [...routes, { path: '/favicon.ico', handler: () => favicon }], path };
}
