import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import { openApiDocument } from '../../src/http/openapi/document.ts';

/**
 * Makes clients/typescript/src/openapi.ts: the types of the TypeScript client's answers and parameters, from the OpenAPI document.
 * `node test/generated-client/client-types.ts`
 */
export const CLIENT_TYPES = fileURLToPath(
  new URL('../../clients/typescript/src/openapi.ts', import.meta.url),
);

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
  readonly schema: object;
}

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
}

/** Answers that the client composes itself, and what it does not ask for, are left out. */
const USED =
  /(Data|^Quote|^Metadata|^Meta|^Credits|^CertificateDocument|^Usage|^Tiers|^Health|^HealthReport|^Error|^IntegersAnswer)$/;
/** What every call takes, which the client has names of its own for, and what is for those who read answers without a client. */
const NOT_OWN = ['entropy_mode', 'purpose', 'user_data', 'user_data_sha256', 'public', 'dry_run', 'format'];

export async function clientTypes(): Promise<string> {
  const document = openApiDocument({ baseUrl: 'https://qrn.example/v1', version: '' }) as {
    readonly paths: Readonly<Record<string, { readonly get?: Operation }>>;
    readonly components: { readonly schemas: Readonly<Record<string, object>> };
  };
  const schemas = Object.entries(document.components.schemas).filter(([name]) => USED.test(name));
  for (const { get } of Object.values(document.paths)) {
    if (get === undefined) continue;
    const kind = `${get.operationId[0].toUpperCase()}${get.operationId.slice(1)}`;
    if (`${kind}Data` in document.components.schemas) schemas.push([`${kind}Asked`, askedOf(get)]);
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
  return `// Made of the OpenAPI document by test/generated-client/client-types.ts.\n${own}`;
}

/** Its own parameters, as the members of an object. */
function askedOf({ parameters }: Operation): object {
  const own = parameters.filter((each) => each.in === 'query' && !NOT_OWN.includes(each.name));
  return {
    type: 'object',
    required: own.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(
      own.map(({ name, description, schema }) => [name, { ...schema, description }]),
    ),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(CLIENT_TYPES, await clientTypes());
