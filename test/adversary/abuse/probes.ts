import { setTimeout as sleep } from 'node:timers/promises';
import { HttpConnection } from '../../support/http.ts';
import { type AbuseCase, withServer } from './arena.ts';
import { getOf } from './look-ups.ts';

/**
 * Probes of a service that many connections without a key use. test/api/fronts.test.ts tests limits and keys over
 * several fronts.
 */

const PROBE_PAUSE_MS = 100;
const PROBES_EACH = 40;
/** The image counts as unhealthy when a probe takes 3 s. */
const PROBE_MAX_MS = 3_000;

/**
 * Returns the slowest of `PROBES_EACH` requests on new connections, in ms; one that is cut or refused has missed the
 * bound.
 */
async function slowestProbe(port: number, request: string, statusWanted: number): Promise<number> {
  let slowest = 0;
  for (let i = 0; i < PROBES_EACH; i++) {
    const startedMs = performance.now();
    const connection = new HttpConnection(port);
    const reply = await connection.ask(request).catch(() => undefined);
    connection.leave();
    const isAnswered = reply?.status === statusWanted;
    slowest = Math.max(slowest, isAnswered ? performance.now() - startedMs : Number.POSITIVE_INFINITY);
    await sleep(PROBE_PAUSE_MS);
  }
  return slowest;
}

/** Sends requests without a key as fast as they are answered, from elsewhere or from this machine, beside payers. */
function probesBeside(flooders: number, from: 'elsewhere' | 'this machine'): AbuseCase {
  return {
    name: `probes beside ${flooders} keyless connections from ${from}`,
    bound: `all but probes from where the flood comes within ${PROBE_MAX_MS / 1000} s`,
    limitS: 400, // probes from where the flood comes take seconds each
    run: ({ environment }) =>
      withServer(environment, async (server) => {
        const { port } = server;
        const { key } = await server.account('enterprise');
        const forwarded = 'X-Forwarded-For: 10.0.0.9';
        const paid = getOf('/v1/integers?count=1&entropy_mode=csprng', `X-API-Key: ${key}`);
        const unpaid = from === 'elsewhere' ? getOf('/nothing', forwarded) : getOf('/nothing');
        const connections = await HttpConnection.openMany(port, flooders + 8);
        let isOver = false;
        connections.forEach(({ socket }, i) => {
          const request = i < 8 ? paid : unpaid;
          socket.on('data', (chunk: Buffer) => {
            if (!isOver && chunk.toString('latin1', 0, 9) === 'HTTP/1.1 ') socket.write(request);
          });
          socket.write(request);
        });
        const probes = [
          ['/livez here', getOf('/livez'), 200],
          ['/livez elsewhere', getOf('/livez', forwarded), 200],
          ['a refusal of an account', getOf('/v1/integers?count=0', `X-API-Key: ${key}`), 400],
          ['values', getOf('/v1/integers?count=1', `X-API-Key: ${key}`), 200],
        ] as const;
        const floodedFrom = from === 'elsewhere' ? 'elsewhere' : 'here';
        const slowest = await Promise.all(
          probes.map(([, request, status]) => slowestProbe(port, request, status)),
        );
        isOver = true;
        for (const connection of connections) connection.leave();
        return {
          figure: probes.map(([what], i) => `${what} ${Math.round(slowest[i])} ms`).join(', '),
          isMet: slowest.every((ms, i) => ms < PROBE_MAX_MS || probes[i][0] === `/livez ${floodedFrom}`),
        };
      }),
  };
}

export const PROBES: readonly AbuseCase[] = [
  probesBeside(1_100, 'elsewhere'),
  probesBeside(1_100, 'this machine'),
  probesBeside(3_000, 'elsewhere'),
];
