import { lotVerdict, verifyPublicLot } from '../certificate/verify-public-lot.ts';
import { action, CommandError, json, UsageError } from './command.ts';
import { fetchJson, keysFor, originOf } from './verify.ts';

const LOT_ID = /^lot_[0-9a-hjkmnp-tv-z]{26}$/;

export const lot = action({
  path: 'log lot',
  summary:
    'Asks a service after a lot and checks the answer: that the lot was logged as it is described, and that it had not been\n' +
    'withdrawn when the log had so many leaves. Whoever gave you the keys is whom you trust.',
  operands: [{ name: 'LOT_ID', meaning: 'lot_ and 26 characters, as a certificate names it' }],
  options: {
    url: { value: 'BASE', meaning: 'base URL of the service; the configured one when not given' },
    keys: { value: 'K.json', meaning: 'the keys from a file: /.well-known/qrn-keys.json' },
    json: { meaning: 'one JSON object: ok, why, leaf, not_withdrawn_before, withdrawn' },
  },
  run: async (input, context) => {
    const [id] = input.operands;
    if (!LOT_ID.test(id)) throw new UsageError(`${id} is not a lot id: give lot_ and 26 characters`);
    const [document, keys] = await Promise.all([
      fetchJson(`${originOf(input, context)}/log/lots/${id}`),
      keysFor(input, context),
    ]);
    const found = await verifyPublicLot(id, document, keys);
    if (input.has('json')) {
      const { failure, leaf, notWithdrawnBefore, withdrawn } = found;
      const why = failure ?? lotVerdict(id, found);
      const told = { leaf, not_withdrawn_before: notWithdrawnBefore ?? null, withdrawn: withdrawn ?? null };
      context.out(json({ ok: failure === undefined, why, ...told }));
    } else if (found.failure === undefined) context.out(`${lotVerdict(id, found)}\n`);
    if (found.failure !== undefined) throw new CommandError(found.failure);
    return found.withdrawn === undefined ? 0 : 1;
  },
});
