import { messageOf } from '../core/assert.ts';
import { type BeaconChain, BeaconError, type BeaconRound, chainOf, INFO_MEMBERS } from './drand.ts';

/** A chain that draws may use. */
export interface ChainSetting {
  readonly name: string;
  /** 64 hex digits: all that is trusted of the chain. */
  readonly hash: string;
  /** Prefixes of drand's HTTP API, tried in their order. */
  readonly urls: readonly string[];
}

/** Gets a JSON document. Rejects when there is none to be had. */
export type FetchJson = (url: string) => Promise<unknown>;

/** A chain, and what `/HASH/info` says of it, from which anybody makes the chain again. */
export interface KnownChain {
  readonly chain: BeaconChain;
  readonly info: object;
}

/** A round, with the signature before it where the scheme signs that too. */
export type ChainRound = BeaconRound & { readonly previous_signature?: string };

/** A round that was verified under a scheme, or is about to be: a signature takes the thread tens of milliseconds. */
interface Verified {
  readonly scheme: BeaconChain['scheme'];
  readonly round: Promise<ChainRound>;
}

const ROUNDS_KEPT_MAX = 64;

/** Whatever else a server says would stand in every draw, and nothing vouches for it. */
function infoOf(info: unknown): object {
  const members = Object.entries(info as object).filter(([name]) => INFO_MEMBERS.includes(name));
  return Object.fromEntries(members);
}

/** Nothing could be had: whoever asks again later may get it. */
class BeaconMissing extends Error {
  override name = 'BeaconMissing';
}

/** The chains of the settings. Nothing is asked of them before a draw names one. */
export class BeaconChains {
  readonly #settings: readonly ChainSetting[];
  readonly #fetchJson: FetchJson;
  /** Those that are known or asked for now: however many ask, each is asked for once. */
  readonly #known = new Map<string, Promise<KnownChain>>();
  readonly #rounds = new Map<string, Verified>();

  constructor(settings: readonly ChainSetting[], fetchJson: FetchJson) {
    this.#settings = settings;
    this.#fetchJson = fetchJson;
  }

  get names(): readonly string[] {
    return this.#settings.map(({ name }) => name);
  }

  /**
   * The chain of this name or hash; undefined when the settings have none. Rejects with BeaconMissing or BeaconError when its
   * information cannot be had or is that of another chain.
   */
  async chain(nameOrHash: string): Promise<KnownChain | undefined> {
    const setting = this.#setting(nameOrHash);
    if (setting === undefined) return undefined;
    const { hash } = setting;
    let known = this.#known.get(hash);
    if (known === undefined) {
      known = this.#firstOf(setting, 'info', (info) => ({ chain: chainOf(info, hash), info: infoOf(info) }));
      this.#known.set(hash, known);
      known.catch(() => this.#known.delete(hash)); // told to the caller
    }
    return known;
  }

  /** The round, verified. Rejects with BeaconError when what came was wrong, and with BeaconMissing when nothing came. */
  async round({ chain }: Pick<KnownChain, 'chain'>, round: number): Promise<ChainRound> {
    const key = `${chain.hash}/${round}`;
    const known = this.#rounds.get(key);
    if (known?.scheme === chain.scheme) return known.round;
    const verified = { scheme: chain.scheme, round: this.#verifiedRound(chain, round) };
    this.#rounds.set(key, verified);
    const [oldest] = this.#rounds.keys();
    if (this.#rounds.size > ROUNDS_KEPT_MAX) this.#rounds.delete(oldest);
    verified.round.catch(() => {
      if (this.#rounds.get(key) === verified) this.#rounds.delete(key);
    });
    return verified.round;
  }

  async #verifiedRound(chain: BeaconChain, round: number): Promise<ChainRound> {
    const setting = this.#setting(chain.hash);
    if (setting === undefined) throw new BeaconMissing(`the chain ${chain.hash} is not among the settings`);
    return this.#firstOf(setting, `public/${round}`, async (answer) => {
      const { roundOf } = await import('./round.ts'); // no draw, no curve
      const verified = roundOf(chain, round, answer);
      if (!chain.scheme.isChained) return verified;
      return {
        ...verified,
        previous_signature: (answer as { previous_signature: string }).previous_signature,
      };
    });
  }

  #setting(nameOrHash: string): ChainSetting | undefined {
    return this.#settings.find(({ name, hash }) => name === nameOrHash || hash === nameOrHash);
  }

  /** What the first URL gives that gives anything right. */
  async #firstOf<T>(
    { hash, urls }: ChainSetting,
    path: string,
    read: (document: unknown) => T | Promise<T>,
  ): Promise<T> {
    let wrong: BeaconError | undefined;
    let missing = 'it has no URL';
    for (const url of urls) {
      try {
        return await read(await this.#fetchJson(`${url}/${hash}/${path}`));
      } catch (error) {
        if (error instanceof BeaconError) wrong = error;
        else missing = messageOf(error);
      }
    }
    throw wrong ?? new BeaconMissing(missing);
  }
}
