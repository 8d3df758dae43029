import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DrawDocument } from '../../../src/certificate/draw-document.ts';
import { OVERDUE_MS } from '../../../src/certificate/draw-statement.ts';
import { drawMain } from '../../../src/http/pages/draw-page.ts';
import { scene } from '../../certificate/scene.ts';
import { seen } from './seen.ts';

const DUE = Date.parse('2027-03-20T18:00:00.000Z');

const STATEMENT: DrawDocument['statement'] = {
  type: 'draw_statement',
  version: 1,
  id: 'draw_00000000000000000000000000',
  request: { kind: 'sample', count: 1, items: ['ada', 'grace'] } as DrawDocument['statement']['request'],
  list: { sha256: `sha256:${'0'.repeat(64)}`, size: 2 },
  purpose: 'spring raffle',
  public: true,
  due_at: new Date(DUE).toISOString(),
};

const DRAW: DrawDocument = {
  type: 'draw',
  version: 1,
  id: STATEMENT.id,
  state: 'committed',
  statement: STATEMENT,
  statement_sha256: `sha256:${'1'.repeat(64)}`,
  committed_at: '2027-03-01T00:00:00.000Z',
  certificate_id: 'cert_00000000000000000000000000',
  certificate: null,
  commit: { leaf: '{}', proof: null },
  answer: null,
  chain: null,
  outcome: null,
  end: null,
};

const shown = (changes: Partial<DrawDocument> = {}, nowMs = DUE - 60_000) =>
  drawMain({ ...DRAW, ...changes }, nowMs).text;
const withBeacon = { statement: { ...STATEMENT, beacon: { chain: 'a'.repeat(64), round: 9 } } };
const ended = (values: string[]): Partial<DrawDocument> => ({
  state: 'revealed',
  outcome: {
    type: 'draw_outcome',
    version: 1,
    statement_sha256: DRAW.statement_sha256,
    state: 'revealed',
    reason: null,
    secret: '00',
    nonce: null,
    beacon: null,
    values,
    ended_at: STATEMENT.due_at,
  },
});

