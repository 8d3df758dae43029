import './machine.ts'; // first, because it replaces parts before anything of the service is loaded
import { allowanceOf, TIER_ALLOWANCES } from '../../../src/account/tiers.ts';
import { periodEndMs, periodOf } from '../../../src/core/clock.ts';
import { Chance } from '../../support/chance.ts';
import { aliveKeys, mostAllowed, type SimClient, type SimKey } from './clients.ts';
import { DEEDS, type Deed, type Likely, NODE_DEEDS } from './deeds.ts';
import { Connection, type WireReply, type WireRequest } from './front.ts';
import { SimMachine } from './machine.ts';
import type { Mutant } from './mutants.ts';
import { hold, Violation } from './oracle/violation.ts';
import { type Sent, watchAdmission } from './sent.ts';
import { type Member, World } from './simulation.ts';
import { dataPlan, flawedPlan, type Plan, plainPlan } from './traffic.ts';

const STEP_MS = 25;
const PROGRESS_STEPS = 500;
/** With no faults every request is answered within this time. */
const QUIET_MS = 15_000;
/** Count of looks after which an answer to a burst must be acknowledged, if the service is up. */
const LOOKS_MAX = 100;
const LOOK_MS = 0.1;
/** With no faults a job of the simulated provider is read within this time. */
const JOB_DONE_MS = 60_000;
const HOUR_MS = 3_600_000;

export interface CourseOptions {
  readonly seed: number;
  readonly steps: number;
  readonly mutant?: Mutant;
  /** Nodes that share the books, in memory: 1 by default. */
  readonly nodes?: number;
  readonly likely?: Likely;
  /** If set, the world is left as it is after the last step, with whatever is under way. */
  readonly isLeftOpen?: true;
  /** Receives a line for everything that happens. */
  readonly tell?: (line: string) => void;
  /** Receives the count of steps taken, every PROGRESS_STEPS. */
  readonly progressed?: (steps: number) => void;
}

export interface Outcome {
  readonly seed: number;
  /** Steps that were taken. */
  readonly steps: number;
  readonly broken: Error | undefined;
  /** A hash of everything that happened. */
  readonly trace: string;
  readonly recent: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

/** Runs one world from its seed until a promise is broken or all steps are taken. */
export async function runCourse(options: CourseOptions): Promise<Outcome> {
  const { seed, steps, mutant, nodes = 1, tell = () => {} } = options;
  const random = new Chance(`simulation ${seed}`);
  const machine = new SimMachine(random.fork('machine'));
  const world = new World(machine, random, mutant, tell, nodes);
  const unhandled = (error: unknown) =>
    world.breaks(
      new Violation('no fault of its own', `nobody heard of ${String((error as Error)?.stack ?? error)}`),
    );
  process.on('unhandledRejection', unhandled);
  const unplant = mutant?.plant?.();
  machine.powerOn();
  try {
    await world.openLedger();
    const course = new Course(world, { ...DEEDS, ...(nodes > 1 && NODE_DEEDS), ...options.likely });
    const taken = await course.run(steps, options);
    return {
      seed,
      steps: taken,
      broken: world.broken,
      trace: world.trace(),
      recent: world.recent,
      counts: { ...world.counts, ...course.totals() },
    };
  } finally {
    machine.powerOff();
    await world.close();
    unplant?.();
    process.off('unhandledRejection', unhandled);
  }
}

class Course {
  readonly #world: World;
  readonly #random: Chance;
  readonly #deeds: Likely;
  /** The node of this step. */
  #member: Member;
  readonly #sent: { readonly sent: Sent; readonly connection: Connection }[] = [];
  #number = 0;

  constructor(world: World, deeds: Likely) {
    this.#world = world;
    this.#member = world.members[0];
    this.#deeds = deeds;
    this.#random = world.random.fork('course');
  }

