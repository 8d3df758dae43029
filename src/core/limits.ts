import { assert } from './assert.ts';

/** Every bound of the service. The relations between them are asserted when this file is loaded. */
export const LIMITS = Object.freeze({
  integersCountMax: 10_000,
  bytesCountMax: 1_024,
  floatsCountMax: 10_000,
  floatPrecisionMax: 15,
  uuidCountMax: 10_000,
  bitstringLengthMax: 100_000,
  shuffleItemsMin: 2,
  shuffleItemsMax: 10_000,
  /** Characters in a random string. */
  stringLengthMax: 128,
  /** Sequences in one request. */
  sequencesMax: 64,
  /** The largest mean, positive or negative, and the largest standard deviation of a normal distribution. */
  gaussianMagnitudeMax: 1_000_000,
  gaussianStddevMin: 1e-9,
  /** Significant digits of a normally distributed value. */
  gaussianDigitsMin: 2,
  gaussianDigitsMax: 14,
  batchCountMax: 100_000,
  batchBytesLengthMax: 1_024,
  /** Values in one stream. */
  streamTotalMax: 1_000_000_000_000,
  /** Bounds of `min` and `max`: ±(2^53 - 1). */
  integerMagnitudeMax: Number.MAX_SAFE_INTEGER,
  /** max - min + 1 may be at most this. */
  integerSpanMax: 2 ** 53,
  /** The body of a reply. */
  replyBytesMax: 64 * 1024 * 1024,
  /** A request body. */
  requestBodyBytesMax: 64 * 1024,
  /** The head of a request (request line and headers); a larger one gets 431. */
  requestHeadBytesMax: 64 * 1024,
  /** How much more of a head is read, so that one that is slightly too large gets a 431 with a body. */
  requestHeadSpareBytes: 2 * 1024,
  /**
   * A header field that the service reads, with its repetitions; a larger one gets 431. Other fields count only towards
   * the size of the head.
   */
  requestFieldBytesMax: 1024,
  /**
   * Open connections of one front; any further one is closed at once. The bound is lower where file descriptors are
   * few.
   */
  connectionsMax: 65_536,
  idempotencyKeyLengthMax: 255,
  /** All answers that are kept for the Idempotency-Keys of one account, those of the last 24 hours. */
  keptAnswerBytesMax: 64 * 1024 * 1024,
  /** Answers that wait for their certificate to be durable, per front; a further request gets 503 `overloaded`. */
  pendingRepliesMax: 16_384,
  /** Memory of the waiting answers that the front made itself. It is some megabytes, and more only with a slow disk. */
  pendingReplyBytesMax: 64 * 1024 * 1024,
  /**
   * The work of large answers that may wait, per worker thread, and how long an expensive answer may wait for its
   * account's turn in the event loop. A request beyond either gets 503 `overloaded`.
   */
  largeQueueMs: 500,
  /** Large answers that are being made or waiting to be made, per front. */
  largeAnswersMax: 256,
  /** Memory of large replies, from admission until the reader has received them, per front. */
  largeReplyBytesMax: 256 * 1024 * 1024,
  /** How long the work of one owner may occupy the event loop of a front, and so how long others wait for it. */
  frontTurnMs: 50,
  /** Answers that wait for a seed or pure bytes, per front. */
  waitingDrawsMax: 4_096,
  /** Committed draws of one account that have not ended. */
  openDrawsMax: 100,
  /** The largest statement of a draw, as canonical JSON, and the largest values of a draw. */
  drawStatementBytesMax: 32 * 1024,
  drawValuesBytesMax: 64 * 1024,
  /** The nonce that a caller adds to a draw. */
  drawNonceBytesMax: 64,
  /** How far ahead a draw's time may lie. */
  drawAheadMaxMs: 366 * 24 * 60 * 60 * 1_000,
  /**
   * How far ahead the round of a draw's beacon must lie when the draw is committed to or cancelled. Within this time
   * the leaf that states it is in a signed checkpoint, as verifiers require.
   */
  drawRoundAheadMinMs: 10_000,
  /** How long a draw that is due waits for its beacon's round or its caller's nonce before it fails. */
  drawPatienceMs: 24 * 60 * 60 * 1_000,
  /** The connection of a reader that takes longer than this for one reply is closed. */
  replyDeadlineMs: 30_000,
  /** A request without an answer after this time is logged, and gets 503, or is cut off if its answer was drawn. */
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
