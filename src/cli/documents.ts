import { readFileSync } from 'node:fs';
import { type HttpReply, sendRequest } from '../core/http-request.ts';
import { LIMITS } from '../core/limits.ts';
import { parseStrictJson } from '../core/repeated-member.ts';
import { type CommandContext, CommandError, UsageError } from './command.ts';

const FETCH_DEADLINE_MS = 10_000;

/** Returns the content of a file that the command line names. */
export function readInputFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new CommandError(`cannot read ${path}`, { cause: error });
  }
}

export function readJson(path: string): unknown {
  return parseStrictJson(readInputFile(path), path);
}

/** Fetches a JSON document. `hint` is added to the error for 404. */
export async function fetchJson(url: string, hint = ''): Promise<unknown> {
  let reply: HttpReply;
  try {
    reply = await sendRequest({
      method: 'GET',
      url,
      headers: { accept: 'application/json' },
      replyBytesMax: LIMITS.replyBytesMax,
      signal: AbortSignal.timeout(FETCH_DEADLINE_MS),
    });
  } catch (error) {
    throw new CommandError(`cannot reach ${url}`, { cause: error });
  }
  const { status, headers, body } = reply;
  if (status === 404)
    throw new CommandError(
      `there is nothing at ${url}: either the service has no such document, or the address is wrong${hint}`,
    );
  const location = headers.get('location');
  if (status !== 200) {
    const instead = location === null ? '' : `: use ${JSON.stringify(location)} instead`;
    throw new CommandError(`${url} answered ${status}${instead}`);
  }
  return parseStrictJson(body, url);
}

/** Returns the published keys: those in `file`, or those of the service at `origin`. */
export async function keysFrom(origin: string, file: string | undefined): Promise<unknown> {
  return file === undefined ? fetchJson(`${origin}/.well-known/qrn-keys.json`) : readJson(file);
}

/** The value of the option --url. */
interface UrlInput {
  readonly url?: string | undefined;
}

/** Returns the URL of --url or QRN_URL. An empty variable counts as not set, as in the client libraries. */
export function urlGiven({ url }: UrlInput, { environment }: CommandContext): string | undefined {
  return url ?? (environment['QRN_URL'] || undefined);
}

/** Returns the origin of the service that the caller named, else of the local one. */
export function originOf(input: UrlInput, context: CommandContext): string {
  const { apiUrl } = context.localService(context.environment); // wrong settings are reported even when --url is given
  const given = urlGiven(input, context);
  if (given !== undefined && !(URL.canParse(given) && /^https?:/.test(given))) {
    const name = input.url === undefined ? 'QRN_URL' : '--url';
    throw new UsageError(`${name} must be an http or https URL, not ${JSON.stringify(given)}`);
  }
  return new URL(given ?? apiUrl).origin;
}
