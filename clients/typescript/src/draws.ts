import type { BatchType } from './answers.ts';
import { clientError, QrnError, type RawResponse } from './error.ts';
import type { Draw } from './openapi.ts';
import { type BatchTypeParameters, hexOf } from './parameters.ts';
import { type PendingCall, pendingCall } from './pending-call.ts';
import { sleep } from './sleep.ts';
import type { CallOptions } from './transport.ts';

/** What a draw draws: values as in a batch, or winners from a list. */
export type DrawSubject =
  | { readonly request: DrawValues; readonly winners?: undefined }
  | { readonly winners: DrawWinners; readonly request?: undefined };

/** Values as in a batch. They may take at most 64 KiB as JSON. */
export type DrawValues = {
  readonly [T in BatchType]: {
    readonly type: T;
    readonly count: number;
    readonly params?: BatchTypeParameters[T] | undefined;
  };
}[BatchType];

export interface DrawWinners {
  /** The number of winners. Without weights no item is drawn twice. */
  readonly count: number;
  /** The items, or the SHA-256 and the size of a list that you keep; then the winners are its line numbers, from 1. */
  readonly list: DrawList;
  /**
   * A whole number from 1 on for each item. With weights, winners are picked independently, so one may be picked twice.
   */
  readonly weights?: readonly number[] | undefined;
}

/**
 * `sha256` is 64 hex digits: the hash of all items in UTF-8, each followed by a line feed, as `sha256sum` prints it of
 * a file.
 */
export type DrawList =
  | { readonly items: readonly string[]; readonly sha256?: string | undefined }
  | { readonly sha256: string; readonly size: number };

export interface DrawSettings {
  /** What the draw is for, 1 to 100 characters. The service numbers the account's draws with the same purpose. */
  readonly purpose: string;
  /** Any text to which the draw is bound, 1 to 1,000 characters. */
  readonly userData?: string | undefined;
  /** The SHA-256 of such a text instead of `userData`: 64 hex digits in lower case. */
  readonly userDataSha256?: string | undefined;
  /**
   * If true, the certificate shows the purpose, and `GET /v1/draws?purpose=` lists the draw. The draw's page always
   * shows it.
   */
  readonly public?: boolean | undefined;
  /** 1 to 64 bytes that the values also depend on. */
  readonly nonce?: Uint8Array | undefined;
  /**
   * The SHA-256 of a nonce instead of `nonce`: 64 hex digits. The service commits without the nonce, which `reveal` then reveals.
   */
  readonly nonceSha256?: string | undefined;
  /** A round of a public beacon that the values also depend on. `chain`: a name that the service knows, or a hash. */
  readonly beacon?: { readonly chain: string; readonly round: number } | undefined;
  /** The earliest time of the reveal, up to 366 days ahead. A text is ISO 8601 in UTC. */
  readonly revealAt?: Date | string | undefined;
}

export type DrawCreation = DrawSubject & DrawSettings;

/** The public document of a draw. Anybody who has its id can read it. Saved as JSON, `qrn verify` checks it. */
export type DrawDocument = Draw;
export type DrawState = Draw['state'];
/**
 * What the service commits to before anybody knows the outcome. Hashes are `sha256:` and 64 hex digits, times ISO 8601.
 */
export type DrawStatement = Draw['statement'];
/** How a draw ended. An outcome never changes. Bytes are in hex. */
export type DrawOutcome = NonNullable<Draw['outcome']>;
/** A leaf of the log. */
export type DrawLeaf = Draw['commit'];

export interface DrawWaitOptions extends Omit<CallOptions, 'idempotencyKey' | 'timeoutMs'> {
  /** The time for the whole wait, after which it rejects with `timeout`. Default: no limit. */
  readonly timeoutMs?: number | undefined;
}

/** A request about draws. `path` is below the base URL. */
export interface DrawCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: string;
  readonly alsoAnswers?: readonly number[];
  /** Whether the request costs credits, so that a retry needs the Idempotency-Key of the first attempt. */
  readonly isOnce?: boolean;
}

/** What `Draws` needs of a client. */
export interface DrawSource {
  send(request: DrawCall, call: CallOptions | undefined): Promise<RawResponse>;
  /** Throws `invalid_answer` when the reply is not a draw. */
  read(reply: RawResponse): DrawDocument;
}

const CREATED = 201;
/** The wait before the draw is fetched again when it is due; it doubles each time. */
const WAIT_FIRST_MS = 250;
const WAIT_MAX_MS = 8_000;
/** The longest wait for a draw that is not due yet: it may be cancelled, and the clock of this machine may be wrong. */
const EARLY_WAIT_MAX_MS = 60_000;
/** The waits for the proofs of an ended draw. The service extends its log every 250 ms. */
const PROOF_WAITS_MS = [200, 400, 800, 1_600];

/**
 * Committed draws. The service fixes and logs the secret bytes of a draw before anybody can know the outcome. `create`,
 * `reveal` and `cancel` need a key with the scope `entropy:batch`. Reading needs no key, and the client sends none.
 */
export class Draws {
  readonly #source: DrawSource;

  constructor(source: DrawSource) {
    this.#source = source;
  }

  /**
   * Commits to a draw, for 32 credits. Each call has an Idempotency-Key, so that a retry gets the same draw. A draw
   * without `beacon`, `revealAt` and `nonceSha256` is revealed a moment later.
   */
  create(draw: DrawCreation, call?: CallOptions): PendingCall<DrawDocument> {
    const request = { method: 'POST', path: '/draws', body: JSON.stringify(bodyOf(draw)) } as const;
    return this.#read(this.#source.send({ ...request, alsoAnswers: [CREATED], isOnce: true }, call));
  }

  /** The draw in its present state. */
  get(id: string, call?: CallOptions): PendingCall<DrawDocument> {
    return this.#read(this.#source.send({ method: 'GET', path: pathOf(id) }, call));
  }

  /** Cancels a draw that is not due. The service reveals its secret bytes and logs that it was cancelled. */
  cancel(id: string, call?: CallOptions): PendingCall<DrawDocument> {
    const request = { method: 'DELETE', path: pathOf(id) } as const;
    return this.#read(this.#sentSafely(request, id, call, ({ state }) => state === 'cancelled'));
  }

  /** Reveals the nonce of a draw that was made with `nonceSha256`. */
  reveal(id: string, nonce: Uint8Array, call?: CallOptions): PendingCall<DrawDocument> {
    const hex = hexOf(nonce);
    const body = JSON.stringify({ nonce: hex });
    const request = { method: 'POST', path: `${pathOf(id)}/reveal`, body } as const;
    return this.#read(this.#sentSafely(request, id, call, ({ outcome }) => outcome?.nonce === hex));
  }

  /**
   * Resolves to the draw when it has ended: revealed, cancelled or failed. Fetches it when it is due, and then at
   * growing intervals. Waits a moment longer for the proofs of the log, which a check of the draw needs.
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

  /**
   * Sends a request that ends, or may end, a draw. When the reply to the first attempt is lost, the retry gets
   * `draw_ended`; then the draw itself shows whether the first attempt has done what was asked.
   */
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
