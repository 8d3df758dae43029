import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../core/assert.ts';
import type { Clock } from '../core/clock.ts';
import { sendRequest } from '../core/http-request.ts';
import type { Log } from '../core/log.ts';
import { toBase64 } from '../crypto/base64.ts';
import { formatNote, type Note, parseCheckpoint, parseCount, parseNote } from '../crypto/note.ts';
import type { CertificateLog } from './log.ts';
import { signaturesBy } from './signed-checkpoint.ts';
import { found } from './verdict.ts';
import type { AskedWitness, Witnesses, WitnessState } from './witnessed.ts';

/**
 * Has witnesses cosign checkpoints (c2sp.org/tlog-witness), in the background: no answer and no batch of the log waits
 * for them. Each round sends the newest checkpoint to all witnesses at once. When enough of them have cosigned it, the
 * log proves the certificates that it covers against it.
 */
export interface CosigningOptions extends Witnesses {
  readonly log: Pick<CertificateLog, 'checkpoint' | 'consistencyProof' | 'addWitnessed'>;
  readonly clock: Clock;
  readonly report: Log;
  /** How long a round waits for the answer of a witness; by default 3 s. */
  readonly answerDeadlineMs?: number;
}

/** About the time from the logging of a certificate until it is witnessed. */
const ROUND_INTERVAL_MS = 1_000;
const ANSWER_DEADLINE_MS = 3_000;
/** A witness that fails is skipped for 1, 2, 4 … rounds, and never for more than this many. */
const ROUNDS_SKIPPED_MAX = 60;
const ANSWER_BYTES_MAX = 16 * 1024;
/** How far the clock of a witness may be ahead. A cosignature with a later time is refused. */
const AHEAD_MAX_S = 600;

interface KnownWitness extends AskedWitness {
  /** Leaves of the checkpoint that it cosigned last, as far as this process knows. */
  size: number;
  /** The text of the checkpoint that it cosigned last; empty if it must be asked again. */
  cosigned: string;
  /** How many times in a row it has failed. */
  failures: number;
  roundsToSkip: number;
  state: WitnessState;
}

type Signature = Note['signatures'][number];

export class Cosigning {
  readonly #options: CosigningOptions;
  readonly #witnesses: KnownWitness[];
  /** The text of the checkpoint that is being cosigned. */
  #text = '';
  /** The cosignatures of that checkpoint so far. */
  #signatures = new Map<KnownWitness, Signature>();

  constructor(options: CosigningOptions) {
    this.#options = options;
    this.#witnesses = options.witnesses.map((asked) => {
      const state = { name: asked.key.name, size: null, cosignedAtS: null, failure: null };
      return { ...asked, size: 0, cosigned: '', failures: 0, roundsToSkip: 0, state };
    });
  }

  states(): WitnessState[] {
    return this.#witnesses.map(({ state }) => state);
  }

  /** Runs rounds until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.round(signal);
      await sleep(ROUND_INTERVAL_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Sends the newest checkpoint to every witness that has not cosigned it. Never rejects. */
  async round(signal?: AbortSignal): Promise<void> {
    const note = parseNote(this.#options.log.checkpoint);
    const checkpoint = note && parseCheckpoint(note.text);
    if (note === undefined || checkpoint === undefined) return;
    if (note.text !== this.#text) {
      this.#text = note.text;
      this.#signatures = new Map();
    }
    const before = this.#signatures.size;
    await Promise.all(
      this.#witnesses.map(async (witness) => {
        if (witness.cosigned === note.text || witness.roundsToSkip-- > 0) return;
        try {
          const { line, atS: cosignedAtS } = await this.#ask(witness, note, checkpoint.size, signal);
          this.#signatures.set(witness, line);
          const { size } = checkpoint;
          const state = { ...witness.state, size, cosignedAtS, failure: null };
          Object.assign(witness, { size, cosigned: note.text, failures: 0, roundsToSkip: 0, state });
        } catch (error) {
          if (signal?.aborted === true) return;
          this.#failed(witness, error);
        }
      }),
    );
    const { quorum, log, report } = this.#options;
    if (this.#signatures.size === before || this.#signatures.size < quorum) return;
    const cosigned = formatNote({
      text: note.text,
      signatures: [...note.signatures, ...this.#signatures.values()],
    });
    try {
      await log.addWitnessed(checkpoint.size, cosigned);
    } catch (error) {
      report.error({ reason: String(error) }, 'a cosigned checkpoint could not be stored; trying again');
      for (const witness of this.#signatures.keys()) witness.cosigned = '';
    }
  }

  #failed(witness: KnownWitness, error: unknown): void {
    witness.roundsToSkip = Math.min(2 ** witness.failures++, ROUNDS_SKIPPED_MAX);
    const reason = messageOf(error);
    witness.state = { ...witness.state, failure: reason };
    // Report the first failure alone, not one in every round.
    if (witness.failures !== 1) return;
    const { name } = witness.key;
    this.#options.report.warn({ witness: name, reason }, 'a witness does not cosign; it is asked again');
  }

  async #ask(witness: KnownWitness, note: Note, size: number, signal?: AbortSignal) {
    let reply = await this.#post(witness, note, size, signal);
    if (reply.status === 409) {
      const known = parseCount(reply.text.trimEnd());
      if (known === undefined)
        throw new Error(`it answered 409 without a tree size: ${reply.text.slice(0, 200).trimEnd()}`);
      if (known > size) {
        throw new Error(
          `it has cosigned ${known} leaves of this log, but the log has ${size}: the ledger is in an earlier state, or someone else signs with its key`,
        );
      }
      witness.size = known;
      reply = await this.#post(witness, note, size, signal);
    }
    if (reply.status !== 200)
      throw new Error(`it answered ${reply.status}: ${reply.text.slice(0, 200).trimEnd()}`);
    return this.#cosignatureIn(reply.text, witness, note);
  }

  async #post(witness: KnownWitness, note: Note, size: number, signal?: AbortSignal) {
    const proof = await this.#options.log.consistencyProof(Math.min(witness.size, size), size);
    const lines = [`old ${witness.size}`, ...proof.map(toBase64)].map((line) => `${line}\n`).join('');
    const deadline = AbortSignal.timeout(this.#options.answerDeadlineMs ?? ANSWER_DEADLINE_MS);
    const { status, body } = await sendRequest({
      method: 'POST',
      url: `${witness.url}/add-checkpoint`,
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: `${lines}\n${formatNote(note)}`,
      replyBytesMax: ANSWER_BYTES_MAX,
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    });
    return { status, text: Buffer.from(body).toString('utf8') };
  }

  /** Returns the witness's own cosignature among the lines of its answer. Ignores lines of other keys. */
  #cosignatureIn(lines: string, { key }: KnownWitness, { text }: Note): { line: Signature; atS: number } {
    const answered = parseNote(`${text}\n${lines}`);
    if (answered?.text !== text) throw new Error('its answer is not a list of signature lines');
    const { known, refusal } = found(() => signaturesBy(answered, [key]));
    if (known === undefined) throw new Error(refusal);
    const [own] = known;
    if (own?.atS === undefined) throw new Error('its answer has no cosignature by its key');
    if (own.atS > this.#options.clock.wallMs() / 1000 + AHEAD_MAX_S)
      throw new Error('its cosignature is from the future: compare the clocks');
    return { line: own.line, atS: own.atS };
  }
}
