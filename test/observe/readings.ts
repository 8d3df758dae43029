import { createMetricMemory, MetricTotals } from '../../src/core/metrics.ts';
import type { LotRecord } from '../../src/ledger/records.ts';
import type { Readings, SourceReading } from '../../src/observe/readings.ts';

/** A lot of which only what reports look at is told. */
export const LOT = {
  id: 'lot_01m7yqj0jcemzrbw82k5pz4r1a',
  quantumBackend: 'simulator-statevector',
  finishedAtMs: 1_700_000_000_000,
  minEntropyPerBit: 0.85,
  minEntropyMethod: 'a method',
  accepted: true,
  rejection: '',
  assessments: [
    {
      of: 'conditioned',
      bits: 1_000_000,
      sha256: '00',
      sp80022: { passed: 188, total: 188, smallestP: 0.1, verified: true, reason: '' },
    },
  ],
} as unknown as LotRecord;

export const SOURCE: SourceReading = {
  name: 'simulator',
  origin: 'simulated',
  isDeclared: false,
  state: 'ok',
  lastError: '',
  lastLot: LOT,
  lotsAccepted: 3,
  lotsRejected: 0,
  conditionedBytes: 900_000,
  alarm: {
    bits: 0.4,
    alarmBits: 20,
    raisedBy: null,
    estimates: [{ minEntropyPerBit: 0.85, alarmBits: 0.4 }],
  },
  reads: { pass: 3, intermittent: 0, permanent: 0, failed: 0 },
  health: {
    width: 16,
    minEntropyPerBit: 0.98,
    rctCutoffs: { intermittent: 32, permanent: 62 },
    aptCutoffs: { intermittent: 614, permanent: 657 },
    aptWindow: 1024,
    startupPassed: true,
    reads: 3,
    intermittentReads: 0,
    intermittentInARow: 0,
    totals: {
      samples: 1000,
      rctFailures: 0,
      aptFailures: 0,
      startupFailures: 0,
      replayFailures: 0,
      longestRun: 20,
      mostMatches: 560,
    },
    latchedBy: [],
  },
  spend: null,
};

/** A source that costs money and has spent half of its daily budget. */
export const PAID_SOURCE: SourceReading = {
  ...SOURCE,
  name: 'ibm',
  origin: 'quantum-processor',
  state: 'standby',
  lotsAccepted: 1,
  conditionedBytes: 300_000,
  spend: {
    amount: 5,
    currency: 'USD',
    calls: 3,
    limits: { amountPerDay: 10, callsPerDay: 20 },
  },
};

/** A service with which everything is as it should be. */
export const SOUND: Readings = {
  atMs: 1_700_000_100_000,
  startedAtMs: 1_700_000_000_000,
  clockJumpMs: 0,
  levels: { pure: { blocks: 1000, bytes: 4_096_000 }, seed: { blocks: 200, bytes: 6400 } },
  pendingLots: { lots: 0, oldestMs: 0 },
  pureBytesHigh: 8_388_608,
  pureBytesPerS: 100,
  sources: [SOURCE],
  systemLot: LOT,
  seeds: [
    { group: 'pro/3600000', intervalMs: 3_600_000, ageMs: 60_000, generation: 4, inForce: true },
    { group: 'enterprise/300000', intervalMs: 300_000, ageMs: 1_000, generation: 9, inForce: true },
  ],
  delivered: [],
  totals: new MetricTotals(createMetricMemory(1)),
  modes: [],
  minute: {
    requestsPerS: 3,
    commits: 20,
    commitP50Ms: 2,
    commitMaxMs: 30,
    loopDelayP99Ms: 10,
    loopDelayMaxMs: 40,
    lateSeconds: 0,
  },
  integrity: {
    startAudit: 'none',
    database: null,
    scrub: {
      passes: 2,
      records: 900,
      bytes: 90_000,
      passedAtMs: 1_700_000_090_000,
      passMs: 4_000,
      damaged: 0,
      problems: [],
    },
  },
  ledger: { writable: true, reason: '', writtenAtMs: 1_700_000_099_000, writtenInMs: 5 },
  diskFreeBytes: 50 * 2 ** 30,
  keptAnswerBytes: 3 * 2 ** 20,
  draws: { open: 3, overdue: 1, revealed: 5, cancelled: 2, failed: 1 },
  logEntries: 12,
  witnesses: [],
  use: { cpuSeconds: 1, residentBytes: 1 },
};
