import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fieldsOf, responseOfFields } from '../certificate/octet-answer.ts';
import { type VerificationInput, verifyAnswer, type WitnessPolicy } from '../certificate/verify.ts';
import { loadSettings } from '../config/config.ts';
import { action, type CommandContext, CommandError, type Input, json, UsageError } from './command.ts';
import { verdictText, verificationText } from './verification-text.ts';

/**
 * An answer is certified at once and logged within a moment: how often its proof is asked for, and how far
 * apart.
 */
const PROOF_ATTEMPTS = 20;
const PROOF_WAIT_MS = 250;
const FETCH_DEADLINE_MS = 10_000;
const CERTIFICATE_ID = /^cert_[0-9a-hjkmnp-tv-z]{26}$/;

export const verify = action({
  path: 'verify',
  summary:
    'Checks a saved answer: that its values are the certified ones, that the certificate stands in the log, and that the\n' +
    'log is signed. Whoever gave you the keys is whom you trust: keep a copy of them, and give it with --keys.',
  operands: [{ name: 'RESPONSE', meaning: 'the body of an answer, as the service sent it: JSON or octets' }],
  options: {
    headers: {
      value: 'H.txt',
      meaning: 'the header fields of an answer in octets, one to a line, as curl -D H.txt writes them',
    },
    salt: {
      value: 'HEX',
      meaning:
        'X-Certificate-Salt of an answer in octets, where the other fields were not kept; needs --certificate, and what\n' +
        'the answer said of itself is not checked',
    },
    url: {
      value: 'BASE',
      meaning: 'base URL of the service that has certificate and keys; the configured one when not given',
    },
    certificate: {
      value: 'C.json',
      meaning: 'the certificate from a file: the body of /v1/certificate?id=… or of its public page as JSON',
    },
    keys: {
      value: 'K.json',
      meaning: 'the keys from a file: /.well-known/qrn-keys.json. With both files nobody is asked',
    },
    witness: {
      value: 'KEY,…',
      meaning: 'verifier keys of witnesses that you trust, with commas: who else must have seen the log',
    },
    quorum: { value: 'N', meaning: 'how many of them; all when not given' },
    json: { meaning: 'one JSON object: ok, checks [{name, ok, why}], not_covered' },
  },
  run: async (input, context) => {
    const [path] = input.operands;
    const answer = answerFor(path, input);
    const [certificate, keys] = await Promise.all([
      certificateFor(answer.response, path, input, context),
      keysFor(input, context),
    ]);
    const witnesses = policyOf(input);
    const verification = await verifyAnswer({
      ...answer,
      certificate,
      keys,
      ...(witnesses === undefined ? {} : { witnesses }),
    });
    const { ok, checks, notCovered } = verification;
    context.out(
      input.has('json') ? json({ ok, checks, not_covered: notCovered }) : verificationText(verification),
    );
    const verdict = `${verdictText(verification, path)}\n`;
    if (!ok) context.talk(verdict);
    else if (!input.has('json')) context.out(verdict);
    return ok ? 0 : 1;
  },
});

/** What there is of the answer: JSON, or octets with what is known of them. */
function answerFor(path: string, input: Input): Pick<VerificationInput, 'response' | 'octets' | 'salt'> {
  const headers = input.option('headers');
  const salt = input.option('salt');
  if (headers === undefined && salt === undefined) {
    return { response: readJson(path, '; an answer in octets needs --headers') };
  }
  const octets = readBytes(path);
  if (salt === undefined)
    return { octets, response: responseOfFields(fieldsOf(readBytes(headers!).toString('utf8'))) };
  if (headers !== undefined) throw new UsageError('--headers has the salt: give it or --salt, not both');
  if (!/^[0-9a-f]{64}$/.test(salt)) throw new UsageError('--salt is 64 lower-case hex digits');
  if (!input.has('certificate')) throw new UsageError('--salt needs --certificate: nothing else names it');
  return { octets, salt };
}

function policyOf(input: Input): WitnessPolicy | undefined {
  const given = input.option('witness');
  const quorum = input.option('quorum');
  if (given === undefined) {
    if (quorum !== undefined) throw new UsageError('--quorum needs --witness');
    return undefined;
  }
  const keys = given.split(',').map((each) => each.trim());
  if (quorum !== undefined && !(/^[1-9]\d{0,3}$/.test(quorum) && Number(quorum) <= keys.length))
    throw new UsageError(`--quorum is 1 to ${keys.length}, not ${JSON.stringify(quorum)}`);
  return { keys, quorum: Number(quorum ?? keys.length) };
}

async function certificateFor(
  response: unknown,
  path: string,
  input: Input,
  context: CommandContext,
): Promise<unknown> {
  const file = input.option('certificate');
  if (file !== undefined) return readJson(file);
  const { metadata } = (response ?? {}) as { metadata?: { certificate_id?: unknown } | null };
  const id = metadata?.certificate_id;
  if (typeof id !== 'string' || !CERTIFICATE_ID.test(id))
    throw new CommandError(
      input.has('headers')
        ? `${input.option('headers')} has no X-Certificate-ID: these are not the header fields of an answer in octets`
        : `${path} names no certificate in metadata.certificate_id: it is no answer of the service`,
    );
  const url = `${verifyUrlOf(input, context)}/${id}`;
  for (let attempt = 1; ; attempt++) {
    const document = await fetchJson(url);
    if (!isUnlogged(document) || attempt === PROOF_ATTEMPTS) return document;
    await sleep(PROOF_WAIT_MS);
  }
}

function isUnlogged(document: unknown): boolean {
  const { certificate } = (document ?? {}) as { certificate?: { proof?: unknown } | null };
  return certificate?.proof === null;
}

async function keysFor(input: Input, context: CommandContext): Promise<unknown> {
  const file = input.option('keys');
  return file === undefined
    ? fetchJson(`${originOf(input, context)}/.well-known/qrn-keys.json`)
    : readJson(file);
}

/** The public page needs no key. */
function verifyUrlOf(input: Input, context: CommandContext): string {
  const configured = loadSettings(context.environment).verifyUrlBase;
  if (configured !== null && !input.has('url')) return configured;
  return `${originOf(input, context)}/verify`;
}

function originOf(input: Input, context: CommandContext): string {
  const given = input.option('url');
  if (given !== undefined && !(URL.canParse(given) && /^https?:/.test(given)))
    throw new UsageError(`--url is an http or https URL, not ${JSON.stringify(given)}`);
  const config = loadSettings(context.environment);
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return new URL(given ?? config.baseUrl ?? `http://${host}:${config.port}`).origin;
}

async function fetchJson(url: string): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(url, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(FETCH_DEADLINE_MS),
    });
  } catch (error) {
    throw new CommandError(`cannot reach ${url}`, { cause: error });
  }
  const text = await response.text();
  if (response.status === 404)
    throw new CommandError(`there is nothing at ${url}: no such certificate, or no such service`);
  if (!response.ok) throw new CommandError(`${url} answered ${response.status}`);
  return parsed(text, url);
}

function readJson(path: string, hint?: string): unknown {
  return parsed(readBytes(path).toString('utf8'), path, hint);
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new CommandError(`cannot read ${path}`, { cause: error });
  }
}

function parsed(text: string, from: string, hint = ''): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandError(`${from} is not JSON${hint}`, { cause: error });
  }
}
