/**
 * Returns what a reader sees of a page, a block a line, with the content of controls: `-` is open, `+` is folded, `*`
 * is chosen, `#` links to it, and code is between bars.
 */
export function seen(page: string): string[] {
  return page
    .replaceAll(/<button.*?<\/button>/g, '')
    .replaceAll(/<(?:input|textarea)[^>]* value="([^"]+)"[^>]*>/g, '[$1]')
    .replaceAll(/<dd[^>]*>(?!<details)/g, ': ')
    .replaceAll(/<details([^>]*)>/g, (_, more: string) => (more.includes(' open') ? '\n- ' : '\n+ '))
    .replaceAll(/<option( selected)?>/g, (_, isChosen?: string) => (isChosen === undefined ? ' ' : ' *'))
    .replaceAll(/<(?:p|h1|h2|h3|dt|li|div|section|summary|pre)\b[^>]*>/g, '\n')
    .replaceAll(/<\/?code>/g, '|')
    .replaceAll(/<div id="([^"]+)">/g, '\n#$1')
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(
      /&(quot|#39|amp);/g,
      (_, name: 'quot' | '#39' | 'amp') => ({ quot: '"', '#39': "'", amp: '&' })[name],
    )
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
