import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import { parseKey } from '../../../../src/account/api-keys.ts';
import { ApiError } from '../../../../src/core/errors.ts';
import type { DataEndpointDefinition } from '../../../../src/http/endpoint.ts';
import { DATA_ENDPOINT_DEFINITIONS } from '../../../../src/http/endpoints/table.ts';
import type { Exchange } from '../../../../src/http/exchange.ts';
import { headOf, statusOf } from '../../../../src/http/head.ts';
import { logRoutes } from '../../../../src/http/log-routes.ts';
import { negotiate, parseAccept } from '../../../../src/http/representation.ts';
import { parseTraceparent } from '../../../../src/http/request-id.ts';
import type { DataAsk } from '../cases.ts';
import { type FuzzTarget, JSON_WORDS, latin1Of, magnitude, refusalOf, textOf } from './target.ts';

const NO_BODY = new Uint8Array(0);

/** What the endpoint makes of a request: an order, or a refusal of the table of errors. */
function parsed(definition: DataEndpointDefinition, ask: DataAsk): string {
  const label = codeOrLabel(() => {
    const { request, ignored } = definition.parse({
      ...ask,
      method: ask.endpoint === 'batch' ? 'POST' : 'GET',
    });
    headOf(200, [['X-Ignored-Parameters', ignored.join(', ')]]); // throws for what would leave its line
    return `served ${request.values.kind} ${ignored.length}`;
  });
  return `${definition.name}: ${label}`;
}

function codeOrLabel(read: () => string): string {
  try {
    return read();
  } catch (error) {
    return refusalOf(error, ApiError, ({ code }: ApiError) => code);
  }
}

const GETS = DATA_ENDPOINT_DEFINITIONS.filter(({ method }) => method === 'GET');
const PARAMETERS = DATA_ENDPOINT_DEFINITIONS.flatMap(({ parameters, body }) => [
  ...parameters,
  ...(body?.members ?? []),
  ...Object.values(body?.params ?? {}).flat(),
]);
const NAMES = [...new Set(PARAMETERS.map(({ name }) => name))];
const CHOICES = [...new Set(PARAMETERS.flatMap((each) => (each.kind === 'choice' ? each.values : [])))];

/** The first byte chooses the endpoint, the rest is the query. */
const query: FuzzTarget = {
  name: 'query',
  words: [
    ...NAMES.map((name) => `&${name}=`),
    ...CHOICES,
    'true',
    'false',
    '%2C',
    '%C3%A9',
    '%00',
    '%ff',
    '10000',
    '-',
    ',',
  ],
  read: (input) => {
    const definition = GETS[(input[0] ?? 0) % GETS.length];
    return parsed(definition, {
      endpoint: definition.name,
      query: latin1Of(input.subarray(1)),
      contentType: '',
      body: NO_BODY,
    });
  },
};

const batch: FuzzTarget = {
  name: 'batch-body',
  words: [
    ...NAMES.map((name) => `"${name}":`),
    ...CHOICES.map((value) => `"${value}"`),
    ...JSON_WORDS,
    '1e2',
    '\ufeff',
  ],
  read: (input) => {
    const definition = DATA_ENDPOINT_DEFINITIONS.find(({ name }) => name === 'batch')!;
    if (input.length > 65_536) return 'too long for the front';
    return parsed(definition, { endpoint: 'batch', query: '', contentType: 'application/json', body: input });
  },
};

const FORMS = ['json', 'msgpack', 'octet-stream'] as const;

const accept: FuzzTarget = {
  name: 'accept',
  words: [
    'application/json',
    'application/msgpack',
    'application/octet-stream',
    '*/*',
    'application/*',
    ';q=0.5',
    ';q=0',
    ';a="\\""',
    ',',
    '"',
    '\\',
  ],
  read: (input) => {
    const field = latin1Of(input);
    const ranges = parseAccept(field);
    assert.ok(ranges.length <= 32);
    for (const { quality, name } of ranges) {
      assert.ok(quality >= 0 && quality <= 1);
      assert.match(name, /^[!#$%&'*+.^_`|~0-9a-z-]+\/[!#$%&'*+.^_`|~0-9a-z-]+$/);
    }
    const chosen = negotiate(field, FORMS, 'json');
    assert.ok((FORMS as readonly string[]).includes(chosen));
    const trace = parseTraceparent(field);
    if (trace !== undefined) assert.match(trace.traceId, /^[0-9a-f]{32}$/);
    return `${chosen} of ${magnitude(ranges.length)}`;
  },
};

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The six characters that a key must end with. */
function checksum(checked: string): string {
  let rest = BigInt(crc32(checked));
  let text = '';
  for (let i = 0; i < 6; i++, rest /= 62n) text = BASE62[Number(rest % 62n)] + text;
  return text;
}

/** As it is, and with the checksum that chance does not find. */
const apiKey: FuzzTarget = {
  name: 'api-key',
  words: ['qrn_f_', 'qrn_d_', 'qrn_p_', 'qrn_b_', 'qrn_e_'],
  read: (input) => {
    const text = textOf(input);
    const completed = text + checksum(text);
    const isKey = /^qrn_[fdpbe]_[0-9A-Za-z]{48}$/.test(text);
    assert.deepEqual(parseKey(completed), isKey ? { keyId: text.slice(6, 28) } : undefined);
    const given = parseKey(text);
    if (given !== undefined) assert.equal(text, text.slice(0, 54) + checksum(text.slice(0, 54)));
    return isKey ? 'a key' : given === undefined ? 'no key' : 'a whole key';
  },
};

/** A log of 66,000 leaves: two levels of tiles, the last of each partial. */
const LOG_SIZE = 66_000;
const publicLog = logRoutes({
  tile: async (level: number, index: number) => {
    const width = Math.min(256, Math.floor(LOG_SIZE / 256 ** level) - index * 256);
    return width > 0 ? new Uint8Array(32 * width) : undefined;
  },
  consistencyProof: async (from: number, to: number) =>
    from >= 1 && from <= to && to <= LOG_SIZE ? [new Uint8Array(32)] : undefined,
} as Parameters<typeof logRoutes>[0]);

/** The path of a tile, or after `?` the query of a proof. */
const tilePath: FuzzTarget = {
  name: 'tile-path',
  words: ['0/', '1/', '2/', 'x000/', 'x001/', '000', '256', '001', '.p/', '?from=', '&to=', '%30'],
  read: async (input) => {
    const text = latin1Of(input);
    const [route] = publicLog.prefixes;
    const proofs = publicLog.exact.find(({ path }) => path === '/log/consistency')!;
    const isProof = text.startsWith('?');
    const exchange = isProof ? { query: text.slice(1) } : { path: `/log/tile/${text}` };
    try {
      const { head, body } = await (isProof ? proofs : route).handler(exchange as unknown as Exchange);
      assert.equal(statusOf(head), 200);
      if (isProof) assert.deepEqual(Object.keys(JSON.parse(textOf(body))), ['from', 'to', 'hashes']);
      else assert.ok(body.length >= 32 && body.length <= 8_192 && body.length % 32 === 0);
      return isProof ? 'a proof' : `a tile of ${magnitude(body.length)}`;
    } catch (error) {
      return refusalOf(error, ApiError, ({ code }: ApiError) => code);
    }
  },
};

export const HTTP_TARGETS: readonly FuzzTarget[] = [query, batch, accept, apiKey, tilePath];
