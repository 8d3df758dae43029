import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { before, describe, it } from 'node:test';
import type { DrawDocument } from '../../clients/typescript/src/draws.ts';
import type { CommandContext } from '../../src/cli/command.ts';
import { qrn } from '../../src/cli/commands.ts';
import { systemClock } from '../../src/core/clock.ts';
import { runCommand, runQrnHere } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { served } from '../support/served.ts';
import { TestServer, until } from '../support/server.ts';

/** `qrn draws` against the real service. */
const folder = scratchFolder();

let server: TestServer;
let key: string;
before(async () => {
  server = await TestServer.shared();
  ({ key } = await server.account('pro'));
});

const environment = () => ({ QRN_DATA_DIR: folder, QRN_URL: server.baseUrl, QRN_KEY: key });
const draws = (...args: string[]) => runQrnHere(folder, ['draws', ...args], environment());
const asked = (args: readonly string[], terminal: Partial<CommandContext>) =>
  runCommand(qrn, ['draws', ...args], environment(), systemClock, terminal);

const LATER = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 3_600_000).toISOString();
const LIST = 'ada\ngrace\nbarbara\nkatherine\n';
const SHA256 = createHash('sha256').update(LIST).digest('hex');
const list = join(folder, 'list.txt');
writeFileSync(list, LIST);
const RAFFLE = ['--winners', '2', '--list', list, '--purpose', 'raffle'];

async function created(...args: string[]): Promise<DrawDocument> {
  const { code, stdout, stderr } = await draws('create', ...args, '--json');
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as DrawDocument;
}

async function shown(id: string): Promise<DrawDocument> {
  return JSON.parse((await draws('show', id, '--json')).stdout) as DrawDocument;
}

