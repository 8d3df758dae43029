import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { verify } from '../../clients/typescript/program/verify.ts';
import { drawScene } from '../certificate/draw-scene.ts';
import { sampleLot } from '../certificate/fixtures.ts';
import { changed, type Scene, scene } from '../certificate/scene.ts';
import { startPageServer } from '../http/pages/page-server.ts';
import { runCommand } from '../support/run-command.ts';
import { savingIn, scratchFolder } from '../support/scratch-folder.ts';
import { served } from '../support/served.ts';

const folder = scratchFolder();

const save = savingIn(folder);

/** Answer, certificate and keys as files, and the arguments that name them. */
function offline({ response, document, keys }: Pick<Scene, 'response' | 'document' | 'keys'>): string[] {
  const [answer, certificate, key] = [
    save('a.json', response),
    save('c.json', document),
    save('k.json', keys),
  ];
  return [answer, '--certificate', certificate, '--keys', key];
}

describe('qrn verify with files', () => {
  it('passes what the service returned: a line per check, and the verdict', async () => {
    const { status, out, talk } = await runCommand(verify, offline(await scene()));
    assert.deepEqual([status, talk], [0, '']);
    assert.equal(out.match(/^ok {6}\S/gm)?.length, 12);
    assert.match(out, /^Origin {8}simulated$/m);
    assert.match(out, /^SP 800-22 {5}\d+\/\d+ passed, verified$/m);
    assert.match(out, /^not covered by the certificate: meta\.duration_ms, /m);
    assert.match(out, /a\.json: verified\n$/);
  });

  it('fails a certificate that does not prove its bytes fixed before, only with --require-fixed', async () => {
    const files = offline(await scene({ mode: 'csprng', lots: [sampleLot('a')] }));
    assert.equal((await runCommand(verify, files)).status, 0);
    const { status, out } = await runCommand(verify, [...files, '--require-fixed']);
    assert.equal(status, 1);
    assert.deepEqual(out.match(/^FAILED {2}\S+/gm), ['FAILED  fixed']);
  });

  it('fails with a reason for each check that fails', async () => {
    const s = await scene();
    const response = changed(changed(s.response, 'data.values', [0]), 'metadata.request_id', 'req_0');
    const { status, out, talk } = await runCommand(verify, offline({ ...s, response }));
    assert.equal(status, 1);
    assert.equal(out.match(/^FAILED {2}/gm)?.length, 2);
    assert.match(out, /^FAILED {2}delivered +The salt and the data hash to /m);
    assert.match(out, /^FAILED {2}request id +The answer is of request "req_0"/m);
    assert.match(talk, /^[^\n]*a\.json: not verified: request id, delivered failed\n$/);
  });

  it('verifies a committed draw by the keys alone', async () => {
    const { document, keys } = await drawScene();
    const args = [save('draw.json', document), '--keys', save('k.json', keys)];
    const good = await runCommand(verify, args);
    assert.deepEqual([good.status, good.talk], [0, '']);
    for (const name of ['statement', 'logged', 'beacon', 'values', 'end'])
      assert.match(good.out, new RegExp(`^ok {6}${name} `, 'm'));
    save('draw.json', changed(document, 'outcome.values', ['ada', 'é, with a comma']));
    const forged = await runCommand(verify, args);
    assert.deepEqual(
      [forged.status, forged.out.match(/^FAILED {2}\S+/gm)],
      [1, ['FAILED  values', 'FAILED  end']],
    );
    const { status, talk } = await runCommand(verify, [...args, '--certificate', args[2]]);
    assert.equal(status, 2);
    assert.match(talk, /--certificate is not allowed with a draw/);
  });

  it('prints each text of a certificate on one line, without its control characters', async () => {
    const s = await scene({ revoked: 'a fault\n\u001b[2Aok \u202edetfiw\u009b2K' });
    const { status, out } = await runCommand(verify, offline(s));
    assert.equal(status, 1);
    assert.match(
      out,
      /^FAILED {2}status .*: a fault\\u\{a\}\\u\{1b\}\[2Aok \\u\{202e\}detfiw\\u\{9b\}2K\.$/m,
    );
    assert.doesNotMatch(out, /[^\P{Cc}\n]/u);
  });

  it('prints JSON', async () => {
    const s = await scene();
    const args = offline(s);
    const { status, out, talk } = await runCommand(verify, [...args, '--json']);
    assert.deepEqual([status, talk], [0, '']);
    assert.match(out, /^[^\n]+\n$/);
    const { ok, checks, not_covered } = JSON.parse(out);
    assert.equal(ok, true);
    assert.equal(checks.length, 12);
    assert.deepEqual(Object.keys(checks[0]), ['name', 'ok', 'why']);
    assert.ok(not_covered.includes('quantum_credits.used'));
  });

  it('reads a file with a byte-order mark', async () => {
    const [answer, ...args] = offline(await scene());
    const marked = save('marked.json', `\ufeff${readFileSync(answer, 'utf8')}`);
    assert.equal((await runCommand(verify, [marked, ...args])).status, 0);
  });

  it('reports in one line what it cannot read', async () => {
    const args = offline(await scene());
    const cases: [args: string[], status: number, talk: RegExp][] = [
      [[], 2, /^qrn verify: missing required argument 'RESPONSE'; see qrn verify --help\n$/],
      [['nothing.json', ...args.slice(1)], 2, /^qrn verify: cannot read nothing\.json: ENOENT[^\n]*\n$/],
      [
        [save('broken.json', '{'), ...args.slice(1)],
        2,
        /^qrn verify: [^\n]*broken\.json is not JSON; an answer in octets requires --headers: [^\n]*\n$/,
      ],
      [
        [save('twice.json', '{"data":{"values":["eve"],"values":["ada"]}}'), ...args.slice(1)],
        2,
        /^qrn verify: [^\n]*twice\.json has two members "values" in one object: [^\n]*\n$/,
      ],
      [[save('no.json', { error: {} })], 2, /^qrn verify: [^\n]*no\.json names no certificate [^\n]*\n$/],
      [[save('null.json', null)], 2, /^qrn verify: [^\n]*null\.json names no certificate [^\n]*\n$/],
      [
        [args[0], '--url', 'ftp://x'],
        2,
        /^qrn verify: --url must be an http or https URL, not "ftp:\/\/x"; see/,
      ],
    ];
    for (const [given, status, talk] of cases) {
      const done = await runCommand(verify, given);
      assert.deepEqual([done.status, done.out], [status, ''], done.talk);
      assert.match(done.talk, talk);
    }
  });
});

it('qrn verify exits with 2 when it cannot verify, never with 1, which means that the answer was changed', async () => {
  const { service, response } = await scene();
  const answer = save('a.json', response);
  const cutting = await served((_, reply) => {
    reply.writeHead(200, { 'content-length': '100' }).write('{', () => reply.destroy());
  });
  const cut = await runCommand(verify, [answer, '--url', cutting]);
  assert.deepEqual([cut.status, cut.out], [2, '']);
  assert.match(cut.talk, /^qrn verify: [^\n]+\n$/);
  const origin = await startPageServer(() => service);
  const wrong: readonly Record<string, string>[] = [{ QRN_PROT: '3000' }, { QRN_PORT: 'x' }];
  for (const environment of wrong) {
    const done = await runCommand(verify, [answer, '--url', origin], environment);
    assert.deepEqual([done.status, done.out], [2, '']);
    assert.match(done.talk, /^qrn verify: QRN_PO?R[^\n]+\n$/);
  }
  const gone = mkdtempSync(join(folder, 'gone-'));
  const interruption = () => {
    rmSync(gone, { recursive: true });
    return new AbortController().signal;
  };
  const watching = await runCommand(verify, [gone, '--watch', '--url', origin], {}, undefined, {
    interruption,
  });
  assert.equal(watching.status, 2);
  assert.match(watching.talk, /^qrn verify: ENOENT[^\n]+\n$/);
});

describe('qrn verify of several answers', () => {
  it('reports each, and exits with 1 when one is not what was certified, else with 2 when one could not be verified', async () => {
    const { service, response } = await scene();
    const origin = await startPageServer(() => service);
    const good = save('good.json', response);
    const bad = save('bad.json', changed(response, 'data.values', [0]));
    const cases: [files: string[], status: number, verified: number, failed: number, unread: number][] = [
      [[good, good], 0, 2, 0, 0],
      [[good, 'nothing.json', bad, good], 1, 2, 1, 1],
      [['nothing.json', good], 2, 1, 0, 1],
    ];
    for (const [files, status, verified, failed, unread] of cases) {
      const done = await runCommand(verify, [...files, '--url', origin]);
      assert.equal(done.status, status);
      assert.equal(done.out.match(/: verified$/gm)?.length ?? 0, verified);
      assert.equal(done.talk.match(/: not verified: delivered failed$/gm)?.length ?? 0, failed);
      assert.equal(done.talk.match(/^qrn verify: cannot read /gm)?.length ?? 0, unread);
    }
    const { out } = await runCommand(verify, [good, bad, 'nothing.json', '--url', origin, '--json']);
    const lines = out.trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).ok),
      [true, false, null],
    );
  });

  it('reads one answer from stdin', async () => {
    const { service, response } = await scene();
    const origin = await startPageServer(() => service);
    const stdin = async () => Buffer.from(JSON.stringify(response));
    const { status, out } = await runCommand(verify, ['-', '--url', origin], {}, undefined, { stdin });
    assert.equal(status, 0);
    assert.match(out, /^-: verified$/m);
    // as the commands that draw do, it asks the service of QRN_URL when no other is named
    const named = await runCommand(verify, ['-'], { QRN_URL: `${origin}/v1` }, undefined, { stdin });
    assert.deepEqual([named.status, named.out], [0, out]);
    const wrong = await runCommand(verify, ['-'], { QRN_URL: 'ftp://x' }, undefined, { stdin });
    assert.deepEqual([wrong.status, wrong.out], [2, '']);
    assert.match(wrong.talk, /QRN_URL must be an http or https URL, not "ftp:\/\/x"/);
    const twice = await runCommand(verify, ['-', '-']);
    assert.deepEqual([twice.status, twice.out], [2, '']);
  });

  it('refuses options for a single answer when there are several', async () => {
    for (const option of ['headers', 'salt', 'certificate']) {
      const { status, talk } = await runCommand(verify, ['a.json', 'b.json', `--${option}`, 'x']);
      assert.equal(status, 2);
      assert.match(talk, new RegExp(`--${option} is allowed only with one RESPONSE`));
    }
  });

  it('watches a folder until it is interrupted', async () => {
    const { service, response } = await scene();
    const watched = mkdtempSync(join(folder, 'watched-'));
    writeFileSync(join(watched, 'first.json'), JSON.stringify(response));
    writeFileSync(join(watched, 'notes.txt'), 'not an answer');
    const interruption = new AbortController();
    const find = async (id: string) => {
      // the second answer comes while the first is checked, and ends the watch
      if (readdirSync(watched).includes('second.json')) setImmediate(() => interruption.abort());
      else writeFileSync(join(watched, 'second.json'), JSON.stringify(changed(response, 'data.values', [0])));
      return service.find(id);
    };
    const origin = await startPageServer(() => ({ ...service, find }));
    const done = await runCommand(verify, [watched, '--watch', '--url', origin], {}, undefined, {
      interruption: () => interruption.signal,
    });
    assert.equal(done.status, 1);
    assert.match(done.out, /first\.json: verified$/m);
    assert.match(done.talk, /second\.json: not verified/);
    assert.match(done.talk, /1 verified, 1 not verified, 0 could not be verified\n$/);
    const { status, talk } = await runCommand(verify, [join(folder, 'a.json'), '--watch']);
    assert.equal(status, 2);
    assert.match(talk, /--watch requires exactly one folder/);
  });
});

