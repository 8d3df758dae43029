import type { BatchType, ByteEncoding, DataEndpoint, EntropyMode, SortOrder } from './answers.ts';

/** Of every call that draws values. */
export interface DrawParameters {
  /** Left out, the tier decides: csprng for Free, quantum-seeded for every other, never pure. `hybrid` is quantum-seeded. */
  readonly entropyMode?: EntropyMode | 'hybrid' | undefined;
  /**
   * What the values are for, 1 to 100 characters. The certificate is bound to it and numbers the answers of the account
   * under it. The client sends an Idempotency-Key with it, so that a retry gets no number of its own.
   */
  readonly purpose?: string | undefined;
  /** Anything that the certificate is to be bound to, 1 to 1,000 characters. */
  readonly userData?: string | undefined;
  /** In place of `userData` its SHA-256, 64 hex digits in lower case. */
  readonly userDataSha256?: string | undefined;
  /** The certificate shows `purpose` and `userData`; otherwise it holds commitments, which only the answer opens. */
  readonly public?: boolean | undefined;
}

export interface IntegersParameters extends DrawParameters {
  /** 1 to 10,000; default 1. */
  readonly count?: number | undefined;
  /** Lower bound, inclusive; default 0. */
  readonly min?: number | undefined;
  /** Upper bound, inclusive, above `min`; default 100. */
  readonly max?: number | undefined;
  /** No value twice. */
  readonly unique?: boolean | undefined;
  readonly sort?: SortOrder | undefined;
}

export interface BytesParameters extends DrawParameters {
  /** Bytes, 1 to 1,024; default 16. */
  readonly count?: number | undefined;
  /** Default hex. */
  readonly encoding?: ByteEncoding | undefined;
}

export interface FloatsParameters extends DrawParameters {
  /** 1 to 10,000; default 1. */
  readonly count?: number | undefined;
  /** Decimal places, 1 to 15; left out: multiples of 2^-53. */
  readonly precision?: number | undefined;
}

export interface UuidParameters extends DrawParameters {
  /** 1 to 10,000; default 1. */
  readonly count?: number | undefined;
}

export interface BitstringParameters extends DrawParameters {
  /** Bits, 1 to 100,000; default 128. */
  readonly length?: number | undefined;
}

export interface ShuffleParameters extends DrawParameters {
  /** 2 to 10,000 items; a request line of more than 64 KiB is refused. */
  readonly items: readonly string[];
}

export interface SampleParameters extends DrawParameters {
  /** How many of the items, at most all; default 1. */
  readonly count?: number | undefined;
  /** 2 to 10,000 items. */
  readonly items: readonly string[];
}

export interface WeightedParameters extends SampleParameters {
  /** A whole number from 1 on for each item; their sum is at most 2^53. */
  readonly weights: readonly number[];
}

export interface StringsParameters extends DrawParameters {
  /** 1 to 10,000; default 1. */
  readonly count?: number | undefined;
  /** Characters of each string, 1 to 128; default 16. */
  readonly length?: number | undefined;
  /** 2 to 1,000 characters, none twice; default A-Z, a-z and 0-9. */
  readonly alphabet?: string | undefined;
}

export interface SequencesParameters extends DrawParameters {
  /** How often all sequences are drawn; default 1. */
  readonly count?: number | undefined;
  /** How many numbers each sequence has. */
  readonly length: readonly number[];
  readonly min: readonly number[];
  readonly max: readonly number[];
  /** No number twice in a sequence. */
  readonly unique?: boolean | undefined;
  readonly sort?: SortOrder | undefined;
}

export interface PermutationsParameters extends DrawParameters {
  /** Default 1. */
  readonly count?: number | undefined;
  /** Of the numbers from 0 to length - 1; 2 to 10,000. */
  readonly length: number;
}

export interface GaussiansParameters extends DrawParameters {
  /** 1 to 10,000; default 1. */
  readonly count?: number | undefined;
  /** Within ±1,000,000; default 0. */
  readonly mean?: number | undefined;
  /** 0.000000001 to 1,000,000; default 1. */
  readonly stddev?: number | undefined;
  /** Significant decimal digits of each value, 2 to 14; default 14. */
  readonly digits?: number | undefined;
}

