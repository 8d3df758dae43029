/** Reads the environment that the client runs in. */

/** The name and version in package.json; test/client/package.test.ts compares them. */
const PRODUCT = 'qrn-client/0.1.0';

/** The parts of Node, Deno and Bun that the client reads. */
interface Runtime {
  readonly process?: {
    readonly env?: Readonly<Record<string, string | undefined>>;
    readonly versions?: Readonly<Record<string, string | undefined>>;
  };
}

const { process } = globalThis as Runtime;

/**
 * Returns an environment variable; undefined when it is not set or empty, or when Deno does not let the program read
 * it.
 */
export function environmentVariable(name: string): string | undefined {
  try {
    const value = process?.env?.[name]?.trim();
    return value === '' ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * Returns the User-Agent field; null in a browser, which sets its own. If the client set it there, the browser would
 * first have to ask the service for permission (CORS).
 */
export function userAgent(): string | null {
  const versions = process?.versions;
  for (const name of ['deno', 'bun', 'node']) {
    if (versions?.[name] !== undefined) return `${PRODUCT} ${name}/${versions[name]}`;
  }
  return null;
}
