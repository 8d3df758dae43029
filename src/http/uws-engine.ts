import type * as Uws from 'uWebSockets.js';
import { readFileSync } from 'node:fs';
import { assert } from '../core/assert.ts';
import {
  type Engine,
  type EngineOptions,
  isLoopback,
  LINE_FEED,
  listenFailure,
  type ReplyHead,
  readTlsFiles,
  type Wire,
} from './engine.ts';
import { checkUwsBinary, UWS_DIGESTS, uwsFolder } from './uws-digests.ts';

checkUwsBinary(uwsFolder(), JSON.parse(readFileSync(UWS_DIGESTS, 'utf8')));
const uws: typeof Uws = await import('uWebSockets.js'); // not before its binary was checked

/*
 * The engine on uWebSockets.js, and the only file that imports it. The library does the following by itself
 * (test/http/front-wire.test.ts pins what a client sees):
 * - It answers 505 to HTTP/1.0 and to absolute-form, `*` and CONNECT targets.
 * - It waits for the rest of a head that it cannot parse, and cuts the connection after 10 s.
 * - It answers 431 to more than 100 fields, and to a head above `UWS_HTTP_MAX_HEADERS_SIZE` (front.ts).
 * - It answers Expect: 100-continue.
 * - It closes the connection at a request that follows an unanswered one, so pipelining is not served.
 * - It answers 505 to a request line that arrives in two packets cut after its target (uNetworking/uWebSockets issue 1776,
 *   fixed upstream in 2024). That can happen to targets longer than a packet; a proxy on the same machine sends heads whole.
 * - It closes idle connections after 10 s, and those whose body trickles (a byte a second) after 8 to 10 s without a reply.
 * - When no file descriptor is left to accept a connection, it polls the listening socket at 100 % of a core; hence
 *   `connectionsMax`.
 * - A client that closes its half of the connection counts as gone.
 * - A write that the socket does not take whole ends a pause.
 *
 * No handler can see the following, which is a reason to keep a strict proxy in front: a field with an empty name hides the
 * fields after it; control bytes and bytes above ASCII around a value count as blanks; the line ends of chunks are not
 * checked, so a chunked request is the last one of its connection.
 */

/** LIBUS_LISTEN_EXCLUSIVE_PORT of the library's C layer. By default any process of the user can share the port. */
const LISTEN_EXCLUSIVE = 1;
const LISTEN_SHARED = 0;

export function startUwsEngine(options: EngineOptions): Promise<Engine> {
  const { host, port, sharePort, receive, connectionChanged } = options;
  const app = appOf(options.tls);
  const serve = (methodOf: (request: Uws.HttpRequest) => string) => {
    return (response: Uws.HttpResponse, request: Uws.HttpRequest) => {
      isReading = true;
      receive(new UwsWire(response), request, methodOf(request));
      isReading = false;
    };
  };
  // GET is served by itself, so that its name needs no call of the library
  app.get(
    '/*',
    serve(() => 'GET'),
  );
  app.any(
    '/*',
    serve((request) => request.getCaseSensitiveMethod()),
  );
  app.filter(connectionChanged);
  // the published types lack this form
  const listen = app.listen.bind(app) as unknown as (
    host: string,
    port: number,
    options: number,
    done: (socket: Uws.us_listen_socket | false) => void,
  ) => void;
  return new Promise((resolve, reject) => {
    listen(host, port, sharePort ? LISTEN_SHARED : LISTEN_EXCLUSIVE, (socket) => {
      if (socket === false) {
        reject(listenFailure(options));
        return;
      }
      resolve({
        port: uws.us_socket_local_port(socket as unknown as Uws.us_socket),
        stopListening: () => uws.us_listen_socket_close(socket),
        close: () => void app.close(),
      });
    });
  });
}

/**
 * Makes the library's app. Checks the TLS files first: when the library cannot read a file, it serves nothing and reports
 * nothing.
 */
function appOf(tls: EngineOptions['tls']): Uws.TemplatedApp {
  if (tls === null) return uws.App();
  readTlsFiles(tls);
  try {
    return uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile });
  } catch (cause) {
    const use = 'a key of RSA, P-256, P-384, P-521 or Ed25519, or set QRN_FRONT=node';
    throw new Error(`uWebSockets.js cannot use QRN_TLS_KEY_FILE ${tls.keyFile}: give it ${use}`, { cause });
  }
}

/** The largest piece of a line that is written at once. A client that stops reading makes the library hold this much. */
const PIECE_BYTES = 128 * 1024;
/**
 * Size of the first piece of a line. The library buffers what the socket does not take, so the first piece must be smaller than the
 * room that a socket has when it reports some.
 */
