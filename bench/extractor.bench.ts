/**
 * The Toeplitz hash of a whole lot (src/pool/intake/extractor.ts), one core.
 *   node bench/extractor.bench.ts [--rounds 7]     table of medians, JSON in bench/out/extractor.json
 */
import { createCipheriv } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { toeplitzHash, toeplitzSeed } from '../src/pool/intake/extractor.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '7' } } });
const rounds = Number(values.rounds);
const raw = createCipheriv('chacha20', Buffer.alloc(32), Buffer.alloc(16)).update(Buffer.alloc(2 ** 20));
const key = Uint8Array.from({ length: 32 }, (_, i) => i);

/** Raw bits and output bits: lots at a rate of 0.1 to 0.9 bit per bit, a small lot, one of two blocks. */
const SIZES = [
  [1_048_576, 629_248],
  [4_194_304, 419_328],
  [4_194_304, 2_516_480],
  [4_194_304, 3_774_720],
  [8_388_608, 5_032_960],
] as const;

const rows = SIZES.map(([rawBits, outputBits]) => {
  const seed = toeplitzSeed(key, rawBits, outputBits);
  const times = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage();
    toeplitzHash(raw, rawBits, seed, outputBits);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  }).sort((a, b) => a - b);
  return {
    'raw bits': rawBits,
    'output bits': outputBits,
    'median CPU ms': Math.round(times[rounds >> 1]),
    'least CPU ms': Math.round(times[0]),
  };
});
console.table(rows);
mkdirSync(new URL('out/', import.meta.url), { recursive: true });
const report = JSON.stringify({ rounds, node: process.version, rows }, null, 2);
writeFileSync(new URL('out/extractor.json', import.meta.url), `${report}\n`);
