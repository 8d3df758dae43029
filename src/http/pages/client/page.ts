import { page } from './browser.ts';
import { offerCheck } from './check-form.ts';
import { offerCopies } from './copy.ts';
import { offerThrow } from './die.ts';
import { offerDrawCheck } from './draw-check.ts';
import { keepFresh } from './refresh.ts';
import { offerToSend } from './try-form.ts';

/* The script of all pages except log-watch.html. Each part works on the page that has its element. */

offerCopies();
// the guides have headings with ids of their own, so each selector names the kind of the element too
for (const [selector, start] of [
  ['form#check', offerCheck],
  ['button#check-draw', offerDrawCheck],
  ['button#die-button', offerThrow],
  ['form#try-form', offerToSend],
  ['span#as-of', keepFresh],
] as const)
  for (const found of page.querySelectorAll(selector)) start(found);
