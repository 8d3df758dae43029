import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Marked, type Tokens } from 'marked';
import { BACKGROUND, GUIDES, type Guide } from '../src/http/pages/guides.ts';
import type { SearchEntry } from '../src/http/pages/reference-page.ts';

/**
 * Builds dist/docs/, the pages below /docs, from docs/*.md, and the sections that the search uses. It refuses markup in
 * the Markdown, so that nothing in it can become a script. Links between these files lead to their pages; links to
 * other files of the repository become text. `node scripts/build-docs.ts`
 */
const root = new URL('../', import.meta.url);
const PAGES: readonly Guide[] = [...GUIDES, ...BACKGROUND];

export interface BuiltPage {
  /** Path below dist/docs/. */
  readonly name: string;
  readonly text: string;
}

export function buildDocs(): BuiltPage[] {
  const entries: SearchEntry[] = [];
  const pages = PAGES.map(({ slug, title }) => {
    const source = readFileSync(new URL(`docs/${slug}.md`, root), 'utf8');
    return { name: `${slug}.html`, text: htmlOf(slug, title, source, entries) };
  });
  return [...pages, { name: 'search.json', text: `${JSON.stringify(entries, undefined, 1)}\n` }];
}

/** Returns the id of a heading in GitHub's form. */
export function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/<[^>]*>|[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

function htmlOf(slug: string, title: string, source: string, entries: SearchEntry[]): string {
  let tables = 0;
  /** The ids of the headings. */
  const ids = new Map<object, string>();
  const seen = new Map<string, number>();
  const unique = (anchor: string) => {
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  };
  const marked = new Marked({
    renderer: {
      html({ text }) {
        if (/^<!--[^>]*-->\s*$/.test(text)) return '';
        if (/^<a id="[\w-]+">$|^<\/a>$/.test(text)) return text;
        throw new Error(`docs/${slug}.md has HTML, which its page does not take: ${text}`);
      },
      image({ href }) {
        throw new Error(`docs/${slug}.md has an image, which its page does not take: ${href}`);
      },
      heading(token) {
        const { tokens, depth } = token;
        return `<h${depth} id="${ids.get(token)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const address = addressOf(href);
        return address === undefined ? text : `<a href="${address}">${text}</a>`;
      },
      code({ text }) {
        return `<div class="code"><button type="button" class="copy scripted" aria-label="Copy this block">Copy</button><pre tabindex="0" role="group" aria-label="Example">${escaped(text)}</pre></div>\n`;
      },
      table({ header, rows }) {
        const cells = (row: readonly Tokens.TableCell[], tag: (column: number) => string) =>
          row.map((cell, column) => {
            const [name] = tag(column).split(' ');
            return `<${tag(column)}>${this.parser.parseInline(cell.tokens)}</${name}>`;
          });
        const head = cells(header, () => 'th scope="col"').join('');
        // On a phone the cells of a row are stacked, so each cell of several shows its column's name.
        const label = (column: number) =>
          header.length > 2 ? ` data-head="${escaped(header[column].text)}"` : '';
        const body = rows.map(
          (row) =>
            `<tr>${cells(row, (column) => (column === 0 ? 'th scope="row"' : `td${label(column)}`)).join('')}</tr>\n`,
        );
        return `<div class="tables" tabindex="0" role="region" aria-label="Table ${++tables}"><table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body.join('')}</tbody>\n</table></div>\n`;
      },
    },
  });
  const parts = marked.lexer(source);
  const headings = parts.filter((part): part is Tokens.Heading => part.type === 'heading');
  for (const heading of headings) {
    const { depth, text } = heading;
    const id = unique(anchorOf(text));
    ids.set(heading, id);
    const path = depth === 1 ? `/docs/${slug}` : `/docs/${slug}#${id}`;
    const rest = parts.slice(parts.indexOf(heading) + 1);
    const end = rest.findIndex(({ type }) => type === 'heading');
    const below = rest.slice(0, end === -1 ? undefined : end).map(({ raw }) => raw);
    const words = below.join('').replaceAll(/[\s`*|]+/g, ' ');
    entries.push({ path, title: text.replaceAll('`', ''), place: title, text: words });
  }
  return marked.parser(parts);
}

/** Returns the address that a link of a page leads to; undefined for a file that has no page. */
function addressOf(href: string): string | undefined {
  if (/^https:\/\/[\w./#?=&%-]+$/.test(href) || href.startsWith('#')) return href;
  const [, slug, anchor = ''] = /^([\w-]+)\.md(#[\w-]+)?$/.exec(href) ?? [];
  return PAGES.some((each) => each.slug === slug) ? `/docs/${slug}${anchor}` : undefined;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = new URL('dist/docs/', root);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { name, text } of buildDocs()) writeFileSync(new URL(name, folder), text);
}
