import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** GET requests from another process, as fast as they are answered. */
export interface Hammering {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  /** A whole number. */
  readonly seconds: number;
}

export interface HammerResult {
  readonly answers: number;
  readonly answersPerS: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

const run = promisify(execFile);

/** Returns the first program of this name in PATH. */
export function programInPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // missing, or not executable for this user: try the next folder
  }
}

const wrk = programInPath('wrk');

/** The load generator: wrk where it is installed, because it costs a third of autocannon. */
export const HAMMER = wrk === undefined ? 'autocannon' : 'wrk';

/** Rejects when an answer was not 2xx or a connection broke, because a server that refuses requests is fast. */
export function hammer(hammering: Hammering): Promise<HammerResult> {
  return wrk === undefined ? hammerWithAutocannon(hammering) : hammerWithWrk(wrk, hammering);
}

async function hammerWithWrk(
  program: string,
  { url, headers, connections, seconds }: Hammering,
): Promise<HammerResult> {
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', ...fields, url];
  const { stdout } = await run(program, args);
  const failure = /Non-2xx[^\n]*|Socket errors[^\n]*/.exec(stdout);
  if (failure !== null) throw new Error(`${url}: ${failure[0]}`);
  const answers = Number(/(\d+) requests in /.exec(stdout)?.[1]);
  const answersPerS = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
  return { answers, answersPerS, p50Us: wrkLatencyUs(stdout, 50), p99Us: wrkLatencyUs(stdout, 99) };
}

function wrkLatencyUs(output: string, percent: number): number {
  const found = new RegExp(`^\\s+${percent}%\\s+([\\d.]+)(us|ms|s)$`, 'm').exec(output);
  const unitUs = { us: 1, ms: 1e3, s: 1e6 };
  return found === null ? Number.NaN : Number(found[1]) * unitUs[found[2] as keyof typeof unitUs];
}

interface AutocannonReport {
  readonly non2xx: number;
  readonly errors: number;
  readonly timeouts: number;
  readonly duration: number;
  readonly requests: { readonly total: number };
  readonly latency: { readonly p50: number; readonly p99: number };
}

async function hammerWithAutocannon({
  url,
  headers,
  connections,
  seconds,
}: Hammering): Promise<HammerResult> {
  const program = fileURLToPath(import.meta.resolve('autocannon'));
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
  const args = [program, '--json', '-c', String(connections), '-d', String(seconds), ...fields, url];
  const { stdout } = await run(process.execPath, args);
  const report = JSON.parse(stdout) as AutocannonReport;
  const failures = report.non2xx + report.errors + report.timeouts;
  if (failures > 0) throw new Error(`${url}: ${failures} requests failed`);
  const answers = report.requests.total;
  const { p50, p99 } = report.latency; // in whole milliseconds
  return { answers, answersPerS: answers / report.duration, p50Us: p50 * 1e3, p99Us: p99 * 1e3 };
}
