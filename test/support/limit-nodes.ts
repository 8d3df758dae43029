import { createCell, Meter } from '../../src/account/meter.ts';
import type { Reservation } from '../../src/account/reservation.ts';
import { SharedLimits } from '../../src/account/shared-limits.ts';
import { type Allowance, TIER_ALLOWANCES } from '../../src/account/tiers.ts';
import { ApiError } from '../../src/core/errors.ts';
import { silentLog } from '../../src/core/log.ts';
import type { LimitAsk, Limits } from '../../src/ledger/sharing.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryLimits } from './memory-limits.ts';

type Call = [order: number, asks: readonly LimitAsk[]];

const ACCOUNT = 7;

/** One node that serves an account with its own meter, over a ledger whose replies can be lost. */
class LimitNode {
  readonly name: string;
  readonly meter: Meter;
  readonly shared: SharedLimits;
  readonly limits: Limits;
  losesReplies = false;
  /** Calls that asked for something. */
  readonly #asked: Call[] = [];
  readonly #clock: ManualClock;

  constructor(name: string, limits: Limits, allowance: Allowance, clock: ManualClock) {
    this.name = name;
    this.limits = limits;
    this.#clock = clock;
    const askLimits: Limits['askLimits'] = async (...call) => {
      const answer = await limits.askLimits(...call);
      if (call[1].some(({ requestsWanted, creditsWanted }) => requestsWanted + creditsWanted > 0))
        this.#asked.push(call);
      if (!this.losesReplies) return answer;
      throw new ApiError('storage_unavailable');
    };
    this.shared = new SharedLimits({ limits: { askLimits }, log: silentLog });
    this.meter = new Meter(createCell(allowance, true));
    void this.shared.add(ACCOUNT, this.meter);
  }

  /** The first and the last of its calls reach the ledger once more. */
  async repeatCalls(): Promise<void> {
    for (const call of [this.#asked.at(0), this.#asked.at(-1)])
      if (call !== undefined) await this.limits.askLimits(...call);
  }

  /** A request, of pure bytes with `credits`: the reservation that it would be answered with. */
  async enter(credits: number): Promise<Reservation | undefined> {
    const reservation = this.meter.enter(this.#clock.monotonicMs(), 0);
    if (!reservation.hasRequest) return undefined;
    if (credits === 0) return reservation;
    await this.shared.ask(ACCOUNT, credits).catch(() => {});
    if (reservation.takeCredits(credits)) return reservation;
    reservation.release();
    return undefined;
  }
}

/** Nodes that serve one account, and the sum of what they spent. */
export class LimitNodes {
  readonly allowance: Allowance;
  readonly clock = new ManualClock();
  readonly #limits = new MemoryLimits();
  #started = 0;
  readonly #nodes: LimitNode[] = [];
  readonly #settled = { requests: 0, credits: 0 };

  private constructor(limits: Partial<Allowance>) {
    this.allowance = { ...TIER_ALLOWANCES.enterprise, ...limits };
  }

  static async start(count: number, limits: Partial<Allowance>): Promise<LimitNodes> {
    const nodes = new LimitNodes(limits);
    for (let i = 0; i < count; i++) nodes.#nodes.push(await nodes.#start());
    return nodes;
  }

  get nodes(): readonly LimitNode[] {
    return this.#nodes;
  }

  /** Returns what all nodes have spent of the month, including those that died. */
  spent(): { requests: number; credits: number } {
    const spent = { ...this.#settled };
    for (const { meter } of this.#nodes) {
      const { requestsUsed, creditsUsed } = meter.share();
      spent.requests += requestsUsed;
      spent.credits += creditsUsed;
    }
    return spent;
  }

  /** A node dies, is settled by what it committed, and starts again. */
  async restart(i: number): Promise<void> {
    const { meter, name } = this.#nodes[i];
    const { requestsUsed: requests, creditsUsed: credits } = meter.share();
    this.#settled.requests += requests;
    this.#settled.credits += credits;
    this.#limits.settle(name, () => ({ requests, credits }));
    this.#nodes[i] = await this.#start();
  }

  /** Makes all nodes look, as they do four times a second. */
  async look(): Promise<void> {
    this.clock.advance(250);
    for (const { shared } of this.#nodes) await shared.look();
  }

  /** Spends on one node until nothing is left for it, however often the others are asked. */
  async spendAll(i: number, credits: number): Promise<void> {
    const most = 2 * this.allowance.requestsPerMonth;
    for (let refusals = 0; refusals < 12 && this.spent().requests < most; ) {
      if (await this.#nodes[i].enter(credits)) refusals = 0;
      else {
        refusals++;
        await this.look();
      }
    }
  }

  async #start(): Promise<LimitNode> {
    const name = `node ${++this.#started}`;
    const node = new LimitNode(name, this.#limits.node(name), this.allowance, this.clock);
    await node.shared.look();
    return node;
  }
}
