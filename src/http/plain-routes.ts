import { NO_STORE } from '../answer/fields.ts';
import type { CertificateService } from '../certificate/archive.ts';
import type { CertificateDocument } from '../certificate/document.ts';
import { ApiError } from '../core/errors.ts';
import {
  boolean,
  described,
  listOf,
  type MembersOf,
  object,
  oneOfWords,
  type Schema,
  type TypeOf,
  text,
  time,
} from '../core/schema.ts';
import { CERTIFICATE, CERTIFICATE_PARAMETERS, HEALTH, USAGE } from './endpoints/table.ts';
import { TIER_LIST, TIERS_PATH } from './endpoints/tiers.ts';
import type { Exchange } from './exchange.ts';
import type { Field } from './head.ts';
import { parseQuery } from './params.ts';
import { type Reply, replyOf, valueReply } from './reply.ts';
import { rateFields } from './reply-fields.ts';
import { negotiate } from './representation.ts';
import type { PlainRoute } from './route-table.ts';

const healthStatus = oneOfWords(['pass', 'warn', 'fail']);
export type HealthStatus = TypeOf<typeof healthStatus>;

/** One check, as draft-inadarei-api-health-check-06 §4 specifies it. */
const HEALTH_CHECK = object(
  {
    componentType: oneOfWords(['datastore', 'component', 'system']),
    status: described(healthStatus, 'The result of the check.'),
  },
  {
    observedValue: { type: ['number', 'string', 'boolean', 'null'] } as Schema<
      number | string | boolean | null
    >,
    observedUnit: text,
    output: described(text, 'A description of the problem.'),
    details: { type: 'object' } as Schema<object>,
  },
);
export type HealthCheck = TypeOf<typeof HEALTH_CHECK>;

export const HEALTH_REPORT = object({
  status: described(
    healthStatus,
    'The state of the service: `fail` if it cannot answer any request, `warn` if at least one check is not `pass`, otherwise `pass`.',
  ),
  version: described(text, 'The version of the API.'),
  releaseId: described(text, 'The version of the software.'),
  time: described(time, 'The time at which the state was observed.'),
  checks: {
    type: 'object',
    description:
      'The checks. Each name consists of a component and the property that was measured (draft-inadarei-api-health-check-06 §4).',
    additionalProperties: listOf(HEALTH_CHECK),
  } as Schema<Readonly<Record<string, readonly HealthCheck[]>>>,
});
export type HealthReport = TypeOf<typeof HEALTH_REPORT>;

/**
 * The words of `/readyz`. `database-away`, `clock-skewed` and `standby-late` occur only on a node that shares a database with
 * others.
 */
export type Readiness =
  | 'ready'
  | 'starting'
  | 'clock-jumped'
  | 'disk-full'
  | 'held'
  | 'database-away'
  | 'clock-skewed'
  | 'standby-late';

/** The data and settings of the resources that draw no entropy. */
export interface PlainRouteSources {
  /** Returns `ready`, or a word that says why the service is not ready. */
  readonly readiness: () => Readiness;
  readonly health: () => Promise<HealthReport>;
  /** Returns the `data` of GET /v1/usage, for the account of the exchange only. */
  readonly usage: (exchange: Exchange) => Promise<object>;
  /** Returns why the ledger is held back and delivers nothing; null when it is not. */
  readonly held: () => Promise<string | null>;
  readonly certificates: Pick<CertificateService, 'find'>;
  /** The value of `metadata.powered_by`. */
  readonly poweredBy: string;
  /** True to refuse unknown parameters instead of ignoring them. */
  readonly strictParameters: boolean;
  readonly drawPdf: (document: CertificateDocument) => Promise<Uint8Array<ArrayBuffer>>;
}

export function plainRoutes(sources: PlainRouteSources): PlainRoute[] {
  const ready = async () => {
    const readiness = sources.readiness();
    return readiness === 'ready' ? word(200, readiness) : word(503, (await sources.held()) ?? readiness);
  };
  const usage = async (exchange: Exchange) =>
    envelope(exchange, { data: await sources.usage(exchange) }, drawnFrom(sources));
  const tiers = (exchange: Exchange) => envelope(exchange, { data: TIER_LIST }, drawnFrom(sources));
  return [
    { path: '/livez', handler: () => word(200, 'ok') },
    { path: '/readyz', handler: ready },
    {
      path: HEALTH.path,
      scope: HEALTH.scope,
      isUnlimited: true,
      answersAlways: true,
      handler: (exchange) => healthReply(exchange, sources),
    },
    { path: USAGE.path, scope: USAGE.scope, handler: usage },
    { path: TIERS_PATH, handler: tiers }, // clients read the tiers before they have a key
    {
      path: CERTIFICATE.path,
      scope: CERTIFICATE.scope,
      handler: (exchange) => certificateReply(exchange, sources),
    },
  ];
}

