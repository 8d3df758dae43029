import './machine.ts'; // first: it takes its place before anything of the service is loaded
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { CertificateIds } from '../../../src/certificate/ids.ts';
import { type Config, loadSettings } from '../../../src/config/config.ts';
import type { Log } from '../../../src/core/log.ts';
import { toBase64 } from '../../../src/crypto/base64.ts';
import { COSIGNATURE_TYPE, noteKeyId, verifierKey } from '../../../src/crypto/note.ts';
import { SigningKey } from '../../../src/crypto/signing.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { Chance } from '../../support/chance.ts';
import { MemoryNodes } from '../../support/memory-nodes.ts';
import { Operator } from './clients.ts';
import { type AtRisk, SimDisk } from './disk.ts';
import { type Ending, LedgerFolder } from './folder.ts';
import type { SimMachine } from './machine.ts';
import type { Mutant } from './mutants.ts';
import { type NodeKeys, SimNode } from './node.ts';
import { Keepers } from './oracle/keepers.ts';
import { hold, Violation } from './oracle/violation.ts';
import { type Job, type SimSources, type SourceWatch, simSources } from './sources.ts';
import { Weather } from './weather.ts';
import { type Life, wired } from './wire.ts';
import { simWorkers } from './workers.ts';

/** Half of what two clocks may differ by (ledger/postgres/node.ts). */
const CLOCKS_DIFFER_MS = 450;
const LINES_KEPT = 80;
const FRONTS = 2;
const POWER_CUTS = 0.5;
/** The message of a start that refuses journals because acknowledged answers are lost (ledger/journal.ts). */
const DAMAGE_TOLD = /acknowledged answers that only it held are lost/;

/** Counts of a run's faults and steps, by name. */
export type Counts = Record<string, number>;

/** A node of the service: one run of it after the other, and the providers that it asks. */
export class Member {
  readonly number: number;
  readonly sources: SimSources;
  node: SimNode | undefined;
  life: Life;
  /** The ledger of the service in this life. */
  ledger: Ledger;

  constructor(number: number, sources: SimSources, ledger: Ledger) {
    this.number = number;
    this.sources = sources;
    this.ledger = ledger;
    this.life = newLife(0, number);
    this.life.dead = true;
  }

  /** Tells whether it accepts requests. */
  isServing(nowMs: number): boolean {
    return this.node !== undefined && this.life.pausedUntilMs <= nowMs;
  }
}

function newLife(number: number, node: number): Life {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  return {
    ...{ number, node, ended, end },
    dead: false,
    stopped: false,
    pausedUntilMs: 0,
    cutOffUntilMs: 0,
    slowUntilMs: 0,
    isSettled: false,
  };
}

/** One world: a machine, its lasting data, the providers outside, and successive runs of each node of the service. */
export class World {
  readonly machine: SimMachine;
  readonly random: Chance;
  readonly weather: Weather;
  readonly members: readonly Member[];
  readonly operator: Operator;
  readonly keepers: Keepers;
  readonly counts: Counts = {};
  readonly recent: string[] = [];
  /** The first promise that was broken. */
  broken: Error | undefined;
  /** Deaths of workers that were told in the log as the fault of a request, and those requests, in hex. */
  readonly #deathsTold = new Set<string>();
  readonly #killed = new Set<string>();
  #lives = 0;
  /** Undefined with a single one. */
  readonly nodes: MemoryNodes | undefined;
  readonly #disk: SimDisk | undefined;
  readonly #folder: LedgerFolder | undefined;
  /** Segments that journals hold since the last start, by sequence. */
  #journaled: number[] = [];
  readonly #mutant: Mutant | undefined;
  readonly #tell: (line: string) => void;
  readonly #trace = createHash('sha256');
  readonly #keys: NodeKeys;
  readonly #config: Config;

