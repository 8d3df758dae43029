/**
 * What the service answers, member for member as on the wire (test/client/answers.test.ts holds these types equal to
 * real answers). Times are ISO 8601 in UTC; null stands for unlimited or unknown, as said at each.
 */

export type EntropyMode = 'quantum-seeded' | 'pure' | 'csprng';

/** What kind of thing produced the raw noise; never upgraded. */
export type Origin = 'quantum-processor' | 'qrng-device' | 'simulated' | 'replay' | 'system';

export type Tier = 'free' | 'developer' | 'pro' | 'business' | 'enterprise';

export type DataEndpoint =
  | 'integers'
  | 'bytes'
  | 'floats'
  | 'uuid'
  | 'bitstring'
  | 'shuffle'
  | 'batch'
  | 'sample'
  | 'weighted'
  | 'strings'
  | 'sequences'
  | 'permutations'
  | 'gaussians';

/** An answer with values in it. */
export interface Answer<Data> {
  readonly data: Data & { readonly metadata: EntropyMetadata };
  readonly metadata: Metadata;
  readonly meta: Meta;
  /** `quantum_credits` on the wire. */
  readonly credits: Credits;
  /** From the header; null for an account without a limit, or where a browser may not read it. */
  readonly rateLimit: RateLimit | null;
  /** In pure mode, what shows the verifier that the bytes were committed to before. */
  readonly opening?: { readonly bytes: string; readonly path: string; readonly salts: string };
  /** What the call said of the answer; of one that said nothing there is none. */
  readonly label?: Label;
}

/** What the caller said of an answer, as the certificate is bound to it. Digests are `sha256:` and 64 hex digits. */
export interface Label {
  readonly public: boolean;
  readonly purpose?: string;
  /** Names the account and the purpose; the certificate has the serial of the answer in it. */
  readonly series?: string;
  readonly user_data?: string;
  readonly user_data_sha256?: string;
}

export interface EntropyMetadata {
  readonly entropy_mode: EntropyMode;
  /** The processor, or `none` in csprng mode. */
  readonly quantum_source: string;
}

export interface Metadata {
  /** `req_` and 26 characters. */
  readonly request_id: string;
  readonly timestamp: string;
  readonly lang_circuit: string;
  readonly lang_version: string;
  readonly quantum_backend: string;
  readonly entropy_origin: Origin;
  /** Whether the source passed SP 800-22. */
  readonly nist_verified: boolean;
  /** `cert_` and 26 characters: whoever has it can read the certificate. */
  readonly certificate_id: string;
  /** 64 hex digits, yours alone: opens the certificate's commitment to the values. */
  readonly certificate_salt: string;
  /** The public page of the certificate. */
  readonly verify_url: string;
  readonly powered_by: string;
  readonly processing_time_ms: number;
  readonly entropy_consumed_bytes: number;
}

export interface Meta {
  /** The same 128 bits as `metadata.request_id`, as a UUID. */
  readonly request_id: string;
  readonly duration_ms: number;
}

/** Bytes of pure mode; null means unlimited. */
export interface Credits {
  readonly remaining: number | null;
  /** By this request. */
  readonly used: number;
  /** Of the month. */
  readonly total: number | null;
}

export interface RateLimit {
  /** Whole requests possible now. */
  readonly remaining: number;
  /** When the full burst is there again, in Unix seconds. */
  readonly resetAtS: number;
}

export type SortOrder = 'none' | 'ascending' | 'descending';
export type ByteEncoding = 'hex' | 'base64';

export interface IntegersData {
  readonly values: readonly number[];
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly unique: boolean;
  readonly sort: SortOrder;
}

export interface BytesData {
  /** In `encoding`. */
  readonly bytes: string;
  readonly count: number;
  readonly encoding: ByteEncoding;
  readonly bits: number;
}

export interface FloatsData {
  readonly values: readonly number[];
  readonly count: number;
  /** Decimal places; null: multiples of 2^-53. */
  readonly precision: number | null;
}

