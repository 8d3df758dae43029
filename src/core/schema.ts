/** A JSON Schema (draft 2020-12, as OpenAPI 3.1 takes it). */
export type Schema = Readonly<Record<string, unknown>>;
type Properties = Readonly<Record<string, Schema>>;

/** An object with exactly these members; those of `optional` may be missing. */
export function object(properties: Properties, optional: Properties = {}, description?: string): Schema {
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

export const text: Schema = { type: 'string' };
export const octets: Schema = { type: 'string', format: 'binary' };
export const boolean: Schema = { type: 'boolean' };
export const count: Schema = { type: 'integer', minimum: 0 };
export const share: Schema = { type: 'number', minimum: 0, maximum: 1 };
export const time: Schema = { type: 'string', format: 'date-time' };
export const integer: Schema = { type: 'integer' };
export const sha256: Schema = { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' };

export function orNull(schema: Schema): Schema {
  return { ...schema, type: [schema['type'], 'null'] };
}

export function oneOfWords(words: readonly string[], description?: string): Schema {
  return { type: 'string', enum: words, ...(description === undefined ? {} : { description }) };
}

export function listOf(items: Schema): Schema {
  return { type: 'array', items };
}

/** Of at least one, and of so few that no check of them takes long. */
export function someOf(items: Schema): Schema {
  return { ...listOf(items), minItems: 1, maxItems: LIST_ITEMS_MAX };
}

/** Entries of a list that somebody else wrote. */
export const LIST_ITEMS_MAX = 4_096;

export function described(schema: Schema, description: string): Schema {
  return { ...schema, description };
}
