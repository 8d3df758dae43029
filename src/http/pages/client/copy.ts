import { type BrowserElement, clipboard, page } from './browser.ts';

const COPIED_FOR_MS = 1_500;

/** Makes each copy button copy the code beside it. */
export function offerCopies(): void {
  for (const button of page.querySelectorAll('button.copy')) {
    button.hidden = clipboard === undefined;
    button.addEventListener('click', () => copy(button));
  }
}

async function copy(button: BrowserElement): Promise<void> {
  const code = button.closest('.code')?.querySelector('pre')?.textContent ?? '';
  const isCopied = await clipboard?.writeText(code).then(
    () => true,
    () => false, // the browser does not let the page write to the clipboard
  );
  button.textContent = isCopied ? 'Copied' : 'Not allowed';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, COPIED_FOR_MS);
}
