import { readFileSync } from 'node:fs';
import type { CertificateService, DrawList } from '../../certificate/archive.ts';
import type { CertificateDocument } from '../../certificate/document.ts';
import { ApiError } from '../../core/errors.ts';
import { DRAW_ID, LOT_ID } from '../../core/ids.ts';
import { PDFS } from '../../fair/budget.ts';
import { DRAWS_PARAMETERS } from '../draws/routes.ts';
import type { Exchange } from '../exchange.ts';
import { parseQuery } from '../params.ts';
import { foundDocument } from '../plain-routes.ts';
import { type Reply, redirectReply, replyOf } from '../reply.ts';
import { chooseOffer, parseWeighted } from '../representation.ts';
import type { PlainRoute } from '../route-table.ts';
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
/**
 * A PDF counts for this many look-ups of the 32 that an owner may have, so that a front has at most eight PDFs under way. With the
 * pauses between them these take less than `answerDeadlineMs`.
 */
const LOOK_UPS_OF_A_PDF = 4;
/** Charged for a PDF: about the time that a worker takes to draw one. */
const PDF_US = 100_000;
const LOTS = '/lots/';
const DRAWS = '/draws/';
/** Finds the id in what a reader pastes: the id itself, or the address of its page. */
const ID_IN_TEXT = /cert_[0-9a-hjkmnp-tv-z]{26}(?![0-9a-z])/;
/** The status of a certificate may change at any time, so caches must revalidate it. A page without a proof changes in a moment. */
const CACHED = 'no-cache';
const NOT_CACHED = 'no-store';

/**
 * Returns the routes of the public pages of certificates, lots and draws, and of their assets. They need no key.
 */
export function verifyRoutes(
  certificates: Pick<CertificateService, 'draw' | 'draws' | 'find' | 'lot' | 'publicLot'>,
  drawPdf: DrawPdf,
  assets: PageAssets,
): PlainRoute[] {
  const page = (title: string, main: Page['main'], more: Partial<Page> = {}) =>
    pageReply({ status: 200, title, main, cacheControl: CACHED, ...more }, assets);
  /** Returns the start page with an error above its form, whose field repeats what the reader `asked` for. */
  const problem = (status: 400 | 404, title: string, said: string, why: Content, asked = '') =>
    page(title, startMain(banner('bad', said, why), asked), { status, cacheControl: NOT_CACHED });
  const malformed = (asked = '') =>
    problem(400, 'Invalid certificate identifier', 'This is not a certificate identifier.', ID_FORM, asked);

  /**
   * Answers `/verify` with the start page, and `/verify?id=…`, which its form sends, with a redirect to that certificate's
   * page.
   */
  const start = ({ query }: Exchange): Reply => {
    const asked = new URLSearchParams(query).get('id');
    if (asked === null) return page('Check a certificate', startMain(null, ''));
    const id = ID_IN_TEXT.exec(asked)?.[0];
    return id === undefined ? malformed(asked) : redirectReply(302, `${PREFIX}${id}`, CAPABILITY_FIELDS);
  };

  /**
   * Answers with a certificate as PDF, for anybody who has its id. Drawing takes a tenth of a second of a worker. While
   * accounts send requests, all clients without a key together get an eighth of the worker's time. The rate bounds PDFs of
   * clients with a key.
   */
  const pdf = (exchange: Exchange): Promise<Reply> => {
    const id = exchange.path.slice(PREFIX.length, -PDF.length);
    const { fair } = exchange;
    const drawn = async () => {
      await fair.inTurn(PDFS, () => {}, PDF_US);
      if (exchange.isGone) throw new ApiError('overloaded', { retryAfterS: 1 }); // nobody reads this error
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

  /** Answers with the page of a lot: its record, and its leaf in the log. */
  const lot = async ({ path }: Exchange): Promise<Reply> => {
    const id = path.slice(LOTS.length);
    const found = LOT_ID.test(id) ? await certificates.lot(id) : undefined;
    if (found === undefined) return pageReply(missingPage('lot', NO_LOT), assets);
    const publicLot = await certificates.publicLot(id);
    return page(`Lot ${id}`, () => lotMain(found, publicLot));
  };

  /** Answers with what was drawn for a public purpose: `GET /v1/draws` as a page. */
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
        refused = banner('bad', 'The purpose is not valid.', error.message);
      }
    }
    const status = refused === null ? 200 : 400;
    return page('Draws', drawsMain(list, shortened(asked, 300), refused), {
      ...{ status, place: 'draws' },
    });
  };

  /** Answers with the page of a committed draw. Its document is at /v1/draws/<id>. */
  const draw = async ({ path, atMs }: Exchange): Promise<Reply> => {
    const id = path.slice(DRAWS.length);
    const found = DRAW_ID.test(id) ? await certificates.draw(id) : undefined;
    if (found === undefined) return pageReply(missingPage('draw', NO_DRAW), assets);
    const more = { place: 'draws', cacheControl: NOT_CACHED } as const;
    return page(`Draw ${id}`, () => drawMain(found, atMs), more);
  };

  return [
    ...assets.routes,
    logPageRoute(),
    { path: '/verify', handler: start },
    { path: '/draws', handler: draws },
    { path: PREFIX, handler: certificate },
    { path: LOTS, handler: lot },
    { path: DRAWS, handler: draw },
  ];
}