/** What each type of batch may be told beside its count. */
export interface BatchTypeParameters {
  readonly integers: Pick<IntegersParameters, 'min' | 'max' | 'unique' | 'sort'>;
  readonly floats: { readonly precision?: number | undefined };
  /** `length`: bytes of each value, 1 to 1,024; default 16. */
  readonly bytes: { readonly length?: number | undefined; readonly encoding?: ByteEncoding | undefined };
  readonly uuid: Readonly<Record<string, never>>;
  readonly sample: Pick<SampleParameters, 'items'>;
  readonly weighted: Pick<WeightedParameters, 'items' | 'weights'>;
  readonly strings: Pick<StringsParameters, 'length' | 'alphabet'>;
  readonly sequences: Pick<SequencesParameters, 'length' | 'min' | 'max' | 'unique' | 'sort'>;
  readonly permutations: Pick<PermutationsParameters, 'length'>;
  readonly gaussians: Pick<GaussiansParameters, 'mean' | 'stddev' | 'digits'>;
}

export interface BatchParameters<T extends BatchType> extends DrawParameters {
  readonly type: T;
  /** 1 to 100,000. */
  readonly count: number;
  readonly params?: BatchTypeParameters[T] | undefined;
}

/** The parameters of each call that draws values. */
export interface DataParameters {
  readonly integers: IntegersParameters;
  readonly bytes: BytesParameters;
  readonly floats: FloatsParameters;
  readonly uuid: UuidParameters;
  readonly bitstring: BitstringParameters;
  readonly shuffle: ShuffleParameters;
  readonly batch: BatchParameters<BatchType>;
  readonly sample: SampleParameters;
  readonly weighted: WeightedParameters;
  readonly strings: StringsParameters;
  readonly sequences: SequencesParameters;
  readonly permutations: PermutationsParameters;
  readonly gaussians: GaussiansParameters;
}

/** A request as it is sent, without what every request has. */
export interface DataRequest {
  readonly method: 'GET' | 'POST';
  /** Below the base URL, query included. */
  readonly path: string;
  /** JSON. */
  readonly body: string | null;
  /** An answer costs credits or has a serial under a purpose, so a retry must name the first attempt. */
  readonly isOnce: boolean;
}

type QueryValue = string | number | boolean | undefined;

export function dataRequest<E extends DataEndpoint>(
  endpoint: E,
  parameters: DataParameters[E],
  dryRun = false,
): DataRequest {
  const [common, own] = splitParameters(parameters);
  const sent = { ...own, ...common, dry_run: dryRun ? true : undefined };
  const { entropyMode, purpose } = parameters;
  const isOnce = !dryRun && (String(entropyMode).toLowerCase() === 'pure' || purpose !== undefined);
  if (endpoint === 'batch') {
    return { method: 'POST', path: '/batch', body: JSON.stringify(sent), isOnce };
  }
  return { method: 'GET', path: `/${endpoint}${queryOf(sent)}`, body: null, isOnce };
}

/** What every call takes, by its names on the wire, and what is of this call alone. */
function splitParameters<P extends DrawParameters>(
  parameters: P,
): [common: Readonly<Record<string, string | boolean | undefined>>, own: Omit<P, keyof DrawParameters>] {
  const { entropyMode, purpose, userData, userDataSha256, public: isPublic, ...own } = parameters;
  const common = {
    entropy_mode: entropyMode,
    purpose,
    user_data: userData,
    user_data_sha256: userDataSha256,
    public: isPublic,
  };
  return [common, own];
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** `?name=value&…`, or nothing. A list is sent as its items, each percent-encoded, between bare commas. */
export function queryOf(
  parameters: Readonly<Record<string, QueryValue | readonly (string | number)[]>>,
): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) continue;
    const texts = Array.isArray(value) ? value.map(String) : [String(value)];
    pairs.push(`${name}=${texts.map((text) => encoded(name, text)).join(',')}`);
  }
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function encoded(name: string, text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    // half of a surrogate pair, as a cut through a character leaves it
    throw new TypeError(
      `${name}: ${JSON.stringify(text)} has half of a surrogate pair, which UTF-8 cannot write`,
    );
  }
}
