import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '../core/assert.ts';
import { CommandError } from './command.ts';

/**
 * Lets the server of a command listen and returns its URL. `advice` names the options to change when it cannot listen.
 */
export async function listen(server: Server, host: string, wanted: number, advice: string): Promise<string> {
  try {
    await once(server.listen(wanted, host), 'listening');
  } catch (error) {
    throw new CommandError(`cannot listen on ${host}:${wanted} (${messageOf(error)}): ${advice}`);
  }
  const { address, port } = server.address() as AddressInfo;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