describe('the page of a draw', () => {
  it('leads people to the page that lists the draws of its purpose, not to the JSON for programs', () => {
    assert.match(shown(), /href="\/draws\?purpose=spring%20raffle"/);
    assert.doesNotMatch(shown(), /href="\/v1\/draws\?/);
  });

  it('counts down to the due time, and no longer', () => {
    assert.match(shown(), /id="countdown" data-due="2027-03-20T18:00:00\.000Z"/);
    assert.doesNotMatch(shown({}, DUE + 1), /id="countdown"/);
    assert.doesNotMatch(shown(ended(['ada'])), /id="countdown"/);
  });

  it('shows few winners large, and many as a list', () => {
    assert.match(shown(ended(['ada'])), />Winner<\/h2><ol class="drawn-values large"><li><bdi>ada<\/bdi>/);
    assert.match(
      shown(ended(Array.from({ length: 6 }, (_, i) => `item ${i}`))),
      />Winners<\/h2><ol class="drawn-values">/,
    );
  });

  it("shows the callers' texts as text", () => {
    const said = '<i>"1" & co';
    const text = shown({ ...ended([said]), statement: { ...STATEMENT, purpose: said, user_data: said } });
    assert.equal(text.split('<bdi>&lt;i&gt;&quot;1&quot; &amp; co</bdi>').length - 1, 3);
    assert.doesNotMatch(text, /<i>/);
  });

  /** Short lines that one page has and the other has not, without the draw as JSON. */
  const added = (one: string, other: string) => {
    const [lines, known] = [one, other].map((page) => seen(page.split('<details class="raw">')[0]));
    return lines.filter((line) => !known.includes(line) && line.length < 90 && !/^i\d+: /.test(line));
  };
  const request = { kind: 'integers', count: 2 } as DrawDocument['statement']['request'];
  const chances = Array.from({ length: 101 }, (_, i) => ({ item: `i${i}`, percent: '1' }));
  const outcome = { ...ended(['ada']).outcome, state: 'cancelled', reason: 'cancelled' };
  const differing: [what: string, changes: object, nowMs: number, has: string[], lacks: string[]][] = [
    [
      ...(['a beacon', withBeacon, DUE - 60_000] as const),
      ['Due, with round 9 of the beacon2027-03-20 18:00:00 UTC', `Beacon: round 9 of |${'a'.repeat(64)}|`],
      ['Due2027-03-20 18:00:00 UTC', 'Beacon: none'],
    ],
    [
      'numbers of lines, what its caller said, and the chance of each item',
      {
        ...{ ...ended(['1', '2']), commit: { leaf: '{}', proof: 'p' }, chances },
        statement: { ...STATEMENT, nonce: '00', user_data: 'said', user_data_sha256: 'sha256:2', request },
      },
      DUE,
      [
        'Revealed. The draw has ended, and anyone can recompute its values.',
        ...['Winners', 'Line numbers of the list, counted from 1.', '1', '2'],
        'Committed2027-03-01 00:00:00 UTC The commitment is in the signed log.',
        'Revealed2027-03-20 18:00:00 UTC',
        ...['Kind: integers, 2 values', 'Nonce: given by the caller before the commitment'],
        ...['User data: said', 'SHA-256 of the user data: |sha256:2|'],
        ...['Probability of each item in one pick', 'And 1 more, in the JSON below.'],
      ],
      [
        ...[
          'Due',
          '2027-03-20 18:00:00 UTC',
          'Committed2027-03-01 00:00:00 UTC The commitment is being logged.',
        ],
        ...['Kind: sample, 1 value', 'Nonce: none'],
      ],
    ],
    [
      'a cancellation, and a nonce that its caller has yet to open',
      { state: 'cancelled', outcome, statement: { ...STATEMENT, nonce_sha256: 'sha256:3' } },
      DUE,
      [
        'Cancelled: it has no winners. The organiser cancelled it before it was due.',
        ...['Values that the draw would have had', 'ada', 'Cancelled2027-03-20 18:00:00 UTC'],
        'Nonce: fixed by its hash, revealed later',
      ],
      ['Due', '2027-03-20 18:00:00 UTC', 'Nonce: none'],
    ],
    [
      'a failure, and a draw of no list',
      {
        state: 'failed',
        outcome: { ...outcome, state: 'failed', reason: 'secret_lost', values: null },
        statement: { ...STATEMENT, list: undefined, request: { kind: 'uuid' } },
      },
      DUE,
      [
        'Failed: it has no winners. The service lost the committed bytes.',
        ...['Failed2027-03-20 18:00:00 UTC', 'Kind: uuid, 1 value'],
      ],
      [
        ...['Due', '2027-03-20 18:00:00 UTC', 'Kind: sample, 1 value'],
        `List: 2 items, |sha256:${'0'.repeat(64)}|`,
      ],
    ],
    [
      'that it is overdue',
      {},
      DUE + OVERDUE_MS + 1,
      ['Overdue. It should have ended by 2027-03-20 18:00:00 UTC. The log shows that it has not.'],
      ['Due', '2027-03-20 18:00:00 UTC'],
    ],
    ['nothing of the kind before', {}, DUE + OVERDUE_MS, [], ['Due', '2027-03-20 18:00:00 UTC']],
  ];
  for (const [what, changes, nowMs, has, lacks] of differing)
    it(`reports ${what}`, () => {
      const page = shown(changes, nowMs);
      assert.deepEqual([added(page, shown()), added(shown(), page)], [has, lacks]);
    });

  it('names its number among those of its purpose once its certificate can be read, and the origin', async () => {
    const { document } = await scene();
    const label = { ...document.certificate.label, serial: 1_200 };
    const certificate = { ...document, certificate: { ...document.certificate, label } } as never;
    const [before, after] = [shown(), shown({ certificate })].map(seen);
    const startOf = 'The purpose and the number of this draw: it is answer';
    const told = [before, after].map((lines) => lines.find((line) => line.startsWith(startOf)));
    assert.match(told[0]!, /answer with a number that is not available yet\./);
    assert.match(told[1]!, /answer number 1,200\./);
    const origins = [before, after].map((lines) => lines.some((line) => /^Simulated source/.test(line)));
    assert.deepEqual(origins, [false, true]);
  });

  it('states in two sentences what is left to trust, which do not contradict the text above', () => {
    const plain = shown();
    assert.match(plain, /Without a beacon, the service could have known the outcome when it committed/);
    assert.doesNotMatch(plain, /nobody knows its outcome/);
    const beacon = shown(withBeacon);
    assert.match(beacon, /nobody knows its outcome/);
    assert.match(beacon, /did not learn the round in advance/);
    assert.doesNotMatch(beacon, /could have known the outcome when/);
    for (const text of [plain, beacon]) {
      const [, sentences] = /What is left to trust<\/h2><p>([^<]*)</.exec(text)!;
      assert.equal(sentences.match(/\.(?:\s|$)/g)?.length, 2, sentences);
    }
  });
});
