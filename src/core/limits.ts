import { assert } from './assert.ts';

/**
 * Every bound of the service, in one place; the relations between them are asserted when this file is loaded.
 */
export const LIMITS = Object.freeze({
  integersCountMax: 10_000,
  bytesCountMax: 1_024,
  floatsCountMax: 10_000,
  floatPrecisionMax: 15,
  uuidCountMax: 10_000,
  bitstringLengthMax: 100_000,
  shuffleItemsMin: 2,
  shuffleItemsMax: 10_000,
  /** Characters of a random string. */
  stringLengthMax: 128,
  /** Sequences that one request draws together. */
  sequencesMax: 64,
  /** Bounds of a normal distribution: ± this for its mean, this for its standard deviation. */
  gaussianMagnitudeMax: 1_000_000,
  gaussianStddevMin: 1e-9,
  /** Significant digits of a normally distributed value. */
  gaussianDigitsMin: 2,
  gaussianDigitsMax: 14,
  batchCountMax: 100_000,
  batchBytesLengthMax: 1_024,
  /** Values of one stream. */
  streamTotalMax: 1_000_000_000_000,
  /** Bounds of `min` and `max`: ±(2^53 - 1). */
  integerMagnitudeMax: Number.MAX_SAFE_INTEGER,
  /** max - min + 1 may be at most this. */
  integerSpanMax: 2 ** 53,
  /** A whole reply, head not counted. */
  replyBytesMax: 64 * 1024 * 1024,
  /** A request body. */
  requestBodyBytesMax: 64 * 1024,
  /** A request head (line and headers); beyond it 431. */
  requestHeadBytesMax: 64 * 1024,
  /** Read beyond that, so that a head that is a little too large gets a reply that programs can read. */
  requestHeadSpareBytes: 2 * 1024,
  /** A header field that the service reads, its repetitions included; beyond it 431. Fields that it does not read count in the head alone. */
  requestFieldBytesMax: 1024,
  /**
   * Open connections of one front; what comes beyond is closed at once. Fewer where file descriptors are few.
   */
  connectionsMax: 65_536,
  idempotencyKeyLengthMax: 255,
  /** Answers that are kept for an account's Idempotency-Keys, together: those of the last 24 hours. */
  keptAnswerBytesMax: 64 * 1024 * 1024,
  /** Answers that wait for their certificate to be durable, per front; beyond it 503 `overloaded`. */
  pendingRepliesMax: 16_384,
  /** Memory of those that were made in the front itself: some megabytes, more only before a slow disk. */
  pendingReplyBytesMax: 64 * 1024 * 1024,
  /**
   * Work of large answers that may wait, per worker thread, and how long an expensive one may wait until its account has time of
   * the loop; beyond it 503 `overloaded`.
   */
  largeQueueMs: 500,
  /** Large answers that are made or wait for it, per front. */
  largeAnswersMax: 256,
  /** Memory of large replies from their admission until their readers have taken them, per front. */
  largeReplyBytesMax: 256 * 1024 * 1024,
  /** How long the work of one owner has the loop of a front: the longest that the others wait for it. */
  frontTurnMs: 50,
  /** Answers that wait for a seed or for pure bytes, per front. */
  waitingDrawsMax: 4_096,
  /** Committed draws of one account that have not ended. */
  openDrawsMax: 100,
  /** Bytes of what a draw commits to, as canonical JSON, and of the values that it may have. */
  drawStatementBytesMax: 32 * 1024,
  drawValuesBytesMax: 64 * 1024,
  /** Bytes of a nonce that a caller adds to a draw. */
  drawNonceBytesMax: 64,
  /** How far ahead a draw may be due. */
  drawAheadMaxMs: 366 * 24 * 60 * 60 * 1_000,
  /**
   * How far ahead the round of its beacon must be for a draw to be committed to or cancelled: until then the leaf that says so
   * is in a signed checkpoint, as a verifier asks.
   */
  drawRoundAheadMinMs: 10_000,
  /** How long after it is due a draw waits for a beacon's round or for its caller's nonce before it has failed. */
  drawPatienceMs: 24 * 60 * 60 * 1_000,
  /** A reader that takes longer than this for one reply is cut off. */
  replyDeadlineMs: 30_000,
  /** A request that the service has not answered after this is answered 503 and logged. */
  answerDeadlineMs: 20_000,
});

assert(LIMITS.batchCountMax >= LIMITS.integersCountMax, 'a batch holds at least what integers does');
assert(LIMITS.integerSpanMax - 1 <= Number.MAX_SAFE_INTEGER, 'an offset within a span is an exact double');
assert(LIMITS.batchCountMax * 37 < LIMITS.replyBytesMax, 'a full batch of UUIDs fits into one reply');
assert(LIMITS.answerDeadlineMs < LIMITS.replyDeadlineMs, 'an answer is made before its reader is cut off');
assert(
  LIMITS.pendingReplyBytesMax < LIMITS.largeReplyBytesMax,
  'large replies find room beside those that wait',
);
assert(
  4 * LIMITS.replyBytesMax <= LIMITS.largeReplyBytesMax,
  'a whole reply and its second form take half of the room',
);
assert(LIMITS.largeQueueMs < 1_000, 'what was let in is done within a second after an overload');
