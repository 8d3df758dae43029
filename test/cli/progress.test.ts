import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Progress } from '../../src/cli/assess.ts';
import { ManualClock } from '../support/manual-clock.ts';

const CLEAR = '\r\u001b[K';

test('progress is one bar that is drawn over, with the time that is left at this rate', () => {
  const clock = new ManualClock();
  const drawn: string[] = [];
  const progress = new Progress(clock, (text) => drawn.push(text));
  progress.show('nothing yet', 0);
  clock.advance(199);
  progress.show('too soon', 0.1);
  clock.advance(9_801);
  progress.show('a quarter', 0.25);
  clock.advance(200);
  progress.show('a pipe', null);
  clock.advance(89_800);
  progress.show('a tenth', 0.1);
  progress.clear();
  const bar = (filled: number) => `[${'#'.repeat(filled)}${'.'.repeat(24 - filled)}]`;
  assert.deepEqual(drawn, [
    `${CLEAR}${bar(0)} 0 %  nothing yet`,
    `${CLEAR}${bar(6)} 25 %, 30 s left  a quarter`,
    `${CLEAR}a pipe`,
    `${CLEAR}${bar(2)} 10 %, 15 min left  a tenth`,
    CLEAR,
  ]);
});

test('what was never drawn is not cleared', () => {
  const drawn: string[] = [];
  new Progress(new ManualClock(), (text) => drawn.push(text)).clear();
  assert.deepEqual(drawn, []);
});
