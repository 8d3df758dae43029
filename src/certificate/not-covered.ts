import { isObject } from '../core/json.ts';

/** Members of the response that the certificate repeats, each with its path in the certificate. */
export const REPEATED: readonly [response: string, certificate: string][] = [
  ['metadata.timestamp', 'issued_at'],
  ['metadata.lang_circuit', 'provenance.lang_circuit'],
  ['metadata.lang_version', 'provenance.lang_version'],
  ['metadata.quantum_backend', 'provenance.quantum_backend'],
  ['metadata.entropy_origin', 'provenance.origin'],
  ['metadata.nist_verified', 'verification.nist_verified'],
  ['data.metadata.entropy_mode', 'entropy_mode'],
];

/**
 * The names of the members that a document may have. Null stands for a member that is hashed or compared as a whole.
 * The shape of a list is that of its elements.
 */
export interface Shape {
  readonly [name: string]: Shape | null;
}

export function shapeOf(...names: readonly string[]): Shape {
  return Object.fromEntries(names.map((name) => [name, null]));
}

/** Returns the paths of members that the shape does not have: no check covers them. */
export function unknownMembersIn(value: unknown, shape: Shape, path = ''): string[] {
  // Skip lists within lists: they have no members, and deep nesting would overflow the stack.
  if (Array.isArray(value))
    return [
      ...new Set(value.flatMap((each) => (Array.isArray(each) ? [] : unknownMembersIn(each, shape, path)))),
    ];
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const known = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (known === undefined) return [`${path}${name}`];
    return known === null ? [] : unknownMembersIn(inner, known, `${path}${name}.`);
  });
}

const METADATA = REPEATED.flatMap(([path]) => /^metadata\.(\w+)$/.exec(path)?.[1] ?? []);
const RESPONSE: Shape = {
  metadata: shapeOf(...METADATA, 'certificate_id', 'certificate_salt', 'request_id'),
  meta: shapeOf('request_id'),
  media_type: null,
  label: shapeOf('public', 'purpose', 'series', 'user_data', 'user_data_sha256'),
  opening: shapeOf('bytes', 'path', 'salts'),
  quantum_credits: {},
};

/**
 * Returns the paths of the members of the response that no check covers. The hash covers all of `data`; but for an
 * answer in octets it covers the octets, and `data` holds only what header fields say.
 */
export function notCovered(response: unknown, isOctets: boolean): string[] {
  return unknownMembersIn(response, {
    ...RESPONSE,
    data: isOctets ? { metadata: shapeOf('entropy_mode') } : null,
  });
}
