import { ERRORS } from '../../src/core/errors.ts';

/** Returns docs/errors.md, made from the error table. */
export function errorDocs(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, message }]) => `| <a id="${code}"></a>\`${code}\` | ${status} | ${message} |`,
  );
  return `# Errors

Every failure that a client can see. The body is
\`{"error":{"code","message","status","request_id","details"?}}\`, or with \`Accept: application/problem+json\` the same
facts as RFC 9457. \`message\` may be more exact than here; \`code\` is what programs should look at. A request that is
refused has drawn no entropy and spent no credit. 429 and 503 carry \`Retry-After\` in seconds, 405 carries \`Allow\`.

| Code | Status | What to do |
|---|---|---|
${rows.join('\n')}
`;
}
