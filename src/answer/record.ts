/**
 * How the memory of an answer begins: what its reply says of it in bytes, and behind that the octets, or the text of its `data`
 * member. The salt stands right before what it is hashed with.
 */
export const AT_REQUEST_ID = 0;
export const AT_CERTIFICATE_ID = 16;
export const AT_SALT = 32;
export const SALT_BYTES = 32;
export const DATA_START = AT_SALT + SALT_BYTES;

/** A record up to here is copied into the reply when that is sent (template.ts). A longer one is its reply's body itself. */
export const RECORD_BYTES_MAX = 4_096;
/** Bytes of the text behind the data, at most. */
export const TAIL_BYTES_MAX = 2_048;
