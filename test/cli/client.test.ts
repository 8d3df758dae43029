import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DRAWING } from '../../clients/typescript/program/draw.ts';
import { fetchWhole } from '../support/http.ts';
import { runCommand, runQrnHere } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { served } from '../support/served.ts';
import { TestServer } from '../support/server.ts';

/** The commands that draw values, against the real service; pipelines run them in processes of their own, as scripts do. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const elsewhere = scratchFolder();

let server: TestServer;
before(async () => {
  server = await TestServer.shared();
});

const environment = () => ({ QRN_URL: server.baseUrl, QRN_KEY: server.key });
const qrn = (...args: string[]) => runQrnHere(elsewhere, args, environment());

/** Runs a shell pipeline in which `qrn` is the program. */
function shell(script: string): Promise<{ code: number | null; out: Buffer; talk: string }> {
  const main = `"${process.execPath}" --import ./scripts/stripped.mjs src/main.ts`;
  const child = spawn('bash', ['-o', 'pipefail', '-c', `qrn() { ${main} "$@"; }\n${script}`], {
    cwd: root,
    env: { PATH: process.env['PATH'], QRN_DATA_DIR: elsewhere, ...environment() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const out: Buffer[] = [];
  let talk = '';
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => (talk += chunk.toString('utf8')));
  return new Promise((resolve) =>
    child.once('close', (code) => resolve({ code, out: Buffer.concat(out), talk })),
  );
}

/** Runs `qrn` against a proxy before the service, and gives the answer that passed there. */
async function recorded(args: readonly string[]) {
  let answer = '';
  const proxy = await served(async ({ url, headers }, reply) => {
    const { authorization = '' } = headers;
    const response = await fetchWhole(`${server.origin}${url}`, { headers: { authorization } });
    answer = await response.text();
    reply.writeHead(response.status, Object.fromEntries(response.headers)).end(answer);
  });
  const ran = await runQrnHere(elsewhere, args, { ...environment(), QRN_URL: `${proxy}/v1` });
  return { ran, answer: JSON.parse(answer) as { data: Record<string, unknown> } };
}

describe('qrn as a client', () => {
  it('has a command for every kind of values', async () => {
    const cases: [line: string, out: RegExp][] = [
      ['bitstring 20 --raw', /^[01]{20}\n$/],
      ['sample ada grace barbara --count 2 --raw', /^(?:(?:ada|grace|barbara)\n){2}$/],
      ['weighted gold lead --weights 1,3 --count 5 --raw', /^(?:(?:gold|lead)\n){5}$/],
      ['strings 2 --length 4 --alphabet ab --raw', /^(?:[ab]{4}\n){2}$/],
      [
        'sequences --length 5,1 --min 1,-3 --max 69,-1 --unique --sort ascending --raw',
        /^\d+( \d+){4} {2}-[123]\n$/,
      ],
      ['permutations 3 --count 2 --raw', /^(?:[012] [012] [012]\n){2}$/],
      ['gaussians 2 --mean -100.5 --stddev 0.01 --digits 5 --raw', /^(?:-100\.[45]\d?\n){2}$/],
    ];
    const done = await Promise.all(cases.map(([line]) => qrn(...line.split(' '))));
    done.forEach(({ code, stdout, stderr }, i) => {
      assert.deepEqual([code, stderr], [0, ''], cases[i][0]);
      assert.match(stdout, cases[i][1]);
    });
  });

  it('prints values to people, with their source beside them', async () => {
    const { code, stdout, stderr } = await qrn('integers', '6', '--min', '-49', '--max', '-1', '--unique');
    assert.equal(code, 0, stderr);
    const values = stdout.trim().split(' ').map(Number);
    assert.equal(new Set(values).size, 6);
    assert.ok(
      values.every((value) => value >= -49 && value <= -1),
      stdout,
    );
    assert.match(stderr, /^quantum-seeded, origin simulated, from \S+; certificate cert_\w{26}\n$/);
  });

  it('prints with --raw only the values of the answer, one to a line', async () => {
    const ways: [args: string[], valuesOf: (data: Record<string, unknown>) => unknown][] = [
      [['floats', '3', '--precision', '2', '--raw'], ({ values }) => values],
      [['floats', '3', '--raw'], ({ values }) => values],
      [['uuid', '2', '--raw'], ({ uuids }) => uuids],
      [['bytes', '16'], ({ bytes }) => [bytes]],
      [['shuffle', 'ada', 'grace, too', '--raw'], ({ items }) => items],
    ];
    for (const [args, valuesOf] of ways) {
      const { ran, answer } = await recorded(args);
      assert.equal(ran.code, 0, ran.stderr);
      const values = valuesOf(answer.data) as readonly (number | string)[];
      assert.equal(ran.stdout, values.map((value) => `${value}\n`).join(''), args.join(' '));
    }
  });

  it('writes no bytes to a terminal', async () => {
    const { status, out, talk } = await runCommand(DRAWING['bytes'], ['16', '--raw'], {}, undefined, {
      isTerminal: true,
    });
    assert.deepEqual([status, out], [2, '']);
    assert.match(
      talk,
      /^qrn bytes: --raw prints bytes that a terminal cannot show: redirect the output; see /,
    );
  });

  it('prints the answer unchanged with --json, which verify accepts', async () => {
    const { stdout } = await qrn('integers', '3', '--json');
    const path = join(elsewhere, 'answer.json');
    writeFileSync(path, stdout);
    assert.equal(JSON.parse(stdout).data.count, 3);
    const { code, stdout: told } = await qrn('verify', path, '--url', `${server.origin}/verify`);
    assert.equal(code, 0, told);
  });

  it('verifies the answer before it prints it with --verify', async () => {
    const { code, stdout, stderr } = await qrn('integers', '3', '--verify', '--raw');
    assert.deepEqual([code, stderr], [0, 'the answer: verified\n']);
    assert.match(stdout, /^(\d+\n){3}$/);
  });

  it('writes any number of bytes to a pipe, exactly', async () => {
    const { code, out, talk } = await shell('qrn bytes 9000001 --raw | cat');
    assert.deepEqual([code, out.length, talk], [0, 9_000_001, '']);
    assert.notDeepEqual(out.subarray(0, 64), out.subarray(4 * 1024 * 1024, 4 * 1024 * 1024 + 64));
  });

  it('ends quietly when the reader of a pipe has read enough', async () => {
    const { code, out, talk } = await shell('qrn bytes 1T --raw | head -c 100000');
    assert.deepEqual([code, out.length, talk], [0, 100_000, '']);
  });

  it('prints more numbers than one answer holds, one to a line', async () => {
    const { code, out, talk } = await shell('qrn integers 150000 --min 1 --max 6 --raw | sort -n | uniq -c');
    assert.equal(code, 0, talk);
    const counts = out
      .toString()
      .trim()
      .split('\n')
      .map((line) => Number(line.trim().split(' ')[0]));
    assert.equal(counts.length, 6);
    assert.equal(
      counts.reduce((sum, each) => sum + each, 0),
      150_000,
    );
  });

  it('picks items while the service sees only their numbers', async () => {
    const { code, out, talk } = await shell('seq 100 120 | qrn pick --count 3 --raw');
    assert.equal(code, 0, talk);
    const picked = out.toString().trim().split('\n').map(Number);
    assert.equal(new Set(picked).size, 3);
    assert.ok(picked.every((each) => each >= 100 && each <= 120));
  });

  it('prints the price with --dry-run and draws nothing', async () => {
    const before = JSON.parse((await qrn('usage', '--json')).stdout);
    const quotes = await Promise.all([
      qrn('bytes', '32', '--mode', 'pure', '--dry-run'),
      qrn('bytes', '32', '--dry-run'),
    ]);
    assert.match(quotes[0].stdout, /^32 credits of \d+ left\n$/);
    assert.equal(quotes[1].stdout, 'free: the mode is quantum-seeded, and only pure mode costs credits\n');
    const later = JSON.parse((await qrn('usage', '--json')).stdout);
    assert.deepEqual(later.credits, before.credits);
  });

  it('shows usage and state in words', async () => {
    const [usage, status] = await Promise.all([qrn('usage'), qrn('status')]);
    assert.match(
      usage.stdout,
      /^tier +pro\nrequests\.used +\d+\nrequests\.limit +500000\n[\s\S]*^credits\.total +10240$/m,
    );
    assert.match(status.stdout, /^http:\/\/\S+: (pass|warn), version \d/);
    assert.match(status.stdout, /^CHECK +STATUS/m);
  });

  it('finds the service of its data folder, and never sends its demo key to another', async () => {
    const port = new URL(server.baseUrl).port;
    const local = await runQrnHere(server.dataDir, ['integers', '--raw'], {
      QRN_PORT: port,
      QRN_HOST: '0.0.0.0',
    });
    assert.match(local.stdout, /^\d+\n$/, local.stderr);
    const foreign = await runQrnHere(server.dataDir, ['integers'], { QRN_URL: server.baseUrl });
    assert.deepEqual([foreign.code, foreign.stdout], [1, '']);
    assert.equal(foreign.stderr, 'qrn integers: there is no API key: set QRN_KEY\n');
    const named = await runQrnHere(server.dataDir, ['usage'], {
      QRN_URL: 'http://u:pass@rng.example/v1',
      QRN_KEY: 'k',
    });
    assert.equal(
      named.stderr,
      'qrn usage: http://rng.example/v1 must not contain a user name and a password; set QRN_KEY to the API key\n',
    );
  });

  it('reports an error in one line', async () => {
    const wrong: readonly [line: string, status: number, talk: RegExp][] = [
      ['integers --min 5 --max 5', 1, /^qrn integers: invalid_range: .* \(req_\w{26}\)\n$/],
      ['integers six', 2, /^qrn integers: COUNT must be a whole number from 1 to 2\^53 - 1, not "six"; see /],
      ['integers 20000', 2, /more than 10,000 values require --raw; see qrn integers --help\n$/],
      [
        'bytes 64K --raw --dry-run',
        2,
        /--dry-run shows the price of one answer, which has at most 1,024 bytes; see /,
      ],
      ['integers --mun 1', 2, /unknown option '--mun' \(Did you mean --min\?\)/],
      ['intgers', 2, /^qrn: unknown command 'intgers' \(Did you mean integers\?\); the commands are /],
      ['bytes 2Q', 2, /SIZE must be a number of bytes such as 512, 64K or 1G, not "2Q"/],
      ['pick one', 2, /at least two items are required/],
      ['weighted a b --weights 1', 1, /^qrn weighted: invalid_weights: [^\n]*\n$/],
      [
        'weighted a b --weights 1,x',
        2,
        /^qrn weighted: --weights must be a comma-separated list, each value a whole number from [^\n]*\n$/,
      ],
      ['gaussians --stddev 1e400', 2, /^qrn gaussians: --stddev must be a decimal number [^\n]*\n$/],
      ['gaussians --stddev 0', 1, /^qrn gaussians: invalid_stddev: [^\n]*\n$/],
      ['bitstring 0', 2, /^qrn bitstring: LENGTH must be a whole number from 1 to [^\n]*\n$/],
      ['bitstring 9999999', 1, /^qrn bitstring: invalid_length: [^\n]*\n$/],
      ['permutations', 2, /^qrn permutations: missing required argument 'LENGTH'; see [^\n]*\n$/],
      [
        'integers --url http://127.0.0.1:1/v1',
        1,
        /no service answers at http:\/\/127\.0\.0\.1:1\/v1: start it/,
      ],
    ];
    for (const [line, status, talk] of wrong) {
      const { code, stdout, stderr } = await qrn(...line.split(' '));
      assert.deepEqual([code, stdout], [status, ''], stderr);
      assert.match(stderr, talk);
      assert.match(stderr, /^[^\n]+\n$/);
    }
  });

  it('reports a full disk in one line', async () => {
    for (const command of ['integers 5', 'bytes 3000']) {
      const { code, talk } = await shell(`qrn ${command} --raw > /dev/full`);
      assert.equal(code, 1, talk);
      assert.match(talk, /^qrn: cannot write to stdout: ENOSPC[^\n]*\n$/);
    }
  });

  it('tells the service the purpose of the values', async () => {
    const said = ['--purpose', 'qrn & co', '--user-data', 'é', '--public'];
    const { code, stdout, stderr } = await qrn('pick', 'a', 'b', 'c', ...said, '--verify', '--json');
    assert.equal(code, 0, stderr);
    const { label } = JSON.parse(stdout);
    assert.deepEqual([label.purpose, label.user_data, label.public], ['qrn & co', 'é', true]);
  });

  it('treats an empty variable as unset, and hybrid as quantum-seeded', async () => {
    const { code, stdout, stderr } = await runQrnHere(
      server.dataDir,
      ['integers', '--mode', 'hybrid', '--json'],
      { QRN_PORT: new URL(server.baseUrl).port, QRN_URL: '', QRN_KEY: '' },
    );
    assert.equal(code, 0, stderr);
    assert.equal(JSON.parse(stdout).data.metadata.entropy_mode, 'quantum-seeded');
  });

  it('reports items that are too long for one request', async () => {
    const { code, talk } = await shell('seq 1000000000000 1000000009999 | qrn shuffle');
    assert.equal(code, 1);
    assert.match(talk, /^qrn shuffle: head_too_large: [^\n]*64 KiB[^\n]*\n$/);
  });

  it('has completions that each shell can read', async () => {
    const reply = ' echo "$'.concat('{COMPREPLY[@]}"; ');
    const { out, code } = await shell(
      `source <(qrn completions bash); COMP_WORDS=(qrn keys rev); COMP_CWORD=2; _qrn;${reply}` +
        `COMP_WORDS=(qrn integers --s); COMP_CWORD=2; _qrn;${reply}` +
        `COMP_WORDS=(qrn by); COMP_CWORD=1; _qrn;${reply}`,
    );
    assert.equal(code, 0);
    assert.equal(out.toString(), 'revoke\n--sort\nbytes\n');
    const words = async (...typed: string[]) =>
      (await qrn('completions', 'words', '--', ...typed)).stdout.split('\n');
    assert.ok((await words('keys')).includes('revoke'));
    assert.ok((await words('keys', 'revoke', 'x')).includes('--dry-run'));
    assert.deepEqual((await words('status')).slice(0, 3), ['--json', '--url', '--help']);
    for (const name of ['zsh', 'fish'])
      assert.match((await qrn('completions', name)).stdout, /qrn completions words --/);
    assert.match((await qrn('completions', 'csh')).stderr, /SHELL must be one of bash, zsh, fish/);
  });
});
