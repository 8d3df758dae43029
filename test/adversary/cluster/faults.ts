import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresPair } from '../../support/postgres-pair.ts';
import { until } from '../../support/server.ts';
import type { Cluster } from './cluster.ts';
import { type ClusterNode, PATIENCE_MS } from './node.ts';

/** The cluster in which faults happen. */
export interface Arena {
  readonly cluster: Cluster;
  readonly pair: PostgresPair;
}

/** A step of a fault. All steps of a fault apply to one node. */
type Step = (arena: Arena, node: ClusterNode) => unknown;

const after =
  (leastMs: number, mostMs: number): Step =>
  ({ cluster }) =>
    sleep(cluster.chance.between(leastMs, mostMs));

const kill: Step = (_arena, node) => node.kill();
const launch: Step = (_arena, node) => node.launch();
const killAll: Step = ({ cluster }) => Promise.all(cluster.nodes.map((node) => node.kill()));
const launchAll: Step = ({ cluster }) => cluster.nodes.map((node) => node.launch());
const pause: Step = (_arena, node) => node.pause();
const resume: Step = (_arena, node) => node.resume();
/** Lets no packet pass between the node and PostgreSQL. */
const cutOff: Step = ({ cluster }, node) => cluster.links[cluster.nodes.indexOf(node)].cut();
const joinAgain: Step = ({ cluster }, node) => cluster.links[cluster.nodes.indexOf(node)].heal();

const killPrimary: Step = ({ pair }) => pair.killPrimary();
const restartPrimary: Step = ({ pair }) => pair.restartPrimary();
/**
 * Lets no packet pass between the primary and the standby: commits wait, and nothing is acknowledged that only one of
 * them has.
 */
const cutStandby: Step = ({ pair }) => pair.link.cut();
const healStandby: Step = ({ pair }) => pair.link.heal();
const standbyFollows: Step = ({ pair }) =>
  until('the standby follows', () => pair.standbyFollows(), PATIENCE_MS);

/** Cancels, as an administrator may, the commits that wait for the standby, so that they can be read. */
const cancelCommits: Step = async ({ pair }) => {
  for (let times = 0; times < 5; times++) {
    await sleep(150);
    await pair.cancelWaiting();
  }
};

const answersAgain: Step = async ({ cluster }) => {
  const sinceMs = performance.now();
  if (cluster.nodes.every(({ port }) => port === undefined)) return;
  await until('answers come again', () => cluster.load.lastAnswerAtMs > sinceMs, PATIENCE_MS);
};

/** Ends the primary for good, and its standby takes over with what it has; data on the way to it are lost. */
const failOver: Step = async (arena, node) => {
  const { cluster, pair } = arena;
  const wasCut = pair.link.isCut;
  pair.killPrimary();
  if (wasCut) pair.link.healWithLoss();
  await pair.promote();
  cluster.follow();
  await answersAgain(arena, node);
  await pair.addStandby();
};

/** Fences the node as if it were dead. It comes back with unsent statements, and must end. */
const fencedUntil =
  (back: Step): Step =>
  async (arena, node) => {
    const { cluster } = arena;
    const { starts } = node;
    await cluster.fence(node.name);
    const before = await cluster.segmentsOf(node.name);
    await after(0, 300)(arena, node);
    await back(arena, node);
    const committed = async () => (await cluster.segmentsOf(node.name)) > before;
    const ends = async () => !node.isRunning || node.starts > starts || (await committed());
    await until(`${node.name} ends`, ends, PATIENCE_MS).catch(() =>
      cluster.load.violate(`${node.name} runs on after it was fenced`),
    );
    if (await committed()) cluster.load.violate(`${node.name} committed after it was fenced`);
    await node.kill();
    node.launch();
  };

const soon = after(0, 300);
const cut = [standbyFollows, cutStandby];

/** Every fault by its name, in groups. */
const FAULTS = {
  'kill a node': { group: 'kills', steps: [soon, kill, launch] },
  /** Kills on top of what an earlier kill had left. */
  'kill a node as it starts': { group: 'kills', steps: [kill, launch, after(200, 3_000), kill, launch] },
  'kill all nodes': { group: 'kills', steps: [killAll, launchAll] },
  /** Restarts the machine of the primary; no standby takes over. */
  'kill the primary, which restarts': {
    group: 'kills',
    steps: [soon, killPrimary, after(0, 1_500), restartPrimary, standbyFollows, answersAgain],
  },
  failover: { group: 'failovers', steps: [standbyFollows, soon, failOver] },
  'failover and the kill of a node': {
    group: 'failovers',
    steps: [standbyFollows, soon, (arena, node) => Promise.all([failOver(arena, node), node.kill()]), launch],
  },
  /** Everything that was acknowledged must be on the standby. */
  'failover of a standby that was cut off': {
    group: 'failovers',
    steps: [...cut, after(500, 1_500), failOver],
  },
  'failover after cancelled commits': { group: 'failovers', steps: [...cut, cancelCommits, failOver] },
  /** No node is left that would send the cancelled commits again. */
  'failover after cancelled commits and the kill of all nodes': {
    group: 'failovers',
    steps: [...cut, cancelCommits, killAll, failOver],
  },
  /**
   * After its recovery the primary shows commits that waited for the standby and that no client was told of. Nodes
   * must not show them either, because the standby takes over then.
   */
  'failover after a restart without the standby': {
    group: 'failovers',
    steps: [...cut, after(300, 1_000), killPrimary, restartPrimary, after(500, 2_000), failOver],
  },
  'partition of a node': { group: 'partitions', steps: [cutOff, after(100, 4_000), joinAgain] },
  'partition of a node that is fenced': {
    group: 'partitions',
    steps: [soon, cutOff, soon, fencedUntil(joinAgain)],
  },
  'partition of the standby': {
    group: 'partitions',
    steps: [cutStandby, after(200, 2_500), healStandby, standbyFollows],
  },
  /** Longer than its leases last. */
  'pause of a node': { group: 'pauses', steps: [pause, after(100, 4_000), resume] },
  'pause of a node that is fenced': { group: 'pauses', steps: [soon, pause, soon, fencedUntil(resume)] },
} as const satisfies Record<string, { group: string; steps: readonly Step[] }>;

export type FaultName = keyof typeof FAULTS;

export const GROUPS = ['kills', 'failovers', 'partitions', 'pauses'] as const;

export function faultsOf(group: (typeof GROUPS)[number]): FaultName[] {
  return (Object.keys(FAULTS) as FaultName[]).filter((name) => FAULTS[name].group === group);
}

/** Applies the steps of the fault to one of the running nodes. */
export async function happen(name: FaultName, arena: Arena): Promise<void> {
  const { nodes, chance } = arena.cluster;
  const running = nodes.filter(({ port }) => port !== undefined);
  const node = chance.pick(running.length > 0 ? running : nodes);
  const steps: readonly Step[] = FAULTS[name].steps;
  for (const step of steps) await step(arena, node);
}
