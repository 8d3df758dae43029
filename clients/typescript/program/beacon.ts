import { BeaconError, chainOf, dueMs, LEAGUE_OF_ENTROPY, roundAt } from '../../../src/beacon/drand.ts';
import { roundOf } from '../../../src/beacon/round.ts';
import { action, UsageError } from '../../../src/cli/command.ts';
import { fetchJson } from '../../../src/cli/documents.ts';

const [QUICKNET] = Object.keys(LEAGUE_OF_ENTROPY);

export const beacon = action({
  path: 'beacon',
  summary:
    'Gets a round of a drand beacon and checks it: that the chain is the one that its hash names, and that the signature holds.\n' +
    'Nobody knew the randomness before the round was due. In user_data of an answer it shows that the answer was made later.',
  operands: [{ name: 'ROUND', meaning: 'number of the round, or latest' }],
  options: {
    chain: { value: 'HASH', meaning: 'hash of the chain; that of quicknet when not given' },
    url: { value: 'BASE', meaning: 'of an HTTP API of drand; https://api.drand.sh when not given' },
    json: { meaning: 'one JSON object: state, why, chain, round, due_at, randomness, signature' },
  },
  run: async ({ chain: hash = QUICKNET, url = 'https://api.drand.sh', operands: [asked] }, context) => {
    if (!/^[0-9a-f]{64}$/.test(hash))
      throw new UsageError(`${hash} is not the hash of a chain: give 64 hex digits`);
    if (asked !== 'latest' && !/^[1-9]\d{0,14}$/.test(asked))
      throw new UsageError(`${asked} is not a round: give a whole number from 1 on, or latest`);
    const base = url.replace(/\/+$/, '');
    const nowMs = context.clock.wallMs();
    const told = await look(base, hash, asked, nowMs).catch((error: unknown) => {
      if (!(error instanceof BeaconError)) throw error;
      return { state: 'wrong', why: error.message, chain: hash };
    });
    const isVerified = told.state === 'verified';
    return { data: told, shown: isVerified ? [told] : [], failure: isVerified ? undefined : told.why };
  },
});

/**
 * Returns what is known of the round that was asked for. Throws a BeaconError when a document or signature is wrong.
 */
async function look(base: string, hash: string, asked: string, nowMs: number) {
  const chain = chainOf(await fetchJson(`${base}/${hash}/info`), hash);
  const round = asked === 'latest' ? roundAt(chain, nowMs) : Number(asked);
  const of = { chain: hash, round, due_at: new Date(dueMs(chain, round)).toISOString() };
  if (dueMs(chain, round) > nowMs || round === 0)
    return { state: 'not_due', why: `round ${round} is due at ${of.due_at}`, ...of };
  const answer = await fetchJson(`${base}/${hash}/public/${round}`).catch((error: Error) => error);
  if (answer instanceof Error)
    return { state: 'missing', why: `round ${round} is due and not to be had: ${answer.message}`, ...of };
  return { state: 'verified', why: 'the signature holds', ...of, ...roundOf(chain, round, answer) };
}
