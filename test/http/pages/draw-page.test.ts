import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DrawDocument } from '../../../src/certificate/draw.ts';
import { drawMain } from '../../../src/http/pages/draw-page.ts';

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
  it('counts down to the time at which it is due, and no longer', () => {
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

  it('shows what callers said as text', () => {
    const said = '<i>"1" & co';
    const text = shown({ ...ended([said]), statement: { ...STATEMENT, purpose: said, user_data: said } });
    assert.equal(text.split('<bdi>&lt;i&gt;&quot;1&quot; &amp; co</bdi>').length - 1, 3);
    assert.doesNotMatch(text, /<i>/);
  });

  it('says in two sentences what is left to trust, which do not contradict what stands above them', () => {
    const plain = shown();
    assert.match(plain, /Without a beacon the service could have known the outcome when it committed/);
    assert.doesNotMatch(plain, /nobody knows how it ends/);
    const beacon = shown(withBeacon);
    assert.match(beacon, /nobody knows how it ends/);
    assert.match(beacon, /did not learn the round beforehand/);
    assert.doesNotMatch(beacon, /could have known the outcome when/);
    for (const text of [plain, beacon]) {
      const [, sentences] = /What is left to trust<\/h2><p>([^<]*)</.exec(text)!;
      assert.equal(sentences.match(/\.(?:\s|$)/g)?.length, 2, sentences);
    }
  });
});
