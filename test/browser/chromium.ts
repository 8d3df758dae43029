import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Debian's Chromium, driven by playwright-core. */
const CHROMIUM = '/usr/bin/chromium';
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
  `--host-resolver-rules=MAP ${INSECURE_HOST} 127.0.0.1`,
];

/** Why the tests of the page cannot run here; false when they can. In CI they must: there it throws. */
export function noBrowser(): string | false {
  if (existsSync(CHROMIUM)) return false;
  const why = `${CHROMIUM} is missing: apt-get install -y chromium`;
  if (process.env['CI']) throw new Error(why);
  return why;
}

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

/** A page of its own that fails the test for whatever the browser complains of. */
export interface WatchedPage {
  readonly page: Page;
  /** Requests that the page made, as method and URL with the body. */
  readonly requests: readonly string[];
  /** What went wrong: script errors, policy violations, failed loads. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
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
  return { page, requests, complaints, close: () => context.close() };
}
