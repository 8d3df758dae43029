import { type BrowserElement, page } from './browser.ts';
import { checkDraw, fetched, showCheck } from './checks.ts';

/** Checks the draw of the page when the reader asks for it, and counts down to the time at which the draw is due. */
export function offerDrawCheck(button: BrowserElement): void {
  button.disabled = false;
  button.addEventListener('click', () => {
    showCheck(button, async () => checkDraw(await fetched(`/v1/draws/${button.dataset['draw']}`)));
  });
  const countdown = page.getElementById('countdown');
  if (countdown === null) return;
  const dueMs = Date.parse(countdown.dataset['due'] ?? '');
  const count = () => {
    const leftS = Math.max(0, Math.ceil((dueMs - Date.now()) / 1_000));
    countdown.textContent =
      leftS === 0 ? 'Now. Reload this page to see the outcome.' : `in ${spanText(leftS)}`;
    if (leftS === 0) clearInterval(timer);
  };
  const timer = setInterval(count, 1_000);
  count();
}

function spanText(seconds: number): string {
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  return parts
    .slice(first)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ');
}
