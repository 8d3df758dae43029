import type { HealthCheck } from '../http/plain-routes.ts';
import type { ExposedFamily } from './exposition.ts';
import type { Readings } from './readings.ts';

/** A value of a metric. Null and undefined give no sample. */
type Figure = number | boolean | null | undefined;
type Figures = Figure | Readonly<Record<string, Figure>>;

/**
 * Metric families by name: the help text, the value, and, for a family with several values, the label that has their names.
 * The value is a function or the name of a member; a member that ends in Ms is shown in seconds. A family whose name ends
 * in _total is a counter, any other is a gauge.
 */
export type Metrics<T> = Readonly<
  Record<string, readonly [help: string, value: ((thing: T) => Figures) | FigureOf<T>, by?: string]>
>;

/** The names of the members that a metric can show. */
type FigureOf<T> = { [K in keyof T]: T[K] extends Figures ? K : never }[keyof T] & string;

function figuresOf<T>(value: Metrics<T>[string][1], thing: T): Figures {
  if (typeof value === 'function') return value(thing);
  const member = thing[value] as Figures;
  return typeof member === 'number' && value.endsWith('Ms') ? member / 1_000 : member;
}

/** One thing to observe of a running service: a check of /v1/health, its metrics, or both. */
interface Row<T> {
  /** The name of the check in `/v1/health`, e.g. `disk:free`. */
  readonly check?: string;
  /** The observed value of the check, in `unit`. */
  readonly value?: (thing: T) => HealthCheck['observedValue'];
  readonly unit?: string | ((thing: T) => string);
  readonly failWhen?: (thing: T, readings: Readings) => boolean;
  readonly warnWhen?: (thing: T, readings: Readings) => boolean;
  /** What an operator needs to know when the check does not pass. */
  readonly advice?: string | ((thing: T) => string | undefined);
  /** Details of the check besides the metrics, which `details` also has under their own names. */
  readonly details?: (thing: T, readings: Readings) => object;
  readonly metrics?: Metrics<T>;
}

/** What a row is about: the service, or each of its sources, witnesses or seeds. */
interface Subject<T> {
  readonly of: (readings: Readings) => readonly T[];
  /** For a subject with several things: `details.name` of a check, and the labels of a metric. */
  readonly name?: (thing: T) => string;
  readonly labels?: (thing: T) => Readonly<Record<string, string>>;
}

/** A row that is bound to its subject. */
export interface ReadingRow {
  readonly check: string | undefined;
  readonly checks: (readings: Readings) => readonly HealthCheck[];
  readonly families: (readings: Readings) => readonly ExposedFamily[];
}

/** Makes rows about one subject. */
export function rowsOf<T>(subject: Subject<T>): (row: Row<T>) => ReadingRow {
  return (row) => ({
    check: row.check,
    checks: (readings) => subject.of(readings).map((thing) => checkOf(row, subject, thing, readings)),
    families: (readings) => familiesOf(row.metrics ?? {}, subject.of(readings), subject.labels),
  });
}

/** The component types of checks, by the part of their names before the colon. */
const COMPONENT_TYPES: Readonly<Record<string, HealthCheck['componentType']>> = {
  ledger: 'datastore',
  clock: 'system',
  workers: 'system',
  disk: 'system',
  eventloop: 'system',
};

function checkOf<T>(row: Row<T>, { name }: Subject<T>, thing: T, readings: Readings): HealthCheck {
  const { check = '', value, unit, failWhen, warnWhen, advice, details, metrics = {} } = row;
  const status = failWhen?.(thing, readings) ? 'fail' : warnWhen?.(thing, readings) ? 'warn' : 'pass';
  const output = typeof advice === 'function' ? advice(thing) : advice;
  const figures = Object.entries(metrics).map(([metric, [, of]]) => [metric, shown(figuresOf(of, thing))]);
  return {
    componentType: COMPONENT_TYPES[check.split(':')[0]] ?? 'component',
    status,
    observedValue: value?.(thing) ?? null,
    ...(unit === undefined ? {} : { observedUnit: typeof unit === 'string' ? unit : unit(thing) }),
    ...(status === 'pass' || !output ? {} : { output }),
    details: {
      ...(name && { name: name(thing) }),
      ...details?.(thing, readings),
      ...Object.fromEntries(figures),
    },
  };
}

function shown(value: Figures): unknown {
  return typeof value === 'number' ? rounded(value) : (value ?? null);
}

/** Rounds to three decimals, as reports show figures. */
export function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1000) / 1000;
}

/** Returns the families of these metrics, with the samples of each thing. */
export function familiesOf<T>(
  metrics: Metrics<T>,
  things: readonly T[],
  labels?: (thing: T) => Readonly<Record<string, string>>,
): ExposedFamily[] {
  if (things.length === 0) return [];
  return Object.entries(metrics).map(([name, [help, value, by]]) => ({
    name,
    type: name.endsWith('_total') ? 'counter' : 'gauge',
    help,
    samples: things.flatMap((thing) => {
      const figures = figuresOf(value, thing);
      const named = typeof figures === 'object' && figures !== null ? figures : { '': figures };
      return Object.entries(named).flatMap(([each, figure]) => {
        const its = { ...labels?.(thing), ...(by === undefined ? {} : { [by]: each }) };
        return figure === null || figure === undefined ? [] : [{ labels: its, value: Number(figure) }];
      });
    }),
  }));
}
