import { member } from '../../../certificate/members.ts';
import { prettyJson } from '../code-samples.ts';
import { type BrowserElement, element, made } from './browser.ts';
import { attempt, checkedAnswer, sampleAnswer } from './checks.ts';

/** Throws a die when the reader asks for it, and verifies the answer in the page. */
export function offerThrow(button: BrowserElement): void {
  const checks = element('die-checks');
  button.addEventListener('click', () => {
    checks.replaceChildren(made('p', 'Asking …'));
    attempt(button, checks, async () => {
      const answer: unknown = JSON.parse(await sampleAnswer());
      const [value] = member(answer, 'data', 'values') as number[];
      const die = element('die');
      die.setAttribute('data-value', String(value));
      die.setAttribute('aria-label', `The die shows ${value}`);
      element('die-answer').textContent = prettyJson(answer);
      checks.replaceChildren(made('p', 'Checking …'));
      return checkedAnswer(answer);
    });
  });
}
