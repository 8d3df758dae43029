/** Many ways to write one thing. A mask picks among them: 0 is the plain way, so failures shrink to it. */

export function bit(mask: number, index: number): boolean {
  return ((mask >>> ((index * 7) % 31)) & 1) === 1;
}

const PLAIN = /^[A-Za-z0-9._~!$'()*:;@/?+-]$/;

/** Percent-encoded as far as it must be, and further where the mask says so. */
export function percentEncoded(text: string, mask: number): string {
  let encoded = '';
  let index = 0;
  for (const character of text) {
    if (PLAIN.test(character) && !bit(mask, index++)) {
      encoded += character;
      continue;
    }
    for (const byte of Buffer.from(character, 'utf8')) {
      const hex = byte.toString(16).padStart(2, '0');
      encoded += `%${bit(mask, index++) ? hex.toUpperCase() : hex}`;
    }
  }
  return encoded;
}

/** A whole number as a query may write it. */
export function wholeText(value: number, mask: number): string {
  const zeros = '0'.repeat(bit(mask, 1) ? (mask % 5) + (bit(mask, 2) ? 300 : 0) : 0);
  if (value === 0 && bit(mask, 3)) return `-${zeros}0`;
  return value < 0 ? `-${zeros}${-value}` : `${zeros}${value}`;
}

/** A number as JSON may write it; a whole one in several ways. */
export function jsonNumber(value: number, mask: number): string {
  const plain = String(value);
  if (!Number.isInteger(value)) return plain;
  if (bit(mask, 4)) return `${plain}.0`;
  if (bit(mask, 5)) return `${plain}e0`;
  if (bit(mask, 6) && value !== 0 && value % 10 === 0) return `${value / 10}E+1`;
  if (bit(mask, 7) && value === 0) return '-0';
  return plain;
}

/** A JSON string, some of its characters as escapes. */
export function jsonText(text: string, mask: number): string {
  let index = 0;
  const escaped = JSON.stringify(text).replaceAll(/[a-z0-9]/g, (character, at: number, whole: string) => {
    if (whole[at - 1] === '\\' || /\\u[0-9a-f]{0,3}$/.test(whole.slice(0, at))) return character;
    if (!bit(mask, index++)) return character;
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return escaped;
}

/** A list in an order that the mask picks; 0 leaves it as it is. */
export function reordered<T>(list: readonly T[], mask: number): T[] {
  const left = [...list];
  const order: T[] = [];
  for (let rest = mask; left.length > 0; rest = Math.floor(rest / 7)) {
    order.push(...left.splice(rest % left.length, 1));
  }
  return order;
}

export function jsonObject(
  members: readonly (readonly [name: string, text: string])[],
  mask: number,
): string {
  const gap = bit(mask, 8) ? ' \n\t\r'.repeat((mask % 3) + 1) : '';
  const inner = members.map(
    ([name, text]) => `${gap}${jsonText(name, mask >>> 3)}${gap}:${gap}${text}${gap}`,
  );
  return `${gap}{${inner.join(',')}}${gap}`;
}
