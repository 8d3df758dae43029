import type { HealthCheck } from '../http/plain-routes.ts';
import type { ExposedFamily } from './exposition.ts';
import type { Readings } from './readings.ts';

/** A value of a metric; null and undefined are left out. */
type Figure = number | boolean | null | undefined;
type Figures = Figure | Readonly<Record<string, Figure>>;

/**
 * Families of /metrics by name: what each tells, its value, and, where it has several, the label whose values are their names.
 * The value may be the name of a member, in seconds if that is in Ms. A family whose name ends in _total is a counter, any
 * other one a gauge.
 */
export type Metrics<T> = Readonly<
  Record<string, readonly [help: string, value: ((thing: T) => Figures) | FigureOf<T>, by?: string]>
>;

/** The members that a metric can show. */
type FigureOf<T> = { [K in keyof T]: T[K] extends Figures ? K : never }[keyof T] & string;

function figuresOf<T>(value: Metrics<T>[string][1], thing: T): Figures {
  if (typeof value === 'function') return value(thing);
  const member = thing[value] as Figures;
  return typeof member === 'number' && value.endsWith('Ms') ? member / 1_000 : member;
}

/** One thing that can be read off a running service: a check of /v1/health, the metrics that belong to it, or both. */
interface Row<T> {
  /** As `/v1/health` names it, e.g. `disk:free`. */
  readonly check?: string;
  /** What the check observes, in `unit`. */
  readonly value?: (thing: T) => HealthCheck['observedValue'];
  readonly unit?: string | ((thing: T) => string);
  readonly failWhen?: (thing: T, readings: Readings) => boolean;
  readonly warnWhen?: (thing: T, readings: Readings) => boolean;
  /** What an operator needs to know when it does not pass. */
  readonly advice?: string | ((thing: T) => string | undefined);
  /** What no metric says. The metrics stand in `details` of the check under their own names. */
  readonly details?: (thing: T, readings: Readings) => object;
  readonly metrics?: Metrics<T>;
}

/** What a row is about: the service, each of its sources, of its witnesses, or of its seeds. */
interface Subject<T> {
  readonly of: (readings: Readings) => readonly T[];
  /** Where there may be several: `details.name` of a check, and the labels of a metric. */
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

/** By what stands before the colon of a check. */
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

/** To three decimals, as reports print figures. */
export function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1000) / 1000;
}

/** The families of some metrics, with the samples of each thing. */
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
