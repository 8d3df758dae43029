import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditOutcome } from './auditor.ts';
import { Cluster, type ClusterOptions } from './cluster.ts';
import { type Arena, FAULTS, type FaultName } from './faults.ts';
import type { PostgresPair } from './postgres-pair.ts';

export interface SeriesOptions extends ClusterOptions {
  /** The primary and its standby; undefined when there is one server, which stays alive. */
  readonly pair?: PostgresPair;
  readonly faults: readonly FaultName[];
  readonly clients: number;
  /** Between two faults. */
  readonly pauseMs: number;
  readonly report?: (line: string) => void;
}

export interface SeriesOutcome extends AuditOutcome {
  readonly acknowledged: number;
  readonly outcomes: ReadonlyMap<string, number>;
  /** Times that nodes were started. */
  readonly starts: number;
  /** Of each failover: from the end of the promotion to the first answer. */
  readonly answeredAfterMs: readonly number[];
  /** Of the nodes, when something was broken. */
  readonly output: string;
}

const SETTLED_WITHIN_MS = 60_000;

/**
 * One cluster under load, one fault after the other, and an audit in the end. A node that ended is started again after each
 * fault. The first node is killed last and does not come back: the audit finds what it left behind.
 */
export async function series(options: SeriesOptions): Promise<SeriesOutcome> {
  const { pair, faults, clients, pauseMs, report = () => {} } = options;
  const cluster = await Cluster.start(options);
  const { load, nodes } = cluster;
  try {
    const arena: Arena = { cluster, pair, answeredAfterMs: [] };
    load.start(clients);
    await sleep(pauseMs);
    for (const [round, name] of faults.entries()) {
      await FAULTS[name].fault(arena);
      for (const node of nodes) if (!node.isRunning) node.launch();
      await oneReady(cluster);
      await sleep(pauseMs);
      const told = `${load.acknowledged.length} answers, ${load.violations.length} violations`;
      report(`round ${round + 1} of ${faults.length}: ${name}; ${told}`);
    }
    await Promise.all(nodes.map((node) => node.ready()));
    await nodes[0].kill();
    await cluster.fence(nodes[0].name);
    await load.stop();
    await load.settle(SETTLED_WITHIN_MS);
    const audited = await cluster.audit();
    return {
      ...audited,
      acknowledged: load.acknowledged.length,
      outcomes: load.outcomes,
      starts: nodes.reduce((sum, { starts }) => sum + starts, 0),
      answeredAfterMs: arena.answeredAfterMs,
      output: nodes.map(({ name, output }) => `${name}:\n${output}`).join('\n'),
    };
  } catch (error) {
    for (const { name, output } of nodes) report(`${name}:\n${output.slice(-3_000)}`);
    throw error;
  } finally {
    await cluster.stop();
  }
}

/** A round without a node that serves shows nothing. */
async function oneReady({ nodes }: Cluster): Promise<void> {
  if (nodes.some(({ port }) => port !== undefined)) return;
  await Promise.any(nodes.filter(({ isRunning }) => isRunning).map((node) => node.ready()));
}
