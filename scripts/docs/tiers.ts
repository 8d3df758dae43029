import { grouped } from '../../src/core/figures.ts';
import { TIER_LIST } from '../../src/http/endpoints/tiers.ts';

const { tiers, prices, limits } = TIER_LIST;
type TierRow = (typeof tiers)[number];

function tierTable(): string {
  const rows = tiers.map(
    (row) =>
      `| ${titleOf(row.tier)} | ${figure(row.requests_per_minute)} | ${figure(row.burst)} | ${figure(row.requests_per_month)} | ${figure(row.credits_per_month)} | ${modesOf(row)} | ${interval(row.seed_interval_s)} |`,
  );
  return `| Tier | Requests per minute | Burst | Requests per month | Credits per month | Modes, the default first | New seed every |
|---|---|---|---|---|---|---|
${rows.join('\n')}
`;
}

/** Returns docs/tiers.md, made from the tables of the service. */
export function tierDocs(): string {
  const priceRows = prices.map(
    ({ kind, bits, example, credits }) =>
      `| ${kind} | ${bits.replaceAll('|', '\\|')} | \`${example}\` | ${grouped(credits)} |`,
  );
  const limitRows = Object.entries(limits).map(
    ([name, most]) => `| ${name.replace('_', ' ')} | ${grouped(most)} |`,
  );
  return `# Tiers, prices and limits

\`GET /v1/tiers\` answers these figures as JSON and needs no key. \`GET /v1/usage\` tells what your account has used.

## Tiers
${tierTable()}
*Custom* figures are agreed for each account; without them nothing is limited. The burst is how many requests may come at once. It fills up again
at the rate per minute, and no 60 seconds hold more requests than the burst. Months are calendar months in UTC, and only answered requests for
values count. Every tier may use every scope: ${tiers[0].scopes.map((scope) => `\`${scope}\``).join(', ')}.

Each reply tells where you stand: \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`, and the fields of the IETF draft,
\`RateLimit-Policy: "burst";q=750;w=90, "sustained";q=500;w=60\` and \`RateLimit: "burst";r=749;t=60\`: at most \`q\` requests in any \`w\` seconds are never refused, \`r\` of the burst are left now, and
all of them are there again in \`t\` seconds. An account without a limit gets no draft fields.

## Prices
Only \`pure\` mode costs credits. A credit is a byte of entropy. A request costs the information that its answer holds, in bits as below, divided by
eight and rounded up once. \`dry_run=true\` tells the price of any request.

| Values | Bits | Example | Credits |
|---|---|---|---|
${priceRows.join('\n')}

A batch costs what its values cost. Each block of a stream counts as one request and costs what its values cost.

## Limits of one request
| Parameter | At most |
|---|---|
${limitRows.join('\n')}

A reply takes at most 64 MiB and a request body at most 64 KiB.

## How to test the service under load
1. Use an Enterprise account. Any other tier answers 429 as soon as its burst is used, and you would measure the refusals:
   \`\`\`sh
   KEY=$(npm run -s qrn -- accounts create --name load --tier enterprise --json | node -p 'JSON.parse(fs.readFileSync(0)).key')
   \`\`\`
2. Start with 64 connections without pipelining, which the service does not support. Let the load generator run on another machine: on
   the same one it takes a core from the service.
   \`\`\`sh
   npx autocannon -c 64 -d 10 -H "Authorization: Bearer $KEY" 'http://127.0.0.1:3000/v1/integers?count=10&min=1&max=6'
   npx autocannon -c 8 -d 10 -m POST -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
     -b '{"type":"integers","count":100000,"params":{"min":1,"max":6}}' http://127.0.0.1:3000/v1/batch
   \`\`\`
3. Expect 200 for every small request. Each reply waits until its certificate is on disk, so a slow disk shows in the latency, and more
   connections share each write. A service whose large batches take more than it can make answers some of them 503 \`overloaded\` with
   \`Retry-After\`, and still serves small requests.
4. \`pure\` mode is limited by the source of entropy and by the credits, not by the processor. Test it with \`dry_run=true\`, or with a few requests.
5. \`npm run bench -- small batch\` measures the service on your machine; bench/README.md says how to read the figures.
`;
}

const titleOf = (tier: string) => tier[0].toUpperCase() + tier.slice(1);

function figure(value: number | null): string {
  return value === null ? 'custom' : grouped(value);
}

function modesOf({ entropy_modes, default_entropy_mode }: TierRow): string {
  return [default_entropy_mode, ...entropy_modes.filter((mode) => mode !== default_entropy_mode)].join(', ');
}

function interval(seconds: number | null): string {
  if (seconds === null) return '–';
  return seconds % 3600 === 0 ? `${seconds / 3600} h` : `${seconds / 60} min`;
}
