import { type BeaconChain, chainOf } from '../../src/beacon/drand.ts';
import { TestBeacon } from './test-beacon.ts';

type Round = ReturnType<TestBeacon['signed']>;

/** drand's HTTP API over a chain of the tests' own, with the rounds that a test has published. */
export class LocalDrand {
  readonly #beacon: TestBeacon;
  readonly chain: BeaconChain;
  readonly #published = new Map<number, Round>();
  /** Count of requests for a round. */
  asked = 0;
  /** If true, serves the information of another chain. */
  lies = false;

  constructor(genesisS = 1_790_000_000, periodS = 3) {
    this.#beacon = new TestBeacon(genesisS, periodS);
    this.chain = chainOf(this.#beacon.info, this.hash);
  }

  get hash(): string {
    return this.#beacon.hash;
  }

  reset(): void {
    this.#published.clear();
    this.asked = 0;
    this.lies = false;
  }

  round(round: number): Round {
    return this.#beacon.signed(round);
  }

  /** Publishes the round, with the signature of another round if one is named. */
  publish(round: number, signedAs = round): void {
    this.#published.set(round, { ...this.round(signedAs), round });
  }

  /** Undefined for what is not there. */
  reply(path: string): unknown {
    const { info } = this.#beacon;
    if (path === `/${this.hash}/info`)
      return this.lies ? { ...info, period: 1 + Number(info['period']) } : info;
    const [, round] = new RegExp(`^/${this.hash}/public/(\\d+)$`).exec(path) ?? [];
    if (round === undefined) return undefined;
    this.asked++;
    return this.#published.get(Number(round));
  }
}
