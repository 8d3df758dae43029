import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { NativeRequest } from './request-head.ts';

/**
 * The seam between the front and the library that parses HTTP. Two engines implement it: `uws-engine.ts` on
 * uWebSockets.js, the default because it is faster, and `node-engine.ts` on node:http, which needs no binary
 * package. Both pass the same wire tests (test/http/front-wire.test.ts).
 */
export type EngineName = 'uws' | 'node';

/** The head of a reply, and how the connection goes on after it. */
export interface ReplyHead {
  /** The status line without the version, then the fields, each preceded by CR LF. */
  readonly head: Uint8Array;
  /** Bytes of the body. Undefined for a body in lines, which is sent in chunks, and for a reply that must not state a length. */
  readonly length: number | undefined;
  /** True if the reply announces that the connection closes. */
  readonly saysClose: boolean;
  /** True if the engine must read nothing more from the connection. */
  readonly isLast: boolean;
}

/**
 * The engine's side of one request. It delivers the body of the request, and takes the reply by `send` or `begin`. It is valid until the reply is finished or the `onGone` listener was called. In uWebSockets.js any later call
 * throws, and a handler that returns without having set that listener ends the process. No reply may be sent while the engine
 * reads a chunk of bytes: the engine would read the rest of the chunk as the next request, even after a reply that closes the
 * connection. Every call copies or sends the bytes before it returns, so the caller may overwrite them.
 */
export interface Wire {
  /** Sends a whole reply whose body is small. Closes the connection afterwards if `saysClose`. */
  send(head: Uint8Array, body: Uint8Array, saysClose: boolean): void;
  /**
   * Begins a reply whose body is passed to `offer`, or that has none. The head is sent with the first bytes that are offered or by
   * `end`, and must not change until then. `hasRoom` is called when a socket that was full has room again; it must not throw.
   */
  begin(head: ReplyHead, hasRoom: () => void): void;
  /**
   * Sends as much of the rest of the body, or of a line, as the socket takes, and returns the number of bytes. Sends at least
   * one byte of a line even when the socket is full. The engine adds the line feed after the last byte of a line, and ends a
   * body of known length after its last byte. `isConstant` says that the bytes never change: an engine that writes them later
   * need not copy them.
   */
  offer(rest: Uint8Array, isConstant: boolean): number;
  /** True when the socket has taken everything that was offered and has no room for more. */
  readonly isFull: boolean;
  /** Ends a body of unknown length, or a reply without a body. */
  end(): void;
  /** Sets the listener for the body of the request. A piece is valid only during the call. `take` must not throw. */
  onBody(take: (piece: Uint8Array, isLast: boolean) => void): void;
  /** Sets the listener that is called once if the client disconnects before its reply is finished. */
  onGone(gone: () => void): void;
  /** Cuts the connection, and calls the `onGone` listener before it returns. */
  cut(): void;
  /** True when the client has disconnected although the listener was not called yet. */
  readonly isGone: boolean;
  /** True when the client connects from a loopback address. */
  readonly isFromLoopback: boolean;
}

export const LINE_FEED = Uint8Array.of(0x0a);

/** Where a front listens. */
export interface ListenOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Name of the setting that gave the port, for the error when listening fails. */
  readonly portSetting: string;
  /**
   * True if other fronts (threads) listen on the same port, which must not be 0: the system then spreads connections
   * over them. Otherwise a second service on the port fails to start instead of taking half of the requests.
   */
  readonly sharePort: boolean;
  /** PEM files of the certificate chain and its key. With them the front accepts only TLS (1.2 and 1.3). */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
}

export interface EngineOptions extends ListenOptions {
  /** Called for each request; must not throw. `request` is valid during the call only. */
  readonly receive: (wire: Wire, request: NativeRequest, method: string) => void;
  /** Called when a connection opens (`change` 1) or closes (-1). `close` cuts it. */
  readonly connectionChanged: (connection: { close(): unknown }, change: number) => void;
  /** Makes the reply to a request that the engine itself refuses. Only the engine on node:http can send it. */
  readonly refusal: (code: 'bad_request' | 'head_too_large') => { head: Uint8Array; body: Uint8Array };
  /** Upper bounds on a request head that the engine reads: its bytes, and the number of its fields. */
  readonly headBytesMax: number;
  readonly headFieldsMax: number;
}

export interface Engine {
  /** The port that the engine listens on. */
  readonly port: number;
  /** Stops accepting connections. */
  stopListening(): void;
  /** Closes every connection. */
  close(): void | Promise<void>;
}

/** Starts listening. Rejects with `listenFailure` when the address cannot be listened on. */
export type StartEngine = (options: EngineOptions) => Promise<Engine>;

/** Returns the error of both engines. It names two causes, because uWebSockets.js does not tell which one it was. */
export function listenFailure({ host, port, portSetting }: EngineOptions, cause?: Error): Error {
  const what = `cannot listen on ${host}:${port}: another program has the port, or this machine does not have the address`;
  return new Error(`${what}. Set ${portSetting} to a free port, or QRN_HOST to an address of this machine`, {
    cause,
  });
}

/** 127.0.0.0/8 and ::1. A BlockList also finds IPv4 addresses in their IPv4-mapped form (RFC 4291 §2.5.5.2). */
const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

/** Returns true when the text is a loopback address. */
export function isLoopback(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && LOOPBACK.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** Reads the files of a certificate chain and its key. Throws when they do not belong together. */
export function readTlsFiles({ certFile, keyFile }: EngineOptions['tls'] & object): {
  cert: Buffer;
  key: Buffer;
} {
  try {
    const files = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
    createSecureContext(files); // accepts a key of another kind than the certificate's, with which every handshake fails
    if (new X509Certificate(files.cert).checkPrivateKey(createPrivateKey(files.key))) return files;
    throw new Error('the key is that of another certificate');
  } catch (error) {
    const files = `QRN_TLS_CERT_FILE ${certFile} and QRN_TLS_KEY_FILE ${keyFile}`;
    throw new Error(`${files} are not a certificate and its key`, { cause: error });
  }
}
