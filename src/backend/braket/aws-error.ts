import { BackendError, type BackendErrorKind } from '../backend.ts';
import { parseRetryAfter } from '../retry-after.ts';

/** A device that is offline is looked at again after this, unless the service names a time. */
const OFFLINE_RETRY_MS = 15 * 60_000;
const WORDS_MAX = 200;

/** What the SDK throws, as far as it is looked at. */
interface SdkError extends Error {
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number | undefined };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
}

/** Errors of credentials, some of which come with status 400. */
const CREDENTIAL_ERRORS: ReadonlySet<string> = new Set([
  'CredentialsProviderError',
  'TokenProviderError',
  'AccessDenied',
  'AccessDeniedException',
  'ExpiredToken',
  'ExpiredTokenException',
  'IncompleteSignature',
  'InvalidAccessKeyId',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'MissingAuthenticationTokenException',
  'SignatureDoesNotMatch',
  'UnrecognizedClientException',
]);

/** Node's codes for a connection that failed or broke off, and the SDK's own names for it. */
const CONNECTION_ERRORS =
  /^(ECONN|EPIPE$|ENOTFOUND$|EAI_AGAIN$|ETIMEDOUT$|EHOST|ENET|ERR_STREAM_PREMATURE_CLOSE$|TimeoutError$|ERR_TLS|CERT_|UND_ERR)/;

/**
 * What an error of the SDK means to the pool; undefined for what is none of the service's. `what` names host and operation; the
 * message adds status, the error's name and the service's words, never a header or a request.
 */
export function awsError(error: unknown, what: string, nowMs: number): BackendError | undefined {
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
  // A body that is no JSON or XML: the SDK's message may quote it, so the status has to do.
  if (error instanceof SyntaxError || status === undefined || status < 400) {
    if ($metadata === undefined && $response === undefined) return undefined;
    return new BackendError('retryable', `${what}: a reply that cannot be read (HTTP ${status ?? '?'})`);
  }
  const asked = parseRetryAfter($response?.headers?.['retry-after'] ?? null, nowMs);
  const words = `${what}: HTTP ${status} ${name}: ${message.slice(0, WORDS_MAX)}`;
  return new BackendError(kindOf(status, name, message), words, retryAfterOf(status, asked));
}

function kindOf(status: number, name: string, message: string): BackendErrorKind {
  if (status === 401 || status === 403 || CREDENTIAL_ERRORS.has(name)) return 'auth';
  // A device's own spending limit is refused as a validation error (Braket developer guide, "Cost tracking and saving").
  if (status === 402 || /spending limit/i.test(message)) return 'quota';
  if (status === 408 || status === 424 || status === 425 || status === 429 || status >= 500)
    return 'retryable';
  return /^(Throttling|RequestTimeout|SlowDown)/.test(name) ? 'retryable' : 'permanent';
}

function retryAfterOf(status: number, askedMs: number | undefined): number | undefined {
  return askedMs ?? (status === 424 ? OFFLINE_RETRY_MS : undefined);
}

/** The status of an error that the service answered with; undefined for others. */
export function statusOf(error: unknown): number | undefined {
  return error instanceof Error ? (error as SdkError).$metadata?.httpStatusCode : undefined;
}
