import { join } from 'node:path';
import { CertificateIds } from '../../../src/certificate/ids.ts';
import { dayOf, periodOf, systemClock } from '../../../src/core/clock.ts';
import { base32Of } from '../../../src/core/ids.ts';
import { silentLog } from '../../../src/core/log.ts';
import { openSecretFile } from '../../../src/crypto/key-files.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { openLmdbLedger } from '../../../src/ledger/lmdb/lmdb-ledger.ts';
import type { AnswerEntry } from '../../../src/ledger/records.ts';
import { readEntries } from '../../../src/ledger/segment.ts';
import type { Acknowledged } from './acknowledged.ts';
import type { Clients } from './clients.ts';
import { PURPOSE } from './mix.ts';

/** What the books hold of the accounts that were used. */
export interface BookFindings {
  /** Disagreements with the clients' records, and violations that the clients saw, in words. */
  readonly violations: readonly string[];
  readonly entries: number;
  /** Count of entries that no client received: committed as the service died, or as the client disconnected. */
  readonly unacknowledged: number;
  readonly creditsBooked: number;
  readonly lots: number;
  readonly seeds: number;
  /** The totals of each account that was used. */
  readonly spent: readonly {
    readonly account: number;
    readonly requests: number;
    readonly credits: number;
  }[];
}

/** An account, and the records of its clients. */
export interface Known {
  readonly accountId: string;
  readonly clients: Pick<Clients, 'acknowledged' | 'unknown' | 'violations'>;
  /** Credits that it may spend in the month. */
  readonly creditsMax: number;
  readonly requestsMax?: number;
}

const SEGMENTS_AT_ONCE = 256;
/** Count of rows of the series that are read at a time. */
const SERIES_LIMIT = 1_000;
/** The most entries of a segment: an index is stored in one number with the number of its segment. */
const INDEX_MAX = 2 ** 20;
const VIOLATIONS_MAX = 20;
/** With more answers, their request ids would take more memory than the service. */
const REQUESTS_WATCHED_MAX = 2 ** 20;

/** Audits the folder of a stopped service, and counts the journals with commits that the ledger had not stored. */
export async function checkLedger(
  dataDir: string,
  known: readonly Known[],
  numbered: number[] = [],
): Promise<BookFindings & { readonly recovered: number }> {
  let recovered = 0;
  const warn = (facts: object) => {
    if ('commits' in facts) recovered++; // the start stored what a journal held
  };
  const ledger = await openLmdbLedger({
    path: join(dataDir, 'ledger'),
    clock: systemClock,
    log: { ...silentLog, warn },
    role: 'server', // it replays the journal, as the next service would
    durability: 'fsync',
  });
  try {
    return { ...(await auditBooks(ledger, dataDir, known, numbered)), recovered };
  } finally {
    await ledger.close();
  }
}

/**
 * Compares the books with the records of the clients. Every acknowledged answer must be at the place that its
 * certificate's id states, as it was delivered. Every other entry must be one of the `unknown` requests, and none may
 * be there twice. Nobody may have spent more than the month allows. Sums and counters must be those of the entries,
 * and the answers of PURPOSE must have the serials from 1 on without a gap. `numbered` holds their places at the last
 * check and is updated: each must have kept its place.
 */
export async function auditBooks(
  ledger: Ledger,
  dataDir: string,
  known: readonly Known[],
  numbered: number[] = [],
): Promise<BookFindings> {
  const { problems } = await ledger.audit();
  const violations = [
    ...known.flatMap(({ clients }) => clients.violations),
    ...problems.map((problem) => `audit: ${problem}`),
    ...(await checkSerials(ledger, numbered)),
  ];
  const ids = new CertificateIds(openSecretFile(join(dataDir, 'keys', 'certificate-ids')));
  const stored = await ledger.accounts();
  const walk = new BookWalk();
  for (const { accountId, clients } of known)
    walk.add(stored.find(({ id }) => id === accountId)!.number, clients.acknowledged, ids);
  await walk.all(ledger);
  violations.push(...walk.violations);
  // the series is listed from its first public answer on
  if (numbered.length > 0 && !numbered.every((place) => walk.numbered.delete(place)))
    violations.push('the series lists an answer that has no serial');
  if (numbered.length > 0 && walk.numbered.size > 0)
    violations.push(`${walk.numbered.size} answers have serials that the series does not list`);
  const balances = await ledger.balances(periodOf(systemClock.wallMs()));
  const sums = { entries: 0, unacknowledged: 0, creditsBooked: 0 };
  const spent: BookFindings['spent'][number][] = [];
  for (const { accountId, clients, creditsMax, requestsMax = Number.POSITIVE_INFINITY } of known) {
    const { number, name } = stored.find(({ id }) => id === accountId)!;
    const { entries, unacknowledged, credits } = walk.of(number);
    const say = (what: string) => violations.push(`${name}: ${what}`);
    const booked = balances.find(({ accountNumber }) => accountNumber === number) ?? {
      credits: 0,
      requests: 0,
    };
    const usage = await ledger.usage(number, dayOf(systemClock.wallMs()) - 1);
    const counted = usage.reduce((sum, { requests }) => sum + requests, 0);
    if (unacknowledged > clients.unknown)
      say(
        `${unacknowledged} entries were acknowledged to nobody, and ${clients.unknown} connections were lost`,
      );
    if (booked.credits !== credits) say(`${booked.credits} credits are booked, entries sum to ${credits}`);
    if (booked.requests !== entries || counted !== entries)
      say(`${entries} entries, ${booked.requests} by quota, ${counted} by usage`);
    if (credits > creditsMax || entries > requestsMax)
      say(`spent ${credits} of ${creditsMax} credits and ${entries} of ${requestsMax} requests`);
    spent.push({ account: number, requests: entries, credits });
    sums.entries += entries;
    sums.unacknowledged += unacknowledged;
    sums.creditsBooked += credits;
  }
  const { lots, seeds } = walk;
  return {
    violations: violations.slice(0, VIOLATIONS_MAX),
    ...sums,
    lots: lots.size,
    seeds: seeds.size,
    spent,
  };
}

