/**
 * All that the page's script uses of a browser. The service is compiled without the browser's types, so that
 * nothing in it can mean `document` by mistake; and what is not named here, such as innerHTML, the script
 * cannot touch: text that it shows stays text.
 */
export interface BrowserElement {
  readonly id: string;
  textContent: string;
  className: string;
  hidden: boolean;
  disabled: boolean;
  value: string;
  readonly dataset: Readonly<Record<string, string | undefined>>;
  readonly files: ArrayLike<Blob> | null;
  append(...nodes: (BrowserElement | string)[]): void;
  replaceChildren(...nodes: BrowserElement[]): void;
  setAttribute(name: string, value: string): void;
  focus(options: { preventScroll: boolean }): void;
  scrollIntoView(options: { block: 'nearest' }): void;
  addEventListener(type: string, listener: (event: BrowserEvent) => void): void;
}

export interface BrowserEvent {
  preventDefault(): void;
  readonly dataTransfer?: {
    readonly files: ArrayLike<Blob>;
    getData(type: 'text/plain'): string;
  };
}

interface BrowserDocument {
  getElementById(id: string): BrowserElement | null;
  createElement(name: 'div' | 'li' | 'p' | 'span' | 'strong' | 'ul'): BrowserElement;
}

interface BrowserWindow {
  readonly document: BrowserDocument;
  /** Loaded over https or from this machine: only there does a browser have WebCrypto. */
  readonly isSecureContext: boolean;
}

const { document, isSecureContext } = globalThis as unknown as BrowserWindow;
export const page = document;
export const isSecure = isSecureContext;
