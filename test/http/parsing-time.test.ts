import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseKey } from '../../src/account/api-keys.ts';
import { Idempotency, type RunningKeys } from '../../src/answer/idempotency.ts';
import { CertificateIds } from '../../src/certificate/ids.ts';
import { repeatedMember } from '../../src/core/repeated-member.ts';
import { parseCheckpoint, parseNote, parseProof } from '../../src/crypto/note.ts';
import { codingOf } from '../../src/http/compression.ts';
import { readDrawRequest, readNonce } from '../../src/http/draws/request.ts';
import { contentOfGet } from '../../src/http/endpoint.ts';
import { CERTIFICATE_PARAMETERS, DRAWING_ENDPOINT_DEFINITIONS } from '../../src/http/endpoints/table.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { logRoutes } from '../../src/http/log-routes.ts';
import { parseQuery } from '../../src/http/params.ts';
import { canonicalText, RpcSigner } from '../../src/http/random-org/signed.ts';
import { isJson, negotiate } from '../../src/http/representation.ts';
import { bearerOf, RequestHead } from '../../src/http/request-head.ts';
import { traceIdOf } from '../../src/http/request-id.ts';
import type { Books } from '../../src/ledger/ledger.ts';

/**
 * Whatever a client may send before it has shown a key is read in time linear in its length. Each reader gets 64 KiB of each of
 * its words, one behind the other and numbered, which is where backtracking, copies and look-ups in lists show.
 */
interface Reader {
  readonly name: string;
  readonly words: readonly string[];
  /** Reads the text. An error is a refusal, which counts like a result. */
  readonly read: (text: string) => unknown;
}

const LENGTH = 64 * 1024;
/** What a reader may take, as a multiple of `yardstick` over the same text, measured beside it: no machine is too slow for that. */
const YARDSTICKS_MAX = 10;
/** Four times as much text takes four times as long; a reader in quadratic time takes sixteen times. */
const GROWTH_MAX = 9;
/** What takes less at its first try harms nobody, and is not compared. */
const COMPARED_FROM_MS = 5;
/**
 * The least of several tries is judged: what a machine takes away, and garbage collected beside it, only ever lengthens one.
 * A reader has so much time for them, which is a hundred tries of one that is linear on a slow machine, and three at least.
 */
const TRIED_MS = 5_000;
const TRIES_MIN = 3;

const NO_BODY = new Uint8Array(0);
const DRAWING = DRAWING_ENDPOINT_DEFINITIONS.filter(({ method }) => method === 'GET');
const BATCH = DRAWING_ENDPOINT_DEFINITIONS.find(({ name }) => name === 'batch')!;
const NAMES = [...new Set(DRAWING.flatMap(({ parameters }) => parameters.map(({ name }) => name)))];
const bytesOf = (text: string) => new TextEncoder().encode(text);
const JSON_WORDS = ['[', '{"a":', '"', '\\', '"\\u0061":1,', '"a#":1,', '{}', ',', '1', '-', '1e5', ' ', 'é'];
const PATH_WORDS = ['/', 'x001/', '001', '.p/', '%2e', 'cert_', 'lot_', '0', 'a', '.pdf'];
const FIELD_WORDS = [
  ...[
    'a/b',
    'a/b;q="',
    ' ',
    '\t',
    ',',
    ';',
    '=',
    '"',
    '\\',
    ';q=0.5',
    ';a#=1',
    '*/*',
    'close',
    'gzip',
    'Bearer ',
  ],
  ...[':', '[', '%', '0'],
];
const ids = new CertificateIds(new Uint8Array(32));
const signer = new RpcSigner(new Uint8Array(32));
const TILES = logRoutes({ tile: async () => undefined } as never).find(({ path }) => path === '/log/tile/')!;
const FORMS = ['json', 'msgpack', 'octet-stream'] as const;

const READERS: readonly Reader[] = [
  { name: 'Accept', words: FIELD_WORDS, read: (text) => negotiate(text, FORMS) },
  { name: 'Accept-Encoding', words: FIELD_WORDS, read: (text) => codingOf(text) },
  {
    name: 'Authorization',
    words: [...FIELD_WORDS, 'qrn_f_'],
    read: (text) => parseKey(bearerOf(`Bearer ${text}`)),
  },
  { name: 'Content-Type', words: [...FIELD_WORDS, 'application/json'], read: (text) => isJson(text) },
  { name: 'traceparent', words: ['00-', '0', 'a', '-'], read: (text) => traceIdOf(text) },
  { name: 'a head of many fields', words: FIELD_WORDS, read: (text) => headOf(text) },
  ...DRAWING.map((endpoint) => ({
    name: `the query of ${endpoint.path}`,
    words: [
      '&',
      '&a#=1',
      '=',
      '%',
      '%2C',
      '+',
      ',',
      '0',
      'a',
      ...endpoint.parameters.map(({ name }) => `&${name}=`),
    ],
    read: (query: string) => endpoint.parse(contentOfGet(query)),
  })),
  {
    name: 'the query of a certificate',
    words: ['&', '&id=', 'cert_', '%', 'a'],
    read: (text) => parseQuery(CERTIFICATE_PARAMETERS, text),
  },
  {
    name: 'the body of a batch',
    words: [...JSON_WORDS, ...NAMES.slice(0, 4).map((name) => `"${name}":1,`)],
    read: (text) =>
      BATCH.parse({
        method: 'POST',
        query: '',
        contentType: 'application/json',
        body: bytesOf(`{"a":${text}`),
      }),
  },
  { name: 'the body of a draw', words: JSON_WORDS, read: (text) => readDrawRequest(bytesOf(text)) },
  { name: 'a nonce of a draw', words: JSON_WORDS, read: (text) => readNonce(bytesOf(`{"nonce":"${text}"}`)) },
  {
    name: 'names that are repeated',
    words: ['"', '\\', 'a', ':', ',', '{', '}'],
    read: (text) => repeatedMember(asJson(text)),
  },
  {
    name: 'what a signature is over',
    words: JSON_WORDS,
    read: (text) => canonicalText(JSON.parse(asJson(text)), 'random'),
  },
  { name: 'a ticket', words: ['0', 'a', ' '], read: (text) => signer.openTicket(text) },
  { name: 'Idempotency-Key', words: ['a', ' ', '\u00e9'], read: (keyText) => begun(keyText) },
  { name: 'a certificate id', words: PATH_WORDS, read: (text) => ids.placeOf(text) },
  { name: 'the path of a tile', words: PATH_WORDS, read: (text) => tileOf(text) },
  {
    name: 'a note',
    words: ['\n', '\n\n', '— ', 'a', '+', ' ', 'AAAA', '=', 'log\n', '1'],
    read: (text) => noteOf(text),
  },
];

