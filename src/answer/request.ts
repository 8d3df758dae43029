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

/** Members of `data` that echo effective parameters. */
export interface EchoedMembers {
  readonly [name: string]: Echoed | EchoedMembers;
}

/** How the values of an answer are written. */
export type AnswerForm = 'json' | 'msgpack' | 'octet-stream';

/** What is sent of an answer. */
export interface Written {
  readonly form: AnswerForm;
  /** Of the form `octet-stream`: how the bare values are written. */
  readonly octets: BareType | undefined;
  /** As Content-Type gives it. */
  readonly mediaType: string;
}

/** What a request can ask for by its parameter `format`. */
type AnswerFormat = 'json' | TextType;

/**
 * What an endpoint asks for, once its parameters are valid: which values, and how the `data` member of the
 * answer names them. Handlers of data endpoints make one of these and nothing else.
 */
export interface DataRequest {
  readonly endpoint: DataEndpoint;
  readonly values: ValueRequest;
  /** The member of `data` that holds the values: values, bytes, uuids, bitstring or items. */
  readonly valueKey: string;
  /** The other members of `data` that echo the effective parameters, e.g. count, max, min, sort, unique. */
  readonly members: EchoedMembers;
  /** The mode that was asked for; undefined when the account's tier decides. */
  readonly mode: EntropyMode | undefined;
  /** How the answer is to be written, where the request itself says so; else `Accept` decides. */
  readonly format?: AnswerFormat | undefined;
  /** Price the request, draw nothing. */
  readonly dryRun: boolean;
  /** What the caller says of the answer; undefined without a purpose or user data. */
  readonly label?: LabelRequest | undefined;
}

/**
 * The mode of a request: the one it names when the tier has it, else the tier's default. Never `pure`
 * unasked, and never another than the one named. Throws 403 `mode_not_allowed`.
 */
export function resolveMode(asked: EntropyMode | undefined, tier: Tier, allowance: Allowance): EntropyMode {
  if (asked === undefined) return allowance.defaultMode;
  if (allowance.modes.includes(asked)) return asked;
  const tiers = tiersWith(asked);
  throw new ApiError('mode_not_allowed', {
    message: `Entropy mode ${asked} is not part of the ${tier} tier; the tiers that have it: ${tiers.join(', ')}.`,
    details: { entropy_mode: asked, tier, tiers },
  });
}

/**
 * The entropy of the answer in whole bytes, whatever the mode: its price in pure mode, and what `dry_run`
 * quotes.
 */
export function entropyBytes(values: ValueRequest): number {
  return Math.ceil(informationBits(values) / 8);
}

/**
 * Answers whose values may take more than this are made by a worker; shorter ones are made in the front thread. Bench
 * `dispatch` puts the break-even of the front's own CPU at 64 kB of text for integers 0..999,999, 81 for UUIDs, 107 for
 * floats and 127 for integers 0..100 (22 November 2026, the two in turns), and at 40, 71, 95 and 108 on the machine of the next
 * day. The geometric means are 92 and 73 kB; an answer near the break-even costs the front about the same either way.
 */
export const HOP_ABOVE_BYTES = 96 * 1024;

/** So many draws take about as long as the numbers of a text of that size. */
const HOP_ABOVE_DRAWS = 400;

/** Whether a worker makes an answer whose values take so many bytes. */
export function isLarge(valuesBytesMax: number): boolean {
  return valuesBytesMax > HOP_ABOVE_BYTES;
}

/** What is worked out of a request once, and serves all its answers: clients repeat a few requests. */
export class Plan {
  readonly request: DataRequest;
  /** Bytes that the values take as JSON, at most. */
  readonly #textBytesMax: number;
  /** What usage counts. */
  readonly valueCount: number;
  /** A worker makes it however short it is: so many draws would hold up the front. */
  readonly hasManyDraws: boolean;
  #drawBytesMax: number | undefined;
  #templateMode: EntropyMode | undefined;
  #templateSource = '';
  #template: DataTemplate | undefined;

  constructor(request: DataRequest) {
    this.request = request;
    this.#textBytesMax = jsonBytesMax(request.values);
    this.valueCount = valueCount(request.values);
    this.hasManyDraws = drawCount(request.values) > HOP_ABOVE_DRAWS;
  }

  /** Bytes that the bare values take, or without a type the values as JSON, at most. */
  valuesBytesMax(octets: BareType | undefined): number {
    const { values } = this.request;
    if (octets === undefined) return this.#textBytesMax;
    return isTextType(octets) ? textBytesMax(values, octets) : octetBytes(values);
  }

  /** Bytes that the values draw, at most. */
  get drawBytesMax(): number {
    this.#drawBytesMax ??= entropyBytesMax(this.request.values);
    return this.#drawBytesMax;
  }

  /** The text around the values for the source that they come from. */
  templateFor(mode: EntropyMode, quantumSource: string): DataTemplate {
    if (mode !== this.#templateMode || quantumSource !== this.#templateSource) {
      const { valueKey, members } = this.request;
      this.#template = dataTemplate(valueKey, members, mode, quantumSource);
      this.#templateMode = mode;
      this.#templateSource = quantumSource;
    }
    return this.#template!;
  }
}
