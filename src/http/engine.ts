import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { NativeRequest } from './request-head.ts';

/**
 * The seam between the front and the library that parses HTTP. Two engines implement it: `uws-engine.ts` on
 * uWebSockets.js, the default because it is faster, and `node-engine.ts` on node:http, which needs no binary
 * package. Both pass the same wire tests (test/http/front-wire.test.ts).
 */
export type EngineName = 'uws' | 'node';

/**
 * The part of uWebSockets.js's response that the front uses, and its contract. A response is valid until the
 * reply is finished or `onAborted` fires; any call after that throws in uWebSockets.js. A handler that
 * returns with neither a finished reply nor an abort handler ends the process there. Bytes that are passed to
 * a write are copied or sent before the call returns: the caller may overwrite them.
 */
export interface NativeResponse {
  /** `head` is the status line without the version, then fields, each after CR LF. */
  writeStatus(head: Uint8Array): unknown;
  writeHeader(name: string, value: string): unknown;
  end(body: Uint8Array, closeConnection?: boolean): unknown;
  endWithoutBody(): unknown;
  /**
   * Writes a part, which is not empty, of a body of unknown length (chunked). The part is taken whole; false says that the
   * socket is full, and `onWritable` tells when it takes more. `end` without bytes ends such a body. Called inside `cork`.
   */
  write(part: Uint8Array): boolean;
  /**
   * Writes as much of `rest` as the socket takes. `totalBytes` is the size of the whole body. The bytes of a constant body never
   * change, so an engine that writes them later need not copy them.
   */
  tryEnd(rest: Uint8Array, totalBytes: number, isConstant: boolean): [wroteAll: boolean, finished: boolean];
  /** Bytes of the body that were taken so far. */
  getWriteOffset(): number;
  onWritable(handler: (offset: number) => boolean): unknown;
  onAborted(handler: () => void): unknown;
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  /** Reads no more from the connection, until a write that the socket does not take whole. */
  pause(): unknown;
  cork(write: () => void): unknown;
  close(): unknown;
  /** The client is gone although the abort handler is not called yet; where it is absent, no such time exists. */
  readonly isGone?: boolean;
  /** 4 bytes of IPv4 or 16 of IPv6; none when it is not known. */
  getRemoteAddress(): ArrayBuffer;
}

export interface EngineOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Several threads listen on the port. Without it a second listener on the port fails. */
  readonly sharePort: boolean;
  /** PEM files of the certificate chain and its key, for TLS 1.2 and 1.3; null for plain HTTP. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** Called for each request; must not throw. `request` is valid during the call only. */
  readonly receive: (response: NativeResponse, request: NativeRequest, method: string) => void;
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

/** Starts listening. Rejects when the address cannot be listened on. */
export type StartEngine = (options: EngineOptions) => Promise<Engine>;

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
    throw new Error(`${certFile} and ${keyFile} are not a certificate and its key`, { cause: error });
  }
}
