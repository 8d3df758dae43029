import assert from 'node:assert/strict';
import type { Usage } from '../../clients/typescript/src/answers.ts';
import type { CertificateDocument } from '../../src/certificate/document.ts';
import type { CheckName, Verification } from '../../src/certificate/verify.ts';
import { fetchWhole } from './http.ts';
import { type TestServer, until } from './server.ts';

/** Reads of the replies of a running service. */

export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

/** Status and error code of a refusal, such as `400 invalid_count`. */
export async function refusalOf(response: Response | Promise<Response>): Promise<string> {
  const { status, ...reply } = await bodyOf<{ error?: { code: string } }>(response);
  return `${status} ${reply.body.error?.code}`;
}

/** The status; the body is read too, so that the connection is free again. */
export async function statusOf(response: Response | Promise<Response>): Promise<number> {
  const reply = await response;
  await reply.arrayBuffer();
  return reply.status;
}

export async function bodyOf<T>(
  response: Response | Promise<Response>,
): Promise<{ status: number; body: T }> {
  const reply = await response;
  return { status: reply.status, body: (await reply.json()) as T };
}

/** Returns the usage of the key's account, by default the demo account's. */
export async function usageOf(server: TestServer, key = server.key): Promise<Usage> {
  const { status, body } = await bodyOf<{ data: Usage }>(server.get('/usage', bearer(key)));
  assert.equal(status, 200);
  return body.data;
}

/** The public document of a certificate, once it stands in the log. */
export async function loggedCertificate(server: TestServer, id: string): Promise<CertificateDocument> {
  let document: CertificateDocument | undefined;
  await until(`${id} is logged`, async () => {
    const page = fetchWhole(`${server.origin}/verify/${id}`, { headers: { accept: 'application/json' } });
    ({ body: document } = await bodyOf<CertificateDocument>(page));
    return document.certificate.proof !== null;
  });
  return document!;
}

/** Names of the checks that a verification failed. */
export function failedChecks({ checks }: Verification): CheckName[] {
  return checks.filter(({ ok }) => !ok).map(({ name }) => name);
}
