import assert from 'node:assert/strict';
import { fetchWhole } from './http.ts';

interface ParsedSample {
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

export interface ParsedFamily {
  readonly type: string;
  readonly help: string;
  /** Samples by full name, e.g. with `_bucket`. */
  readonly samples: ReadonlyMap<string, readonly ParsedSample[]>;
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`);
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,(?=.)|$)/;
const VALUE = /^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|\+Inf|-Inf|NaN)$/;

/**
 * A strict reader of the Prometheus text format 0.0.4: HELP, TYPE, then the samples of that family and no other, each
 * name and set of labels once. Throws an assertion error for anything else.
 */
export function parseExposition(text: string): Map<string, ParsedFamily> {
  assert.ok(text.endsWith('\n'), 'the last line ends');
  const families = new Map<string, ParsedFamily>();
  let current: { name: string; type: string; help: string; samples: Map<string, ParsedSample[]> } | undefined;
  let help: { name: string; text: string } | undefined;
  const seen = new Set<string>();
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line);
    if (comment?.[1] === 'HELP') help = { name: comment[2], text: comment[3] };
    else if (comment !== null) {
      const [, , name, type] = comment;
      assert.equal(help?.name, name, `HELP stands before TYPE of ${name}`);
      assert.ok(!families.has(name), `${name} is one family`);
      assert.ok(['counter', 'gauge', 'histogram'].includes(type), line);
      current = { name, type, help: help.text, samples: new Map() };
      families.set(name, current);
    } else {
      const match = SAMPLE.exec(line);
      assert.ok(match, `a sample: ${line}`);
      const [, name, labelText = '', value] = match;
      assert.ok(current !== undefined && belongs(name, current), `${name} stands under its family`);
      assert.match(value, VALUE, line);
      assert.ok(!seen.has(`${name}{${labelText}}`), `once: ${line}`);
      seen.add(`${name}{${labelText}}`);
      const samples = current.samples.get(name) ?? [];
      samples.push({ labels: parseLabels(labelText, line), value: Number(value.replace('Inf', 'Infinity')) });
      current.samples.set(name, samples);
    }
  }
  return families;
}

function belongs(name: string, family: { name: string; type: string }): boolean {
  if (family.type !== 'histogram') return name === family.name;
  return ['_bucket', '_sum', '_count'].some((suffix) => name === family.name + suffix);
}

function parseLabels(text: string, line: string): Map<string, string> {
  const labels = new Map<string, string>();
  let rest = text;
  while (rest !== '') {
    const match = LABEL.exec(rest);
    assert.ok(match, `labels: ${line}`);
    assert.ok(!labels.has(match[1]), `a label once: ${line}`);
    labels.set(
      match[1],
      match[2].replaceAll(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character)),
    );
    rest = rest.slice(match[0].length);
  }
  return labels;
}

/** Returns a function that sums the present samples of a family. `origin` is the service's. */
export async function freshSums(origin: string): Promise<(family: string) => number> {
  const families = parseExposition(await freshMetrics(origin));
  return (family) =>
    (families.get(family)?.samples.get(family) ?? []).reduce((sum, { value }) => sum + value, 0);
}

/**
 * The metrics as they are now: without `no-cache` a text of the last second is sent again. `origin` is that of the service.
 */
export async function freshMetrics(origin: string): Promise<string> {
  const response = await fetchWhole(`${origin}/metrics`, { headers: { 'cache-control': 'no-cache' } });
  return response.text();
}
