import { type CommandContext, CommandError, type Given, type OptionTable } from '../../../src/cli/command.ts';
import { urlGiven } from '../../../src/cli/documents.ts';
import { messageOf } from '../../../src/core/assert.ts';
import type { Answer } from '../src/answers.ts';
import { QrnClient, type VerifiableAnswer } from '../src/client.ts';
import { ConnectionFailedError, QrnError } from '../src/error.ts';
import { verdictText, verificationText } from './verification-text.ts';

/** The option with which every command of the client finds the service. */
export const SERVICE_OPTIONS = {
  url: {
    value: 'URL',
    meaning:
      'base URL of the service, which ends in /v1; default: QRN_URL, otherwise the service of these settings. The API key is\n' +
      'QRN_KEY; for the service on this machine the demo key in the data folder is the default',
  },
} as const satisfies OptionTable;

/** The exit status when an answer could not be checked. It may be true. */
const NOT_CHECKED = 2;

/** The key of a client whose calls send none. */
const NO_KEY = 'none';

/** Returns a client for the service. Throws a CommandError when a key is needed and there is none. */
export function connect(
  input: Given<typeof SERVICE_OPTIONS>,
  context: CommandContext,
  need: 'key needed' | 'key not needed' = 'key needed',
): { client: QrnClient; url: string } {
  const { environment } = context;
  const given = urlGiven(input, context);
  const local = context.localService(environment);
  const url = given ?? local.apiUrl;
  const shown = url.replace(/\/\/[^/?#]*@/, '//');
  if (shown !== url)
    throw new CommandError(
      `${shown} must not contain a user name and a password; set QRN_KEY to the API key`,
    );
  // the demo key is sent only to the service of this data folder
  const fallback = need === 'key needed' ? undefined : NO_KEY;
  const key = environment['QRN_KEY'] || (given === undefined ? local.demoKey() : undefined) || fallback;
  if (key === undefined || key === '') {
    const also =
      given === undefined ? ', or start the service, which writes a demo key to its data folder' : '';
    throw new CommandError(`there is no API key: set QRN_KEY${also}`);
  }
  try {
    const onWarning = (message: string) => context.talk(`${message}\n`);
    return { client: new QrnClient({ baseUrl: url, key, onWarning }), url };
  } catch (error) {
    throw new CommandError(`${url} cannot be used: ${messageOf(error)}`);
  }
}

/** Runs `use`, and turns a failure of the service into a CommandError of one line. */
export async function serving<T>(url: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    if (error instanceof ConnectionFailedError) {
      throw new CommandError(
        `no service answers at ${url}: start it, or set QRN_URL to the address of a running service. ${error.message}`,
      );
    }
    if (!(error instanceof QrnError)) throw error;
    const named = error.requestId === null ? '' : ` (${error.requestId})`;
    throw new CommandError(`${error.code}: ${error.message}${named}`);
  }
}

/**
 * Checks an answer against its certificate and the log, and prints the finding to stderr. Returns the exit status: 0
 * when the answer is verified, 1 when it is not, 2 when the service could not be asked.
 */
export async function checked(
  client: QrnClient,
  answer: VerifiableAnswer,
  context: CommandContext,
): Promise<number> {
  try {
    const verification = await client.verify(answer);
    if (!verification.ok) context.talk(verificationText(verification));
    context.talk(`${verdictText(verification, 'the answer')}\n`);
    return verification.ok ? 0 : 1;
  } catch (error) {
    if (!(error instanceof QrnError)) throw error;
    context.talk(`the answer could not be verified: ${error.message}\n`);
    return NOT_CHECKED;
  }
}

/** Returns a line for people that says where the values came from; the origin of a simulation is `simulated`. */
export function provenanceText({ data, metadata, credits }: Answer<unknown>): string {
  const { entropy_mode: mode, quantum_source: source } = data.metadata;
  const from = mode === 'csprng' ? 'the operating system' : source;
  const spent = mode === 'pure' ? `; ${credits.used} credits` : '';
  return `${mode}, origin ${metadata.entropy_origin}, from ${from}${spent}; certificate ${metadata.certificate_id}\n`;
}
