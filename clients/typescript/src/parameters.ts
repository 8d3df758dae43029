import type { BatchType, DataEndpoint, EntropyMode } from './answers.ts';
import type {
  BitstringAsked,
  BytesAsked,
  FloatsAsked,
  GaussiansAsked,
  IntegersAsked,
  PermutationsAsked,
  SampleAsked,
  SequencesAsked,
  ShuffleAsked,
  StringsAsked,
  UuidAsked,
  WeightedAsked,
} from './openapi.ts';

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

/** Parameters as the OpenAPI document has them; undefined is as good as left out. */
type Parameters<Asked> = DrawParameters & {
  readonly [K in keyof Asked]: object extends Pick<Asked, K> ? Asked[K] | undefined : Asked[K];
};

export type IntegersParameters = Parameters<IntegersAsked>;
export type BytesParameters = Parameters<BytesAsked>;
export type FloatsParameters = Parameters<FloatsAsked>;
export type UuidParameters = Parameters<UuidAsked>;
export type BitstringParameters = Parameters<BitstringAsked>;
/** A request line of more than 64 KiB is refused. */
export type ShuffleParameters = Parameters<ShuffleAsked>;
export type SampleParameters = Parameters<SampleAsked>;
export type WeightedParameters = Parameters<WeightedAsked>;
export type StringsParameters = Parameters<StringsAsked>;
export type SequencesParameters = Parameters<SequencesAsked>;
export type PermutationsParameters = Parameters<PermutationsAsked>;
export type GaussiansParameters = Parameters<GaussiansAsked>;

type OfBatch<P extends DrawParameters> = Omit<P, 'count' | keyof DrawParameters>;

/** What each type of batch may be told beside its count. */
export interface BatchTypeParameters extends Readonly<Record<BatchType, object>> {
  readonly integers: OfBatch<IntegersParameters>;
  readonly floats: OfBatch<FloatsParameters>;
  /** `length`: bytes of each value, 1 to 1,024; default 16. */
  readonly bytes: OfBatch<BytesParameters> & { readonly length?: number | undefined };
  readonly uuid: Readonly<Record<string, never>>;
  readonly sample: OfBatch<SampleParameters>;
  readonly weighted: OfBatch<WeightedParameters>;
  readonly strings: OfBatch<StringsParameters>;
  readonly sequences: OfBatch<SequencesParameters>;
  readonly permutations: OfBatch<PermutationsParameters>;
  readonly gaussians: OfBatch<GaussiansParameters>;
}

export interface BatchParameters<T extends BatchType> extends DrawParameters {
  readonly type: T;
  /** 1 to 100,000. */
  readonly count: number;
  readonly params?: BatchTypeParameters[T] | undefined;
}

/** The parameters of each call that draws values. */
export interface DataParameters extends Readonly<Record<DataEndpoint, DrawParameters>> {
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