  constructor(
    machine: SimMachine,
    random: Chance,
    mutant: Mutant | undefined,
    tell: (line: string) => void,
    nodeCount: number,
  ) {
    this.machine = machine;
    this.random = random;
    this.#tell = tell;
    this.weather = new Weather(this.random.fork('weather'));
    this.#mutant = mutant;
    this.#keys = nodeKeys(this.random.fork('keys'));
    this.#config = configOf(this.random.fork('config'));
    if (nodeCount > 1) this.nodes = new MemoryNodes(machine.clock(), mutant?.faults ?? {});
    else [this.#folder, this.#disk] = this.#openFolder();
    this.operator = new Operator(() => this.ledger, this.machine);
    const { operator } = this;
    const ids = new CertificateIds(this.#keys.ids);
    this.keepers = new Keepers({
      machine,
      operator,
      ids,
      keys: this.#keys.log,
      random: random.fork('looks'),
      hasClaims: nodeCount > 1,
    });
    const { jobs, lots } = this.keepers;
    const watch: SourceWatch = {
      submitted: (key, bits) => this.check(() => jobs.submitted(key, bits)),
      paid: (key) => this.check(() => jobs.started(key)),
      spoilt: (rawSha256) => lots.spoilt(rawSha256),
    };
    const atProvider = new Map<string, Job>();
    this.members = Array.from({ length: nodeCount }, (_, i) => {
      const chance = random.fork(i === 0 ? 'sources' : `sources ${i}`);
      const faults = () => this.weather.now.source;
      return new Member(i, simSources(machine, chance, faults, watch, atProvider), this.ledger);
    });
  }

  /** The stored ledger. */
  get ledger(): Ledger {
    return this.nodes?.books ?? this.#folder!.ledger;
  }

  /** Opens the ledger before any node starts. */
  async openLedger(): Promise<void> {
    if (this.#folder !== undefined) await this.#folder.start(this.#disk!);
  }

  async close(): Promise<void> {
    await this.#folder?.close().catch(() => {}); // it is gone, and a broken one may refuse to store the rest
    this.#disk?.unmount();
  }

  #openFolder(): [LedgerFolder, SimDisk] {
    const { machine } = this;
    const { fronts, durability } = this.#config;
    const folder = new LedgerFolder({
      ...{ machine, fronts, durability },
      log: this.#ledgerLog(),
      failed: () => this.#ledgerStopped(this.members[0].life),
    });
    const disk = new SimDisk({
      ...{
        machine,
        random: this.random.fork('disk'),
        folder: folder.path,
        durability,
        faults: () => this.weather.now.disk,
      },
      written: ({ front, segment }) => {
        this.note(`journal ${front}: segment ${segment.sequence}`);
        this.count('segments journaled');
        this.#journaled.push(segment.sequence);
        const call = { method: 'commit', args: [[segment], []], result: undefined };
        const { life } = this.members[0];
        this.check(() =>
          this.keepers.applied(life, front, { ...call, again: false, calledAtMs: machine.nowMs }),
        );
      },
      failed: () => this.#ledgerStopped(this.members[0].life),
    });
    return [folder, disk];
  }

  /** Fail-stop, as cli/serve.ts has it: whoever supervises the process starts the next. */
  #ledgerStopped(life: Life): void {
    if (life.stopped) return;
    life.stopped = true;
    const member = this.members[life.node];
    const end = () => {
      if (member.life === life) this.crash(member, this.random.fork(`stop ${life.number}`).gap(1_000));
    };
    this.machine.after(this.random.fork(`stopping ${life.number}`).gap(200), end, 'world');
  }

  /** The digest of everything that happened so far. */
  trace(): string {
    return this.#trace.copy().digest('hex');
  }

  note(what: string): void {
    const line = `${this.machine.nowMs.toFixed(3)} ${what}`;
    this.#trace.update(line);
    this.#tell(line);
    this.recent.push(line);
    if (this.recent.length > LINES_KEPT) this.recent.shift();
  }

  count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }

