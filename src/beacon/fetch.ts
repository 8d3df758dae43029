import { sendRequest } from '../core/http-request.ts';

const DEADLINE_MS = 5_000;
/** A round and the information of a chain take some hundred bytes. */
const REPLY_BYTES_MAX = 16 * 1024;

/** Gets one JSON document of drand's HTTP API. Rejects when there is none to be had. */
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
