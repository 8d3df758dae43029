import { member } from '../../../certificate/members.ts';
import { prettyJson } from '../code-samples.ts';
import { element, made, page } from './browser.ts';
import { attempt, checkedAnswer, sampleAnswer } from './checks.ts';
import { offerCopies } from './copy.ts';

/* The script of the front page. It copies commands, throws a die, and verifies the answer in the page. */

offerCopies();

if (page.getElementById('die-button') !== null) {
  const button = element('die-button');
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
