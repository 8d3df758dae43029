import { pack } from 'msgpackr';
import type { CertificateService } from '../certificate/archive.ts';
import type { CertificateDocument } from '../certificate/document.ts';
import { utf8Bytes } from '../core/bytes.ts';
import { ApiError } from '../core/errors.ts';
import { CERTIFICATE, HEALTH, parseCertificateQuery, USAGE } from './endpoints/table.ts';
import { TIERS_PATH, tierList } from './endpoints/tiers.ts';
import type { Reply } from './error-reply.ts';
import type { Exchange } from './exchange.ts';
import { type Field, headOf } from './head.ts';
import { unknownParameters } from './params.ts';
import { rateFields } from './reply-fields.ts';
import { MEDIA_TYPES, negotiate } from './representation.ts';
import type { PlainRoute } from './route-table.ts';

export type HealthStatus = 'pass' | 'warn' | 'fail';

/** One check in the shape of draft-inadarei-api-health-check-06 §4. */
export interface HealthCheck {
  readonly componentType: 'datastore' | 'component' | 'system';
  readonly status: HealthStatus;
  readonly observedValue?: number | string | boolean | null;
  readonly observedUnit?: string;
  readonly output?: string;
  readonly details?: object;
}

export interface HealthReport {
  readonly status: HealthStatus;
  /** Of the API. */
  readonly version: string;
  /** Of the software. */
  readonly releaseId: string;
  readonly time: string;
  readonly checks: Readonly<Record<string, readonly HealthCheck[]>>;
}

/** `database-away`, `clock-skewed` and `standby-late` are of a node that shares a database with others. */
export type Readiness =
  | 'ready'
  | 'starting'
  | 'clock-jumped'
  | 'database-away'
  | 'clock-skewed'
  | 'standby-late';

/** What the resources that draw no entropy are answered from. */
export interface PlainRouteSources {
  /** `ready`, or a word that says why not. */
  readonly readiness: () => Readiness;
  readonly health: () => Promise<HealthReport>;
  /** Payload of GET /v1/usage for the exchange's account alone. */
  readonly usage: (exchange: Exchange) => Promise<object>;
  /** Why nothing is delivered by a ledger that is held back; null when all is well. */
  readonly held: () => Promise<string | null>;
  readonly certificates: Pick<CertificateService, 'find'>;
  /** `metadata.powered_by`. */
  readonly poweredBy: string;
  /** Refuse unknown parameters instead of ignoring them. */
  readonly strictParameters: boolean;
  readonly drawPdf: (document: CertificateDocument) => Promise<Uint8Array<ArrayBuffer>>;
}

const READ_METHODS = ['GET', 'HEAD'];

export function plainRoutes(sources: PlainRouteSources): PlainRoute[] {
  return [
    { path: '/livez', methods: READ_METHODS, scope: null, limited: false, handler: () => word(200, 'ok') },
    {
      path: '/readyz',
      methods: READ_METHODS,
      scope: null,
      limited: false,
      handler: async () => {
        const readiness = sources.readiness();
        if (readiness === 'ready') return word(200, readiness);
        return word(503, (await sources.held()) ?? readiness);
      },
    },
    {
      path: HEALTH.path,
      methods: READ_METHODS,
      scope: HEALTH.scope,
      limited: false,
      answersAlways: true,
      handler: async (exchange) =>
        healthReply(await sources.health(), exchange.accept, [['X-Request-ID', exchange.requestUuid]]),
    },
    {
      path: USAGE.path,
      methods: READ_METHODS,
      scope: USAGE.scope,
      limited: true,
      handler: async (exchange) => {
        const drawn = { ...NOTHING_DRAWN, powered_by: sources.poweredBy };
        return body(
          exchange,
          { data: await sources.usage(exchange), metadata: metadataOf(exchange, drawn) },
          drawn,
        );
      },
    },
    {
      path: TIERS_PATH,
      methods: READ_METHODS,
      scope: null, // who has no key yet wants to know
      limited: false,
      handler: (exchange) => {
        const drawn = { ...NOTHING_DRAWN, powered_by: sources.poweredBy };
        return body(exchange, { data: tierList(), metadata: metadataOf(exchange, drawn) }, drawn);
      },
    },
    {
      path: CERTIFICATE.path,
      methods: READ_METHODS,
      scope: CERTIFICATE.scope,
      limited: true,
      handler: (exchange) => certificateReply(exchange, sources),
    },
  ];
}

