import { assert } from '../../core/assert.ts';
import { bytesOfBase32, uuidText } from '../../core/ids.ts';
import type { DataEndpoint } from '../../core/vocabulary.ts';

/**
 * A request and its answer, for people to read: recorded from a service with the simulator, each value as it came.
 * test/http/openapi.test.ts holds them against the schemas, test/browser/docs.test.ts against what the service draws.
 */
export interface Example {
  /** The query of a GET, without `?`. */
  readonly query: string;
  /** The body of a POST. */
  readonly body?: object;
  readonly answer: object;
}

const SIMULATOR = 'simulator-statevector';
const DRAWN = { entropy_mode: 'quantum-seeded', quantum_source: SIMULATOR };

/** What differs from one answer to the next. */
interface Recorded {
  readonly certificateId: string;
  readonly salt: string;
  readonly consumedBytes: number;
  /** A UUID of version 7, so the time of the request is in it. */
  readonly requestId: string;
  readonly tookMs: number;
}

function answer(data: object, recorded: Recorded): object {
  const id = bytesOfBase32(recorded.requestId.slice('req_'.length));
  assert(id !== undefined, `${recorded.requestId} is an id`);
  const atMs = Buffer.from(id).readUIntBE(0, 6);
  return {
    data: { ...data, metadata: DRAWN },
    meta: { duration_ms: recorded.tookMs, request_id: uuidText(id) },
    metadata: {
      certificate_id: recorded.certificateId,
      certificate_salt: recorded.salt,
      entropy_consumed_bytes: recorded.consumedBytes,
      entropy_origin: 'simulated',
      lang_circuit: 'superposition-16',
      lang_version: '1.0.0',
      nist_verified: true,
      powered_by: 'Lang Quantum Circuits',
      processing_time_ms: recorded.tookMs,
      quantum_backend: SIMULATOR,
      request_id: recorded.requestId,
      timestamp: new Date(atMs).toISOString(),
      verify_url: `http://127.0.0.1:3000/verify/${recorded.certificateId}`,
    },
    quantum_credits: { remaining: 10_240, total: 10_240, used: 0 },
  };
}

