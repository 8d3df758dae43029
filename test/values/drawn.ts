import type { EntropyReader } from '../../src/values/entropy-reader.ts';
import { drawJson, drawOctets } from '../../src/values/sample.ts';
import { jsonBytesMax, octetBytes, type ValueRequest } from '../../src/values/value-request.ts';

/** The values that the service draws, in each form. */

export function drawnText(request: ValueRequest, reader: EntropyReader): string {
  const target = new Uint8Array(jsonBytesMax(request));
  return Buffer.from(target.subarray(0, drawJson(request, reader, target, 0))).toString();
}

export function drawnValues(request: ValueRequest, reader: EntropyReader): number[] | string[] | string {
  return JSON.parse(drawnText(request, reader));
}

export function drawnOctets(request: ValueRequest, reader: EntropyReader): Uint8Array<ArrayBuffer> {
  const target = new Uint8Array(octetBytes(request));
  return target.subarray(0, drawOctets(request, reader, target, 0));
}
