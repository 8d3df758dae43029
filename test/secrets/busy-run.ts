import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { unpack } from 'msgpackr';
import { fetchWhole } from '../support/http.ts';
import { ProviderServer } from '../support/providers/http-server.ts';
import { QRYPT_KEY, qryptServer } from '../support/providers/qrng-services.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { runQrn, TestServer } from '../support/server.ts';
import { Needles } from './needles.ts';
import { canReadMemory, type MemorySearch, searchMemory } from './process-memory.ts';
import { readSecrets, type SecretKind, snapshotsIn } from './secret-records.ts';

/** A key that its provider repeats in every answer, as some do. */
const ECHOED_KEY = 'echo-Key-7d1b.94e2f0aa63';

/** A response that gives no values: nothing secret may stand in it. */
interface Told {
  readonly what: string;
  readonly text: Buffer;
}

/** A secret that a client got. */
interface Given {
  readonly salts: Buffer[];
  readonly pure: Buffer[];
  readonly seeded: Buffer[];
}

/** Everything that a service printed and left behind, and all secrets in it. */
export interface BusyRun {
  readonly dataDir: string;
  readonly backupDir: string;
  /** stdout and stderr of the service, of both starts, and of the commands beside it; without what is shown once. */
  readonly log: string;
  readonly told: readonly Told[];
  /** Heap snapshots by thread; `main` is the first. */
  readonly snapshots: ReadonlyMap<string, string>;
  /** Memory of the second start, in the middle of its work; undefined where the system forbids the search. */
  readonly memory: MemorySearch | undefined;
  /** All secrets, by the names below. */
  readonly needles: Needles;
}

/** Used secrets: secret values, and keys that nothing more is made with. */
export type SpentName = 'salt' | 'delivered pure bytes' | 'delivered keystream' | SecretKind;
/** Keys in use, which must be somewhere. */
export type KeyName = 'API key' | 'key of a provider';

/**
 * The real service with every mode, errors, commands beside it, a provider that answers and one that repeats its key: killed
 * in the middle, started again, searched, stopped. Its folders are removed with the test.
 */
export async function busyRun(t: TestContext): Promise<BusyRun> {
  const root = scratchFolder();
  const [recordDir, backupDir, dataDir] = ['secrets', 'backup', 'new/data'].map((name) => join(root, name));
  mkdirSync(recordDir, { mode: 0o700 });
  const settings = await sourcesOf(t, root);
  const watched = {
    ...settings,
    QRN_LOG_LEVEL: 'debug',
    QRN_ACCESS_LOG_SAMPLE: '1',
    NODE_OPTIONS: `--import=${import.meta.resolve('./record-secrets.ts')}`,
    SECRETS_RECORD_DIR: recordDir,
  };
  const told: Told[] = [];
  const given: Given = { salts: [], pure: [], seeded: [] };

  const first = await startWithoutMask(watched, dataDir);
  t.after(() => first.kill('SIGKILL'));
  const key = await aliveThrough(first, async () => {
    const { key } = await first.account('enterprise', '--credits-per-month', '80000');
    await everyMode(first, key, given, told);
    return key;
  });
  await first.kill('SIGKILL');

  const second = await TestServer.start(watched, dataDir);
  t.after(() => second.kill('SIGKILL'));
  const { needles, memory, snapshots } = await aliveThrough(second, async () => {
    await everyMode(second, key, given, told);
    const { key: freeKey } = await second.account('free');
    await Promise.all([
      commandsBeside(second, settings, backupDir, told),
      everyError(second, key, freeKey, told),
      everyPage(second, key, told),
    ]);
    const needles = needlesOf([key, freeKey, first.key], given, recordDir);
    const memory = await searchStopped(second, key, needles);
    second.process.kill('SIGUSR2');
    return { needles, memory, snapshots: await snapshotsIn(recordDir) };
  });
  assert.equal(await second.kill('SIGTERM'), 0);
  const log = [first, second]
    .map((server) => server.output().replaceAll(/^demo key [\s\S]*?^More accounts: /gm, ''))
    .join('');
  return { dataDir, backupDir, log, told, snapshots, memory, needles };
}

/** A failure says how the service was, and what it said last. */
async function aliveThrough<T>(server: TestServer, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    const { exitCode, signalCode } = server.process;
    const last = server.output().slice(-2_000);
    throw new Error(`the service (${exitCode ?? signalCode ?? 'running'}) said last: ${last}`, {
      cause: error,
    });
  }
}

/** Starts as a careless operator would: every file may be read by all, unless the service says otherwise. */
async function startWithoutMask(environment: Record<string, string>, dataDir: string): Promise<TestServer> {
  const mask = process.umask(0);
  try {
    return await TestServer.start(environment, dataDir);
  } finally {
    process.umask(mask);
  }
}

/**
 * One source that works, with its key in a file, and one that fails permanently and repeats its key, which is in a
 * variable.
 */
