import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../support/server.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterNode } from './node.ts';
import type { PostgresPair } from './postgres-pair.ts';

/** Where faults happen. */
export interface Arena {
  readonly cluster: Cluster;
  readonly pair: PostgresPair;
  /** Times from the end of a promotion to the first answer, in ms. */
  readonly answeredAfterMs: number[];
}

type Fault = (arena: Arena) => Promise<void>;

const ENDS_WITHIN_MS = 60_000;
const ANSWERS_WITHIN_MS = 60_000;
const FOLLOWS_WITHIN_MS = 30_000;

const someMs = ({ cluster }: Arena, least: number, most: number) =>
  sleep(cluster.chance.between(least, most));

function someNode({ cluster: { nodes, chance } }: Arena): ClusterNode {
  const running = nodes.filter(({ port }) => port !== undefined);
  return chance.pick(running.length > 0 ? running : nodes);
}

const follows = (pair: PostgresPair) =>
  until('the standby follows', () => pair.standbyFollows(), FOLLOWS_WITHIN_MS);

/** The primary dies while its standby is cut off, and the standby takes over with what it has. */
async function takeOver(arena: Arena): Promise<void> {
  const { pair } = arena;
  pair.killPrimary();
  pair.link.healWithLoss();
  await pair.promote();
  arena.cluster.follow();
  await answersAgain(arena);
  await pair.addStandby();
}

/** kill -9 of a node, which is started again. */
const killNode: Fault = async (arena) => {
  const node = someNode(arena);
  await someMs(arena, 0, 300);
  await node.kill();
  node.launch();
};

/** kill -9 of a node while it starts, on what an earlier kill had left. */
const killStart: Fault = async (arena) => {
  const node = someNode(arena);
  await node.kill();
  node.launch();
  await someMs(arena, 200, 3_000);
  await node.kill();
  node.launch();
};

const killAllNodes: Fault = async ({ cluster }) => {
  await Promise.all(cluster.nodes.map((node) => node.kill()));
  for (const node of cluster.nodes) node.launch();
};

/** The machine of the primary restarts; no standby takes over. */
const killPrimary: Fault = async (arena) => {
  const { pair } = arena;
  await someMs(arena, 0, 300);
  pair.killPrimary();
  await someMs(arena, 0, 1_500);
  await pair.restartPrimary();
  await follows(pair);
  await answersAgain(arena);
};

/** The primary dies for good, and its standby takes over. */
const failover: Fault = async (arena) => {
  const { pair } = arena;
  await follows(pair);
  await someMs(arena, 0, 300);
  pair.killPrimary();
  await pair.promote();
  arena.cluster.follow();
  const promotedAtMs = performance.now();
  await answersAgain(arena);
  const afterMs = arena.cluster.load.lastAnswerAtMs - promotedAtMs;
  if (afterMs > 0) arena.answeredAfterMs.push(afterMs); // there may be no node that could answer
  await pair.addStandby();
};

/** A failover in which the nodes die as well. */
const failoverWithKill: Fault = async (arena) => {
  await Promise.all([failover(arena), killNode(arena)]);
};

/** No packet passes between a node and PostgreSQL for a while. */
const cutNode: Fault = async (arena) => {
  const { links, chance } = arena.cluster;
  const link = chance.pick(links);
  link.cut();
  await someMs(arena, 100, 4_000);
  link.heal();
};

/** A node is cut off, fenced, and comes back with what it still wanted to send. It must end. */
const cutAndFence: Fault = async (arena) => {
  const { cluster } = arena;
  const node = someNode(arena);
  const link = cluster.links[cluster.nodes.indexOf(node)];
  await fencedWhile(arena, node, { away: () => link.cut(), back: () => link.heal() });
};

/** No packet passes between the primary and the standby: commits wait, and nothing is acknowledged that only one has. */
const cutStandby: Fault = async (arena) => {
  const { pair } = arena;
  pair.link.cut();
  await someMs(arena, 200, 2_500);
  pair.link.heal();
  await follows(pair);
};

/** The standby is cut off, and then the primary dies: what was acknowledged must be on the standby. */
const cutStandbyThenFailover: Fault = async (arena) => {
  const { pair } = arena;
  await follows(pair);
  pair.link.cut();
  await someMs(arena, 500, 1_500);
  await takeOver(arena);
};

/**
 * The standby is cut off, and the primary restarts without it: after its recovery it shows commits that waited for the standby
 * and that no client was told of. Nodes must not show them either, for the standby takes over then.
 */
