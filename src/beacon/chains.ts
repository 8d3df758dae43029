import { messageOf } from '../core/assert.ts';
import { type BeaconChain, BeaconError, type BeaconRound, chainOf, INFO_MEMBERS } from './drand.ts';

/** A chain that draws may use. */
export interface ChainSetting {
  readonly name: string;
  /** 64 hex digits. All trust in the chain rests on this hash. */
  readonly hash: string;
  /** Prefixes of drand's HTTP API, tried in this order. */
  readonly urls: readonly string[];
}

/** Resolves to a JSON document. Rejects if it cannot get one. */
export type FetchJson = (url: string) => Promise<unknown>;

/** A chain, and its information as `/HASH/info` returns it, from which `chainOf` makes the chain again. */
export interface KnownChain {
  readonly chain: BeaconChain;
  readonly info: object;
}

/** A round. In a chained scheme it has the previous round's signature, which is signed too. */
export type ChainRound = BeaconRound & { readonly previous_signature?: string };

/** A verified round, or one being verified. Cached, since a verification takes tens of milliseconds. */
interface Verified {
  readonly scheme: BeaconChain['scheme'];
  readonly round: Promise<ChainRound>;
}

const ROUNDS_KEPT_MAX = 64;

/** Returns the known members of the information. Draws publish it, and no hash covers what a server adds to it. */
function infoOf(info: unknown): object {
  const members = Object.entries(info as object).filter(([name]) => INFO_MEMBERS.includes(name));
  return Object.fromEntries(members);
}

/** No URL gave an answer. A later call may succeed. */
class BeaconMissing extends Error {
  override name = 'BeaconMissing';
}

/** The chains of the settings. Nothing is fetched before a draw names one. */
export class BeaconChains {
  readonly #settings: readonly ChainSetting[];
  readonly #fetchJson: FetchJson;
  /** Chains that are known or being fetched, by hash. Concurrent callers share one fetch. */
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
   * Resolves to the chain of this name or hash; undefined if the settings have none. Rejects with BeaconMissing if its
   * information cannot be fetched, and with BeaconError if it is that of another chain.
   */
  async chain(nameOrHash: string): Promise<KnownChain | undefined> {
    const setting = this.#setting(nameOrHash);
    if (setting === undefined) return undefined;
    const { hash } = setting;
    let known = this.#known.get(hash);
    if (known === undefined) {
      known = this.#firstOf(setting, 'info', (info) => ({ chain: chainOf(info, hash), info: infoOf(info) }));
      this.#known.set(hash, known);
      known.catch(() => this.#known.delete(hash)); // the caller gets the error
    }
    return known;
  }

  /** Resolves to the verified round. Rejects with BeaconError for wrong answers, with BeaconMissing without any. */
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
      const { roundOf } = await import('./round.ts'); // loads the curve only when a draw needs it
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

  /** Resolves to what `read` makes of the first answer that it accepts, asking the URLs in order. */
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
