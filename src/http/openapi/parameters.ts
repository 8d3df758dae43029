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
  'Separate the items by commas, and encode each item as percent-encoded UTF-8. `%2C` is a comma within an item. If the value contains no literal comma, `%2C` separates items instead, because form encoders also encode the separators. `+` is a space.';

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
    'A key that makes retries safe. If you send the same request with the same key again within 24 hours, the service returns the first answer again, byte for byte. The repetition spends no credits and does not count towards the monthly quota.',
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
