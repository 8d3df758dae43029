import { randomInt } from 'node:crypto';
import { checksumOfKey } from '../src/account/api-keys.ts';
import { summarize } from '../test/support/statistics.ts';
import { withOneKey } from './support/one-key.ts';
import type { Report, Row, Suite } from './support/suite.ts';

const CALLS_A_ROUND = 70_000;
const WARM_UP = 20_000;
/** The quantile above which times are dropped: delays of the machine are not part of the question. */
const CROPPED_ABOVE = 0.9;
const SECRET_AT = 'qrn_f_'.length + 22;
const CHECKSUM_AT = SECRET_AT + 26;

const CHARACTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * Compares two classes of keys in random order, cropped at a percentile, by Welch's t of their mean times (Reparaz,
 * Balasch and Verbauwhede, "Dude, is my code constant time?", 2017; beyond 4.5 the times differ). A control, a
 * comparison that stops at the first difference, proves that the method sees one.
 */
export const keyTiming: Suite = {
  name: 'key-timing',
  summary: 'whether the time of a refused key tells where its secret is wrong',
  byDefault: false,
  run: ({ rounds }): Promise<Report> =>
    withOneKey('pro', async (directory, key) => {
      directory.authenticate(key); // puts it into the cache, as the key of a client is
      const refused = (text: string) => directory.authenticate(text);
      const wrongAt = (place: number) => changedAt(key, place);
      const last = wrongAt(CHECKSUM_AT - 1);
      return {
        tables: [
          {
            title: 'Time to refuse a key',
            note: 'Two classes of keys in random order. Their times differ when |t| is above 4.5.',
            columns: ['first ns', 'second ns', 't', 'differs'].map((title) => ({ title })),
            rows: [
              compare(rounds, 'the same key twice', [last, last], refused),
              compare(rounds, 'secret wrong at its start, at its end', [wrongAt(SECRET_AT), last], refused),
              compare(
                rounds,
                'secret wrong at its middle, at its end',
                [wrongAt(SECRET_AT + 13), last],
                refused,
              ),
              compare(rounds, 'no such key id, secret wrong', [wrongAt(SECRET_AT - 1), last], refused),
              compare(rounds, 'control: stops at the first difference', [wrongAt(8), last], (text) =>
                stopsAtDifference(key, text),
              ),
            ],
          },
        ],
      };
    }),
};

/**
 * Returns the key with each other character at a place, and the checksum that belongs to it. The class has many texts, so
 * that costs of a single one (its bucket in a Map) do not count as costs of the class.
 */
function changedAt(key: string, place: number): readonly string[] {
  return [...CHARACTERS]
    .filter((character) => character !== key[place])
    .map((character) => `${key.slice(0, place)}${character}${key.slice(place + 1, CHECKSUM_AT)}`)
    .map((checked) => checked + checksumOfKey(checked));
}

/** Returns a new string for each request, as a header does. */
const fresh = (text: string) => Buffer.from(text).toString('latin1');

function stopsAtDifference(key: string, text: string): boolean {
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
  rounds: number,
  label: string,
  texts: readonly [readonly string[], readonly string[]],
  call: (text: string) => unknown,
): Row {
  const times: [number[], number[]] = [[], []];
  for (let round = -WARM_UP; round < CALLS_A_ROUND * rounds; round++) {
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
  const figures = [first.mean, second.mean, t].map((value) => summarize([value]));
  return { label, cells: [...figures, Math.abs(t) > 4.5 ? 'yes' : 'no'] };
}
