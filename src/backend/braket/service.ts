import type { BraketClient, GetDeviceResponse, GetQuantumTaskResponse } from '@aws-sdk/client-braket';
import type { S3Client } from '@aws-sdk/client-s3';
import type { Clock } from '../../core/clock.ts';
import { BackendError, type BackendErrorKind } from '../backend.ts';
import { kindOf, parseRetryAfter } from '../provider.ts';

export interface ServiceOptions {
  readonly region: string;
  /** Null for the region's public endpoint. */
  readonly endpoint: string | null;
  readonly s3Endpoint: string | null;
  readonly clock: Clock;
}

export interface TaskRequest {
  readonly clientToken: string;
  readonly deviceArn: string;
  readonly shots: number;
  readonly outputS3Bucket: string;
  readonly outputS3KeyPrefix: string;
  readonly action: string;
}

/** The reply of GetQuantumTask, with the members that this backend needs. */
export type Task = GetQuantumTaskResponse & {
  readonly status: string;
  readonly deviceArn: string;
  readonly shots: number;
  readonly outputS3Bucket: string;
  readonly outputS3Directory: string;
};

/**
 * Calls Braket and S3. Calls reject with a BackendError or with the signal's reason. The SDK's own retries are off,
 * because the pool repeats calls with the same token, and heeds Retry-After and its own time limits.
 */
export class BraketService {
  readonly #options: ServiceOptions;
  readonly #braketHost: string;
  readonly #s3Host: string;
  #braketParts: Promise<BraketParts> | undefined;
  #s3Parts: Promise<S3Parts> | undefined;

  constructor(options: ServiceOptions) {
    const { region, endpoint, s3Endpoint } = options;
    this.#options = options;
    this.#braketHost = endpoint === null ? `braket.${region}.amazonaws.com` : new URL(endpoint).host;
    this.#s3Host = s3Endpoint === null ? `s3.${region}.amazonaws.com` : new URL(s3Endpoint).host;
  }

  device(deviceArn: string, signal: AbortSignal): Promise<GetDeviceResponse> {
    return this.#onBraket('GetDevice', signal, ({ client, sdk }) =>
      client.send(new sdk.GetDeviceCommand({ deviceArn }), { abortSignal: signal }),
    );
  }

  /** Resolves to the task's ARN. The same client token and request give the same task. */
  async createTask(request: TaskRequest, signal: AbortSignal): Promise<string> {
    const { quantumTaskArn } = await this.#onBraket('CreateQuantumTask', signal, ({ client, sdk }) =>
      client.send(new sdk.CreateQuantumTaskCommand(request), { abortSignal: signal }),
    );
    if (quantumTaskArn === undefined) throw this.#unreadable('CreateQuantumTask', 'no quantumTaskArn');
    return quantumTaskArn;
  }

  /** Resolves to the task; undefined if the service does not know it. */
  async task(quantumTaskArn: string, signal: AbortSignal): Promise<Task | undefined> {
    const reply = await this.#onBraket('GetQuantumTask', signal, async ({ client, sdk }) => {
      const command = new sdk.GetQuantumTaskCommand({
        quantumTaskArn,
        additionalAttributeNames: ['QueueInfo'],
      });
      return orMissing(client.send(command, { abortSignal: signal }));
    });
    if (reply === undefined || isTask(reply)) return reply;
    throw this.#unreadable('GetQuantumTask', 'no task');
  }

  /** Cancels the task. Does nothing if it has ended or is unknown. */
  async cancelTask(quantumTaskArn: string, signal: AbortSignal): Promise<void> {
    await this.#onBraket('CancelQuantumTask', signal, async ({ client, sdk }) => {
      try {
        await client.send(new sdk.CancelQuantumTaskCommand({ quantumTaskArn }), { abortSignal: signal });
      } catch (error) {
        if (![404, 409].includes(statusOf(error) ?? 0)) throw error;
      }
    });
  }

  /** Resolves to the whole object, verbatim; undefined if there is none. Rejects if it is larger than `bytesMax`. */
  object(
    bucket: string,
    key: string,
    bytesMax: number,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#onS3('GetObject', signal, async ({ client, sdk }) => {
      const command = new sdk.GetObjectCommand({ Bucket: bucket, Key: key });
      const reply = await orMissing(client.send(command, { abortSignal: signal }), 'NoSuchKey');
      if (reply === undefined) return undefined;
      const body = reply.Body as unknown as AsyncIterable<Uint8Array> & { destroy(error?: Error): void };
      const stop = () => body.destroy();
      signal.addEventListener('abort', stop, { once: true });
      try {
        return await wholeBody(body, bytesMax, `${this.#s3Host}: ${key}`);
      } finally {
        signal.removeEventListener('abort', stop);
      }
    });
  }

  /** Deletes every object whose key begins with the prefix. */
  async deleteObjects(bucket: string, prefix: string, signal: AbortSignal): Promise<void> {
    await this.#onS3('DeleteObject', signal, async ({ client, sdk }) => {
      let after: string | undefined;
      do {
        const page = await client.send(
          new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: after }),
          { abortSignal: signal },
        );
        for (const { Key } of page.Contents ?? []) {
          await client.send(new sdk.DeleteObjectCommand({ Bucket: bucket, Key }), { abortSignal: signal });
        }
        after = page.NextContinuationToken;
      } while (after !== undefined);
    });
  }

  async #onBraket<T>(operation: string, signal: AbortSignal, call: (parts: BraketParts) => Promise<T>) {
    const what = `${this.#braketHost}: ${operation}`;
    return this.#send(what, signal, async () => call(await (this.#braketParts ??= this.#openBraket())));
  }

  async #onS3<T>(operation: string, signal: AbortSignal, call: (parts: S3Parts) => Promise<T>) {
    const what = `${this.#s3Host}: ${operation}`;
    return this.#send(what, signal, async () => call(await (this.#s3Parts ??= this.#openS3())));
  }

  async #send<T>(what: string, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof BackendError) throw error;
      throw awsError(error, what, this.#options.clock.wallMs()) ?? error;
    }
  }

  // Imports the clients at their first use, since both together take 140 ms and 29 MB (Node 22).
  async #openBraket(): Promise<BraketParts> {
    const sdk = await import('@aws-sdk/client-braket');
    const { region, endpoint } = this.#options;
    const place = endpoint === null ? {} : { endpoint };
    return { sdk, client: new sdk.BraketClient({ region, maxAttempts: 1, ...place }) };
  }

  async #openS3(): Promise<S3Parts> {
    const sdk = await import('@aws-sdk/client-s3');
    const { region, s3Endpoint } = this.#options;
    const place = s3Endpoint === null ? {} : { endpoint: s3Endpoint, forcePathStyle: true };
    return { sdk, client: new sdk.S3Client({ region, maxAttempts: 1, ...place }) };
  }

  #unreadable(operation: string, what: string): BackendError {
    return new BackendError('retryable', `${this.#braketHost}: ${operation}: a reply with ${what}`);
  }
}

