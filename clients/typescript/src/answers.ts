/**
 * The types of answers. Members are named as on the wire: the types come from the OpenAPI document, which test/api
 * compares with real answers. Times are ISO 8601 in UTC; 2^53 - 1 stands for unlimited.
 */
import type {
  BatchData as AnyBatchData,
  BytesData,
  CertificateDocument,
  Credits,
  FloatsData,
  GaussiansData,
  Health,
  HealthReport,
  IntegersAnswer,
  IntegersData,
  Meta,
  Metadata,
  PermutationsData,
  Quote as PlainQuote,
  SampleData,
  SequencesData,
  StringsData,
  Tiers,
  Usage as UsageAnswer,
  WeightedData,
} from './openapi.ts';

export type {
  BitstringData,
  BytesData,
  CertificateDocument,
  Credits,
  FloatsData,
  GaussiansData,
  HealthReport,
  IntegersData,
  Meta,
  Metadata,
  PermutationsData,
  SampleData,
  SequencesData,
  ShuffleData,
  StringsData,
  UuidData,
  WeightedData,
} from './openapi.ts';

export type EntropyMetadata = IntegersData['metadata'];
export type EntropyMode = EntropyMetadata['entropy_mode'];
/** The kind of thing that produced the raw noise. */
export type Origin = Metadata['entropy_origin'];
export type SortOrder = IntegersData['sort'];
export type ByteEncoding = BytesData['encoding'];
/** The caller's purpose and data, to which the certificate is bound. Digests are `sha256:` and 64 hex digits. */
export type Label = NonNullable<IntegersAnswer['label']>;

/** Where the entropy of one answer came from, and a commitment to what was delivered. */
export type Certificate = CertificateDocument['certificate'];
/** The log's entry of a lot that the answer was drawn from. */
export type CertificateLot = CertificateDocument['lots'][number]['leaf'];

export type TiersAnswer = Tiers;
export type { UsageAnswer };
export type HealthAnswer = Health;
export type Usage = UsageAnswer['data'];
export type Tier = Usage['tier'];
export type DataEndpoint = keyof Usage['by_endpoint'];
/** One check of the health report. Newer services may have further checks. */
export type HealthCheck = HealthReport['checks'][string][number];

/** An answer with values in it. */
export interface Answer<Data> {
  readonly data: Data & { readonly metadata: EntropyMetadata };
  readonly metadata: Metadata;
  readonly meta: Meta;
  /** `quantum_credits` on the wire. */
  readonly credits: Credits;
  /** From the header fields; null for an account without a limit, or when a browser may not read the fields. */
  readonly rateLimit: RateLimit | null;
  /** In pure mode, what a verifier needs to see that the bytes were committed to before. */
  readonly opening?: NonNullable<IntegersAnswer['opening']>;
  /** Only when the call had a purpose or user data. */
  readonly label?: Label;
}

export interface RateLimit {
  /** The number of requests that are possible now. */
  readonly remaining: number;
  /** When the full burst is available again, in Unix seconds. */
  readonly resetAtS: number;
}

/** The price of a request. */
export type Quote = Omit<PlainQuote, 'quantum_credits'> & Pick<Answer<unknown>, 'credits' | 'rateLimit'>;

export type BatchType = AnyBatchData['type'];

/** The JSON value that a batch of each type holds. */
export interface BatchValue extends Readonly<Record<BatchType, unknown>> {
  readonly integers: number;
  readonly floats: number;
  readonly bytes: string;
  readonly uuid: string;
  readonly sample: string;
  readonly weighted: string;
  readonly strings: string;
  readonly sequences: readonly (readonly number[])[];
  readonly permutations: readonly number[];
  readonly gaussians: number;
}

export type BatchData<T extends BatchType> = Pick<AnyBatchData, 'count' | 'metadata'> & {
  readonly values: readonly BatchValue[T][];
  readonly type: T;
  readonly params: BatchEcho[T];
};

type Echo<Data> = Omit<Data, 'values' | 'items' | 'count' | 'metadata'>;

/** The effective parameters of each type, defaults included. */
export interface BatchEcho extends Readonly<Record<BatchType, object>> {
  readonly integers: Echo<IntegersData>;
  readonly floats: Echo<FloatsData>;
  readonly bytes: { readonly encoding: ByteEncoding; readonly length: number };
  readonly uuid: Readonly<Record<string, never>>;
  readonly sample: Echo<SampleData>;
  readonly weighted: Echo<WeightedData>;
  readonly strings: Echo<StringsData>;
  readonly sequences: Echo<SequencesData>;
  readonly permutations: Echo<PermutationsData>;
  readonly gaussians: Echo<GaussiansData>;
}

/** The typed array that holds a binary batch of each type. */
export interface BinaryValues {
  /** Float64Array when `min` or `max` is beyond 32 bits. */
  readonly integers: Int32Array | Float64Array;
  readonly floats: Float64Array;
  /** `length` bytes for each value, one after the other. */
  readonly bytes: Uint8Array;
  /** 16 bytes for each UUID, one after the other. */
  readonly uuid: Uint8Array;
}

/** The types of batch that can come as octets. */
export type BinaryBatchType = keyof BinaryValues;

export interface BinaryBatchData<T extends BinaryBatchType> {
  readonly values: BinaryValues[T];
  readonly count: number;
  readonly type: T;
}

export interface BinaryBytesData {
  readonly bytes: Uint8Array;
  readonly count: number;
}

/** An answer in octets. Its metadata comes from header fields, which do not carry all members. */
export interface BinaryAnswer<Data> {
  readonly data: Data & { readonly metadata: EntropyMetadata };
  readonly metadata: Omit<Metadata, 'powered_by'>;
  readonly meta: Meta;
  readonly credits: Omit<Credits, 'total'>;
  readonly rateLimit: RateLimit | null;
}
