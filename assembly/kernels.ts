/**
 * The kernels of src/values: samplers and writers of JSON text, octets and MessagePack in AssemblyScript. `node
 * scripts/build-kernels.ts` compiles them into src/values/kernels.wasm, and src/values/kernels.ts calls them. They leave
 * everything rare to the caller and check nothing: the caller must respect the sizes of the windows.
 */
import {
  BLOCK_BYTES,
  BLOCK_VALUES,
  ENTROPY,
  ENTROPY_BYTES,
  OFFSETS,
  SECOND,
  STREAM_BYTES,
  TEXT,
  TEXT_BYTES,
} from './windows';

export { erase, eraseStream } from './windows';
export { batched, divided, fromDoubles, multiplied, toDoubles } from './offsets';
export { batchedSmall, fourSmall, int32, safe32, safe64 } from './integers';
export {
  decimals32,
  decimals64,
  fifteenPlaces,
  fivePlaces,
  shortestOfWords,
  sixPlaces,
} from './floats';
export {
  beginStream,
  distribution,
  feedStream,
  fractionBit,
  gaussianOctets,
  gaussians,
  prepareGaussians,
  takeBits,
} from './gaussians';
export { beginRows, ranges, rows } from './rows';
export {
  alphabet,
  batchedPicks,
  letters,
  picks,
  picksMax,
  strings,
  texts,
  textsBytesMax,
  textsMax,
  textStarts,
} from './texts';
export { base64, bits, hex, packedBase64, packedHex, packedUuid, uuid } from './bytes';
export {
  packedIntegers32,
  packedIntegers64,
  packedNumbers,
  packedQuotients32,
  packedQuotients64,
  packedUnits,
} from './packed';
export {
  float64Octets32,
  float64Octets64,
  int32Octets32,
  int32Octets64,
  unitOctets,
  uuidOctets,
} from './octets';

export const entropyAt: usize = ENTROPY;
export const offsetsAt: usize = OFFSETS;
export const textAt: usize = TEXT;
export const secondAt: usize = SECOND;
export const blockValues: i32 = BLOCK_VALUES;
export const blockBytes: i32 = BLOCK_BYTES;
export const streamBytes: i32 = STREAM_BYTES;
export const entropyBytes: i32 = ENTROPY_BYTES;
export const textBytes: i32 = TEXT_BYTES;
