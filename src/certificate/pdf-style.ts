import { rgb } from '@cantoo/pdf-lib';
import { PAGE, type Sheet, type TextStyle } from './pdf-sheet.ts';

/** Margins, colours and text styles that the pages of the PDF certificate share. Lengths are points. */

export const MARGIN = 48;
export const WIDTH = PAGE.width - 2 * MARGIN;

/** Of the labels beside their values. */
export const LABEL_WIDTH = 64;

export type Row = readonly [label: string, value: string];

export const INK = rgb(0.09, 0.11, 0.16);
export const GREY = rgb(0.4, 0.43, 0.5);
export const ACCENT = rgb(0.16, 0.27, 0.55);
export const HAIRLINE = rgb(0.82, 0.84, 0.88);
export const WHITE = rgb(1, 1, 1);
export const GREEN = rgb(0.07, 0.43, 0.26);
export const RED = rgb(0.7, 0.11, 0.13);
export const AMBER = rgb(0.6, 0.36, 0);
export const RED_TINT = rgb(0.99, 0.93, 0.93);
export const AMBER_TINT = rgb(1, 0.96, 0.88);

export const LABEL: TextStyle = { font: 'regular', size: 8, color: GREY };
export const VALUE: TextStyle = { font: 'regular', size: 9, color: INK };
export const HEADING: TextStyle = { font: 'bold', size: 7.5, color: ACCENT, tracking: 0.8 };
export const HASH: TextStyle = { font: 'mono', size: 8.5, color: INK };
export const SMALL: TextStyle = { font: 'regular', size: 8, color: INK };

/** A title with a line below it, its baseline at `y`; gives where the line ends. */
export function drawHeading(sheet: Sheet, title: string, x: number, y: number, width: number): number {
  sheet.line(title.toUpperCase(), x, y, HEADING, width);
  sheet.rule(x, y + 6, width, HAIRLINE);
  return y + 8;
}
