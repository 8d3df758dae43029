/** What the client knows of the program that it runs in. */

/** Name and version as in package.json, which test/client/package.test.ts compares. */
const PRODUCT = 'qrn-client/0.1.0';

/** Of Node, Deno and Bun, as far as each has them. */
interface Runtime {
  readonly process?: {
    readonly env?: Readonly<Record<string, string | undefined>>;
    readonly versions?: Readonly<Record<string, string | undefined>>;
  };
}

const { process } = globalThis as Runtime;

/** An environment variable; undefined where there are none, or where Deno does not let the program read it. */
export function environmentVariable(name: string): string | undefined {
  try {
    const value = process?.env?.[name]?.trim();
    return value === '' ? undefined : value;
  } catch {
    return undefined;
  }
}

/** The User-Agent field; null in browsers, which have one of their own and would ask the service whether it may be set. */
export function userAgent(): string | null {
  const versions = process?.versions;
  for (const name of ['deno', 'bun', 'node']) {
    if (versions?.[name] !== undefined) return `${PRODUCT} ${name}/${versions[name]}`;
  }
  return null;
}
