import type { BatchType } from './answers.ts';
import { clientError, QrnError, type RawResponse } from './error.ts';
import type { Draw } from './openapi.ts';
import { type BatchTypeParameters, hexOf } from './parameters.ts';
import { type PendingCall, pendingCall } from './pending-call.ts';
import { sleep } from './sleep.ts';
import type { CallOptions } from './transport.ts';

/** What a draw is made of: values as `batch` draws them, or winners of a list. */
export type DrawSubject =
  | { readonly request: DrawValues; readonly winners?: undefined }
  | { readonly winners: DrawWinners; readonly request?: undefined };

/** As `batch` takes it; the values may take 64 KiB as JSON. */
export type DrawValues = {
  readonly [T in BatchType]: {
    readonly type: T;
    readonly count: number;
    readonly params?: BatchTypeParameters[T] | undefined;
  };
}[BatchType];

export interface DrawWinners {
  /** How many; without weights none is drawn twice. */
  readonly count: number;
  /** The items, or the SHA-256 and the size of a list that stays with you: the winners are then its line numbers, from 1. */
  readonly list: DrawList;
  /** A whole number from 1 on for each item; then winners are picked independently, and one may be picked twice. */
  readonly weights?: readonly number[] | undefined;
}

/** `sha256` is 64 hex digits, of every item in UTF-8 with a line feed behind it, as `sha256sum` gives it of a file. */
export type DrawList =
  | { readonly items: readonly string[]; readonly sha256?: string | undefined }
  | { readonly sha256: string; readonly size: number };

export interface DrawSettings {
  /** What the draw is for, 1 to 100 characters: draws of the account under it are numbered. */
  readonly purpose: string;
  /** Anything that the draw is to be bound to, 1 to 1,000 characters. */
  readonly userData?: string | undefined;
  /** In place of `userData` its SHA-256, 64 hex digits in lower case. */
  readonly userDataSha256?: string | undefined;
  /** The certificate shows the purpose, and `GET /v1/draws?purpose=` lists the draw. The draw's own page shows it always. */
  readonly public?: boolean | undefined;
  /** 1 to 64 bytes that enter the values. */
  readonly nonce?: Uint8Array | undefined;
  /** In place of `nonce` its SHA-256, 64 hex digits: the service commits without knowing it, and `reveal` opens it. */
  readonly nonceSha256?: string | undefined;
  /** A round of a public beacon that enters the values. `chain`: a name that the service knows, such as quicknet, or a hash. */
  readonly beacon?: { readonly chain: string; readonly round: number } | undefined;
  /** Not revealed before; up to 366 days ahead. Text is ISO 8601 in UTC. */
  readonly revealAt?: Date | string | undefined;
}

export type DrawCreation = DrawSubject & DrawSettings;

/** All that is public of a draw. Saved as JSON it is what `qrn verify` checks. Whoever has its id can read it. */
export type DrawDocument = Draw;
export type DrawState = Draw['state'];
/** What is fixed before anybody knows the outcome. Hashes are `sha256:` and 64 hex digits, times ISO 8601. */
export type DrawStatement = Draw['statement'];
/** How a draw ended, forever. Bytes are in hex. */
export type DrawOutcome = NonNullable<Draw['outcome']>;
/** A leaf of the log. */
export type DrawLeaf = Draw['commit'];

export interface DrawWaitOptions extends Omit<CallOptions, 'idempotencyKey' | 'timeoutMs'> {
  /** For the whole wait, after which it rejects with `timeout`; left out, there is no limit. */
  readonly timeoutMs?: number | undefined;
}

/** A request below the base URL. */
export interface DrawCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: string;
  readonly alsoAnswers?: readonly number[];
  /** Costs credits, so that a retry must name the first attempt. */
  readonly isOnce?: boolean;
}

/** What a client gives its draws. */
export interface DrawSource {
  send(request: DrawCall, call: CallOptions | undefined): Promise<RawResponse>;
  /** Throws `invalid_answer` for what is no draw. */
  read(reply: RawResponse): DrawDocument;
}

const CREATED = 201;
/** Between two looks at a draw that is due; doubles with every further one. */
const WAIT_FIRST_MS = 250;
const WAIT_MAX_MS = 8_000;
/** A draw that is not due yet is looked at so often all the same: it may be cancelled, and this clock may be wrong. */
const EARLY_WAIT_MAX_MS = 60_000;
/** Looks at an ended draw whose proofs are not there: the service seals its log about every 150 ms. */
const PROOF_WAITS_MS = [200, 400, 800, 1_600];

/**
 * Committed draws: their secret bytes are fixed and logged before anybody can know the outcome. `create`, `reveal` and
 * `cancel` need a key with the scope `entropy:batch`; reading needs none, and none is sent.
 */
export class Draws {
  readonly #source: DrawSource;

  constructor(source: DrawSource) {
    this.#source = source;
  }

