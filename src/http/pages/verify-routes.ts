import { readFileSync } from 'node:fs';
import type { CertificateService, DrawList } from '../../certificate/archive.ts';
import type { CertificateDocument } from '../../certificate/document.ts';
import { ApiError } from '../../core/errors.ts';
import { PDFS } from '../../fair/budget.ts';
import { DRAWS_PARAMETERS } from '../draws/routes.ts';
import type { Exchange } from '../exchange.ts';
import { parseQuery } from '../params.ts';
import { foundDocument } from '../plain-routes.ts';
import { type Reply, redirectReply, replyOf } from '../reply.ts';
import { chooseOffer, parseAccept } from '../representation.ts';
import { OPEN, type PlainRoute } from '../route-table.ts';
import { type PageAssets, VERIFIER_PATH } from './assets.ts';
import { banner, certificateMain, checkForm } from './certificate-page.ts';
import { drawMain } from './draw-page.ts';
import { drawsMain } from './draws-page.ts';
import {
  CAPABILITY_FIELDS,
  type Content,
  html,
  LOG_PAGE_PATH,
  type Markup,
  type Page,
  pageReply,
  shortened,
} from './layout.ts';
import { lotMain } from './lot-page.ts';

const PREFIX = '/verify/';
const PDF = '.pdf';
/** Eight of them are drawn or wait in a front. With their rests these take less than `answerDeadlineMs`. */
const LOOK_UPS_OF_A_PDF = 4;
const PDF_US = 100_000;
const LOTS = '/lots/';
const LOT_ID = /^lot_[0-9a-hjkmnp-tv-z]{26}$/;
const DRAWS = '/draws/';
const DRAW_ID = /^draw_[0-9a-hjkmnp-tv-z]{26}$/;
/** What a person may paste for an id holds one: the id alone, or the address of its page. */
const ID_IN_TEXT = /cert_[0-9a-hjkmnp-tv-z]{26}(?![0-9a-z])/;
/** A status may change with every look; a page without a proof in a moment. */
const CACHED = 'no-cache';
const NOT_CACHED = 'no-store';

/**
 * The public pages of certificates, lots and draws, without a key: `/verify` and, as a prefix, `/verify/<certificate id>`, and so
 * on.
 */
