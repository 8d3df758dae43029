import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Marked, type Tokens } from 'marked';

/**
 * Makes dist/draws.html, the text of the page /docs/draws, from docs/draws.md. Markup in the Markdown is refused, so that
 * nothing of it can become a script; links to other files of the repository become text. `node scripts/build-docs.ts`
 */
const root = new URL('../', import.meta.url);
const PAGE = new URL('dist/draws.html', root);

export function buildDraws(): string {
  const marked = new Marked({
    renderer: {
      html({ text }) {
        throw new Error(`docs/draws.md has HTML, which its page does not take: ${text}`);
      },
      image({ href }) {
        throw new Error(`docs/draws.md has an image, which its page does not take: ${href}`);
      },
      heading({ tokens, depth, text }) {
        const id = text.toLowerCase().replaceAll(/[^a-z]+/g, '-');
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        return /^https:\/\/[\w./-]+$/.test(href) ? `<a href="${href}">${text}</a>` : text;
      },
      code({ text }) {
        return `<pre tabindex="0" role="group" aria-label="Example">${escaped(text)}</pre>\n`;
      },
      table({ header, rows }) {
        const cells = (row: readonly Tokens.TableCell[], tag: (column: number) => string) =>
          row.map((cell, column) => {
            const [name] = tag(column).split(' ');
            return `<${tag(column)}>${this.parser.parseInline(cell.tokens)}</${name}>`;
          });
        const head = cells(header, () => 'th scope="col"').join('');
        const body = rows.map(
          (row) => `<tr>${cells(row, (column) => (column === 0 ? 'th scope="row"' : 'td')).join('')}</tr>\n`,
        );
        return `<table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body.join('')}</tbody>\n</table>\n`;
      },
    },
  });
  return marked.parse(readFileSync(new URL('docs/draws.md', root), 'utf8'), { async: false });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PAGE, buildDraws());
