import { isObject } from './members.ts';

/** Members of the response beside `data` that the certificate repeats, and where it has them. */
export const REPEATED: readonly [response: string, certificate: string][] = [
  ['metadata.timestamp', 'issued_at'],
  ['metadata.lang_circuit', 'provenance.lang_circuit'],
  ['metadata.lang_version', 'provenance.lang_version'],
  ['metadata.quantum_backend', 'provenance.quantum_backend'],
  ['metadata.entropy_origin', 'provenance.origin'],
  ['metadata.nist_verified', 'verification.nist_verified'],
  ['data.metadata.entropy_mode', 'entropy_mode'],
];

/** The members of the response, two levels deep, that no check has looked at. */
export function notCovered(response: unknown, isOctets: boolean): string[] {
  const covered = new Set([
    ...REPEATED.map(([path]) => path),
    'metadata.certificate_id',
    'metadata.certificate_salt',
    'metadata.request_id',
    'meta.request_id',
    'media_type',
    'label.public',
    'label.purpose',
    'label.series',
    'label.user_data',
    'label.user_data_sha256',
    'opening',
    'opening.bytes',
    'opening.path',
    'opening.salts',
  ]);
  const names: string[] = [];
  for (const [outer, inner] of Object.entries(isObject(response) ? response : {})) {
    if (outer === 'data' && !isOctets) continue; // the hash covers all of it
    const paths = isObject(inner) ? pathsOf(outer, inner) : [outer];
    names.push(...paths.filter((path) => !covered.has(path)));
  }
  return names;
}

/** `data.metadata` of an answer in octets is the one object that lies deeper. */
function pathsOf(outer: string, members: Record<string, unknown>): string[] {
  return Object.entries(members).flatMap(([name, value]) =>
    outer === 'data' && name === 'metadata' && isObject(value)
      ? pathsOf('data.metadata', value)
      : [`${outer}.${name}`],
  );
}
