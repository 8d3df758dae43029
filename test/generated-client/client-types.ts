import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import { openApiDocument } from '../../src/http/openapi/document.ts';

/**
 * Generates the types of the TypeScript client from the OpenAPI document: its answers and parameters, and for its
 * program the kinds of values with their parameters. `node test/generated-client/client-types.ts` writes both.
 */
const client = new URL('../../clients/typescript/', import.meta.url);
const HEAD = '// Made of the OpenAPI document by test/generated-client/client-types.ts.\n';

const KIND_TYPES = `export interface Parameter {
  readonly type: string | readonly string[];
  readonly description: string;
  readonly enum?: readonly string[];
  readonly default?: string | number | boolean | null;
}

/** Its own parameters, without those of every call. */
export interface AskedKind {
  readonly summary: string;
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Parameter>>;
}
`;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
  readonly schema: object;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
}

/** Answers that the client composes itself, and what it does not ask for, are left out. */
const USED =
  /(Data|^Quote|^Metadata|^Meta|^Credits|^CertificateDocument|^Usage|^Tiers|^Health|^HealthReport|^Error|^IntegersAnswer|^DrawAnswer|^Draw)$/;
/**
 * Parameters that every call takes, for which the client has its own names, and those for programs without a client.
 */
const NOT_OWN = ['entropy_mode', 'purpose', 'user_data', 'user_data_sha256', 'public', 'dry_run', 'format'];

/** The text of each file, by its place in the client. */
export async function clientFiles(): Promise<Readonly<Record<string, string>>> {
  const document = openApiDocument({ baseUrl: 'https://qrn.example/v1', version: '' }) as {
    readonly paths: Readonly<Record<string, { readonly get?: Operation }>>;
    readonly components: { readonly schemas: Readonly<Record<string, object>> };
  };
  const schemas = Object.entries(document.components.schemas).filter(([name]) => USED.test(name));
  const kinds: [name: string, kind: object][] = [];
  for (const { get } of Object.values(document.paths)) {
    if (get === undefined) continue;
    const { operationId: name, summary } = get;
    const kind = `${name[0].toUpperCase()}${name.slice(1)}`;
    if (!(`${kind}Data` in document.components.schemas)) continue;
    const asked = askedOf(get);
    schemas.push([`${kind}Asked`, { type: 'object', ...asked }]);
    const told = Object.entries(asked.properties).map(([each, schema]) => [each, toldOf(schema)]);
    kinds.push([
      name,
      {
        summary: summary.replace(/(?<=\.) .*/, ''),
        required: asked.required,
        properties: Object.fromEntries(told),
      },
    ]);
  }
  const types = await openapiTS(
    JSON.stringify({
      openapi: '3.1.0',
      info: { title: '', version: '' },
      paths: {},
      components: { schemas: Object.fromEntries(schemas) },
    }),
    {
      ...{ immutable: true, exportType: true, emptyObjectsUnknown: true, defaultNonNullable: false },
      ...{ rootTypes: true, rootTypesNoSchemaPrefix: true },
    },
  );
  const text = astToString(types);
  const own = text.slice(text.indexOf('export type components'), text.indexOf('export type $defs'));
  const table = JSON.stringify(Object.fromEntries(kinds), null, 2);
  const head = `${HEAD}\n${KIND_TYPES}\n`;
  return {
    'src/openapi.ts': `${HEAD}${own}`,
    'program/kinds.ts': `${head}export const KINDS: Readonly<Record<string, AskedKind>> = ${table};\n`,
  };
}

/** Returns the present content. */
export function writtenFile(place: string): string {
  return readFileSync(new URL(place, client), 'utf8');
}

/** Its own parameters, as the members of an object. */
function askedOf({ parameters }: Operation) {
  const own = parameters.filter((each) => each.in === 'query' && !NOT_OWN.includes(each.name));
  return {
    required: own.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(
      own.map(({ name, description, schema }) => [name, { ...schema, description }]),
    ) as Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  };
}

/** Returns what a program needs to know of a parameter; the service checks the rest. */
function toldOf({ type, enum: words, default: fallback, description }: Readonly<Record<string, unknown>>) {
  return { type, enum: words, default: fallback, description };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [place, text] of Object.entries(await clientFiles()))
    writeFileSync(new URL(place, client), text);
}
