import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkFinding, type Finding } from '../../../src/certificate/finding.ts';
import { type FollowEvent, type FollowState, pollLog } from '../../../src/certificate/follow.ts';
import { LogDoubt, LogUnavailable, type ReadPath } from '../../../src/certificate/log-source.ts';
import { member, printable } from '../../../src/certificate/members.ts';
import { found } from '../../../src/certificate/verdict.ts';
import { lotVerdict, verifyPublicLot } from '../../../src/certificate/verify-public-lot.ts';
import { duration, port } from '../../../src/cli/arguments.ts';
import {
  action,
  type Command,
  type CommandContext,
  CommandError,
  group,
  UsageError,
} from '../../../src/cli/command.ts';
import { fetchJson, keysFrom, originOf, readInputFile, readJson } from '../../../src/cli/documents.ts';
import { listen } from '../../../src/cli/listen.ts';
import { json } from '../../../src/cli/text.ts';
import { messageOf } from '../../../src/core/assert.ts';
import { replaceFile } from '../../../src/core/files.ts';
import { sendRequest } from '../../../src/core/http-request.ts';
import { LOT_ID } from '../../../src/core/ids.ts';
import { isObject } from '../../../src/core/json.ts';
import { exposition } from '../../../src/observe/exposition.ts';
import { familiesOf, type Metrics } from '../../../src/observe/row.ts';

const lot = action({
  path: 'log lot',
  summary:
    'Gets a lot from a service and verifies that the lot is in the log as described, and that it was not withdrawn when the log had\n' +
    'the given number of leaves. You trust whoever gave you the keys.',
  operands: [
    { name: 'LOT_ID', meaning: 'identifier of the lot: lot_ and 26 characters, as in a certificate' },
  ],
  options: {
    url: { value: 'BASE', meaning: 'base URL of the service; default: the configured one' },
    keys: { value: 'K.json', meaning: 'file with the keys: /.well-known/qrn-keys.json' },
    json: { meaning: 'print one JSON object: ok, why, leaf, not_withdrawn_before, withdrawn' },
  },
  run: async (input, context) => {
    const [id] = input.operands;
    if (!LOT_ID.test(id)) throw new UsageError(`LOT_ID must be lot_ and 26 characters, not ${id}`);
    const origin = originOf(input, context);
    const [document, keys] = await Promise.all([
      fetchJson(`${origin}/log/lots/${id}`),
      keysFrom(origin, input.keys),
    ]);
    const lot = found(() => verifyPublicLot(id, document, keys));
    const { refusal: failure } = lot;
    const { leaf, notWithdrawnBefore = null, withdrawn = null } = lot.known ?? {};
    const why = failure ?? lotVerdict(id, lot());
    return {
      data: { ok: failure === undefined, why, leaf, not_withdrawn_before: notWithdrawnBefore, withdrawn },
      shown: failure === undefined ? [why] : [],
      failure,
      status: withdrawn === null ? 0 : 1,
    };
  },
});

const STATE_TYPE = 'qrn-log-state';
const ANSWER_DEADLINE_MS = 10_000;
/** Far above the largest replies: a page of public leaves takes 48 KiB, a tile 8 KiB. */
const ANSWER_BYTES_MAX = 1024 * 1024;
const INTERVAL_MIN_MS = 1_000;

const watch = action({
  path: 'log watch',
  summary:
    'Monitors a log from outside until SIGTERM or SIGINT. Each poll reads the new leaves and checks that the log only grew, that its\n' +
    'keys are those of the first poll or vouched for by them, that its times never go back, and that no withdrawal is hidden. New\n' +
    'withdrawals are printed. If the signatures of the log prove misbehaviour, the command writes them to a file and exits with\n' +
    'status 1; qrn log check FILE checks such a file again. Problems that no signature proves are printed in a line that begins with\n' +
    'DOUBT, and the next poll continues from the last good state.',
  operands: [{ name: 'URL', meaning: 'address of the service, e.g. https://qrn.example' }],
  options: {
    state: {
      value: 'FILE',
      required: true,
      meaning: 'file for the state of the monitor; the first poll creates it',
    },
    interval: { value: 'SPAN', meaning: 'time between polls, e.g. 30s; default: 1m', read: duration },
    once: { meaning: 'poll once, and also exit with status 1 if the log cannot be read' },
    finding: {
      value: 'FILE',
      meaning: 'file for a finding; default: the name of the state file with .finding.json',
    },
    metrics: {
      value: 'PORT',
      meaning: 'serve Prometheus metrics on this port of 127.0.0.1; with 0 the operating system chooses one',
      read: port,
    },
    json: { meaning: 'print one JSON object per line, for withdrawals and also for lots and statements' },
  },
  run: async (
    { state, interval = 60_000, finding, metrics, once: isOnce, json: asJson, operands },
    context,
  ) => {
    const [url] = operands;
    if (!(URL.canParse(url) && /^https?:/.test(url)))
      throw new UsageError(`URL must be an http or https address, not ${JSON.stringify(url)}`);
    if (interval < INTERVAL_MIN_MS) throw new UsageError('--interval must be at least 1s');
    const watcher = new LogWatcher({
      url: new URL(url).origin,
      statePath: state,
      findingPath: finding ?? `${state}.finding.json`,
      asJson: asJson === true,
      isOnce: isOnce === true,
      context,
    });
    if (isOnce) return (await watcher.poll()) === 'ok' ? 0 : 1;
    const ended = context.interruption();
    const server = metrics === undefined ? undefined : await serveMetrics(metrics, watcher, context);
    try {
      while (!ended.aborted) {
        if ((await watcher.poll(ended)) === 'finding') return 1;
        await sleep(interval, undefined, { signal: ended }).catch(() => {}); // the loop ends
      }
      return 0;
    } finally {
      server?.close();
      server?.closeAllConnections();
    }
  },
});