type DrawPdf = (document: CertificateDocument) => Promise<Uint8Array<ArrayBuffer>>;

const ID_FORM =
  'A certificate identifier is cert_ followed by 26 characters of 0-9 and a-z without i, l, o and u. An answer contains it in metadata.certificate_id.';
const NO_LOT = 'A certificate names the lots that its answer was drawn from.';
const NO_DRAW =
  'This service has not committed to a draw with this identifier. The identifier proves nothing.';

function unknownWords(id: string): Markup {
  return html`This service has not issued a certificate with the identifier <code>${id}</code>, or no longer stores it. The identifier alone proves
nothing. A saved certificate can be verified without this service: use
<a href="${VERIFIER_PATH}" download>the verifier as one file</a> and a copy of the keys of the log.`;
}

function jsonReply(document: CertificateDocument): Reply {
  return replyOf(200, 'application/json', JSON.stringify(document), [
    ['Cache-Control', document.certificate.proof === null ? NOT_CACHED : CACHED],
    ['Access-Control-Allow-Origin', '*'],
    ...CAPABILITY_FIELDS,
  ]);
}

/** Returns the page for a path that does not exist; undefined for clients other than browsers, and for paths below /v1. */
export function unknownPage({ path, method, accept }: Exchange, assets: PageAssets): Reply | undefined {
  const isReader = parseWeighted(accept).some(({ name, quality }) => name === 'text/html' && quality > 0);
  if (!isReader || prefersJson(accept) || path.startsWith('/v1/') || !['GET', 'HEAD'].includes(method))
    return undefined;
  const why = html`This service has no page at <code>${path.slice(0, PATH_SHOWN_MAX)}</code>.`;
  return pageReply(missingPage('page', why), assets);
}

/** Characters of a missing path that its page repeats. */
const PATH_SHOWN_MAX = 200;

function missingPage(what: string, why: Content): Page {
  const main = html`<h1>There is no such ${what}</h1>
<p class="lead">${why}</p>
<ul class="links"><li><a href="/">What this service is</a></li><li><a href="/docs">Documentation</a></li>
<li><a href="/verify">Check a certificate</a></li><li><a href="/draws">Draws for a public purpose</a></li></ul>`;
  const title = `No such ${what}`;
  return { status: 404, title, main, cacheControl: NOT_CACHED, place: null };
}

function startMain(problem: Markup | null, asked: string): Markup {
  return html`<h1>Check a certificate</h1>
${problem}
<p class="lead">Every answer of this service comes with a certificate: where its bits came from, how they were tested, and a
hash of what was delivered, kept in a signed, append-only log.</p>
<section aria-labelledby="open-title"><h2 id="open-title">Open a certificate</h2>
<form class="open" method="get" action="/verify">
<label for="id">Certificate identifier, or the address of its page</label>
<div class="actions"><input id="id" name="id" required maxlength="300" value="${shortened(asked, 300)}" autocomplete="off" autocapitalize="off"
 spellcheck="false" placeholder="cert_…"><button type="submit">Open</button></div>
</form></section>
${checkForm('')}`;
}

/**
 * Returns the route of the page that follows the log. scripts/build-verifier.ts makes the page as one file with its script and its
 * style, so that a copy of it works anywhere. Its own policy names the script that may run. The header adds that the page may send
 * requests only to this service and may not be framed.
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
  return { path: LOG_PAGE_PATH, handler: () => reply };
}

const [PAGE, JSON_FORM] = [{ mediaType: 'text/html' }, { mediaType: 'application/json' }];

/** Returns true when the client prefers JSON to HTML. */
function prefersJson(accept: string): boolean {
  return chooseOffer(accept, [PAGE, JSON_FORM], PAGE) === JSON_FORM;
}
