import { Chance } from '../../support/chance.ts';

/** A request of the mix, and what a good answer to it must be like. */
export interface Asked {
  readonly kind: Kind;
  readonly method: 'GET' | 'POST';
  /** Below /v1. */
  readonly path: string;
  readonly body: string;
  /** Values that the answer holds, as the books count them. */
  readonly values: number;
  /** The member of `data` with the values, and how it is looked at. */
  readonly expect: Expected;
  readonly idempotencyKey?: string;
}

export type Kind =
  | 'small'
  | 'csprng'
  | 'other'
  | 'pure'
  | 'pure once'
  | 'pure large'
  | 'medium'
  | 'batch'
  | 'refused';

/** `code` is what a request that is wrong is answered with. */
export type Expected = { readonly member: string } | { readonly code: string; readonly status: number };

/** Requests in a thousand. */
const SHARES: readonly [kind: Kind, share: number][] = [
  ['small', 770],
  ['csprng', 60],
  ['other', 80],
  ['pure', 30],
  ['pure once', 20],
  ['pure large', 1],
  ['medium', 25],
  ['batch', 4],
  ['refused', 10],
];

export class Mix {
  /** Which requests are made, never what they are answered. */
  readonly #chance: Chance;
  #next = 0;

  constructor(simSeed: number) {
    this.#chance = new Chance(simSeed);
  }

  next(): Asked {
    let at = 1_000 * this.#chance.uniform();
    const [kind] = SHARES.find(([, share]) => (at -= share) < 0)!;
    return this.#ask(kind);
  }

  /** A whole number from 0 to `below` - 1. */
  below(below: number): number {
    return this.#chance.below(below);
  }

  #ask(kind: Kind): Asked {
    switch (kind) {
      case 'small':
        return get(kind, '/integers?count=10', 10, 'values');
      case 'csprng':
        return get(kind, '/integers?count=10&entropy_mode=csprng', 10, 'values');
      case 'other':
        return this.#other();
      case 'pure':
        return get(kind, '/bytes?count=192&entropy_mode=pure', 192, 'bytes');
      case 'pure once':
        return {
          ...get(kind, '/bytes?count=48&entropy_mode=pure', 48, 'bytes'),
          idempotencyKey: `once-${this.#next++}`,
        };
      case 'pure large':
        return batch(kind, { type: 'bytes', count: 16, params: { length: 1_024 }, entropy_mode: 'pure' });
      case 'medium':
        return get(
          kind,
          `/integers?count=${2_000 + this.below(4_000)}&max=1000000&unique=true`,
          -1,
          'values',
        );
      case 'batch':
        return batch(kind, { type: 'floats', count: 20_000 + this.below(60_000), params: { precision: 6 } });
      case 'refused':
        return this.below(2) === 0
          ? { ...get(kind, '/integers?count=0', 0, ''), expect: { code: 'invalid_count', status: 400 } }
          : { ...get(kind, '/nothing', 0, ''), expect: { code: 'not_found', status: 404 } };
    }
  }

  #other(): Asked {
    const each: Asked[] = [
      get('other', '/uuid?count=5', 5, 'uuids'),
      get('other', '/floats?count=20', 20, 'values'),
      get('other', '/bitstring?length=256', 1, 'bitstring'),
      get('other', '/shuffle?items=a,b,c,d,e,f', 6, 'items'),
      get('other', '/bytes?count=64&encoding=base64', 64, 'bytes'),
      get('other', '/integers?count=50&max=9&sort=ascending', 50, 'values'),
    ];
    return each[this.below(each.length)];
  }
}

function get(kind: Kind, path: string, values: number, member: string): Asked {
  const counted = values >= 0 ? values : Number(/count=(\d+)/.exec(path)![1]);
  return { kind, method: 'GET', path, body: '', values: counted, expect: { member } };
}

function batch(kind: Kind, body: { readonly count: number } & Readonly<Record<string, unknown>>): Asked {
  const expect = { member: 'values' };
  return { kind, method: 'POST', path: '/batch', body: JSON.stringify(body), values: body.count, expect };
}

/** The bytes on the wire. */
export function wireOf({ method, path, body, idempotencyKey }: Asked, key: string): Buffer {
  const fields = [`Host: soak`, `Authorization: Bearer ${key}`];
  if (idempotencyKey !== undefined) fields.push(`Idempotency-Key: ${idempotencyKey}`);
  if (method === 'POST') {
    fields.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
  }
  return Buffer.from(`${method} /v1${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${body}`);
}
