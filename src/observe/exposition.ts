import { COUNTED, labelsOf, type MetricFamily, type MetricTotals } from '../core/metrics.ts';

/** One line of the text. */
interface Sample {
  /** Follows the family's name: `_bucket`, `_sum` or `_count` in a histogram, otherwise nothing. */
  readonly suffix?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ExposedFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** Returns the families in the Prometheus text format, version 0.0.4. */
export function exposition(families: readonly ExposedFamily[]): string {
  return families.map(familyText).join('');
}

function familyText({ name, type, help, samples }: ExposedFamily): string {
  const lines = samples.map(
    ({ suffix = '', labels, value }) => `${name}${suffix}${labelText(labels)} ${valueText(value)}\n`,
  );
  const helpText = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${helpText}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function labelText(labels: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => {
    return `${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
  });
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function valueText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}

/** Returns the families that the fronts count. */
export function countedFamilies(totals: MetricTotals): ExposedFamily[] {
  return Object.values(COUNTED).map((family) => ({
    name: family.name,
    type: family.kind,
    help: family.help,
    samples: Array.from({ length: family.rows }, (_, row) => samplesOf(family, row, totals)).flat(),
  }));
}

function samplesOf(family: MetricFamily, row: number, totals: MetricTotals): Sample[] {
  const labels = labelsOf(family, row);
  if (family.kind !== 'histogram') {
    const value = totals.value(family, row);
    // Most combinations of two labels never occur, so they are shown only when they have.
    const unseen = value === 0 && Object.keys(labels).length > 1;
    return unseen ? [] : [{ labels, value }];
  }
  let count = 0;
  const buckets = Array.from(totals.buckets(family, row), (inBucket, i): Sample => {
    count += inBucket;
    const bound = i < family.bounds.length ? String(family.bounds[i]) : '+Inf';
    return { suffix: '_bucket', labels: { ...labels, le: bound }, value: count };
  });
  const sum = { suffix: '_sum', labels, value: totals.sum(family, row) };
  return [...buckets, sum, { suffix: '_count', labels, value: count }];
}