interface BraketParts {
  readonly sdk: typeof import('@aws-sdk/client-braket');
  readonly client: BraketClient;
}

interface S3Parts {
  readonly sdk: typeof import('@aws-sdk/client-s3');
  readonly client: S3Client;
}

/**
 * Resolves to the reply; undefined if the service answers 404. With `name`, only a 404 of this name counts: S3 also
 * answers 404 for a missing bucket, which is an error.
 */
async function orMissing<T>(reply: Promise<T>, name?: string): Promise<T | undefined> {
  try {
    return await reply;
  } catch (error) {
    if (statusOf(error) === 404 && (name === undefined || (error as Error).name === name)) return undefined;
    throw error;
  }
}

function isTask(reply: GetQuantumTaskResponse): reply is Task {
  const { status, deviceArn, shots, outputS3Bucket, outputS3Directory } = reply;
  return Boolean(status && deviceArn && shots !== undefined && outputS3Bucket && outputS3Directory);
}

async function wholeBody(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
  what: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    if (length > bytesMax) throw new BackendError('permanent', `${what}: more than ${bytesMax} bytes`);
    pieces.push(piece);
  }
  return new Uint8Array(Buffer.concat(pieces));
}

/** The pause if a device is offline and the service names no time. */
const OFFLINE_RETRY_MS = 15 * 60_000;
const WORDS_MAX = 200;

/** The part of the SDK's errors that this file reads. */
interface SdkError extends Error {
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number | undefined };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
}

/** Names of errors of credentials, some of which come with status 400. */
const CREDENTIAL_ERRORS =
  /^((Credentials|Token)ProviderError|IncompleteSignature|InvalidAccessKeyId|InvalidClientTokenId|SignatureDoesNotMatch|(AccessDenied|ExpiredToken|InvalidSignature|MissingAuthenticationToken|UnrecognizedClient)(Exception)?)$/;

/** Node's codes and the SDK's names for a connection that failed or broke off. */
const CONNECTION_ERRORS =
  /^(ECONN|EPIPE$|ENOTFOUND$|EAI_AGAIN$|ETIMEDOUT$|EHOST|ENET|ERR_STREAM_PREMATURE_CLOSE$|TimeoutError$|ERR_TLS|CERT_|UND_ERR)/;

/**
 * Returns the BackendError that an error of the SDK means; undefined if the error does not come from the service.
 * `what` names the host and the operation. The message adds the status, the error's name and the service's words, and
 * never a header field or a request.
 */
function awsError(error: unknown, what: string, nowMs: number): BackendError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { name, code, message, $metadata, $response } = error as SdkError;
  if (typeof code === 'string' && CONNECTION_ERRORS.test(code)) {
    return new BackendError('retryable', `${what}: ${code}`);
  }
  if (CONNECTION_ERRORS.test(name)) return new BackendError('retryable', `${what}: ${name}`);
  if (name === 'CredentialsProviderError') {
    return new BackendError('auth', `${what}: ${name}: ${message.slice(0, WORDS_MAX)}`);
  }
  const status = $metadata?.httpStatusCode;
  // The body is not JSON or XML. The SDK's message may quote it, so give only the status.
  if (error instanceof SyntaxError || status === undefined || status < 400) {
    if ($metadata === undefined && $response === undefined) return undefined;
    return new BackendError('retryable', `${what}: a reply that cannot be read (HTTP ${status ?? '?'})`);
  }
  const asked = parseRetryAfter($response?.headers?.['retry-after'] ?? null, nowMs);
  const words = `${what}: HTTP ${status} ${name}: ${message.slice(0, WORDS_MAX)}`;
  const retryAfterMs = asked ?? (status === 424 ? OFFLINE_RETRY_MS : undefined);
  return new BackendError(meaningOf(status, name, message), words, retryAfterMs);
}

function meaningOf(status: number, name: string, message: string): BackendErrorKind {
  if (CREDENTIAL_ERRORS.test(name)) return 'auth';
  // Braket reports a reached spending limit as a validation error (developer guide, "Cost tracking and saving").
  if (/spending limit/i.test(message)) return 'quota';
  const isPassing = status === 424 || /^(Throttling|RequestTimeout|SlowDown)/.test(name);
  return isPassing ? 'retryable' : kindOf(status);
}

/** Returns the HTTP status of an error that the service answered with; undefined for other errors. */
function statusOf(error: unknown): number | undefined {
  return error instanceof Error ? (error as SdkError).$metadata?.httpStatusCode : undefined;
}
