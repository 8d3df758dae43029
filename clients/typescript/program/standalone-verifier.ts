import { fieldsOf, responseOfFields } from '../../../src/certificate/octet-answer.ts';
import { type Verification, verifyAnswer } from '../../../src/certificate/verify.ts';
import { type DrawVerification, verifyDraw } from '../../../src/certificate/verify-draw.ts';
import { readWitnessPolicy } from '../../../src/certificate/verify-witnesses.ts';
import { parseStrictJson } from '../../../src/core/repeated-member.ts';
import { exitStatusOf, isDraw, NOT_CHECKED, verdictText, verificationText } from './verification-text.ts';

/**
 * The command line of dist/qrn-verify.mjs, the verifier in one file, which scripts/build-verifier.ts makes. Node, Deno
 * and Bun run it. When the file is imported or loaded by a page, this code does nothing.
 */

const USAGE = `usage: qrn-verify.mjs [OPTIONS] ANSWER CERTIFICATE.json KEYS.json
       qrn-verify.mjs [OPTIONS] CERTIFICATE.json KEYS.json
       qrn-verify.mjs [OPTIONS] DRAW.json KEYS.json

Verifies a saved answer, its certificate and the signed log that contains it,
or a committed draw. The program sends no requests.
  ANSWER            the body of the answer; without it, only the certificate is
                    verified
  CERTIFICATE.json  the body of /v1/certificate?id=..., or of the verification
                    page as JSON
  DRAW.json         the body of /v1/draws/ID
  KEYS.json         /.well-known/qrn-keys.json, preferably saved long before
                    the answer or obtained from someone else

  --headers HEADERS.txt  the headers of an answer in octets, as
                         curl -D HEADERS.txt writes them
  --witness KEY,...      verifier keys of witnesses that you trust and that
                         must have cosigned the log
  --quorum N             the number of these witnesses that must have cosigned;
                         default: all
  --require-fixed        reject an answer whose certificate does not show that
                         the bytes were logged before the answer
Exit status, as of qrn verify: 0 if all checks pass, 1 if a check fails, 2 if
the files cannot be read, 3 if a draw is as logged but has no result, because
it is pending, overdue, cancelled or failed.
`;

const OPTIONS: readonly string[] = ['--headers', '--witness', '--quorum', '--require-fixed'];

/** The parts of `process` in Node, Deno and Bun that are used here. Browsers have no `process`. */
interface Program {
  readonly argv: readonly string[];
  exitCode?: number | undefined;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** Runs the command line, if this file is the main program. The bundled file calls it at its end. */
export async function runIfMain(): Promise<void> {
  const { process } = globalThis as { process?: Program };
  if (process !== undefined && (await isMain(process))) process.exitCode = await run(process);
}

async function isMain({ argv }: Program): Promise<boolean> {
  const { main } = import.meta as { main?: boolean }; // Deno and Bun, and Node from 24.2 on
  if (main !== undefined || argv?.[1] === undefined) return main === true;
  const [{ realpath }, { pathToFileURL }] = await Promise.all([
    import('node:fs/promises'),
    import('node:url'),
  ]);
  // argv[1] of a test runner or a bundler need not be a file
  const started = await realpath(argv[1]).catch(() => '');
  return pathToFileURL(started).href === import.meta.url;
}

async function run({ argv, stdout, stderr }: Program): Promise<number> {
  const given = argv.slice(2);
  if (given.includes('--help') || given.includes('-h')) {
    stdout.write(USAGE);
    return 0;
  }
  const files: string[] = [];
  const options = new Map<string, string | undefined>();
  for (let word = given.shift(); word !== undefined; word = given.shift()) {
    if (!word.startsWith('--')) files.push(word);
    else options.set(word, word === '--require-fixed' ? '' : given.shift());
  }
  const wrong = [...options].find(([name, value]) => !OPTIONS.includes(name) || value === undefined);
  if (wrong !== undefined) {
    const allowed = OPTIONS.join(', ');
    stderr.write(
      `qrn-verify: the option ${wrong[0]} is unknown or has no value; the options are ${allowed}\n`,
    );
    return NOT_CHECKED;
  }
  const headers = options.get('--headers');
  if (files.length !== 3 && (files.length !== 2 || headers !== undefined)) {
    stderr.write(USAGE);
    return NOT_CHECKED;
  }
  const isWitnessed = options.has('--witness') || options.has('--quorum');
  const witnesses = isWitnessed
    ? readWitnessPolicy(options.get('--witness') ?? '', options.get('--quorum') ?? '')
    : undefined;
  if (typeof witnesses === 'string') {
    stderr.write(`qrn-verify: --witness and --quorum: ${witnesses}\n`);
    return NOT_CHECKED;
  }
  const policy = witnesses === undefined ? {} : { witnesses };
  let verification: Verification | DrawVerification;
  try {
    const [certificate, keys] = await Promise.all(files.slice(-2).map(readJson));
    if (isDraw(certificate) && files.length === 2) {
      verification = await verifyDraw({ draw: certificate, keys, ...policy, nowMs: Date.now() });
    } else {
      const answer = files.length === 2 ? {} : await answerOf(files[0], headers);
      const requireFixed = options.has('--require-fixed');
      verification = await verifyAnswer({ ...answer, certificate, keys, ...policy, requireFixed });
    }
  } catch (error) {
    stderr.write(`qrn-verify: ${error instanceof Error ? error.message : String(error)}\n`);
    return NOT_CHECKED;
  }
  stdout.write(verificationText(verification));
  const status = exitStatusOf(verification);
  const verdict = `${verdictText(verification, files[0])}\n`;
  if (status === 0) stdout.write(verdict);
  else stderr.write(verdict);
  return status;
}

async function answerOf(
  path: string,
  headers: string | undefined,
): Promise<{ readonly response: unknown; readonly octets?: Uint8Array }> {
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
  return parseStrictJson(await readBytes(path), path);
}
