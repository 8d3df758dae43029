import { fieldsOf, responseOfFields } from '../certificate/octet-answer.ts';
import { type VerificationInput, verifyAnswer } from '../certificate/verify.ts';
import { readWitnessPolicy } from '../certificate/verify-witnesses.ts';
import { repeatedMember } from '../core/repeated-member.ts';
import { verdictText, verificationText } from './verification-text.ts';

/**
 * The command line of dist/qrn-verify.mjs, the verifier as one file that needs nothing beside it. Node and
 * Deno run it; where the file is imported, or loaded by a page, this does nothing. scripts/build-verifier.ts
 * puts it together.
 */

const USAGE = `usage: qrn-verify.mjs [--require-fixed] [--witness KEY,...] [--quorum N] [[--headers HEADERS.txt] ANSWER] CERTIFICATE.json KEYS.json

Checks a saved answer, its certificate and the signed log it stands in, without asking anyone.
  ANSWER            the body of the answer; without it the certificate alone is checked
  HEADERS.txt       the header fields of an answer in octets, as curl -D HEADERS.txt writes them
  CERTIFICATE.json  the body of /v1/certificate?id=..., or of the verification page as JSON
  KEYS.json         /.well-known/qrn-keys.json, best had long before or from someone else
  --witness KEY,... verifier keys of witnesses that you trust: who else must have seen the log
  --quorum N        how many of them; all when not given
  --require-fixed   fails an answer whose certificate does not show that what it was drawn from was logged before
Exit status: 0 when all checks hold, 1 when one does not, 2 when the files cannot be read.
`;

const OPTIONS: readonly string[] = ['--headers', '--witness', '--quorum', '--require-fixed'];

/** What Node and Deno have, and a browser does not. */
interface Program {
  readonly argv: readonly string[];
  exitCode?: number | undefined;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

const program = (globalThis as { process?: Program }).process;
if (program !== undefined && (await isMain(program))) program.exitCode = await run(program);

async function isMain({ argv }: Program): Promise<boolean> {
  const { main } = import.meta as { main?: boolean }; // Deno, and Node from 24.2 on
  if (main !== undefined || argv?.[1] === undefined) return main === true;
  const [{ realpath }, { pathToFileURL }] = await Promise.all([
    import('node:fs/promises'),
    import('node:url'),
  ]);
  // a test runner or a bundler may name there what is not a file
  const started = await realpath(argv[1]).catch(() => '');
  return pathToFileURL(started).href === import.meta.url;
}

async function run({ argv, stdout, stderr }: Program): Promise<number> {
  const files = argv.slice(2);
  if (files.includes('--help') || files.includes('-h')) {
    stdout.write(USAGE);
    return 0;
  }
  const options = new Map<string, string | undefined>();
  while (files[0]?.startsWith('--')) {
    const [name] = files.splice(0, 1);
    options.set(name, name === '--require-fixed' ? '' : files.shift());
  }
  const headers = options.get('--headers');
  const isKnown = [...options].every(([name, value]) => OPTIONS.includes(name) && value !== undefined);
  if (!isKnown || (files.length !== 3 && (files.length !== 2 || headers !== undefined))) {
    stderr.write(USAGE);
    return 2;
  }
  const isWitnessed = options.has('--witness') || options.has('--quorum');
  const witnesses = isWitnessed
    ? readWitnessPolicy(options.get('--witness') ?? '', options.get('--quorum') ?? '')
    : undefined;
  if (typeof witnesses === 'string') {
    stderr.write(`qrn-verify: --witness and --quorum: ${witnesses}\n`);
    return 2;
  }
  let input: VerificationInput;
  try {
    const policy = witnesses === undefined ? {} : { witnesses };
    const requireFixed = options.has('--require-fixed');
    input = { ...(await inputOf(files, headers)), ...policy, requireFixed };
  } catch (error) {
    stderr.write(`qrn-verify: ${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
  const verification = await verifyAnswer(input);
  stdout.write(verificationText(verification));
  const verdict = `${verdictText(verification, files[0])}\n`;
  if (verification.ok) stdout.write(verdict);
  else stderr.write(verdict);
  return verification.ok ? 0 : 1;
}

async function inputOf(files: readonly string[], headers: string | undefined): Promise<VerificationInput> {
  const [answer] = files.slice(0, -2);
  const given = answer === undefined ? {} : await answerOf(answer, headers);
  const [certificate, keys] = files.slice(-2);
  return { ...given, certificate: await readJson(certificate), keys: await readJson(keys) };
}

async function answerOf(
  path: string,
  headers: string | undefined,
): Promise<Pick<VerificationInput, 'response' | 'octets'>> {
  if (headers === undefined) return { response: await readJson(path) };
  const response = responseOfFields(fieldsOf(textOf(await readBytes(headers))));
  return { response, octets: await readBytes(path) };
}

async function readBytes(path: string): Promise<Uint8Array> {
  const { readFile } = await import('node:fs/promises');
  return readFile(path);
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

async function readJson(path: string): Promise<unknown> {
  const text = textOf(await readBytes(path));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not JSON`, { cause: error });
  }
  const repeated = repeatedMember(text);
  if (repeated === undefined) return value;
  throw new Error(`${path} has two members ${JSON.stringify(repeated)} in one object`);
}
