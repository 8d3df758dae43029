import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/**
 * Debian's Chromium, driven by playwright-core: its headless shell where that is installed, which needs a third of the
 * processor time for a page, else the whole browser.
 */
const PROGRAMS: readonly string[] = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
/** A name for this machine that a browser does not take for it: no secure context without https. */
export const INSECURE_HOST = 'qrn.example';
const FLAGS = [
  '--headless',
  '--no-sandbox', // in a container there is no user namespace to make one of
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-features=LocalNetworkAccessChecks', // pages that are made up may ask services on this machine
  `--host-resolver-rules=MAP ${INSECURE_HOST} 127.0.0.1`,
];

/** Why the tests of the page cannot run here; false when they can. In CI they must: there it throws. */
export function noBrowser(): string | false {
  if (installed() !== undefined) return false;
  const why = `${PROGRAMS.join(' and ')} are missing: apt-get install -y chromium-headless-shell`;
  if (process.env['CI']) throw new Error(why);
  return why;
}

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: installed()!, args: FLAGS });
}

function installed(): string | undefined {
  return PROGRAMS.find((each) => existsSync(each));
}

/** A page of an empty profile, which writes down what the test wants to know. */
export interface WatchedPage {
  readonly page: Page;
  /** Requests that the page made, as method and URL with the body. */
  readonly requests: readonly string[];
  /** Script errors, policy violations and failed loads. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/** The page that visits without options take turns in. A process for each of them would cost most of what they take. */
const reused = new WeakMap<Browser, Page>();

export async function openPage(browser: Browser, options?: BrowserContextOptions): Promise<WatchedPage> {
  const free = options === undefined ? reused.get(browser) : undefined;
  reused.delete(browser);
  const page = free ?? (await (await browser.newContext(options)).newPage());
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) =>
    requests.push(`${request.method()} ${request.url()} ${request.postData() ?? ''}`),
  );
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('requestfailed', (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
  const close = async () => {
    page.removeAllListeners();
    if (options !== undefined) return page.context().close();
    await page.evaluate('localStorage.clear(); sessionStorage.clear()');
    await page.context().clearCookies();
    await (await page.context().newCDPSession(page)).send('Network.clearBrowserCache');
    await page.goto('about:blank');
    reused.set(browser, page);
  };
  return { page, requests, complaints, close };
}

interface Visit extends BrowserContextOptions {
  /** Complaints of the browser that the visit is about. */
  readonly expected?: RegExp;
}

/** Opens the address, does something there, and wants no complaint of the browser but those that are `expected`. */
export async function visit<T>(
  browser: Browser,
  address: string,
  act: (watched: WatchedPage) => Promise<T>,
  { expected = /^$/, ...options }: Visit = {},
): Promise<T> {
  const watched = await openPage(browser, Object.keys(options).length === 0 ? undefined : options);
  try {
    await watched.page.goto(address);
    const done = await act(watched);
    assert.deepEqual(
      watched.complaints.filter((each) => !expected.test(each)),
      [],
    );
    return done;
  } finally {
    await watched.close();
  }
}