/** `/v1/health`: 200 for pass and warn, 503 for fail (draft-inadarei-api-health-check-06 §3.1). */
export function healthReply(report: HealthReport, accept: string, fields: readonly Field[]): Reply {
  const form = negotiate(accept, ['json', 'health', 'msgpack']);
  const status = report.status === 'fail' ? 503 : 200;
  const head = headOf(status, [
    ['Content-Type', MEDIA_TYPES[form]],
    ['Cache-Control', 'no-store'],
    ...fields,
  ]);
  const body = form === 'msgpack' ? new Uint8Array(pack(report)) : utf8Bytes(JSON.stringify(report));
  return { status, head, body };
}

async function certificateReply(exchange: Exchange, sources: PlainRouteSources): Promise<Reply> {
  const { values, ignored } = parseCertificateQuery(exchange.query);
  if (sources.strictParameters && ignored.length > 0) throw unknownParameters(ignored);
  const found = foundDocument(await sources.certificates.find(values.id));
  const drawn = drawnBy(found);
  if (values.format === 'json')
    return body(exchange, { ...found, metadata: metadataOf(exchange, drawn) }, drawn);
  const head = headOf(200, [
    ['Content-Type', 'application/pdf'],
    ['Content-Disposition', `inline; filename="${values.id}.pdf"`],
    ['Cache-Control', 'no-store'],
    ['X-Request-ID', exchange.requestUuid],
    ...provenanceFields(drawn),
    ...rateFields(exchange.rate),
  ]);
  return { status: 200, head, body: await sources.drawPdf(found) };
}

/** The certificate that was found. Throws `invalid_id` and `cert_not_found`. */
export function foundDocument(found: CertificateDocument | 'malformed' | 'unknown'): CertificateDocument {
  if (found === 'malformed') throw new ApiError('invalid_id');
  if (found === 'unknown') throw new ApiError('cert_not_found');
  return found;
}

/** The provenance that every envelope and its header fields name (specification, metadata object). */
interface Drawn {
  readonly lang_circuit: string;
  readonly lang_version: string;
  readonly quantum_backend: string;
  readonly nist_verified: boolean;
  readonly powered_by: string;
}

/** Of a reply for which nothing was drawn. */
const NOTHING_DRAWN = {
  lang_circuit: 'none',
  lang_version: 'none',
  quantum_backend: 'none',
  nist_verified: false,
} as const;

/** What the certified answer was drawn from. */
function drawnBy({ certificate }: CertificateDocument): Drawn {
  const { provenance, verification, powered_by } = certificate;
  const { lang_circuit, lang_version, quantum_backend } = provenance;
  return {
    lang_circuit,
    lang_version,
    quantum_backend,
    nist_verified: verification.nist_verified,
    powered_by,
  };
}

function metadataOf(exchange: Exchange, drawn: Drawn): object {
  return { request_id: exchange.requestIdText, timestamp: new Date(exchange.atMs).toISOString(), ...drawn };
}

function provenanceFields(drawn: Drawn): Field[] {
  return [
    ['X-Lang-Circuit', drawn.lang_circuit],
    ['X-Lang-Version', drawn.lang_version],
    ['X-Quantum-Backend', drawn.quantum_backend],
    ['X-NIST-Verified', String(drawn.nist_verified)],
  ];
}

function body(exchange: Exchange, value: object, drawn: Drawn): Reply {
  const form = negotiate(exchange.accept, ['json', 'msgpack']);
  const fields: Field[] = [
    ['Content-Type', MEDIA_TYPES[form]],
    ['Cache-Control', 'no-store'],
    ['X-Request-ID', exchange.requestUuid],
    ...provenanceFields(drawn),
    ...rateFields(exchange.rate),
  ];
  const bytes = form === 'msgpack' ? new Uint8Array(pack(value)) : utf8Bytes(JSON.stringify(value));
  return { status: 200, head: headOf(200, fields), body: bytes };
}

/** A probe's answer: one word. */
function word(status: number, text: string): Reply {
  const fields: Field[] = [
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['Cache-Control', 'no-store'],
  ];
  return { status, head: headOf(status, fields), body: utf8Bytes(`${text}\n`) };
}
