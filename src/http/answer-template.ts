import type { DrawnFrom } from '../answer/desk.ts';
import { type EnvelopeFacts, EnvelopeTemplate } from './envelope.ts';
import { type Field, type HeadSlot, HeadTemplate, type PatchField } from './head.ts';
import { policyOf, type RateFacts, STANDING } from './rate-fields.ts';
import { MEDIA_TYPES } from './representation.ts';

/** The header fields that all answers from one source share. */
export function sourceFields(from: DrawnFrom): Field[] {
  return [
    ['Cache-Control', 'no-store'],
    ['X-Lang-Circuit', from.circuit],
    ['X-Lang-Version', from.circuitVersion],
    ['X-Quantum-Backend', from.quantumBackend],
    ['X-NIST-Verified', String(from.nistVerified)],
    ['X-Entropy-Mode', from.mode],
    ['X-Entropy-Origin', from.origin],
  ];
}

export function creditText(credits: number | null): string {
  return credits === null ? 'unlimited' : String(credits);
}

/** Which rate-limit fields a head carries. */
type RateForm = 'none' | 'plain' | 'draft';

function rateFormOf(rate: RateFacts | undefined): RateForm {
  if (rate === undefined) return 'none';
  return rate.draftFields ? 'draft' : 'plain';
}

const RATE_SLOTS: Readonly<Record<RateForm, readonly PatchField[]>> = {
  none: [],
  plain: [
    { name: 'X-RateLimit-Remaining', width: 12 },
    { name: 'X-RateLimit-Reset', width: 12 },
  ],
  draft: [
    { name: 'X-RateLimit-Remaining', width: 12 },
    { name: 'X-RateLimit-Reset', width: 12 },
    { name: 'RateLimit-Policy', width: 36 },
    { name: 'RateLimit', width: 48 },
  ],
};

/** Head and envelope of the JSON answers from one source: made once, patched for each answer. */
export class AnswerTemplate {
  readonly envelope: EnvelopeTemplate;
  readonly #head: HeadTemplate;
  readonly #requestId: HeadSlot;
  readonly #credits: HeadSlot;
  readonly #rate: readonly HeadSlot[];

  private constructor(from: DrawnFrom, poweredBy: string, rateForm: RateForm) {
    this.envelope = new EnvelopeTemplate(from, poweredBy);
    const fields: Field[] = [['Content-Type', MEDIA_TYPES.json], ...sourceFields(from)];
    const rateSlots = RATE_SLOTS[rateForm];
    this.#head = new HeadTemplate(200, fields, [
      { name: 'X-Request-ID', width: 36 },
      { name: 'X-Quantum-Credits-Remaining', width: 16 },
      ...rateSlots,
    ]);
    this.#requestId = this.#head.slot('X-Request-ID');
    this.#credits = this.#head.slot('X-Quantum-Credits-Remaining');
    this.#rate = rateSlots.map(({ name }) => this.#head.slot(name));
  }

  /** The template for a source and a kind of account; the same object for the same source. */
  static of(from: DrawnFrom, poweredBy: string, rate: RateFacts | undefined): AnswerTemplate {
    const form = rateFormOf(rate);
    let forms = templates.get(from);
    if (forms === undefined) templates.set(from, (forms = new Map()));
    let template = forms.get(form);
    if (template === undefined) forms.set(form, (template = new AnswerTemplate(from, poweredBy, form)));
    return template;
  }

  /** The head of one answer; valid until the next call. */
  headOf(facts: EnvelopeFacts, rate: RateFacts | undefined): Uint8Array {
    this.#requestId.setUuid(facts.requestId);
    const { remaining } = facts.credits;
    if (remaining === null) this.#credits.setText(creditText(null));
    else this.#credits.setNumber(remaining);
    if (rate !== undefined) {
      const [left, reset, policy, standing] = this.#rate;
      left.setNumber(rate.remaining);
      reset.setNumber(rate.resetAtS);
      policy?.setText(policyOf(rate.burst));
      standing?.setLabelled(STANDING[0], rate.remaining, STANDING[1], rate.resetAfterS);
    }
    return this.#head.bytes;
  }
}

const templates = new WeakMap<DrawnFrom, Map<RateForm, AnswerTemplate>>();
