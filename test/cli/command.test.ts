import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { byteCount, duration, listOf, moment, oneOf, wholeNumber } from '../../src/cli/arguments.ts';
import {
  action,
  type CommandContext,
  CommandError,
  group,
  type Reader,
  UsageError,
} from '../../src/cli/command.ts';
import { textOf } from '../../src/cli/text.ts';
import { runCommand } from '../support/run-command.ts';

const copy = action({
  path: 'box copy',
  summary: 'Copies\nthings.',
  operands: [{ name: 'FROM', meaning: 'what is copied' }],
  options: {
    to: { value: 'PLACE', required: true, meaning: 'where it goes' },
    tries: { value: 'N', meaning: 'how often', read: wholeNumber(1) },
    byForce: { meaning: 'over anything' },
    json: { meaning: 'one JSON object' },
  },
  run: async ({ to, tries, byForce, operands }) => {
    if (to === 'nowhere') throw new CommandError('there is no\n  such place');
    if (to === 'wrong') throw new UsageError('that is no place');
    if (to === 'full') throw new Error('it cannot be', { cause: new Error('no room') });
    if (to === 'three') return 3;
    const data = { from: operands, to, tries: tries ?? null, byForce: byForce ?? false };
    return { data, note: 'Copied.', failure: to === 'half' ? 'half is left' : undefined };
  },
});
const box = group('qrn box', 'Boxes.', [copy], '\nThe end.');

const COPY_HELP = `Usage: qrn box copy --to <PLACE> [options] <FROM>

Copies things.

Arguments:
  FROM          what is copied

Options:
  --to <PLACE>  where it goes
  --tries <N>   how often
  --by-force    over anything
  --json        one JSON object
  -h, --help    print this help
`;
const BOX_HELP = `Usage: qrn box COMMAND

Boxes.

Options:
  -h, --help  print this help

Commands:
  copy        Copies things.

qrn box COMMAND --help explains a command.
The end.
`;
const SEE = '; see qrn box copy --help\n';

/** Exit status, stdout and stderr of each command line. */
const TRANSCRIPTS: readonly [line: string, status: number, out: string, talk?: string][] = [
  ['copy a --to b', 0, 'from     a\nto       b\ntries    -\nbyForce  false\n', 'Copied.\n'],
  ['copy a --to b --by-force --json', 0, '{"from":["a"],"to":"b","tries":null,"byForce":true}\n'],
  ['copy --json --tries 3 --to=b a', 0, '{"from":["a"],"to":"b","tries":3,"byForce":false}\n'],
  ['copy --json --to b -- --to', 0, '{"from":["--to"],"to":"b","tries":null,"byForce":false}\n'],
  ['copy a --to three', 3, ''],
  [
    'copy a --to half --json',
    1,
    '{"from":["a"],"to":"half","tries":null,"byForce":false}\n',
    'qrn box copy: half is left\n',
  ],
  [
    'copy \u001b[2J\nb --to \u009bc\u202e',
    0,
    'from     \\u{1b}[2J\\u{a}b\nto       \\u{9b}c\\u{202e}\ntries    -\nbyForce  false\n',
    'Copied.\n',
  ],
  ['copy a --to b --\u001b', 2, '', `qrn box copy: unknown option '--\\u{1b}'${SEE}`],
  ['copy --help', 0, COPY_HELP],
  ['copy -h', 0, COPY_HELP],
  ['--help', 0, BOX_HELP],
  ['-h', 0, BOX_HELP],
  ['help', 0, BOX_HELP],
  ['help copy', 0, COPY_HELP],
  ['', 2, '', 'qrn box: a command is missing; the commands are copy; see qrn box --help\n'],
  ['-- copy', 2, '', 'qrn box: -- is not a command; the commands are copy; see qrn box --help\n'],
  ['move', 2, '', "qrn box: unknown command 'move'; the commands are copy; see qrn box --help\n"],
  [
    'coyp',
    2,
    '',
    "qrn box: unknown command 'coyp' (Did you mean copy?); the commands are copy; see qrn box --help\n",
  ],
  ["copy '' --to b", 2, '', `qrn box copy: FROM must be at least one character, not ""${SEE}`],
  ["copy a --to ''", 2, '', `qrn box copy: --to must be at least one character, not ""${SEE}`],
  ['copy --to b', 2, '', `qrn box copy: missing required argument 'FROM'${SEE}`],
  ['copy a', 2, '', `qrn box copy: required option '--to <PLACE>' not specified${SEE}`],
  ['copy a b --to c', 2, '', `qrn box copy: too many arguments. Expected 1 argument but got 2: a, b${SEE}`],
  ['copy a --to b --to c', 2, '', `qrn box copy: --to is given more than once${SEE}`],
  ['copy a --to', 2, '', `qrn box copy: option '--to <PLACE>' argument missing${SEE}`],
  ['copy a --to b --too c', 2, '', `qrn box copy: unknown option '--too' (Did you mean --to?)${SEE}`],
  [
    'copy a --to b --by-force=x',
    2,
    '',
    `qrn box copy: unknown option '--by-force=x' (Did you mean --by-force?)${SEE}`,
  ],
  [
    'copy a --to b --tries -1',
    2,
    '',
    `qrn box copy: --tries must be a whole number from 1 to 2^53 - 1, not "-1"${SEE}`,
  ],
  ['copy a --to wrong', 2, '', `qrn box copy: that is no place${SEE}`],
  ['copy a --to nowhere', 1, '', 'qrn box copy: there is no such place\n'],
  ['copy a --to full', 1, '', 'qrn box copy: it cannot be: no room\n'],
];

