import { utf8Bytes } from '../core/bytes.ts';
import type { DataRequest } from './data-request.ts';

/** The text of the `data` member around its values, as bytes. */
export interface DataFrame {
  readonly before: Uint8Array<ArrayBuffer>;
  readonly after: Uint8Array<ArrayBuffer>;
}

/** Stands where the values go; cannot occur in canonical JSON, which escapes control characters. */
const VALUES_MARK = '\u0000';

/**
 * The `data` member in canonical form (RFC 8785: members sorted by name, no spaces, JavaScript's own number and
 * string forms), cut where the values go. All names and texts here are ours or checked ASCII, so JSON.stringify of
 * sorted members is canonical.
 */
export function frameOf(request: DataRequest, entropyMode: string, quantumSource: string): DataFrame {
  const members: Record<string, string> = {
    metadata: JSON.stringify({ entropy_mode: entropyMode, quantum_source: quantumSource }),
    [request.valueKey]: VALUES_MARK,
  };
  for (const [name, value] of Object.entries(request.members)) members[name] = JSON.stringify(value);
  const text = Object.keys(members)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${members[name]}`)
    .join(',');
  const cut = text.indexOf(VALUES_MARK);
  return { before: utf8Bytes(`{${text.slice(0, cut)}`), after: utf8Bytes(`${text.slice(cut + 1)}}`) };
}

/** The same member as an object, for MessagePack: all but its values. */
export function dataMembers(
  request: DataRequest,
  entropyMode: string,
  quantumSource: string,
): Record<string, unknown> {
  return {
    ...request.members,
    metadata: { entropy_mode: entropyMode, quantum_source: quantumSource },
  };
}
