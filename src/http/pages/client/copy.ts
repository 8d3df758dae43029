import { type BrowserElement, clipboard, page } from './browser.ts';

const COPIED_FOR_MS = 1_500;

/** Lets each button copy the code beside it: of several forms the one that is shown. */
export function offerCopies(): void {
  for (const button of page.querySelectorAll('button.copy')) {
    button.hidden = clipboard === undefined;
    button.addEventListener('click', () => copy(button));
  }
}

async function copy(button: BrowserElement): Promise<void> {
  const blocks = [...(button.closest('.code')?.querySelectorAll('pre') ?? [])];
  const chosen = button.closest('.code')?.querySelector('.tabs input:checked')?.value;
  const block = blocks.find(({ className }) => className === chosen) ?? blocks[0];
  await clipboard?.writeText(block.textContent);
  button.textContent = 'Copied';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, COPIED_FOR_MS);
}
