import { utf8Bytes } from '../../core/bytes.ts';
import { utcTime } from '../../core/figures.ts';
import { type Field, headOf } from '../head.ts';
import type { Reply } from '../reply.ts';
import type { PageAssets } from './assets.ts';

/** The path of the page on how a draw is fair. */
export const FAIR_DRAWS_PATH = '/docs/draws';
/** The path of the page that follows the log in a browser. */
export const LOG_PAGE_PATH = '/log';

export interface Page {
  readonly status: number;
  readonly title: string;
  /** The content. A function is called when the body is first read: use one for content that takes long to make. */
  readonly main: Markup | (() => Markup);
  readonly cacheControl: string;
  /** The menu entry that the page belongs to: by default that of certificates, null for none. */
  readonly place?: Place | null;
  /** Header fields in addition to those of every page: by default CAPABILITY_FIELDS. */
  readonly fields?: readonly Field[];
}

type Place = 'docs' | 'verify' | 'draws' | 'log' | 'status';

const MENU: readonly [place: Place, path: string, name: string][] = [
  ['docs', '/docs', 'Docs'],
  ['verify', '/verify', 'Verify'],
  ['draws', '/draws', 'Draws'],
  ['log', LOG_PAGE_PATH, 'Log'],
  ['status', '/status', 'Status'],
];

const SERVICE = 'Quantum Random Number Service';

/**
 * A page may load only the style, icon and scripts of this service, and send requests only to this service. It cannot be
 * framed, and no text in it can become a script.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/**
 * Fields of pages with an id in the address. Whoever knows the id can open the page, so referrers and search engines must not
 * get it.
 */
export const CAPABILITY_FIELDS: readonly Field[] = [
  ['Vary', 'Accept'],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Robots-Tag', 'noindex, nofollow'],
];

/** Returns the reply with a page. The body is made when it is first read. */
export function pageReply(page: Page, assets: PageAssets): Reply {
  const head = headOf(page.status, [
    ['Content-Type', 'text/html; charset=utf-8'],
    ['Cache-Control', page.cacheControl],
    ['Content-Security-Policy', POLICY],
    ['Cross-Origin-Opener-Policy', 'same-origin'],
    ['Cross-Origin-Resource-Policy', 'same-origin'],
    ['X-Frame-Options', 'DENY'],
    ...(page.fields ?? CAPABILITY_FIELDS),
  ]);
  let body: Uint8Array<ArrayBuffer> | undefined;
  return {
    head,
    isMadeLate: true,
    get body() {
      return (body ??= utf8Bytes(documentOf(page, assets).text));
    },
  };
}

function documentOf({ title, main, place = 'verify' }: Page, assets: PageAssets): Markup {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title === SERVICE ? title : `${title} · ${SERVICE}`}</title>
<link rel="icon" type="image/svg+xml" href="${assets.path('icon.svg')}">
<link rel="stylesheet" href="${assets.path('page.css')}">
<script type="module" src="${assets.path('page.mjs')}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="site"><a href="/">Quantum Random Numbers</a>
<nav aria-label="Site">${MENU.map(([name, path, text]) => html`<a href="${path}"${name === place ? html` aria-current="page"` : null}>${text}</a>`)}</nav></header>
<main id="main" tabindex="-1">
${typeof main === 'function' ? main() : main}
</main>
<footer class="site">
<p>Public record: <a href="/log/checkpoint">signed checkpoint</a>, <a href="/.well-known/qrn-keys.json">public keys</a>,
<a href="/assets/qrn-verify.mjs" download>the verifier as one file</a>.
For programs: <a href="/openapi.json">OpenAPI 3.1</a>.</p>
</footer>
</body>
</html>
`;
}

/**
 * HTML that `html` has made from a template. `html` escapes every value except one that it made itself. Attribute values
 * in templates must be in double quotes.
 */
export class Markup {
  readonly text: string;

  /** Only for text that is HTML already; everything else is made by `html`. */
  constructor(text: string) {
    this.text = text;
  }
}

export type Content = string | number | Markup | readonly Content[] | null;

export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  let text = strings[0];
  values.forEach((value, i) => {
    text += textOf(value) + strings[i + 1];
  });
  return new Markup(text);
}

function textOf(value: Content): string {
  if (value instanceof Markup) return value.text;
  if (typeof value === 'string') return escaped(value);
  if (typeof value === 'number') return String(value);
  return value === null ? '' : value.map(textOf).join('');
}

/** Returns a section that its heading names. */
export function section(id: string, title: Content, content: Content): Markup {
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${content}</section>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Shows a time, given in ISO 8601 or in Unix milliseconds. */
export function time(at: string | number): Markup {
  return html`<time datetime="${new Date(at).toISOString()}">${utcTime(at)}</time>`;
}

/** Returns at most `lengthMax` UTF-16 units of a text, without cutting a surrogate pair in half. */
export function shortened(text: string, lengthMax: number): string {
  return text.slice(0, lengthMax).replace(/[\uD800-\uDBFF]$/, '');
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]);
}
