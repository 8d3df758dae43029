import { pack } from 'msgpackr';
import { utf8Bytes } from '../core/bytes.ts';
import type { Reply } from './error-reply.ts';
import { type Field, headOf } from './head.ts';
import { MEDIA_TYPES, negotiate } from './representation.ts';

export type HealthStatus = 'pass' | 'warn' | 'fail';

/** One check in the shape of draft-inadarei-api-health-check-06 §4. */
export interface HealthCheck {
  readonly componentType: 'datastore' | 'component' | 'system';
  readonly status: HealthStatus;
  readonly observedValue?: number | string | boolean | null;
  readonly observedUnit?: string;
  readonly output?: string;
  readonly details?: object;
}

export interface HealthReport {
  readonly status: HealthStatus;
  /** Of the API. */
  readonly version: string;
  /** Of the software. */
  readonly releaseId: string;
  readonly time: string;
  readonly checks: Readonly<Record<string, readonly HealthCheck[]>>;
}

/** The check without which no answer can leave: every answer is written down first. */
const VITAL_CHECK = 'ledger:writable';

/**
 * `fail` when nothing can be answered; `warn` when anything else is not as it should be, a mode that cannot be served
 * included: the others go on, and a load balancer must not take the service away from them.
 */
export function overallOf(checks: HealthReport['checks']): HealthStatus {
  if (checks[VITAL_CHECK]?.some(({ status }) => status === 'fail')) return 'fail';
  const all = Object.values(checks).flat();
  return all.every(({ status }) => status === 'pass') ? 'pass' : 'warn';
}

/** `/v1/health`: 200 for pass and warn, 503 for fail (draft-inadarei-api-health-check-06 §3.1). */
export function healthReply(report: HealthReport, accept: string, fields: readonly Field[]): Reply {
  const form = negotiate(accept, ['json', 'health', 'msgpack']);
  const status = report.status === 'fail' ? 503 : 200;
  const head = headOf(status, [
    ['Content-Type', MEDIA_TYPES[form]],
    ['Cache-Control', 'no-store'],
    ...fields,
  ]);
  const body = form === 'msgpack' ? new Uint8Array(pack(report)) : utf8Bytes(JSON.stringify(report));
  return { status, head, body };
}
