import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';

/** WCAG 2.2, 1.4.3 and 1.4.11, computed from the style sheet's own colours in both schemes. */

const css = readFileSync(new URL('../../../src/http/pages/page.css', import.meta.url), 'utf8');

/** `--name: light-dark(LIGHT, DARK);` */
const COLOURS = [...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)];

/** Relative luminance of sRGB, WCAG 2.2 "relative luminance". */
function luminance(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

const TEXT: readonly [colour: string, on: string][] = [
  ['ink', 'paper'],
  ['ink', 'sheet'],
  ['quiet', 'paper'],
  ['quiet', 'sheet'],
  ['accent', 'paper'],
  ['accent', 'sheet'],
  ['on-accent', 'accent'],
  ...['good', 'wait', 'bad'].flatMap((kind): [string, string][] => [
    [kind, `${kind}-tint`],
    [kind, 'sheet'],
    ['ink', `${kind}-tint`],
    ['accent', `${kind}-tint`],
  ]),
];
const CONTROLS: readonly [colour: string, on: string][] = [
  ['control', 'paper'],
  ['control', 'sheet'],
  ['accent', 'paper'],
];

it('the contrast formula gives the known values', () => {
  assert.equal(contrast('#ffffff', '#000000'), 21);
  assert.ok(Math.abs(contrast('#777777', '#ffffff') - 4.48) < 0.005);
});

for (const scheme of ['light', 'dark'] as const) {
  it(`text has at least 4.5:1 and controls have 3:1 in the ${scheme} scheme`, () => {
    const colours = new Map(
      COLOURS.map(([, name, light, dark]) => [name, scheme === 'light' ? light : dark]),
    );
    const least = (pairs: readonly [string, string][], ratio: number) => {
      for (const [colour, on] of pairs) {
        const [a, b] = [colours.get(colour), colours.get(on)];
        assert.ok(a !== undefined && b !== undefined, `${colour} and ${on} are colours`);
        assert.ok(contrast(a, b) >= ratio, `${colour} on ${on}: ${contrast(a, b).toFixed(2)}`);
      }
    };
    least(TEXT, 4.5);
    least(CONTROLS, 3);
  });
}
