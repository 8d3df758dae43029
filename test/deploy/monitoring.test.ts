import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createMetricMemory, MetricTotals } from '../../src/core/metrics.ts';
import { countedFamilies } from '../../src/observe/exposition.ts';
import { readingFamilies } from '../../src/observe/table.ts';
import { PAID_SOURCE, SOUND, SOURCE } from '../observe/readings.ts';
import { missing } from '../support/programs.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const skip = missing('promtool', 'prometheus');

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const dashboard = JSON.parse(read('deploy/grafana/dashboards/qrn.json')) as { panels: readonly Panel[] };
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr })),
);
const alerts = read('deploy/prometheus/alerts.yml');
const alarms = [...alerts.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name);

/** Every series that /metrics can have, with the labels of its family. */
const labelsBySeries = new Map<string, Set<string>>();
const families = [
  ...countedFamilies(new MetricTotals(createMetricMemory(1))),
  ...readingFamilies({ ...SOUND, sources: [SOURCE, PAID_SOURCE] }),
];
for (const { name, type, samples } of families) {
  const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
  const labels = samples.flatMap((sample) => Object.keys(sample.labels ?? {}));
  for (const suffix of suffixes) labelsBySeries.set(name + suffix, new Set(labels));
}
// told from the first occurrence of their pairs of labels on
labelsBySeries.set('qrn_http_requests_total', new Set(['endpoint', 'code']));
labelsBySeries.set('qrn_answers_total', new Set(['endpoint', 'mode']));
/** Labels that Prometheus itself gives. */
const GIVEN = new Set(['instance', 'job']);

/** Fails for a series or a label in the expression that the service does not have. */
function assertKnown(expr: string, where: string): void {
  const series = [...expr.matchAll(/\b((?:qrn|process)_\w+)(?:\{([^}]*)\})?/g)];
  assert.ok(series.length > 0 || expr.startsWith('up{'), where);
  for (const [, name, matchers = ''] of series) {
    const known = labelsBySeries.get(name);
    assert.ok(known, `${where}: there is no ${name}`);
    for (const [, label] of matchers.matchAll(/(\w+)(?:=~?|!=|!~)"/g)) {
      assert.ok(known.has(label) || GIVEN.has(label), `${where}: ${name} has no label ${label}`);
    }
  }
  for (const [, list] of expr.matchAll(/\bby \(([^)]*)\)/g)) {
    for (const label of list.split(',').map((each) => each.trim())) {
      const known = series.some(([, name]) => labelsBySeries.get(name)?.has(label));
      assert.ok(known || GIVEN.has(label), `${where}: by ${label}`);
    }
  }
}

describe('the dashboard', () => {
  it('uses series and labels that exist', () => {
    assert.ok(queries.length > 30);
    for (const { title, expr } of queries) assertKnown(expr, title);
  });

  it('shows every metric family of the service', () => {
    const shown = queries.map(({ expr }) => expr).join(' ');
    for (const { name } of families) assert.ok(shown.includes(name), `${name} is in no panel`);
  });

  it('uses valid PromQL', { skip }, () => {
    const rules = queries.map(({ expr }, i) => {
      const query = expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*');
      return `      - record: panel:query:${i}\n        expr: ${JSON.stringify(query)}\n`;
    });
    const folder = scratchFolder();
    const path = join(folder, 'rules.yml');
    writeFileSync(path, `groups:\n  - name: dashboard\n    rules:\n${rules.join('')}`);
    const checked = spawnSync('promtool', ['check', 'rules', path], { encoding: 'utf8' });
    assert.equal(checked.status, 0, checked.stderr);
  });
});

describe('the alarms', () => {
  it('use series and labels that exist', () => {
    const exprs = [...alerts.matchAll(/^ +expr: (?:>-\n)?([\s\S]+?)\n +(?:for|labels):/gm)].map(
      ([, expr]) => expr,
    );
    assert.equal(exprs.length, alarms.length);
    exprs.forEach((expr, i) => {
      assertKnown(expr, alarms[i]);
    });
  });

  it('are each explained to the operator, and no other is', () => {
    const explained = [...read('docs/operations.md').matchAll(/^### (Qrn\w+)$/gm)].map(([, name]) => name);
    assert.deepEqual(explained.sort(), [...alarms].sort());
  });

  it('fire when they must, and only then', { skip }, () => {
    const tests = fileURLToPath(new URL('alerts.test.yml', import.meta.url));
    const ran = spawnSync('promtool', ['test', 'rules', tests], { encoding: 'utf8' });
    assert.equal(ran.status, 0, ran.stdout + ran.stderr);
  });

  it('pass promtool, like the configuration of Prometheus', { skip }, () => {
    for (const [kind, path] of [
      ['rules', 'deploy/prometheus/alerts.yml'],
      ['config', 'deploy/prometheus/prometheus.yml'],
    ]) {
      const checked = spawnSync('promtool', ['check', kind, join(root, path)], { encoding: 'utf8' });
      assert.equal(checked.status, 0, checked.stderr);
    }
  });
});
