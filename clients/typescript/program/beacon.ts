import { BeaconError, chainOf, dueMs, LEAGUE_OF_ENTROPY, roundAt } from '../../../src/beacon/drand.ts';
import { roundOf } from '../../../src/beacon/round.ts';
import { action, UsageError } from '../../../src/cli/command.ts';
import { fetchJson } from '../../../src/cli/documents.ts';

const [QUICKNET] = Object.keys(LEAGUE_OF_ENTROPY);

export const beacon = action({
  path: 'beacon',
  summary:
    'Gets a round of a drand beacon and verifies that the parameters of the chain match its hash and that the signature is valid.\n' +
    'Nobody knew the randomness before the round was due. Therefore an answer with it in user_data was made after that time.',
  operands: [{ name: 'ROUND', meaning: 'number of the round, or latest' }],
  options: {
    chain: { value: 'HASH', meaning: 'hash of the chain; default: that of quicknet' },
    url: { value: 'BASE', meaning: 'base URL of a drand HTTP API; default: https://api.drand.sh' },
    json: { meaning: 'print one JSON object: state, why, chain, round, due_at, randomness, signature' },
  },
  run: async ({ chain: hash = QUICKNET, url = 'https://api.drand.sh', operands: [asked] }, context) => {
    if (!/^[0-9a-f]{64}$/.test(hash))
      throw new UsageError(`--chain must be the hash of a chain, 64 hex digits, not ${hash}`);
    if (asked !== 'latest' && !/^[1-9]\d{0,14}$/.test(asked))
      throw new UsageError(`ROUND must be a whole number of at least 1, or latest, not ${asked}`);
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
    return { state: 'missing', why: `round ${round} is due but not available: ${answer.message}`, ...of };
  return { state: 'verified', why: 'the signature is valid', ...of, ...roundOf(chain, round, answer) };
}
