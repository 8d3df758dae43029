import { DATA_ENDPOINTS } from '../../core/vocabulary.ts';

/*
 * The code that the documentation shows for a call. The server writes it for the example, the page's script again
 * whenever a field of the form changes.
 */

export type Language = 'curl' | 'typescript' | 'python';

/** A value of a parameter, by what it is. */
export type FieldKind = 'integer' | 'number' | 'integer-list' | 'boolean' | 'choice' | 'items' | 'text';

/** A call that somebody is about to make. */
export interface Call {
  readonly name: string;
  readonly method: string;
  /** Ends in /v1. */
  readonly baseUrl: string;
  /** As the service has it, such as /v1/draws/{id}. */
  readonly path: string;
  /** It needs a key. */
  readonly isKeyed: boolean;
  /** The fields that are filled in, in the order of the definition. */
  readonly fields: readonly { readonly name: string; readonly kind: FieldKind; readonly value: string }[];
  /** The JSON text of a body. */
  readonly body: string | undefined;
}

const DRAWING: readonly string[] = DATA_ENDPOINTS;
/** Endpoints whose calls the clients have a method for. The others are shown for curl alone. */
const CLIENT_METHODS = [...DRAWING, 'certificate', 'health', 'usage'];

export function languagesOf(name: string): readonly Language[] {
  return CLIENT_METHODS.includes(name) ? ['curl', 'typescript', 'python'] : ['curl'];
}

/** JSON for people: as JSON.stringify writes it, with each list of numbers or short texts on one line. */
export function prettyJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replaceAll(
    /\[\n\s+((?:-?[\d.]+(?:e[-+]\d+)?|"[^"\\\n]{0,40}")(?:,\n\s+(?:-?[\d.]+(?:e[-+]\d+)?|"[^"\\\n]{0,40}"))*)\n\s+\]/g,
    (_, members: string) => `[${members.replaceAll(/,\n\s+/g, ', ')}]`,
  );
}

/** The path with its fields filled in, and the query of the other ones. */
export function targetOf({ path, fields }: Call): string {
  const filled = path.replaceAll(
    /\{(\w+)\}/g,
    (part, name: string) => fields.find((each) => each.name === name)?.value ?? part,
  );
  const query = queryOf(path, fields);
  return query === '' ? filled : `${filled}?${query}`;
}

/** Commas part items, so they stay as they are. */
function queryOf(path: string, fields: Call['fields']): string {
  return fields
    .filter(({ name }) => !path.includes(`{${name}}`))
    .map(({ name, value }) => `${name}=${encodeURIComponent(value).replaceAll('%2C', ',')}`)
    .join('&');
}

export function codeOf(language: Language, call: Call): string {
  switch (language) {
    case 'curl':
      return curlOf(call);
    case 'typescript':
      return typescriptOf(call);
    case 'python':
      return pythonOf(call);
  }
}

function curlOf(call: Call): string {
  const origin = call.baseUrl.slice(0, -'/v1'.length);
  const method = call.method === 'DELETE' ? 'curl -X DELETE' : 'curl';
  const lines = [call.isKeyed ? `${method} -H "Authorization: Bearer $QRN_KEY"` : method];
  if (call.body !== undefined) {
    lines.push("  -H 'Content-Type: application/json'", `  -d ${quotedForShell(call.body)}`);
  }
  const pdf = call.fields.some(({ name, value }) => name === 'format' && value === 'pdf');
  if (pdf) lines.push('  -o certificate.pdf');
  const address = quotedForShell(origin + targetOf(call));
  return lines.length === 1 && !call.isKeyed
    ? `${lines[0]} ${address}`
    : [...lines, `  ${address}`].join(' \\\n');
}

/** A POSIX shell takes everything between single quotes as it is; a quote itself is left, escaped and entered again. */
function quotedForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function typescriptOf(call: Call): string {
  const { members, isQuote } = argumentsOf(call);
  const parameters = objectText(members, 'typescript');
  const method = isQuote ? 'quote' : call.name;
  let given = parameters === '{}' ? '' : parameters;
  if (isQuote) given = `'${call.name}', ${parameters}`;
  else if (call.name === 'certificate') given = literal(members['id'] ?? 'cert_…', 'typescript');
  const shown = DRAWING.includes(call.name) && !isQuote ? 'answer.data' : 'answer';
  return [
    `import { QrnClient } from 'qrn-client';`,
    '',
    `const client = new QrnClient({ baseUrl: '${call.baseUrl}' }); // the key is in QRN_KEY`,
    `const answer = await client.${method}(${given});`,
    `console.log(${shown});`,
  ].join('\n');
}

