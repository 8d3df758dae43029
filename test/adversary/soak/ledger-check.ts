import { join } from 'node:path';
import { CertificateIds } from '../../../src/certificate/ids.ts';
import { dayOf, systemClock } from '../../../src/core/clock.ts';
import { base32Of } from '../../../src/core/ids.ts';
import { silentLog } from '../../../src/core/log.ts';
import { openSecretFile } from '../../../src/crypto/key-files.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { openLmdbLedger } from '../../../src/ledger/lmdb/lmdb.ts';
import type { AnswerEntry } from '../../../src/ledger/records.ts';
import { readEntries } from '../../../src/ledger/segment.ts';
import type { Acknowledged } from './acknowledged.ts';

/** What the books of a stopped service hold of one account. */
export interface LedgerFindings {
  /** What does not agree with the client's account, in words. */
  readonly violations: readonly string[];
  readonly entries: number;
  /** Entries that no client got: committed as the service died, or as the client went away. */
  readonly unacknowledged: number;
  readonly creditsBooked: number;
  readonly lots: number;
  readonly generations: number;
}

const SEGMENTS_AT_ONCE = 256;
/** Entries of a segment, at most: its index in one number with the segment's. */
const INDEX_MAX = 2 ** 20;
const VIOLATIONS_MAX = 20;

/**
 * Holds the books against what clients were told: every acknowledged answer stands where its certificate's id says, as
 * it was given; every other entry is one of the `unknown` requests; sums and counters are those of the entries.
 */
export async function checkLedger(
  dataDir: string,
  accountId: string,
  acknowledged: Acknowledged,
  unknown: number,
): Promise<LedgerFindings> {
  const ledger = await openLmdbLedger({
    path: join(dataDir, 'ledger'),
    clock: systemClock,
    log: silentLog,
    role: 'server', // a journal is replayed, as the next service would
    durability: 'fsync',
    growAheadBytes: 0,
  });
  try {
    const { problems } = await ledger.audit();
    const accountNumber = (await ledger.accounts()).find(({ id }) => id === accountId)!.number;
    const walk = new LedgerWalk(acknowledged, placesOf(dataDir, acknowledged), accountNumber);
    await walk.all(ledger);
    const violations = [...problems.map((problem) => `audit: ${problem}`), ...walk.violations];
    const say = (what: string) => violations.push(what);
    const balances = await ledger.balances(await ledger.latestPeriod());
    const balance = balances.find((each) => each.accountNumber === accountNumber);
    const usage = await ledger.usage(accountNumber, dayOf(systemClock.wallMs()) - 1);
    const counted = usage.reduce((sum, { requests }) => sum + requests, 0);
    if (walk.unacknowledged > unknown) {
      say(`${walk.unacknowledged} entries were acknowledged to nobody, and ${unknown} connections were lost`);
    }
    if (balance?.credits !== walk.credits)
      say(`${balance?.credits} credits are booked, entries sum to ${walk.credits}`);
    if (balance?.requests !== walk.entries || counted !== walk.entries) {
      say(`${walk.entries} entries, ${balance?.requests} by quota, ${counted} by usage`);
    }
    return {
      violations: violations.slice(0, VIOLATIONS_MAX),
      entries: walk.entries,
      unacknowledged: walk.unacknowledged,
      creditsBooked: walk.credits,
      lots: walk.lots.size,
      generations: walk.generations.size,
    };
  } finally {
    await ledger.close();
  }
}

/** Where each row's certificate lies, as one number: segment · 2^20 + index. */
function placesOf(dataDir: string, acknowledged: Acknowledged): Float64Array {
  const ids = new CertificateIds(openSecretFile(join(dataDir, 'keys', 'certificate-ids')));
  return Float64Array.from({ length: acknowledged.count }, (_, row) => {
    const place = ids.placeOf(`cert_${base32Of(acknowledged.certificateId(row))}`);
    return typeof place === 'string' ? Number.NaN : place.segment * INDEX_MAX + place.index;
  });
}

class LedgerWalk {
  readonly violations: string[] = [];
  readonly lots = new Set<string>();
  readonly generations = new Set<string>();
  entries = 0;
  unacknowledged = 0;
  credits = 0;
  readonly #acknowledged: Acknowledged;
  readonly #places: Float64Array;
  readonly #accountNumber: number;
  /** Rows by place. */
  readonly #order: Uint32Array;
  /** Of the next row that must come. */
  #next = 0;

  constructor(acknowledged: Acknowledged, places: Float64Array, accountNumber: number) {
    this.#acknowledged = acknowledged;
    this.#places = places;
    this.#accountNumber = accountNumber;
    this.#order = Uint32Array.from(places, (_, row) => row).sort((a, b) => places[a] - places[b]);
    if (places.some(Number.isNaN)) this.#say('certificate ids that are none');
  }

  async all(ledger: Pick<Ledger, 'segmentsFrom'>): Promise<void> {
    for (let from = 0; ; ) {
      const segments = await ledger.segmentsFrom(from, SEGMENTS_AT_ONCE);
      if (segments.length === 0) break;
      for (const { sequence, sources, entries } of segments) {
        for (const { lotIds, generation } of sources) {
          for (const id of lotIds) this.lots.add(id);
          if (generation !== null) this.generations.add(`${generation.tier} ${generation.number}`);
        }
        let index = 0;
        for (const entry of readEntries(entries)) this.#entry(sequence * INDEX_MAX + index++, entry);
      }
      from = segments[segments.length - 1].sequence + 1;
    }
    const lost = this.#order.length - this.#next;
    if (lost > 0) this.#say(`${lost} acknowledged certificates are lost or given twice`);
  }

  #entry(place: number, entry: AnswerEntry): void {
    if (entry.accountNumber !== this.#accountNumber) return;
    this.entries++;
    this.credits += entry.credits;
    const row = this.#order[this.#next];
    if (this.#next >= this.#order.length || this.#places[row] !== place) {
      this.unacknowledged++;
      return;
    }
    this.#next++;
    const told = this.#acknowledged;
    const isOwn = Buffer.from(entry.requestId).equals(told.requestId(row));
    const isSame =
      entry.mode === told.mode(row) &&
      entry.valueCount === told.values(row) &&
      entry.credits === told.credits(row);
    if (!isOwn || !isSame) this.#say(`certificate ${place} is not what its client was told`);
  }

  #say(what: string): void {
    this.violations.push(what);
  }
}
