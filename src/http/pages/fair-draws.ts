import { readFileSync } from 'node:fs';
import { html, Markup } from './layout.ts';

/** What a committed draw shows, for people who were not there; docs/draws.md, made into HTML by scripts/build-docs.ts. */
export function fairDrawsMain(): Markup {
  const text = readFileSync(new URL('../../../dist/draws.html', import.meta.url), 'utf8');
  return html`<article class="article">
${new Markup(text)}
</article>`;
}
