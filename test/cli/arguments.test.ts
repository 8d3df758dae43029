import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { duration, listOf, moment, oneOf, UsageError, wholeNumber } from '../../src/cli/command.ts';

type Case = readonly [text: string, value: unknown];

function reads(
  name: string,
  read: (option: string, text: string) => unknown,
  right: readonly Case[],
  wrong: string[],
) {
  describe(name, () => {
    for (const [text, value] of right) it(`takes ${text}`, () => assert.deepEqual(read('x', text), value));
    for (const text of wrong) {
      it(`refuses ${JSON.stringify(text)}`, () => {
        assert.throws(
          () => read('x', text),
          (error) => error instanceof UsageError && error.message.startsWith('--x is '),
        );
      });
    }
  });
}

const COLOURS = ['red', 'green'] as const;

reads(
  'one of',
  (option, text) => oneOf(option, text, COLOURS),
  [['red', 'red']],
  ['', 'Red', 'red ', 'blue', 'toString'],
);
reads(
  'a list',
  (option, text) => listOf(option, text, COLOURS),
  [
    ['green,red', ['green', 'red']],
    ['red, red', ['red']],
  ],
  ['', 'red,', 'red;green', 'red,blue'],
);
reads(
  'a whole number',
  wholeNumber,
  [
    ['0', 0],
    ['007', 7],
    ['9007199254740991', 9_007_199_254_740_991],
  ],
  ['', '-1', '+1', '1.0', '1e3', '0x10', ' 1', '9007199254740992', '99999999999999999999'],
);
reads(
  'a span',
  duration,
  [
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['0', 0],
    ['0s', 0],
  ],
  ['', '24', 'h', '24 h', '1.5h', '-1h', '1w', '24H', '9999999999s'],
);
reads(
  'a moment',
  moment,
  [
    ['2027-01-31', Date.UTC(2027, 0, 31)],
    ['2027-01-31T12:30Z', Date.UTC(2027, 0, 31, 12, 30)],
    ['2027-01-31T12:30:15.250Z', Date.UTC(2027, 0, 31, 12, 30, 15, 250)],
    ['2027-01-31T12:30:15+02:00', Date.UTC(2027, 0, 31, 10, 30, 15)],
    ['2028-02-29', Date.UTC(2028, 1, 29)],
  ],
  [
    '',
    'tomorrow',
    '2027-1-31',
    '2027-02-29',
    '2027-04-31',
    '2027-13-01',
    '2027-01-00',
    '2027-01-31T25:00Z',
    '2027-01-31T12:00',
    '1800000000',
  ],
);
