import { createCell, Meter } from '../src/account/meter.ts';
import { TIER_ALLOWANCES } from '../src/account/tiers.ts';
import { withOneKey } from './support/one-key.ts';
import type { Report, Suite } from './support/suite.ts';
import { callTable } from './support/tables.ts';

const PERIOD = 202_611;

export const meter: Suite = {
  name: 'meter',
  summary: "ns of an account's limits, call by call",
  byDefault: true,
  run: (run): Promise<Report> =>
    withOneKey('business', async (directory, key) => {
      // as a header gives it: a new string each time, whose hash is not known yet
      const keyText = () => Buffer.from(key).toString('latin1');
      const allowance = { ...TIER_ALLOWANCES.business, requestsPerMonth: 1e15, creditsPerMonth: 1e15 };
      const own = new Meter(createCell(allowance), allowance);
      let nowMs = 1;
      const title = 'The limits of an account: calls of a meter alone on its cell, and of the directory';
      const calls = {
        admitted: () => own.admit((nowMs += 30)),
        refused: () => own.admit(nowMs),
        'data request': () => own.enter((nowMs += 30), PERIOD),
        'pure request, released': () => {
          const reservation = own.enter((nowMs += 30), PERIOD);
          reservation.takeCredits(16);
          reservation.release();
        },
        'a key again': () => directory.authenticate(key),
        'a key again, new string': () => directory.authenticate(keyText()),
      };
      return { tables: [await callTable(run, { title, note: '' }, 'ns', calls)] };
    }),
};