export function verifyRoutes(
  certificates: Pick<CertificateService, 'draw' | 'draws' | 'find' | 'lot' | 'publicLot'>,
  drawPdf: DrawPdf,
  assets: PageAssets,
): PlainRoute[] {
  const page = (title: string, main: Page['main'], more: Partial<Page> = {}) =>
    pageReply({ status: 200, title, main, cacheControl: CACHED, ...more }, assets);
  /** The start page with what was wrong above it, and in its field what was `asked` for. */
  const problem = (status: 400 | 404, title: string, said: string, why: Content, asked = '') =>
    page(title, startMain(banner('bad', said, why), asked), { status, cacheControl: NOT_CACHED });
  const malformed = (asked = '') =>
    problem(400, 'No certificate id', 'This is not a certificate id.', ID_FORM, asked);

  /** `/verify` alone; with `?id=…`, as its form sends it without a script, the way to the page of that certificate. */
  const start = ({ query }: Exchange): Reply => {
    const asked = new URLSearchParams(query).get('id');
    if (asked === null) return page('Check a certificate', startMain(null, ''));
    const id = ID_IN_TEXT.exec(asked)?.[0];
    return id === undefined ? malformed(asked) : redirectReply(302, `${PREFIX}${id}`, CAPABILITY_FIELDS);
  };

  /**
   * A certificate as PDF for anybody who has the id. Drawing takes a tenth of a second of a worker: beside requests of accounts all
   * clients without a key have an eighth of its time. PDFs of clients with a key are bounded by their rate.
   */
  const pdf = (exchange: Exchange): Promise<Reply> => {
    const id = exchange.path.slice(PREFIX.length, -PDF.length);
    const { fair } = exchange;
    const drawn = async () => {
      await fair.inTurn(PDFS, () => {}, PDF_US);
      if (exchange.isGone) throw new ApiError('overloaded', { retryAfterS: 1 }); // nobody waits for it any more
      const document = foundDocument(await certificates.find(id));
      return replyOf(200, 'application/pdf', await drawPdf(document), [
        ['Content-Disposition', `inline; filename="${id}.pdf"`],
        ['Cache-Control', NOT_CACHED],
        ...CAPABILITY_FIELDS,
      ]);
    };
    return fair.lookUp(PDFS, drawn, LOOK_UPS_OF_A_PDF);
  };

  const certificate = async (exchange: Exchange): Promise<Reply> => {
    const { path, accept } = exchange;
    if (path.endsWith(PDF)) return pdf(exchange);
    const id = path.slice(PREFIX.length);
    const found = await certificates.find(id);
    if (prefersJson(accept)) return jsonReply(foundDocument(found));
    if (found === 'malformed') return malformed();
    if (found === 'unknown')
      return problem(404, 'No such certificate', 'There is no such certificate.', unknownWords(id));
    const cacheControl = found.certificate.proof === null ? NOT_CACHED : CACHED;
    return page(`Certificate ${id}`, () => certificateMain(found), { cacheControl });
  };

  /** The page of a lot: its record, which never changes, and what the log says of it. */
  const lot = async ({ path }: Exchange): Promise<Reply> => {
    const id = path.slice(LOTS.length);
    const found = LOT_ID.test(id) ? await certificates.lot(id) : undefined;
    if (found === undefined) return pageReply(missingPage('lot', NO_LOT), assets);
    const publicLot = await certificates.publicLot(id);
    return page(`Lot ${id}`, () => lotMain(found, publicLot), { script: null });
  };

  /** What was drawn for a public purpose: `GET /v1/draws` as a page. */
  const draws = async ({ query }: Exchange): Promise<Reply> => {
    const asked = new URLSearchParams(query).get('purpose') ?? '';
    let list: DrawList | null = null;
    let refused: Markup | null = null;
    if (asked !== '') {
      try {
        const { purpose, series, from } = parseQuery(DRAWS_PARAMETERS, query);
        list = await certificates.draws(purpose, series, from);
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 400) throw error;
        refused = banner('bad', 'This cannot be listed.', error.message);
      }
    }
    const status = refused === null ? 200 : 400;
    return page('Draws', drawsMain(list, shortened(asked, 300), refused), {
      ...{ status, script: null, place: 'draws' },
    });
  };

  /** The page of a committed draw. Its document is at /v1/draws/<id>. */
  const draw = async ({ path, atMs }: Exchange): Promise<Reply> => {
    const id = path.slice(DRAWS.length);
    const found = DRAW_ID.test(id) ? await certificates.draw(id) : undefined;
    if (found === undefined) return pageReply(missingPage('draw', NO_DRAW), assets);
    const more = { script: 'draw-page.mjs', place: 'draws', cacheControl: NOT_CACHED } as const;
    return page(`Draw ${id}`, () => drawMain(found, atMs), more);
  };

  return [
    ...assets.routes,
    logPageRoute(),
    { ...OPEN, path: '/verify', handler: start },
    { ...OPEN, path: '/draws', handler: draws },
    { ...OPEN, path: PREFIX, handler: certificate },
    { ...OPEN, path: LOTS, handler: lot },
    { ...OPEN, path: DRAWS, handler: draw },
  ];
}

type DrawPdf = (document: CertificateDocument) => Promise<Uint8Array<ArrayBuffer>>;

const ID_FORM =
  'An id is cert_ and 26 characters of 0-9 and a-z without i, l, o, u; an answer has it in metadata.certificate_id.';
const NO_LOT = 'A certificate names the lots that its answer drew on.';
const NO_DRAW =
  'This service has committed to none with this id. Whoever shows it to you as proof has shown you nothing.';

