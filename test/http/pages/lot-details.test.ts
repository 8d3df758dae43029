import assert from 'node:assert/strict';
import { it } from 'node:test';
import { lotDetails } from '../../../src/http/pages/certificate-page.ts';
import { scene } from '../../certificate/scene.ts';
import { seen } from './seen.ts';

it('what the log states of a lot is shown in full: open with its runs, and folded with a link to its plots', async () => {
  const [{ leaf: sound }] = (await scene({})).document.lots;
  const [raw, ...others] = sound.tested;
  const failed = { ...raw, order: 'channels', first_bit: 1_000, verified: false, reason: 'Runs' } as const;
  const leaf = { ...sound, tested: [failed, ...others] };
  const [open, folded] = [true, false].map((isOpen) => seen(lotDetails(leaf, isOpen).text));
  assert.deepEqual([open[0], folded[0]], ['-', '+']);
  const link = 'Plots: p-values, estimators, channels and test rounds';
  assert.deepEqual([open.includes(link), folded.includes(link)], [false, true]);
  const memberOf = (name: string) =>
    open
      .find((line) => line.startsWith(`|${name}| `))
      ?.split('.: ')
      .at(-1);
  assert.equal(memberOf('deterministic'), 'no');
  assert.equal(memberOf('shots'), '65,536');
  assert.equal(memberOf('calibration'), 'none');
  assert.equal(memberOf('min_entropy_per_bit'), '0.8561');
  assert.equal(memberOf('device'), 'statevector-16');
  assert.equal(memberOf('circuit_sha256'), `|sha256:${'c'.repeat(64)}|`);
  assert.match(memberOf('seeds') ?? '', /^count 5root \|[A-Za-z0-9+/]{43}=\|$/);
  assert.ok(
    open.includes('claim calibratedwhy no readout errors are published'),
    'a list has a line for each',
  );
  for (const name of ['type', 'version', 'lot_id', 'tested']) assert.equal(memberOf(name), undefined, name);
  const [table, inFolded] = [open, folded].map((lines) =>
    lines.slice(lines.findIndex((line) => line.startsWith('Sequence'))).join(' '),
  );
  assert.match(table, /Failed: Runs185\/188 p-values.* 1,000,000 bits from bit 1,000, channel by channel/);
  assert.match(table, /Passed186\/188 p-values.* from bit 0\|sha256:/);
  assert.doesNotMatch(inFolded, /p-values, the smallest/);
});
