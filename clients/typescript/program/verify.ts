import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CertificateDocument } from '../../../src/certificate/document.ts';
import { answerFacts, sourceFacts, testFacts } from '../../../src/certificate/facts.ts';
import { member, printable } from '../../../src/certificate/members.ts';
import { fieldsOf, responseOfFields } from '../../../src/certificate/octet-answer.ts';
import { type Verification, type VerificationInput, verifyAnswer } from '../../../src/certificate/verify.ts';
import { type DrawVerification, verifyDraw } from '../../../src/certificate/verify-draw.ts';
import { readWitnessPolicy, type WitnessPolicy } from '../../../src/certificate/verify-witnesses.ts';
import {
  action,
  type CommandContext,
  CommandError,
  type Given,
  type OptionTable,
  oneLine,
  UsageError,
} from '../../../src/cli/command.ts';
import {
  fetchJson,
  keysFrom,
  originOf,
  readInputFile,
  readJson,
  urlGiven,
} from '../../../src/cli/documents.ts';
import { json, textOf } from '../../../src/cli/text.ts';
import { CERTIFICATE_ID } from '../../../src/core/ids.ts';
import { parseStrictJson } from '../../../src/core/repeated-member.ts';
import {
  exitStatusOf,
  isDraw,
  NOT_CHECKED,
  TAMPERED,
  verdictText,
  verificationText,
  WITHOUT_RESULT,
} from './verification-text.ts';

/**
 * How often, and at what interval, the proof of a certificate is asked for. A new certificate is logged within a
 * second.
 */
const PROOF_ATTEMPTS = 20;
const PROOF_WAIT_MS = 250;

const OPTIONS = {
  headers: {
    value: 'H.txt',
    meaning: 'file with the headers of an answer in octets, one per line, as curl -D H.txt writes it',
  },
  salt: {
    value: 'HEX',
    meaning:
      'X-Certificate-Salt of an answer in octets whose other headers were not saved; requires --certificate; the metadata\n' +
      'of the answer is then not checked',
  },
  url: {
    value: 'BASE',
    meaning:
      'base URL of the service that has the certificate and the keys; default: QRN_URL, otherwise the configured service,\n' +
      'otherwise the service in metadata.verify_url of the answer',
  },
  certificate: {
    value: 'C.json',
    meaning: 'file with the certificate: the body of /v1/certificate?id=… or of its public page as JSON',
  },
  keys: {
    value: 'K.json',
    meaning: 'file with the keys: /.well-known/qrn-keys.json; with both files no request is sent',
  },
  witness: {
    value: 'KEY,…',
    meaning: 'comma-separated verifier keys of witnesses that you trust and that must have cosigned the log',
  },
  quorum: { value: 'N', meaning: 'number of these witnesses that must have cosigned; default: all' },
  requireFixed: {
    meaning:
      'reject answers of csprng mode too, whose values come from no lot; for all other answers, the certificate must always\n' +
      'show that the bytes were logged before the answer',
  },
  watch: { meaning: 'verify each answer *.json in a folder, and new ones as they arrive, until Ctrl-C' },
  json: {
    meaning:
      'print one JSON object per answer: file, ok, checks [{name, ok, why}], not_covered, and for a draw standing (revealed,\n' +
      'pending, overdue, cancelled, failed). If the answer could not be verified, ok is null, and why is the reason',
  },
} as const satisfies OptionTable;

type Input = Given<typeof OPTIONS> & { readonly operands: readonly string[] };

export const verify = action({
  path: 'verify',
  summary:
    'Verifies a saved answer: the values are the certified ones, the certificate is in the log, and the log is signed. You trust\n' +
    'whoever gave you the keys, so keep a copy of them and use it with --keys. Exit status: 0 if every answer is verified, 1 if an\n' +
    'answer is wrong, 2 if an answer could not be verified, and otherwise 3 if a committed draw is as logged but has no result,\n' +
    'because it is pending, overdue, cancelled or failed.',
  operands: [
    {
      name: 'RESPONSE',
      meaning:
        'file with the body of an answer as the service sent it (JSON or octets), or with the document of a committed draw; - is\n' +
        'stdin; with --watch, a folder',
      repeated: true,
    },
  ],
  options: OPTIONS,
  run: async (input, context) => {
    try {
      return await verifyAll(input, context);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      context.talk(`qrn verify: ${oneLine(error)}\n`);
      return NOT_CHECKED; // whatever went wrong, no answer was found to be false
    }
  },
});

async function verifyAll(input: Input, context: CommandContext): Promise<Found> {
  requireOneAnswer(input);
  const verifier = new Verifier(input, context);
  if (input.watch !== undefined) return watchFolder(input.operands[0], verifier, context);
  let found: Found = VERIFIED;
  for (const path of input.operands) found = worse(found, await verifier.verify(path));
  return found;
}

/** Exit statuses, and their order from the worst to the best. */
const VERIFIED = 0;
const FROM_WORST = [TAMPERED, NOT_CHECKED, WITHOUT_RESULT, VERIFIED] as const;
type Found = (typeof FROM_WORST)[number];