function pythonOf(call: Call): string {
  const { members, isQuote } = argumentsOf(call);
  const named = Object.entries(
    call.name === 'batch' && !isQuote ? flattened(members) : snakeCased(members),
  ).map(([name, value]) => `${name}=${literal(value, 'python')}`);
  const isPdf = call.name === 'certificate' && members['format'] === 'pdf';
  let method = isPdf ? 'certificate_pdf' : call.name;
  let given = named.join(', ');
  if (isQuote) {
    method = 'quote';
    given = [`"${call.name}"`, ...named].join(', ');
  } else if (call.name === 'certificate') given = literal(members['id'] ?? 'cert_…', 'python');
  const shown = DRAWING.includes(call.name) && !isQuote ? 'answer.values' : isPdf ? 'len(answer)' : 'answer';
  return [
    'from qrn_client import QrnClient',
    '',
    `client = QrnClient("${call.baseUrl}")  # the key is in QRN_KEY`,
    `answer = client.${method}(${given})`,
    `print(${shown})`,
  ].join('\n');
}

type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value };

/** What a client's method is given: `format` is for callers without a client, and `dry_run` is a method of its own. */
function argumentsOf(call: Call): { members: Record<string, Value>; isQuote: boolean } {
  const members: Record<string, Value> = {};
  let isQuote = false;
  for (const { name, kind, value } of call.fields) {
    if (name === 'dry_run') isQuote = value === 'true';
    else if (name === 'entropy_mode') members['entropyMode'] = value;
    else if (name !== 'format' || call.name === 'certificate') members[name] = typedValue(kind, value);
  }
  return { members: { ...bodyOf(call), ...members }, isQuote };
}

function bodyOf({ body }: Call): Record<string, Value> {
  try {
    const parsed: unknown = JSON.parse(body ?? '{}');
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, Value>) : {};
  } catch {
    return {}; // half typed
  }
}

function typedValue(kind: FieldKind, value: string): Value {
  if (kind === 'integer' && /^-?\d+$/.test(value)) return Number(value);
  if (kind === 'number' && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  if (kind === 'boolean') return value === 'true';
  if (kind === 'integer-list' && /^-?\d+(,-?\d+)*$/.test(value)) return value.split(',').map(Number);
  return kind === 'items' ? value.split(',') : value;
}

function snakeCased({ entropyMode, ...rest }: Record<string, Value>): Record<string, Value> {
  return entropyMode === undefined ? rest : { ...rest, entropy_mode: entropyMode };
}

/** The Python client takes what a batch is told beside its count as arguments of their own. */
function flattened({ params, ...rest }: Record<string, Value>): Record<string, Value> {
  const own = typeof params === 'object' && !Array.isArray(params) ? (params as Record<string, Value>) : {};
  return snakeCased({ ...rest, ...own });
}

function literal(value: Value, language: 'typescript' | 'python'): string {
  if (typeof value === 'string') {
    const text = JSON.stringify(value);
    return language === 'python'
      ? text
      : `'${text.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  }
  if (typeof value === 'number') return String(value);
  if (value === null) return language === 'python' ? 'None' : 'null';
  if (typeof value === 'boolean') return language === 'python' ? (value ? 'True' : 'False') : String(value);
  if (Array.isArray(value)) return `[${value.map((each) => literal(each, language)).join(', ')}]`;
  return objectText(value as Record<string, Value>, language);
}

function objectText(members: Record<string, Value>, language: 'typescript' | 'python'): string {
  const entries = Object.entries(members).map(([name, value]) => {
    const key = language === 'python' || !/^[A-Za-z_]\w*$/.test(name) ? JSON.stringify(name) : name;
    return `${key}: ${literal(value, language)}`;
  });
  if (entries.length === 0) return '{}';
  return language === 'python' ? `{${entries.join(', ')}}` : `{ ${entries.join(', ')} }`;
}
