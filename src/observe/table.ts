import { isoTime } from '../core/clock.ts';
import type { HealthCheck, HealthReport, HealthStatus } from '../http/plain-routes.ts';
import { countedFamilies, type ExposedFamily, exposition } from './exposition.ts';
import { type Readings, SERVICE_VERSION } from './readings.ts';
import type { ReadingRow } from './row.ts';
import { SERVICE_ROWS, SYSTEM_ROWS } from './service-rows.ts';
import { SOURCE_ROWS } from './source-rows.ts';

/**
 * Everything that is read off a service, in the order in which it is reported. Health, metrics and status all
 * derive from it.
 */
const READING_TABLE: readonly ReadingRow[] = [...SERVICE_ROWS, ...SOURCE_ROWS, ...SYSTEM_ROWS];

/** Every answer is written down before it leaves, so no answer can leave when this check fails. */
const VITAL_CHECK = 'ledger:writable';

/**
 * The report of /v1/health, in the shape of draft-inadarei-api-health-check-06. A check fails when what it
 * observes does not work. The whole fails only when no answer could leave: a mode that cannot be served makes
 * it `warn`, because a load balancer must not take the service away from the other modes.
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

/** The families that are read off when Prometheus asks, beside those that the fronts count. */
export function readingFamilies(readings: Readings): ExposedFamily[] {
  return READING_TABLE.flatMap(({ families }) => families(readings));
}

/** The text of /metrics. */
export function metricsText(readings: Readings): string {
  return exposition([...countedFamilies(readings.totals), ...readingFamilies(readings)]);
}
