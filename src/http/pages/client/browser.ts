/**
 * The parts of the browser's interface that the scripts use. The project is compiled without the browser's types, so that
 * no code can use `document` by mistake. Scripts cannot use anything that is not declared here, such as innerHTML: the text that
 * they show stays text.
 */
export interface BrowserElement extends BrowserNode {
  textContent: string;
  className: string;
  hidden: boolean;
  disabled: boolean;
  value: string;
  onclick: (() => void) | null;
  readonly dataset: Readonly<Record<string, string | undefined>>;
  readonly files: ArrayLike<Blob> | null;
  append(...nodes: (BrowserElement | string)[]): void;
  replaceChildren(...nodes: BrowserElement[]): void;
  setAttribute(name: string, value: string): void;
  focus(options: { preventScroll: boolean }): void;
  scrollIntoView(options: { block: 'nearest' }): void;
  addEventListener(type: string, listener: (event: BrowserEvent) => void): void;
  querySelector(selector: string): BrowserElement | null;
  closest(selector: string): BrowserElement | null;
}

export interface BrowserNode {
  readonly childNodes: ArrayLike<BrowserNode> & Iterable<BrowserNode>;
  cloneNode(isDeep: false): BrowserNode;
  isEqualNode(other: BrowserNode): boolean;
  replaceWith(other: BrowserNode): void;
}

interface BrowserEvent {
  preventDefault(): void;
  readonly dataTransfer?: {
    readonly files: ArrayLike<Blob>;
    getData(type: 'text/plain'): string;
  };
}

interface BrowserDocument {
  getElementById(id: string): BrowserElement | null;
  querySelectorAll(selector: string): Iterable<BrowserElement>;
  createElement(name: ElementName): BrowserElement;
}

type ElementName = 'a' | 'details' | 'summary' | 'div' | 'li' | 'p' | 'span' | 'strong' | 'ul';

interface BrowserWindow {
  readonly document: BrowserDocument;
  readonly navigator: { readonly clipboard?: { writeText(text: string): Promise<void> } };
}

const { document, navigator } = globalThis as unknown as BrowserWindow;
export const page = document;
/** Undefined when the page was not loaded over HTTPS. */
export const clipboard = navigator.clipboard;

/** Returns the element with an id. Throws when the page has none. */
export function element(id: string): BrowserElement {
  const found = page.getElementById(id);
  if (found === null) throw new Error(`the page has no element #${id}`);
  return found;
}

export function banner(kind: 'good' | 'wait' | 'bad', title: string, text: string): BrowserElement {
  const words = made('p');
  words.append(made('strong', title), ` ${text}`);
  const box = made('div');
  box.className = `banner ${kind}`;
  box.append(words);
  return box;
}

export function made(name: ElementName, text = ''): BrowserElement {
  const node = page.createElement(name);
  node.textContent = text;
  return node;
}