export interface UuidData {
  readonly uuids: readonly string[];
  readonly count: number;
  readonly version: 4;
}

export interface BitstringData {
  readonly bitstring: string;
  readonly length: number;
}

export interface ShuffleData {
  readonly items: readonly string[];
  readonly count: number;
}

export interface SampleData {
  readonly items: readonly string[];
  readonly count: number;
  /** Of the list that was drawn from: `sha256:` and SHA-256 of its JSON in hex. */
  readonly list_sha256: string;
  /** How many items there were. */
  readonly of: number;
}

export interface WeightedData {
  readonly items: readonly string[];
  readonly count: number;
  /** Of the list that was drawn from: `sha256:` and SHA-256 of its JSON in hex. */
  readonly list_sha256: string;
  /** Of each item of the list. */
  readonly weights: readonly number[];
}

export interface StringsData {
  readonly values: readonly string[];
  readonly count: number;
  readonly length: number;
  readonly alphabet: string;
}

export interface SequencesData {
  /** Each entry holds one list for each sequence. */
  readonly values: readonly (readonly (readonly number[])[])[];
  readonly count: number;
  readonly length: readonly number[];
  readonly min: readonly number[];
  readonly max: readonly number[];
  readonly unique: boolean;
  readonly sort: SortOrder;
}

export interface PermutationsData {
  /** Each of the numbers from 0 to length - 1. */
  readonly values: readonly (readonly number[])[];
  readonly count: number;
  readonly length: number;
}

export interface GaussiansData {
  readonly values: readonly number[];
  readonly count: number;
  readonly mean: number;
  readonly stddev: number;
  readonly digits: number;
}