const placeOf = (segment: number, index: number) => segment * INDEX_MAX + index;

/** Tells whether the serials of PURPOSE are those from 1 on, each of one answer, which is the same as before. */
async function checkSerials(ledger: Pick<Ledger, 'seriesPage'>, numbered: number[]): Promise<string[]> {
  const places: number[] = [];
  for (;;) {
    const from = places.length + 1;
    const { answers } = await ledger.seriesPage(PURPOSE, { series: undefined, from, limit: SERIES_LIMIT });
    for (const { serial, sequence, index } of answers) {
      if (serial !== places.length + 1)
        return [`serial ${serial} of the purpose follows serial ${places.length}`];
      places.push(placeOf(sequence, index));
    }
    if (answers.length < SERIES_LIMIT) break;
  }
  const changed = numbered.findIndex((place, i) => places.at(i) !== place);
  if (changed >= 0)
    return [`serial ${changed + 1} of the purpose was that of another answer before the crash`];
  if (new Set(places).size < places.length) return ['an answer has two serials of the purpose'];
  numbered.push(...places.slice(numbered.length));
  return [];
}

/** The entries of one account that the walk has found. */
class AccountWalk {
  entries = 0;
  unacknowledged = 0;
  credits = 0;
  readonly acknowledged: Acknowledged;
  /** Place of the certificate of each row. */
  readonly places: Float64Array;
  /** Indices of rows in the order of their places. */
  readonly order: Uint32Array;
  /** Index of the next row that must come. */
  next = 0;

  constructor(acknowledged: Acknowledged, ids: CertificateIds) {
    this.acknowledged = acknowledged;
    const places = Float64Array.from({ length: acknowledged.count }, (_, row) => {
      const place = ids.placeOf(`cert_${base32Of(acknowledged.certificateId(row))}`);
      return typeof place === 'string' ? Number.NaN : placeOf(place.segment, place.index);
    });
    this.places = places;
    this.order = Uint32Array.from(places, (_, row) => row).sort((a, b) => places[a] - places[b]);
  }
}

class BookWalk {
  readonly violations: string[] = [];
  readonly lots = new Set<string>();
  readonly seeds = new Set<string>();
  readonly #accounts = new Map<number, AccountWalk>();
  /** Places of the answers with serials. */
  readonly numbered = new Set<number>();
  readonly #requests = new Set<string>();

  add(accountNumber: number, acknowledged: Acknowledged, ids: CertificateIds): void {
    const walk = new AccountWalk(acknowledged, ids);
    this.#accounts.set(accountNumber, walk);
    if (walk.places.some(Number.isNaN)) this.violations.push('certificate ids that are none');
  }

  of(accountNumber: number): AccountWalk {
    return this.#accounts.get(accountNumber)!;
  }

  async all(ledger: Pick<Ledger, 'segmentsFrom'>): Promise<void> {
    for (let from = 0; ; ) {
      const segments = await ledger.segmentsFrom(from, SEGMENTS_AT_ONCE);
      if (segments.length === 0) break;
      for (const { sequence, sources, entries, notes = [] } of segments) {
        for (const { index, label } of notes)
          if (label.serial !== undefined) this.numbered.add(placeOf(sequence, index));
        for (const { mode, lotIds, drawn } of sources) {
          for (const id of lotIds) this.lots.add(id);
          if (mode === 'quantum-seeded') this.seeds.add(`${lotIds[0]} ${drawn[0].offset}`);
        }
        let index = 0;
        for (const entry of readEntries(entries)) this.#entry(placeOf(sequence, index++), entry);
      }
      from = segments[segments.length - 1].sequence + 1;
    }
    for (const { order, next } of this.#accounts.values())
      if (next < order.length)
        this.violations.push(`${order.length - next} acknowledged certificates are lost or given twice`);
  }

  #entry(place: number, entry: AnswerEntry): void {
    const account = this.#accounts.get(entry.accountNumber);
    if (account === undefined) return;
    account.entries++;
    account.credits += entry.credits;
    const requestId = Buffer.from(entry.requestId);
    if (this.#requests.size < REQUESTS_WATCHED_MAX) {
      const hex = requestId.toString('hex');
      if (this.#requests.has(hex)) this.violations.push(`the request ${hex} is in the books twice`);
      this.#requests.add(hex);
    }
    const row = account.order[account.next];
    if (account.next >= account.order.length || account.places[row] !== place) {
      account.unacknowledged++;
      return;
    }
    account.next++;
    const { mode, values, credits, isNumbered } = account.acknowledged.facts(row);
    const isSame =
      requestId.equals(account.acknowledged.requestId(row)) &&
      entry.mode === mode &&
      entry.valueCount === values &&
      entry.credits === credits;
    if (!isSame) this.violations.push(`certificate ${place} is not what its client was told`);
    if (isNumbered !== this.numbered.has(place))
      this.violations.push(
        `certificate ${place} was asked for ${isNumbered ? 'with' : 'without'} a purpose, unlike its serial`,
      );
  }
}
