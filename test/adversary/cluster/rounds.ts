import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../support/server.ts';
import { Cluster, type ClusterOptions } from './cluster.ts';
import { type Arena, type FaultName, happen } from './faults.ts';
import { type ClusterNode, PATIENCE_MS, untilReady } from './node.ts';

export interface SeriesOptions extends ClusterOptions {
  readonly faults: readonly FaultName[];
  /** Of each account. */
  readonly clients: number;
  /** Between two faults. */
  readonly pauseMs: number;
  readonly report?: (line: string) => void;
  /** False ends the series before its next fault; it is audited then. */
  readonly mayGoOn?: () => boolean;
}

export interface SeriesOutcome {
  readonly violations: readonly string[];
  /** That took place. */
  readonly faults: number;
  readonly acknowledged: number;
  /** Of the nodes, when something was broken. */
  readonly output: string;
}

/**
 * One cluster under load, one fault after the other, and an audit in the end. A node that ended is started again after each
 * fault. The first node is killed last and does not come back: the audit finds what it left behind.
 */
export async function series(options: SeriesOptions): Promise<SeriesOutcome> {
  const { pair, clients, pauseMs, report = () => {}, mayGoOn = () => true } = options;
  let faults = 0;
  const cluster = await Cluster.start(options);
  const { load, nodes } = cluster;
  try {
    const arena: Arena = { cluster, pair };
    load.start(clients);
    for (const name of options.faults) {
      if (!mayGoOn() || load.violations.length > 0) break;
      await answered(cluster);
      const begunMs = performance.now();
      const before = load.acknowledged;
      await happen(name, arena);
      faults++;
      for (const node of nodes) if (!node.isRunning) node.launch();
      await oneReady(cluster, name);
      await sleep(pauseMs);
      const met = load.acknowledged - before;
      load.violate(...(await cluster.lostCount(before)), ...nodes.flatMap(heldBack));
      const seconds = ((performance.now() - begunMs) / 1_000).toFixed(1);
      const told = `${met} of ${load.acknowledged} answers, ${load.violations.length} violations`;
      report(`${faults} of ${options.faults.length}: ${name}, ${seconds} s; ${told}`);
    }
    if (load.violations.length === 0) await allReady(cluster);
    await nodes[0].kill();
    await cluster.fence(nodes[0].name);
    await load.stop();
    await load.settle();
    const violations = await cluster.audit();
    const output = nodes.map((node) => `${node.name}:\n${node.output}`).join('\n');
    return { violations, faults, acknowledged: load.acknowledged, output };
  } catch (error) {
    for (const { name, output } of nodes) report(`${name}:\n${output.slice(-3_000)}`);
    throw error;
  } finally {
    await cluster.stop();
  }
}

/** No fault here sets the database back, so no node may meet an earlier log than one that it has signed for or another one. */
function heldBack({ name, output }: ClusterNode): string[] {
  const line = /^.*is not the one that this node signed for last.*$/m.exec(output);
  return line === null ? [] : [`${name} holds back: ${line[0]}`];
}

/** Before each fault the service answers: one that meets no request shows nothing. */
async function answered({ load }: Cluster): Promise<void> {
  const before = load.acknowledged;
  await until('a new answer', () => load.acknowledged > before, PATIENCE_MS).catch(() =>
    load.violate(`no new answer within ${PATIENCE_MS} ms, although a node was ready`),
  );
}

/** After each fault one node serves at least: else the next one would show nothing. Nothing goes on in the background afterwards. */
async function oneReady({ nodes, load }: Cluster, after: FaultName): Promise<void> {
  const isReady = () => nodes.some(({ port }) => port !== undefined);
  await untilReady('a node is ready', nodes, isReady).catch(({ message }: Error) =>
    load.violate(`no node was ready after ${after}: ${message}`),
  );
}

/** A node that does not come back holds back for a reason, which stands in its last line. */
async function allReady({ nodes, load }: Cluster): Promise<void> {
  for (const node of nodes)
    await node.ready().catch(() => {
      load.violate(
        `${node.name} is not ready after the last fault: ${node.output.trimEnd().split('\n').at(-1)}`,
      );
    });
}