  /**
   * Commits to a draw, for 32 credits. Each call has an Idempotency-Key, so that a retry gets the same draw. Without
   * `beacon`, `revealAt` and `nonceSha256` it is revealed a moment later.
   */
  create(draw: DrawCreation, call?: CallOptions): PendingCall<DrawDocument> {
    const request = { method: 'POST', path: '/draws', body: JSON.stringify(bodyOf(draw)) } as const;
    return this.#read(this.#source.send({ ...request, alsoAnswers: [CREATED], isOnce: true }, call));
  }

  /** A draw as it stands. */
  get(id: string, call?: CallOptions): PendingCall<DrawDocument> {
    return this.#read(this.#source.send({ method: 'GET', path: pathOf(id) }, call));
  }

  /** Cancels a draw that is not due: its secret bytes are opened, and the log says that it was cancelled. */
  cancel(id: string, call?: CallOptions): PendingCall<DrawDocument> {
    const request = { method: 'DELETE', path: pathOf(id) } as const;
    return this.#read(this.#sentSafely(request, id, call, ({ state }) => state === 'cancelled'));
  }

  /** Opens the nonce of a draw that was made with `nonceSha256`. */
  reveal(id: string, nonce: Uint8Array, call?: CallOptions): PendingCall<DrawDocument> {
    const hex = hexOf(nonce);
    const body = JSON.stringify({ nonce: hex });
    const request = { method: 'POST', path: `${pathOf(id)}/reveal`, body } as const;
    return this.#read(this.#sentSafely(request, id, call, ({ outcome }) => outcome?.nonce === hex));
  }

  /**
   * The draw once it has ended: revealed, cancelled or failed. Looks at it when it is due, and then ever more seldom, and
   * waits a moment longer for the proofs of the log that its check needs.
   */
  async wait(id: string, options: DrawWaitOptions = {}): Promise<DrawDocument> {
    const { timeoutMs = Number.POSITIVE_INFINITY, ...call } = options;
    const endMs = performance.now() + timeoutMs;
    const pause = async (draw: DrawDocument, ms: number) => {
      const leftMs = endMs - performance.now();
      if (leftMs <= 0) throw waitedTooLong(draw, timeoutMs);
      await sleep(Math.min(ms, leftMs), call.signal);
    };
    let draw = await this.get(id, call);
    for (let waitMs = WAIT_FIRST_MS; draw.state === 'committed'; draw = await this.get(id, call)) {
      const dueMs = Date.parse(draw.statement.due_at) || 0;
      const earlyMs = Math.min(dueMs - Date.now(), EARLY_WAIT_MAX_MS);
      await pause(draw, Math.max(earlyMs, waitMs));
      if (earlyMs <= 0) waitMs = Math.min(2 * waitMs, WAIT_MAX_MS);
    }
    for (const ms of PROOF_WAITS_MS) {
      const leftMs = endMs - performance.now();
      if (isProven(draw) || leftMs <= 0) break;
      await sleep(Math.min(ms, leftMs), call.signal);
      draw = await this.get(id, call);
    }
    return draw;
  }

  /** Sends what ends or may end a draw; where a reply was lost, a retry finds the draw as the first attempt left it. */
  async #sentSafely(
    request: DrawCall,
    id: string,
    call: CallOptions | undefined,
    isDone: (draw: DrawDocument) => boolean,
  ): Promise<RawResponse> {
    try {
      return await this.#source.send(request, call);
    } catch (error) {
      if (!(error instanceof QrnError && error.code === 'draw_ended' && error.attempts > 1)) throw error;
      const { answer, response } = await this.get(id, call).withResponse();
      if (!isDone(answer)) throw error;
      return response;
    }
  }

  #read(coming: Promise<RawResponse>): PendingCall<DrawDocument> {
    return pendingCall(coming, (reply) => this.#source.read(reply));
  }
}

function bodyOf({ request, winners, ...settings }: DrawCreation): object {
  const {
    purpose,
    userData,
    userDataSha256,
    public: isPublic,
    nonce,
    nonceSha256,
    beacon,
    revealAt,
  } = settings;
  return {
    request,
    winners,
    purpose,
    user_data: userData,
    user_data_sha256: userDataSha256,
    public: isPublic,
    nonce: nonce === undefined ? undefined : hexOf(nonce),
    nonce_sha256: nonceSha256,
    beacon,
    reveal_at: revealAt instanceof Date ? revealAt.toISOString() : revealAt,
  };
}

function pathOf(id: string): string {
  return `/draws/${encodeURIComponent(id)}`;
}

function isProven({ certificate, commit, end }: DrawDocument): boolean {
  return [certificate?.certificate.proof, commit.proof, end?.proof].every(
    (proof) => typeof proof === 'string',
  );
}

function waitedTooLong({ id, statement }: DrawDocument, timeoutMs: number): QrnError {
  return clientError('timeout', {
    message: `The draw ${id} has not ended within ${timeoutMs} ms; it is due at ${statement.due_at}.`,
  });
}
