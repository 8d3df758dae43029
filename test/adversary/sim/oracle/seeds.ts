import { sha256Hex } from '../../../../src/crypto/digest.ts';
import { SEED_BLOCK_BYTES } from '../../../../src/ledger/records.ts';
import type { SeedInForce } from '../../../../src/pool/supply/seeds.ts';
import type { SimMachine } from '../machine.ts';
import type { Sent } from '../sent.ts';
import type { Life } from '../wire.ts';
import { nameOf } from './books.ts';
import { hold } from './violation.ts';

interface Installed {
  readonly seed: SeedInForce;
  readonly digest: string;
  readonly life: Life;
  /** By front, the true times from and to which its keystream was expanded from this seed. */
  readonly inForce: Map<number, { readonly fromMs: number; toMs: number }>;
}

/** A seed is used once, has one number, and every seeded answer is of one that was in force. */
export class SeedKeeper {
  readonly #machine: SimMachine;
  /** By tier and number. */
  readonly #byGeneration = new Map<string, Installed>();
  readonly #byDigest = new Map<string, Installed>();
  /** By lot and offset in its seeds. */
  readonly #byPlace = new Map<string, Installed>();
  /** By node and tier, the highest number of all earlier lives and of the last one. */
  readonly #highest = new Map<string, { life: Life; before: number; now: number }>();
  /** The last of each group and front. */
  readonly #current = new Map<string, Installed>();

  constructor(machine: SimMachine) {
    this.#machine = machine;
  }

  get count(): number {
    return this.#byDigest.size;
  }

  /** A front takes a seed; `dueAtMs` is the true time at which its interval ends. */
  installed(life: Life, front: number, seed: SeedInForce, bytes: Uint8Array, dueAtMs: number): void {
    const name = `${seed.tier} ${seed.generation}`;
    const digest = sha256Hex(bytes);
    let known = this.#byGeneration.get(name);
    if (known === undefined) {
      hold(!this.#byDigest.has(digest), 'seeds', `seed ${name} was used before, under another number`);
      this.#number(life, seed);
      known = { seed, digest, life, inForce: new Map() };
      this.#byGeneration.set(name, known);
      this.#byDigest.set(digest, known);
      this.#byPlace.set(`${seed.lotId} ${seed.index * SEED_BLOCK_BYTES}`, known);
    }
    hold(known.digest === digest && known.life === life, 'seeds', `two seeds are ${name}`);
    hold(!known.inForce.has(front), 'seeds', `front ${front} takes seed ${name} twice`);
    const group = `${life.number} ${front} ${seed.group}`;
    const last = this.#current.get(group)?.inForce.get(front);
    if (last !== undefined) last.toMs = Math.min(last.toMs, this.#machine.nowMs);
    known.inForce.set(front, { fromMs: this.#machine.nowMs, toMs: dueAtMs });
    this.#current.set(group, known);
  }

  /** Numbers of a process are above those of every process before it. */
  #number(life: Life, { tier, generation }: SeedInForce): void {
    const counted = `${life.node} ${tier}`;
    const highest = this.#highest.get(counted) ?? { life, before: 0, now: 0 };
    if (highest.life !== life) {
      highest.before = highest.now;
      highest.life = life;
    }
    hold(
      generation > highest.before,
      'seeds',
      `seed ${generation} of ${tier}: ${highest.before} was given out before a restart`,
    );
    highest.now = Math.max(highest.now, generation);
    this.#highest.set(counted, highest);
  }

  /** A seeded answer became durable. */
  persisted(sent: Sent): void {
    if (sent.persisted === undefined || sent.mode !== 'quantum-seeded') return;
    const { source, atMs } = sent.persisted;
    const name = nameOf(sent);
    const isOfOne = source.lotIds.length === 1 && source.drawn.length === 1;
    hold(isOfOne, 'seeds', `${name} is not of exactly one seed`);
    const installed = this.#byPlace.get(`${source.lotIds[0]} ${source.drawn[0].offset}`);
    const span = installed?.life === sent.life ? installed.inForce.get(sent.front) : undefined;
    hold(installed !== undefined && span !== undefined, 'seeds', `${name}: its front has no such seed`);
    const { tier } = installed.seed;
    hold(tier === sent.client.tier, 'seeds', `${name} is of a seed of ${tier}`);
    const wasInForce = span.fromMs <= atMs && span.toMs >= sent.sentAtMs;
    hold(wasInForce, 'seeds', `${name} is of a seed that was not in force`);
  }
}
