import { randomBytes, randomFillSync, randomInt, randomUUID } from 'node:crypto';

/**
 * The answers of the peers: values as a competent program without this service's samplers and writers makes them, in an
 * envelope of the same members, by JSON.stringify. The peers have no certificate, no limits and no durability, which is
 * their advantage.
 */
type Values = readonly number[] | readonly string[];

/** Draws values one by one with node:crypto, or many at once from one fill. */
export type Draw = (request: ValueOrder) => Values;

export interface ValueOrder {
  readonly type: 'integers' | 'floats' | 'bytes' | 'uuid';
  readonly count: number;
  readonly min: number;
  readonly max: number;
  /** Decimal places of floats; null: 53 bits. */
  readonly precision: number | null;
  /** Bytes of one value of type bytes. */
  readonly length: number;
}

/** Parses the body of POST /v1/batch, with the service's defaults. */
export function orderOf(body: string): ValueOrder {
  const { type, count, params } = JSON.parse(body);
  return { type, count, min: 0, max: 100, precision: null, length: 16, ...params };
}

/** Parses the query of GET /v1/integers. */
export function orderOfQuery(query: string): ValueOrder {
  const given = new URLSearchParams(query);
  const number = (name: string, fallback: number) => Number(given.get(name) ?? fallback);
  return {
    type: 'integers',
    count: number('count', 1),
    min: number('min', 0),
    max: number('max', 100),
    precision: null,
    length: 16,
  };
}

/** Makes one call of node:crypto for each value, as most services of this kind do. */
export const drawOneByOne: Draw = ({ type, count, min, max, precision, length }) => {
  switch (type) {
    case 'integers':
      return Array.from({ length: count }, () => randomIntBetween(min, max));
    case 'floats':
      return Array.from({ length: count }, () => decimal(randomInt(2 ** 48 - 1) / (2 ** 48 - 1), precision));
    case 'bytes':
      return Array.from({ length: count }, () => randomBytes(length).toString('hex'));
    case 'uuid':
      return Array.from({ length: count }, () => randomUUID());
  }
};

/** Uses randomInt for spans up to 2^48, and scales 48 random bits for wider ones. */
function randomIntBetween(min: number, max: number): number {
  if (max - min < 2 ** 48 - 1) return randomInt(min, max + 1);
  return min + Math.floor((randomInt(2 ** 48 - 1) / (2 ** 48 - 1)) * (max - min));
}

/**
 * Fills once from the operating system's generator, then uses plain arithmetic with rejection. The values are as exactly
 * uniform as the service's, in idiomatic JavaScript. The service's samplers and writers are measured against this twin.
 */
export const drawFromOneFill: Draw = ({ type, count, min, max, precision, length }) => {
  switch (type) {
    case 'integers':
      return uniformOffsets(count, max - min + 1).map((offset) => min + offset);
    case 'floats': {
      if (precision === null) return uniformOffsets(count, 2 ** 53).map((bits) => bits * 2 ** -53);
      const scale = 10 ** precision;
      return uniformOffsets(count, scale).map((offset) => offset / scale);
    }
    case 'bytes': {
      const all = randomBytes(count * length);
      return Array.from({ length: count }, (_, i) => all.toString('hex', i * length, (i + 1) * length));
    }
    case 'uuid':
      return Array.from({ length: count }, () => randomUUID()); // has a cache of its own
  }
};

/** Returns `count` integers below `span`, exactly uniform, by rejection from 32 or 53 bits. */
function uniformOffsets(count: number, span: number): number[] {
  const wide = span > 2 ** 32;
  const top = wide ? 2 ** 53 : 2 ** 32;
  const limit = top - (top % span);
  const offsets: number[] = [];
  while (offsets.length < count) {
    const words = randomFillSync(new Uint32Array((count - offsets.length) * (wide ? 2 : 1)));
    for (let i = 0; i < words.length; i += wide ? 2 : 1) {
      const value = wide ? (words[i] & 0x1f_ffff) * 2 ** 32 + words[i + 1] : words[i];
      if (value < limit) offsets.push(value % span);
    }
  }
  return offsets;
}

function decimal(value: number, precision: number | null): number {
  return precision === null ? value : Number(value.toFixed(precision));
}

/** The header fields that the service sends too. */
export function answerFields(requestId: string): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    'X-Lang-Circuit': 'none',
    'X-Lang-Version': 'none',
    'X-Quantum-Backend': 'none',
    'X-NIST-Verified': 'false',
    'X-Entropy-Mode': 'csprng',
    'X-Entropy-Origin': 'system',
    'X-Quantum-Credits-Remaining': 'unlimited',
    'X-Request-ID': requestId,
  };
}

/** Returns the whole answer as JSON text. */
export function answerText(order: ValueOrder, requestId: string, draw: Draw): string {
  return JSON.stringify({
    data: {
      count: order.count,
      max: order.max,
      metadata: { entropy_mode: 'csprng', quantum_source: 'none' },
      min: order.min,
      sort: 'none',
      unique: false,
      values: draw(order),
    },
    meta: { duration_ms: 0, request_id: requestId },
    metadata: {
      certificate_id: `cert_${'0'.repeat(26)}`,
      certificate_salt: randomBytes(32).toString('hex'),
      entropy_consumed_bytes: 0,
      entropy_origin: 'system',
      lang_circuit: 'none',
      lang_version: 'none',
      nist_verified: false,
      powered_by: 'peer',
      quantum_backend: 'none',
      request_id: `req_${'0'.repeat(26)}`,
      processing_time_ms: 0,
      timestamp: new Date().toISOString(),
    },
    quantum_credits: { remaining: null, total: null, used: 0 },
  });
}
