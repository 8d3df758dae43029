/** Hashes of a log and of its entries; src/crypto/hash-kernel.ts says how they are called. */
export { digestsAt, messages, messagesAt, roomBytes } from './messages';
export { hashesAt, nodes, nodesAt, pairsMax } from './nodes';