/**
 * Answers `/v1/health`: 200 for pass and warn, 503 for fail (draft-inadarei-api-health-check-06 §3.1). The report is the `data` of
 * the usual envelope; a client that accepts application/health+json gets the bare report of the draft.
 */
async function healthReply(exchange: Exchange, sources: PlainRouteSources): Promise<Reply> {
  const report = await sources.health();
  const status = report.status === 'fail' ? 503 : 200;
  const form = negotiate(exchange.accept, ['json', 'health', 'msgpack']);
  const drawn = drawnFrom(sources);
  if (form !== 'health') return envelope(exchange, { data: report }, drawn, status);
  return valueReply(status, form, report, envelopeFields(exchange, drawn));
}

async function certificateReply(exchange: Exchange, sources: PlainRouteSources): Promise<Reply> {
  const { id, format } = parseQuery(CERTIFICATE_PARAMETERS, exchange.query, sources.strictParameters);
  const found = foundDocument(await sources.certificates.find(id));
  const drawn = drawnFrom(sources, found);
  if (format === 'json') return envelope(exchange, found, drawn);
  return replyOf(200, 'application/pdf', await sources.drawPdf(found), [
    ['Content-Disposition', `inline; filename="${id}.pdf"`],
    NO_STORE,
    ...envelopeFields(exchange, drawn),
  ]);
}

/** Returns the certificate if it was found. Throws `invalid_id` or `cert_not_found`. */
export function foundDocument(found: CertificateDocument | 'malformed' | 'unknown'): CertificateDocument {
  if (found === 'malformed') throw new ApiError('invalid_id');
  if (found === 'unknown') throw new ApiError('cert_not_found');
  return found;
}

/** The provenance that every envelope and its header fields report (specification, metadata object). */
export const PROVENANCE = {
  lang_circuit: described(text, 'The name of the quantum circuit, or `none` if no entropy was drawn.'),
  lang_version: described(text, 'The version of the circuit compiler, or `none` if no entropy was drawn.'),
  quantum_backend: described(text, 'The quantum processor or device, or `none` if no entropy was drawn.'),
  nist_verified: described(
    boolean,
    'Whether the bits that were drawn passed the statistical tests of NIST SP 800-22. It is `false` if no entropy was drawn.',
  ),
  powered_by: described(
    text,
    'The name of the technology that the service uses. It is the same in every answer.',
  ),
};
type Drawn = MembersOf<typeof PROVENANCE>;

const NOTHING_DRAWN = {
  provenance: { lang_circuit: 'none', lang_version: 'none', quantum_backend: 'none' },
  verification: { nist_verified: false },
};

/** Returns the provenance of a certified answer, or without one the values for "nothing was drawn". */
function drawnFrom({ poweredBy }: PlainRouteSources, certified?: CertificateDocument): Drawn {
  const { provenance, verification } = certified?.certificate ?? NOTHING_DRAWN;
  const { lang_circuit, lang_version, quantum_backend } = provenance;
  const { nist_verified } = verification;
  return { lang_circuit, lang_version, quantum_backend, nist_verified, powered_by: poweredBy };
}

function envelopeFields({ requestUuid, rate }: Exchange, drawn: Drawn): Field[] {
  return [
    ['X-Request-ID', requestUuid],
    ['X-Lang-Circuit', drawn.lang_circuit],
    ['X-Lang-Version', drawn.lang_version],
    ['X-Quantum-Backend', drawn.quantum_backend],
    ['X-NIST-Verified', String(drawn.nist_verified)],
    ...rateFields(rate),
  ];
}

function envelope(exchange: Exchange, content: object, drawn: Drawn, status = 200): Reply {
  const { requestIdText, atMs, accept } = exchange;
  const metadata = { request_id: requestIdText, timestamp: new Date(atMs).toISOString(), ...drawn };
  const form = negotiate(accept, ['json', 'msgpack']);
  return valueReply(status, form, { ...content, metadata }, envelopeFields(exchange, drawn));
}

/** Returns the reply to a probe: one line of text. */
function word(status: number, text: string): Reply {
  return replyOf(status, 'text/plain; charset=utf-8', `${text}\n`, [NO_STORE]);
}
