import { sendRequest } from '../core/http-request.ts';

const DEADLINE_MS = 5_000;
/** Far more than the hundreds of bytes that a round or the information of a chain takes. */
const REPLY_BYTES_MAX = 16 * 1024;

/** Resolves to one JSON document of drand's HTTP API. Rejects if it cannot get one. */
export async function fetchBeacon(url: string): Promise<unknown> {
  const { status, body } = await sendRequest({
    method: 'GET',
    url,
    headers: { accept: 'application/json' },
    replyBytesMax: REPLY_BYTES_MAX,
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  if (status !== 200) throw new Error(`${new URL(url).host} answered ${status}`);
  return JSON.parse(Buffer.from(body).toString('utf8'));
}
