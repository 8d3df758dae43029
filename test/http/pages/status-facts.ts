import type { StatusFacts, StatusPoint, StatusSource } from '../../../src/http/pages/status-page.ts';

/** A service in good order, as its status page tells of it. */
export const NOW = 1_700_003_600_000;

export const POINT: StatusPoint = {
  atMs: NOW - 5_000,
  status: 'pass',
  pureBytes: 4 * 2 ** 20,
  seeds: 200,
  requestsPerS: 12,
  commitMaxMs: 8,
};

export const SOURCE: StatusSource = {
  name: 'simulator',
  origin: 'simulated',
  isDeclared: false,
  backend: 'simulator-statevector',
  state: 'ok',
  lastLot: { id: 'lot_00000000000000000000000000', atMs: NOW },
  share: 1,
  lots: { estimates: [], alarmBits: 20 },
};

export const FACTS: StatusFacts = {
  atMs: NOW,
  startedAtMs: NOW - 7_200_000,
  version: '1.2.3',
  status: 'pass',
  checks: [
    { name: 'ledger:writable', status: 'pass' },
    { name: 'pool:pure', status: 'pass' },
  ],
  sources: [SOURCE],
  pure: { bytes: 4 * 2 ** 20, highBytes: 8 * 2 ** 20, secondsLeft: 7_300 },
  seeds: { onHand: 1200, secondsLeft: 200_000, inForce: true },
  csprngReady: true,
  modes: [
    { mode: 'quantum-seeded', lastMinute: 0, sinceStart: 1_200, latencyMs: [0.3, 0.8, 12.4] },
    { mode: 'pure', lastMinute: 3, sinceStart: 3, latencyMs: [0.7, 2, 2] },
    { mode: 'csprng', lastMinute: 0, sinceStart: 0, latencyMs: null },
  ],
  logEntries: 1234567,
  history: [POINT],
};
