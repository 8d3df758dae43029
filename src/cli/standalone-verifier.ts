import { verifyAnswer } from '../certificate/verify.ts';
import { verdictText, verificationText } from './verification-text.ts';

/**
 * The command line of dist/qrn-verify.mjs, the verifier as one file that needs nothing beside it. Node and
 * Deno run it; where the file is imported, or loaded by a page, this does nothing. scripts/build-verifier.ts
 * puts it together.
 */

const USAGE = `usage: qrn-verify.mjs [ANSWER.json] CERTIFICATE.json KEYS.json

Checks a saved answer, its certificate and the signed log it stands in, without asking anyone.
  ANSWER.json       the body of the answer; without it the certificate alone is checked
  CERTIFICATE.json  the body of /v1/certificate?id=..., or of the verification page as JSON
  KEYS.json         /.well-known/qrn-keys.json, best had long before or from someone else
Exit status: 0 when all checks hold, 1 when one does not, 2 when the files cannot be read.
`;

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
  // a test runner or a bundler may name there what is no file
  const started = await realpath(argv[1]).catch(() => '');
  return pathToFileURL(started).href === import.meta.url;
}

async function run({ argv, stdout, stderr }: Program): Promise<number> {
  const files = argv.slice(2);
  if (files.includes('--help') || files.includes('-h')) {
    stdout.write(USAGE);
    return 0;
  }
  if (files.length !== 2 && files.length !== 3) {
    stderr.write(USAGE);
    return 2;
  }
  let parsed: unknown[];
  try {
    parsed = await Promise.all(files.map(readJson));
  } catch (error) {
    stderr.write(`qrn-verify: ${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
  const [keys, certificate, response] = parsed.toReversed();
  const input = files.length === 3 ? { response, certificate, keys } : { certificate, keys };
  const verification = await verifyAnswer(input);
  stdout.write(verificationText(verification));
  const verdict = `${verdictText(verification, files[0])}\n`;
  if (verification.ok) stdout.write(verdict);
  else stderr.write(verdict);
  return verification.ok ? 0 : 1;
}

async function readJson(path: string): Promise<unknown> {
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(path, 'utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not JSON`, { cause: error });
  }
}
