import { createCipheriv, randomBytes, randomFillSync } from 'node:crypto';
import { createCell, Meter } from '../src/account/meter.ts';
import { TIER_ALLOWANCES } from '../src/account/tiers.ts';
import { COUNTED, createMetricMemory, MetricShard } from '../src/core/metrics.ts';
import { BATTERY_BITS, runBattery } from '../src/stats/sp800-22/battery.ts';
import { bitSequence } from '../src/stats/sp800-22/sequence.ts';
import { spectralTest } from '../src/stats/sp800-22/spectral.ts';
import { unpackBits } from '../src/stats/sp800-90b/alphabet.ts';
import { assessBits } from '../src/stats/sp800-90b/assess.ts';
import { repeatedSubstrings } from '../src/stats/sp800-90b/repeated-substrings.ts';
import { octetBytes, octetTypeOf } from '../src/values/value-request.ts';
import { drawFromOneFill, orderOf } from './peers/answers.ts';
import { keystream } from './support/keystream.ts';
import { type Modules, modulesOf } from './support/modules.ts';
import { withOneKey } from './support/one-key.ts';
import { nameFor } from './support/revisions.ts';
import type { BenchRun, Report, Suite, Table } from './support/suite.ts';
import { type Call, callTable } from './support/tables.ts';
import { batchBody, VALUE_KINDS, valueRequest } from './support/value-kinds.ts';

const COUNTS = [1, 10, 100_000];
/** The amount that the service expands at once: a piece of 64 KiB without the next key. */
const PIECE_BYTES = 65_504;
const PERIOD = 202_611;

/** Measures calls in this process, without HTTP and disk: where the time of an answer and of a lot goes. */
export const micro: Suite = {
  name: 'micro',
  summary:
    'calls in process: values from entropy to text, expansion, limits, counting, SP 800-22 and SP 800-90B',
  byDefault: true,
  async run(run): Promise<Report> {
    return {
      tables: [await numbers(run), await expansion(run), await limitsAndCounts(run), await statistics(run)],
    };
  },
};

async function numbers(run: BenchRun): Promise<Table> {
  const calls: Record<string, Call> = {};
  for (const count of COUNTS)
    for (const kind of count === COUNTS[COUNTS.length - 1] ? VALUE_KINDS : VALUE_KINDS.slice(0, 1)) {
      const what = `${count.toLocaleString('en-US')} ${kind.name}`;
      for (const subject of run.subjects) {
        const made = makers(await modulesOf(subject), valueRequest(kind, count));
        for (const [form, make] of Object.entries(made))
          calls[nameFor(run, subject, `${what}, ${form}`)] = { make, per: count };
      }
      const order = orderOf(batchBody(kind, count));
      const twin = () => Buffer.from(JSON.stringify(drawFromOneFill(order)));
      calls[`${what}, Array + JSON.stringify`] = { make: twin, per: count };
    }
  const note = 'ns a number: expanded from a seed, sampled and written; what was read is erased.';
  return callTable(run, { title: 'Numbers', note }, 'ns', calls);
}

/** Returns what makes an answer of the request in each form, and what hashes its text for the certificate. */
function makers(modules: Modules, request: ReturnType<typeof valueRequest>): Record<string, () => unknown> {
  const { keystream: streams, sample, requests, digest } = modules;
  const stream = new streams.SeededKeystream(() => Promise.reject(new Error('there are no workers here')));
  stream.reseed(randomBytes(32));
  const { reader } = stream;
  const text = new Uint8Array(requests.jsonBytesMax(request));
  const end = sample.drawJson(request, reader, text, 0);
  const octetType = octetTypeOf(request);
  const octets = new Uint8Array(octetType === undefined ? 0 : octetBytes(request));
  return {
    json() {
      sample.drawJson(request, reader, text, 0);
      reader.erase();
    },
    ...(octetType !== undefined && {
      [octetType]() {
        sample.drawOctets(request, reader, octets, 0);
        reader.erase();
      },
    }),
    commitment: () => digest.sha256(text.subarray(0, end)),
  };
}

async function expansion(run: BenchRun): Promise<Table> {
  const calls: Record<string, Call> = {};
  const key = randomBytes(32);
  const stream = createCipheriv('chacha20', key, new Uint8Array(16));
  const per = PIECE_BYTES;
  const out = new Uint8Array(per);
  const zeros = new Uint8Array(per);
  for (const subject of run.subjects) {
    const { expander } = await modulesOf(subject);
    const make = () => expander.expandPiece(key).fill(0);
    calls[nameFor(run, subject, `${per} bytes, key erased, system entropy mixed in`)] = { per, make };
  }
  calls[`${per} bytes, OpenSSL ChaCha20`] = { per, make: () => stream.update(zeros) };
  calls[`${per} bytes, system entropy`] = { per, make: () => randomFillSync(out) };
  return callTable(
    run,
    { title: 'Expansion of a seed', note: 'ns a byte, by the bytes of one call' },
    'ns',
    calls,
  );
}

function limitsAndCounts(run: BenchRun): Promise<Table> {
  return withOneKey('business', async (directory, key) => {
    const allowance = { ...TIER_ALLOWANCES.business, requestsPerMonth: 1e15, creditsPerMonth: 1e15 };
    const own = new Meter(createCell(allowance));
    const shard = new MetricShard(createMetricMemory(2), 1);
    let nowMs = 1;
    let turn = 0;
    const calls = {
      'a request admitted': () => own.admit((nowMs += 30)),
      'a request refused': () => own.admit(nowMs),
      'a request for values': () => own.enter((nowMs += 30), PERIOD),
      'a request for pure values, released': () => {
        const reservation = own.enter((nowMs += 30), PERIOD);
        reservation.takeCredits(16);
        reservation.release();
      },
      'a key again': () => directory.authenticate(key),
      // A new string each time, as a header gives it, whose hash V8 does not know yet.
      'a key again, new string': () => directory.authenticate(Buffer.from(key).toString('latin1')),
      'a count of the metrics': () => shard.add(COUNTED.qrn_http_requests_total, turn++ & 127),
      'an observation of the metrics': () =>
        shard.observe(COUNTED.qrn_http_request_duration_seconds, 0, (turn++ % 1_000) / 10_000),
    };
    return callTable(run, { title: 'Limits of an account, and counting', note: '' }, 'ns', calls);
  });
}

function statistics(run: BenchRun): Promise<Table> {
  const blocks = keystream(100);
  const packed = Array.from({ length: 4 }, () => blocks(BATTERY_BITS / 8));
  const sequences = packed.map((bytes) => bitSequence(bytes, BATTERY_BITS));
  const samples = unpackBits(packed[0], BATTERY_BITS);
  let turn = 0;
  const next = () => turn++ % packed.length;
  const calls = {
    'SP 800-22, the whole battery': () => runBattery(packed[next()], BATTERY_BITS),
    'SP 800-22, FFT': () => spectralTest(sequences[next()]),
    'SP 800-90B, the whole assessment': () => assessBits(packed[next()], BATTERY_BITS),
    'SP 800-90B, the suffix sort': () => repeatedSubstrings(samples, 1),
  };
  return callTable(run, { title: 'Tests of 10^6 bits, one core', note: '' }, 'ms', calls);
}
