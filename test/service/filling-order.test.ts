import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { SourcePolicy } from '../../src/config/config.ts';
import { SEEDS_LOW, type SourceState } from '../../src/pool/intake/collector.ts';
import { fillingOrder } from '../../src/service/pool.ts';
import { ManualClock } from '../support/manual-clock.ts';

const HIGH = 1_000_000;
const levels = (pureBytes: number, seeds = SEEDS_LOW) => ({
  pure: { blocks: 0, bytes: pureBytes },
  seed: { blocks: seeds, bytes: 32 * seeds },
});
const FULL = levels(HIGH);

/** An order over sources whose states the test sets. */
function order(policy: SourcePolicy, ...first: SourceState[]) {
  const clock = new ManualClock();
  const states = { now: first };
  const isWanted = fillingOrder({ policy, pureBytesHigh: HIGH, clock, states: () => states.now });
  const wanted = (at = FULL) => states.now.map((_, place) => isWanted(place, at));
  return { clock, states, wanted };
}

describe('the order in which sources fill, by priority', () => {
  it('wants only the first while it works', () => {
    assert.deepEqual(order('priority', 'ok', 'standby', 'standby').wanted(), [true, false, false]);
  });

  it('wants the next while all before it fail or are closed', () => {
    assert.deepEqual(order('priority', 'failing', 'standby', 'standby').wanted(), [true, true, false]);
    assert.deepEqual(order('priority', 'closed', 'ok', 'standby').wanted(), [true, true, false]);
    assert.deepEqual(order('priority', 'closed', 'failing', 'standby').wanted(), [true, true, true]);
  });

  it('waits a minute for a source that is starting', () => {
    const { clock, states, wanted } = order('priority', 'starting', 'standby');
    assert.deepEqual(wanted(), [true, false]);
    clock.advance(59_999);
    assert.deepEqual(wanted(), [true, false]);
    clock.advance(1);
    assert.deepEqual(wanted(), [true, true], 'a queue at a provider may take hours');
    states.now = ['ok', 'ok'];
    assert.deepEqual(wanted(), [true, false]);
    states.now = ['starting', 'standby'];
    assert.deepEqual(wanted(), [true, false], 'a new beginning is a new minute');
  });

  it('wants all below a quarter of pure bytes, and below half of the seeds at which a single source reads', () => {
    const { wanted } = order('priority', 'ok', 'standby');
    assert.deepEqual(wanted(levels(HIGH / 4)), [true, false]);
    assert.deepEqual(wanted(levels(HIGH / 4 - 1)), [true, true]);
    assert.deepEqual(wanted(levels(HIGH, SEEDS_LOW / 2)), [true, false]);
    assert.deepEqual(wanted(levels(HIGH, SEEDS_LOW / 2 - 1)), [true, true]);
  });

  it('always leaves the pool a source that may fill it', () => {
    const state = fc.constantFrom<SourceState>('ok', 'standby', 'starting', 'failing', 'closed');
    fc.assert(
      fc.property(fc.array(state, { minLength: 1, maxLength: 6 }), (states) => {
        const wanted = order('priority', ...states).wanted();
        const atWork = states.findIndex((each) => !['failing', 'closed'].includes(each));
        assert.deepEqual(
          wanted,
          states.map((_, place) => atWork === -1 || place <= atWork),
        );
      }),
    );
  });
});

it('the order by shares wants all sources to fill', () => {
  assert.deepEqual(order('share', 'ok', 'ok', 'failing').wanted(), [true, true, true]);
});
