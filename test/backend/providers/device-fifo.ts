import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { localDevice, localDeviceBackend } from '../../../src/backend/local-device/device.ts';
import { DeviceReader, startReaderProcess } from '../../../src/backend/local-device/reader.ts';
import { bytesOf } from '../../support/chance.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';
import { optionValues } from '../../support/source-parts.ts';

export function makeFifo(): string {
  const path = join(scratchFolder(), 'fifo');
  execFileSync('sh', ['-c', `mkfifo '${path}'`]);
  return path;
}

const randomBytes = bytesOf('fifo');

/** The declared facts of a device that a test need not state. */
export const DECLARED = { maker: 'Maker', model: 'Model 1', min_entropy: '0.9' } as const;

/** A generator behind a FIFO: each time that a reader comes it writes the bytes of one read. */
export class FifoGenerator {
  readonly path: string;
  readonly bytesPerRead: number;
  /** Processes that were started to read it. */
  readers = 0;
  /** The bytes written for the last read. */
  lastBytes = new Uint8Array(0);
  #next: 'whole' | 'silent' | 'half' = 'whole';
  #onReader = () => {};
  readonly #writers: number[] = [];

  constructor(t: TestContext, bytesPerRead: number) {
    this.path = makeFifo();
    this.bytesPerRead = bytesPerRead;
    t.after(() => this.close());
  }

  /** A source that reads it, as after a start of the service. */
  source(): ReturnType<typeof localDevice> {
    const values = optionValues(localDeviceBackend, { ...DECLARED, path: this.path, stall_ms: '1000' });
    const reader = new DeviceReader(() => {
      this.readers++;
      this.#serve();
      this.#onReader();
      return startReaderProcess();
    });
    return localDevice('fifo', values, { clock: new ManualClock() }, { reader });
  }

  /** Writes nothing for the next reader. Resolves when that has come. */
  silence(): Promise<void> {
    this.#next = 'silent';
    return new Promise((resolve) => {
      this.#onReader = resolve;
    });
  }

  /** The next reader gets half, then the generator goes away. */
  breakOff(): void {
    this.#next = 'half';
  }

  close(): void {
    for (const writer of this.#writers.splice(0)) closeSync(writer);
  }

  #serve(): void {
    const what = this.#next;
    this.#next = 'whole';
    this.close();
    this.#writers.push(openSync(this.path, constants.O_WRONLY | constants.O_NONBLOCK));
    if (what === 'silent') return;
    this.lastBytes = new Uint8Array(randomBytes(this.bytesPerRead));
    const length = what === 'half' ? Math.floor(this.bytesPerRead / 2) : this.bytesPerRead;
    writeSync(this.#writers[0], this.lastBytes, 0, length);
    if (what === 'half') this.close();
  }
}
