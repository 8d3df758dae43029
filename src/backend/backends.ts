import { braketSource } from './braket/braket.ts';
import { deviceSource } from './local-device/device.ts';
import { ibmSource } from './ibm/ibm.ts';
import { ionqSource } from './ionq/ionq.ts';
import { QRNG_PRESETS } from './qrng-http/presets.ts';
import { qrngHttpSource } from './qrng-http/source.ts';
import { replaySource } from './replay/replay.ts';
import { simulatorSource } from './simulator/simulator.ts';
import type { SourceKind } from './definition.ts';
import { systemSource } from './system.ts';

/** Every kind of source that can be configured, as it is listed. */
export const SOURCE_KINDS: readonly SourceKind[] = [
  simulatorSource,
  qrngHttpSource,
  ibmSource,
  braketSource,
  ionqSource,
  deviceSource,
  replaySource,
  systemSource,
];

/** What a source is when it is only named: a kind, and options that the name stands for. */
export interface SourcePreset {
  readonly type: string;
  readonly options: Readonly<Record<string, string>>;
}

/** Names that need no type: those of kinds, and those of services that a kind knows by name. */
export const SOURCE_PRESETS: ReadonlyMap<string, SourcePreset> = new Map([
  ...SOURCE_KINDS.map(({ type }) => [type, { type, options: {} }] as const),
  ...[...QRNG_PRESETS.keys()].map((name) => {
    return [name, { type: qrngHttpSource.type, options: { preset: name } }] as const;
  }),
]);

export function sourceKindOf(type: string): SourceKind | undefined {
  return SOURCE_KINDS.find((kind) => kind.type === type);
}
