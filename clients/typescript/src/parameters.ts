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

/** The parameters of every call that draws values. */
export interface DrawParameters {
  /**
   * Default: csprng for the tier Free, quantum-seeded for the others; never pure. `hybrid` is another name of
   * quantum-seeded.
   */
  readonly entropyMode?: EntropyMode | 'hybrid' | undefined;
  /**
   * What the values are for, 1 to 100 characters. The certificate is bound to it, and has the number of this answer
   * among the account's answers with the same purpose. The client adds an Idempotency-Key, so that a retry gets no
   * second number.
   */
  readonly purpose?: string | undefined;
  /** Any text to which the certificate is bound, 1 to 1,000 characters. */
  readonly userData?: string | undefined;
  /** The SHA-256 of such a text instead of `userData`: 64 hex digits in lower case. */
  readonly userDataSha256?: string | undefined;
  /**
   * If true, the certificate shows `purpose` and `userData`; else it holds commitments to them, which only the answer
   * opens.
   */
  readonly public?: boolean | undefined;
}

/** The parameters in the OpenAPI document. A parameter that is undefined counts as left out. */
type Parameters<Asked> = DrawParameters & {
  readonly [K in keyof Asked]: object extends Pick<Asked, K> ? Asked[K] | undefined : Asked[K];
};

export type IntegersParameters = Parameters<IntegersAsked>;
export type BytesParameters = Parameters<BytesAsked>;
export type FloatsParameters = Parameters<FloatsAsked>;
export type UuidParameters = Parameters<UuidAsked>;
export type BitstringParameters = Parameters<BitstringAsked>;
/** The items go into the request line. The service refuses a request head of more than 64 KiB. */
export type ShuffleParameters = Parameters<ShuffleAsked>;
export type SampleParameters = Parameters<SampleAsked>;
export type WeightedParameters = Parameters<WeightedAsked>;
export type StringsParameters = Parameters<StringsAsked>;
export type SequencesParameters = Parameters<SequencesAsked>;
export type PermutationsParameters = Parameters<PermutationsAsked>;
export type GaussiansParameters = Parameters<GaussiansAsked>;

type OfBatch<P extends DrawParameters> = Omit<P, 'count' | keyof DrawParameters>;

/** The parameters of each type of batch, apart from the count. */
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

/** The parts of a request that differ from call to call. */
export interface DataRequest {
  readonly method: 'GET' | 'POST';
  /** The path below the base URL, with the query. */
  readonly path: string;
  /** The JSON body; null for none. */
  readonly body: string | null;
  /**
   * Whether the answer costs credits or has a number under a purpose, so that a retry needs the same Idempotency-Key.
   */
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

/** Splits parameters into those of every call, by their names on the wire, and those of this call only. */
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

/**
 * Returns `?name=value&…`, or nothing. The items of a list are percent-encoded, and the commas between them are not.
 */
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
    // half of a surrogate pair, for example from a text that was cut within a character
    throw new TypeError(
      `${name}: ${JSON.stringify(text)} has half of a surrogate pair, which UTF-8 cannot write`,
    );
  }
}
