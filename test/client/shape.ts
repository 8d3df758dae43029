/**
 * A type as a value, so that the compiler holds it equal to the type and a test to a real answer. Texts of a closed set
 * are listed; `nullable`, `optional` and `record` say so; a list has the shape of its elements.
 */
export type Shape<T> = null extends T
  ? { readonly nullable: Shape<NonNullable<T>> }
  : [T] extends [boolean]
    ? 'boolean'
    : [T] extends [number]
      ? 'number'
      : [T] extends [string]
        ? string extends T
          ? 'string'
          : { readonly oneOf: readonly T[] }
        : T extends readonly (infer Element)[]
          ? readonly [Shape<Element>]
          : ObjectShape<T>;

type ObjectShape<T> = string extends keyof T
  ? unknown extends T[keyof T]
    ? 'object'
    : { readonly record: Shape<T[keyof T]> }
  : {
      readonly [Name in keyof T]-?: undefined extends T[Name]
        ? { readonly optional: Shape<Exclude<T[Name], undefined>> }
        : Shape<T[Name]>;
    };

/** Where a value is not of the shape: missing members, members too many, wrong kinds. Empty when it is. */
export function misfits(value: unknown, shape: unknown, path = ''): string[] {
  if (typeof shape === 'string') {
    const fits = shape === 'object' ? typeof value === 'object' && value !== null : typeof value === shape;
    return fits ? [] : [`${path} is ${JSON.stringify(value)}, not ${shape}`];
  }
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${path} is no list`];
    return value.flatMap((element, i) => misfits(element, shape[0], `${path}[${i}]`));
  }
  const { nullable, oneOf, record } = shape as { nullable?: unknown; oneOf?: unknown[]; record?: unknown };
  if (nullable !== undefined) return value === null ? [] : misfits(value, nullable, path);
  if (oneOf !== undefined) return oneOf.includes(value) ? [] : [`${path} is ${JSON.stringify(value)}`];
  if (typeof value !== 'object' || value === null) return [`${path} is no object`];
  if (record !== undefined)
    return Object.entries(value).flatMap(([name, each]) => misfits(each, record, `${path}.${name}`));
  return memberMisfits(value as Record<string, unknown>, shape as Record<string, unknown>, path);
}

function memberMisfits(
  value: Readonly<Record<string, unknown>>,
  shape: Readonly<Record<string, unknown>>,
  path: string,
): string[] {
  const unknown = Object.keys(value).filter((name) => !(name in shape));
  const found = unknown.map((name) => `${path}.${name} is in no type`);
  for (const [name, each] of Object.entries(shape)) {
    const { optional } = each as { optional?: unknown };
    if (optional !== undefined && !(name in value)) continue;
    found.push(...misfits(value[name], optional ?? each, `${path}.${name}`));
  }
  return found;
}
