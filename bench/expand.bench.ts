import { createCipheriv, randomBytes, randomFillSync } from 'node:crypto';
import { chacha20 } from '@noble/ciphers/chacha.js';
import { modulesOf } from './support/modules.ts';
import { comparison, nameFor } from './support/revisions.ts';
import { alternate, type Contender } from './support/rounds.ts';
import type { BenchRun, Report, Row, Subject, Suite } from './support/suite.ts';
import { type Measure, of, ratio, rowOf } from './support/tables.ts';
import { task } from './support/timing.ts';

/** 65,504 is what the service makes at once: a piece of 64 KiB without the next key. */
const SIZES = [256, 1_024, 4_096, 16_384, 65_504, 262_144, 1_048_576];
const TIME_MS = 50;

const MIXED = 'erasure + mixing';
const ERASED = 'erasure alone';
const ROOT = 'Expander';
const OPENSSL = 'OpenSSL ChaCha20';
const NOBLE = '@noble ChaCha20';
const SYSTEM = 'system entropy';

/** ChaCha20 with fast key erasure and system entropy mixed in, by the size of a piece. */
export const expand: Suite = {
  name: 'expand',
  summary: 'expansion of a seed in GB/s by piece size, with key erasure and mixing',
  byDefault: true,
  async run(run): Promise<Report> {
    const rows: Row[] = [];
    for (const size of SIZES) {
      run.talk(`${size} bytes`);
      const rounds = await alternate(await contendersFor(run, size), run.rounds);
      for (const subject of run.subjects) {
        const label = nameFor(run, subject, size.toLocaleString('en-US'));
        rows.push(rowOf(measures(run, subject), rounds, nameFor(run, subject, MIXED), label));
      }
    }
    const columns = measures(run, run.subjects[0]);
    return { tables: [{ title: 'Expansion in GB/s by the bytes of one call', note: NOTE, columns, rows }] };
  },
};

const NOTE =
  `${MIXED}: what every answer uses (ChaCha20, the old key erased, XOR with system entropy), in pieces of 65,504 bytes. ${ROOT}: the root DRBG, ` +
  `which gives keys.\nratio: ${MIXED} against one running OpenSSL ChaCha20 stream that does neither.`;

function measures(run: BenchRun, subject: Subject): readonly Measure[] {
  const own = (what: string) => of(what, 'gbPerS', { name: nameFor(run, subject, what) });
  const shared = (what: string) => of(what, 'gbPerS', { name: what });
  return [
    of(MIXED, 'gbPerS'),
    ratio('ratio', 'gbPerS', OPENSSL),
    own(ERASED),
    own(ROOT),
    ...[OPENSSL, NOBLE, SYSTEM].map(shared),
    ...comparison(run, MIXED, 'gbPerS'),
  ];
}

async function contendersFor(run: BenchRun, size: number): Promise<Contender[]> {
  const out = new Uint8Array(size);
  const zeros = new Uint8Array(size);
  const key = randomBytes(32);
  const contender = (name: string, work: () => unknown): Contender => {
    const timed = task(work);
    return { name, measure: async () => ({ gbPerS: size / (await timed.measure(TIME_MS * run.seconds)) }) };
  };
  const contenders: Contender[] = [];
  for (const subject of run.subjects) {
    const { expander } = await modulesOf(subject);
    const root = new expander.Expander(key);
    const ours = (what: string, work: () => unknown) => contender(nameFor(run, subject, what), work);
    contenders.push(
      ours(MIXED, () => {
        if (size === expander.PIECE_OUTPUT_BYTES) expander.expandPiece(key, 'system').fill(0);
        else expander.expandOnce(key, out, 'system');
      }),
      ours(ERASED, () => expander.expandOnce(key, out, 'none')),
      ours(ROOT, () => root.fill(out)),
    );
  }
  const stream = createCipheriv('chacha20', key, new Uint8Array(16));
  const nonce = new Uint8Array(12);
  contenders.push(
    contender(OPENSSL, () => stream.update(zeros)),
    contender(NOBLE, () => chacha20(key, nonce, zeros, out)),
    contender(SYSTEM, () => randomFillSync(out)),
  );
  return contenders;
}
