import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { NativeRequest } from './request-head.ts';

/**
 * The seam between the front and the library that parses HTTP. Two engines implement it: `uws-engine.ts` on
 * uWebSockets.js, the default because it is faster, and `node-engine.ts` on node:http, which needs no binary
 * package. Both pass the same wire tests (test/http/front-wire.test.ts).
 */
export type EngineName = 'uws' | 'node';

/** What stands before the body of a reply. */
export interface ReplyHead {
  /** The status line without the version, then fields, each after CR LF. */
  readonly head: Uint8Array;
  /** Of the body, in bytes. A body of unknown length is of lines and sent in chunks, and a reply without a body does not tell it. */
  readonly length: number | undefined;
  /** The reply says that the connection closes. */
  readonly saysClose: boolean;
  /** Nothing more is read from the connection. */
  readonly isLast: boolean;
}

/**
 * The engine's end of one request: its body comes from here, and its reply goes here, by one of `send`, `sendHead` and `begin`.
 * It is valid until the reply is finished or the listener of `onGone` was called; any call after that throws in uWebSockets.js,
 * and a handler that returns without that listener ends the process there. No reply leaves while the engine reads a chunk of bytes:
 * the engine would read the rest of the chunk as the next request, even after a reply that closes the connection. Bytes are copied
 * or sent before a call returns, so the caller may overwrite them.
 */
export interface Wire {
  /** Sends a whole reply whose body is small, and closes the connection behind it if it says so. */
  send(head: Uint8Array, body: Uint8Array, saysClose: boolean): void;
  /** Sends a reply without a body. */
  sendHead(head: ReplyHead): void;
  /** Begins a reply whose body is offered; its head, which does not change until then, leaves with what is offered first. `hasRoom` is called when a socket that was full takes more; it never throws. */
  begin(head: ReplyHead, hasRoom: () => void): void;
  /**
   * Sends as much of the rest of the body, or of a line, as the socket takes, and returns the number of bytes. At least one byte of
   * a line is sent, even when the socket is full. The line feed is sent with the last byte of a line; a body of known length ends
   * with its last byte. Constant bytes never change, so an engine that writes them later need not copy them.
   */
  offer(rest: Uint8Array, isConstant: boolean): number;
  /** The socket took all that was offered, and has no room for more. */
  readonly isFull: boolean;
  /** Ends a body of unknown length. */
  end(): void;
  /** The body of the request, in pieces that are valid during the call alone. `take` never throws. */
  onBody(take: (piece: Uint8Array, isLast: boolean) => void): void;
  /** Called once when the client goes before its reply is finished. */
  onGone(gone: () => void): void;
  /** Cuts the connection, and calls the listener of `onGone` before it returns. */
  cut(): void;
  /** The client is gone although the listener is not called yet. */
  readonly isGone: boolean;
  /** The client connects from a loopback address. */
  readonly isFromLoopback: boolean;
}

export const LINE_FEED = Uint8Array.of(0x0a);

export interface EngineOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** The setting that the port came from, for the error of `listenFailure`. */
  readonly portSetting: string;
  /** Several threads listen on the port. Without it a second listener on the port fails. */
  readonly sharePort: boolean;
  /** PEM files of the certificate chain and its key, for TLS 1.2 and 1.3; null for plain HTTP. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** Called for each request; must not throw. `request` is valid during the call only. */
  readonly receive: (wire: Wire, request: NativeRequest, method: string) => void;
  /** A connection opened (1) or closed (-1). `close` cuts it. */
  readonly connectionChanged: (connection: { close(): unknown }, change: number) => void;
  /** Makes the reply to a request that the engine itself refuses. Only node:http lets us write it. */
  readonly refusal: (code: 'bad_request' | 'head_too_large') => { head: Uint8Array; body: Uint8Array };
  /** Bounds of what the engine itself reads: the size of a head in bytes, and how many fields it may have. */
  readonly headBytesMax: number;
  readonly headFieldsMax: number;
}

export interface Engine {
  /** The port listened on. */
  readonly port: number;
  /** Accepts no more connections. */
  stopListening(): void;
  /** Closes every connection. */
  close(): void | Promise<void>;
}

/** Starts listening. Rejects with `listenFailure` when the address cannot be listened on. */
export type StartEngine = (options: EngineOptions) => Promise<Engine>;

/** Both engines say the same: uWebSockets.js does not tell which of the two it was. */
export function listenFailure({ host, port, portSetting }: EngineOptions, cause?: Error): Error {
  const what = `cannot listen on ${host}:${port}: another program has the port, or this machine does not have the address`;
  return new Error(`${what}. Set ${portSetting} to a free port, or QRN_HOST to an address of this machine`, {
    cause,
  });
}

/** Reads the files of a certificate chain and its key. Throws when they do not belong together. */
export function readTlsFiles({ certFile, keyFile }: EngineOptions['tls'] & object): {
  cert: Buffer;
  key: Buffer;
} {
  try {
    const files = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
    createSecureContext(files);
    return files;
  } catch (error) {
    const files = `QRN_TLS_CERT_FILE ${certFile} and QRN_TLS_KEY_FILE ${keyFile}`;
    throw new Error(`${files} are not a certificate and its key`, { cause: error });
  }
}