  /** Looks at a promise where nothing may be thrown: on the service's stack. */
  check(look: () => void): void {
    try {
      look();
    } catch (error) {
      this.breaks(error as Error);
    }
  }

  breaks(error: Error): void {
    if (this.broken !== undefined) return;
    this.broken = error;
    this.note(`BROKEN ${error.message}`);
  }

  /** Starts the node unless it runs. A start that fails is tried again. */
  start(member: Member): void {
    if (!member.life.dead) return;
    const life = newLife(++this.#lives, member.number);
    member.life.isSettled = true;
    member.life = life;
    member.ledger = this.nodes?.start(nameOfNode(member)) ?? this.ledger;
    this.count('starts');
    this.note(`life ${life.number} starts`);
    this.machine.enter(life);
    this.#startNode(member, life).then(
      (node) => {
        if (life.dead) return;
        member.node = node;
        this.note(`life ${life.number} serves`);
      },
      (error: unknown) => {
        if (life.dead) return;
        const why = `${String(error)}: ${String((error as Error).cause ?? '')}`;
        this.note(`life ${life.number} does not start: ${why}`);
        if (!isInjected(why)) this.breaks(new Violation('no fault of its own', why));
        this.crash(member, 500);
      },
    );
  }

  /** The process is gone at once; the next one starts after `downMs`. */
  crash(member: Member, downMs: number): void {
    if (member.life.dead) return;
    const { number } = member.life;
    const isCut = this.nodes === undefined && this.random.fork(`end ${number}`).chance(POWER_CUTS);
    this.count(isCut ? 'power cuts' : 'crashes');
    this.note(`life ${number} dies${isCut ? ' of a power cut' : ''}`);
    this.#end(member, downMs, isCut ? 'power cut' : 'killed');
  }

  /** An operator fences the node, whose process finds out when it next writes. */
  fence(member: Member): void {
    this.count('fences');
    this.note(`life ${member.life.number} is fenced`);
    this.nodes?.fence(nameOfNode(member));
    member.life.isSettled = true;
  }

  /** Stops the service in order. */
  async stop(member: Member, downMs: number): Promise<void> {
    const { node, life } = member;
    if (node === undefined) return;
    this.count('orderly stops');
    this.note(`life ${life.number} stops`);
    member.node = undefined; // takes no more requests
    this.machine.enter(life);
    const stopping = node.stop().catch((error: unknown) => this.note(`stopped with ${String(error)}`));
    let isOver = false;
    stopping.then(() => (isOver = true));
    for (let i = 0; i < 400 && !isOver && !life.dead; i++) await this.machine.pass(50);
    if (!life.dead) this.#end(member, downMs, isOver ? 'in order' : 'killed');
  }

  #end(member: Member, downMs: number, how: Ending): void {
    member.life.dead = true;
    member.life.end();
    member.node = undefined;
    const next = async () => {
      if (this.#folder !== undefined) await this.#reopen(this.#folder, this.#disk!, how);
      this.machine.after(downMs, () => this.start(member), 'world');
    };
    this.machine.after(0, next, 'world');
  }

