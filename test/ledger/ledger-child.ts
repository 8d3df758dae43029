import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LedgerError } from '../../src/ledger/ledger.ts';
import type { LmdbLedger } from '../../src/ledger/lmdb/lmdb-ledger.ts';
import { openJournaledLedger, openTestLedger } from '../support/ledger-folder.ts';
import { block, childSegment, lot, lotId, TODAY } from '../support/ledger-records.ts';
import { addReleased } from '../support/released-lots.ts';

/**
 * A process that a test may kill, starve or feed with damage:
 *   write PATH DURABILITY FREE_MIN  commits, stores lots and claims blocks until something stops it
 *   read PATH…                      opens each folder, audits it and reads everything
 * What happened is on stdout at the moment it happened, one word and its object a line.
 */

const IN_FLIGHT = 3;
const ENTRIES = 20;
const BLOCKS_PER_LOT = 8;

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

async function write(path: string, durability: 'fsync' | 'commit', freeBytesMin: number): Promise<void> {
  const ledger = await openJournaledLedger(path, { durability, freeBytesMin });
  ledger.failed.then((error) => say(`failed ${error.message}`));
  const { from } = await ledger.leaseSequences();
  let sequence = from;
  let lots = 0;
  const commitOn = async () => {
    for (;;) {
      const mine = sequence++;
      await ledger.commit([childSegment(mine, ENTRIES)], []);
      say(`ack ${mine}`);
      await nextTurn(); // a front commits once a turn, and leaves the loop to others
    }
  };
  const claimOn = async () => {
    for (;;) {
      const number = ++lots;
      const blocks = Array.from({ length: BLOCKS_PER_LOT }, (_, i) => block('pure', i));
      await addReleased(ledger, lot(number), blocks);
      say(`lot ${lotId(number)}`);
      await ledger.claimBlocks('pure', BLOCKS_PER_LOT - 1);
    }
  };
  await Promise.allSettled([...Array.from({ length: IN_FLIGHT }, commitOn), claimOn()]).then(
    async (results) => {
      for (const result of results)
        if (result.status === 'rejected') say(`rejected ${nameOf(result.reason)}`);
      try {
        for (let tried = from; tried < sequence; tried++) {
          if ((await ledger.segment(tried)) !== undefined) say(`visible ${tried}`);
        }
      } catch (error) {
        say(`unreadable ${error instanceof Error ? error.message : String(error)}`);
      }
      say('end');
    },
  );
  process.exit(3);
}

function nameOf(error: unknown): string {
  if (error instanceof LedgerError) return error.reason;
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

/** Returns one digest of everything in a ledger. */
async function digestOf(ledger: LmdbLedger): Promise<string> {
  const all = [
    await ledger.accounts(),
    await ledger.keys(),
    await ledger.lots(10_000),
    await ledger.revocations(),
    await ledger.blockLevels(),
    await ledger.segmentsFrom(0, 10_000),
    await ledger.balances(202611),
    await ledger.usage(1, 0),
    await ledger.loadRates(0),
    await ledger.getLog('head'),
    await ledger.openJobs('simulator'),
    await ledger.spent('simulator', TODAY),
    await ledger.sourceNote('anu', 'note 30'),
    await ledger.audit(),
  ];
  return createHash('sha256').update(JSON.stringify(all)).digest('hex');
}

async function read(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    say(`opening ${path}`);
    let ledger: LmdbLedger | undefined;
    try {
      ledger = await openTestLedger(path, { role: 'reader' });
      const { problems } = await ledger.audit();
      if (problems.length > 0) say(`reported ${problems[0]}`);
      else say(`digest ${await digestOf(ledger)}`);
    } catch (error) {
      say(`reported ${error instanceof Error ? error.message : String(error)}`);
    }
    await ledger?.close();
  }
  say('end');
}

const [command, ...rest] = process.argv.slice(2);
if (command === 'write') await write(rest[0], rest[1] as 'fsync' | 'commit', Number(rest[2]));
else await read(rest);
