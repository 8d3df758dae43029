/**
 * Whether the time of a refused key tells a guesser where its secret is wrong: two classes in random order, cropped at
 * a percentile, and Welch's t of their means (Reparaz, Balasch and Verbauwhede, "Dude, is my code constant time?",
 * 2017; beyond 4.5 the times differ). A comparison that stops at the first difference stands beside, as proof that the
 * method sees one.
 *   node bench/key-timing.bench.ts [--rounds N]    table, JSON in bench/out/key-timing.json
 */
import { randomInt } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { checksumOfKey } from '../src/account/api-keys.ts';
import { directoryOfOneKey } from './support/one-key.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '200000' } } });
const ROUNDS = Number(values.rounds);
const WARM_UP = 20_000;
/** What the machine adds to a few times is not a part of the question. */
const CROPPED_ABOVE = 0.9;
const SECRET_AT = 'qrn_f_'.length + 22;
const CHECKSUM_AT = SECRET_AT + 26;

const { directory, key } = await directoryOfOneKey('pro');
directory.authenticate(key); // it is in the cache, as the key of a client is

const CHARACTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * The key with every other character at a place, and the checksum that belongs to it. Many texts, so that what one costs
 * for itself (its bucket in a Map) is not taken for its class.
 */
function changedAt(place: number): readonly string[] {
  return [...CHARACTERS]
    .filter((character) => character !== key[place])
    .map((character) => `${key.slice(0, place)}${character}${key.slice(place + 1, CHECKSUM_AT)}`)
    .map((checked) => checked + checksumOfKey(checked));
}

/** As a header gives it: a string of its own for each request. */
const fresh = (text: string) => Buffer.from(text).toString('latin1');

function stopsAtDifference(text: string): boolean {
  for (let repeat = 0; repeat < 8; repeat++) {
    for (let i = 0; i < key.length; i++) if (text.charCodeAt(i) !== key.charCodeAt(i)) return false;
  }
  return true;
}

interface Moments {
  readonly count: number;
  readonly mean: number;
  readonly variance: number;
}

function momentsOf(times: readonly number[], limit: number): Moments {
  const kept = times.filter((time) => time <= limit);
  const mean = kept.reduce((sum, time) => sum + time, 0) / kept.length;
  const variance = kept.reduce((sum, time) => sum + (time - mean) ** 2, 0) / (kept.length - 1);
  return { count: kept.length, mean, variance };
}

function compare(
  name: string,
  texts: readonly [readonly string[], readonly string[]],
  call: (text: string) => unknown,
) {
  const times: [number[], number[]] = [[], []];
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const side = randomInt(2);
    const text = fresh(texts[side][randomInt(CHARACTERS.length - 1)]);
    const startedNs = process.hrtime.bigint();
    call(text);
    const ns = Number(process.hrtime.bigint() - startedNs);
    if (round >= 0) times[side].push(ns);
  }
  const all = [...times[0], ...times[1]].sort((a, b) => a - b);
  const limit = all[Math.floor(CROPPED_ABOVE * all.length)];
  const [first, second] = times.map((each) => momentsOf(each, limit));
  const t =
    (first.mean - second.mean) / Math.sqrt(first.variance / first.count + second.variance / second.count);
  return {
    compared: name,
    first_ns: Math.round(first.mean),
    second_ns: Math.round(second.mean),
    t: Number(t.toFixed(2)),
    differs: Math.abs(t) > 4.5,
  };
}

const authenticate = (text: string) => directory.authenticate(text);
const first = changedAt(SECRET_AT);
const last = changedAt(CHECKSUM_AT - 1);
const rows = [
  compare('the same key twice', [last, last], authenticate),
  compare('secret wrong at its start, at its end', [first, last], authenticate),
  compare('secret wrong at its middle, at its end', [changedAt(SECRET_AT + 13), last], authenticate),
  compare('no such key id, secret wrong', [changedAt(SECRET_AT - 1), last], authenticate),
  compare('control: stops at the first difference', [changedAt(8), last], stopsAtDifference),
];
console.table(rows);
mkdirSync(new URL('out/', import.meta.url), { recursive: true });
writeFileSync(new URL('out/key-timing.json', import.meta.url), `${JSON.stringify(rows, null, 2)}\n`);
directory.close();