function worse(one: Found, other: Found): Found {
  return FROM_WORST.indexOf(one) < FROM_WORST.indexOf(other) ? one : other;
}

const STDIN = '-';

/** Throws a UsageError when an option that belongs to one answer is given with several answers. */
function requireOneAnswer(input: Input): void {
  const { operands } = input;
  if (operands.filter((each) => each === STDIN).length > 1) throw new UsageError('- is given more than once');
  if (input.watch !== undefined) {
    const isFolder = operands.length === 1 && statSync(operands[0], { throwIfNoEntry: false })?.isDirectory();
    if (isFolder !== true) throw new UsageError('--watch requires exactly one folder');
  }
  const single = (['headers', 'salt', 'certificate'] as const).find((name) => input[name] !== undefined);
  if (single !== undefined && (operands.length > 1 || input.watch !== undefined))
    throw new UsageError(`--${single} is allowed only with one RESPONSE`);
}

/** Checks answers one after the other and reports each. */
class Verifier {
  readonly #input: Input;
  readonly #context: CommandContext;
  readonly #policy: { readonly witnesses?: WitnessPolicy };
  /** The keys documents, by the origin of the service; with --keys, that of the file. */
  readonly #keys = new Map<string, unknown>();

  constructor(input: Input, context: CommandContext) {
    this.#input = input;
    this.#context = context;
    this.#policy = policyOf(input);
  }

  async verify(path: string): Promise<Found> {
    const { out, talk } = this.#context;
    const isJson = this.#input.json === true;
    let checked: Checked;
    try {
      checked = await this.#check(path);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      if (isJson) out(json({ file: path, ok: null, why: oneLine(error) }));
      talk(`qrn verify: ${oneLine(error)}\n`);
      return NOT_CHECKED;
    }
    const { verification, certificate } = checked;
    const { ok, checks, notCovered } = verification;
    const standing = 'standing' in verification ? verification.standing : undefined;
    const found = exitStatusOf(verification);
    const isOne = this.#input.operands.length === 1 && this.#input.watch === undefined;
    if (isJson) out(json({ file: path, ok, checks, not_covered: notCovered, standing }));
    else if (isOne || !ok) out(textOf([ok ? factsOf(certificate) : '', verificationText(verification)]));
    const verdict = `${verdictText(verification, path)}\n`;
    if (found !== VERIFIED) talk(verdict);
    else if (!isJson) out(verdict);
    return found;
  }

  async #checkDraw(draw: unknown): Promise<Checked> {
    if (this.#input.certificate !== undefined)
      throw new UsageError(
        '--certificate is not allowed with a draw, because the draw contains its certificate',
      );
    const keys = await this.#keysOf(serviceOf(undefined, this.#input, this.#context));
    const verification = await verifyDraw({
      draw,
      keys,
      ...this.#policy,
      nowMs: this.#context.clock.wallMs(),
    });
    return { verification, certificate: member(draw, 'certificate') };
  }