  async run(steps: number, { progressed, isLeftOpen }: CourseOptions): Promise<number> {
    const world = this.#world;
    let step = 0;
    try {
      await world.operator.openAccounts();
      for (const member of world.members) {
        world.start(member);
        await world.machine.pass(member.number === 0 ? 2_000 : 500);
      }
      for (; step < steps && world.broken === undefined; step++) {
        if (step > 0 && step % PROGRESS_STEPS === 0) progressed?.(step);
        if (world.members.length > 1) this.#member = this.#random.pick(world.members);
        await this.#do(this.#random.weighted(this.#deeds as Record<Deed, number>));
        await world.machine.pass(this.#random.chance(0.3) ? 0 : this.#random.gap(STEP_MS));
      }
      if (world.broken === undefined && isLeftOpen !== true) await this.#finish();
    } catch (error) {
      world.breaks(error as Error);
    }
    return step;
  }

  totals(): Record<string, number> {
    const { admittedCount, books, jobs, lots, pure, seeds, certificates } = this.#world.keepers;
    return {
      requests: this.#number,
      'requests admitted': admittedCount,
      'answers in the ledger': books.entries,
      'answers acknowledged': books.answered.length,
      'proofs verified': certificates.verified,
      'pure bytes traced': pure.bytesDelivered,
      seeds: seeds.count,
      'jobs paid': jobs.paid,
      'lots accepted': lots.acceptedCount,
      'answers of several lots': lots.mixed.lots,
      'answers of several origins': lots.mixed.origins,
      'simulated seconds': Math.round(this.#world.machine.nowMs / 1000),
      tasks: this.#world.machine.tasks,
    };
  }

  async #do(deed: Deed): Promise<void> {
    const world = this.#world;
    const random = this.#random;
    const { machine, operator } = world;
    const deeds: Readonly<Record<Deed, () => unknown>> = {
      request: () => this.#request(this.#client(), dataPlan(random)),
      'pure request': () => {
        const buyers = operator.clients.filter(({ tier }) => allowsPure(tier));
        this.#request(this.#clientOf(buyers), dataPlan(random, 'pure'));
      },
      burst: () => this.#burst(),
      'request again': () => this.#again(),
      'flawed request': () => this.#flawed(),
      'plain request': () => this.#request(this.#client(), this.#plain()),
      'hang up': () => this.#hangUp(),
      'withdraw a lot': () => this.#withdraw(),
      'change keys': () => this.#changeKeys(),
      'change limits': () => {
        const clients = operator.clients.filter(({ name }) => name === 'tight' || name === 'hasty');
        return operator.changeLimits(random.pick(clients), random);
      },
      crash: () => this.#crash(),
      'stop in order': () => world.stop(this.#member, random.gap(2_000)),
      'cut a node off': () => {
        world.count('nodes cut off');
        this.#member.life.cutOffUntilMs = machine.nowMs + random.pick([300, 2_000, 20_000]);
      },
      'pause a node': () => {
        world.count('nodes paused');
        this.#member.life.pausedUntilMs = machine.nowMs + random.pick([300, 2_000, 20_000]);
      },
      'fence a node': () => {
        if (!this.#member.life.dead) world.fence(this.#member);
      },
      'change the weather': () => world.weather.change(),
      'set the wall clock': () => this.#setWallClock(),
      stall: () => {
        world.count('stalls');
        machine.stall(random.pick([300, 4_000, 30_000, 2 * HOUR_MS]));
      },
      wait: () => machine.pass(random.pick([200, 1_000, 5_000, 20_000])),
      look: () => world.keepers.certificates.look(world.ledger),
      quiet: () => this.#quiet(),
    };
    await deeds[deed]();
  }

  #client(): SimClient {
    return this.#clientOf(this.#world.operator.clients);
  }

  #clientOf(clients: readonly SimClient[]): SimClient {
    const name = this.#random.weighted(Object.fromEntries(clients.map((each) => [each.name, each.weight])));
    return clients.find((each) => each.name === name)!;
  }

  #request(client: SimClient, plan: Plan, idempotencyKey = this.#newIdempotencyKey()): void {
    const wallMs = this.#world.machine.wallMs();
    const alive = aliveKeys(client, wallMs);
    const full = alive.filter(({ scopes }) => scopes.length > 1);
    const keys = this.#random.chance(0.02) ? client.keys : full.length > 0 ? full : alive;
    if (keys.length > 0) this.#send(client, plan, this.#random.pick(keys), idempotencyKey);
  }

  #burst(): void {
    const client = this.#client();
    for (let left = this.#random.between(5, 40); left > 0; left--)
      this.#request(client, dataPlan(this.#random));
  }

