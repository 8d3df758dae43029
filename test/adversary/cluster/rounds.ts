import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../support/server.ts';
import { Cluster, type ClusterOptions } from './cluster.ts';
import { type Arena, type FaultName, happen } from './faults.ts';
import { type ClusterNode, PATIENCE_MS, untilReady } from './node.ts';

export interface SeriesOptions extends ClusterOptions {
  readonly faults: readonly FaultName[];
  /** Count of clients of each account. */
  readonly clients: number;
  /** Pause between two faults. */
  readonly pauseMs: number;
  readonly report?: (line: string) => void;
  /** Returns false to end the series before its next fault; then it is audited. */
  readonly mayGoOn?: () => boolean;
}

export interface SeriesOutcome {
  readonly violations: readonly string[];
  /** Count of faults that took place. */
  readonly faults: number;
  readonly acknowledged: number;
  /** Output of the nodes, if a promise was broken. */
  readonly output: string;
}

/**
 * Runs one cluster under load with one fault after the other, and audits it at the end. A node that ended is started
 * again after each fault. The first node is killed last and not restarted: the audit finds what it left behind.
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
      load.violate(...nodes.flatMap(heldBack));
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

/**
 * Returns nodes that were held back: no fault here rolls the database back, so no node may meet an older or another
 * log than it has signed.
 */
function heldBack({ name, output }: ClusterNode): string[] {
  const line = /^.*is not in the state that this node signed last.*$/m.exec(output);
  return line === null ? [] : [`${name} holds back: ${line[0]}`];
}

/** Waits for an answer before each fault: a fault without requests shows nothing. */
async function answered({ load }: Cluster): Promise<void> {
  const before = load.acknowledged;
  await until('a new answer', () => load.acknowledged > before, PATIENCE_MS).catch(() =>
    load.violate(`no new answer within ${PATIENCE_MS} ms, although a node was ready`),
  );
}

/**
 * Waits until at least one node serves after each fault, or the next fault would show nothing. Nothing continues in
 * the background.
 */
async function oneReady({ nodes, load }: Cluster, after: FaultName): Promise<void> {
  const isReady = () => nodes.some(({ port }) => port !== undefined);
  await untilReady('a node is ready', nodes, isReady).catch(({ message }: Error) =>
    load.violate(`no node was ready after ${after}: ${message}`),
  );
}

/** Waits for all nodes; a node that does not come back gives its reason in its last line. */
async function allReady({ nodes, load }: Cluster): Promise<void> {
  for (const node of nodes)
    await node.ready().catch(() => {
      load.violate(
        `${node.name} is not ready after the last fault: ${node.output.trimEnd().split('\n').at(-1)}`,
      );
    });
}
