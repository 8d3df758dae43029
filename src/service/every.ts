import type { Log } from '../core/log.ts';

/** Runs `work` again and again, never twice at a time; a failure is logged and the next turn tries again. */
export function every(intervalMs: number, log: Log, work: () => Promise<unknown>): NodeJS.Timeout {
  let running = false;
  return setInterval(async () => {
    if (running) return;
    running = true;
    try {
      await work();
    } catch (error) {
      log.error({ reason: error instanceof Error ? error.message : String(error) }, 'upkeep failed');
    } finally {
      running = false;
    }
  }, intervalMs);
}