  /** The next process recovers what the last one left: all that was acknowledged, but for what its disk has lost. */
  async #reopen(folder: LedgerFolder, disk: SimDisk, how: Ending): Promise<void> {
    try {
      const atRisk = await folder.end(how, disk);
      const isRefused = await this.#opens(folder, disk);
      const sequences = this.#journaled.splice(0);
      for (const sequence of sequences) await this.#mustBeThere(sequence, atRisk, isRefused);
      const isRight = !isRefused || sequences.some((each) => atRisk.get(each)?.mustBeTold);
      hold(isRight, 'no fault of its own', 'a start tells of damage, and there is none');
    } catch (error) {
      const isViolation = error instanceof Violation;
      this.breaks(isViolation ? error : new Violation('no fault of its own', String((error as Error).stack)));
    }
  }

  /** Whether a start was refused for damage, whereupon the operator takes the folder as it lies. */
  async #opens(folder: LedgerFolder, disk: SimDisk): Promise<boolean> {
    try {
      await folder.start(disk);
      return false;
    } catch (error) {
      if (!DAMAGE_TOLD.test(String(error))) throw error;
      this.note('the start tells of damage');
      await folder.start(disk, true);
      return true;
    }
  }

  async #mustBeThere(sequence: number, atRisk: ReadonlyMap<number, AtRisk>, isTold: boolean): Promise<void> {
    if ((await this.ledger.segment(sequence)) !== undefined) return;
    const risk = atRisk.get(sequence);
    hold(risk?.mayBeLost === true, 'durable before the reply', `segment ${sequence} is gone after a restart`);
    const isKnown = !risk.mustBeTold || isTold;
    hold(isKnown, 'durable before the reply', `segment ${sequence} is lost, and no start has told so`);
    this.count('segments lost by the disk');
    if (risk.mustBeTold) this.count('losses told');
    this.keepers.books.lost(sequence);
  }

  #ledgerLog(): Log {
    const error = (_facts: object, message: string) => this.note(`ledger: ${message}`);
    return { debug() {}, info() {}, warn() {}, error };
  }

  async #startNode({ sources, ledger }: Member, life: Life): Promise<SimNode> {
    const { machine, weather, keepers } = this;
    const random = this.random.fork(`life ${life.number}`);
    const entropyOf = (bits: Uint8Array) => (bits[0] % 32 === 0 && !weather.isFair ? 0.1 : 0.85);
    // the clocks of nodes differ by less than what would make one of them stop serving
    if (this.nodes !== undefined) machine.clocksDifferMs = CLOCKS_DIFFER_MS;
    const { clocksDifferMs } = machine;
    const clock = machine.clock(random.fork('clock').between(-clocksDifferMs, clocksDifferMs));
    return SimNode.start({
      machine,
      random: random.fork('lines'),
      clock,
      config: this.#config,
      log: this.#log(life),
      keys: this.#keys,
      ledgerFor: (of) => this.#ledgerFor(ledger, life, of, random.fork(`door ${of}`)),
      sinkFor: (front) => {
        const place = this.#folder?.journals[front];
        return { held: null, journal: place ? { place, durability: this.#config.durability } : null };
      },
      workers: simWorkers(machine, random.fork('workers'), () => weather.now.workers, entropyOf),
      sources,
      seen: {
        seed: (front, seed, bytes) => {
          const dueAtMs = machine.nowMs + seed.dueAtMonotonicMs - clock.monotonicMs();
          this.check(() => keepers.seeds.installed(life, front, seed, bytes, dueAtMs));
          this.note(`seed ${seed.group} ${seed.generation} at front ${front}`);
        },
        withdrawn: (front, lotIds) => keepers.lots.told(life, front, lotIds, machine.nowMs),
      },
    });
  }

  #ledgerFor(inner: Ledger, life: Life, of: 'main' | 'log' | number, random: Chance): Ledger {
    const { machine, weather, keepers } = this;
    const ledger = wired(this.#mutant?.ledger?.(inner, life) ?? inner, {
      machine,
      random,
      life,
      faults: () => weather.now.wire,
      note: (what) => {
        const [, fate] = what.split(/ (.*)/s);
        if (fate !== 'well') this.count(`ledger: ${fate}`);
        this.note(`${of}: ${what}`);
      },
      applied: (call) => keepers.applied(life, of, call),
      check: (look) => this.check(look),
      stopped: () => this.#ledgerStopped(life),
    });
    return this.#mutant?.ledgerFor?.(ledger) ?? ledger;
  }

  /** Whether the request failed because its worker died. Once for each request, and for one request of each death. */
  takeDeathOf(requestId: string): boolean {
    return this.#killed.delete(requestId);
  }

  #log(life: Life): Log {
    const error = (facts: object, message: string) => {
      const told = { ...facts } as { fault?: string; reason?: string; err?: Error; x_request_id?: string };
      const why = told.fault ?? told.reason ?? String(told.err ?? '');
      this.note(`error: ${message}: ${why.split('\n')[0]}`);
      const death = /injected: worker death (\d+)/.exec(why)?.[1];
      const name = `${life.number}/${death}`; // each process counts its own
      if (message === 'fault' && death !== undefined && !this.#deathsTold.has(name)) {
        this.#deathsTold.add(name);
        this.#killed.add(String(told.x_request_id).replaceAll('-', ''));
      }
      this.count(`logged: ${message}`);
      if (isInjected(why) || this.#isGivenUp(life, why) || !FAULTS_TOLD.has(message)) return;
      this.breaks(new Violation('no fault of its own', `${message}: ${why}`));
    };
    return { debug() {}, info() {}, warn() {}, error };
  }

  /** A segment was given up that waited for books which were away a moment ago: its own words, and nobody injected them. */
  #isGivenUp({ cutOffUntilMs, slowUntilMs, pausedUntilMs }: Life, why: string): boolean {
    const { nowMs, stalledUntilMs } = this.machine;
    const awayUntilMs = Math.max(cutOffUntilMs, slowUntilMs, pausedUntilMs, stalledUntilMs);
    return why.startsWith(GIVEN_UP) && nowMs < awayUntilMs + AWAY_FELT_MS;
  }
}

