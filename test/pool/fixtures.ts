import type { Log } from '../../src/core/log.ts';
import { sha256Hex } from '../../src/crypto/digest.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import {
  type AssessedBlock,
  type BlockKind,
  type LotRecord,
  PURE_BLOCK_BYTES,
  SEED_BLOCK_BYTES,
} from '../../src/ledger/records.ts';
import { ASSESSED_BITS, type Assessor, type LotAssessment } from '../../src/pool/intake/assessor.ts';
import { onesPerChannel } from '../../src/stats/autocorrelation.ts';
import { lot } from '../support/ledger-records.ts';

/** The record of an accepted lot; equal names give equal records. */
export function lotRecord(id: string, changes: Partial<LotRecord> = {}): LotRecord {
  return lot(1, { id, source: 'test', quantumBackend: `backend of ${id}`, ...changes });
}

export interface Block {
  readonly kind: BlockKind;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Blocks in which every four bytes are a number that occurs nowhere else. */
export class MarkedBlocks {
  #next = 1;

  /** Returns blocks as a lot has them: the last may be shorter. */
  pure(count: number, lastBytes = PURE_BLOCK_BYTES): Block[] {
    return [...this.#blocks('pure', count - 1, PURE_BLOCK_BYTES), ...this.#blocks('pure', 1, lastBytes)];
  }

  seeds(count: number): Block[] {
    return this.#blocks('seed', count, SEED_BLOCK_BYTES);
  }

  #blocks(kind: BlockKind, count: number, size: number): Block[] {
    return Array.from({ length: count }, () => {
      const words = Uint32Array.from({ length: size / 4 }, () => this.#next++);
      return { kind, bytes: new Uint8Array(words.buffer) };
    });
  }
}

export function wordsOf(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / 4 }, (_, i) => view.getUint32(4 * i, true));
}

/** Tells whether nothing is left: erased, or moved to another thread, which leaves an empty array. */
export function isZero(bytes: Uint8Array): boolean {
  return Buffer.alloc(bytes.length).equals(bytes);
}

/** The ledger with some of its calls replaced; each gets the call it replaces. */
export function withCalls<L extends Ledger>(
  ledger: L,
  calls: { [Name in keyof Ledger]?: (original: Ledger[Name]) => Ledger[Name] },
): Ledger {
  return new Proxy<Ledger>(ledger, {
    get(target, name: keyof Ledger) {
      const original = (target[name] as (...args: unknown[]) => unknown).bind(target);
      const replace = calls[name] as ((original: unknown) => unknown) | undefined;
      return replace === undefined ? original : replace(original);
    },
  });
}

/**
 * Lets everything run that needs no passing of time: 120 turns of the event loop. One promise serves all of them,
 * because the test runner tracks each promise, which took longer than the turns.
 */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    let turn = 0;
    const next = () => {
      turn++;
      if (turn < 120) setImmediate(next);
      else resolve();
    };
    setImmediate(next);
  });
}

/** Does the work, and counts the turns of the event loop that others have meanwhile. */
export async function countingTurns<Result>(work: () => Promise<Result>) {
  let turns = 0;
  let next: NodeJS.Immediate;
  const turn = () => {
    turns++;
    next = setImmediate(turn);
  };
  next = setImmediate(turn);
  const result = await work();
  clearImmediate(next);
  return { result, turns };
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly facts: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export function recordingLog() {
  const lines: LogLine[] = [];
  const record = (level: LogLine['level']) => (facts: object, message: string) => {
    lines.push({ level, facts: { ...facts }, message });
  };
  const errors = () => lines.filter(({ level }) => level === 'error');
  /** Reasons and messages of the errors. */
  const reasons = () => errors().map(({ facts, message }) => [facts['reason'], message]);
  const log: Log = {
    debug: record('debug'),
    info: record('info'),
    warn: record('warn'),
    error: record('error'),
  };
  return { ...log, lines, errors, reasons };
}

export interface TestedBits {
  /** The kind that `testBits` gets, or `lot`. */
  readonly of: string;
  readonly bits: Uint8Array<ArrayBuffer>;
  readonly bitLength: number;
}

/** Returns scripted results, and keeps a copy of what it was asked about. */
export class ScriptedAssessor implements Assessor {
  readonly tested: TestedBits[] = [];
  /** The very arrays that `testBits` was asked about. */
  readonly lent: Uint8Array[] = [];
  /** Thrown by `testBits` instead of a verdict. */
  failure: Error | undefined;
  /** The results of `testBits` by SP 800-22 on long blocks, one a block; further blocks pass. */
  verdicts: boolean[] = [];
  /** The results on the raw windows of long lots, one a lot; further lots pass. */
  rawVerdicts: boolean[] = [];
  /** SP 800-90B estimates, one a lot; then `estimate`. */
  estimates: number[] = [];
  /** The estimate of 10^6 bits and more. */
  estimate = 0.85;
  /** The autocorrelation of every lot. */
  autocorrelation: LotAssessment['autocorrelation'] = { lag: 0, correlation: 0, bound: 1 };

  async testBits<Of extends string>(of: Of, bits: Uint8Array, bitLength: number): Promise<AssessedBlock<Of>> {
    this.tested.push({ of, bits: bits.slice(0, Math.ceil(bitLength / 8)), bitLength });
    this.lent.push(bits);
    if (this.failure !== undefined) throw this.failure;
    const verified = bitLength >= ASSESSED_BITS && (this.verdicts.shift() ?? true);
    return { ...assessedBlock(of, bitLength, verified), sha256: sha256Hex(this.tested.at(-1)!.bits) };
  }

  /** Assesses one window of all bits. */
  async assessLot(bits: Uint8Array, width: number, shots: number): Promise<LotAssessment> {
    const bitLength = width * shots;
    this.tested.push({ of: 'lot', bits: bits.slice(0, Math.ceil(bitLength / 8)), bitLength });
    const isLong = bitLength >= ASSESSED_BITS;
    const minEntropyPerBit = this.estimates.shift() ?? (isLong ? this.estimate : null);
    const block = assessedBlock('raw', bitLength, isLong && (this.rawVerdicts.shift() ?? true));
    const leastRow = { test: 'Serial', pValue: 0.01 };
    const window = { ...block, order: 'shots', minEntropyPerBit, leastRow } as const;
    const { autocorrelation } = this;
    return { windows: [window], minEntropyPerBit, autocorrelation, ones: onesPerChannel(bits, width, shots) };
  }
}

function assessedBlock<Of extends string>(of: Of, bits: number, verified: boolean): AssessedBlock<Of> {
  return {
    of,
    bits,
    firstBit: 0,
    sha256: '',
    sp80022: { passed: 188, total: 188, smallestP: 0.01, verified, reason: 'as the test says', deciles: '' },
  };
}
