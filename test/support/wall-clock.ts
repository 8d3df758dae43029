/*
 * Loaded into a service by NODE_OPTIONS (see withWallClock in server.ts): its wall clock is wrong by as many milliseconds as
 * stand in the file that its own URL names as `offset`. Monotonic time stays true.
 */
import { readFileSync } from 'node:fs';

const LOOK_MS = 20;
const path = new URL(import.meta.url).searchParams.get('offset')!;
const now = Date.now;
let offsetMs = 0;
let lookedAtMs = Number.NEGATIVE_INFINITY;

Date.now = () => {
  const monotonicMs = performance.now();
  if (monotonicMs - lookedAtMs >= LOOK_MS) {
    lookedAtMs = monotonicMs;
    offsetMs = Number(readFileSync(path, 'utf8'));
  }
  return now() + offsetMs;
};