  async #check(path: string): Promise<Checked> {
    const answer = await answerFor(path, this.#input, this.#context);
    if (isDraw(answer.response)) return this.#checkDraw(answer.response);
    const service = serviceOf(answer.response, this.#input, this.#context);
    const [certificate, keys] = await Promise.all([
      certificateFor(answer.response, path, service, this.#input),
      this.#keysOf(service),
    ]);
    if (service.isNamedByAnswer && this.#input.keys === undefined)
      this.#context.talk(
        `qrn verify: the keys are those of ${service.origin}, the service that ${path} itself names\n`,
      );
    const requireFixed = this.#input.requireFixed !== undefined;
    const input = { ...answer, certificate, keys, ...this.#policy, requireFixed };
    return { verification: await verifyAnswer(input), certificate };
  }

  async #keysOf({ origin }: Service): Promise<unknown> {
    if (!this.#keys.has(origin)) this.#keys.set(origin, await keysFrom(origin, this.#input.keys));
    return this.#keys.get(origin);
  }
}

/** The verification of an answer, and the document of its certificate. */
interface Checked {
  readonly verification: Verification | DrawVerification;
  readonly certificate: unknown;
}

/** Returns the facts of a verified certificate for people, as its page and its PDF show them. */
function factsOf(certificate: unknown): object {
  const document = certificate as CertificateDocument;
  const facts = [
    ...answerFacts(document.certificate),
    ...sourceFacts(document),
    ...testFacts(document, true),
  ];
  return Object.fromEntries(facts.map(([label, value]) => [label, printable(value)]));
}

/**
 * The interval at which the folder is read. A file that changed within it may still be incomplete, so it is not checked
 * yet.
 */
const LOOK_INTERVAL_MS = 500;

/** Checks the answers in the folder, and those that are added, until Ctrl-C. */
async function watchFolder(folder: string, verifier: Verifier, context: CommandContext): Promise<Found> {
  const interrupted = context.interruption();
  const seen = new Map<string, string>();
  const checked = new Map<string, string>();
  const counts = [0, 0, 0, 0];
  let found: Found = VERIFIED;
  while (!interrupted.aborted) {
    for (const [name, state] of statesIn(folder)) {
      if (interrupted.aborted) break;
      if (seen.get(name) === state && checked.get(name) !== state) {
        checked.set(name, state);
        const one = await verifier.verify(join(folder, name));
        counts[one]++;
        found = worse(found, one);
      }
      seen.set(name, state);
    }
    await sleep(LOOK_INTERVAL_MS, undefined, { signal: interrupted }).catch(() => {}); // the loop ends
  }
  const [verified, tampered, notChecked, withoutResult] = counts;
  const ofDraws = withoutResult === 0 ? '' : `, ${withoutResult} draws without a result`;
  context.talk(
    `${verified} verified, ${tampered} not verified, ${notChecked} could not be verified${ofDraws}\n`,
  );
  return found;
}

/** Returns the name of each file *.json in the folder, and a text that changes when the file is written. */
function statesIn(folder: string): [name: string, state: string][] {
  const files = readdirSync(folder, { withFileTypes: true }).filter(
    (each) => each.isFile() && each.name.endsWith('.json'),
  );
  return files.flatMap(({ name }) => {
    const stats = statSync(join(folder, name), { throwIfNoEntry: false });
    return stats === undefined ? [] : [[name, `${stats.size}/${stats.mtimeMs}`]];
  });
}

/** Returns the answer: its JSON, or its octets with the header fields or the salt. */
async function answerFor(
  path: string,
  input: Input,
  context: CommandContext,
): Promise<Pick<VerificationInput, 'response' | 'octets' | 'salt'>> {
  const { headers, salt } = input;
  const octets = path === STDIN ? Buffer.from(await context.stdin()) : readInputFile(path);
  if (headers === undefined && salt === undefined) {
    return {
      response: parseStrictJson(octets, path, '; an answer in octets requires --headers'),
    };
  }
  if (salt === undefined)
    return { octets, response: responseOfFields(fieldsOf(readInputFile(headers!).toString('utf8'))) };
  if (headers !== undefined)
    throw new UsageError('--headers and --salt must not both be given, because the headers contain the salt');
  if (!/^[0-9a-f]{64}$/.test(salt)) throw new UsageError('--salt must be 64 lower-case hex digits');
  if (input.certificate === undefined)
    throw new UsageError('--salt requires --certificate, because nothing else names the certificate');
  return { octets, salt };
}

function policyOf({ witness, quorum }: Input): { readonly witnesses?: WitnessPolicy } {
  if (witness === undefined && quorum === undefined) return {};
  const policy = readWitnessPolicy(witness ?? '', quorum ?? '');
  if (typeof policy === 'string') throw new UsageError(`--witness and --quorum: ${policy}`);
  return { witnesses: policy };
}

/** Returns the certificate of the answer that was read from `path`: from --certificate, or from the service. */
async function certificateFor(
  answer: unknown,
  path: string,
  { verifyUrlBase }: Service,
  { certificate, headers }: Input,
): Promise<unknown> {
  if (certificate !== undefined) return readJson(certificate);
  const id = member(answer, 'metadata', 'certificate_id');
  if (typeof id !== 'string' || !CERTIFICATE_ID.test(id))
    throw new CommandError(
      headers === undefined
        ? `${path} names no certificate in metadata.certificate_id: it is not an answer of the service`
        : `${headers} has no X-Certificate-ID: these are not the header fields of an answer in octets`,
    );
  for (let attempt = 1; ; attempt++) {
    const document = await fetchJson(
      `${verifyUrlBase}/${id}`,
      '. To verify a saved certificate without the service, use --certificate C.json --keys K.json',
    );
    const isUnlogged = member(document, 'certificate', 'proof') === null;
    if (!isUnlogged || attempt === PROOF_ATTEMPTS) return document;
    await sleep(PROOF_WAIT_MS);
  }
}

/** The service that is asked about an answer: its origin, and the base URL of its public certificate pages. */
type Service = ReturnType<typeof serviceOf>;

/**
 * Returns the service that the caller names, else the configured one, else the one that the answer names, else the
 * local one.
 */
function serviceOf(response: unknown, input: Input, context: CommandContext) {
  const origin = originOf(input, context);
  if (urlGiven(input, context) !== undefined)
    return { origin, verifyUrlBase: `${origin}/verify`, isNamedByAnswer: false };
  const { isNamed, verifyUrlBase } = context.localService(context.environment);
  const named = member(response, 'metadata', 'verify_url');
  if (isNamed || typeof named !== 'string' || !/^https?:/.test(named))
    return { origin, verifyUrlBase: verifyUrlBase ?? `${origin}/verify`, isNamedByAnswer: false };
  if (!URL.canParse(named))
    throw new CommandError(`metadata.verify_url must be a URL, not ${JSON.stringify(named)}`);
  return {
    origin: new URL(named).origin,
    verifyUrlBase: named.slice(0, named.lastIndexOf('/')),
    isNamedByAnswer: true, // whoever forged the answer may have named a service of their own
  };
}
