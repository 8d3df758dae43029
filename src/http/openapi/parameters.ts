import { orNull, type Schema } from '../../core/schema.ts';
import { isListOfTexts, type ParameterDefinition } from '../params.ts';
import { MEDIA_TYPES } from '../representation.ts';

/** A Parameter Object of OpenAPI. */
export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

export type MediaTypes = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;

export function queryParameter(definition: ParameterDefinition): Parameter {
  const { name, required = false, description, schema } = definition;
  const form = isListOfTexts(schema) ? ` ${ITEMS_IN_QUERY}` : '';
  const list = schema['type'] === 'array' ? { style: 'form', explode: false } : {};
  return {
    name,
    in: 'query',
    ...(required ? { required } : {}),
    description: description + form,
    ...list,
    schema: valueSchema(definition),
  };
}

const ITEMS_IN_QUERY =
  'Separated by commas, each percent-encoded UTF-8. %2C is a comma in an item, unless the value has no literal comma: then it separates items, as form encoders write it. + is a blank.';

/** Returns the schema of a parameter's values, with the default. */
function valueSchema({ schema, default: preset = null }: ParameterDefinition): Schema {
  return preset === null ? schema : { ...schema, default: preset };
}

/** Returns the schema of a parameter as a member of a body or of an answer, with its description. */
export function parameterSchema(definition: ParameterDefinition): Schema {
  const schema = { description: definition.description, ...valueSchema(definition) };
  return definition.default === null ? orNull(schema) : schema;
}

export const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'The same key and request within 24 h gives the first answer again, byte for byte, and spends nothing: no credit and no request of the month.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
};

export function inPath(name: string, description: string, schema: Schema): Parameter {
  return { name, in: 'path', required: true, description, schema };
}

export function json(schema: Schema): MediaTypes {
  return { [MEDIA_TYPES.json]: { schema } };
}

/** Returns the schemas of an object's members from the parameters that are read from it. */
export function memberSchemas(definitions: readonly ParameterDefinition[]): Readonly<Record<string, Schema>> {
  return Object.fromEntries(definitions.map((each) => [each.name, parameterSchema(each)]));
}
