import './machine.ts'; // first: it takes its place before anything of the service is loaded
import { createHash } from 'node:crypto';
import { CertificateIds } from '../../../src/certificate/ids.ts';
import { type Config, loadSettings } from '../../../src/config/config.ts';
import type { Log } from '../../../src/core/log.ts';
import { toBase64 } from '../../../src/crypto/base64.ts';
import { COSIGNATURE_TYPE, noteKeyId, verifierKey } from '../../../src/crypto/note.ts';
import { SigningKey } from '../../../src/crypto/signing.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { Chance } from '../../support/chance.ts';
import type { MemoryNodes } from '../../support/memory-nodes.ts';
import { Operator } from './clients.ts';
import type { SimMachine } from './machine.ts';
import type { Mutant } from './mutants.ts';
import { type NodeKeys, SimNode } from './node.ts';
import { Keepers } from './oracle/keepers.ts';
import { Violation } from './oracle/violation.ts';
import { type Job, SimSources, type SourceWatch } from './sources.ts';
import type { SimStore } from './stores.ts';
import { Weather } from './weather.ts';
import { type Life, wired } from './wire.ts';
import { SimWorkers } from './workers.ts';

/** Half of what two clocks may differ by (ledger/postgres/database-watch.ts). */
const CLOCKS_DIFFER_MS = 450;
const LINES_KEPT = 80;
const FRONTS = 2;

/** What a run's faults and deeds came to, by name. */
export type Counts = Record<string, number>;

/** A node of the service: one run of it after the other, and the providers that it asks. */
export class Member {
  readonly number: number;
  readonly sources: SimSources;
  node: SimNode | undefined;
  life: Life;
  /** What it has for its ledger in this life. */
  ledger: Ledger;

  constructor(number: number, sources: SimSources, ledger: Ledger) {
    this.number = number;
    this.sources = sources;
    this.ledger = ledger;
    this.life = newLife(0, number);
    this.life.dead = true;
  }

  /** It takes requests. */
  isServing(nowMs: number): boolean {
    return this.node !== undefined && this.life.pausedUntilMs <= nowMs;
  }
}

function newLife(number: number, node: number): Life {
  return {
    number,
    node,
    dead: false,
    stopped: false,
    pausedUntilMs: 0,
    cutOffUntilMs: 0,
    isSettled: false,
  };
}

/** One world: a machine, what lasts on it, the providers outside, and one run after the other of each node of the service. */
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
  readonly #store: SimStore;
  readonly #mutant: Mutant | undefined;
  readonly #tell: (line: string) => void;
  readonly #trace = createHash('sha256');
  readonly #keys: NodeKeys;
  readonly #config: Config;

  constructor(
    machine: SimMachine,
    random: Chance,
    store: SimStore,
    mutant: Mutant | undefined,
    tell: (line: string) => void,
    nodeCount: number,
  ) {
    this.machine = machine;
    this.random = random;
    this.#store = store;
    this.#tell = tell;
    this.weather = new Weather(this.random.fork('weather'));
    this.#mutant = mutant;
    this.#keys = nodeKeys(this.random.fork('keys'));
    this.#config = configOf(this.random.fork('config'));
    this.operator = new Operator(() => this.ledger, this.machine);
    const { operator } = this;
    const ids = new CertificateIds(this.#keys.ids);
    this.keepers = new Keepers({
      machine,
      operator,
      ids,
      keys: this.#keys.log,
      random: random.fork('looks'),
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
      return new Member(
        i,
        new SimSources(machine, chance, this.weather.source, watch, atProvider),
        store.ledger,
      );
    });
  }

  /** What several nodes share; undefined with a single one. */
  get nodes(): MemoryNodes | undefined {
    return this.#store.nodes;
  }

  /** As it is on disk. */
  get ledger(): Ledger {
    return this.#store.ledger;
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

  count(name: string, by = 1): void {
    this.counts[name] = (this.counts[name] ?? 0) + by;
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
    this.count('crashes');
    this.note(`life ${member.life.number} dies`);
    this.#end(member, downMs);
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
    if (!life.dead) this.#end(member, downMs);
  }

  #end(member: Member, downMs: number): void {
    member.life.dead = true;
    member.node = undefined;
    const next = async () => {
      await this.#store.reopen();
      this.start(member);
    };
    this.machine.after(downMs, next, 'world');
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
      // The label is part of the seed: another one gives other courses than those that sim.test.ts names.
      ledgerFor: (of) => this.#ledgerFor(ledger, life, of, random.fork(`door ${of}`)),
      workers: new SimWorkers(machine, random.fork('workers'), weather.workers, entropyOf, (pieces, left) =>
        this.check(() => keepers.pure.worked(pieces, left)),
      ),
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

  #ledgerFor(inner: Ledger, life: Life, of: 'main' | 'log' | 'other log' | number, random: Chance): Ledger {
    const { machine, weather, keepers } = this;
    const member = this.members[life.node];
    const ledger = wired(this.#mutant?.ledger?.(inner, life) ?? inner, {
      machine,
      random,
      life,
      faults: weather.wire,
      note: (what) => {
        const [, fate] = what.split(/ (.*)/s);
        if (fate !== 'well') this.count(`ledger: ${fate}`);
        this.note(`${of}: ${what}`);
      },
      applied: (call) => this.check(() => keepers.applied(life, of, call)),
      // as cli/serve.ts does: fail-stop, and whoever supervises the process starts the next
      stopped: () => {
        const end = () => {
          if (member.life === life) this.crash(member, random.gap(1_000));
        };
        machine.after(random.gap(200), end, 'world');
      },
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
      if (isInjected(why) || !FAULTS_TOLD.has(message)) return;
      this.breaks(new Violation('no fault of its own', `${message}: ${why}`));
    };
    return { debug() {}, info() {}, warn() {}, error };
  }
}

/** Lines of the log that tell of a fault, with what it was. */
const FAULTS_TOLD: ReadonlySet<string> = new Set([
  'fault',
  'request failed',
  'upkeep failed',
  'certificates not logged',
  'csprng mode cannot be served',
  'segment not committed',
  'levels of the reservoir not read',
  'pure ring not refilled',
  'a new lot was not put to use at once',
  'accounts and keys cannot be read from the ledger',
  'earlier lots not read',
]);

function nameOfNode({ number }: Member): string {
  return `node-${number}`;
}

/** What was made to fail says so. */
function isInjected(why: string): boolean {
  return /injected|lost before it was made|made, and its answer lost|cannot record answers now|at capacity|was fenced/.test(
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
    reservoirBytes: random.pick([96 * 1024, 192 * 1024]),
    accessLogSample: 0,
  };
}
