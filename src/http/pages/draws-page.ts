import type { DrawList } from '../../certificate/archive.ts';
import { grouped } from '../../core/figures.ts';
import { html, type Markup, time } from './layout.ts';

/** Returns the public list of draws: every number that was drawn for a purpose. `list` is null until a purpose is given. */
export function drawsMain(list: DrawList | null, asked: string, problem: Markup | null): Markup {
  return html`<h1>Draws</h1>
<p class="lead">Answers for a public purpose are numbered without gaps. This list therefore shows if someone drew again until the result suited them.</p>
${problem}
<form class="open" method="get" action="/draws"><label for="purpose">Purpose, exactly as it was announced</label>
<div class="actions"><input id="purpose" name="purpose" required maxlength="100" value="${asked}" autocomplete="off" placeholder="spring raffle 2027"><button type="submit">List</button></div></form>
${list === null ? null : listed(list)}
<section aria-labelledby="more"><h2 id="more">A single draw</h2>
<p>Each committed draw has its own page, <code>/draws/ID</code>. The organiser publishes its address before the draw is due.
<a href="/docs/draws">How a draw is fair</a> explains the page, and <a href="/docs/raffle">the guide to a raffle</a> explains how to organise a draw.</p></section>`;
}

function listed({ purpose, series, draws, next }: DrawList): Markup {
  if (series.length === 0)
    return html`<p><strong>Nothing was drawn publicly for “<bdi>${purpose}</bdi>”.</strong></p>`;
  const address = (id: string, from: number) =>
    `/draws?purpose=${encodeURIComponent(purpose)}&series=${id}&from=${from}`;
  const [first] = draws;
  const others = series.filter(({ id }) => id !== first?.series);
  return html`<section aria-labelledby="list"><h2 id="list">“<bdi>${purpose}</bdi>”</h2>
<div class="tables" tabindex="0" role="region" aria-label="Answers under this purpose"><table><thead><tr><th scope="col">Number</th><th scope="col">When</th><th scope="col">Certificate</th></tr></thead>
<tbody>${draws.map(
    ({ serial, issued_at: at, certificate_id: id }) =>
      html`<tr><th scope="row">${grouped(serial)}</th><td>${time(at)}</td><td>${id === null ? 'not made public' : html`<a href="/verify/${id}"><code>${id}</code></a>`}</td></tr>`,
  )}</tbody></table></div>
${next === null || first === undefined ? null : html`<p><a href="${address(first.series, next)}">Later ones, from number ${grouped(next)}</a></p>`}
${others.length === 0 ? null : html`<p>Other accounts used the same purpose. Their answers prove nothing about this series:</p><ul class="links">${others.map(({ id, count }) => html`<li><a href="${address(id, 1)}"><code>${id}</code></a>, ${grouped(count)} answers</li>`)}</ul>`}</section>`;
}