/** The JSON value that a batch of each type holds. */
export interface BatchValue {
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

export type BatchType = keyof BatchValue;

/** The types that can come as octets. */
export type BinaryBatchType = keyof BinaryValues;

export interface BatchData<T extends BatchType> {
  readonly values: readonly BatchValue[T][];
  readonly count: number;
  readonly type: T;
  readonly params: BatchEcho[T];
}

/** The effective parameters of each type, defaults included. */
export interface BatchEcho {
  readonly integers: Omit<IntegersData, 'values' | 'count'>;
  readonly floats: Omit<FloatsData, 'values' | 'count'>;
  readonly bytes: { readonly encoding: ByteEncoding; readonly length: number };
  readonly uuid: Readonly<Record<string, never>>;
  readonly sample: Omit<SampleData, 'items' | 'count'>;
  readonly weighted: Omit<WeightedData, 'items' | 'count'>;
  readonly strings: Omit<StringsData, 'values' | 'count'>;
  readonly sequences: Omit<SequencesData, 'values' | 'count'>;
  readonly permutations: Omit<PermutationsData, 'values' | 'count'>;
  readonly gaussians: Omit<GaussiansData, 'values' | 'count'>;
}

/** The memory that a binary batch of each type comes in. */
export interface BinaryValues {
  /** Float64Array when `min` or `max` is beyond 32 bits. */
  readonly integers: Int32Array | Float64Array;
  readonly floats: Float64Array;
  /** `length` bytes for each value, one after the other. */
  readonly bytes: Uint8Array;
  /** 16 bytes for each UUID, one after the other. */
  readonly uuid: Uint8Array;
}

export interface BinaryBatchData<T extends BinaryBatchType> {
  readonly values: BinaryValues[T];
  readonly count: number;
  readonly type: T;
}

export interface BinaryBytesData {
  readonly bytes: Uint8Array;
  readonly count: number;
}

/** An answer whose values came bare and whose metadata came in header fields, which do not carry all of it. */
export interface BinaryAnswer<Data> {
  readonly data: Data & { readonly metadata: EntropyMetadata };
  readonly metadata: Omit<Metadata, 'powered_by'>;
  readonly meta: Meta;
  readonly credits: Omit<Credits, 'total'>;
  readonly rateLimit: RateLimit | null;
}

/** What a request would cost. */
export interface Quote {
  readonly data: {
    readonly mode: EntropyMode;
    /** Credits that the request takes in pure mode. */
    readonly required_bytes: number;
  };
  readonly metadata: BriefMetadata;
  readonly meta: Meta;
  readonly credits: Credits;
  readonly rateLimit: RateLimit | null;
}

export type BriefMetadata = Pick<Metadata, 'request_id' | 'timestamp'>;

/** The provenance beside a document; `none` where nothing was drawn. */
export interface DocumentMetadata {
  readonly lang_circuit: string;
  readonly lang_version: string;
  readonly quantum_backend: string;
  readonly nist_verified: boolean;
  readonly powered_by: string;
}

export interface UsageAnswer {
  readonly data: Usage;
  readonly metadata: BriefMetadata & DocumentMetadata;
}

/** What the account has used this month, and what is left; null means unlimited. */
export interface Usage {
  /** `YYYY-MM` */
  readonly period: string;
  readonly starts_at: string;
  readonly ends_at: string;
  readonly tier: Tier;
  readonly requests: {
    readonly used: number;
    readonly limit: number | null;
    readonly remaining: number | null;
  };
  readonly rate: {
    readonly limit_per_minute: number | null;
    readonly burst: number | null;
    readonly remaining: number | null;
    readonly reset_at: string;
  };
  /** Bytes of pure mode. */
  readonly credits: {
    readonly total: number | null;
    readonly used: number;
    readonly remaining: number | null;
  };
  readonly by_endpoint: Readonly<Record<DataEndpoint, UsageCount>>;
  readonly by_mode: Readonly<Record<EntropyMode, UsageCount>>;
  /** The last 31 days, oldest first, today included. */
  readonly days: readonly UsageDay[];
}

export interface UsageCount {
  readonly requests: number;
  readonly values: number;
  readonly bytes: number;
}

export interface UsageDay extends UsageCount {
  /** `YYYY-MM-DD` */
  readonly date: string;
  readonly credits: number;
}

/** Every tier, every price, every limit; 2^53 - 1 stands for unlimited. */
export interface TiersAnswer {
  readonly data: {
    readonly tiers: readonly TierFigures[];
    readonly prices: readonly PriceOfKind[];
    /** How much one request may ask for, e.g. `batch_count`. */
    readonly limits: Readonly<Record<string, number>>;
  };
  readonly metadata: BriefMetadata & DocumentMetadata;
}

export interface TierFigures {
  readonly tier: Tier;
  /** Like the three that follow null where each account agrees on a figure of its own. */
  readonly requests_per_minute: number | null;
  readonly burst: number | null;
  readonly requests_per_month: number | null;
  /** Bytes of pure mode. */
  readonly credits_per_month: number | null;
  readonly entropy_modes: readonly EntropyMode[];
  readonly default_entropy_mode: EntropyMode;
  /** Null for a tier without the seeded mode. */
  readonly seed_interval_s: number | null;
  readonly scopes: readonly string[];
  /** An account of the tier may have figures of its own. */
  readonly custom: boolean;
}

export interface PriceOfKind {
  readonly kind: string;
  /** The entropy of the answer in bits; the price is an eighth of it, rounded up once per request. */
  readonly bits: string;
  readonly example: string;
  /** What the example costs in pure mode. */
  readonly credits: number;
}

export type HealthStatus = 'pass' | 'warn' | 'fail';

export interface HealthAnswer {
  readonly data: HealthReport;
  readonly metadata: BriefMetadata & DocumentMetadata;
}

/** The shape of draft-inadarei-api-health-check-06; which checks there are may grow. */
export interface HealthReport {
  readonly status: HealthStatus;
  readonly version: string;
  readonly time: string;
  readonly checks: Readonly<Record<string, readonly HealthCheck[]>>;
}

export interface HealthCheck {
  readonly componentType: string;
  readonly status: HealthStatus;
  readonly observedValue?: number | string | boolean | null;
  readonly observedUnit?: string;
  readonly output?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}
