import { LIMITS } from '../core/limits.ts';

/**
 * File descriptors that the service needs for itself, beside connections: 44 with one front and one worker, 78 with
 * four of each, once everything runs (counted in /proc/self/fd). The rest is for files and sockets opened on demand:
 * PDF certificates, providers, the journal.
 */
const OWN_DESCRIPTORS = 64;
const OWN_DESCRIPTORS_PER_THREAD = 16;

/** Even where descriptors are too few for everything. */
const CONNECTIONS_MIN = 16;

/**
 * How many connections each front may have open, so that a flood of them leaves descriptors for everything else: a
 * ledger that cannot open a file stops the service, and a listening socket that cannot accept spins
 * (http/front.ts). `threads` are the fronts and the workers.
 */
export function connectionsMax(descriptorLimit: number, fronts: number, threads: number): number {
  const left = descriptorLimit - OWN_DESCRIPTORS - OWN_DESCRIPTORS_PER_THREAD * threads;
  return Math.min(LIMITS.connectionsMax, Math.max(CONNECTIONS_MIN, Math.floor(left / fronts)));
}

/** What the system allows this process; infinite where it sets no limit or does not say. */
export function descriptorLimit(): number {
  // else the report looks up the names of open sockets; the published types lack it
  (process.report as { excludeNetwork?: boolean }).excludeNetwork = true;
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft: number | 'unlimited' } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}
