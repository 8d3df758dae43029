import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { QrnClient } from '../../clients/typescript/src/client.ts';
import { QrnError } from '../../clients/typescript/src/error.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import {
  type FakeReply,
  type FakeRequest,
  FakeService,
  someAnswer,
  someError,
  someOctets,
} from './fake-service.ts';

/** clients/conformance.json: one script of a server, which every client replays. */
interface Case {
  readonly it: string;
  readonly call: readonly [name: string, ...given: unknown[]];
  readonly client?: { readonly retries?: number; readonly timeout_s?: number };
  readonly replies: readonly KitReply[];
  readonly sent?: readonly {
    readonly method?: string;
    readonly url?: string;
    readonly headers?: Readonly<Record<string, string | null>>;
    readonly body?: object;
  }[];
  readonly keys?: readonly (string | null)[];
  readonly gives?: unknown;
  readonly fails?: Readonly<Record<string, unknown>> & { readonly kind: string };
  readonly warns?: string;
}

type KitReply =
  | 'cut'
  | 'cut in the body'
  | 'hang'
  | { readonly answer: object; readonly headers?: Readonly<Record<string, string>> }
  | { readonly int32: readonly number[] }
  | {
      readonly error: string;
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly details?: object;
    }
  | Exclude<FakeReply, string>;

interface Outcome {
  readonly gives?: unknown;
  readonly fails?: Readonly<Record<string, unknown>> & { readonly kinds: readonly string[] };
}

interface Replayed {
  readonly outcomes: readonly Outcome[];
  readonly warnings: readonly string[];
}

const clients = fileURLToPath(new URL('../../clients', import.meta.url));
const kit = JSON.parse(readFileSync(join(clients, 'conformance.json'), 'utf8')) as {
  readonly cases: readonly Case[];
  readonly no_answers: readonly [status: number, body: string][];
  readonly classes: readonly [status: number, code: string, kind: string][];
};
const CASES: readonly Case[] = [
  ...kit.cases,
  ...kit.no_answers.map(([status, body]) => ({
    it: `takes ${status} ${JSON.stringify(body)} for no answer`,
    call: ['integers'] as const,
    replies: [{ status, body }],
    fails: { kind: 'InvalidAnswerError', code: 'invalid_answer', status },
  })),
  ...kit.classes.map(([status, code, kind]) => ({
    it: `raises ${kind} for ${status} ${code}`,
    call: ['uuid'] as const,
    // what may pass is not asked for again here; nothing else is in any case
    client: [429, 503].includes(status) || code === 'idempotency_in_flight' ? { retries: 0 } : {},
    replies: [{ error: code, status }],
    fails: { kind, code, status, attempts: 1 },
  })),
];

const noPython = spawnSync('python3', ['--version']).status === 0 ? false : 'python3 is not installed';
const WAYS: readonly [
  client: string,
  skip: string | false,
  replay: (fake: FakeService) => Promise<Replayed>,
][] = [
  ['the TypeScript client', false, replayHere],
  ['the Python client', noPython, (fake) => replayInPython('sync', fake)],
  ['the Python client for asyncio', noPython, (fake) => replayInPython('async', fake)],
];

for (const [client, skip, replay] of WAYS) {
  describe(client, { skip }, () => {
    let fake: FakeService;
    let replayed: Replayed;
    before(async () => {
      fake = await FakeService.start();
      fake.scriptCases(CASES.map(({ replies }) => replies.map(replyOf)));
      replayed = await replay(fake);
    });
    after(() => fake.stop());

    for (const [place, each] of CASES.entries()) {
      it(each.it, () => {
        const { gives, fails } = replayed.outcomes[place];
        const { kinds, ...facts } = fails ?? { kinds: [] };
        if (each.fails === undefined) assert.deepEqual([gives, fails], [each.gives, undefined]);
        else {
          const { kind, ...expected } = each.fails;
          assert.ok(kinds.includes(kind), `${JSON.stringify(fails ?? gives)} is no ${kind}`);
          assert.deepEqual(
            Object.fromEntries(Object.keys(expected).map((name) => [name, facts[name]])),
            expected,
          );
        }
        checkRequests(each, fake.requestsOf(place));
        if (each.warns !== undefined) assert.match(replayed.warnings.join(), new RegExp(each.warns));
      });
    }
  });
}

