import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { qrn } from '../../../src/cli/commands.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { askOnce, type HttpRequest } from '../../support/http.ts';
import type { PostgresPair } from '../../support/postgres-pair.ts';
import { runCommand } from '../../support/run-command.ts';
import { type Environment, until } from '../../support/server.ts';
import { Cluster, type ClusterOptions } from './cluster.ts';
import { type ClusterNode, PATIENCE_MS } from './node.ts';

const TOTALS = { requests: 100_000, credits: 1_000_000 };
const CLIENTS = 2;
const LOAD_MS = 3_000;
const HELD_MS = 6_000;
/** Time until a node reports a standby as away. */
const SAYS_STANDBY_WITHIN_MS = 6_000;
/** Longer than a connection waits for a reply, so that commits are sent again. */
const STANDBY_AWAY_MS = 30_000;
/**
 * Connections of one node that wait for the standby. A pool opens none while 8 of its name wait; its four may find 7 at once, and the
 * two locks that are held share the name of one of the two pools.
 */
const WAITING_MAX = 2 * (7 + 4) + 2;
/** The messages of a node whose commits wait, and of one whose connections all wait. */
const SAYS_STANDBY_IS_AWAY = /waited for a standby|if its standby is away/;
const RETRY_MS = 100;
/** Count of tries; a client waits for the second that Retry-After states. */
const FREED_WITHIN_TRIES = 10;
/** Count of idempotency keys that are repeated while a clock is off. */
const KEYS = 6;

export type Scenario = (pair: PostgresPair) => Promise<string[]>;

/** Runs two nodes with ample totals, which are stopped at the end. */
async function onCluster(
  pair: PostgresPair,
  options: Partial<ClusterOptions>,
  use: (cluster: Cluster) => Promise<string[]>,
): Promise<string[]> {
  const cluster = await Cluster.start({ nodes: 2, pair, totals: TOTALS, ...options });
  try {
    return await use(cluster);
  } finally {
    await cluster.stop();
  }
}

/** Returns settings of the second node alone, whose readiness is not awaited. */
function otherNode(environment: Environment): Partial<ClusterOptions> {
  return {
    ownEnvironment: (number) => (number === 2 ? environment : {}),
    isAwaited: (number) => number === 1,
  };
}

/**
 * The database is rolled back to an earlier state while the nodes are down. They must notice and be held back, because
 * they would issue certificate ids a second time and sign another history. After `qrn cluster restored` they must
 * serve again, under new ids.
 */
const olderDatabase: Scenario = (pair) =>
  onCluster(pair, {}, async (cluster) => {
    const { nodes, load } = cluster;
    const violations: string[] = [];
    await answersFor(cluster, LOAD_MS);
    await stopAll(nodes);
    pair.killPrimary();
    pair.copyPrimary('copy');
    await pair.restartPrimary();
    await startAll(nodes);
    await answersFor(cluster, LOAD_MS);
    await stopAll(nodes);
    const before = new Set(load.certificateIds());
    pair.killPrimary();
    await pair.restoreCopy('copy');
    for (const node of nodes) node.launch();
    load.start(CLIENTS);
    await sleep(HELD_MS);
    await load.stop();
    if (load.acknowledged > before.size)
      violations.push(`${load.acknowledged - before.size} answers were given on an older database`);
    for (const node of nodes) {
      const saysSo = () => !node.isRunning || /it is an earlier state/.test(node.output);
      await until('the node says so', saysSo, PATIENCE_MS).catch(() =>
        violations.push(`${node.name} does not say that the database is older: ${node.output.slice(-500)}`),
      );
    }
    await stopAll(nodes);
    const newest = nodes[0];
    const { status, talk } = await runCommand(
      qrn,
      ['cluster', 'restored', '--yes'],
      newest.environment as Record<string, string>,
      systemClock,
    );
    if (status !== 0) return [...violations, `qrn cluster restored ended with ${status}: ${talk}`];
    for (const node of nodes.slice(1)) node.copySecrets(newest);
    await startAll(nodes);
    await answersFor(cluster, LOAD_MS);
    const again = load.acknowledged - new Set(load.certificateIds()).size;
    if (again > 0) violations.push(`${again} certificate ids were given out twice`);
    if (load.acknowledged === before.size) violations.push('nothing was answered after the restore');
    return violations;
  });

/**
 * No packet passes between the primary and its standby for longer than a connection waits for a reply. Every request
 * that draws must be refused with 503 within seconds, each node must give the reason, the statements that wait in
 * PostgreSQL must stay bounded, and answers must resume.
 */
const standbyAway: Scenario = (pair) =>
  onCluster(pair, {}, async (cluster) => {
    const { nodes, load } = cluster;
    const violations: string[] = [];
    load.start(CLIENTS);
    await sleep(LOAD_MS);
    pair.link.cut();
    await sleep(SAYS_STANDBY_WITHIN_MS);
    const answeredBefore = load.acknowledged;
    const refusedBefore = load.refusals.get('storage_unavailable') ?? 0;
    let waitingMost = 0;
    for (let waitedMs = 0; waitedMs < STANDBY_AWAY_MS; waitedMs += HELD_MS) {
      await sleep(HELD_MS);
      const [{ count }] = await pair.query<{ count: string }>(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = 'qrn' AND wait_event = 'SyncRep'",
      );
      waitingMost = Math.max(waitingMost, Number(count));
      for (const node of nodes) {
        const status = await readiness(node);
        if (status !== 503) violations.push(`${node.name} has readiness ${status} without the standby`);
      }
    }
    for (const { name, output } of nodes)
      if (!SAYS_STANDBY_IS_AWAY.test(output))
        violations.push(`${name} does not say that the standby is away: ${output.slice(-500)}`);
    const answered = load.acknowledged - answeredBefore;
    if (answered > 0) violations.push(`${answered} answers were acknowledged without the standby`);
    const refused = (load.refusals.get('storage_unavailable') ?? 0) - refusedBefore;
    if (refused === 0) violations.push('no request was refused with 503 storage_unavailable');
    if (waitingMost > WAITING_MAX * nodes.length)
      violations.push(`${waitingMost} connections wait for a standby`);
    pair.link.heal();
    await until('the standby follows', () => pair.standbyFollows(), PATIENCE_MS);
    const healedAtMs = performance.now();
    await until('answers come again', () => load.lastAnswerAtMs > healedAtMs, PATIENCE_MS);
    await load.stop();
    await load.settle();
    return [...violations, ...(await cluster.audit())];
  });

