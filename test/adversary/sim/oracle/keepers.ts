import type { CertificateIds } from '../../../../src/certificate/ids.ts';
import type { LogKeys } from '../../../../src/crypto/key-files.ts';
import type {
  BlockKind,
  ClaimedBlock,
  JobRecord,
  LotRecord,
  RateRecord,
  SegmentRecord,
} from '../../../../src/ledger/records.ts';
import { readEntries } from '../../../../src/ledger/segment.ts';
import type { Chance } from '../../../support/chance.ts';
import type { Operator } from '../clients.ts';
import type { SimMachine } from '../machine.ts';
import { errorCode, isAnswer, type Sent } from '../sent.ts';
import type { AppliedCall, Life } from '../wire.ts';
import { BookKeeper, nameOf } from './books.ts';
import { CertificateKeeper } from './certificates.ts';
import { KeyKeeper } from './idempotency.ts';
import { JobKeeper } from './jobs.ts';
import { LotKeeper } from './lots.ts';
import { PureKeeper } from './pure.ts';
import { RateKeeper } from './rates.ts';
import { SeedKeeper } from './seeds.ts';
import { hold } from './violation.ts';

/** A view of accounts and keys may be this old (account/directory.ts). */
const VIEW_AGE_MAX_MS = 5_000;

/** All records of a run that are kept outside the service, to check its promises. */
export class Keepers {
  readonly books: BookKeeper;
  readonly keys: KeyKeeper;
  readonly rates: RateKeeper;
  readonly pure = new PureKeeper();
  readonly seeds: SeedKeeper;
  readonly jobs = new JobKeeper();
  readonly lots = new LotKeeper();
  readonly certificates: CertificateKeeper;
  /** Requests that were held to their keys and rates. */
  admittedCount = 0;

  constructor(options: {
    machine: SimMachine;
    operator: Operator;
    ids: CertificateIds;
    keys: LogKeys;
    random: Chance;
    hasClaims: boolean;
  }) {
    const { machine, operator, ids, keys, random, hasClaims } = options;
    this.books = new BookKeeper(machine, () => operator.clients);
    this.keys = new KeyKeeper(machine, hasClaims);
    this.rates = new RateKeeper(machine);
    this.seeds = new SeedKeeper(machine);
    this.certificates = new CertificateKeeper(ids, keys, this.lots, random);
  }

  /** A call on the ledger was made, through the ledger of this thread. */
  applied(life: Life, thread: string | number, call: AppliedCall): void {
    const { args, result, again } = call;
    const seen: Readonly<Record<string, () => void>> = {
      commit: () => this.#committed(args[0] as readonly SegmentRecord[]),
      addLot: () => this.#lotStored(args as LotArguments, result as boolean),
      claimBlocks: () => {
        if (args[0] === 'pure' && !again)
          this.pure.claimed(frontOf(life, thread), result as readonly ClaimedBlock[]);
      },
      openJob: () => {
        if (result === true) this.jobs.recorded(life.node, args[0] as JobRecord, true);
      },
      openJobs: () => this.jobs.listed(life.node, result as readonly JobRecord[]),
      putJob: () => this.jobs.recorded(life.node, args[0] as JobRecord, false),
      loadRates: () => this.rates.began(life),
      saveRates: () => this.rates.saved(life, args[0] as readonly RateRecord[], call.calledAtMs),
    };
    seen[call.method]?.();
  }

  #committed(segments: readonly SegmentRecord[]): void {
    const before = new Set<Sent>();
    for (const sent of this.#sentOf(segments)) if (sent.persisted !== undefined) before.add(sent);
    this.books.committed(segments);
    for (const sent of this.#sentOf(segments)) {
      if (before.has(sent)) continue;
      this.keys.persisted(sent);
      this.seeds.persisted(sent);
      this.lots.persisted(sent);
    }
  }

  *#sentOf(segments: readonly SegmentRecord[]): Iterable<Sent> {
    for (const { entries } of segments) {
      for (const { requestId } of readEntries(entries)) {
        const sent = this.books.sent.get(Buffer.from(requestId).toString('hex'));
        if (sent !== undefined) yield sent;
      }
    }
  }

  #lotStored([lot, blocks, jobKey]: LotArguments, isStored: boolean): void {
    if (!isStored || this.lots.lots.has(lot.id)) return;
    this.lots.stored(lot);
    const pure = blocks.filter(({ kind }) => kind === 'pure').map(({ bytes }) => bytes);
    this.pure.stored(lot.id, pure);
    if (jobKey !== undefined) this.jobs.gaveLot(jobKey, lot);
  }

  /** A front has the request and named it. */
  named(sent: Sent): void {
    this.books.named(sent);
    this.keys.sent(sent);
  }

  /** A front took the key of the request and let it through the rate limit. */
  admitted(sent: Sent): void {
    this.admittedCount += 1;
    this.rates.admitted(sent);
    this.#checkKey(sent);
  }

  #checkKey(sent: Sent): void {
    const key = sent.client.keys.find(({ text }) => text === sent.keyText);
    const name = nameOf(sent);
    hold(key !== undefined, 'keys', `${name} was let in with a key that nobody has`);
    const isLate = sent.sentAtMs > key.revokedAtMs + VIEW_AGE_MAX_MS;
    hold(!isLate, 'keys', `${name} was let in with a key that is revoked since ${key.revokedAtMs}`);
  }

  replied(sent: Sent): void {
    const { reply, plan } = sent;
    if (reply === undefined) return;
    this.books.replied(sent);
    this.keys.replied(sent);
    const code = errorCode(reply);
    const name = nameOf(sent);
    if (plan.flaw !== undefined) {
      hold(
        code === plan.flaw || EARLIER_REFUSALS.has(code),
        'refused changes nothing',
        `${name} was answered ${code}`,
      );
    }
    if (!isAnswer(sent) || sent.persisted === undefined) return;
    this.lots.replied(sent);
    this.certificates.acknowledged(sent);
    if (sent.mode === 'pure') this.pure.delivered(sent, frontOf(sent.life, sent.front), reply);
  }
}

/** The refusals that may come before a request's parameters are checked. */
const EARLIER_REFUSALS: ReadonlySet<string> = new Set([
  'auth_invalid',
  'rate_limited',
  'quota_exceeded',
  'auth_scope',
  'storage_unavailable',
  'overloaded', // another request took what was asked for
]);

type LotArguments = readonly [
  lot: LotRecord,
  blocks: readonly { kind: BlockKind; bytes: Uint8Array }[],
  jobKey?: string,
];

function frontOf(life: Life, thread: string | number): string {
  return `${life.number} ${thread}`;
}
