import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  action,
  type CommandContext,
  CommandError,
  facts,
  group,
  suggestion,
  table,
  UsageError,
} from '../../src/cli/command.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { NO_TERMINAL } from '../support/no-terminal.ts';

/** What a command line did: status, data, talk, and what reached the command. */
async function run(...args: string[]) {
  const written = { out: '', talk: '' };
  let reached: unknown;
  const copy = action({
    path: 'box copy',
    summary: 'Copies.',
    operands: [{ name: 'FROM', meaning: 'what is copied' }],
    options: {
      to: { value: 'PLACE', required: true, meaning: 'where it goes' },
      force: { meaning: 'over anything' },
    },
    run: async (input, context) => {
      reached = { from: input.operands, to: input.option('to'), force: input.has('force') };
      if (input.option('to') === 'nowhere') throw new CommandError('there is no\n  such place');
      if (input.option('to') === 'wrong') throw new UsageError('that is no place');
      if (input.option('to') === 'full') throw new Error('it cannot be', { cause: new Error('no room') });
      if (input.option('to') === 'bug') throw new TypeError('x is undefined');
      context.out('done\n');
      return input.option('to') === 'three' ? 3 : undefined;
    },
  });
  const status = await group('qrn box', 'Boxes.', [copy], 'The end.\n').run(args, {
    environment: {},
    ...NO_TERMINAL,
    clock: new ManualClock(),
    out: (text) => {
      written.out += text;
    },
    talk: (text) => {
      written.talk += text;
    },
  });
  return { status, ...written, reached };
}

describe('a command', () => {
  it('gets its operands and options, in any order', async () => {
    const reached = { from: ['a'], to: 'b', force: true };
    const done = { status: 0, out: 'done\n', talk: '', reached };
    assert.deepEqual(await run('copy', 'a', '--to', 'b', '--force'), done);
    assert.deepEqual(await run('copy', '--force', '--to=b', 'a'), done);
    assert.deepEqual((await run('copy', '--to', 'b', '--', '--force')).reached, {
      ...reached,
      from: ['--force'],
      force: false,
    });
  });

  it('gives its own exit status, and 0 when it gives none', async () => {
    assert.equal((await run('copy', 'a', '--to', 'three')).status, 3);
    assert.equal((await run('copy', 'a', '--to', 'b')).status, 0);
  });

  const wrong: readonly [readonly string[], number, string][] = [
    [[], 2, 'qrn box: a command is missing; the commands are copy\n'],
    [['move'], 2, 'qrn box: there is no command "move"; the commands are copy\n'],
    [['copy'], 2, 'qrn box copy: FROM is missing; see qrn box copy --help\n'],
    [['copy', 'a'], 2, 'qrn box copy: --to is missing; see qrn box copy --help\n'],
    [['copy', 'a', 'b', '--to', 'c'], 2, 'qrn box copy: "b" is one word too many; see qrn box copy --help\n'],
    [
      ['copy', 'a', '--to', 'b', '--to', 'c'],
      2,
      'qrn box copy: --to is given more than once; see qrn box copy --help\n',
    ],
    [
      ['copy', 'a', '--too', 'b'],
      2,
      "qrn box copy: Unknown option '--too'; did you mean --to? See qrn box copy --help\n",
    ],
    [['copy', 'a', '--to', 'wrong'], 2, 'qrn box copy: that is no place; see qrn box copy --help\n'],
    [['copy', 'a', '--to', 'nowhere'], 1, 'qrn box copy: there is no such place\n'],
    [['copy', 'a', '--to', 'full'], 1, 'qrn box copy: it cannot be: no room\n'],
    [['copy', 'a', '--to', 'bug'], 1, 'qrn box copy: x is undefined\n'],
  ];
  for (const [args, status, talk] of wrong) {
    it(`box ${args.join(' ')}: one line on stderr, nothing on stdout`, async () => {
      const done = await run(...args);
      assert.deepEqual([done.status, done.out, done.talk], [status, '', talk]);
    });
  }

  it('says one line when an option lacks its value, or has one too many', async () => {
    for (const args of [['--to'], ['--to', '--force'], ['--to', 'b', '--force=yes']]) {
      const { status, out, talk } = await run('copy', 'a', ...args);
      assert.deepEqual([status, out], [2, '']);
      assert.match(talk, /^qrn box copy: [^\n]+; see qrn box copy --help\n$/);
    }
  });

  it('explains itself on stdout, whatever else is missing', async () => {
    const help = [
      'usage: qrn box copy FROM --to PLACE [--force]',
      '',
      'Copies.',
      '',
      '  FROM        what is copied',
      '  --to PLACE  where it goes',
      '  --force     over anything',
      '  --help      this text',
      '',
    ].join('\n');
    for (const flag of ['--help', '-h']) {
      assert.deepEqual(await run('copy', flag), { status: 0, out: help, talk: '', reached: undefined });
    }
    const list =
      'usage: qrn box COMMAND\n\nBoxes.\n\n  copy  Copies.\n\nqrn box COMMAND --help tells more.\nThe end.\n';
    for (const word of ['--help', '-h', 'help']) {
      assert.deepEqual(await run(word), { status: 0, out: list, talk: '', reached: undefined });
    }
  });
});

