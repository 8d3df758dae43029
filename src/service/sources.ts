import type { Backend, Spend } from '../backend/backend.ts';
import { OptionError, type SourceMemory } from '../backend/definition.ts';
import { ConfigError, sourceVariable } from '../config/parsers.ts';
import type { SourceSetting } from '../config/sources.ts';
import type { Clock } from '../core/clock.ts';
import type { SourceStore } from '../ledger/ledger.ts';
import { LOT_RAW_BITS } from '../pool/intake/collector.ts';
import { estimateOf, type Source } from '../pool/intake/read.ts';
import { verifyUpstream } from './verify-upstream.ts';

/** Returns a memory for a source, which keeps notes in the ledger under the source's name and survives restarts. */
export function ledgerMemory(
  source: string,
  store: Pick<SourceStore, 'sourceNote' | 'sourceNotes' | 'putSourceNote'>,
): SourceMemory {
  return {
    recall: (key) => store.sourceNote(source, key),
    recallAll: (key) => store.sourceNotes(key),
    keep: (key, value) => store.putSourceNote(source, key, value),
  };
}

/** Makes the configured source, without connecting to anything. Throws a ConfigError. */
export function openSource(setting: SourceSetting, memory: SourceMemory, clock: Clock): Source {
  const backend = makeBackend(setting, memory, clock);
  const problem = limitProblem(setting, backend);
  if (problem !== undefined) throw new ConfigError(problem);
  return { backend, limits: setting.limits };
}

/** Makes the backend of a source. Throws a ConfigError when its options contradict each other. */
export function makeBackend(
  { name, backend, options }: SourceSetting,
  memory: SourceMemory,
  clock: Clock,
): Backend {
  try {
    return backend.create(name, options, { clock, memory, verify: verifyUpstream });
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    throw new ConfigError(`source ${name} (${backend.type}): ${error.message}`);
  }
}

/** Returns the raw bits of one lot of the source. */
export function lotRawBitsOf(backend: Backend): number {
  return backend.lotRawBits ?? LOT_RAW_BITS;
}

/**
 * Says why the source may not be read as it is configured; undefined when it may. A source that costs money needs a budget,
 * because the first fill of an empty pool may take hundreds of lots. A limit on a source that costs nothing, or one below the
 * price of a lot, is a mistake.
 */
export function limitProblem(
  { name, limits, isBudgeted }: SourceSetting,
  backend: Backend,
): string | undefined {
  const { amountPerDay, callsPerDay } = limits;
  const lot = estimateOf(backend, lotRawBitsOf(backend));
  if (lot === undefined) {
    if (amountPerDay === null && callsPerDay === null) return undefined;
    return `source ${name} costs nothing: budget_per_day and calls_per_day bound nothing`;
  }
  const variable = sourceVariable(name, 'budget_per_day');
  const price = priceText(lot);
  if (lot.amount > 0 && !isBudgeted) {
    return `source ${name} costs about ${price} a lot: say by ${variable} what a day may cost, or none for no bound`;
  }
  if (amountPerDay !== null && lot.amount > amountPerDay) {
    return `${variable}: one lot of ${name} costs about ${price}, more than the ${amountPerDay} of a day`;
  }
  if (callsPerDay !== null && lot.calls > callsPerDay) {
    const calls = sourceVariable(name, 'calls_per_day');
    return `${calls}: one lot of ${name} takes ${lot.calls} calls, more than the ${callsPerDay} of a day`;
  }
  return undefined;
}

/** Returns a price for messages, rounded to a ten-thousandth. */
export function priceText({ amount, currency }: Pick<Spend, 'amount' | 'currency'>): string {
  return `${Number(amount.toFixed(4))} ${currency}`;
}