const PROBE_BYTES = 4 * 1024;
const NO_BYTES = new Uint8Array(0);

/**
 * The reply that `sendCorked` sends. `cork` calls its callback before it returns, so one function serves all replies without
 * closures.
 */
let corked: Uws.HttpResponse;
let corkedHead: Uint8Array;
let corkedBody: Uint8Array;
let corkedClose: boolean;
let fault: { readonly error: unknown } | undefined;
/** True while uWebSockets.js calls a handler with bytes that it read: no reply may be sent then (see Wire). */
let isReading = false;

function sendCorked(): void {
  try {
    corked.writeStatus(corkedHead);
    corked.end(corkedBody, corkedClose);
  } catch (error) {
    fault = { error }; // an exception must not pass through the library's stack frames
  }
}

class UwsWire implements Wire {
  isFull = false;
  readonly #response: Uws.HttpResponse;
  #begun: ReplyHead | undefined;
  #isHeadDue = false;
  /** Bytes of a body of known length that the socket took. */
  #taken = 0;

  constructor(response: Uws.HttpResponse) {
    this.#response = response;
  }

  send(head: Uint8Array, body: Uint8Array, saysClose: boolean): void {
    corked = this.#response;
    corkedHead = head;
    corkedBody = body;
    corkedClose = saysClose;
    this.#cork(sendCorked);
  }

  begin(reply: ReplyHead, hasRoom: () => void): void {
    this.#begun = reply;
    this.#isHeadDue = true;
    this.#response.onWritable(() => {
      this.isFull = false;
      hasRoom();
      return !this.isFull;
    });
  }

  #writeHead({ head, saysClose, isLast }: ReplyHead, length?: number): void {
    const response = this.#response;
    this.#isHeadDue = false;
    response.writeStatus(head);
    if (length !== undefined) response.writeHeader('Content-Length', String(length));
    if (saysClose) response.writeHeader('Connection', 'close');
    if (isLast) response.pause();
  }

  offer(rest: Uint8Array): number {
    const response = this.#response;
    const { length, isLast } = this.#begun!;
    let taken = rest.length;
    this.#write(() => {
      if (this.#isHeadDue) this.#writeHead(this.#begun!);
      if (isLast) response.pause(); // again: a write that the socket did not take whole has ended the pause
      if (length === undefined) taken = this.#writeLine(rest);
      else {
        const [wroteAll, finished] = response.tryEnd(rest, length);
        this.isFull = !wroteAll;
        if (!finished) taken = response.getWriteOffset() - this.#taken;
        this.#taken += taken;
      }
    });
    return taken;
  }

  #writeLine(rest: Uint8Array): number {
    let taken = 0;
    do {
      const piece = rest.subarray(taken, taken + (taken === 0 ? PROBE_BYTES : PIECE_BYTES));
      this.isFull = !this.#response.write(piece);
      taken += piece.length;
    } while (taken < rest.length && !this.isFull);
    if (taken === rest.length) this.isFull = !this.#response.write(LINE_FEED);
    return taken;
  }

  end(): void {
    this.#write(() => {
      if (!this.#isHeadDue) this.#response.end(NO_BYTES);
      else {
        this.#writeHead(this.#begun!, this.#begun!.length);
        // not endWithoutBody(length): the library would then wait for that many bytes and never finish the reply
        this.#response.endWithoutBody();
      }
    });
  }

  /** Runs `write` corked, so that everything it writes is sent together. Throws what `write` throws. */
  #write(write: () => void): void {
    this.#cork(() => {
      try {
        write();
      } catch (error) {
        fault = { error };
      }
    });
  }

  #cork(write: () => void): void {
    assert(!isReading, 'no reply leaves while the engine reads');
    fault = undefined;
    this.#response.cork(write);
    if (fault !== undefined) throw (fault as { readonly error: unknown }).error;
  }

  onBody(take: (piece: Uint8Array, isLast: boolean) => void): void {
    this.#response.onData((chunk, isLast) => {
      isReading = true;
      take(new Uint8Array(chunk), isLast);
      isReading = false;
    });
  }

  onGone(gone: () => void): void {
    this.#response.onAborted(gone);
  }

  cut(): void {
    this.#response.close();
  }

  /** Always false, because the library calls the `onGone` listener at once. */
  get isGone(): boolean {
    return false;
  }

  get isFromLoopback(): boolean {
    return isLoopback(Buffer.from(this.#response.getRemoteAddressAsText()).toString('latin1'));
  }
}
