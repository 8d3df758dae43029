import { VERIFIER_PATH } from './assets.ts';
import { html, type Markup } from './html.ts';

/**
 * The form that checks an answer in the browser. Its fields have no names, so that no browser could send them, and it
 * stays hidden until its script runs. `certificateId` is '' where the answer itself has to say.
 */
export function checkForm(certificateId: string): Markup {
  const what =
    certificateId === ''
      ? 'Paste the JSON body of an answer, as the service sent it. Its certificate is looked up by its id; nothing else ' +
        'of it leaves this browser.'
      : 'Paste the JSON body of the answer, as the service sent it; or leave this empty to check the certificate alone. ' +
        'Nothing of it leaves this browser.';
  return html`<section class="check" aria-labelledby="check-title">
<h2 id="check-title">Check it in this browser</h2>
<p id="check-off">Checking runs as a script in your browser, and scripts are off or still loading.
Without scripts, save the answer and run <code>qrn verify ANSWER.json</code>, or use
<a href="${VERIFIER_PATH}" download>the verifier as one file</a> with Node or Deno.</p>
<form id="check" data-certificate="${certificateId}" hidden>
<label for="answer">The answer</label>
<p class="hint" id="answer-hint">${what}</p>
<textarea id="answer" rows="7" spellcheck="false" autocomplete="off" autocapitalize="off"
 aria-describedby="answer-hint"></textarea>
<div class="actions">
<button type="submit" id="check-button">Check</button>
<label class="file" for="file">or choose or drop a file <input class="file-input" type="file" id="file" accept="application/json,.json,.txt"></label>
</div>
</form>
<div id="result" role="status" aria-live="polite" aria-atomic="true" tabindex="-1"></div>
</section>`;
}