const check = action({
  path: 'log check',
  summary:
    'Checks a finding of qrn log watch again, only from the file that it wrote. Exits with status 0 if the file proves the finding,\n' +
    'and with 1 if it does not. Compare the keys in the file with those that you have from elsewhere.',
  operands: [{ name: 'FINDING', meaning: 'file that qrn log watch wrote' }],
  options: { json: { meaning: 'print one JSON object: kind, holds, why, key_ids' } },
  run: async ({ operands: [path] }) => {
    const finding = readJson(path);
    if (!isObject(finding)) throw new CommandError(`${path} is not a finding`);
    const { holds, why } = await checkFinding(finding);
    const keyIds = keyIdsOf(member(finding, 'keys'));
    const told = printable(why);
    const by = `The signatures of the log prove it (keys ${keyIds.join(', ')}).`;
    return {
      data: { kind: member(finding, 'kind'), holds, why, key_ids: keyIds },
      shown: [holds ? `holds: ${told}\n${by}` : `does not hold: ${told}`],
      status: holds ? 0 : 1,
    };
  },
});

/** The commands about a log that open no folder. */
export const LOG_COMMANDS: readonly Command[] = [lot, watch, check];

export const log = group(
  'qrn log',
  'Monitors and checks the transparency log of a service from outside.',
  LOG_COMMANDS,
);

type PollOutcome = 'ok' | 'unavailable' | 'doubt' | 'finding';

interface WatcherOptions {
  /** The origin of the service. */
  readonly url: string;
  readonly statePath: string;
  readonly findingPath: string;
  readonly asJson: boolean;
  /** Whether there is only one poll. */
  readonly isOnce: boolean;
  readonly context: CommandContext;
}

