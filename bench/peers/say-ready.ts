import type { us_listen_socket } from 'uWebSockets.js';
import { us_socket_local_port } from 'uWebSockets.js';

/** Tells the parent process where this one listens. */
export function sayReadyOn(port: number): void {
  process.stdout.write(`ready http://127.0.0.1:${port}\n`);
}

export function sayReady(socket: us_listen_socket | false): void {
  if (socket === false) throw new Error('cannot listen');
  sayReadyOn(us_socket_local_port(socket));
}
