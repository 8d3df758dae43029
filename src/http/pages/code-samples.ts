import { DATA_ENDPOINTS } from '../../core/vocabulary.ts';

/** An example call of the documentation. */
export interface Call {
  readonly name: string;
  readonly method: string;
  /** Ends in /v1. */
  readonly baseUrl: string;
  /** The path with its placeholders, such as /v1/draws/{id}. */
  readonly path: string;
  /** True if it needs a key. */
  readonly isKeyed: boolean;
  /** The parameters of the path and the query. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly body: object | undefined;
}

/** The endpoints that the client libraries have a method for. The others are shown only for curl. */
const CLIENT_METHODS: readonly string[] = [...DATA_ENDPOINTS, 'certificate', 'health', 'usage'];

/** Returns the call in each language, by the name of the language. */
export function samplesOf(call: Call): Readonly<Record<string, string>> {
  const samples = { curl: curlOf(call) };
  if (!CLIENT_METHODS.includes(call.name)) return samples;
  return { ...samples, TypeScript: typescriptOf(call), Python: pythonOf(call) };
}

/**
 * Returns the path with its placeholders filled in, and a query of the other parameters. Commas separate items, so they are
 * not encoded.
 */
export function targetOf(path: string, given: Readonly<Record<string, unknown>>): string {
  const query = Object.entries(given)
    .filter(([name]) => !path.includes(`{${name}}`))
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value)).replaceAll('%2C', ',')}`);
  const filled = path.replaceAll(/\{(\w+)\}/g, (part, name: string) => String(given[name] ?? part));
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`;
}

/** Returns indented JSON with each list of numbers or short texts on one line. */
export function prettyJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replaceAll(
    /\[\n\s+((?:-?[\d.]+(?:e[-+]\d+)?|"[^"\\\n]{0,40}")(?:,\n\s+(?:-?[\d.]+(?:e[-+]\d+)?|"[^"\\\n]{0,40}"))*)\n\s+\]/g,
    (_, members: string) => `[${members.replaceAll(/,\n\s+/g, ', ')}]`,
  );
}

function curlOf({ method, baseUrl, path, isKeyed, parameters, body }: Call): string {
  const lines = [method === 'DELETE' ? 'curl -X DELETE' : 'curl'];
  if (isKeyed) lines[0] += ' -H "Authorization: Bearer $QRN_KEY"';
  if (body !== undefined)
    lines.push("  -H 'Content-Type: application/json'", `  -d ${quotedForShell(JSON.stringify(body))}`);
  const address = baseUrl.slice(0, -'/v1'.length) + targetOf(path, parameters);
  lines.push(`  ${quotedForShell(address)}`);
  return isKeyed ? lines.join(' \\\n') : lines.map((line) => line.trim()).join(' ');
}

/** Quotes a text for a POSIX shell. Single quotes protect everything except a single quote, which becomes '\''. */
function quotedForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function typescriptOf({ name, baseUrl, parameters, body }: Call): string {
  const all = { ...body, ...parameters };
  const given = name === 'certificate' ? parameters['id'] : Object.keys(all).length === 0 ? undefined : all;
  return `import { QrnClient } from 'qrn-client';

const client = new QrnClient({ baseUrl: '${baseUrl}' }); // the key is in QRN_KEY
const answer = await client.${name}(${given === undefined ? '' : spaced(given)});
console.log(answer);`;
}

/** Returns the call in Python. The Python client takes the `params` of a batch as arguments of their own. */
function pythonOf({ name, baseUrl, parameters, body = {} }: Call): string {
  const { params, ...rest } = body as { params?: object };
  const given = Object.entries({ ...rest, ...params, ...parameters }).map(([argument, value]) => {
    const text = typeof value === 'boolean' ? (value ? 'True' : 'False') : spaced(value);
    return name === 'certificate' ? text : `${argument}=${text}`;
  });
  return `from qrn_client import QrnClient

client = QrnClient("${baseUrl}")  # the key is in QRN_KEY
answer = client.${name}(${given.join(', ')})
print(answer)`;
}

/** Returns JSON on one line, which is valid in all three languages. */
function spaced(value: unknown): string {
  return JSON.stringify(value, undefined, 1)
    .replaceAll(/\n */g, ' ')
    .replaceAll('[ ', '[')
    .replaceAll(' ]', ']');
}
