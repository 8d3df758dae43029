import assert from 'node:assert/strict';
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

/** Writes a key and a certificate of its own for 127.0.0.1, by openssl. */
export function writeSelfSigned(keyFile: string, certFile: string): void {
  const words =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1';
  const made = spawnSync('openssl', [...words.split(' '), '-keyout', keyFile, '-out', certFile], {
    encoding: 'utf8',
  });
  assert.equal(made.status, 0, made.stderr);
}
