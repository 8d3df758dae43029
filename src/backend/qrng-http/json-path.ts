/**
 * Where a value lies in a reply: names joined by dots, and `[]` behind a name (or alone) for every entry of a list, e.g.
 * `data`, `jobs[].bytes`, `random_numbers[].decimal`.
 */
export function isJsonPath(path: string): boolean {
  return /^(\[\]|[\w-]+(\[\])?)(\.[\w-]+(\[\])?)*$/.test(path);
}

/**
 * The values at `path`, in order; a list at its end counts as its entries. Entries that lack a member are left out.
 * Undefined when not even the path's first name is there.
 */
export function valuesAt(json: unknown, path: string): readonly unknown[] | undefined {
  let values: readonly unknown[] = [json];
  for (const [index, step] of path.split('.').entries()) {
    const name = step.replace('[]', '');
    if (name !== '') values = values.map((value) => memberOf(value, name));
    values = values.filter((value) => value !== undefined && value !== null);
    if (index === 0 && values.length === 0) return undefined;
    if (step.endsWith('[]')) values = values.filter(Array.isArray).flat(1);
  }
  return values.flat();
}

/** The member of an object; undefined where there is none. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
