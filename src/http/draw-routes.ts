import type { CertificateService } from '../certificate/archive.ts';
import { utf8Bytes } from '../core/bytes.ts';
import type { Reply } from './error-reply.ts';
import { headOf } from './head.ts';
import { type ParameterDefinition, parseQuery, unknownParameters } from './params.ts';
import type { PlainRoute } from './router.ts';

export const DRAWS_PATH = '/v1/draws';

/** Of GET /v1/draws. */
export const DRAWS_PARAMETERS = [
  {
    name: 'purpose',
    kind: 'text',
    pattern: /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,100}$/u,
    required: true,
    error: 'invalid_purpose',
    description: 'The purpose, as the callers gave it.',
  },
  {
    name: 'series',
    kind: 'text',
    pattern: /^series_[0-9a-hjkmnp-tv-z]{26}$/,
    error: 'invalid_series',
    description: 'Which account’s answers; left out, those of the first series.',
  },
  {
    name: 'from',
    kind: 'integer',
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    default: 1,
    error: 'invalid_count',
    description: 'The first serial.',
  },
] as const satisfies readonly ParameterDefinition[];

/**
 * What was drawn for a public purpose, for anybody and without a key: every serial of a series, so that an answer that was
 * made and thrown away is seen beside those that were shown.
 */
export function drawRoutes(
  certificates: Pick<CertificateService, 'draws'>,
  strictParameters: boolean,
): PlainRoute[] {
  return [
    {
      path: DRAWS_PATH,
      methods: ['GET', 'HEAD'],
      scope: null,
      limited: false,
      handler: async ({ query }): Promise<Reply> => {
        const { values, ignored } = parseQuery(DRAWS_PARAMETERS, query);
        if (strictParameters && ignored.length > 0) throw unknownParameters(ignored);
        const { purpose, series, from } = values;
        const list = await certificates.draws(purpose, series, from);
        const head = headOf(200, [
          ['Content-Type', 'application/json'],
          ['Cache-Control', 'no-cache'],
          ['Access-Control-Allow-Origin', '*'],
          ['X-Content-Type-Options', 'nosniff'],
        ]);
        return { status: 200, head, body: utf8Bytes(JSON.stringify(list)) };
      },
    },
  ];
}
