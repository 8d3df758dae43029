import { element, made } from './browser.ts';
import { checkDraw, fetched, report, Trouble, troubleBanner } from './checks.ts';

/*
 * The script of a draw's page: gets the draw as JSON and the public keys from this service, and checks here that the draw
 * was fixed before anybody could know how it ends, and that its values follow from what was fixed.
 */

const button = element('check-draw');
const result = element('result');

button.disabled = false;
button.addEventListener('click', async () => {
  button.disabled = true;
  result.setAttribute('aria-busy', 'true');
  result.replaceChildren(made('p', 'Checking…'));
  try {
    const draw = await fetched(`/v1/draws/${button.dataset['draw']}`);
    result.replaceChildren(...report(await checkDraw(draw, {})));
  } catch (error) {
    result.replaceChildren(troubleBanner(error));
    if (!(error instanceof Trouble)) throw error; // a fault of this script belongs into the browser's console too
  } finally {
    button.disabled = false;
    result.setAttribute('aria-busy', 'false');
    result.focus({ preventScroll: true });
    result.scrollIntoView({ block: 'nearest' });
  }
});
