import type { Backend } from '../backend/backend.ts';
import { OptionError, type SourceMemory } from '../backend/source-kind.ts';
import { ConfigError } from '../config/config-error.ts';
import { type SourceSetting, sourceVariable } from '../config/sources.ts';
import type { Clock } from '../core/clock.ts';
import { estimateOf } from '../pool/budget.ts';
import { LOT_RAW_BITS } from '../pool/collector.ts';
import type { SourceStore } from '../store/ledger.ts';
import type { SpendLimits } from '../store/records.ts';

/** A source that may be read, within its limits. */
export interface Source {
  readonly backend: Backend;
  readonly limits: SpendLimits;
}

/** What a source knows again after a restart, kept in the ledger under its name. */
export function ledgerMemory(
  source: string,
  store: Pick<SourceStore, 'sourceNote' | 'putSourceNote'>,
): SourceMemory {
  return {
    recall: (key) => store.sourceNote(source, key),
    keep: (key, value) => store.putSourceNote(source, key, value),
  };
}

/** Makes the configured source; calls nobody. Throws a ConfigError when its options do not fit each other. */
export function openSource(setting: SourceSetting, memory: SourceMemory, clock: Clock): Source {
  const backend = backendOf(setting, memory, clock);
  checkLimits(setting, backend);
  return { backend, limits: setting.limits };
}

function backendOf({ name, kind, options }: SourceSetting, memory: SourceMemory, clock: Clock): Backend {
  try {
    return kind.create(name, options, { clock, memory });
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    throw new ConfigError(`source ${name} (${kind.type}): ${error.message}`);
  }
}

/** Raw bits of one lot of the source. */
export function lotRawBitsOf(backend: Backend): number {
  return backend.lotRawBits ?? LOT_RAW_BITS;
}

/**
 * Money is spent on purpose or not at all: the first fill of an empty pool may take hundreds of lots. A bound that bounds
 * nothing, or below which nothing can be read, is a mistake to be told of now.
 */
function checkLimits({ name, limits, isBudgeted }: SourceSetting, backend: Backend): void {
  const lot = estimateOf(backend, lotRawBitsOf(backend));
  const variable = sourceVariable(name, 'budget_per_day');
  if (lot === undefined) {
    if (limits.amountPerDay === null && limits.callsPerDay === null) return;
    throw new ConfigError(`source ${name} costs nothing: budget_per_day and calls_per_day bound nothing`);
  }
  const price = `${lot.amount} ${lot.currency}`;
  if (lot.amount > 0 && !isBudgeted) {
    throw new ConfigError(
      `source ${name} costs about ${price} a lot: say by ${variable} what a day may cost, or none for no bound`,
    );
  }
  if (limits.amountPerDay !== null && lot.amount > limits.amountPerDay) {
    throw new ConfigError(
      `${variable}: one lot of ${name} costs about ${price}, more than the ${limits.amountPerDay} of a day`,
    );
  }
  if (limits.callsPerDay !== null && lot.calls > limits.callsPerDay) {
    const calls = sourceVariable(name, 'calls_per_day');
    throw new ConfigError(
      `${calls}: one lot of ${name} takes ${lot.calls} calls, more than the ${limits.callsPerDay} of a day`,
    );
  }
}