describe('qrn verify against a service', () => {
  it('fetches certificate and keys from --url, or else from the configured service', async () => {
    const { service, response } = await scene();
    const origin = await startPageServer(() => service);
    const answer = save('a.json', response);
    const { port } = new URL(origin);
    const ways: [args: string[], environment: Record<string, string>][] = [
      [['--url', origin], {}],
      [['--url', `${origin}/v1`], { QRN_VERIFY_URL_BASE: 'http://127.0.0.1:1/elsewhere' }],
      [[], { QRN_BASE_URL: `${origin}/v1` }],
      [[], { QRN_PORT: port }],
      [[], { QRN_PORT: port, QRN_VERIFY_URL_BASE: `${origin}/verify` }],
    ];
    for (const [args, environment] of ways) {
      const { status, out, talk } = await runCommand(verify, [answer, ...args], environment);
      assert.deepEqual([status, talk], [0, ''], out);
    }
  });

  it('asks the service that the answer names if no other is given, and says so', async () => {
    const { service, response, keys, id } = await scene();
    const origin = await startPageServer(() => service);
    const named = changed(response, 'metadata.verify_url', `${origin}/verify/${id}`);
    const answer = save('named.json', named);
    const own = save('own-keys.json', keys);
    const alone = await runCommand(verify, [answer]);
    assert.equal(alone.status, 0, alone.talk);
    assert.equal(
      alone.talk,
      `qrn verify: the keys are those of ${origin}, the service that ${answer} itself names\n`,
    );
    assert.deepEqual(await runCommand(verify, [answer, '--keys', own]), { ...alone, talk: '' });
    for (const [args, environment] of [
      [['--url', 'http://127.0.0.1:1'], {}],
      [[], { QRN_URL: 'http://127.0.0.1:1/v1' }],
      [[], { QRN_BASE_URL: 'http://127.0.0.1:1/v1' }],
    ] as const) {
      const elsewhere = await runCommand(verify, [answer, ...args], environment);
      assert.equal(elsewhere.status, 2, 'the answer does not overrule the caller');
    }
    for (const url of ['http://', 'javascript:alert(1)', 7]) {
      const odd = save('odd.json', changed(response, 'metadata.verify_url', url));
      assert.equal((await runCommand(verify, [odd], { QRN_PORT: '1' })).status, 2, `${url}`);
    }
  });

  it('waits briefly for a certificate that is not logged yet', async () => {
    const { service, response, seal } = await scene({ unlogged: true });
    let asked = 0;
    const find = async (id: string) => {
      if (++asked === 3) await seal();
      return service.find(id);
    };
    const origin = await startPageServer(() => ({ ...service, find }));
    const { status } = await runCommand(verify, [save('a.json', response), '--url', origin]);
    assert.equal(status, 0);
    assert.equal(asked, 3);
  });

  it('prefers keys from a file to those of the service', async () => {
    const { service, response, keys } = await scene();
    const own = save('own-keys.json', keys);
    const forged = {
      ...keys,
      keys: [{ ...keys.keys[0], public_key: Buffer.alloc(32, 7).toString('base64') }],
    };
    const origin = await startPageServer(() => ({ ...service, keys: async () => forged }));
    const answer = save('a.json', response);
    const trusting = await runCommand(verify, [answer, '--url', origin]);
    assert.equal(trusting.status, 1);
    assert.match(trusting.talk, /keys, signature, fixed failed\n$/);
    assert.equal((await runCommand(verify, [answer, '--url', origin, '--keys', own])).status, 0);
  });

  it('reports in one line that the certificate is unknown, or that nobody answers', async () => {
    const { service, response } = await scene();
    const unknown = changed(response, 'metadata.certificate_id', `cert_${'0'.repeat(26)}`);
    const origin = await startPageServer(() => service);
    const done = await runCommand(verify, [save('u.json', unknown), '--url', origin]);
    assert.deepEqual([done.status, done.out], [2, '']);
    assert.match(
      done.talk,
      /^qrn verify: there is nothing at http[^\n]*: either the service has no such document[^\n]* --certificate C\.json --keys K\.json\n$/,
    );
    const silent = await runCommand(verify, [save('a.json', response), '--url', 'http://127.0.0.1:1']);
    assert.deepEqual([silent.status, silent.out], [2, '']);
    assert.match(silent.talk, /^qrn verify: cannot reach http:\/\/127\.0\.0\.1:1\/[^\n]*\n$/);
  });
});
