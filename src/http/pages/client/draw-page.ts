import { element } from './browser.ts';
import { checkDraw, fetched, showCheck, witnessesGiven } from './checks.ts';

/*
 * The script of a draw's page: gets the draw as JSON and the public keys from this service, and checks here that the draw
 * was fixed before anybody could know how it ends, and that its values follow from what was fixed.
 */

const button = element('check-draw');

button.disabled = false;
button.addEventListener('click', () => {
  showCheck(button, async () =>
    checkDraw(await fetched(`/v1/draws/${button.dataset['draw']}`), witnessesGiven()),
  );
});
