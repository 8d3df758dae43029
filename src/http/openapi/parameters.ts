import { orNull, type Schema } from '../../core/schema.ts';
import type { ParameterDefinition } from '../params.ts';
import { MEDIA_TYPES } from '../representation.ts';

/** A parameter of a query as OpenAPI describes it. */
export function queryParameter(definition: ParameterDefinition): Schema {
  const { name, required = false, description } = definition;
  const isList = definition.kind === 'items' || definition.kind === 'integer-list';
  const form = definition.kind === 'items' ? ` ${ITEMS_IN_QUERY}` : '';
  const list = isList ? { style: 'form', explode: false } : {};
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

/** The values that a parameter takes. */
function valueSchema(definition: ParameterDefinition): Schema {
  const preset = ('default' in definition ? definition.default : undefined) ?? undefined;
  return { ...typeOf(definition), ...(preset === undefined ? {} : { default: preset }) };
}

/** The same with what the parameter means: as a member of a body, or of an answer that echoes it. */
export function parameterSchema(definition: ParameterDefinition): Schema {
  const schema = { description: definition.description, ...valueSchema(definition) };
  return 'default' in definition && definition.default === null ? orNull(schema) : schema;
}

function typeOf(definition: ParameterDefinition): Schema {
  switch (definition.kind) {
    case 'integer':
      return { type: 'integer', format: 'int64', minimum: definition.min, maximum: definition.max };
    case 'number':
      return { type: 'number', minimum: definition.min, maximum: definition.max };
    case 'boolean':
      return { type: 'boolean' };
    case 'choice':
      return { type: 'string', enum: definition.values };
    case 'items':
      return { type: 'array', items: { type: 'string' }, minItems: definition.min, maxItems: definition.max };
    case 'integer-list': {
      const { min, max, lengthMin, lengthMax } = definition;
      const items = { type: 'integer', format: 'int64', minimum: min, maximum: max };
      return { type: 'array', items, minItems: lengthMin, maxItems: lengthMax };
    }
    case 'text':
      return { type: 'string', pattern: definition.pattern.source };
  }
}

export const IDEMPOTENCY_KEY: Schema = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'The same key and request within 24 h gives the first answer again, byte for byte, and spends nothing: no credit and no request of the month.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
};

export function inPath(name: string, description: string, schema: Schema): Schema {
  return { name, in: 'path', required: true, description, schema };
}

/** Content of a response or a request as JSON. */
export function json(schema: Schema): Schema {
  return { [MEDIA_TYPES.json]: { schema } };
}

/** The members of an object that parameters are read from. */
export function memberSchemas(definitions: readonly ParameterDefinition[]): Readonly<Record<string, Schema>> {
  return Object.fromEntries(definitions.map((each) => [each.name, parameterSchema(each)]));
}
