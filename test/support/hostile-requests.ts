import { readFileSync } from 'node:fs';
import type { EngineName } from '../../src/http/engine.ts';
import { repeated } from './request-table.ts';

/**
 * Requests that no honest client sends, each with the one answer that it gets on each engine (test/vectors/hostile-requests.json).
 * Every one of them carries a valid key and, unless it says otherwise, asks for pure bytes: were it served, credits would be spent.
 */
export interface HostileCase extends Readonly<Record<EngineName, Outcome>> {
  readonly name: string;
  /** The bytes on the wire (latin1). */
  readonly bytes: string;
  /** More than one request, to the service or to the library: what comes of it depends on what arrives together. */
  readonly dependsOnPackets: boolean;
  readonly why: string;
}

interface Outcome {
  /** The statuses of the replies, in order. */
  readonly replies: readonly number[];
  /** `waits`: nothing happens until the engine cuts the connection, 10 s or more after its last sign of life. */
  readonly connection: 'stays' | 'closes' | 'waits';
  /** Answers that are drawn, spent and counted. */
  readonly booked: number;
  /** The reply may be lost: the server closes while the client still sends, and the system resets the connection. */
  readonly mayBeLost: boolean;
}

type Row = readonly [name: string, bytes: string, uws: string, node: string, why: string];
const { texts, cases } = JSON.parse(
  readFileSync(new URL('../vectors/hostile-requests.json', import.meta.url), 'utf8'),
) as { readonly texts: Readonly<Record<string, string>>; readonly cases: Readonly<Record<string, Row[]>> };

export function hostileCases(key: string): readonly HostileCase[] {
  const expanded = (text: string): string =>
    text.replaceAll(/\{(\w+)\}/g, (all, name: string) => {
      const inner = name === 'key' ? key : texts[name];
      return inner === undefined ? all : expanded(inner);
    });
  return Object.values(cases)
    .flat()
    .map(([name, bytes, uws, node, why]) => ({
      ...{ name, bytes: repeated(expanded(bytes)), why, dependsOnPackets: uws.endsWith(' packets') },
      ...{ uws: outcomeOf(uws), node: outcomeOf(node) },
    }));
}

/** E.g. `200 200 stays booked`: statuses, what becomes of the connection, and how many answers are booked. */
function outcomeOf(text: string): Outcome {
  const words = text.split(' ');
  return {
    replies: words.map(Number).filter((status) => status > 0),
    connection: words.find((word): word is Outcome['connection'] => /^(stays|closes|waits)$/.test(word))!,
    booked: words.filter((word) => word === 'booked').length,
    mayBeLost: words.includes('lost'),
  };
}
