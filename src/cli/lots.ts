import { isoTime } from '../core/clock.ts';
import type { LotRecord, LotRevocation } from '../ledger/records.ts';
import { wholeNumber } from './arguments.ts';
import { action, CommandError, group, type Reader } from './command.ts';
import { changeLedger, withLedger } from './ledger-access.ts';
import { columns } from './text.ts';

const LOT_ID = { name: 'LOT_ID', meaning: 'identifier of the lot: lot_ and 26 characters; see lots list' };
const LISTED = 50;
/** Room for a few sentences. Public pages show the reason. */
const REASON_LENGTH_MAX = 1_000;
/** Reads text for the public log. Refuses control characters, and lone surrogates, which canonical JSON cannot hold. */
const reason: Reader<string> = {
  what: `one line of 1 to ${REASON_LENGTH_MAX} characters`,
  read: (text) => {
    const why = text.trim();
    const isLine =
      why !== '' && why.length <= REASON_LENGTH_MAX && why.isWellFormed() && !/\p{Cc}/u.test(why);
    return isLine ? why : undefined;
  },
};

const list = action({
  path: 'lots list',
  summary: 'Lists the lots of entropy with their test results, the newest first.',
  options: {
    limit: {
      value: 'N',
      meaning: `maximum number of lots to list; default: ${LISTED}`,
      read: wholeNumber(1),
    },
    json: { meaning: 'print an array of JSON objects' },
  },
  run: async ({ limit = LISTED }, context) => {
    const data = await withLedger(context, async (ledger) => {
      const withdrawn = revocationsByLot(await ledger.revocations());
      return (await ledger.lots(limit)).map((lot) => describeLot(lot, withdrawn.get(lot.id)));
    });
    return { data, shown: [columns(data, ...LIST_COLUMNS)] };
  },
});

const LIST_COLUMNS = [
  'lot_id',
  'status',
  'origin',
  'quantum_backend',
  'raw_bits',
  'min_entropy_per_bit',
  'finished_at',
] as const;

const show = action({
  path: 'lots show',
  summary: 'Shows everything that is recorded about a lot: provenance, hashes, health tests, assessment.',
  operands: [LOT_ID],
  options: { json: { meaning: 'print one JSON object' } },
  run: async ({ operands: [lotId] }, context) => {
    const { lot, revocation } = await withLedger(context, async (ledger) => ({
      lot: await ledger.lot(lotId),
      revocation: revocationsByLot(await ledger.revocations()).get(lotId),
    }));
    if (lot === undefined) throw new CommandError(`there is no lot ${lotId}`);
    return { data: { ...describeLot(lot, revocation), ...detailsOf(lot) } };
  },
});

const revoke = action({
  path: 'lots revoke',
  summary:
    'Withdraws a lot permanently. Its unused bytes are erased, also in a running service, before the command returns. The status of\n' +
    'every certificate that names the lot becomes revoked, with the time and the reason. Certificates are not rewritten; the\n' +
    'withdrawal becomes an entry of the public log.',
  operands: [LOT_ID],
  options: {
    why: {
      value: 'TEXT',
      required: true,
      meaning: 'reason for the withdrawal, which is public',
      read: reason,
    },
    json: { meaning: 'print one JSON object: lot_id, revoked_at, reason' },
  },
  irreversible: async ({ operands: [lotId] }, context) => {
    const lot = await withLedger(context, (ledger) => ledger.lot(lotId));
    if (lot === undefined) throw new CommandError(`there is no lot ${lotId}`);
    return `This withdraws the lot ${lotId}. Its unused bytes are erased, and the status of every certificate that names it becomes revoked.`;
  },
  run: async ({ why, operands: [lotId] }, context) => {
    const { result, isConfirmed } = await changeLedger(context, async (ledger) => {
      if ((await ledger.lot(lotId)) === undefined) throw new CommandError(`there is no lot ${lotId}`);
      const wish = { lotId, why, atMs: context.clock.wallMs() };
      const before = revocationsByLot(await ledger.revocations()).get(lotId);
      if (before !== undefined) return { ...before, isNew: false };
      await ledger.revokeLot(wish);
      return { ...wish, isNew: true };
    });
    const { atMs, isNew } = result;
    if (!isNew) throw new CommandError(`${lotId} was already revoked at ${isoTime(atMs)}`);
    const data = { lot_id: lotId, revoked_at: isoTime(atMs), reason: why };
    return { data, status: isConfirmed ? 0 : 1 };
  },
});

export const lots = group(
  'qrn lots',
  'Lists, shows and withdraws lots. A lot is one read of an entropy source.',
  [list, show, revoke],
);

function revocationsByLot(revocations: readonly LotRevocation[]): Map<string, LotRevocation> {
  return new Map(revocations.map((revocation) => [revocation.lotId, revocation]));
}

function describeLot(lot: LotRecord, revocation: LotRevocation | undefined) {
  return {
    lot_id: lot.id,
    status: revocation !== undefined ? 'revoked' : lot.accepted ? 'accepted' : 'refused',
    origin: lot.origin,
    deterministic: lot.deterministic,
    quantum_backend: lot.quantumBackend,
    raw_bits: lot.rawBits,
    min_entropy_per_bit: lot.minEntropyPerBit,
    finished_at: isoTime(lot.finishedAtMs),
    ...(revocation === undefined ? {} : { revoked_at: isoTime(revocation.atMs), reason: revocation.why }),
    ...(lot.accepted ? {} : { refused_for: lot.rejection }),
  };
}

function detailsOf(lot: LotRecord) {
  return {
    source: lot.source,
    provider: lot.provider,
    device: lot.device,
    job_id: lot.jobId,
    lang_circuit: lot.circuit,
    lang_version: lot.circuitVersion,
    circuit_sha256: lot.circuitSha256,
    qubits_used: lot.qubitsUsed,
    circuit_depth: lot.circuitDepth,
    shots: lot.shots,
    started_at: isoTime(lot.startedAtMs),
    raw_output: `sha256:${lot.rawSha256}`,
    conditioned_bytes: lot.conditionedBytes,
    processed: `sha256:${lot.processedSha256}`,
    health: {
      grade: lot.health.grade,
      samples: lot.health.samples,
      rct_failures: lot.health.rctFailures,
      apt_failures: lot.health.aptFailures,
    },
    min_entropy_method: lot.minEntropyMethod,
    calibration: lot.calibration,
    upstream: lot.upstream ?? null,
    evidence: lot.evidence ?? null,
    tested: lot.assessments.map(({ of, bits, sha256, sp80022 }) => ({
      of,
      bits,
      sha256,
      passed: sp80022.passed,
      total: sp80022.total,
      smallest_p: sp80022.smallestP,
      verified: sp80022.verified,
      reason: sp80022.reason,
    })),
  };
}