/** 64 KiB in fields of 1 KiB, all that are read. */
function headOf(text: string): unknown {
  const names = ['accept', 'accept-encoding', 'connection', 'cache-control', 'origin', 'via', 'cookie'];
  const request = {
    getUrl: () => '/',
    getQuery: () => undefined,
    forEach(each: (name: string, value: string) => void) {
      each('host', text.slice(0, 1_024));
      for (let at = 0, i = 0; at < text.length; at += 1_024, i++)
        each(names[i % names.length], text.slice(at, at + 1_024));
    },
  };
  return new RequestHead('GET', request).refusal(LENGTH);
}

/** The text as a value of valid JSON: as it is, or as a string. */
function asJson(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify({ a: text, b: text.split('"').slice(0, 4_096) });
  }
}

function begun(keyText: string): void {
  const running = { hold: async () => 'same' } as unknown as RunningKeys;
  const idempotency = new Idempotency(
    { storedAnswer: async () => undefined } as unknown as Books,
    NO_BODY,
    running,
  );
  idempotency.begin({ accountNumber: 1, keyText, fingerprint: '', bytesMax: 1 }, 0).catch(() => {});
}

function tileOf(path: string): void {
  Promise.resolve(TILES.handler({ path: `/log/tile/${path}` } as Exchange)).catch(() => {});
}

function noteOf(text: string): void {
  parseNote(`${text}\n`);
  parseCheckpoint(`log\n1\n${text}\n`);
  parseProof(`c2sp.org/tlog-proof@v1\nindex 1\n${text}`);
}

/** `length` characters: a word, and then another one again and again, behind nothing or one of the first two, with an end that fits neither; or numbered, at `#`. */
function* hostileTexts(words: readonly string[]): Generator<(length: number) => string> {
  for (const word of words) {
    for (const first of ['', ...words.slice(0, 2)])
      yield (length) => `${first}${word.repeat(length / word.length)}`.slice(0, length - 1).concat('\x7f');
    yield (length) => {
      let text = words[0];
      for (let i = 0; text.length < length; i++) text += word.replace('#', String(i));
      return text.slice(0, length);
    };
  }
}

/** Linear work of the kind that readers do, for scale: a string, a comparison and JSON for each character. */
function yardstick(text: string): unknown {
  return JSON.parse(JSON.stringify(Array.from(text)));
}

/** Processor time of one call in ms; an error is a result. */
function cpuMs(read: (text: string) => unknown, text: string): number {
  const before = process.cpuUsage();
  try {
    read(text);
  } catch {}
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * How many times as long one reading takes as the other, by the least of each of several tries in turns. They end when it is at
 * most `wanted`, where one that is slower by itself never gets.
 */
function leastRatio(one: () => number, other: () => number, wanted: number): number {
  let [oneMs, otherMs, spentMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0];
  for (let i = 0; i < TRIES_MIN || spentMs < TRIED_MS; i++) {
    const [oneTookMs, otherTookMs] = [one(), other()];
    oneMs = Math.min(oneMs, oneTookMs);
    otherMs = Math.min(otherMs, otherTookMs);
    if (oneMs <= wanted * otherMs) break;
    spentMs += oneTookMs + otherTookMs;
  }
  return oneMs / otherMs;
}

describe('text that nobody has paid for', () => {
  for (const { name, words, read } of READERS) {
    it(`is read in linear time, 64 KiB in ${YARDSTICKS_MAX} times that of JSON of its characters: ${name}`, (test) => {
      let worst = 0;
      for (const textOf of hostileTexts(words)) {
        const text = textOf(LENGTH);
        const whole = () => cpuMs(read, text);
        if (whole() <= COMPARED_FROM_MS) continue;
        const shown = JSON.stringify(text.slice(0, 60));
        const took = leastRatio(whole, () => cpuMs(yardstick, text), YARDSTICKS_MAX);
        assert.ok(took <= YARDSTICKS_MAX, `${shown}… takes ${took.toFixed(1)} times the yardstick`);
        worst = Math.max(worst, took);
        const quarter = textOf(LENGTH / 4);
        const growth = leastRatio(whole, () => cpuMs(read, quarter), GROWTH_MAX);
        assert.ok(
          growth <= GROWTH_MAX,
          `${shown}… takes ${growth.toFixed(1)} times as long as a quarter of it`,
        );
      }
      test.diagnostic(`at most ${worst.toFixed(1)} yardsticks`);
    });
  }
});
