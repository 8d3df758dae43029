/** A page of the documentation. Its text is docs/<slug>.md, which scripts/build-docs.ts converts into HTML. */
export interface Guide {
  readonly slug: string;
  readonly title: string;
}

export const GUIDES: readonly Guide[] = [
  { slug: 'quick-start', title: 'Quick start' },
  { slug: 'idempotency', title: 'Idempotency' },
  { slug: 'retries', title: 'Rate limits and retries' },
  { slug: 'bulk', title: 'Bulk in numpy and Node' },
  { slug: 'raffle', title: 'Hold a raffle' },
  { slug: 'verify', title: 'Verify by hand' },
  { slug: 'production', title: 'Run in production' },
];

export const BACKGROUND: readonly Guide[] = [
  { slug: 'draws', title: 'How a draw is fair' },
  { slug: 'formats', title: 'Modes and forms of answers' },
  { slug: 'tiers', title: 'Tiers and prices' },
  { slug: 'errors', title: 'Errors' },
  { slug: 'certificates', title: 'Certificates' },
  { slug: 'evidence', title: 'Tests and evidence' },
  { slug: 'sources', title: 'Entropy sources' },
  { slug: 'settings', title: 'Settings' },
  { slug: 'operations', title: 'Operation' },
  { slug: 'cluster', title: 'Several nodes' },
  { slug: 'random-org', title: 'Clients of random.org' },
  { slug: 'compare', title: 'Other services' },
];