/** The message of ledger/linked-sink.ts. */
const GIVEN_UP = 'The database does not answer.';
/** A commit that waits for the books gets there so soon after they are back (wire.ts). */
const AWAY_FELT_MS = 1_000;

/** Lines of the log that tell of a fault, with what it was. */
const FAULTS_TOLD: ReadonlySet<string> = new Set([
  'fault',
  'request failed: its connection is cut',
  'could not end the draws that are due; trying again',
  'could not take new seeds and blocks; trying again',
  'could not delete expired records; trying again',
  'could not follow the directory; trying again',
  'transparency log: could not log committed certificates; trying again',
  'could not test a sample of the csprng stream; trying again in a minute',
  'segment not committed',
  'could not read how much entropy is in stock; trying again',
  'could not refill the entropy for pure mode; trying again',
  'could not use a new lot at once; it is used at the next turn',
  'accounts and keys cannot be read from the ledger',
  'could not read the earlier lots of a source: it is not read before; trying again',
]);

function nameOfNode({ number }: Member): string {
  return `node-${number}`;
}

/** Tells whether the message is that of an injected fault. */
function isInjected(why: string): boolean {
  return /injected|lost before it was made|made, and its answer lost|cannot store answers now|at capacity|was fenced/.test(
    why,
  );
}

function nodeKeys(random: Chance): NodeKeys {
  const name = 'sim.localhost/log';
  const current = SigningKey.fromSeed(random.fill(new Uint8Array(32)));
  const key = {
    key_id: noteKeyId(name, current.publicKey),
    algorithm: 'ed25519',
    public_key: toBase64(current.publicKey),
    verifier_key: verifierKey(name, current.publicKey),
    cosigner_key: verifierKey(name, current.publicKey, COSIGNATURE_TYPE),
    retired_at: null,
    // before the world begins: its wall clock may be set back, and no key signs for what is older than itself
    created_at: '2026-11-01T12:00:00.000Z',
  } as const;
  return {
    ids: random.fill(new Uint8Array(32)),
    storedAnswers: random.fill(new Uint8Array(32)),
    log: { name, current, currentKeyId: key.key_id, published: [key] },
  };
}

function configOf(random: Chance): Config {
  return {
    ...loadSettings({}),
    sources: [],
    fronts: random.between(1, FRONTS),
    sourcePolicy: random.pick(['priority', 'share']),
    durability: random.pick(['fsync', 'fsync', 'commit']),
    reservoirBytes: random.pick([96 * 1024, 192 * 1024]),
    accessLogSample: 0,
    dataDir: tmpdir(),
  };
}
