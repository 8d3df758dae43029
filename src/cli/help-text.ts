/** Help fits a terminal of this width. */
const HELP_WIDTH = 80;
/** Of names beside what they mean; what a longer one means stands below it. */
const NAME_WIDTH_MAX = 22;

/** Text in lines of HELP_WIDTH; its own line breaks are blanks. */
export function filled(text: string, indent = ''): string {
  return filledWords(text.split(/\s+/), indent);
}

/** Words, none of which is broken; each line but the first begins with the indent. */
export function filledWords(words: readonly string[], indent: string): string {
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line === undefined) lines.push(word);
    else if (line.length + 1 + word.length <= HELP_WIDTH) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(indent + word);
  }
  return lines.join('\n');
}

/** Names with what they mean beside them. */
export function described(rows: readonly (readonly [name: string, meaning: string])[]): string {
  const width = Math.min(NAME_WIDTH_MAX, Math.max(...rows.map(([name]) => name.length)));
  const indent = ' '.repeat(width + 4);
  return rows
    .map(([name, meaning]) => {
      const isLong = name.length > width;
      const first = `  ${name.padEnd(width)}  `;
      const text = filled(`${'x'.repeat(width + 4)}${meaning}`, indent).slice(width + 4);
      return isLong ? `  ${name}\n${indent}${text}` : `${first}${text}`;
    })
    .join('\n');
}
