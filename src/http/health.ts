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
  readonly version: string;
  readonly time: string;
  readonly checks: Readonly<Record<string, readonly HealthCheck[]>>;
}

/** The worst of the checks: one that fails fails the whole. */
export function worstOf(checks: Readonly<Record<string, readonly HealthCheck[]>>): HealthStatus {
  const all = Object.values(checks).flatMap((each) => each.map((check) => check.status));
  if (all.includes('fail')) return 'fail';
  return all.includes('warn') ? 'warn' : 'pass';
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