function checkRequests({ replies, sent = [], keys }: Case, requests: readonly FakeRequest[]): void {
  assert.equal(requests.length, replies.length);
  for (const [i, expected] of sent.entries()) {
    const { method, url, headers, body } = requests[i];
    if (expected.method !== undefined) assert.equal(method, expected.method);
    if (expected.url !== undefined) assert.equal(url, expected.url);
    if (expected.body !== undefined) assert.deepEqual(JSON.parse(body), expected.body);
    for (const [name, value] of Object.entries(expected.headers ?? {}))
      assert.equal(headers[name] ?? null, value, name);
  }
  if (keys === undefined) return;
  const letters = new Map<unknown, string>();
  const named = requests.map(({ headers: { 'idempotency-key': key } }, i) => {
    if (key === undefined) return null;
    if (keys[i]?.startsWith('=')) return `=${key}`;
    assert.match(String(key), /^[\x21-\x7e]{16,255}$/);
    letters.set(key, letters.get(key) ?? String.fromCharCode(65 + letters.size));
    return letters.get(key);
  });
  assert.deepEqual(named, keys);
}

function replyOf(reply: KitReply): FakeReply {
  if (typeof reply === 'string') return reply;
  if ('error' in reply) return someError(reply.status, reply.error, reply.headers, reply.details);
  if ('int32' in reply) return someOctets(Int32Array.from(reply.int32));
  if (!('answer' in reply)) return reply;
  const answer = someAnswer(reply.answer) as Exclude<FakeReply, string>;
  return { ...answer, headers: { ...answer.headers, ...reply.headers } };
}

async function replayHere(fake: FakeService): Promise<Replayed> {
  const warnings: string[] = [];
  const outcomes = CASES.map(
    async ({ call: [name, ...given], client: { retries, timeout_s: timeoutS } = {} }, place) => {
      const client = new QrnClient({
        baseUrl: `${fake.origin}/${place}/v1`,
        key: 'qrn_p_key',
        retries,
        timeoutMs: timeoutS === undefined ? undefined : 1_000 * timeoutS,
        onWarning: (message) => warnings.push(message),
      });
      const { idempotency_key: idempotencyKey, ...last } = (given.at(-1) ?? {}) as Record<string, unknown>;
      const named = typeof given.at(-1) === 'object' ? [...given.slice(0, -1), camel(last)] : given;
      const options = idempotencyKey === undefined ? [] : [{ idempotencyKey }];
      try {
        return { gives: await shown(methodOf(client, name)(...named, ...options)) };
      } catch (error) {
        if (error instanceof QrnError) return { fails: told(error) };
        throw error;
      }
    },
  );
  return { outcomes: await Promise.all(outcomes), warnings };
}

/** The method that the kit names, e.g. `draws.create`. */
function methodOf(client: QrnClient, name: string): (...args: readonly unknown[]) => unknown {
  const [method, place] = name.split('.').reverse();
  const owner = (place === undefined ? client : client[place as 'draws']) as object;
  return (owner[camelWord(method) as keyof typeof owner] as () => unknown).bind(owner);
}

function camelWord(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The members as this client names them, or bytes. */
function camel(members: Readonly<Record<string, unknown>>): object {
  if (typeof members['hex'] === 'string') return Uint8Array.from(Buffer.from(members['hex'], 'hex'));
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [camelWord(name), isHex(value) ? camel(value) : value]),
  );
}

function isHex(value: unknown): value is { readonly hex: string } {
  return typeof value === 'object' && value !== null && 'hex' in value;
}

/** Returns what the Python client returns or raises. */
async function shown(coming: unknown): Promise<unknown> {
  if (typeof coming === 'object' && coming !== null && Symbol.asyncIterator in coming) {
    const values: unknown[] = [];
    for await (const { data } of coming as ReturnType<QrnClient['stream']['integers']>)
      values.push(...data.values);
    return values;
  }
  const answer = await coming;
  if (answer instanceof Uint8Array) return Buffer.from(answer).toString();
  const { data } = answer as { data?: { values?: unknown; items?: unknown } };
  return data === undefined ? answer : (data.values ?? data.items ?? data);
}

function told(error: QrnError) {
  const kinds: string[] = [];
  for (let at = Object.getPrototypeOf(error); at !== null; at = Object.getPrototypeOf(at))
    kinds.push(at.constructor.name);
  const { code, status, message, requestId, details, attempts, retryAfterMs } = error;
  const retryAfterS = retryAfterMs === null ? null : retryAfterMs / 1_000;
  return {
    kinds,
    code,
    status,
    message,
    request_id: requestId,
    details,
    attempts,
    retry_after_s: retryAfterS,
  };
}

async function replayInPython(way: string, fake: FakeService): Promise<Replayed> {
  const path = join(scratchFolder(), 'cases.json');
  writeFileSync(path, JSON.stringify(CASES));
  const program = join(clients, 'python/tests/conformance.py');
  const env = {
    PATH: process.env['PATH'],
    PYTHONPATH: join(clients, 'python'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const { stdout } = await promisify(execFile)('python3', [program, way, path, fake.origin], { env });
  return JSON.parse(stdout) as Replayed;
}