export const EXAMPLES: Readonly<Record<DataEndpoint, Example>> = {
  integers: {
    query: 'count=6&min=1&max=49&unique=true&sort=ascending',
    answer: answer(
      { count: 6, max: 49, min: 1, sort: 'ascending', unique: true, values: [2, 7, 20, 25, 44, 48] },
      {
        certificateId: 'cert_3mvc5b4r2yp8rj671bp7xp4fkg',
        salt: '58282ce42c4608199816ba34bf9f8cea03cbbcf218a5c2853ddbe194683e9c82',
        consumedBytes: 8,
        requestId: 'req_01m81qrcrbe3vtpaxr2r65gapp',
        tookMs: 7,
      },
    ),
  },
  bytes: {
    query: 'count=16&encoding=hex',
    answer: answer(
      { bits: 128, bytes: 'f625d680ebd51d01261f38588249a26e', count: 16, encoding: 'hex' },
      {
        certificateId: 'cert_2rt2kfqyx9pt8hhdmmr8wpcs60',
        salt: 'aa996418f1f5148b3cac1f607efdd7f3783e51f572adc58fa28e04e4be8a3781',
        consumedBytes: 16,
        requestId: 'req_01m81qrcsje9mtrwdjvay7kwxh',
        tookMs: 1,
      },
    ),
  },
  floats: {
    query: 'count=3&precision=6',
    answer: answer(
      { count: 3, precision: 6, values: [0.984672, 0.249597, 0.124941] },
      {
        certificateId: 'cert_7mt24vd0qdd4cf8zg5r3fnq9v1',
        salt: '094276d1039ed324e16097a56d9dd4e4a5beca006cffbe68f1419f64f280744a',
        consumedBytes: 12,
        requestId: 'req_01m81qrcsse2c9f6je32gyhcbc',
        tookMs: 1,
      },
    ),
  },
  uuid: {
    query: 'count=1',
    answer: answer(
      { count: 1, uuids: ['a6107116-d47d-46b6-9a01-3b43001486ab'], version: 4 },
      {
        certificateId: 'cert_60sks466dcadw3kbfs02j36fd8',
        salt: 'cdb9098e1f621510a50d37ce50e0b2607ce14ccccebb1136547dd1a8b805c0f6',
        consumedBytes: 16,
        requestId: 'req_01m81qrct1emp85bpttgj03yn0',
        tookMs: 1,
      },
    ),
  },
  bitstring: {
    query: 'length=32',
    answer: answer(
      { bitstring: '01011110110010001101111101110000', length: 32 },
      {
        certificateId: 'cert_32wxmy2cwqxkpqhwfhekerwhsr',
        salt: 'd78429e7c32d32193e8c5ed7fb666a0f6358996fbe26b9d4106cb41a29139854',
        consumedBytes: 4,
        requestId: 'req_01m81qrctdfmxbs290nwnry337',
        tookMs: 1,
      },
    ),
  },
  shuffle: {
    query: 'items=ada,grace,barbara,shafi',
    body: { items: ['ada', 'grace', 'barbara', 'shafi'] },
    answer: answer(
      { count: 4, items: ['grace', 'ada', 'barbara', 'shafi'] },
      {
        certificateId: 'cert_48210skgbf7vq8yymkp8snk6ax',
        salt: '5a70ed0efa3a86e67b522e58835ff8d2796c2825515a235d27f975b5223da291',
        consumedBytes: 4,
        requestId: 'req_01m81qrctmeqat5283z7w5xjrj',
        tookMs: 1,
      },
    ),
  },
  batch: {
    query: '',
    body: { type: 'integers', count: 5, params: { min: 1, max: 6 } },
    answer: answer(
      {
        count: 5,
        params: { max: 6, min: 1, sort: 'none', unique: false },
        type: 'integers',
        values: [4, 5, 2, 5, 1],
      },
      {
        certificateId: 'cert_7nbgj3r8w53dqez533e8mtypx5',
        salt: '7ae9f9591fc10d3e5c7a933926f15368804aea0c571de529b4a06ec13ea83bbf',
        consumedBytes: 4,
        requestId: 'req_01m81qrcv3fv78wkjw46dfd76k',
        tookMs: 6,
      },
    ),
  },
  sample: {
    query: 'count=2&items=ada,grace,barbara,shafi',
    body: { count: 2, items: ['ada', 'grace', 'barbara', 'shafi'] },
    answer: answer(
      {
        count: 2,
        items: ['grace', 'ada'],
        list_sha256: 'sha256:59dc2a4ec8f5eedf78cae4f882851dcdf587cbde42791ecdc27550c0e7fcbec4',
        of: 4,
      },
      {
        certificateId: 'cert_5m2drvx8knstdb3g3p2cdd9y24',
        salt: '9467f7b44d0b68ee630300b3f05d9b8cc961dc1f6ae4f453ae37f3d4cf0b1c5b',
        consumedBytes: 4,
        requestId: 'req_01m81t3ykjfnprrft1r4ry6sew',
        tookMs: 22,
      },
    ),
  },
  weighted: {
    query: 'count=3&items=gold,silver,bronze&weights=1,10,100',
    body: { count: 3, items: ['gold', 'silver', 'bronze'], weights: [1, 10, 100] },
    answer: answer(
      {
        count: 3,
        items: ['bronze', 'bronze', 'bronze'],
        list_sha256: 'sha256:b772f279334057eaec1308e019d6d87f132ea834679c6598998c8dcd05d81800',
        weights: [1, 10, 100],
      },
      {
        certificateId: 'cert_1envjphhkcxvyyq9zj0wytb0ra',
        salt: '4defb8b290a30b2b1877a49c16ba9b24fb26d986a939e5a2fd88ed3b8a66c40f',
        consumedBytes: 4,
        requestId: 'req_01m81t3ynwey2807brd1v1973f',
        tookMs: 1,
      },
    ),
  },
  strings: {
    query: 'count=2&length=8&alphabet=ACGT',
    answer: answer(
      { alphabet: 'ACGT', count: 2, length: 8, values: ['CATCCACT', 'AGGCAAAG'] },
      {
        certificateId: 'cert_0e5z9ed852vb4caft6erj8r2n6',
        salt: '5f840b7fa1739f82ceeda38c382f3345b294597135de2d6ba0d7ada9012ef26e',
        consumedBytes: 4,
        requestId: 'req_01m81t3yptet8arbetmv81bfth',
        tookMs: 1,
      },
    ),
  },
  sequences: {
    query: 'length=5,1&min=1,1&max=69,26&unique=true&sort=ascending',
    answer: answer(
      {
        count: 1,
        length: [5, 1],
        max: [69, 26],
        min: [1, 1],
        sort: 'ascending',
        unique: true,
        values: [[[21, 23, 26, 57, 65], [8]]],
      },
      {
        certificateId: 'cert_24pthhxcxznkfa579yaydbf3yw',
        salt: '15073e7b5ab4cb8adb3647548b57af4b74397df66c22923d0019f4c7d53185ad',
        consumedBytes: 12,
        requestId: 'req_01m81t3yq6fpw9hz80zd9m15m5',
        tookMs: 1,
      },
    ),
  },
  permutations: {
    query: 'length=5',
    answer: answer(
      { count: 1, length: 5, values: [[0, 2, 1, 3, 4]] },
      {
        certificateId: 'cert_4fr48py6yemwjntr977p6x7w6t',
        salt: 'e8a4ba9800729e8f7b539549a76a7e4f67ae4a52dedc57bbaf81c9e6aeee5c3b',
        consumedBytes: 4,
        requestId: 'req_01m81t3yqff5ma5c6ph9tmmdmb',
        tookMs: 1,
      },
    ),
  },
  gaussians: {
    query: 'count=3&mean=100&stddev=15&digits=5',
    answer: answer(
      { count: 3, digits: 5, mean: 100, stddev: 15, values: [70.93, 83.829, 98.676] },
      {
        certificateId: 'cert_6bnt8qmm9j448jf0hzk3fn8ga2',
        salt: '2a79da6f274a3bb7669c8105326f8a2338ff4be876ebde0c02543e6eaa07747d',
        consumedBytes: 40,
        requestId: 'req_01m824sdy3e628qyb7f7jxnqgp',
        tookMs: 35,
      },
    ),
  },
};