describe('qrn draws', () => {
  it('commits to a draw of a list, announces the winners, and prints the document that verify accepts', async () => {
    const { code, stdout, stderr } = await draws('create', ...RAFFLE);
    assert.equal(code, 0, stderr);
    assert.match(stdout, new RegExp(`^list +4 items, sha256:${SHA256}$`, 'm'));
    const [, id] = /^draw +(draw_\w{26})$/m.exec(stdout) ?? [];
    let draw: DrawDocument | undefined;
    await until('the end is logged', async () => (draw = await shown(id)).end?.proof != null);
    const told = await draws('show', id);
    assert.match(told.stdout, /^state +revealed$/m);
    assert.match(told.stdout, /^purpose +raffle$/m);
    assert.match(told.stdout, /^origin +simulated$/m);
    assert.match(told.stdout, new RegExp(`^due +${draw?.statement.due_at}$`, 'm'));
    assert.ok(told.stdout.endsWith(`\nwinners:\n${draw?.outcome?.values?.join('\n')}\n`), told.stdout);
    assert.match(
      told.stderr,
      /^To verify the draw, run: qrn draws show draw_\w+ --json > DRAW\.json && qrn verify /,
    );
    const path = join(folder, 'draw.json');
    writeFileSync(path, JSON.stringify(draw));
    const verified = await runQrnHere(folder, ['verify', path], environment());
    assert.equal(verified.code, 0, verified.stdout);
  });

  it('draws line numbers of a list that is given by its hash', async () => {
    const { id } = await created('--winners', '4', '--list-sha256', SHA256, '--size', '4', '--purpose', 'p');
    await until('the draw has ended', async () => (await shown(id)).state === 'revealed');
    const [, lines = ''] = (await draws('show', id)).stdout.split(
      '\nwinners, as line numbers of the list from 1:\n',
    );
    assert.deepEqual(lines.trim().split('\n').sort(), ['1', '2', '3', '4']);
  });

  it('sends each option under its name', async () => {
    const { statement } = await created(
      ...['--request', '{"type":"integers","count":3,"params":{"min":1,"max":6}}', '--purpose', 'dice'],
      ...['--nonce', '00ff', '--at', LATER, '--user-data', 'é', '--public'],
    );
    const { kind, count, min, max } = statement.request;
    assert.deepEqual([kind, count, min, max], ['integers', 3, 1, 6]);
    assert.deepEqual([statement.nonce, statement.due_at], ['00ff', LATER]);
    assert.deepEqual([statement.user_data, statement.public, statement.purpose], ['é', true, 'dice']);
    const weighted = await created(...RAFFLE, '--weights', '1,2,3,4', '--at', LATER);
    assert.deepEqual(weighted.statement.request['weights'], [1, 2, 3, 4]);
    const { stderr } = await draws('create', ...RAFFLE, '--beacon', 'nowhere:7');
    assert.match(stderr, /^qrn draws create: invalid_beacon: .* \(req_\w{26}\)\n$/);
  });

  it('computes the first round of quicknet that is due at a time', async () => {
    const bodies: string[] = [];
    const service = await served(async (request, reply) => {
      bodies.push(await text(request));
      reply.writeHead(404).end();
    });
    // round 1 was due at second 1692803367, and one follows every 3 seconds
    for (const [at, round] of [
      ['2023-08-23T15:09:27Z', 1],
      ['2023-08-23T15:09:28Z', 2],
      ['2023-08-23T15:09:30Z', 2],
      ['2027-03-20T18:00:00Z', 37_587_412],
    ] as const) {
      await draws('create', ...RAFFLE, '--beacon-at', at, '--url', `${service}/v1`);
      assert.deepEqual(JSON.parse(bodies.at(-1)!).beacon, { chain: 'quicknet', round }, at);
    }
    const both = await draws('create', ...RAFFLE, '--beacon-at', LATER, '--beacon', 'quicknet:7');
    assert.match(both.stderr, /--beacon and --beacon-at must not both be given/);
  });

  it('opens the nonce that was committed to', async () => {
    const nonceSha256 = createHash('sha256').update(Buffer.from('c0ffee', 'hex')).digest('hex');
    const { id } = await created(...RAFFLE, '--nonce-sha256', nonceSha256);
    assert.match(
      (await draws('show', id)).stdout,
      new RegExp(`^nonce +not revealed yet, sha256:${nonceSha256}$`, 'm'),
    );
    assert.match((await draws('reveal', id, 'c0ffef')).stderr, /^qrn draws reveal: invalid_nonce: /);
    assert.equal((await draws('reveal', id, 'c0ffee')).code, 0);
    await until('the draw has ended', async () => (await shown(id)).state === 'revealed');
    assert.match((await draws('show', id)).stdout, /^nonce +c0ffee$/m);
  });

  it('cancels a draw after the user confirms, and shows the result it would have had', async () => {
    const { id } = await created(...RAFFLE, '--at', LATER);
    const dry = await draws('cancel', id, '--dry-run');
    assert.deepEqual([dry.code, dry.stdout.startsWith(`This cancels the draw ${id} (raffle): `)], [0, true]);
    const questions: string[] = [];
    const answer = (isMeant: boolean) => async (question: string) => {
      questions.push(question);
      return isMeant;
    };
    const no = await asked(['cancel', id], { confirm: answer(false) });
    assert.deepEqual([no.status, no.talk], [1, 'Nothing was changed.\n']);
    assert.equal((await shown(id)).state, 'committed');
    const yes = await asked(['cancel', id], { confirm: answer(true) });
    assert.equal(yes.status, 0, yes.talk);
    assert.match(yes.out, /^state +cancelled$/m);
    assert.match(yes.out, /\nwinners, had it not been cancelled:\n\w+\n\w+\n$/);
    assert.equal(questions.length, 2);
    const twice = await draws('cancel', id, '--yes');
    assert.deepEqual([twice.code, twice.stdout], [1, '']);
    assert.match(twice.stderr, /^qrn draws cancel: draw_ended: /);
    const path = join(folder, 'cancelled.json');
    let draw: DrawDocument | undefined;
    await until('the end is logged', async () => (draw = await shown(id)).end?.proof != null);
    writeFileSync(path, JSON.stringify(draw));
    const verified = await runQrnHere(folder, ['verify', path], environment());
    assert.equal(verified.code, 3, 'genuine, and without a result');
    assert.match(
      verified.stderr,
      /^[^\n]*cancelled\.json: cancelled: It has no result\. Its holder cancelled it/,
    );
    const late = await draws('cancel', id, '--dry-run');
    assert.equal(late.stderr, `qrn draws cancel: the draw ${id} has already ended; its state is cancelled\n`);
  });

  it('shows a draw without a key, and none of its characters moves the cursor', async () => {
    const items = Buffer.from('\u202eada\ngr\u200bace\n');
    const args = ['create', '--winners', '2', '--list', '-', '--purpose', 'p', '--json'];
    const { out, talk } = await asked(args, { stdin: async () => items });
    assert.ok(out.startsWith('{'), talk);
    const { id } = JSON.parse(out) as DrawDocument;
    await until('the draw has ended', async () => (await shown(id)).state === 'revealed');
    const { code, stdout } = await runQrnHere(folder, ['draws', 'show', id], { QRN_URL: server.baseUrl });
    assert.equal(code, 0);
    const [, winners = ''] = stdout.split('\nwinners:\n');
    assert.deepEqual(winners.trim().split('\n').sort(), ['\\u{202e}ada', 'gr\\u{200b}ace']);
  });

  it('refuses a contradictory command line before it asks the service', async () => {
    const latin = join(folder, 'latin.txt');
    writeFileSync(latin, Buffer.from([0xe9, 0x0a]));
    const purpose = ['--purpose', 'p'];
    const wrong: readonly [readonly string[], number, RegExp][] = [
      [['create', '--winners', '1', '--list', list], 2, /required option '--purpose <TEXT>' not specified/],
      [['create', ...purpose], 2, /either --winners with a list or --request is required/],
      [['create', ...RAFFLE, '--request', '{}'], 2, /either --winners with a list or --request is required/],
      [['create', ...purpose, '--request', '{}', '--size', '4'], 2, /--size must be used with --winners/],
      [['create', ...purpose, '--request', '{'], 2, /--request must be a JSON object such as /],
      [
        ['create', ...purpose, '--winners', '1'],
        2,
        /--winners requires --list, or --list-sha256 with --size/,
      ],
      [['create', ...RAFFLE, '--size', '4'], 2, /--list-sha256 and --size must be given together/],
      [
        ['create', ...RAFFLE, '--beacon', 'quicknet'],
        2,
        /--beacon must be CHAIN:ROUND such as quicknet:37587412/,
      ],
      [['create', ...RAFFLE, '--nonce', 'xy'], 2, /--nonce must be 1 to 64 bytes in lower-case hex/],
      [['create', ...RAFFLE, '--at', 'soon'], 2, /--at must be a time such as /],
      [['create', ...purpose, '--winners', '1', '--list', latin], 1, /the list \S+ is not UTF-8/],
      [
        ['create', ...purpose, '--winners', '1', '--list', join(folder, 'none')],
        1,
        /cannot read \S+: ENOENT/,
      ],
      [['reveal', `draw_${'0'.repeat(26)}`], 2, /missing required argument 'NONCE'/],
    ];
    for (const [args, status, talk] of wrong) {
      const { code, stdout, stderr } = await runQrnHere(folder, ['draws', ...args], {
        QRN_URL: 'http://127.0.0.1:1/v1',
        QRN_KEY: 'none',
      });
      assert.deepEqual([code, stdout], [status, ''], stderr);
      assert.match(stderr, talk);
    }
  });
});