  /**
   * Ends the process at any moment, while answers are on their way to the disk, or right after one was acknowledged.
   */
  async #crash(): Promise<void> {
    const random = this.#random;
    const { machine, keepers } = this.#world;
    for (let bursts = random.pick([0, 0, 1, 3, 8]); bursts > 0; bursts--) {
      this.#burst();
      await machine.pass(random.gap(0.7));
    }
    if (random.chance(0.5)) {
      const { answered } = keepers.books;
      const before = answered.length;
      for (let looks = 0; looks < LOOKS_MAX && answered.length === before; looks++)
        await machine.pass(LOOK_MS);
    }
    this.#world.crash(this.#member, random.chance(0.85) ? random.gap(200) : random.gap(20_000));
  }

  #newIdempotencyKey(): string {
    return this.#random.chance(0.25) ? `key-${this.#number}` : '';
  }

  /**
   * Repeats the request of a client that got no reply under the same key; now and then, by mistake, another request.
   */
  #again(): void {
    const random = this.#random;
    const keyed = this.#sent.slice(-60).filter(({ sent }) => sent.idempotencyKey !== '');
    if (keyed.length === 0) return;
    const { sent } = random.pick(keyed);
    const plan = random.chance(0.1) ? dataPlan(random, 'pure') : sent.plan;
    this.#request(sent.client, plan, sent.idempotencyKey);
  }

  #flawed(): void {
    const random = this.#random;
    if (random.chance(0.5)) {
      this.#request(this.#client(), flawedPlan(random), '');
      return;
    }
    const client = this.#client();
    const dead = client.keys.filter(({ revokedAtMs }) => revokedAtMs !== Number.POSITIVE_INFINITY);
    if (dead.length > 0) this.#send(client, dataPlan(random), random.pick(dead), '');
  }

  #plain(): Plan {
    const random = this.#random;
    const { answered } = this.#world.keepers.books;
    const ids = answered.slice(-40).map(({ reply }) => /cert_[0-9a-z]{26}/.exec(textOf(reply?.body))?.[0]);
    const known = ids.filter((id) => id !== undefined);
    if (known.length > 0 && random.chance(0.5))
      return plainPlan('/v1/certificate', `id=${random.pick(known)}`);
    return random.pick([
      plainPlan('/v1/usage'),
      plainPlan('/v1/certificate', 'id=cert_00000000000000000000000000'),
      plainPlan('/log/checkpoint'),
      plainPlan('/readyz'),
    ]);
  }

  #hangUp(): void {
    const open = this.#sent.slice(-60).filter(({ sent }) => sent.reply === undefined && !sent.hungUp);
    if (open.length === 0) return;
    const { sent, connection } = this.#random.pick(open);
    sent.hungUp = true;
    this.#world.count('clients gone');
    this.#world.machine.enter(sent.life);
    connection.hangUp();
  }

  #send(client: SimClient, plan: Plan, key: SimKey, idempotencyKey: string): void {
    const world = this.#world;
    const { machine } = world;
    const { node, life } = this.#member;
    if (node === undefined || !this.#member.isServing(machine.nowMs)) return; // nobody listens
    machine.enter(life);
    const front = this.#random.between(0, node.fronts.length - 1);
    const sent: Sent = {
      number: ++this.#number,
      plan,
      client,
      keyText: key.text,
      idempotencyKey,
      life,
      front,
      sentAtMs: machine.nowMs,
      mode:
        plan.data === undefined ? undefined : (plan.data.mode ?? TIER_ALLOWANCES[client.tier].defaultMode),
      ...{ requestId: '', hungUp: false, reply: undefined, repliedAtMs: undefined, persisted: undefined },
    };
    const replied = (reply: WireReply) => {
      sent.reply = reply;
      sent.repliedAtMs = machine.nowMs;
      if (sent.requestId !== '') this.#replied(sent); // else the front is still in receive()
    };
    // an answer that was drawn and is not durable in time is not refused: its client knows no more than one that hung up
    const connection = new Connection(replied, () => {
      sent.hungUp = true;
      world.count('connections cut');
    });
    world.note(`sends ${sent.number} ${client.name} ${plan.method} ${plan.path}?${plan.query.slice(0, 60)}`);
    const exchange = node.fronts[front].front.receive(requestOf(plan, key.text, idempotencyKey), connection);
    sent.requestId = Buffer.from(exchange.requestId).toString('hex');
    this.#sent.push({ sent, connection });
    if (this.#sent.length > 400) this.#sent.splice(0, 200);
    world.check(() => world.keepers.named(sent));
    const counted = () => {
      if (exchange.error !== 'rate_limited') world.check(() => world.keepers.admitted(sent));
    };
    if (exchange.rate !== undefined) counted();
    if (sent.reply !== undefined) this.#replied(sent);
    else if (exchange.rate === undefined) watchAdmission(exchange, counted);
  }

  #replied(sent: Sent): void {
    const world = this.#world;
    const { status, body } = sent.reply!;
    world.note(`answers ${sent.number} ${status} ${textOf(body).slice(0, 90)}`);
    world.count(`status ${status}`);
    // Whatever the faults, each injected one has a better answer than 500: try again. A worker that dies with the
    // task of a request is the exception.
    const isKilled = world.takeDeathOf(sent.requestId);
    const expected = isKilled ? 'instead of 500, though its worker died' : 'though no worker died over it';
    if ((status === 500) !== isKilled)
      world.breaks(new Violation('no fault of its own', `request ${sent.number} got ${status} ${expected}`));
    world.check(() => world.keepers.replied(sent));
  }

  async #withdraw(): Promise<void> {
    const { ledger, keepers, machine } = this.#world;
    const { lots, withdrawn } = keepers.lots;
    const inUse = keepers.books.answered
      .slice(-30)
      .flatMap(({ persisted }) => persisted?.source.lotIds ?? []);
    const stored = [...lots.keys()].slice(-6);
    const candidates = [...inUse, ...stored].filter((each) => {
      const lot = lots.get(each);
      return lot?.accepted === true && lot.origin !== 'system' && !withdrawn.has(each);
    });
    if (candidates.length === 0) return;
    const id = this.#random.pick(candidates);
    this.#world.count('lots withdrawn');
    this.#world.note(`withdraws ${id}`);
    await ledger.revokeLot({ lotId: id, why: 'as the simulation says', atMs: Math.floor(machine.wallMs()) });
    withdrawn.set(id, machine.nowMs);
  }

  async #changeKeys(): Promise<void> {
    const random = this.#random;
    const { operator, machine } = this.#world;
    const client = this.#client();
    const wallMs = machine.wallMs();
    const alive = aliveKeys(client, wallMs + 1);
    if (alive.length < 3) await operator.addKey(client, undefined, random.chance(0.2) ? 60_000 : undefined);
    else if (random.chance(0.5)) await operator.revokeKey(random.pick(alive));
    else await operator.rotateKey(client, random.pick(alive), random.pick([0, 500, 30_000]));
  }

  #setWallClock(): void {
    const { machine, keepers } = this.#world;
    const wallMs = machine.wallMs();
    const toMonthEndMs = periodEndMs(wallMs) - wallMs;
    const leapMs = this.#random.pick([
      2_000,
      -2_000,
      90_000,
      -90_000,
      HOUR_MS,
      25 * HOUR_MS,
      toMonthEndMs - 5_000,
    ]);
    // The clock is not set back over the end of a month: charges that the meters then count in the later month are
    // booked in the earlier one.
    if (periodOf(wallMs + leapMs) < periodOf(wallMs)) return;
    this.#world.count('clocks set');
    this.#world.note(`the wall clock leaps by ${leapMs} ms`);
    machine.wallOffsetMs += leapMs;
    if (leapMs > 0) keepers.rates.wallLeapt();
  }

  /** Stops faults and requests: everything under way must end, and all books must agree. */
  async #quiet(): Promise<void> {
    const world = this.#world;
    const { weather, machine, keepers } = world;
    weather.clear();
    const pausedMs = Math.max(...world.members.map(({ life }) => life.pausedUntilMs - machine.nowMs), 0);
    for (const { life } of world.members) life.cutOffUntilMs = Math.min(life.cutOffUntilMs, machine.nowMs);
    await machine.pass(pausedMs + QUIET_MS);
    const isDown = () => world.members.some(({ node }) => node === undefined);
    for (let tries = 0; isDown() && tries < 20; tries++) await machine.pass(QUIET_MS);
    if (isDown()) throw new Violation('progress', 'the service does not start in fair weather');
    const lives = world.members.map(({ life }) => life);
    if (lives.some(({ stopped }) => stopped)) return;
    const waiting = this.#sent.filter(
      ({ sent }) => lives.includes(sent.life) && sent.reply === undefined && !sent.hungUp,
    );
    if (waiting.length > 0)
      throw new Violation('progress', `request ${waiting[0].sent.number} is never answered`);
    keepers.books.compareMeters((client) => this.#usedBy(client));
    await keepers.certificates.look(world.ledger);
    if (keepers.certificates.unlogged > 0) {
      throw new Violation('progress', `${keepers.certificates.unlogged} certificates are never logged`);
    }
    weather.usual();
  }

  /**
   * Returns what the meters of all nodes count of the month: with several nodes, the grants less what is held unused.
   */
  #usedBy(client: SimClient): { period: number; requests: number; credits: number } {
    const { members, machine, nodes } = this.#world;
    const { account } = client;
    const period = periodOf(machine.wallMs());
    const meters = members.map(({ node }) => {
      const known = node?.fronts[0].stack.directory.account(account.id);
      if (known === undefined) throw new Violation('progress', `account ${account.id} is not seen`);
      return known.meter;
    });
    if (nodes === undefined) return meters[0].used(period);
    const used = nodes.limits.granted(account.number, period);
    const most = mostAllowed(client, 0);
    hold(
      used.requests <= most.quota && used.credits <= most.credits,
      'credits and quota',
      `${used.requests} requests and ${used.credits} credits are granted to ${client.name}`,
    );
    for (const share of meters.map((meter) => meter.share())) {
      if (share.period !== period) continue;
      used.requests -= share.requestsGranted - share.requestsUsed;
      used.credits -= share.creditsGranted - share.creditsUsed;
    }
    return { period, ...used };
  }

  async #audit(): Promise<void> {
    const { problems } = await this.#world.ledger.audit();
    if (problems.length > 0) throw new Violation('credits and quota', problems.join('; '));
  }

  /** Ends the course: without faults and with a new process, every mode must be served and nothing left open. */
  async #finish(): Promise<void> {
    const world = this.#world;
    await this.#quiet();
    world.weather.clear();
    for (const member of world.members) world.crash(member, 100);
    await world.machine.pass(JOB_DONE_MS - QUIET_MS);
    await this.#quiet();
    world.weather.clear();
    const { operator, keepers } = world;
    if (!world.members.every(({ node }) => node?.isReady))
      throw new Violation('progress', 'the service does not get ready in fair weather');
    const unread = keepers.jobs.unread(world.machine.wallMs() - JOB_DONE_MS);
    if (unread.length > 0)
      throw new Violation('progress', `job ${unread[0].key} is ${unread[0].state} forever`);
    const wide = operator.clients.find(({ name }) => name === 'wide')!;
    await operator.addKey(wide);
    await world.machine.pass(2_000);
    const before = keepers.books.answered.length;
    for (const member of world.members)
      for (const mode of allowanceOf(wide.account).modes) {
        this.#member = member;
        let plan = dataPlan(this.#random, mode);
        while (plan.data?.dryRun !== false || plan.data.priceBytes > 1_000)
          plan = dataPlan(this.#random, mode);
        this.#send(wide, plan, wide.keys.at(-1)!, '');
        if (world.nodes !== undefined) await world.machine.pass(0); // the next request may be sent to another node
      }
    await world.machine.pass(5_000);
    await this.#audit();
    const served = keepers.books.answered.length - before;
    const modes = 3 * world.members.length;
    if (served !== modes)
      throw new Violation('progress', `${served} of ${modes} modes are served in fair weather`);
  }
}

function allowsPure(tier: SimClient['tier']): boolean {
  return TIER_ALLOWANCES[tier].modes.includes('pure');
}

function requestOf(plan: Plan, keyText: string, idempotencyKey: string): WireRequest {
  const { method, path, query, body, accept } = plan;
  const headers: Record<string, string> = { authorization: `Bearer ${keyText}` };
  if (accept !== '') headers['accept'] = accept;
  if (body.length > 0) headers['content-type'] = 'application/json';
  if (idempotencyKey !== '') headers['idempotency-key'] = idempotencyKey;
  return { method, path, query, headers, body };
}

function textOf(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? new Uint8Array(0)).toString('latin1');
}
