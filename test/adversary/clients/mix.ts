import type { Chance } from '../../support/chance.ts';
import { requestBytes } from '../../support/http.ts';

/** A request of the mix, and the criteria of a good answer. */
export interface Asked {
  readonly kind: Kind;
  readonly method: 'GET' | 'POST';
  /** Path below /v1. */
  readonly path: string;
  readonly body: string | null;
  /** Count of values in the answer, as the books count them. */
  readonly values: number;
  /** The member of `data` with the values, and how it is checked. */
  readonly expect: Expected;
  readonly idempotencyKey?: string;
}

/** `code` is the error that an invalid request must get. */
type Expected = { readonly member: string } | { readonly code: string; readonly status: number };

/** Purpose of `numbered` requests, whose serials form one series. */
export const PURPOSE = 'a series';

/** Shares of the requests in a thousand. */
const ORDINARY_MIX = {
  small: 755,
  csprng: 60,
  other: 80,
  pure: 30,
  'pure small': 5,
  'pure once': 20,
  'pure large': 1,
  once: 5,
  medium: 25,
  batch: 4,
  numbered: 5,
  refused: 10,
};
type Kind = keyof typeof ORDINARY_MIX;
export type Shares = Readonly<Partial<Record<Kind, number>>>;

/** Chooses requests, and never their answers. */
export class Mix {
  readonly #chance: Chance;
  readonly #shares: Shares;
  #next = 0;

  constructor(chance: Chance, shares: Shares = ORDINARY_MIX) {
    this.#chance = chance;
    this.#shares = shares;
  }

  next(): Asked {
    return this.#ask(this.#chance.weighted(this.#shares as Record<Kind, number>));
  }

  #ask(kind: Kind): Asked {
    const chance = this.#chance;
    switch (kind) {
      case 'small':
        return get(kind, '/integers?count=10', 10, 'values');
      case 'csprng':
        return get(kind, '/integers?count=10&entropy_mode=csprng', 10, 'values');
      case 'other':
        return chance.pick([
          get(kind, '/uuid?count=5', 5, 'uuids'),
          get(kind, '/floats?count=20', 20, 'values'),
          get(kind, '/bitstring?length=256', 1, 'bitstring'),
          get(kind, '/shuffle?items=a,b,c,d,e,f', 6, 'items'),
          get(kind, '/bytes?count=64&encoding=base64', 64, 'bytes'),
          get(kind, '/integers?count=50&max=9&sort=ascending', 50, 'values'),
        ]);
      case 'pure':
        return get(kind, '/bytes?count=192&entropy_mode=pure', 192, 'bytes');
      case 'pure small':
        return get(kind, '/bytes?count=24&entropy_mode=pure', 24, 'bytes');
      case 'pure once':
        return this.#once(get(kind, '/bytes?count=48&entropy_mode=pure', 48, 'bytes'));
      case 'once':
        return this.#once(get(kind, '/integers?count=10', 10, 'values'));
      case 'pure large':
        return batch(kind, { type: 'bytes', count: 16, params: { length: 1_024 }, entropy_mode: 'pure' });
      case 'medium': {
        const count = 2_000 + chance.below(4_000);
        return get(kind, `/integers?count=${count}&max=1000000&unique=true`, count, 'values');
      }
      case 'batch': {
        const count = 20_000 + chance.below(60_000);
        return batch(kind, { type: 'floats', count, params: { precision: 6 } });
      }
      case 'numbered': {
        const label = `purpose=${encodeURIComponent(PURPOSE)}&public=${chance.chance(0.5)}`;
        return get(kind, `/integers?count=10&${label}`, 10, 'values');
      }
      case 'refused':
        return chance.pick([
          { ...get(kind, '/integers?count=0', 0, ''), expect: { code: 'invalid_count', status: 400 } },
          { ...get(kind, '/nothing', 0, ''), expect: { code: 'not_found', status: 404 } },
        ]);
    }
  }

  #once(asked: Asked): Asked {
    return { ...asked, idempotencyKey: `once-${this.#next++}` };
  }
}

function get(kind: Kind, path: string, values: number, member: string): Asked {
  return { kind, method: 'GET', path, body: null, values, expect: { member } };
}

function batch(kind: Kind, body: { readonly count: number } & Readonly<Record<string, unknown>>): Asked {
  const expect = { member: 'values' };
  return { kind, method: 'POST', path: '/batch', body: JSON.stringify(body), values: body.count, expect };
}

/** Returns the request's bytes on the wire. */
export function wireOf({ method, path, body, idempotencyKey }: Asked, key: string): Buffer {
  const headers: [string, string][] = [['Authorization', `Bearer ${key}`]];
  if (idempotencyKey !== undefined) headers.push(['Idempotency-Key', idempotencyKey]);
  if (body !== null) headers.push(['Content-Type', 'application/json']);
  return requestBytes({ method, target: `/v1${path}`, headers, body });
}