function unknownWords(id: string): Markup {
  return html`This service has issued none with the id <code>${id}</code>, or keeps it no longer. The id alone proves
nothing. A certificate that was saved holds without this service: check it with
<a href="${VERIFIER_PATH}" download>the verifier as one file</a> and a copy of the keys of the log.`;
}

function jsonReply(document: CertificateDocument): Reply {
  return replyOf(200, 'application/json', JSON.stringify(document), [
    ['Cache-Control', document.certificate.proof === null ? NOT_CACHED : CACHED],
    ['Access-Control-Allow-Origin', '*'],
    ...CAPABILITY_FIELDS,
  ]);
}

/** A page that says where to go from a path that is not there; undefined for a program, and below /v1. */
export function unknownPage({ path, method, accept }: Exchange, assets: PageAssets): Reply | undefined {
  const isReader = parseAccept(accept).some(({ name, quality }) => name === 'text/html' && quality > 0);
  if (!isReader || prefersJson(accept) || path.startsWith('/v1/') || !['GET', 'HEAD'].includes(method))
    return undefined;
  const why = html`This service has nothing at <code>${path.slice(0, PATH_SHOWN_MAX)}</code>.`;
  return pageReply(missingPage('page', why), assets);
}

/** Of a path that is not there, on the page that says so. */
const PATH_SHOWN_MAX = 200;

function missingPage(what: string, why: Content): Page {
  const main = html`<h1>There is no such ${what}</h1>
<p class="lead">${why}</p>
<ul class="links"><li><a href="/">What this service is</a></li><li><a href="/docs">Documentation</a></li>
<li><a href="/verify">Check a certificate</a></li><li><a href="/draws">Draws for a public purpose</a></li></ul>`;
  const title = `No such ${what}`;
  return { status: 404, title, main, cacheControl: NOT_CACHED, script: null, place: null };
}

function startMain(problem: Markup | null, asked: string): Markup {
  return html`<h1>Check a certificate</h1>
${problem}
<p class="lead">Every answer of this service comes with a certificate: where its bits came from, how they were tested, and a
hash of what was delivered, kept in a signed, append-only log.</p>
<section aria-labelledby="open-title"><h2 id="open-title">Open a certificate</h2>
<form class="open" method="get" action="/verify">
<label for="id">Certificate id, or the address of its page</label>
<div class="actions"><input id="id" name="id" required maxlength="300" value="${shortened(asked, 300)}" autocomplete="off" autocapitalize="off"
 spellcheck="false" placeholder="cert_…"><button type="submit">Open</button></div>
</form></section>
${checkForm('')}`;
}

/**
 * The page is one file with its script and its style inside, so that a copy of it works anywhere; it says itself which
 * script may run. The service adds that it asks this service alone and is not framed. scripts/build-verifier.ts makes it.
 */
function logPageRoute(): PlainRoute {
  const body = new Uint8Array(readFileSync(new URL('../../../dist/log-watch.html', import.meta.url)));
  const reply = replyOf(200, 'text/html; charset=utf-8', body, [
    ['Cache-Control', 'no-cache'],
    ['Content-Security-Policy', "connect-src 'self'; frame-ancestors 'none'"],
    ['Cross-Origin-Opener-Policy', 'same-origin'],
    ['Cross-Origin-Resource-Policy', 'same-origin'],
    ['Referrer-Policy', 'no-referrer'],
    ['X-Content-Type-Options', 'nosniff'],
    ['X-Frame-Options', 'DENY'],
  ]);
  return { ...OPEN, path: LOG_PAGE_PATH, handler: () => reply };
}

const [PAGE, JSON_FORM] = [{ mediaType: 'text/html' }, { mediaType: 'application/json' }];

/** HTML, unless the client would rather have JSON. */
function prefersJson(accept: string): boolean {
  return chooseOffer(accept, [PAGE, JSON_FORM], PAGE) === JSON_FORM;
}
