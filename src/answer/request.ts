import { type Allowance, tiersWith } from '../account/tiers.ts';
import { ApiError } from '../core/errors.ts';
import {
  type BareType,
  type DataEndpoint,
  type EntropyMode,
  isTextType,
  type TextType,
  type Tier,
} from '../core/vocabulary.ts';
import { usualCostUs } from '../values/cost.ts';
import { packedBytesMax } from '../values/packed.ts';
import { textBytesMax } from '../values/text-lines.ts';
import {
  drawCount,
  entropyBytesMax,
  informationBits,
  jsonBytesMax,
  octetBytes,
  type ValueRequest,
  valueCount,
} from '../values/value-request.ts';
import type { LabelRequest } from './label.ts';
import type { DataTemplate } from './make.ts';
import { dataTemplate } from './text.ts';

type Echoed = string | number | boolean | readonly number[] | null;

/** Members of `data` that repeat the effective parameters of the request. */
export interface EchoedMembers {
  readonly [name: string]: Echoed | EchoedMembers;
}

/** How the values of an answer are written. */
export type AnswerForm = 'json' | 'msgpack' | 'octet-stream';

/** The format in which an answer is sent. */
export interface Written {
  readonly form: AnswerForm;
  /** How bare values are written, for the form `octet-stream`. */
  readonly octets: BareType | undefined;
  /** The value of Content-Type. */
  readonly mediaType: string;
}

/** The values of the parameter `format`. */
type AnswerFormat = 'json' | TextType;

/**
 * A request for values whose parameters are valid: which values, and how the `data` member of the answer names them.
 * Handlers of data endpoints return this and nothing else.
 */
export interface DataRequest {
  readonly endpoint: DataEndpoint;
  readonly values: ValueRequest;
  /** The member of `data` that holds the values: values, bytes, uuids, bitstring or items. */
  readonly valueKey: string;
  /** The other members of `data`, e.g. count, max, min, sort, unique. */
  readonly members: EchoedMembers;
  /** The mode that the request names; undefined when the account's tier decides. */
  readonly mode: EntropyMode | undefined;
  /** The value of the parameter `format`; undefined when `Accept` decides. */
  readonly format?: AnswerFormat | undefined;
  /** True if the request only asks for its price: nothing is drawn. */
  readonly dryRun: boolean;
  /** The caller's label; undefined without a purpose or user data. */
  readonly label?: LabelRequest | undefined;
}

/**
 * Returns the mode of a request: the one that it names, else the tier's default, which is never `pure`. Throws 403
 * `mode_not_allowed` when the tier does not have the mode.
 */
export function resolveMode(asked: EntropyMode | undefined, tier: Tier, allowance: Allowance): EntropyMode {
  if (asked === undefined) return allowance.defaultMode;
  if (allowance.modes.includes(asked)) return asked;
  const tiers = tiersWith(asked);
  throw new ApiError('mode_not_allowed', {
    message: `The ${tier} tier does not include the entropy mode ${asked}. The tiers that include it are: ${tiers.join(', ')}.`,
    details: { entropy_mode: asked, tier, tiers },
  });
}

/** Returns the entropy of the answer in whole bytes. It is the price in pure mode, and `dry_run` quotes it in every mode. */
export function entropyBytes(values: ValueRequest): number {
  return Math.ceil(informationBits(values) / 8);
}

/**
 * A worker makes answers whose values may take more than this; the front thread makes shorter ones. Bench `dispatch` puts the
 * break-even of the front's own CPU at 64 kB of text for integers 0..999,999, 81 for UUIDs, 107 for floats and 127 for integers
 * 0..100 (22 November 2026, both ways in turns), and at 40, 71, 95 and 108 kB on the machine of the next day. The geometric means
 * are 92 and 73 kB. An answer near the break-even costs the front about the same either way.
 */
export const HOP_ABOVE_BYTES = 96 * 1024;

/** A worker also makes answers of more draws than this, which take about as long as the numbers of a text of that size. */
const HOP_ABOVE_DRAWS = 400;

/**
 * An answer that costs more than this, or whose values may take more than DEAR_FROM_BYTES, is dear: it is shed when it waited too
 * long for its turn, or when its account holds too much memory. From that size on, a body stays in this process's memory while
 * its reader does not take it (http/exchange.ts).
 */
const DEAR_FROM_US = 25;
export const DEAR_FROM_BYTES = 16 * 1024;

/** What is known of an answer in one format before anything is drawn for it. */
export interface AnswerSize {
  /** Upper bound on the bytes of the values: of their JSON, or of the bare values. */
  readonly valuesBytesMax: number;
  /** Upper bound on the bytes of the values in the body that is sent and, under an Idempotency-Key, kept. */
  readonly bodyBytesMax: number;
  /** Upper bound on the memory for the values. Of MessagePack it includes the JSON text, which the commitment covers. */
  readonly madeBytesMax: number;
  /** True when a worker makes it, because its text is long or its draws would hold up the front. */
  readonly isLarge: boolean;
  readonly isDear: boolean;
}

/** A request with the figures that are computed from it once, for all its answers: clients repeat a few requests. */
export class Plan {
  readonly request: DataRequest;
  /** Number of values, which usage counts. */
  readonly valueCount: number;
  #drawBytesMax: number | undefined;
  #size: (AnswerSize & Pick<Written, 'form' | 'octets'>) | undefined;
  #template: { mode: EntropyMode; source: string; text: DataTemplate } | undefined;

  constructor(request: DataRequest) {
    this.request = request;
    this.valueCount = valueCount(request.values);
  }

  /** Upper bound on the random bytes that the values draw. */
  get drawBytesMax(): number {
    return (this.#drawBytesMax ??= entropyBytesMax(this.request.values));
  }

  /** Returns the size of the answers in this format. */
  sizeAs({ form, octets }: Written): AnswerSize {
    if (this.#size?.form === form && this.#size.octets === octets) return this.#size;
    const { values } = this.request;
    const valuesBytesMax = bytesMaxOf(values, octets);
    const packedMax = form === 'msgpack' ? packedBytesMax(values, valuesBytesMax) : 0;
    this.#size = {
      form,
      octets,
      valuesBytesMax,
      bodyBytesMax: packedMax === 0 ? valuesBytesMax : packedMax,
      madeBytesMax: valuesBytesMax + packedMax,
      isLarge: valuesBytesMax > HOP_ABOVE_BYTES || drawCount(values) > HOP_ABOVE_DRAWS,
      isDear: valuesBytesMax >= DEAR_FROM_BYTES || usualCostUs(values) >= DEAR_FROM_US,
    };
    return this.#size;
  }

  /** Returns the text around the values, for a mode and a source. */
  templateFor(mode: EntropyMode, source: string): DataTemplate {
    if (this.#template?.mode !== mode || this.#template.source !== source) {
      const { valueKey, members } = this.request;
      this.#template = { mode, source, text: dataTemplate(valueKey, members, mode, source) };
    }
    return this.#template.text;
  }
}

function bytesMaxOf(values: ValueRequest, octets: BareType | undefined): number {
  if (octets === undefined) return jsonBytesMax(values);
  return isTextType(octets) ? textBytesMax(values, octets) : octetBytes(values);
}
