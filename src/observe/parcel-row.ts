import type { ParcelCounts } from '../ledger/integrity.ts';
import { counter, type ExposedFamily } from './exposition.ts';
import type { ReadingRow } from './readings.ts';

/** Blocks that move between the nodes of a cluster. */
export const PARCEL_ROW: ReadingRow = {
  families: ({ integrity: { database } }) => (database?.parcels ? parcelFamilies(database.parcels) : null),
};

function parcelFamilies(counts: ParcelCounts): ExposedFamily[] {
  const { blocksSent, blocksReceived, blocksBurned, refused } = counts;
  return [
    {
      name: 'qrn_parcel_blocks_total',
      type: 'counter',
      help: 'Blocks of entropy that moved between nodes: sent by this one, received by it, or burned on the way.',
      samples: [
        { labels: { outcome: 'sent' }, value: blocksSent },
        { labels: { outcome: 'received' }, value: blocksReceived },
        { labels: { outcome: 'burned' }, value: blocksBurned },
      ],
    },
    counter(
      'qrn_parcels_refused_total',
      'Parcels, and requests for one, that were not what they said or came twice. Somebody writes into the database.',
      refused,
    ),
  ];
}
