declare const OF: unique symbol;

/**
 * A JSON Schema (draft 2020-12, as OpenAPI 3.1 uses it) that carries the TypeScript type of the values it describes.
 */
export type Schema<T = unknown> = Readonly<Record<string, unknown>> & { readonly [OF]?: T };
/** The type of the values that a schema describes, so that the schema and the type are written once. */
export type TypeOf<S> = S extends Schema<infer T> ? T : never;

type Properties = Readonly<Record<string, Schema>>;
/** The type of an object whose members these schemas describe. */
export type MembersOf<P extends Properties> = { readonly [Name in keyof P]: TypeOf<P[Name]> };

/** Returns the schema of an object with exactly these members; those of `optional` may be missing. */
export function object<P extends Properties, O extends Properties = Record<never, Schema>>(
  properties: P,
  optional?: O,
  description?: string,
): Schema<MembersOf<P> & Partial<MembersOf<O>>> {
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

export const text: Schema<string> = { type: 'string' };
export const octets: Schema = { type: 'string', format: 'binary' };
export const boolean: Schema<boolean> = { type: 'boolean' };
export const count: Schema<number> = { type: 'integer', minimum: 0 };
export const share: Schema<number> = { type: 'number', minimum: 0, maximum: 1 };
export const time: Schema<string> = { type: 'string', format: 'date-time' };
export const integer: Schema<number> = { type: 'integer' };
export const sha256 = textLike(/^sha256:[0-9a-f]{64}$/);

export function textLike({ source }: RegExp): Schema<string> {
  return { type: 'string', pattern: source };
}

export function wholeFrom(minimum: number, maximum: number): Schema<number> {
  return { type: 'integer', format: 'int64', minimum, maximum };
}

export function numberFrom(minimum: number, maximum: number): Schema<number> {
  return { type: 'number', minimum, maximum };
}

export const base64: Schema<string> = { type: 'string', contentEncoding: 'base64' };

export function constant<const T extends string | number>(value: T): Schema<T> {
  return { type: typeof value === 'string' ? 'string' : 'integer', const: value };
}

export function orNull<T>(schema: Schema<T>): Schema<T | null> {
  return { ...schema, type: [schema['type'], 'null'] };
}

export function oneOfWords<const W extends string>(words: readonly W[], description?: string): Schema<W> {
  return { type: 'string', enum: words, ...(description === undefined ? {} : { description }) };
}

export function listOf<T>(items: Schema<T>): Schema<readonly T[]> {
  return { type: 'array', items };
}

/** Returns the schema of a list with `minItems` to `maxItems` items. */
export function listFrom<T>(items: Schema<T>, minItems: number, maxItems: number): Schema<readonly T[]> {
  return { type: 'array', items, minItems, maxItems };
}

/** Returns the schema of a list with at least one item. */
export function someOf<T>(items: Schema<T>): Schema<readonly T[]> {
  return listFrom(items, 1, LIST_ITEMS_MAX);
}

/** The most items of a list from outside, so that checking it takes little time. */
export const LIST_ITEMS_MAX = 4_096;

export function described<T>(schema: Schema<T>, description: string): Schema<T> {
  return { ...schema, description };
}
