/** The hashes of a log's nodes and of short messages; src/crypto/hash-kernel.ts calls them. */
export { digestsAt, messages, messagesAt, roomBytes } from './messages';
export { hashesAt, nodes, nodesAt, pairsMax } from './nodes';
