import { BACKENDS, SOURCE_PRESETS } from '../backend/backends.ts';
import type { SourceMemory } from '../backend/definition.ts';
import { COMMON_OPTIONS, loadConfig, type SourceSetting } from '../config/sources.ts';
import { dayOf } from '../core/clock.ts';
import type { SourceStore } from '../ledger/ledger.ts';
import { type DaySpend, daySpend } from '../observe/readings.ts';
import { estimateOf } from '../pool/intake/read.ts';
import { limitProblem, lotRawBitsOf, makeBackend, priceText } from '../service/sources.ts';
import { action, type CommandContext, group } from './command.ts';
import { withLedgerIfAny } from './ledger-access.ts';
import { sourceTest } from './try-source.ts';

const list = action({
  path: 'sources list',
  summary:
    'Lists the entropy sources in use, in order of preference, with their options and the costs of today. Then lists all types of\n' +
    'source that can be configured. The command contacts no provider. Secrets are not shown.',
  options: { json: { meaning: 'print one JSON object: policy, sources, kinds, names' } },
  run: async (_input, context) => {
    const { sources, sourcePolicy: policy } = loadConfig(context.environment);
    const described = await withLedgerIfAny(context, (ledger) =>
      Promise.all(sources.map((setting, i) => describeSource(setting, i + 1, ledger, context))),
    );
    for (const { warnings, problem } of described) {
      for (const each of problem === null ? warnings : [...warnings, problem]) context.talk(`${each}\n`);
    }
    const kinds = BACKENDS.map(describeBackend);
    // the names that imply the type of the source
    const names = [...SOURCE_PRESETS].map(([name, { type }]) => ({ name, type }));
    const known = kinds.map(({ type, summary }) => {
      const also = names.filter((each) => each.type === type && each.name !== type).map(({ name }) => name);
      return { kind: type, also_by_name: also.join(', '), what_it_is: summary };
    });
    return {
      data: { policy, sources: described, kinds, names },
      shown: [{ policy }, described.map(rowOf), described.flatMap(optionsOf), known],
    };
  },
});

export const sources = group('qrn sources', 'Lists and tests entropy sources.', [list, sourceTest]);

type DescribedSource = Awaited<ReturnType<typeof describeSource>>;

async function describeSource(
  setting: SourceSetting,
  priority: number,
  ledger: Pick<SourceStore, 'spent'> | undefined,
  { clock }: CommandContext,
) {
  const { name, limits, inForce, warnings } = setting;
  const backend = makeBackend(setting, NO_MEMORY, clock);
  const lot = estimateOf(backend, lotRawBitsOf(backend));
  const spend = ledger && (await daySpend({ backend, limits }, dayOf(clock.wallMs()), ledger));
  return {
    name,
    type: setting.backend.type,
    priority,
    origin: backend.origin,
    quantum_backend: backend.quantumBackend,
    claimed_min_entropy_per_bit: backend.claimedMinEntropyPerBit,
    lot_raw_bits: lotRawBitsOf(backend),
    lot_cost: lot === undefined ? null : { amount: lot.amount, currency: lot.currency, calls: lot.calls },
    spent_today: spend === null || spend === undefined ? null : { amount: spend.amount, calls: spend.calls },
    budget_per_day: limits.amountPerDay,
    calls_per_day: limits.callsPerDay,
    options: Object.fromEntries(
      inForce.map(({ name: option, variable, value, from }) => [option, { variable, value, from }]),
    ),
    warnings,
    /** The reason for which `qrn serve` would refuse the source; null when it would not. */
    problem: limitProblem(setting, backend) ?? null,
  };
}

/** A memory without notes: this command reads no source. */
const NO_MEMORY: SourceMemory = {
  recall: async () => undefined,
  recallAll: async () => [],
  keep: async () => {},
};

function describeBackend({ type, summary, options }: (typeof BACKENDS)[number]) {
  return {
    type,
    summary,
    options: Object.entries({ ...COMMON_OPTIONS, ...options }).map(([name, definition]) => ({
      name,
      meaning: definition.meaning,
      default: definition.fallback ?? null,
      secret: 'secret' in definition,
    })),
  };
}

function rowOf(source: DescribedSource) {
  const { lot_cost: cost, spent_today: spent } = source;
  return {
    priority: source.priority,
    name: source.name,
    type: source.type,
    origin: source.origin,
    a_lot_costs: cost === null ? 'nothing' : costText(cost),
    spent_today: spent === null || cost === null ? null : costText({ ...cost, ...spent }),
    of_a_day: boundText(source),
  };
}

function optionsOf({ name, options }: DescribedSource) {
  return Object.entries(options)
    .filter(([, { value }]) => value !== '') // without options that are not set
    .map(([option, { value, from }]) => ({ source: name, option, value, from }));
}

function costText({ amount, currency, calls }: Pick<DaySpend, 'amount' | 'currency' | 'calls'>): string {
  const counted = `${calls} ${calls === 1 ? 'call' : 'calls'}`;
  return amount === 0 ? counted : `${priceText({ amount, currency })}, ${counted}`;
}

function boundText({
  lot_cost: cost,
  budget_per_day: budget,
  calls_per_day: calls,
}: DescribedSource): string {
  const bounds = [
    ...(budget === null || cost === null ? [] : [priceText({ amount: budget, currency: cost.currency })]),
    ...(calls === null ? [] : [`${calls} calls`]),
  ];
  return bounds.join(', ') || 'no limit';
}
