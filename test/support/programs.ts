import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Why tests with a program of another project cannot run here; false when it is installed. */
export function missing(program: string, packageName: string): string | false {
  const { error } = spawnSync(program, ['--version'], { stdio: 'ignore' });
  return error === undefined ? false : `${program} is not installed: apt-get install ${packageName}`;
}

/** A TCP port of the loopback that was free a moment ago, for a program that cannot choose one itself. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
