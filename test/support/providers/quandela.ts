import { QrngServer, within } from './qrng-server.ts';

export const QUANDELA_TOKEN = 'quandela-Token-e0d5511f';
/** The device's jobs are smaller than a call: its reply has several. */
const JOB_BYTES = 600;

/** Quandela Entropy: every job in a reply has its own certificate. */
export function quandelaServer(): QrngServer {
  let jobs = 0;
  return new QrngServer('quandela', ({ method, path, query, headers }, draw) => {
    if (method !== 'GET' || path !== '/qt/qrng/bytes') return refused(404, 'Not Found');
    if (headers.authorization !== `Bearer ${QUANDELA_TOKEN}`)
      return refused(401, 'Invalid or expired job token');
    const count = within(query.get('count'), 1, 1_048_576);
    if (count === undefined) return refused(400, 'Bad Request');
    const list = [];
    for (let left = count; left > 0; left -= JOB_BYTES) {
      jobs++;
      list.push({
        id: `00000000-0000-4000-8000-${String(jobs).padStart(12, '0')}`,
        bytes: Buffer.from(draw(Math.min(left, JOB_BYTES))).toString('base64'),
        chsh: 2.5 + (jobs % 8) / 64,
        min_entropy: 0.25 + (jobs % 8) / 64,
      });
    }
    return { body: { jobs: list } };
  });
}

function refused(status: number, error: string) {
  return { status, body: { detail: {}, error } };
}
