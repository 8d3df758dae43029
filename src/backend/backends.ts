import { braketBackend } from './braket/braket.ts';
import type { BackendDefinition } from './definition.ts';
import { ibmBackend } from './ibm/ibm.ts';
import { ionqBackend } from './ionq/ionq.ts';
import { localDeviceBackend } from './local-device/device.ts';
import { qrnBackend } from './qrn/qrn.ts';
import { QRNG_PRESETS } from './qrng-http/presets.ts';
import { qrngHttpBackend } from './qrng-http/source.ts';
import { replayBackend } from './replay/replay.ts';
import { simulatorBackend } from './simulator/simulator.ts';
import { systemBackend } from './system.ts';

/** The backends that can be configured, in the order in which they are listed. */
export const BACKENDS: readonly BackendDefinition[] = [
  simulatorBackend,
  qrngHttpBackend,
  ibmBackend,
  braketBackend,
  ionqBackend,
  localDeviceBackend,
  qrnBackend,
  replayBackend,
  systemBackend,
];

/** What the name of a source stands for if its type is not given: a type of backend, and some of its options. */
export interface SourcePreset {
  readonly type: string;
  readonly options: Readonly<Record<string, string>>;
}

/** Source names that need no type: the names of the types, and of the services that a backend knows. */
export const SOURCE_PRESETS: ReadonlyMap<string, SourcePreset> = new Map([
  ...BACKENDS.map(({ type }) => [type, { type, options: {} }] as const),
  ...[...QRNG_PRESETS.keys()].map((name) => {
    return [name, { type: qrngHttpBackend.type, options: { preset: name } }] as const;
  }),
]);

export function backendOfType(type: string): BackendDefinition | undefined {
  return BACKENDS.find((backend) => backend.type === type);
}