describe('a command line', () => {
  for (const [line, status, out, talk = ''] of TRANSCRIPTS) {
    it(`box ${JSON.stringify(line)}: exit status ${status}`, async () => {
      const words = line.split(' ').filter((word) => word !== '');
      const args = words.map((word) => (word === "''" ? '' : word));
      assert.deepEqual(await runCommand(box, args), { status, out, talk });
    });
  }
});

it('a report shows text, records and tables to a person, without trailing blanks', () => {
  const rows = [
    { a: 'aaa', long: 1, c: ['x', 'y'] },
    { a: 'a', long: null, c: '' },
  ];
  const record = { one: Number.MAX_SAFE_INTEGER, nested: { two: true, three: [{ four: 4 }] } };
  assert.equal(
    textOf(['Title', rows, '', [], record]),
    'Title\n\nA    LONG  C\naaa  1     x y\na    -     -\n\none                  unlimited\nnested.two           true\nnested.three.0.four  4\n',
  );
});

describe('a command that cannot be undone', () => {
  let done = 0;
  const questions: string[] = [];
  const destroy = action({
    path: 'box destroy',
    summary: 'Destroys a box.',
    operands: [{ name: 'BOX', meaning: 'which one' }],
    irreversible: async ({ operands: [name] }) => {
      if (name === 'none') throw new CommandError('there is no such box');
      return `This destroys ${name}.`;
    },
    run: async () => {
      done++;
      return 0;
    },
  });
  const saying = (answer: boolean) => async (question: string) => {
    questions.push(question);
    return answer;
  };
  const TOLD = 'This destroys red.\n';
  const cases: [
    line: string,
    confirm: CommandContext['confirm'],
    status: number,
    said: string,
    runs: boolean,
  ][] = [
    ['red', saying(false), 1, 'Nothing was changed.\n', false],
    ['red', saying(true), 0, '', true],
    ['red', undefined, 0, '', true],
    ['red --yes', saying(false), 0, '', true],
    ['red --dry-run --yes', saying(true), 0, TOLD, false],
    ['none --dry-run', undefined, 1, 'qrn box destroy: there is no such box\n', false],
  ];
  it('asks a person, but neither a script nor a user of --yes, and does nothing with --dry-run', async () => {
    for (const [line, confirm, status, said, runs] of cases) {
      const before = done;
      const result = await runCommand(destroy, line.split(' '), {}, undefined, { confirm });
      assert.deepEqual([result.status, result.out + result.talk, done > before], [status, said, runs], line);
    }
    assert.deepEqual(questions, Array(2).fill('This destroys red. This cannot be undone. Continue?'));
  });
});

describe('the values of options', () => {
  const cases: [
    name: string,
    reader: Reader<unknown>,
    right: [text: string, value: unknown][],
    wrong: string[],
  ][] = [
    ['one of', oneOf(['red', 'green']), [['red', 'red']], ['', 'Red', 'red ', 'blue', 'toString']],
    [
      'a list',
      listOf(oneOf(['red', 'green'])),
      [
        ['green,red', ['green', 'red']],
        ['red, red', ['red', 'red']],
      ],
      ['', 'red,', 'red;green', 'red,blue'],
    ],
    [
      'a whole number',
      wholeNumber(),
      [
        ['0', 0],
        ['007', 7],
        ['9007199254740991', 9_007_199_254_740_991],
      ],
      ['', '-1', '+1', '1.0', '1e3', '0x10', ' 1', '9007199254740992', '99999999999999999999'],
    ],
    ['a bounded number', wholeNumber(-5, 8), [['-5', -5], ['8', 8]], ['-6', '9']], // biome-ignore format: a table
    [
      'bytes',
      byteCount,
      [
        ['512', 512],
        ['64K', 65_536],
        ['1g', 1_073_741_824],
      ],
      ['', '0', 'K', '1.5K', '9999999999999T'],
    ],
    [
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
    ],
    [
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
    ],
  ];
  for (const [name, { read }, right, wrong] of cases) {
    it(name, () => {
      for (const [text, value] of right) assert.deepEqual(read(text), value, text);
      for (const text of wrong) assert.equal(read(text), undefined, text);
    });
  }
});