async function sourcesOf(t: TestContext, root: string): Promise<Record<string, string>> {
  const sound = await qryptServer().start(t);
  const echo = new ProviderServer(({ headers }) => {
    const key = headers['x-api-key'] ?? '';
    return { status: 403, headers: { 'x-key': key }, body: { message: `Incorrect API key: ${key}` } };
  });
  await echo.start(t);
  const keyFile = join(root, 'qrypt-key');
  writeFileSync(keyFile, `${QRYPT_KEY}\n`, { mode: 0o600 });
  return {
    QRN_BACKEND: 'anu,qrypt',
    QRN_SOURCE_POLICY: 'share',
    QRN_SOURCE_QRYPT_API_KEY_FILE: keyFile,
    QRN_SOURCE_QRYPT_BASE_URL: sound.url,
    QRN_SOURCE_QRYPT_ITEMS_PER_CALL: '120', // less than a million bits: tests of a lot are not what this is about
    QRN_SOURCE_ANU_API_KEY: ECHOED_KEY,
    QRN_SOURCE_ANU_BASE_URL: echo.url,
    QRN_RESERVOIR_BYTES: '65536',
    QRN_WORKERS: '1',
  };
}

interface Answer {
  readonly data: { readonly bytes?: string; readonly values?: readonly string[] };
  readonly metadata: { readonly certificate_salt: string; readonly certificate_id: string };
}

async function everyMode(server: TestServer, key: string, given: Given, told: Told[]): Promise<void> {
  const as = (more: Record<string, string> = {}) => ({ authorization: `Bearer ${key}`, ...more });
  const keep = (answer: Answer, into: Buffer[] | undefined) => {
    into?.push(...(answer.data.values ?? [answer.data.bytes!]).map((value) => Buffer.from(value, 'hex')));
    given.salts.push(Buffer.from(answer.metadata.certificate_salt, 'hex'));
  };
  const bytes = (query: string, more: Record<string, string> = {}) =>
    served(() => server.get(`/bytes?${query}`, as(more)), told);
  for (let i = 0; i < 8; i++) {
    keep((await (await bytes('count=1024&entropy_mode=pure')).json()) as Answer, given.pure);
    keep((await (await bytes('count=1024')).json()) as Answer, given.seeded);
    keep((await (await bytes('count=1024&entropy_mode=csprng')).json()) as Answer, undefined);
  }
  const packed = await bytes('count=1024&entropy_mode=pure', { accept: 'application/msgpack' });
  keep(unpack(Buffer.from(await packed.arrayBuffer())) as Answer, given.pure);
  const octets = await bytes('count=1024&entropy_mode=pure', { accept: 'application/octet-stream' });
  given.pure.push(Buffer.from(await octets.arrayBuffer()));
  given.salts.push(Buffer.from(octets.headers.get('x-certificate-salt')!, 'hex'));
  for (let i = 0; i < 2; i++) {
    const once = { 'idempotency-key': `once-${server.process.pid}` };
    keep((await (await bytes('count=64&entropy_mode=pure', once)).json()) as Answer, given.pure);
  }
  const batch = (entropy_mode: string, count: number) =>
    served(() => server.batch({ type: 'bytes', count, params: { length: 1024 }, entropy_mode }, as()), told);
  keep((await (await batch('pure', 10)).json()) as Answer, given.pure);
  keep((await (await batch('quantum-seeded', 100)).json()) as Answer, given.seeded); // large enough for a worker
  for (const path of [
    '/integers?count=9',
    '/floats?count=9',
    '/uuid',
    '/bitstring',
    '/shuffle?items=a,b,c',
  ]) {
    await served(() => server.get(path, as()), told);
  }
}

