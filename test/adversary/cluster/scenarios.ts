import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { qrn } from '../../../src/cli/commands.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { HttpConnection, requestBytes } from '../../support/http.ts';
import { runCommand } from '../../support/run-command.ts';
import { until } from '../../support/server.ts';
import { Cluster } from './cluster.ts';
import type { ClusterNode } from './node.ts';
import type { PostgresPair } from './postgres-pair.ts';

const TOTALS = { requests: 100_000, credits: 1_000_000 };
const CLIENTS = 8;
const LOAD_MS = 3_000;
const HELD_MS = 6_000;
const SAYS_SO_WITHIN_MS = 60_000;

/**
 * The database is set back to an earlier state while the nodes are down. They must notice and hold back, since they would give
 * out certificate ids a second time and sign another history; after `qrn cluster restored` they must serve again, under new ids.
 */
async function olderDatabase(pair: PostgresPair): Promise<string[]> {
  const cluster = await Cluster.start({ nodes: 2, database: pair.place, totals: TOTALS });
  const { nodes, load } = cluster;
  const violations: string[] = [];
  try {
    await answersFor(cluster, LOAD_MS);
    await stopAll(nodes);
    pair.killPrimary();
    pair.copyPrimary('copy');
    await pair.restartPrimary();
    await startAll(nodes);
    await answersFor(cluster, LOAD_MS);
    await stopAll(nodes);
    const before = new Set(load.acknowledged.map(({ certificateId }) => certificateId));
    pair.killPrimary();
    await pair.restoreCopy('copy');
    for (const node of nodes) node.launch();
    load.start(CLIENTS);
    await sleep(HELD_MS);
    await load.stop();
    if (load.acknowledged.length > before.size)
      violations.push(`${load.acknowledged.length - before.size} answers were given on an older database`);
    for (const { name, output, isRunning } of nodes)
      if (isRunning && !/it is an earlier state/.test(output))
        violations.push(`${name} does not say that the database is older: ${output.slice(-500)}`);
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
    const again = load.acknowledged
      .slice(before.size)
      .filter(({ certificateId }) => before.has(certificateId));
    if (again.length > 0) violations.push(`${again.length} certificate ids were given out twice`);
    if (load.acknowledged.length === before.size) violations.push('nothing was answered after the restore');
    return violations;
  } finally {
    await cluster.stop();
  }
}

export type Scenario = (pair: PostgresPair) => Promise<string[]>;

/** Every scenario by its name; `say` is told which cannot run on this machine. */
export function scenariosHere(say: (line: string) => void): (readonly [name: string, scenario: Scenario])[] {
  const library = clockLibrary();
  if (library === undefined) say('clocks: not run, since the package libfaketime is missing');
  return [
    ['an older database restored', olderDatabase],
    ...(library === undefined
      ? []
      : [
          ['a clock a day ahead', (pair: PostgresPair) => clockOff(pair, library, '+1d')] as const,
          ['a clock a day behind', (pair: PostgresPair) => clockOff(pair, library, '-1d')] as const,
        ]),
  ];
}

/** The library that gives one process another clock (Debian's package libfaketime); undefined where it is missing. */
function clockLibrary(): string | undefined {
  return readdirSync('/usr/lib')
    .map((name) => join('/usr/lib', name, 'faketime', 'libfaketime.so.1'))
    .find((path) => existsSync(path));
}

/** The clock of one node is off by `offset`, e.g. `+1d`: it is not ready and says so, and the books stay exact. */
async function clockOff(pair: PostgresPair, library: string, offset: string): Promise<string[]> {
  const environment = { LD_PRELOAD: library, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
  const cluster = await Cluster.start({
    nodes: 2,
    database: pair.place,
    totals: TOTALS,
    ownEnvironment: (number) => (number === 2 ? environment : {}),
    isAwaited: (number) => number === 1,
  });
  const violations: string[] = [];
  try {
    const [, wrong] = cluster.nodes;
    const saysSo = () => /clock of this node differs/.test(wrong.output);
    await until('the node says so', saysSo, SAYS_SO_WITHIN_MS).catch(() =>
      violations.push(`a node whose clock is off does not say so: ${wrong.output.slice(-500)}`),
    );
    const status = await readiness(wrong);
    if (status === 200) violations.push('a node whose clock is off is ready');
    await answersFor(cluster, LOAD_MS);
    return [...violations, ...(await cluster.audit()).violations];
  } finally {
    await cluster.stop();
  }
}

/** The status of /readyz; undefined when nobody listens. */
async function readiness({ listeningPort, isRunning }: ClusterNode): Promise<number | undefined> {
  if (!isRunning) return undefined;
  const connection = await HttpConnection.open(listeningPort).catch(() => undefined);
  if (connection === undefined) return undefined;
  const { status } = await connection.ask(requestBytes({ method: 'GET', target: '/readyz', headers: [] }));
  connection.leave();
  return status;
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
