import type { HealthCheck } from '../http/health.ts';
import { verifyingBlock } from '../ledger/lot-facts.ts';
import type { AssessedBlock } from '../ledger/records.ts';
import type { DeliveredState } from '../pool/intake/assessor.ts';
import type { SourceStatus } from '../pool/intake/collector.ts';
import type { RejectionVerdict } from '../stats/sp800-22/verdict.ts';

/**
 * What the statistical tests found, apart for raw noise, conditioned bits and the delivered stream (docs/evidence.md).
 * Raw noise may be biased and pass no test: what decides there are the health tests and the entropy estimate, so its
 * rows are told and change no status.
 */
export function evidenceChecks(
  sources: readonly SourceStatus[],
  delivered: readonly DeliveredState[],
): Record<string, readonly HealthCheck[]> {
  return {
    'source:raw_noise': sources.map(rawNoiseCheck),
    'source:conditioned': sources.map(conditionedCheck),
    'delivery:sample': delivered.map((state) => ({
      ...blockCheck(state.last, state.across),
      details: {
        ...blockDetails(state.last, state.across),
        group: state.name,
        sampled_at: new Date(state.sampledAtMs).toISOString(),
      },
    })),
  };
}

function rawNoiseCheck({ name, lastLot, across }: SourceStatus): HealthCheck {
  const raw = lastLot?.assessments.findLast((block) => block.of === 'raw');
  return {
    ...blockCheck(raw, across.raw),
    status: 'pass',
    details: {
      name,
      ...blockDetails(raw, across.raw),
      lot: lastLot?.id ?? null,
      min_entropy_per_bit: lastLot?.minEntropyPerBit ?? null,
      min_entropy_method: lastLot?.minEntropyMethod ?? null,
    },
  };
}

function conditionedCheck({ name, lastLot, across }: SourceStatus): HealthCheck {
  const conditioned = lastLot && verifyingBlock(lastLot);
  return {
    ...blockCheck(conditioned, across.conditioned),
    details: { name, ...blockDetails(conditioned, across.conditioned), lot: lastLot?.id ?? null },
  };
}

function blockCheck(block: AssessedBlock<string> | undefined, across: RejectionVerdict): HealthCheck {
  return {
    componentType: 'component',
    status: across.passed ? 'pass' : 'warn',
    observedValue: block === undefined ? null : `${block.sp80022.passed}/${block.sp80022.total} passed`,
    ...(across.passed ? {} : { output: `${across.rejected} of ${across.sequences} blocks were rejected` }),
  };
}

function blockDetails(block: AssessedBlock<string> | undefined, across: RejectionVerdict): object {
  return {
    bits: block?.bits ?? null,
    sha256: block?.sha256 ?? null,
    smallest_p: block?.sp80022.smallestP ?? null,
    verified: block?.sp80022.verified ?? false,
    reason: block?.sp80022.reason ?? 'no block was tested yet',
    last_blocks: across.sequences,
    last_blocks_rejected: across.rejected,
  };
}
