import { pino } from 'pino';

/**
 * Where the service says what happened: one JSON line per error and per lifecycle step on stderr, never one per
 * request. A line holds facts that the caller names; requests, headers and key material are never passed.
 */
export interface Log {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export function createLog(level: LogLevel): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(2));
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
