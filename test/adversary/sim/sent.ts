import { unpack } from 'msgpackr';
import type { EntropyMode } from '../../../src/core/vocabulary.ts';
import type { Exchange } from '../../../src/http/exchange.ts';
import type { AnswerEntry, DrawSource } from '../../../src/ledger/records.ts';
import { isUndecided } from '../../support/http.ts';
import type { SimClient } from './clients.ts';
import type { WireReply } from './front.ts';
import type { Plan } from './traffic.ts';
import type { Life } from './wire.ts';

/** An answer that is in the ledger. */
interface Persisted {
  readonly entry: AnswerEntry;
  readonly source: DrawSource;
  readonly segment: number;
  readonly index: number;
  readonly atMs: number;
}

/** One request since it was sent. */
export interface Sent {
  readonly number: number;
  readonly plan: Plan;
  readonly client: SimClient;
  readonly keyText: string;
  readonly idempotencyKey: string;
  readonly life: Life;
  readonly front: number;
  /** True time. */
  readonly sentAtMs: number;
  /** The mode that it must be answered in; undefined for what draws nothing. */
  readonly mode: EntropyMode | undefined;
  /** Hex; '' until a front named it. */
  requestId: string;
  /** True when the client hung up, or the service cut its connection. */
  hungUp: boolean;
  reply: WireReply | undefined;
  /** True time. */
  repliedAtMs: number | undefined;
  persisted: Persisted | undefined;
}

/** The body of a data answer, as far as the simulation reads it. */
export interface AnswerBody {
  readonly data: Readonly<Record<string, unknown>> & {
    readonly metadata: { readonly entropy_mode: string; readonly quantum_source: string };
  };
  readonly meta: { readonly request_id: string };
  readonly metadata: {
    readonly certificate_id: string;
    readonly entropy_consumed_bytes: number;
    readonly entropy_origin: string;
    readonly nist_verified: boolean;
    readonly quantum_backend: string;
    readonly request_id: string;
  };
  readonly quantum_credits: { readonly used: number; readonly remaining: number | null };
}

/** The body as an object; undefined for bare values. */
export function bodyOf({ headers, body }: WireReply): unknown {
  const type = headers['content-type'] ?? '';
  if (type.startsWith('application/json')) return JSON.parse(Buffer.from(body).toString('utf8'));
  return type === 'application/msgpack' ? unpack(body) : undefined;
}

export function errorCode(reply: WireReply): string {
  const body = bodyOf(reply) as { error?: { code?: string } } | undefined;
  return body?.error?.code ?? '';
}

/** A certified answer, not a refusal, a quote or a look at something. */
export function isAnswer({ plan, reply }: Sent): boolean {
  return reply?.status === 200 && plan.data !== undefined && !plan.data.dryRun;
}

/** Tells whether the reply reports that an answer, or the books, took too long: the answer may still be made. */
export function isDeadline({ reply }: Sent): boolean {
  return reply !== undefined && isUndecided(reply.status, reply.body);
}

/** Tells when the front has counted a request in a later turn of the event loop (http/router.ts), and decided about its rate. */
export function watchAdmission(exchange: Exchange, counted: () => void): void {
  let { rate } = exchange;
  Object.defineProperty(exchange, 'rate', {
    get: () => rate,
    set: (facts: Exchange['rate']) => {
      rate = facts;
      queueMicrotask(counted);
    },
  });
}
