import type * as Uws from 'uWebSockets.js';
import { readFileSync } from 'node:fs';
import { type Engine, type EngineOptions, type NativeResponse, readTlsFiles } from './engine.ts';
import type { NativeRequest } from './request-head.ts';
import { checkUwsBinary, UWS_DIGESTS, uwsFolder } from './uws-digests.ts';

checkUwsBinary(uwsFolder(), JSON.parse(readFileSync(UWS_DIGESTS, 'utf8')));
const uws: typeof Uws = await import('uWebSockets.js'); // not before its binary was checked

/*
 * The engine on uWebSockets.js, and the only file that imports it. What the library does by itself
 * (test/http/front-wire.test.ts pins what reaches a client): HTTP/1.0, absolute-form, `*` and CONNECT targets
 * are answered 505; a head that it cannot parse waits for the rest and is cut after 10 s; more than 100
 * fields, or a head above `UWS_HTTP_MAX_HEADERS_SIZE` (front.ts), is 431; it answers Expect:
 * 100-continue; a request that follows an unanswered one closes the connection, so pipelining is not served;
 * a request line that arrives in two packets, cut behind its target, is 505 (uNetworking/uWebSockets issue
 * 1776, fixed upstream in 2024; targets longer than a packet can meet it, but a proxy on the same machine
 * sends heads whole); idle connections are closed after 10 s. It polls a listening socket that has no file
 * descriptor to accept with at 100 % of a core, hence
 * `connectionsMax`. No handler sees the following, which is a reason to keep a strict proxy in front: a field with an
 * empty name hides the fields after it; control bytes and bytes above ASCII around a value count as blanks;
 * the line ends of chunks are not checked, which is why a chunked request is the last of its connection. A
 * client that closes its half of the connection counts as gone when that is read. A write that the socket does not take whole ends
 * a pause.
 */

/**
 * LIBUS_LISTEN_EXCLUSIVE_PORT of the library's C layer. Its default lets any process of the user share the
 * port.
 */
const LISTEN_EXCLUSIVE = 1;
const LISTEN_SHARED = 0;

/**
 * The published types leave out the form of `listen` with host and options, and the direction of `filter`.
 */
interface AnyApp {
  get(pattern: string, handler: AnyHandler): void;
  any(pattern: string, handler: AnyHandler): void;
  /** `change` is 1 for a new connection and -1 for a closed one. */
  filter(listener: (response: NativeResponse, change: number) => void): void;
  listen(
    host: string,
    port: number,
    options: number,
    done: (socket: Uws.us_listen_socket | false) => void,
  ): void;
  close(): void;
}

type AnyHandler = (
  response: NativeResponse,
  request: NativeRequest & { getCaseSensitiveMethod(): string },
) => void;

export function startUwsEngine(options: EngineOptions): Promise<Engine> {
  const { host, port, sharePort, receive, connectionChanged } = options;
  const app = appOf(options.tls) as unknown as AnyApp;
  app.get('/*', (response, request) => receive(response, request, 'GET'));
  app.any('/*', (response, request) => receive(response, request, request.getCaseSensitiveMethod()));
  app.filter(connectionChanged);
  return new Promise((resolve, reject) => {
    app.listen(host, port, sharePort ? LISTEN_SHARED : LISTEN_EXCLUSIVE, (socket) => {
      if (socket === false) {
        reject(new Error(`cannot listen on ${host}:${port}: the port is taken or the address is not ours`));
        return;
      }
      resolve({
        port: uws.us_socket_local_port(socket as unknown as Uws.us_socket),
        stopListening: () => uws.us_listen_socket_close(socket),
        close: () => app.close(),
      });
    });
  });
}

/**
 * The library serves nothing and reports nothing when it cannot read a file, so the files are checked first.
 */
function appOf(tls: EngineOptions['tls']): Uws.TemplatedApp {
  if (tls === null) return uws.App();
  readTlsFiles(tls);
  return uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile });
}