const restartAloneThenFailover: Fault = async (arena) => {
  const { pair } = arena;
  await follows(pair);
  pair.link.cut();
  await someMs(arena, 300, 1_000);
  pair.killPrimary();
  await pair.restartPrimary();
  await someMs(arena, 500, 2_000);
  await takeOver(arena);
};

/** The standby is cut off, and an administrator cancels the commits that wait for it, so that they can be read. */
async function cancelCommits(pair: PostgresPair): Promise<void> {
  await follows(pair);
  pair.link.cut();
  for (let times = 0; times < 5; times++) {
    await sleep(150);
    await pair.cancelWaiting();
  }
}

const cancelThenFailover: Fault = async (arena) => {
  const { pair } = arena;
  await cancelCommits(pair);
  await takeOver(arena);
};

/** As before, and no node is left that would send the cancelled commits again. */
const cancelThenKillThenFailover: Fault = async (arena) => {
  const { pair } = arena;
  const { nodes } = arena.cluster;
  await cancelCommits(pair);
  await Promise.all(nodes.map((node) => node.kill()));
  await takeOver(arena);
};

/** A node stands still, is taken for dead and fenced, and goes on. It must end. */
const pauseAndFence: Fault = async (arena) => {
  const node = someNode(arena);
  await fencedWhile(arena, node, { away: () => node.pause(), back: () => node.resume() });
};

/** A node stands still for longer than its leases last, and goes on. */
const pause: Fault = async (arena) => {
  const node = someNode(arena);
  node.pause();
  await someMs(arena, 100, 4_000);
  node.resume();
};

/** Every fault by its name, in groups. */
export const FAULTS = {
  'kill a node': { fault: killNode, group: 'kills' },
  'kill a node as it starts': { fault: killStart, group: 'kills' },
  'kill all nodes': { fault: killAllNodes, group: 'kills' },
  'kill the primary, which restarts': { fault: killPrimary, group: 'kills' },
  failover: { fault: failover, group: 'failovers' },
  'failover and the kill of a node': { fault: failoverWithKill, group: 'failovers' },
  'failover of a standby that was cut off': { fault: cutStandbyThenFailover, group: 'failovers' },
  'failover after cancelled commits': { fault: cancelThenFailover, group: 'failovers' },
  'failover after cancelled commits and the kill of all nodes': {
    fault: cancelThenKillThenFailover,
    group: 'failovers',
  },
  'failover after a restart without the standby': { fault: restartAloneThenFailover, group: 'failovers' },
  'partition of a node': { fault: cutNode, group: 'partitions' },
  'partition of a node that is fenced': { fault: cutAndFence, group: 'partitions' },
  'partition of the standby': { fault: cutStandby, group: 'partitions' },
  'pause of a node': { fault: pause, group: 'pauses' },
  'pause of a node that is fenced': { fault: pauseAndFence, group: 'pauses' },
} as const satisfies Record<string, { fault: Fault; group: string }>;

export type FaultName = keyof typeof FAULTS;

export const GROUPS = ['kills', 'failovers', 'partitions', 'pauses'] as const;

export function faultsOf(group: (typeof GROUPS)[number]): FaultName[] {
  return (Object.keys(FAULTS) as FaultName[]).filter((name) => FAULTS[name].group === group);
}

async function fencedWhile(
  arena: Arena,
  node: ClusterNode,
  { away, back }: { away: () => void; back: () => void },
): Promise<void> {
  const { cluster } = arena;
  await someMs(arena, 0, 300);
  away();
  await someMs(arena, 0, 300);
  const epochs = node.starts;
  await cluster.fence(node.name);
  const before = await cluster.segmentsOf(node.name);
  await someMs(arena, 0, 300);
  back();
  await until(`${node.name} ends`, () => !node.isRunning || node.starts > epochs, ENDS_WITHIN_MS).catch(() =>
    cluster.load.violate(`${node.name} runs on after it was fenced`),
  );
  const after = await cluster.segmentsOf(node.name);
  if (after > before) cluster.load.violate(`${node.name} committed after it was fenced`);
  await node.kill();
  node.launch();
}

async function answersAgain({ cluster }: Arena): Promise<void> {
  const sinceMs = performance.now();
  if (cluster.nodes.every(({ port }) => port === undefined)) return;
  await until('answers come again', () => cluster.load.lastAnswerAtMs > sinceMs, ANSWERS_WITHIN_MS);
}
