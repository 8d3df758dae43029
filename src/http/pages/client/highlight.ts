import bash from 'highlight.js/lib/languages/bash';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import { createLowlight } from 'lowlight';
import { type BrowserElement, made } from './browser.ts';

/*
 * Colours code by highlight.js. Lowlight gives its tokens as a tree, of which elements are made here: no text becomes
 * HTML, which the policy of the page would refuse.
 */

const highlighter = createLowlight({ bash, json, python, typescript });
/** Longer text stays in one colour: it would cost more time and memory than it is worth. */
const COLOURED_MAX = 20_000;

interface Node {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly Node[];
  readonly properties?: { readonly className?: unknown };
}

/** Writes the text into the element, coloured by the language that its `data-language` names. */
export function writeCode(target: BrowserElement, text: string): void {
  const language = target.dataset['language'] ?? '';
  if (text.length > COLOURED_MAX || !highlighter.registered(language)) {
    target.textContent = text;
    return;
  }
  target.textContent = '';
  const tree: Node = highlighter.highlight(language, text);
  target.append(...(tree.children ?? []).map(elementOf));
}

function elementOf(node: Node): BrowserElement | string {
  if (node.type === 'text') return node.value ?? '';
  const span = made('span');
  const { className } = node.properties ?? {};
  span.className = Array.isArray(className) ? className.join(' ') : '';
  span.append(...(node.children ?? []).map(elementOf));
  return span;
}