/**
 * Returns the library that gives one process another clock (Debian's package libfaketime); undefined where it is
 * missing.
 */
function clockLibrary(): string | undefined {
  return readdirSync('/usr/lib')
    .map((name) => join('/usr/lib', name, 'faketime', 'libfaketime.so.1'))
    .find((path) => existsSync(path));
}

/**
 * The clock of one node is off by `offset`, e.g. `+1d`: it must be not ready and say so, and the books must stay
 * exact.
 */
function clockOff(pair: PostgresPair, library: string, offset: string): Promise<string[]> {
  const environment = { LD_PRELOAD: library, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
  return onCluster(pair, otherNode(environment), async (cluster) => {
    const violations: string[] = [];
    const [, wrong] = cluster.nodes;
    const saysSo = () => /clock of this node differs/.test(wrong.output);
    await until('the node says so', saysSo, PATIENCE_MS).catch(() =>
      violations.push(`a node whose clock is off does not say so: ${wrong.output.slice(-500)}`),
    );
    const status = await readiness(wrong);
    if (status === 200) violations.push('a node whose clock is off is ready');
    await answersFor(cluster, LOAD_MS);
    violations.push(...(await repeatedKeys(cluster)));
    return [...violations, ...(await cluster.audit())];
  });
}

/** Repeats keys on both nodes in turn: the node whose clock is off may refuse them, and must not make new answers. */
async function repeatedKeys({ nodes, accounts, load }: Cluster): Promise<string[]> {
  const [right, wrong] = nodes;
  const violations: string[] = [];
  const plain = load.clients.find(({ account }) => account === accounts.plain)!;
  for (let i = 0; i < KEYS; i++) {
    plain.clients.unknown++; // it is charged at most once
    const idempotencyKey = randomUUID();
    const asked = i % 2 === 0 ? [right, wrong, right, wrong] : [wrong, right, wrong, right];
    const bodies = new Set<string>();
    for (const node of asked) {
      const reply = await outcomeUnderKey(node, accounts.plain.key, idempotencyKey);
      if (reply?.status === 200) bodies.add(reply.body.toString('utf8'));
      else if (node === right) violations.push(`${right.name} answered a repeated key with ${reply?.status}`);
    }
    if (bodies.size > 1) violations.push('a repeated key was answered twice, with different bodies');
  }
  return violations;
}

/**
 * Asks until the outcome is known: a node that has just refused the key holds it for the others until PostgreSQL has
 * heard, and they answer 409 with Retry-After.
 */
async function outcomeUnderKey(node: ClusterNode, key: string, idempotencyKey: string) {
  for (let tries = 0; ; tries++) {
    const reply = await askUnderKey(node, key, idempotencyKey);
    if (reply?.status !== 409 || tries === FREED_WITHIN_TRIES) return reply;
    await sleep(RETRY_MS);
  }
}

async function askUnderKey(node: ClusterNode, key: string, idempotencyKey: string) {
  const headers = [
    ['authorization', `Bearer ${key}`],
    ['idempotency-key', idempotencyKey],
  ] as const;
  const target = '/v1/integers?count=4&min=1&max=1000000&entropy_mode=quantum-seeded';
  return asked(node, { method: 'GET', target, headers });
}

/** Returns the status of /readyz; undefined when nobody listens. */
async function readiness(node: ClusterNode): Promise<number | undefined> {
  return (await asked(node, { method: 'GET', target: '/readyz', headers: [] }))?.status;
}

async function asked({ listeningPort, isRunning }: ClusterNode, request: HttpRequest) {
  return isRunning ? askOnce(listeningPort, request).catch(() => undefined) : undefined;
}

async function answersFor({ load }: Cluster, ms: number): Promise<void> {
  load.start(CLIENTS);
  await sleep(ms);
  await load.stop();
}

async function stopAll(nodes: readonly ClusterNode[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.kill('SIGTERM')));
}

async function startAll(nodes: readonly ClusterNode[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.start()));
}

/** Returns every scenario by name; `say` gets those that cannot run on this machine. */
export function scenariosHere(say: (line: string) => void): (readonly [name: string, scenario: Scenario])[] {
  const library = clockLibrary();
  if (library === undefined) say('clocks: not run, since the package libfaketime is missing');
  return [
    ['an older database restored', olderDatabase],
    ['a standby that is away', standbyAway],
    ...(library === undefined
      ? []
      : [
          ['a clock a day ahead', (pair: PostgresPair) => clockOff(pair, library, '+1d')] as const,
          ['a clock a day behind', (pair: PostgresPair) => clockOff(pair, library, '-1d')] as const,
        ]),
  ];
}
