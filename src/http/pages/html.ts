/**
 * HTML from templates in which every value is text: `html` escapes what it is given, and only what it made itself goes
 * in as it is. Attribute values stand in double quotes.
 */
export class Markup {
  readonly text: string;

  /** For text that is HTML already; everyone else calls `html`. */
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

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]);
}
