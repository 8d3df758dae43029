import { isoTime } from '../core/clock.ts';
import type { HealthCheck, HealthReport, HealthStatus } from '../http/plain-routes.ts';
import { countedFamilies, type ExposedFamily, exposition } from './exposition.ts';
import { type Readings, SERVICE_VERSION } from './readings.ts';
import type { ReadingRow } from './row.ts';
import { SERVICE_ROWS, SYSTEM_ROWS } from './service-rows.ts';
import { SOURCE_ROWS } from './source-rows.ts';

/** All rows, in the order in which they are reported. Health, metrics and status derive from them. */
const READING_TABLE: readonly ReadingRow[] = [...SERVICE_ROWS, ...SOURCE_ROWS, ...SYSTEM_ROWS];

/** An answer must be durable before it is sent, so the service can send no answer when this check fails. */
const VITAL_CHECK = 'ledger:writable';

/**
 * Returns the report of /v1/health, in the form of draft-inadarei-api-health-check-06. A check fails when what it observes
 * does not work. The whole report fails only when the service can send no answer at all. When one mode cannot be served, it
 * warns, because a load balancer must not take the service away from the other modes.
 */
export function healthReport(readings: Readings): HealthReport {
  const checks: Record<string, readonly HealthCheck[]> = {};
  for (const { check, checks: checksOf } of READING_TABLE) {
    if (check === undefined) continue;
    const observed = [...(checks[check] ?? []), ...checksOf(readings)];
    if (observed.length > 0) checks[check] = observed;
  }
  return {
    status: overallOf(checks),
    version: '1',
    releaseId: SERVICE_VERSION,
    time: isoTime(readings.atMs),
    checks,
  };
}

function overallOf(checks: HealthReport['checks']): HealthStatus {
  if (checks[VITAL_CHECK].some(({ status }) => status === 'fail')) return 'fail';
  const all = Object.values(checks).flat();
  return all.every(({ status }) => status === 'pass') ? 'pass' : 'warn';
}

/** Returns the families that are read when Prometheus asks, besides those that the fronts count. */
export function readingFamilies(readings: Readings): ExposedFamily[] {
  return READING_TABLE.flatMap(({ families }) => families(readings));
}

/** Returns the text of /metrics. */
export function metricsText(readings: Readings): string {
  return exposition([...countedFamilies(readings.totals), ...readingFamilies(readings)]);
}