/** Requests as a client would: again a little later while there is not enough entropy. */
async function served(ask: () => Promise<Response>, told: Told[]): Promise<Response> {
  for (let tries = 0; tries < 100; tries++) {
    const response = await ask();
    if (response.status === 200) return response;
    assert.equal(response.status, 503);
    await tell(told, 'an answer', response);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert.fail('no entropy came');
}

async function commandsBeside(
  server: TestServer,
  settings: Record<string, string>,
  backupDir: string,
  told: Told[],
): Promise<void> {
  const commands = [
    ['config'],
    ['sources', 'list'],
    ['sources', 'test', 'anu'],
    ['keys', 'list', '--json'],
    ['lots', 'list', '--json'],
    ['ledger', 'backup', backupDir],
  ];
  const run = async (args: string[]) => {
    const { stdout, stderr } = await runQrn(server.dataDir, args, settings);
    told.push({ what: `qrn ${args.slice(0, 2).join(' ')}`, text: Buffer.from(`${stdout}${stderr}`) });
  };
  await Promise.all(commands.map(run));
}

async function tell(told: Told[], what: string, response: Response): Promise<void> {
  const head = [...response.headers].map(([name, value]) => `${name}: ${value}\n`).join('');
  const body = Buffer.from(await response.arrayBuffer());
  told.push({ what: `${what} ${response.status}`, text: Buffer.concat([Buffer.from(head), body]) });
}

async function everyError(server: TestServer, key: string, freeKey: string, told: Told[]): Promise<void> {
  const as = { authorization: `Bearer ${key}` };
  const mistyped = { authorization: `Bearer ${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}` };
  const { key: poorKey } = await server.account('enterprise', '--credits-per-month', '10');
  const refused: [path: string, headers: Record<string, string>, status: number][] = [
    ['/integers', mistyped, 401],
    ['/bytes?count=16&entropy_mode=pure', { authorization: `Bearer ${poorKey}` }, 402],
    ['/integers', { authorization: `Basic ${Buffer.from(key).toString('base64')}` }, 401],
    [`/integers?api_key=${key}&count=0`, as, 400],
    [`/nothing/${key}`, as, 404],
    [`/certificate?id=${key}`, as, 400],
    [`/bytes?encoding=${key}`, as, 400],
    [`/bytes?entropy_mode=${key}`, as, 400],
    ['/bytes?count=1&count=2', as, 400],
    ['/bytes?entropy_mode=pure', { ...as, 'idempotency-key': 'a b' }, 400],
    ['/bytes?entropy_mode=pure', { authorization: `Bearer ${freeKey}` }, 403],
    ['/batch', as, 405],
  ];
  for (const [path, headers, status] of refused) {
    const response = await server.get(path, headers);
    assert.equal(response.status, status, path);
    await tell(told, `GET ${path.replace(key, 'KEY')}`, response);
  }
  const bodies: [body: string, headers: Record<string, string>, status: number][] = [
    ['{', as, 400],
    [JSON.stringify({ type: key, count: 1 }), as, 400],
    [JSON.stringify({ type: 'uuid', count: 1, [key]: 1 }), { ...as, 'content-type': 'text/plain' }, 415],
    [`"${'x'.repeat(70_000)}"`, as, 413],
    [
      JSON.stringify({ type: 'bytes', count: 100_000, params: { length: 1024 }, entropy_mode: 'pure' }),
      as,
      400,
    ],
    [
      JSON.stringify({ type: 'bytes', count: 1_000, params: { length: 1024 }, entropy_mode: 'pure' }),
      as,
      400,
    ],
    [JSON.stringify({ type: 'bytes', count: 60, params: { length: 1024 }, entropy_mode: 'pure' }), as, 402],
  ];
  for (const [body, headers, status] of bodies) {
    const response = await server.batch(body, headers);
    assert.equal(response.status, status, body.slice(0, 60));
    await tell(told, 'POST /batch', response);
  }
  for (let i = 0; i < 16; i++) {
    const limited = await server.get('/integers', { authorization: `Bearer ${freeKey}` });
    if (limited.status === 429) await tell(told, 'GET /integers', limited);
    else await limited.arrayBuffer();
  }
  assert.ok(told.some(({ what }) => what.endsWith('429')));
}

async function everyPage(server: TestServer, key: string, told: Told[]): Promise<void> {
  const as = { authorization: `Bearer ${key}` };
  const answer = (await (await server.get('/integers', as)).json()) as Answer;
  const id = answer.metadata.certificate_id;
  const pages = [
    ...[
      '/',
      '/status',
      '/metrics',
      '/livez',
      '/readyz',
      '/docs',
      '/openapi.json',
      '/.well-known/qrn-keys.json',
      `/verify/${id}`,
    ],
    ...['/v1/health', '/v1/usage', `/v1/certificate?id=${id}`, `/v1/certificate?id=${id}&format=pdf`],
  ];
  for (const path of pages) {
    const response = await fetchWhole(`${server.origin}${path}`, { headers: as });
    assert.equal(response.status, 200, path);
    await tell(told, `GET ${path.replace(id, 'ID')}`, response);
  }
}

function needlesOf(apiKeys: readonly string[], given: Given, recordDir: string): Needles {
  const needles = new Needles();
  const spent = (name: SpentName, bytes: Uint8Array) => needles.addBytes(name, bytes);
  for (const salt of given.salts) spent('salt', salt);
  for (const bytes of given.pure) needles.addPieces('delivered pure bytes' satisfies SpentName, bytes);
  for (const bytes of given.seeded) needles.addPieces('delivered keystream' satisfies SpentName, bytes);
  for (const { kind, bytes } of readSecrets(recordDir)) spent(kind, bytes);
  const key = (name: KeyName, text: string) => needles.addText(name, text);
  for (const text of apiKeys) key('API key', text);
  // the secret part of one alone: behind the prefix of 6 and the id of 22 characters
  for (const text of apiKeys) key('API key', text.slice(28, 54));
  for (const text of [ECHOED_KEY, QRYPT_KEY]) key('key of a provider', text);
  return needles;
}

/** The memory of the process while it stands still. */
async function searchStopped(
  server: TestServer,
  key: string,
  needles: Needles,
): Promise<MemorySearch | undefined> {
  const pid = server.process.pid!;
  if (!canReadMemory(pid)) return undefined;
  await server.get('/health', { authorization: `Bearer ${key}` }); // what was under way is done
  server.process.kill('SIGSTOP');
  try {
    return searchMemory(pid, needles);
  } finally {
    server.process.kill('SIGCONT');
  }
}
