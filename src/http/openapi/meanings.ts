import type { Schema } from '../../core/schema.ts';

/** What a member is, by its name, wherever its schema does not say it itself: the document and the reference explain every member. */
const MEANINGS: Readonly<Record<string, string>> = {
  algorithm: 'The signature algorithm.',
  apt_failures: 'Alarms of the adaptive proportion test.',
  beacon: 'A round of a public beacon that enters the values.',
  bits: 'How many bits.',
  block_bytes: 'Bytes of one block.',
  by_endpoint: 'The same by endpoint.',
  by_mode: 'The same by entropy mode.',
  bytes: 'Bytes, encoded or counted.',
  certificate: 'The certificate: where the entropy came from, how it was tested, and what was delivered.',
  certificate_id: 'The id of the certificate.',
  chain: 'What the beacon’s chain says of itself; its hash names it.',
  checkpoint: 'The last known checkpoint, a signed note.',
  committed_at: 'When the draw was fixed.',
  count: 'How many.',
  credits: 'Bytes of pure mode.',
  current_key_id: 'The key in use.',
  data: 'What was asked for.',
  date: 'The day, in UTC.',
  days: 'One entry for each day of the month so far.',
  digest: 'SHA-256 of what it names.',
  draws: 'The answers, by serial.',
  error: 'What was wrong.',
  hashes: 'SHA-256 digests.',
  id: 'Names it.',
  index: 'The place, from 0.',
  instance: 'Names the request, as a URI.',
  issued_at: 'When the answer was made.',
  item: 'One of the items.',
  items: 'The items.',
  key_id: 'Names the key.',
  keys: 'Every key that ever signed.',
  kind: 'The kind of values.',
  lang_circuit: 'Name of the circuit; none where nothing was drawn.',
  lang_version: 'Version of the circuit compiler; none where nothing was drawn.',
  leaf: 'The leaf of the log: canonical JSON, or its hash.',
  leaves: 'The leaves with their indexes.',
  limit: 'The most.',
  limits: 'The most that one request may ask for.',
  lot: 'The place of the lot in the list of lots.',
  lot_id: 'The id of the lot.',
  meta: 'The request, as the entropy-mode variant of the specification names it.',
  metadata: 'Where the values came from, and the request.',
  nist_verified: 'SP 800-22 passed on the bits that were drawn from; false where nothing was drawn.',
  not_reached: 'The stronger claims, and why they are not made.',
  offset: 'The first byte.',
  origin: 'The name of the log.',
  params: 'The parameters of the type.',
  passed: 'How many p-values passed.',
  path: 'Hashes from the leaf to the root.',
  percent: 'The chance in one pick.',
  period: 'The calendar month, in UTC.',
  piece_bytes: 'Bytes of one piece.',
  powered_by: 'A constant label.',
  prices: 'What pure mode costs.',
  processing_time_ms: 'Milliseconds from the request to the answer.',
  proof: 'c2sp.org/tlog-proof: the place in the log and the signed checkpoint.',
  provenance: 'Where the entropy came from.',
  public: 'Whether the certificate shows purpose and user_data.',
  public_key: 'The key itself.',
  purpose: 'What the values are for.',
  quantum_backend: 'The processor; none where nothing was drawn.',
  quantum_credits: 'The credits of pure mode.',
  rate: 'Where the account stands with its rate.',
  rct_failures: 'Alarms of the repetition count test.',
  reason: 'Why.',
  remaining: 'What is left.',
  requests: 'Requests for values that were answered.',
  revocation: 'The withdrawal of a lot that the answer drew on.',
  revoked_at: 'When it was withdrawn.',
  root: 'The root of the tree over them.',
  salts: 'The salts of the pieces.',
  samples: 'Raw bits that were tested.',
  series: 'The answers of one account under a purpose.',
  smallest_p: 'The smallest p-value.',
  statement_sha256: 'SHA-256 of the statement as canonical JSON.',
  status: 'The state.',
  tier: 'The tier of the account.',
  tiers: 'The tiers.',
  timestamp: 'When the request came in.',
  total: 'All of them.',
  type: 'The kind.',
  used: 'What was used.',
  user_data: 'What the answer was bound to.',
  user_data_sha256: 'SHA-256 of what the answer was bound to.',
  uuids: 'The UUIDs.',
  values: 'The values, in the order in which they were drawn.',
  verification: 'How the bits were tested.',
  verified: 'Whether the tests passed.',
  verifier_key: 'The key as signed notes name it.',
  version: 'The version of the form.',
  why: 'Why not.',
  winners: 'How many winners are drawn of a list.',
};

/** The same schema, document or part of one, in which every member of an object says what it is. */
export function explained<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(explained) as T;
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => {
      if (name !== 'properties') return [name, explained(value)];
      const members = Object.entries(value as Record<string, Schema>).map(([member, each]) => [
        member,
        explained(meant(member, each)),
      ]);
      return [name, Object.fromEntries(members)];
    }),
  ) as T;
}

function meant(name: string, schema: Schema): Schema {
  const isTold = 'description' in schema;
  return isTold || MEANINGS[name] === undefined ? schema : { ...schema, description: MEANINGS[name] };
}