describe('what a command prints', () => {
  it('prints columns without blanks at the end', () => {
    assert.equal(
      table(
        ['A', 'LONG', 'C'],
        [
          ['aaa', 'b', 'c'],
          ['a', 'b', ''],
        ],
      ),
      'A    LONG  C\naaa  b     c\na    b\n',
    );
    assert.equal(facts({ a: 1, long: null, b: 'c' }), 'a     1\nlong  -\nb     c\n');
  });
});

describe('a command that cannot be undone', () => {
  let done = 0;
  const questions: string[] = [];
  const destroy = action({
    path: 'box destroy',
    summary: 'Destroys a box.',
    operands: [{ name: 'BOX', meaning: 'which one' }],
    irreversible: async ({ operands: [box] }) => {
      if (box === 'none') throw new CommandError('there is no such box');
      return `This destroys ${box}.`;
    },
    run: async () => {
      done++;
      return 0;
    },
  });
  const ask = (answer: boolean) => async (question: string) => {
    questions.push(question);
    return answer;
  };
  const runs = async (args: string[], confirm: CommandContext['confirm']) => {
    let said = '';
    const say = (text: string) => (said += text);
    const context = {
      ...NO_TERMINAL,
      environment: {},
      clock: new ManualClock(),
      out: say,
      talk: say,
      confirm,
    };
    return { status: await destroy.run(args, context), said };
  };

  it('asks a person, and runs when the person means it', async () => {
    assert.deepEqual(await runs(['red'], ask(false)), { status: 1, said: 'Nothing was changed.\n' });
    assert.equal(done, 0);
    assert.deepEqual(await runs(['red'], ask(true)), { status: 0, said: '' });
    assert.equal(done, 1);
    assert.deepEqual(questions, Array(2).fill('This destroys red. This cannot be undone. Go on?'));
  });

  it('asks neither a script nor who says --yes', async () => {
    questions.length = 0;
    await runs(['red'], undefined);
    await runs(['red', '--yes'], ask(false));
    assert.deepEqual([done, questions.length], [3, 0]);
  });

  it('says with --dry-run what it would do, does nothing, and refuses what cannot be done', async () => {
    const dry = await runs(['red', '--dry-run', '--yes'], ask(true));
    assert.deepEqual([dry, done], [{ status: 0, said: 'This destroys red.\n' }, 3]);
    const said = 'qrn box destroy: there is no such box\n';
    assert.deepEqual(await runs(['none', '--dry-run'], undefined), { status: 1, said });
  });
});

describe('a suggestion', () => {
  it('suggests the closest word within two edits, or the one that begins so', () => {
    const known = ['keys', 'ledger', 'integers', 'log', 'lots'];
    const meant = (word: string) => /mean (\w+)/.exec(suggestion(word, known))?.[1];
    assert.deepEqual(['kesy', 'leger', 'int', 'integres', 'lot', 'frob', '', 'x'].map(meant), [
      'keys',
      'ledger',
      'integers',
      'integers',
      'log',
      undefined,
      undefined,
      undefined,
    ]);
  });
});