/** Polls a log and counts the outcomes. */
export class LogWatcher {
  readonly #options: WatcherOptions;
  #state: FollowState | undefined;
  readonly #seen = nothingSeen();
  /** The trouble that was reported last, so that it is not reported again at every poll. */
  #trouble = '';

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.#state = readState(options.statePath);
  }

  async poll(signal?: AbortSignal): Promise<PollOutcome> {
    const outcome = await this.#poll(signal);
    this.#seen.polls[outcome]++;
    return outcome;
  }

  async #poll(signal?: AbortSignal): Promise<PollOutcome> {
    const { url, statePath, context } = this.#options;
    const nowMs = context.clock.wallMs();
    let poll: Awaited<ReturnType<typeof pollLog>>;
    try {
      poll = await pollLog(this.#state, { read: readerOf(url, signal), url, nowMs });
    } catch (error) {
      return this.#tellTrouble(error, signal);
    }
    if ('finding' in poll) return this.#tellFinding(poll.finding);
    this.#trouble = '';
    const { state, events, size, atS, tilesRead } = poll;
    if (state.checkpoint !== this.#state?.checkpoint)
      keep(statePath, json({ type: STATE_TYPE, url, ...state }), '--state');
    if (this.#state === undefined) {
      const log = String(member(state.keys, 'origin'));
      context.talk(`${url}: pinned the log ${log} with the keys ${keyIdsOf(state.keys).join(', ')}\n`);
    }
    this.#state = state;
    for (const event of events) this.#tell(event);
    Object.assign(this.#seen, { size, signedAtS: atS, succeededAtS: Math.floor(nowMs / 1_000) });
    this.#seen.tilesRead += tilesRead;
    return 'ok';
  }

  #tellTrouble(error: unknown, signal: AbortSignal | undefined): PollOutcome {
    const { url, asJson, isOnce, context } = this.#options;
    if (error instanceof LogUnavailable) {
      if (signal?.aborted !== true && this.#trouble === '')
        context.talk(
          `${url}: ${error.message}; ${isOnce ? 'check that this is the address of a running service' : 'trying again'}\n`,
        );
      this.#trouble ||= error.message;
      return 'unavailable';
    }
    if (!(error instanceof LogDoubt)) throw error;
    const { message } = error;
    if (this.#trouble !== message) {
      if (asJson) context.out(json({ event: 'doubt', what: message }));
      context.talk(`DOUBT ${url}: ${printable(message)}\n`);
    }
    this.#trouble = message;
    return 'doubt';
  }

  #tellFinding(finding: Finding): PollOutcome {
    const { findingPath, asJson, context } = this.#options;
    keep(findingPath, `${JSON.stringify(finding, null, 2)}\n`, '--finding');
    if (asJson)
      context.out(json({ event: 'finding', kind: finding.kind, what: finding.what, file: findingPath }));
    context.talk(
      `FINDING ${finding.kind}: ${printable(finding.what)} Check it again with qrn log check ${findingPath}\n`,
    );
    return 'finding';
  }

  #tell(event: FollowEvent): void {
    const { asJson, context } = this.#options;
    if (asJson) {
      const { kind, ...rest } = event;
      context.out(json({ event: kind, ...rest }));
    } else if (event.kind === 'withdrawal') {
      const { lotId, revokedAt, reason, index } = event;
      context.out(
        `${printable(`withdrawn ${lotId} at ${revokedAt}: ${JSON.stringify(reason)} (leaf ${index})`)}\n`,
      );
    } else if (event.kind === 'key') {
      context.talk(`the key ${event.keyId} is new; a pinned key vouches for it\n`);
    } else if (event.kind === 'incarnation') {
      context.talk(`the log ${event.to} succeeds ${event.from}\n`);
    }
  }

  /** Returns the metrics in Prometheus text format. */
  metrics(): string {
    const lot = Object.keys(this.#state?.lots ?? {}).length;
    const leaves = { lot, withdrawal: this.#state?.withdrawals.length ?? 0 };
    return exposition(familiesOf(WATCH_METRICS, [{ ...this.#seen, leaves }]));
  }
}

type Seen = ReturnType<typeof nothingSeen>;

function nothingSeen() {
  const polls: Record<PollOutcome, number> = { ok: 0, unavailable: 0, doubt: 0, finding: 0 };
  const [signedAtS, succeededAtS] = [null, null] as [number | null, number | null];
  return { polls, size: 0, signedAtS, succeededAtS, tilesRead: 0 };
}

const WATCH_METRICS: Metrics<Seen & { readonly leaves: Readonly<Record<string, number>> }> = {
  qrn_watch_polls_total: ['Number of polls of the log, by outcome.', 'polls', 'outcome'],
  qrn_watch_log_leaves: ['Number of leaves in the latest checkpoint.', 'size'],
  qrn_watch_log_signed_timestamp_seconds: [
    'Unix time of the latest checkpoint, as the log states it.',
    'signedAtS',
  ],
  qrn_watch_success_timestamp_seconds: ['Unix time of the last successful poll.', 'succeededAtS'],
  qrn_watch_public_leaves: ['Number of public leaves that were checked, by kind.', 'leaves', 'kind'],
  qrn_watch_tiles_total: ['Number of tiles that were read.', 'tilesRead'],
};

/** Returns the key ids in a keys document that nobody has checked yet. */
function keyIdsOf(keys: unknown): string[] {
  const listed = member(keys, 'keys');
  return (Array.isArray(listed) ? listed : []).map((key) => String(member(key, 'key_id')));
}

function keep(path: string, text: string, option: string): void {
  try {
    replaceFile(path, text);
  } catch (error) {
    throw new CommandError(`${messageOf(error)}; set ${option} to a file that can be written`);
  }
}

/**
 * Reads the state; undefined when there is no file yet. Throws for a file that cannot be read, and never starts a new
 * state.
 */
function readState(path: string): FollowState | undefined {
  if (!existsSync(path)) return undefined;
  const text = readInputFile(path).toString('utf8');
  let state: unknown;
  try {
    state = JSON.parse(text);
  } catch {
    state = undefined;
  }
  const isState = member(state, 'type') === STATE_TYPE && member(state, 'version') === 1;
  if (isState && typeof member(state, 'toldAtS') === 'number') return state as FollowState;
  throw new CommandError(
    `${path} is not a state file of qrn log watch: restore a copy of the state file. Without it, the monitor cannot detect a log that was rewritten before now`,
  );
}

/** Returns a function that reads paths of one service, with a bound on the time and the size of a reply. */
function readerOf(url: string, ended?: AbortSignal): ReadPath {
  return async (path) => {
    const deadline = AbortSignal.timeout(ANSWER_DEADLINE_MS);
    try {
      const { status, body } = await sendRequest({
        method: 'GET',
        url: `${url}${path}`,
        replyBytesMax: ANSWER_BYTES_MAX,
        signal: ended === undefined ? deadline : AbortSignal.any([ended, deadline]),
      });
      if (status === 200) return body;
      throw new LogUnavailable(`${path} answered ${status}`);
    } catch (error) {
      if (error instanceof LogUnavailable) throw error;
      throw new LogUnavailable(`${path} cannot be read: ${messageOf(error)}`);
    }
  };
}

async function serveMetrics(port: number, watcher: LogWatcher, context: CommandContext): Promise<Server> {
  const server = createServer((request, response) => {
    const isMetrics = request.method === 'GET' && request.url === '/metrics';
    if (!isMetrics) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(watcher.metrics());
  });
  const url = await listen(server, '127.0.0.1', port, 'set --metrics to a free port, or to 0');
  context.talk(`metrics at ${url}/metrics\n`);
  return server;
}
