import { base32Of } from '../core/ids.ts';

/** Reads the header fields of an answer in octets. Runs in browsers. */

/** Returns the fields of a reply's head by name in lower case. `head` is what `curl -D` writes: a field a line. */
export function fieldsOf(head: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of head.split(/\r?\n/)) {
    if (/^HTTP\//.test(line)) fields.clear(); // a new head begins: the one before was a 100 or a redirect
    const colon = line.indexOf(':');
    if (colon > 0) fields.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return fields;
}

/**
 * Returns the members of a JSON answer that the header fields hold too, and the Content-Type as `media_type`. Members
 * without their field are left out. `verifyAnswer` takes the result as `response`, together with the octets.
 */
export function responseOfFields(fields: ReadonlyMap<string, string>): Record<string, unknown> {
  const uuid = fields.get('x-request-id');
  const verified = fields.get('x-nist-verified');
  const texts = (names: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(names).flatMap(([member, name]) => {
        const value = fields.get(name);
        return value === undefined ? [] : [[member, value]];
      }),
    );
  const bits = uuid === undefined ? undefined : bytesOfUuid(uuid);
  return {
    ...texts({ media_type: 'content-type' }),
    data: { metadata: texts({ entropy_mode: 'x-entropy-mode' }) },
    meta: uuid === undefined ? {} : { request_id: uuid },
    metadata: {
      ...texts({
        certificate_id: 'x-certificate-id',
        certificate_salt: 'x-certificate-salt',
        entropy_origin: 'x-entropy-origin',
        lang_circuit: 'x-lang-circuit',
        lang_version: 'x-lang-version',
        quantum_backend: 'x-quantum-backend',
        timestamp: 'x-timestamp',
        verify_url: 'x-verify-url',
      }),
      ...(verified === undefined ? {} : { nist_verified: verified === 'true' }),
      ...(bits === undefined ? {} : { request_id: `req_${base32Of(bits)}` }),
    },
  };
}

function bytesOfUuid(uuid: string): Uint8Array | undefined {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid)) return undefined;
  const digits = uuid.replaceAll('-', '');
  return Uint8Array.from({ length: 16 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}
