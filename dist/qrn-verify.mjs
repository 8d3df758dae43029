// The verifier of the Quantum Random Number Service: checks an answer, its certificate and the signed log it stands in.
// Runs in browsers, Node and Deno, and asks nobody. As a module: import { verifyAnswer } from './qrn-verify.mjs';
// as a program: node qrn-verify.mjs --help. Made from src/certificate/verify.ts by scripts/build-verifier.ts.

// node_modules/@noble/hashes/utils.js
function isBytes(a) {
  return a instanceof Uint8Array || ArrayBuffer.isView(a) && a.constructor.name === "Uint8Array" && "BYTES_PER_ELEMENT" in a && a.BYTES_PER_ELEMENT === 1;
}
var atitle = (title) => title ? `"${title}" ` : "";
function anumber(n, title = "") {
  if (typeof n !== "number")
    throw new TypeError(atitle(title) + "expected number, got " + typeof n);
  if (!Number.isSafeInteger(n) || n < 0)
    throw new RangeError(atitle(title) + "expected integer >= 0, got " + n);
  return n;
}
function abytes(value, length, title = "") {
  if (isBytes(value) && (length === void 0 || value.length === length))
    return value;
  if (length !== void 0)
    anumber(length, "length");
  const bytes = isBytes(value);
  const ofLen = length !== void 0 ? ` of length ${length}` : "";
  const got = bytes ? `length=${value.length}` : `type=${typeof value}`;
  const message = atitle(title) + "expected Uint8Array" + ofLen + ", got " + got;
  if (!bytes)
    throw new TypeError(message);
  throw new RangeError(message);
}
var aobject = (value, label) => {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new TypeError((label === "object" ? "" : `"${label}" `) + "expected object, got type=" + typeof value);
};
var aopts = (value, label) => {
  aobject(value, label);
  const proto = Object.getPrototypeOf(value);
  if (proto !== Object.prototype && proto !== null)
    throw new TypeError(`"${label}" expected plain object`);
  if (Object.hasOwn(value, "__proto__"))
    throw new TypeError(`"${label}.__proto__" is not allowed`);
};
function aexists(instance, checkFinished = true) {
  if (instance.destroyed)
    throw new Error("hash was destroyed");
  if (checkFinished && instance.finished)
    throw new Error("digest() was already called");
}
function aoutput(out, instance) {
  abytes(out, void 0, "output");
  const min = instance.outputLen;
  if (!(out.length >= min)) {
    throw new RangeError('"output" expected length >= ' + min);
  }
}
function clean(...arrays) {
  for (let i = 0; i < arrays.length; i++) {
    arrays[i].fill(0);
  }
}
function createView(arr) {
  return new DataView(arr.buffer, arr.byteOffset, arr.byteLength);
}
function rotr(word, shift) {
  return word << 32 - shift | word >>> shift;
}
var hasHexBuiltin = /* @__PURE__ */ (() => (
  // @ts-ignore
  typeof Uint8Array.from([]).toHex === "function" && typeof Uint8Array.fromHex === "function"
))();
var hexes = /* @__PURE__ */ Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, "0"));
function bytesToHex(bytes) {
  abytes(bytes);
  if (hasHexBuiltin)
    return bytes.toHex();
  let hex = "";
  for (let i = 0; i < bytes.length; i++) {
    hex += hexes[bytes[i]];
  }
  return hex;
}
function asciiToBase16(ch) {
  return ch >= 48 && ch <= 57 ? ch - 48 : ch >= 65 && ch <= 70 ? ch - (65 - 10) : ch >= 97 && ch <= 102 ? ch - (97 - 10) : void 0;
}
function hexToBytes(hex) {
  if (typeof hex !== "string")
    throw new TypeError("hex string expected, got " + typeof hex);
  if (hasHexBuiltin) {
    try {
      return Uint8Array.fromHex(hex);
    } catch (error) {
      if (error instanceof SyntaxError)
        throw new RangeError(error.message);
      throw error;
    }
  }
  const hl = hex.length;
  const al = hl / 2;
  if (hl % 2)
    throw new RangeError("hex string expected, got unpadded hex of length " + hl);
  const array = new Uint8Array(al);
  for (let ai = 0, hi = 0; ai < al; ai++, hi += 2) {
    const n1 = asciiToBase16(hex.charCodeAt(hi));
    const n2 = asciiToBase16(hex.charCodeAt(hi + 1));
    if (n1 === void 0 || n2 === void 0) {
      const char = hex[hi] + hex[hi + 1];
      throw new RangeError('hex string expected, got non-hex character "' + char + '" at index ' + hi);
    }
    array[ai] = n1 * 16 + n2;
  }
  return array;
}
function checkOpts(defaults, opts, title = "opts") {
  aopts(defaults, "defaults");
  if (opts !== void 0)
    aopts(opts, title);
  const merged = Object.assign(/* @__PURE__ */ Object.create(null), defaults, opts);
  return merged;
}
function createHasher(hashCons, info = {}) {
  if (typeof hashCons !== "function")
    throw new TypeError('"hashCons" expected function, got type=' + typeof hashCons);
  info = checkOpts({}, info, "info");
  const hashC = (msg, opts) => hashCons(opts).update(msg).digest();
  const tmp = hashCons(void 0);
  hashC.outputLen = tmp.outputLen;
  hashC.blockLen = tmp.blockLen;
  hashC.canXOF = tmp.canXOF;
  hashC.create = (opts) => hashCons(opts);
  Object.assign(hashC, info);
  return Object.freeze(hashC);
}
var oidNist = (suffix) => ({
  // Current NIST hashAlgs suffixes used here fit in one DER subidentifier octet.
  // Larger suffix values would need base-128 OID encoding and a different length byte.
  oid: Uint8Array.from([6, 9, 96, 134, 72, 1, 101, 3, 4, 2, suffix])
});

// src/core/bytes.ts
var utf8 = new TextEncoder();
function utf8Bytes(text3) {
  return utf8.encode(text3);
}
function concatBytes(...parts) {
  let size = 0;
  for (const part of parts) size += part.length;
  const out = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
var LARGE_BYTES = 128 * 1024;

// src/core/assert.ts
var InvariantError = class extends Error {
  name = "InvariantError";
};
function assert(condition, what) {
  if (!condition) throw new InvariantError(what);
}

// src/core/ids.ts
var ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
var VALUE_OF = new Int8Array(128).fill(-1);
for (let i = 0; i < ALPHABET.length; i++) VALUE_OF[ALPHABET.charCodeAt(i)] = i;
var ID_TEXT_LENGTH = 26;
function base32Of(id) {
  assert(id.length === 16, "an id has 16 bytes");
  let text3 = "";
  let bits = 2;
  let accumulator = 0;
  for (const byte of id) {
    accumulator = accumulator << 8 | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text3 += ALPHABET[accumulator >>> bits & 31];
      accumulator &= (1 << bits) - 1;
    }
  }
  return text3;
}
function bytesOfBase32(text3) {
  if (text3.length !== ID_TEXT_LENGTH) return void 0;
  const id = new Uint8Array(16);
  let at = 0;
  let bits = -2;
  let accumulator = 0;
  for (let i = 0; i < text3.length; i++) {
    const code = text3.charCodeAt(i);
    const value = code < 128 ? VALUE_OF[code] : -1;
    if (value < 0 || i === 0 && value > 7) return void 0;
    accumulator = accumulator << 5 | value;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      id[at++] = accumulator >>> bits & 255;
      accumulator &= (1 << bits) - 1;
    }
  }
  return id;
}

// node_modules/canonicalize/lib/canonicalize.js
function serializeString(value) {
  if (!value.isWellFormed()) {
    throw new Error("Lone surrogate is not allowed");
  }
  return JSON.stringify(value);
}
function serializePrimitive(value) {
  switch (typeof value) {
    case "number":
      if (isNaN(value)) {
        throw new Error("NaN is not allowed");
      }
      if (!isFinite(value)) {
        throw new Error("Infinity is not allowed");
      }
      return JSON.stringify(value);
    case "string":
      return serializeString(value);
    case "boolean":
      return value ? "true" : "false";
    default:
      return JSON.stringify(value);
  }
}
function enterValue(value, seen) {
  let wrappers = null;
  while (value !== null && typeof value === "object" && typeof value.toJSON === "function") {
    if (seen.has(value)) {
      throw new Error("Circular reference detected");
    }
    seen.add(value);
    (wrappers ??= []).push(value);
    value = value.toJSON();
  }
  if (value instanceof Number || value instanceof String || value instanceof Boolean) {
    value = value.valueOf();
  }
  if (value === null || typeof value !== "object") {
    if (wrappers !== null) {
      for (const wrapper of wrappers) seen.delete(wrapper);
    }
    return serializePrimitive(value);
  }
  if (seen.has(value)) {
    throw new Error("Circular reference detected");
  }
  seen.add(value);
  return {
    container: value,
    // null marks an array frame; object frames carry their sorted keys.
    // `sort()`'s default comparator orders by UTF-16 code unit, which is the
    // order JCS requires.
    keys: Array.isArray(value) ? null : Object.keys(value).sort(),
    // Next child to serialize; the frame resumes here after a nested
    // container's subtree completes.
    index: 0,
    // Whether no member has been emitted yet (controls comma placement).
    first: true,
    // toJSON wrappers to release from `seen` when this frame completes.
    wrappers
  };
}
function canonicalize(object2) {
  if (object2 === null || typeof object2 !== "object") {
    return serializePrimitive(object2);
  }
  const seen = /* @__PURE__ */ new Set();
  const root = enterValue(object2, seen);
  if (typeof root !== "object") {
    return root;
  }
  let result = root.keys === null ? "[" : "{";
  const stack = [root];
  outer:
    while (stack.length > 0) {
      const frame = stack[stack.length - 1];
      const container = frame.container;
      if (frame.keys === null) {
        while (frame.index < container.length) {
          const i = frame.index++;
          if (i > 0) {
            result += ",";
          }
          const element = container[i];
          const value = element === void 0 || typeof element === "symbol" || typeof element === "function" ? null : element;
          if (value === null || typeof value !== "object") {
            result += serializePrimitive(value);
            continue;
          }
          const child = enterValue(value, seen);
          if (typeof child !== "object") {
            result += child === void 0 ? "null" : child;
            continue;
          }
          result += child.keys === null ? "[" : "{";
          stack.push(child);
          continue outer;
        }
        result += "]";
      } else {
        const keys = frame.keys;
        while (frame.index < keys.length) {
          const key = keys[frame.index++];
          const value = container[key];
          if (value === void 0 || typeof value === "symbol" || typeof value === "function") {
            continue;
          }
          if (value === null || typeof value !== "object") {
            if (frame.first) {
              frame.first = false;
            } else {
              result += ",";
            }
            result += serializeString(key) + ":" + serializePrimitive(value);
            continue;
          }
          const child = enterValue(value, seen);
          if (child === void 0) {
            continue;
          }
          if (frame.first) {
            frame.first = false;
          } else {
            result += ",";
          }
          result += serializeString(key) + ":";
          if (typeof child !== "object") {
            result += child;
            continue;
          }
          result += child.keys === null ? "[" : "{";
          stack.push(child);
          continue outer;
        }
        result += "}";
      }
      seen.delete(container);
      if (frame.wrappers !== null) {
        for (const wrapper of frame.wrappers) seen.delete(wrapper);
      }
      stack.pop();
    }
  return result;
}

// src/certificate/members.ts
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function member(value, ...path) {
  let found = value;
  for (const name of path) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : void 0;
  return found;
}
function text(value) {
  return typeof value === "string" ? value : void 0;
}
function show(value) {
  if (value === void 0) return "nothing";
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "a list" : "an object";
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
function printable(words) {
  return words.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (each) => {
    const code = each.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}
function canonical(value) {
  return isJson(value) ? canonicalize(value) : void 0;
}
function isJson(value) {
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === "string") {
      if (!next.isWellFormed()) return false;
    } else if (typeof next === "number") {
      if (!Number.isFinite(next)) return false;
    } else if (Array.isArray(next)) {
      for (const inner of next) left.push(inner);
    } else if (isObject(next)) {
      for (const [name, inner] of Object.entries(next)) left.push(name, inner);
    } else if (next !== null && typeof next !== "boolean") return false;
  }
  return true;
}
function timeOf(value) {
  const isTime = typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
  const atMs = isTime ? Date.parse(value) : Number.NaN;
  return !Number.isNaN(atMs) && new Date(atMs).toISOString() === value ? atMs : Number.NaN;
}
function timeText(atS) {
  const at = new Date(atS * 1e3);
  return Number.isNaN(at.getTime()) ? `${atS} s after 1970` : at.toISOString();
}

// src/certificate/not-covered.ts
var REPEATED = [
  ["metadata.timestamp", "issued_at"],
  ["metadata.lang_circuit", "provenance.lang_circuit"],
  ["metadata.lang_version", "provenance.lang_version"],
  ["metadata.quantum_backend", "provenance.quantum_backend"],
  ["metadata.entropy_origin", "provenance.origin"],
  ["metadata.nist_verified", "verification.nist_verified"],
  ["data.metadata.entropy_mode", "entropy_mode"]
];
function notCovered(response, isOctets) {
  const covered = /* @__PURE__ */ new Set([
    ...REPEATED.map(([path]) => path),
    "metadata.certificate_id",
    "metadata.certificate_salt",
    "metadata.request_id",
    "meta.request_id",
    "media_type",
    "label.public",
    "label.purpose",
    "label.series",
    "label.user_data",
    "label.user_data_sha256",
    "opening",
    "opening.bytes",
    "opening.path",
    "opening.salts"
  ]);
  const names = [];
  for (const [outer, inner] of Object.entries(isObject(response) ? response : {})) {
    if (outer === "data" && !isOctets) continue;
    const paths = isObject(inner) ? pathsOf(outer, inner) : [outer];
    names.push(...paths.filter((path) => !covered.has(path)));
  }
  return names;
}
function pathsOf(outer, members) {
  return Object.entries(members).flatMap(
    ([name, value]) => outer === "data" && name === "metadata" && isObject(value) ? pathsOf("data.metadata", value) : [`${outer}.${name}`]
  );
}

// node_modules/@noble/hashes/_u64.js
var fromNumH = (n) => n / 2 ** 32 | 0;
var fromNumL = (n) => n >>> 0;
function setU64FromNum(view, byteOffset, n, isLE) {
  const h = fromNumH(n);
  const l = fromNumL(n);
  view.setUint32(byteOffset, isLE ? l : h, isLE);
  view.setUint32(byteOffset + 4, isLE ? h : l, isLE);
}

// node_modules/@noble/hashes/_md.js
function Chi(a, b, c) {
  return a & b ^ ~a & c;
}
function Maj(a, b, c) {
  return a & b ^ a & c ^ b & c;
}
var HashMD = class {
  blockLen;
  outputLen;
  canXOF = false;
  padOffset;
  isLE;
  // For partial updates less than block size
  buffer;
  view;
  finished = false;
  length = 0;
  pos = 0;
  destroyed = false;
  constructor(blockLen, outputLen, padOffset, isLE) {
    this.blockLen = blockLen;
    this.outputLen = outputLen;
    this.padOffset = padOffset;
    this.isLE = isLE;
    this.buffer = new Uint8Array(blockLen);
    this.view = createView(this.buffer);
  }
  update(data) {
    aexists(this);
    abytes(data);
    const { view, buffer, blockLen } = this;
    const len = data.length;
    let processed = false;
    for (let pos = 0; pos < len; ) {
      const take = Math.min(blockLen - this.pos, len - pos);
      if (take === blockLen) {
        const dataView = createView(data);
        for (; blockLen <= len - pos; pos += blockLen)
          this.process(dataView, pos);
        processed = true;
        continue;
      }
      buffer.set(pos === 0 && take === len ? data : data.subarray(pos, pos + take), this.pos);
      this.pos += take;
      pos += take;
      if (this.pos === blockLen) {
        this.process(view, 0);
        this.pos = 0;
        processed = true;
      }
    }
    this.length += data.length;
    if (processed)
      this.roundClean();
    return this;
  }
  digestInto(out) {
    aexists(this);
    aoutput(out, this);
    this.finished = true;
    const { buffer, view, blockLen, isLE } = this;
    let { pos } = this;
    buffer[pos++] = 128;
    buffer.fill(0, pos);
    if (this.padOffset > blockLen - pos) {
      this.process(view, 0);
      buffer.fill(0);
    }
    setU64FromNum(view, blockLen - 8, this.length * 8, isLE);
    this.process(view, 0);
    this.roundClean();
    const oview = out === buffer ? view : createView(out);
    const len = this.outputLen;
    const outLen = len / 4;
    const state = this.get();
    if (len % 4 || outLen > state.length)
      throw new Error("invalid outputLen");
    for (let i = 0; i < outLen; i++)
      oview.setUint32(4 * i, state[i], isLE);
  }
  digest() {
    const { buffer, outputLen } = this;
    this.digestInto(buffer);
    const res = buffer.slice(0, outputLen);
    this.destroy();
    return res;
  }
  _cloneIntoMeta(to) {
    const { buffer, length, finished, destroyed, pos } = this;
    to.destroyed = destroyed;
    to.finished = finished;
    to.length = length;
    to.pos = pos;
    if (pos)
      to.buffer.set(buffer);
    return to;
  }
  clone() {
    return this._cloneInto();
  }
};
var SHA256_IV = /* @__PURE__ */ Uint32Array.from([
  1779033703,
  3144134277,
  1013904242,
  2773480762,
  1359893119,
  2600822924,
  528734635,
  1541459225
]);

// node_modules/@noble/hashes/sha2.js
var SHA256_K = /* @__PURE__ */ Uint32Array.from([
  1116352408,
  1899447441,
  3049323471,
  3921009573,
  961987163,
  1508970993,
  2453635748,
  2870763221,
  3624381080,
  310598401,
  607225278,
  1426881987,
  1925078388,
  2162078206,
  2614888103,
  3248222580,
  3835390401,
  4022224774,
  264347078,
  604807628,
  770255983,
  1249150122,
  1555081692,
  1996064986,
  2554220882,
  2821834349,
  2952996808,
  3210313671,
  3336571891,
  3584528711,
  113926993,
  338241895,
  666307205,
  773529912,
  1294757372,
  1396182291,
  1695183700,
  1986661051,
  2177026350,
  2456956037,
  2730485921,
  2820302411,
  3259730800,
  3345764771,
  3516065817,
  3600352804,
  4094571909,
  275423344,
  430227734,
  506948616,
  659060556,
  883997877,
  958139571,
  1322822218,
  1537002063,
  1747873779,
  1955562222,
  2024104815,
  2227730452,
  2361852424,
  2428436474,
  2756734187,
  3204031479,
  3329325298
]);
var SHA256_W = /* @__PURE__ */ new Uint32Array(64);
var SHA2_32B = class extends HashMD {
  // We cannot use array here since array allows indexing by variable
  // which means optimizer/compiler cannot use registers.
  // Numeric initializers matter: starting the fields as `undefined` changes
  // V8's field representation and makes sha256 3x slower (measured).
  A = 0;
  B = 0;
  C = 0;
  D = 0;
  E = 0;
  F = 0;
  G = 0;
  H = 0;
  constructor(outputLen, IV) {
    super(64, outputLen, 8, false);
    this.A = IV[0] | 0;
    this.B = IV[1] | 0;
    this.C = IV[2] | 0;
    this.D = IV[3] | 0;
    this.E = IV[4] | 0;
    this.F = IV[5] | 0;
    this.G = IV[6] | 0;
    this.H = IV[7] | 0;
  }
  get() {
    const { A, B, C, D, E, F, G, H } = this;
    return [A, B, C, D, E, F, G, H];
  }
  // prettier-ignore
  set(A, B, C, D, E, F, G, H) {
    this.A = A | 0;
    this.B = B | 0;
    this.C = C | 0;
    this.D = D | 0;
    this.E = E | 0;
    this.F = F | 0;
    this.G = G | 0;
    this.H = H | 0;
  }
  _cloneInto(to) {
    (to ||= new this.constructor()).set(...this.get());
    return this._cloneIntoMeta(to);
  }
  process(view, offset) {
    for (let i = 0; i < 16; i++, offset += 4)
      SHA256_W[i] = view.getUint32(offset, false);
    for (let i = 16; i < 64; i++) {
      const W15 = SHA256_W[i - 15];
      const W2 = SHA256_W[i - 2];
      const s0 = rotr(W15, 7) ^ rotr(W15, 18) ^ W15 >>> 3;
      const s1 = rotr(W2, 17) ^ rotr(W2, 19) ^ W2 >>> 10;
      SHA256_W[i] = s1 + SHA256_W[i - 7] + s0 + SHA256_W[i - 16] | 0;
    }
    let { A, B, C, D, E, F, G, H } = this;
    for (let i = 0; i < 64; i++) {
      const sigma1 = rotr(E, 6) ^ rotr(E, 11) ^ rotr(E, 25);
      const T1 = H + sigma1 + Chi(E, F, G) + SHA256_K[i] + SHA256_W[i] | 0;
      const sigma0 = rotr(A, 2) ^ rotr(A, 13) ^ rotr(A, 22);
      const T2 = sigma0 + Maj(A, B, C) | 0;
      H = G;
      G = F;
      F = E;
      E = D + T1 | 0;
      D = C;
      C = B;
      B = A;
      A = T1 + T2 | 0;
    }
    A = A + this.A | 0;
    B = B + this.B | 0;
    C = C + this.C | 0;
    D = D + this.D | 0;
    E = E + this.E | 0;
    F = F + this.F | 0;
    G = G + this.G | 0;
    H = H + this.H | 0;
    this.set(A, B, C, D, E, F, G, H);
  }
  roundClean() {
    clean(SHA256_W);
  }
  destroy() {
    this.destroyed = true;
    this.set(0, 0, 0, 0, 0, 0, 0, 0);
    clean(this.buffer);
  }
};
var _SHA256 = class extends SHA2_32B {
  constructor() {
    super(32, SHA256_IV);
  }
};
var sha256 = /* @__PURE__ */ createHasher(
  () => new _SHA256(),
  /* @__PURE__ */ oidNist(1)
);

// src/crypto/base64.ts
function toBase64(bytes) {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
function fromBase64(text3) {
  if (text3.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text3)) return void 0;
  const binary = atob(text3);
  if (btoa(binary) !== text3) return void 0;
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// src/crypto/merkle.ts
var HASH_BYTES = 32;
function splitHashes(bytes) {
  assert(bytes.length % HASH_BYTES === 0, "a whole number of hashes");
  return Array.from({ length: bytes.length / HASH_BYTES }, (_, i) => new Uint8Array(hashAt(bytes, i)));
}
function hashAt(hashes, index) {
  return hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES);
}
function leafHash(sha2563, entry) {
  const input = new Uint8Array(1 + entry.length);
  input.set(entry, 1);
  return sha2563(input);
}
var nodeInput = new Uint8Array(1 + 2 * HASH_BYTES);
nodeInput[0] = 1;
function nodeHash(sha2563, left, right) {
  assert(left.length === HASH_BYTES && right.length === HASH_BYTES, "a node has two hashes of 32 bytes");
  nodeInput.set(left, 1);
  nodeInput.set(right, 1 + HASH_BYTES);
  return sha2563(nodeInput);
}
function verifyInclusion(sha2563, leaf, index, size, proof, root) {
  if (!isCount(index) || !isCount(size) || index >= size) return false;
  let fn = index;
  let sn = size - 1;
  let hash = leaf;
  for (const sibling of proof) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      hash = nodeHash(sha2563, sibling, hash);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [half(fn), half(sn)];
    } else {
      hash = nodeHash(sha2563, hash, sibling);
    }
    [fn, sn] = [half(fn), half(sn)];
  }
  return sn === 0 && equalHashes(hash, root);
}
function half(count2) {
  return Math.floor(count2 / 2);
}
function isCount(count2) {
  return Number.isSafeInteger(count2) && count2 >= 0;
}
function equalHashes(a, b) {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

// src/crypto/note.ts
var ED25519_TYPE = 1;
var COSIGNATURE_TYPE = 4;
var PUBLIC_KEY_BYTES = 32;
var TIMESTAMP_BYTES = 8;
var ED25519_SIGNATURE_BYTES = 64;
var KEY_ID_BYTES = 4;
var NOTE_LENGTH_MAX = 65536;
var PROOF_VERSION = "c2sp.org/tlog-proof@v1";
var PROOF_HASHES_MAX = 53;
var utf82 = new TextEncoder();
function noteKeyId(sha2563, name, publicKey, type = ED25519_TYPE) {
  const prefix = utf82.encode(`${name}
`);
  const input = new Uint8Array(prefix.length + 1 + publicKey.length);
  input.set(prefix);
  input[prefix.length] = type;
  input.set(publicKey, prefix.length + 1);
  return bytesToHex(sha2563(input).subarray(0, KEY_ID_BYTES));
}
function verifierKey(sha2563, name, publicKey, type = ED25519_TYPE) {
  const typed = new Uint8Array(1 + publicKey.length);
  typed[0] = type;
  typed.set(publicKey, 1);
  return `${name}+${noteKeyId(sha2563, name, publicKey, type)}+${toBase64(typed)}`;
}
function parseVerifierKey(sha2563, text3) {
  const [, name, keyId, typed] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text3) ?? [];
  const bytes = fromBase64(typed ?? "");
  if (bytes?.length !== 1 + PUBLIC_KEY_BYTES || !isKeyName(name)) return void 0;
  const [type] = bytes;
  const publicKey = bytes.slice(1);
  if (type !== ED25519_TYPE && type !== COSIGNATURE_TYPE) return void 0;
  return keyId === noteKeyId(sha2563, name, publicKey, type) ? { name, keyId, type, publicKey } : void 0;
}
function isKeyName(name) {
  return name !== "" && name.isWellFormed() && !/[+\p{White_Space}\p{Cc}]/u.test(name);
}
function parseNote(note) {
  if (note.length > NOTE_LENGTH_MAX || !note.isWellFormed() || /[\0-\x09\x0b-\x1f]/.test(note))
    return void 0;
  const blank = note.lastIndexOf("\n\n");
  if (blank <= 0 || !note.endsWith("\n")) return void 0;
  const signatures = [];
  for (const line of note.slice(blank + 2, -1).split("\n")) {
    const [dash, name, text3, ...rest] = line.split(" ");
    const bytes = fromBase64(text3 ?? "");
    if (dash !== "—" || !isKeyName(name ?? "") || bytes === void 0 || rest.length > 0) return void 0;
    if (bytes.length <= KEY_ID_BYTES) return void 0;
    signatures.push({
      name,
      keyId: bytesToHex(bytes.subarray(0, KEY_ID_BYTES)),
      signature: bytes.slice(KEY_ID_BYTES)
    });
  }
  return { text: note.slice(0, blank + 1), signatures };
}
function cosignatureText(atS, text3) {
  return `cosignature/v1
time ${atS}
${text3}`;
}
function readTimestamped(bytes) {
  if (bytes.length !== TIMESTAMP_BYTES + ED25519_SIGNATURE_BYTES) return void 0;
  const atS = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0));
  if (atS === 0 || !Number.isSafeInteger(atS)) return void 0;
  return { atS, signature: bytes.slice(TIMESTAMP_BYTES) };
}
function parseCheckpoint(text3) {
  if (!text3.endsWith("\n")) return void 0;
  const [origin, sizeText, rootText, ...extensions] = text3.slice(0, -1).split("\n");
  const size = parseCount(sizeText ?? "");
  const root = fromBase64(rootText ?? "");
  if (origin === "" || size === void 0 || root?.length !== HASH_BYTES) return void 0;
  if (extensions.includes("")) return void 0;
  return { origin, size, root };
}
function parseProof(text3) {
  const blank = text3.indexOf("\n\n");
  if (blank < 0) return void 0;
  const [version, indexLine, ...hashLines] = text3.slice(0, blank).split("\n");
  if (version !== PROOF_VERSION || !indexLine?.startsWith("index ")) return void 0;
  const index = parseCount(indexLine.slice("index ".length));
  if (index === void 0 || hashLines.length > PROOF_HASHES_MAX) return void 0;
  const path = parseHashes(hashLines);
  return path && { index, path, note: text3.slice(blank + 2) };
}
function parseHashes(texts) {
  if (!Array.isArray(texts)) return void 0;
  const hashes = [];
  for (const each of texts) {
    const hash = typeof each === "string" ? fromBase64(each) : void 0;
    if (hash?.length !== HASH_BYTES) return void 0;
    hashes.push(hash);
  }
  return hashes;
}
function parseCount(text3) {
  const count2 = /^(0|[1-9][0-9]{0,15})$/.test(text3) ? Number(text3) : Number.NaN;
  return Number.isSafeInteger(count2) ? count2 : void 0;
}

// src/certificate/signed-checkpoint.ts
function readProof(proofText) {
  if (proofText === null || proofText === void 0) {
    return "The certificate has no proof: fetch it again, it is logged a moment after it was issued.";
  }
  const proof = typeof proofText === "string" ? parseProof(proofText) : void 0;
  if (proof === void 0) return "proof is not of the form c2sp.org/tlog-proof@v1.";
  const read = readCheckpoint(proof.note);
  return typeof read === "string" ? read : { proof, ...read };
}
function readCheckpoint(noteText) {
  const note = parseNote(noteText);
  if (note === void 0) return "The checkpoint is not a signed note.";
  const checkpoint = parseCheckpoint(note.text);
  if (checkpoint === void 0) return "The signed note is not a checkpoint.";
  return { note, checkpoint };
}
function holdsLeaf({ proof, checkpoint }, leaf) {
  const hash = leafHash(sha256, utf8Bytes(leaf));
  return verifyInclusion(sha256, hash, proof.index, checkpoint.size, proof.path, checkpoint.root);
}
function knownKeys(keys) {
  const predecessors = member(keys, "predecessors") ?? [];
  if (!Array.isArray(predecessors)) return "This is not a keys document.";
  const known = [];
  for (const log of [keys, ...predecessors]) {
    const ofLog = keysOfLog(log);
    if (typeof ofLog === "string") return ofLog;
    known.push(...ofLog);
  }
  return known;
}
function keysOfLog(log) {
  const origin = text(member(log, "origin"));
  const listed2 = member(log, "keys");
  if (origin === void 0 || !Array.isArray(listed2)) return "This is not a keys document.";
  const known = [];
  for (const key of listed2) {
    const publicKey = fromBase64(text(member(key, "public_key")) ?? "");
    const keyId = text(member(key, "key_id"));
    if (publicKey?.length !== 32 || member(key, "algorithm") !== "ed25519" || keyId === void 0) {
      return "A key is not an Ed25519 public key.";
    }
    if (known.some((other) => other.keyId === keyId)) return `Key ${keyId} is listed twice.`;
    if (keyId !== noteKeyId(sha256, origin, publicKey))
      return `Key ${keyId} is not the key it is named after.`;
    if (member(key, "verifier_key") !== verifierKey(sha256, origin, publicKey))
      return `Key ${keyId} is given in two ways.`;
    const cosignerKey = member(key, "cosigner_key") ?? null;
    if (cosignerKey !== null && cosignerKey !== verifierKey(sha256, origin, publicKey, COSIGNATURE_TYPE))
      return `Key ${keyId} is given in two ways.`;
    const retiredAt = member(key, "retired_at") ?? null;
    known.push({
      name: origin,
      keyId,
      publicKey,
      isTimed: cosignerKey !== null,
      beganMs: timeOf(member(key, "created_at")),
      retiredMs: retiredAt === null ? null : timeOf(retiredAt)
    });
  }
  return known;
}
async function readSignatures(keys, logged) {
  if (typeof logged === "string") return logged;
  const known = knownKeys(keys);
  if (typeof known === "string") return known;
  const { note, checkpoint } = logged;
  const signed = [];
  const { origin } = checkpoint;
  if (!known.some(({ name }) => name === origin))
    return `The checkpoint is of the log ${origin}, the keys are of ${[...new Set(known.map(({ name }) => name))].join(", ")}.`;
  for (const { name, keyId, signature: signature2 } of note.signatures) {
    for (const key of known) {
      if (key.name !== name || name !== origin) continue;
      const isTimed = keyId === noteKeyId(sha256, name, key.publicKey, COSIGNATURE_TYPE);
      if (!isTimed && keyId !== key.keyId) continue;
      const timed2 = isTimed ? readTimestamped(signature2) : { atS: void 0, signature: signature2 };
      if (timed2 === void 0) return `The signature of key ${keyId} on the checkpoint is malformed.`;
      const message = timed2.atS === void 0 ? note.text : cosignatureText(timed2.atS, note.text);
      const failure = await signatureFailure(key.publicKey, keyId, message, timed2.signature);
      if (failure !== void 0) return failure;
      signed.push({ key, atS: timed2.atS });
    }
  }
  if (!signed.some(({ atS }) => atS === void 0)) return "None of the known keys signed the checkpoint.";
  const timed = new Set(signed.filter(({ atS }) => atS !== void 0).map(({ key }) => key));
  const silent = signed.find(({ key }) => key.isTimed && !timed.has(key));
  if (silent !== void 0) return `Key ${silent.key.keyId} signed the checkpoint without saying when.`;
  return signed;
}
async function readSigned(keys, read) {
  const signed = await readSignatures(keys, read);
  if (typeof signed === "string") return signed;
  const times2 = signed.flatMap(({ atS: atS2 }) => atS2 ?? []);
  const atS = times2.length > 0 ? Math.min(...times2) : void 0;
  const isRightful = signed.some(
    ({ key, atS: timed }) => timed === void 0 && (key.retiredMs === null || atS === void 0 || atS * 1e3 <= key.retiredMs)
  );
  if (!isRightful) return "The key that signed the checkpoint had been retired before.";
  const { note, checkpoint } = read;
  return { note, checkpoint, atS };
}
async function readCosignatures(keys, logged) {
  if (typeof logged === "string") return logged;
  const seen = /* @__PURE__ */ new Map();
  for (const each of keys) {
    const key = parseVerifierKey(sha256, each);
    if (key?.type !== COSIGNATURE_TYPE) return `${each} is not the verifier key of a witness.`;
    for (const { name, keyId, signature: signature2 } of logged.note.signatures) {
      if (name !== key.name || keyId !== key.keyId) continue;
      const timed = readTimestamped(signature2);
      if (timed === void 0) return `The cosignature of ${name} is malformed.`;
      const message = cosignatureText(timed.atS, logged.note.text);
      const failure = await signatureFailure(key.publicKey, keyId, message, timed.signature);
      if (failure !== void 0) return failure;
      const bytes = key.publicKey.join();
      if (!seen.has(bytes)) seen.set(bytes, { name, atS: timed.atS });
    }
  }
  return [...seen.values()];
}
async function signatureFailure(publicKey, keyId, signedText, signature2) {
  const { subtle } = crypto;
  if (subtle === void 0) return "Signatures cannot be checked here: this page was not loaded over https.";
  try {
    const imported = await subtle.importKey("raw", publicKey, "Ed25519", false, ["verify"]);
    const holds2 = await subtle.verify("Ed25519", imported, signature2, utf8Bytes(signedText));
    return holds2 ? void 0 : `The signature of key ${keyId} on the checkpoint is wrong.`;
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return `Signatures cannot be checked here: no Ed25519 (${error.name}).`;
  }
}

// src/certificate/verdict.ts
function failed(failure) {
  return { failure };
}
function holds(sentence) {
  return { holds: sentence };
}
function digestText(data) {
  return `sha256:${bytesToHex(sha256(typeof data === "string" ? utf8Bytes(data) : data))}`;
}

// src/core/vocabulary.ts
var ENTROPY_MODES = ["quantum-seeded", "pure", "csprng"];
var ORIGINS = ["quantum-processor", "qrng-device", "simulated", "replay", "system"];
function isQuantum(origin) {
  return origin === "quantum-processor" || origin === "qrng-device";
}
var DATA_ENDPOINTS = [
  "integers",
  "bytes",
  "floats",
  "uuid",
  "bitstring",
  "shuffle",
  "batch",
  "sample",
  "weighted",
  "strings",
  "sequences",
  "permutations",
  "gaussians"
];
var SYSTEM_GENERATORS = ["kernel", "openssl"];
var OCTET_TYPES = ["int32", "float64", "uuid", "bytes"];
var TEXT_TYPES = ["plain", "csv"];
var BARE_TYPES = [...OCTET_TYPES, ...TEXT_TYPES];

// src/crypto/hash-tree.ts
var PIECE_BYTES = 16;
var PIECE_SALT_BYTES = 16;
var PIECE = 2;
function pieceHash(sha2563, salt, piece) {
  const input = new Uint8Array(1 + PIECE_SALT_BYTES + PIECE_BYTES);
  input[0] = PIECE;
  input.set(salt, 1);
  input.set(piece, 1 + PIECE_SALT_BYTES);
  const hash = sha2563(input);
  input.fill(0);
  return hash;
}
function rootOfRun(sha2563, size, from, run2, proof) {
  const isPlaced = Number.isSafeInteger(size) && Number.isSafeInteger(from) && from >= 0;
  if (!isPlaced || run2.length === 0 || from + run2.length > size) return void 0;
  let first = from;
  let level = [...run2];
  for (let width = size; width > 1; width = Math.ceil(width / 2)) {
    const last = first + level.length - 1;
    const hasLeft = first % 2 === 1;
    const hasRight = last % 2 === 0 && last + 1 < width;
    if (proof.length < Number(hasLeft) + Number(hasRight)) return void 0;
    if (hasLeft) level.unshift(proof.shift());
    if (hasRight) level.push(proof.shift());
    const above = [];
    for (let i = 0; i < level.length; i += 2) {
      above.push(i + 1 < level.length ? nodeHash(sha2563, level[i], level[i + 1]) : level[i]);
    }
    level = above;
    first = Math.floor(first / 2);
  }
  return level[0];
}

// src/ledger/records.ts
var EVIDENCE_LEVELS = ["simulated", "statistical", "calibrated"];
function weakestEvidence(claims) {
  return EVIDENCE_LEVELS[Math.min(...claims.map(rankOf))];
}
function allowsEvidence(origin, claim2) {
  const known = ORIGINS.find((each) => each === origin);
  return known !== void 0 && rankOf(claim2) <= rankOf(CEILINGS[known]);
}
var CEILINGS = {
  "quantum-processor": "calibrated",
  "qrng-device": "calibrated",
  simulated: "simulated",
  replay: "statistical",
  system: "statistical"
};
function rankOf(claim2) {
  return EVIDENCE_LEVELS.indexOf(claim2);
}
var TESTED_BITS = 1e6;
var SEED_BLOCK_BYTES = 32;
var PURE_BLOCK_BYTES = 4096;

// src/core/schema.ts
function object(properties, optional = {}, description) {
  return {
    type: "object",
    ...description === void 0 ? {} : { description },
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
    additionalProperties: false
  };
}
var text2 = { type: "string" };
var boolean = { type: "boolean" };
var count = { type: "integer", minimum: 0 };
var share = { type: "number", minimum: 0, maximum: 1 };
var time = { type: "string", format: "date-time" };
var sha2562 = { type: "string", pattern: "^sha256:[0-9a-f]{64}$" };
function orNull(schema) {
  return { ...schema, type: [schema["type"], "null"] };
}
function oneOfWords(words, description) {
  return { type: "string", enum: words, ...description === void 0 ? {} : { description } };
}
function listOf(items) {
  return { type: "array", items };
}
function someOf(items) {
  return { ...listOf(items), minItems: 1, maxItems: LIST_ITEMS_MAX };
}
var LIST_ITEMS_MAX = 4096;
function described(schema, description) {
  return { ...schema, description };
}

// src/certificate/certified-label.ts
var LABEL = object(
  { public: boolean },
  {
    purpose: described(text2, "In a public label."),
    purpose_commitment: described(sha2562, "In a private label: of a byte 04, the salt and the purpose."),
    series: described(text2, "Names the account and the purpose together."),
    serial: described(count, "Place among all answers of the series, from 1, none left out."),
    user_data: described(text2, "In a public label."),
    user_data_sha256: sha2562,
    user_data_commitment: described(sha2562, "In a private label: of a byte 05, the salt and the user data.")
  }
);

// src/certificate/windows.ts
function resultOf(lot, mode, drawn) {
  if (mode === "csprng")
    return sumOf(
      lot.tested.filter(({ of }) => of === "system"),
      true
    );
  const windows = servedWindows(lot.tested);
  const start = mode === "pure" ? lot.seeds.count * SEED_BLOCK_BYTES : 0;
  const spans = drawn.map(({ offset, bytes }) => ({ from: start + offset, to: start + offset + bytes }));
  const touched = windows.filter(
    ({ span }) => spans.some((each) => Math.max(each.from, span.from) < Math.min(each.to, span.to))
  );
  const isCovered = spans.every((span) => covers(touched, span));
  return sumOf(
    touched.map(({ window }) => window),
    isCovered
  );
}
function sumOf(windows, isCovered) {
  if (windows.length === 0 || windows.some(({ total }) => total === 0)) return void 0;
  return {
    passed: windows.reduce((sum, each) => sum + each.passed, 0),
    total: windows.reduce((sum, each) => sum + each.total, 0),
    verified: isCovered && windows.every(({ verified }) => verified)
  };
}
function servedWindows(tested) {
  const conditioned = tested.filter(({ of }) => of === "conditioned");
  const erased = conditioned.filter(hasFailed).map(bytesOf).sort(byPlace);
  return conditioned.filter((window) => !hasFailed(window)).map((window) => {
    const { from, to } = bytesOf(window);
    return { window, span: { from: from - erasedBefore(erased, from), to: to - erasedBefore(erased, to) } };
  }).sort((a, b) => byPlace(a.span, b.span));
}
function hasFailed({ bits, verified }) {
  return bits >= TESTED_BITS && !verified;
}
function bytesOf({ first_bit: firstBit, bits }) {
  return { from: firstBit / 8, to: (firstBit + bits) / 8 };
}
function byPlace(a, b) {
  return a.from - b.from;
}
function erasedBefore(erased, place) {
  let count2 = 0;
  let at = 0;
  for (const { from, to } of erased) {
    const end = Math.min(to, place);
    count2 += Math.max(0, end - Math.max(from, at));
    at = Math.max(at, end);
  }
  return count2;
}
function covers(windows, { from, to }) {
  let at = from;
  for (const { span } of windows) if (span.from <= at) at = Math.max(at, span.to);
  return at >= to;
}

// src/certificate/derive.ts
var NO_CIRCUIT = {
  lang_circuit: "none",
  lang_version: "none",
  quantum_backend: "none",
  qubits_used: 0,
  circuit_depth: 0
};
function circuitOf({ mode, lots }) {
  return mode === "csprng" ? NO_CIRCUIT : lots[0];
}
function originOf(lots) {
  return ORIGINS[Math.max(...lots.map((lot) => ORIGINS.indexOf(lot.origin)))];
}
function evidenceOf(lots) {
  return weakestEvidence(lots.map(({ evidence }) => evidence?.claim ?? "simulated"));
}
function joinedDigest(digests) {
  if (digests.length === 1) return digests[0];
  return digestText(hexToBytes(digests.map((digest) => digest.slice("sha256:".length)).join("")));
}
function minEntropyOf(lots) {
  const estimates = lots.map((lot) => lot.min_entropy_per_bit).filter((each) => each !== null);
  return estimates.length < lots.length ? null : Math.min(...estimates);
}
function resultsOf({ mode, lots, spans }) {
  return lots.map((lot, i) => resultOf(lot, mode, spans[i]));
}
function nistResultOf(from) {
  let passed = 0;
  let total = 0;
  for (const result of resultsOf(from)) {
    if (result === void 0) return "not tested";
    passed += result.passed;
    total += result.total;
  }
  return `${passed}/${total} passed`;
}
function nistVerifiedOf(from) {
  return resultsOf(from).every((result) => result?.verified === true);
}

// src/certificate/certificate-members.ts
function told(schema, meaning, of, options = {}) {
  const { modes = ENTROPY_MODES, isOptional = false } = options;
  return { schema: described(schema, meaning), modes, isOptional, isDerived: false, of };
}
function derived(schema, meaning, of, { modes = ENTROPY_MODES, isOptional = false } = {}) {
  return { schema: described(schema, meaning), modes, isOptional, isDerived: true, of };
}
var QUANTUM = ["quantum-seeded", "pure"];
var lotEntry = object({ id: text2, leaf: { type: "string", pattern: "^[A-Za-z0-9+/]{43}=$" } });
var TOP = {
  version: told({ type: "integer", const: 1 }, "Of this form.", () => 1),
  id: told(
    { type: "string", pattern: "^cert_[0-9a-hjkmnp-tv-z]{26}$" },
    "Names the certificate.",
    ({ id }) => id
  ),
  issued_at: told(time, "When the answer was made.", ({ issuedAt }) => issuedAt),
  request_id: told(
    { type: "string", pattern: "^req_[0-7][0-9a-hjkmnp-tv-z]{25}$" },
    "Names the request; the same 128 bits as X-Request-ID.",
    ({ requestId: requestId2 }) => requestId2
  ),
  endpoint: told(oneOfWords(DATA_ENDPOINTS), "The endpoint that was asked.", ({ endpoint }) => endpoint),
  entropy_mode: told(oneOfWords(ENTROPY_MODES), "The mode that was used.", ({ mode }) => mode),
  media_type: told(
    text2,
    "Of an answer of bare values: what `hashes.delivered` is over. Left out where it is over JSON.",
    ({ mediaType }) => mediaType,
    { isOptional: true }
  ),
  label: told(LABEL, "What the caller said of the answer.", ({ label }) => label, { isOptional: true })
};
var PROVENANCE = {
  lang_circuit: derived(text2, "The circuit of the first lot.", (from) => circuitOf(from).lang_circuit),
  lang_version: derived(text2, "The version of its compiler.", (from) => circuitOf(from).lang_version),
  quantum_backend: derived(
    text2,
    "The quantum processor of the first lot.",
    (from) => circuitOf(from).quantum_backend
  ),
  qubits_used: derived(count, "Qubits of the circuit.", (from) => circuitOf(from).qubits_used),
  circuit_depth: derived(count, "Depth of the circuit.", (from) => circuitOf(from).circuit_depth),
  origin: derived(
    oneOfWords(ORIGINS),
    "What kind of thing produced the raw bits: the weakest of the lots; never upgraded.",
    ({ lots }) => originOf(lots)
  ),
  evidence: derived(
    oneOfWords(EVIDENCE_LEVELS),
    "How quantum the lots are shown to be: the weakest claim of them.",
    ({ lots }) => evidenceOf(lots),
    { modes: QUANTUM }
  ),
  system_entropy: told(
    oneOfWords(SYSTEM_GENERATORS),
    "The generator that was mixed in, or that gave the values of csprng.",
    ({ systemGenerator }) => systemGenerator,
    { modes: ["quantum-seeded", "csprng"] }
  ),
  seed: told(object({ index: count }), "Which of the seeds of the lot served.", ({ seed }) => seed, {
    modes: ["quantum-seeded"]
  }),
  drawn: told(
    someOf(object({ lot: count, offset: count, bytes: count })),
    "Which of the pure bytes of the lots were drawn, in order; `lot` is the place in `lots`.",
    ({ drawn }) => drawn,
    { modes: ["pure"] }
  ),
  sample: told(
    { type: "boolean", const: true },
    "The lot is a sample of the stream that gave the values, and not what they were drawn from.",
    () => true,
    { modes: ["csprng"] }
  ),
  lots: told(
    someOf(lotEntry),
    "Every lot, in the order in which they were drawn from, with the hash of its leaf in the log.",
    ({ named }) => named
  )
};
var VERIFICATION = {
  nist_sp800_22: derived(
    text2,
    "`<passed>/<total> passed` of the tested windows that the answer was drawn from, or `not tested`.",
    nistResultOf
  ),
  nist_verified: derived(
    boolean,
    "Every bit that the answer drew on lies in a tested window that passed.",
    nistVerifiedOf
  ),
  dieharder: derived(
    { type: "string", const: "not implemented" },
    "That test is not implemented.",
    () => "not implemented"
  ),
  min_entropy_per_bit: derived(
    orNull(share),
    "Estimated on raw bits: the least of the lots.",
    ({ lots }) => minEntropyOf(lots)
  )
};
var HASHES = {
  raw_output: derived(
    sha2562,
    "Of the raw bits of the lot; of several, of their digests joined.",
    ({ lots }) => joinedDigest(lots.map((lot) => lot.raw_output))
  ),
  processed: derived(
    sha2562,
    "Of the conditioned bytes, joined likewise.",
    ({ lots }) => joinedDigest(lots.map((lot) => lot.processed))
  ),
  delivered: told(sha2562, "Of the salt and what was delivered.", ({ delivered: delivered2 }) => delivered2)
};
var SECTIONS = {
  provenance: PROVENANCE,
  verification: VERIFICATION,
  hashes: HASHES
};
var CERTIFICATE_ROWS = [
  ...Object.entries(TOP),
  ...Object.entries(SECTIONS).flatMap(
    ([section, rows]) => Object.entries(rows).map(([name, row2]) => [`${section}.${name}`, row2])
  )
];
function certificateForm(mode, beside = {}) {
  const inner = Object.entries(SECTIONS).map(([name, rows]) => [name, formOf(rows, mode)]);
  return formOf(TOP, mode, { ...Object.fromEntries(inner), ...beside });
}
function formOf(rows, mode, beside = {}) {
  const present = {};
  const optional = {};
  for (const [name, { schema, modes, isOptional }] of Object.entries(rows)) {
    if (mode !== void 0 && !modes.includes(mode)) continue;
    const isSure = !isOptional && (mode !== void 0 || modes.length === ENTROPY_MODES.length);
    (isSure ? present : optional)[name] = schema;
  }
  return object({ ...present, ...beside }, optional);
}

// src/certificate/document.ts
var UNSIGNED = ["status", "verify_url", "proof"];

// src/certificate/form.ts
function flawOf(schema, value, place) {
  const types = [schema["type"]].flat();
  if (schema["type"] !== void 0 && !types.some((type) => isOfType(type, value)))
    return `${place} is ${show(value)}, not ${types.map((type) => TYPE_NAMES[String(type)]).join(" or ")}`;
  if (value === null) return void 0;
  const { const: only, enum: words, pattern, format, minimum, maximum } = schema;
  if (only !== void 0 && value !== only) return `${place} is ${show(value)}, not ${show(only)}`;
  if (Array.isArray(words) && !words.includes(value))
    return `${place} is ${show(value)}, not one of ${words.map(show).join(", ")}`;
  if (typeof pattern === "string" && !new RegExp(pattern, "u").test(String(value)))
    return `${place} is ${show(value)}, which has another form`;
  if (format === "date-time" && Number.isNaN(timeOf(value))) return `${place} is ${show(value)}, not a time`;
  if (typeof minimum === "number" && !(Number(value) >= minimum))
    return `${place} is ${show(value)}, below ${minimum}`;
  if (typeof maximum === "number" && !(Number(value) <= maximum))
    return `${place} is ${show(value)}, above ${maximum}`;
  if (Array.isArray(value)) return flawOfItems(schema, value, place);
  return isObject(value) ? flawOfMembers(schema, value, place) : void 0;
}
function flawOfItems(schema, items, place) {
  const { items: each, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  if (items.length > Number(maxItems)) return `${place} has more than ${maxItems} entries`;
  if (items.length < Number(minItems)) return `${place} is an empty list`;
  for (const [i, item] of items.entries()) {
    const flaw = isObject(each) ? flawOf(each, item, `${place}[${i}]`) : void 0;
    if (flaw !== void 0) return flaw;
  }
  return void 0;
}
function flawOfMembers(schema, value, place) {
  const { properties, required, additionalProperties: others } = schema;
  const known = isObject(properties) ? properties : {};
  const path = (name) => place === "" ? name : `${place}.${name}`;
  const missing = (Array.isArray(required) ? required : []).find(
    (name) => !Object.hasOwn(value, String(name))
  );
  if (missing !== void 0) return `${path(String(missing))} is missing`;
  for (const [name, inner] of Object.entries(value)) {
    const own = Object.hasOwn(known, name) ? known[name] : others;
    if (own === false) return `${path(name)} has no place there`;
    const flaw = isObject(own) ? flawOf(own, inner, path(name)) : void 0;
    if (flaw !== void 0) return flaw;
  }
  return void 0;
}
var TYPE_NAMES = {
  string: "a text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null"
};
function isOfType(type, value) {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isSafeInteger(value);
  return typeof value === type;
}

// src/certificate/lot-figures.ts
var LAGS_MAX = 2 ** 18;
var ROUNDING = 2e-6;
function flawOfFigures({
  lot_id: id,
  raw_bits: bits,
  min_entropy_per_bit,
  evidence
}) {
  const { autocorrelation: r, autocorrelation_bound: bound, autocorrelation_lag: lag } = evidence.figures;
  if (r === void 0 || lag === 0) return void 0;
  const lags = Math.min(LAGS_MAX, 2 ** Math.max(0, Math.floor(Math.log2(bits)) - 1));
  const expected = Math.sqrt(2 * (Math.log(2 * (lags - 1)) + 40 * Math.LN2) / (bits - lag));
  if (!Number.isSafeInteger(lag) || lag < 1 || lag >= lags) return `Lot ${id} has no lag ${show(lag)}.`;
  if (!(Math.abs(bound - expected) <= ROUNDING))
    return `The bound of the autocorrelation of lot ${id} is ${expected.toFixed(6)}, not ${show(bound)}.`;
  const size = Math.abs(r);
  if (size <= bound) return void 0;
  if (evidence.claim === "calibrated")
    return `Lot ${id} claims "calibrated", and its autocorrelation ${r} is beyond ${bound}: its bits are not independent.`;
  const left = 1 - Math.log2(1 + Math.sqrt(Math.min(1, size + bound)));
  const isLess2 = (figure) => figure === null || figure <= left + ROUNDING;
  return isLess2(min_entropy_per_bit) && evidence.min_entropy_per_bit !== null && isLess2(evidence.min_entropy_per_bit) ? void 0 : `Lot ${id} claims more min-entropy than the ${left.toFixed(6)} that its autocorrelation ${r} leaves.`;
}

// src/certificate/lot-members.ts
function row(schema, meaning, of) {
  return { schema: described(schema, meaning), of };
}
var claim = oneOfWords(EVIDENCE_LEVELS, "From the weakest to the strongest; never promoted.");
var TESTED = object(
  {
    of: oneOfWords(["raw", "conditioned", "system"], "What was tested: system is the csprng stream."),
    bits: count,
    first_bit: described(count, "Place of the first bit."),
    sha256: described({ type: "string", pattern: "^[0-9a-f]{64}$" }, "Of the bits, packed."),
    passed: count,
    total: count,
    smallest_p: share,
    verified: boolean
  },
  {
    order: oneOfWords(["shots", "channels"], "Of raw bits: shot after shot, or channel after channel."),
    reason: described(text2, "Why it is not verified.")
  }
);
var EVIDENCE = object({
  claim,
  min_entropy_per_bit: described(orNull(share), "Per raw bit, under the assumptions."),
  figures: described({ type: "object", additionalProperties: { type: "number" } }, "By name."),
  method: described(text2, "The formula and where it is published."),
  assumptions: described(text2, "What must be true for it to hold."),
  not_reached: listOf(object({ claim, why: text2 }))
});
var UPSTREAM = object({
  log: described(text2, "The name of the log that holds them."),
  origin: oneOfWords(ORIGINS, "The weakest that they name."),
  certificates: described(
    someOf(
      object({
        id: { type: "string", pattern: "^cert_[0-9a-hjkmnp-tv-z]{26}$" },
        leaf: { type: "string", pattern: "^[A-Za-z0-9+/]{43}=$" }
      })
    ),
    "Of each its id, and the hash of its leaf in that log."
  )
});
var LOT_MEMBERS = {
  type: row({ type: "string", const: "lot" }, "The kind of the leaf.", () => "lot"),
  version: row({ type: "integer", const: 1 }, "Of this form.", () => 1),
  lot_id: row(text2, "Names the lot.", (lot) => lot.id),
  source: row(text2, "The source, as the operator named it.", (lot) => lot.source),
  provider: row(text2, "Who runs the device.", (lot) => lot.provider),
  device: row(text2, "The device, as its provider names it.", (lot) => lot.device),
  quantum_backend: row(text2, "The identifier of the quantum processor.", (lot) => lot.quantumBackend),
  job_id: row(orNull(text2), "The provider’s name of the job.", (lot) => lot.jobId),
  origin: row(oneOfWords(ORIGINS), "What kind of thing produced the raw bits.", (lot) => lot.origin),
  declared: row(
    boolean,
    "The operator alone says that the origin is quantum.",
    (lot) => lot.isDeclared === true
  ),
  deterministic: row(boolean, "Made by a deterministic test source.", (lot) => lot.deterministic),
  lang_circuit: row(text2, "The circuit.", (lot) => lot.circuit),
  lang_version: row(text2, "The version of the circuit compiler.", (lot) => lot.circuitVersion),
  circuit_sha256: row(
    orNull(sha2562),
    "Of the circuit as it was submitted.",
    (lot) => lot.circuitSha256 === null ? null : prefixed(lot.circuitSha256)
  ),
  qubits_used: row(count, "Qubits of the circuit.", (lot) => lot.qubitsUsed),
  circuit_depth: row(count, "Depth of the circuit.", (lot) => lot.circuitDepth),
  shots: row(count, "Times that the circuit was run.", (lot) => lot.shots),
  calibration: row(
    orNull(object({ id: orNull(text2), date: orNull(text2), digest: sha2562 })),
    "The calibration as its provider names it, and the hash of all of it as RFC 8785 prints it.",
    (lot) => lot.calibration === null ? null : calibrationOf(lot.calibration)
  ),
  upstream: row(
    orNull(UPSTREAM),
    "The certificates of another service under which the raw bits came; null where they came from a source itself.",
    ({ upstream }) => upstream === void 0 ? null : upstreamOf(upstream)
  ),
  finished_at: row(time, "When the read ended.", (lot) => new Date(lot.finishedAtMs).toISOString()),
  raw_bits: row(count, "Bits that were read.", (lot) => lot.rawBits),
  raw_output: row(sha2562, "Of the raw bits as the backend delivered them.", (lot) => prefixed(lot.rawSha256)),
  processed: row(sha2562, "Of the bytes after conditioning.", (lot) => prefixed(lot.processedSha256)),
  health: row(
    object({ samples: count, rct_failures: count, apt_failures: count }),
    "The continuous health tests (SP 800-90B 4.4).",
    ({ health }) => ({
      samples: health.samples,
      rct_failures: health.rctFailures,
      apt_failures: health.aptFailures
    })
  ),
  min_entropy_per_bit: row(
    orNull(share),
    "SP 800-90B 6.3 on the raw bits; null where too few were read.",
    (lot) => lot.minEntropyPerBit
  ),
  raw_windows: row(
    count,
    "Windows of raw bits that were assessed; together they cover every bit in both orders.",
    (lot) => lot.rawWindows ?? 0
  ),
  tested: row(
    { ...listOf(TESTED), maxItems: LIST_ITEMS_MAX },
    "Runs of SP 800-22. What lay in a conditioned window that failed was erased.",
    (lot) => lot.assessments.map(testedOf)
  ),
  evidence: row(
    orNull(EVIDENCE),
    "How quantum the lot is shown to be; null for a sample of the csprng stream.",
    (lot) => lot.evidence === void 0 ? null : evidenceOf2(lot.evidence)
  ),
  pure: row(
    object({ bytes: count, block_bytes: { ...count, minimum: 1 }, piece_bytes: count, root: text2 }),
    "The blocks of pure mode, and the root of the tree over the roots of their trees.",
    (lot, { blocks }) => ({
      bytes: committed(lot).pureBytes,
      block_bytes: PURE_BLOCK_BYTES,
      piece_bytes: PIECE_BYTES,
      root: toBase64(blocks.root)
    })
  ),
  seeds: row(
    object({ count, root: text2 }),
    "The seeds, and the root of the tree over their hashes.",
    (_, { seeds }) => ({ count: seeds.size, root: toBase64(seeds.root) })
  )
};
var LOT_LEAF = {
  ...object(Object.fromEntries(Object.entries(LOT_MEMBERS).map(([name, { schema }]) => [name, schema]))),
  additionalProperties: true
};
function committed({ id, commitment: commitment2 }) {
  assert(commitment2 !== void 0, `lot ${id} was accepted, and so committed to its blocks`);
  return commitment2;
}
function prefixed(digest) {
  assert(digest.length === 64, "a digest has 64 hex digits");
  return `sha256:${digest}`;
}
function calibrationOf(calibration) {
  const { id, date } = calibration;
  return {
    id: id === void 0 ? null : String(id),
    date: date === void 0 ? null : String(date),
    digest: digestText(canonical(calibration) ?? "")
  };
}
function upstreamOf({ log, origin, certificates }) {
  return { log, origin, certificates: certificates.map(({ id, leaf }) => ({ id, leaf })) };
}
function testedOf({
  of,
  bits,
  firstBit = 0,
  order,
  sha256: digest,
  sp80022
}) {
  const { passed, total, smallestP, verified, reason } = sp80022;
  return {
    of,
    bits,
    first_bit: firstBit,
    sha256: digest,
    passed,
    total,
    smallest_p: smallestP,
    verified,
    ...order === void 0 ? {} : { order },
    ...verified ? {} : { reason }
  };
}
function evidenceOf2({
  claim: claimed,
  minEntropyPerBit,
  notReached,
  ...said
}) {
  return {
    claim: claimed,
    min_entropy_per_bit: minEntropyPerBit,
    figures: said.figures,
    method: said.method,
    assumptions: said.assumptions,
    not_reached: notReached.map((each) => ({ claim: each.claim, why: each.why }))
  };
}

// src/certificate/verify-derived.ts
var BITS_PER_CITATION = 8192;
function derivedVerdict(certificate, leaves) {
  const told2 = member(certificate, "entropy_mode");
  const mode = ENTROPY_MODES.find((each) => each === told2);
  if (mode === void 0 || !isObject(certificate)) return failed(`There is no mode ${show(told2)}.`);
  const issued = Object.fromEntries(Object.entries(certificate).filter(([name]) => !isElsewhere(name)));
  const flaw = flawOf(certificateForm(mode), issued, "") ?? leaves.map((leaf, i) => flawOf(LOT_LEAF, leaf, `lots[${i}].leaf`)).find((each) => each !== void 0);
  if (flaw !== void 0) return failed(`The form is not that of version 1: ${flaw}.`);
  const lots = leaves;
  const spans = lots.map((_, i) => spansOf(certificate, mode, i));
  const from = { mode, lots, spans };
  const unfit = lots.map((lot) => flawOfLot(lot, mode)).find((each) => each !== void 0) ?? flawOfDraw(from) ?? (mode === "pure" ? flawOfOrder(certificate, lots) : void 0);
  if (unfit !== void 0) return failed(unfit);
  const contradictions = CERTIFICATE_ROWS.flatMap(([path, row2]) => {
    if (!row2.isDerived || !row2.modes.includes(mode)) return [];
    const certified = member(certificate, ...path.split("."));
    const follows = row2.of(from);
    return certified === follows ? [] : [`${path} is ${show(certified)}, and ${show(follows)} follows from the lots.`];
  });
  return contradictions.length > 0 ? failed(contradictions.join(" ")) : holds("Circuit, origin, evidence, tests and hashes follow from the lots.");
}
function isElsewhere(name) {
  return name === "label" || UNSIGNED.some((each) => each === name);
}
function spansOf(certificate, mode, place) {
  const provenance = member(certificate, "provenance");
  if (mode === "csprng") return [];
  if (mode === "quantum-seeded")
    return [
      { offset: Number(member(provenance, "seed", "index")) * SEED_BLOCK_BYTES, bytes: SEED_BLOCK_BYTES }
    ];
  const drawn = member(provenance, "drawn");
  return drawn.filter(({ lot }) => lot === place);
}
function flawOfLot(lot, mode) {
  const { lot_id: id, origin, evidence, tested } = lot;
  if (mode === "csprng") {
    const isSample = origin === "system" && evidence === null && lot.pure.bytes === 0 && lot.seeds.count === 0;
    return isSample ? void 0 : `Lot ${id} is no sample of the csprng stream.`;
  }
  if (evidence === null) return `Lot ${id} has no evidence.`;
  if (!allowsEvidence(origin, evidence.claim))
    return `Lot ${id} of origin ${show(origin)} claims ${show(evidence.claim)}.`;
  const flaw = flawOfFigures({ ...lot, evidence }) ?? flawOfCitations(lot);
  if (flaw !== void 0) return flaw;
  if (lot.declared && !isQuantum(origin)) return `Lot ${id} of origin ${show(origin)} is declared quantum.`;
  const isWhole2 = tested.every(
    ({ of, bits, first_bit: first, passed, total }) => passed <= total && bits > 0 && (of !== "conditioned" || bits % 8 === 0 && first % 8 === 0)
  );
  return isWhole2 ? void 0 : `Lot ${id} was tested in windows that are none.`;
}
function flawOfCitations({ lot_id: id, origin, raw_bits: bits, upstream }) {
  if (upstream === null) return void 0;
  const { certificates, origin: certified } = upstream;
  if (new Set(certificates.map((each) => each.id)).size < certificates.length)
    return `Lot ${id} cites a certificate twice.`;
  if (bits > certificates.length * BITS_PER_CITATION)
    return `Lot ${id} has ${bits} raw bits, and the ${certificates.length} certificates that it cites are of fewer.`;
  return ORIGINS.indexOf(origin) >= ORIGINS.indexOf(certified) ? void 0 : `Lot ${id} of origin ${show(origin)} cites certificates of origin ${show(certified)}.`;
}
function flawOfDraw({ mode, lots, spans }) {
  if (mode !== "pure" && lots.length !== 1)
    return `A certificate of mode ${show(mode)} has one lot, not ${lots.length}.`;
  if (mode === "csprng") return void 0;
  for (const [i, { lot_id: id, pure, seeds }] of lots.entries()) {
    const size = mode === "pure" ? pure.bytes : seeds.count * SEED_BLOCK_BYTES;
    const isWithin = ({ offset, bytes }) => bytes > 0 && bytes % PIECE_BYTES === 0 && offset % PIECE_BYTES === 0 && offset + bytes <= size;
    if (spans[i].length === 0) return `It draws nothing from lot ${id}, which it names.`;
    if (!spans[i].every(isWithin)) return `It draws from lot ${id} what the lot does not have.`;
  }
  return void 0;
}
function flawOfOrder(certificate, lots) {
  const drawn = member(certificate, "provenance", "drawn");
  for (const { lot, offset, bytes } of drawn.slice(0, -1)) {
    const { lot_id: id, pure } = lots[lot];
    const end = offset + bytes;
    if (end % pure.block_bytes !== 0 && end !== pure.bytes)
      return `It leaves a block of lot ${id} at byte ${end}, before the end of the block.`;
  }
  for (const [i, { lot_id: id, pure }] of lots.entries()) {
    const ranges = drawn.filter(({ lot }) => lot === i).sort((a, b) => a.offset - b.offset);
    let drawnTo = 0;
    for (const { offset, bytes } of ranges) {
      if (Math.floor(offset / pure.block_bytes) < drawnTo) return `It draws twice from a block of lot ${id}.`;
      drawnTo = Math.ceil((offset + bytes) / pure.block_bytes);
    }
  }
  return void 0;
}

// src/certificate/verify-label.ts
var PURPOSE_BYTE = 4;
var USER_DATA_BYTE = 5;
function labelVerdict(response, certificate) {
  const certified = member(certificate, "label");
  const told2 = member(response, "label");
  if (certified === void 0 && told2 === void 0) return void 0;
  if (certified === void 0) return failed("The answer has a label, the certificate has none.");
  if (!isObject(certified) || typeof certified["public"] !== "boolean")
    return failed("The label of the certificate is not an object that says whether it is public.");
  const failure = flawOf2(certified) ?? (response === void 0 ? void 0 : difference(response, told2, certified));
  return failure === void 0 ? holds(holdsText(certified)) : failed(failure);
}
function flawOf2(certified) {
  const { serial, series, user_data: userData, user_data_sha256: digest } = certified;
  const odd = noText(certified);
  if (odd !== void 0) return `${odd} of the certificate's label is not well-formed text.`;
  const isNumbered = typeof serial === "number" && Number.isSafeInteger(serial) && serial >= 1;
  const hasPurpose = certified["purpose"] !== void 0 || certified["purpose_commitment"] !== void 0;
  if (hasPurpose && !(typeof series === "string" && isNumbered))
    return "The label has a purpose without a series and a serial.";
  if (!hasPurpose && (series !== void 0 || serial !== void 0))
    return "The label has a serial without a purpose.";
  if (userData !== void 0 && digest !== digestText(text(userData) ?? ""))
    return "user_data_sha256 of the certificate is not the hash of its user_data.";
  return void 0;
}
function noText(label) {
  return ["purpose", "user_data"].find((name) => {
    const value = member(label, name);
    return value !== void 0 && text(value)?.isWellFormed() !== true;
  });
}
function difference(response, told2, certified) {
  if (told2 === void 0) return "The certificate has a label, the answer has none.";
  const salt = text(member(response, "metadata", "certificate_salt")) ?? "";
  if (!/^[0-9a-f]{64}$/.test(salt)) return "metadata.certificate_salt is not 64 hex digits.";
  const odd = noText(told2);
  if (odd !== void 0) return `${odd} of the answer's label is not well-formed text.`;
  const isPublic = certified["public"];
  const expected = { public: isPublic };
  const purpose = member(told2, "purpose");
  const userData = member(told2, "user_data");
  if (purpose !== void 0) {
    expected["series"] = member(told2, "series");
    if (isPublic === true) expected["purpose"] = purpose;
    else expected["purpose_commitment"] = commitment(PURPOSE_BYTE, salt, purpose);
  }
  if (userData !== void 0) {
    if (isPublic === true) {
      expected["user_data"] = userData;
      expected["user_data_sha256"] = digestText(text(userData) ?? "");
    } else expected["user_data_commitment"] = commitment(USER_DATA_BYTE, salt, userData);
  }
  const digest = member(told2, "user_data_sha256");
  if (digest !== void 0) expected["user_data_sha256"] = digest;
  if (member(told2, "public") !== isPublic)
    return "The label of the answer differs from the certificate in public.";
  const names = /* @__PURE__ */ new Set([...Object.keys(expected), ...Object.keys(certified)]);
  names.delete("serial");
  const differing = [...names].filter((name) => expected[name] !== certified[name]);
  return differing.length === 0 ? void 0 : `The label of the answer differs from the certificate in ${differing.join(", ")}.`;
}
function holdsText(certified) {
  const { serial, series, purpose } = certified;
  const of = purpose === void 0 ? "its purpose" : `the purpose ${show(purpose)}`;
  const numbered = serial === void 0 ? "" : ` It is answer ${show(serial)} of ${show(series)}, its account and ${of}.`;
  return `What the caller said of the answer is as certified.${numbered}`;
}
function commitment(byte, salt, value) {
  return digestText(concatBytes(Uint8Array.of(byte), hexToBytes(salt), utf8Bytes(text(value) ?? "")));
}

// src/certificate/draw-samplers.ts
var ByteStream = class {
  #next;
  #chunk = new Uint8Array(0);
  #at = 0;
  used = 0;
  /** `next` gives the next bytes, at least one, or throws when there are none. */
  constructor(next) {
    this.#next = next;
  }
  take(size) {
    const taken = new Uint8Array(size);
    for (let i = 0; i < size; i++) {
      if (this.#at === this.#chunk.length) {
        this.#chunk = this.#next();
        this.#at = 0;
      }
      taken[i] = this.#chunk[this.#at++];
    }
    this.used += size;
    return taken;
  }
  number(size) {
    let value = 0n;
    for (const byte of this.take(size).reverse()) value = value * 256n + BigInt(byte);
    return value;
  }
};
function integers({ min, max, count: count2, unique, sort }, bytes) {
  const span = BigInt(max) - BigInt(min) + 1n;
  const drawn = unique ? uniqueOffsets(span, count2, bytes) : offsets(span, count2, bytes);
  const values = drawn.map((offset) => BigInt(min) + offset);
  if (sort !== "none") values.sort((a, b) => a < b ? -1 : a > b ? 1 : 0);
  if (sort === "descending") values.reverse();
  return values.map(Number);
}
function floats(count2, precision, bytes) {
  if (precision === null) {
    return Array.from({ length: count2 }, () => Number(bytes.number(7) % 2n ** 53n) / 2 ** 53);
  }
  return offsets(10n ** BigInt(precision), count2, bytes).map((k) => Number(`${k}e-${precision}`));
}
function weighted(items, weights, count2, bytes) {
  const whole = weights.map(BigInt);
  let divisor = whole[0];
  for (const weight of whole) {
    let rest = weight;
    while (rest > 0n) [divisor, rest] = [rest, divisor % rest];
  }
  const shares = whole.map((weight) => weight / divisor);
  const sum = shares.reduce((a, b) => a + b, 0n);
  return offsets(sum, count2, bytes).map((offset) => {
    let left = offset;
    let i = 0;
    for (; left >= shares[i]; i++) left -= shares[i];
    return items[i];
  });
}
function sample(items, count2, bytes) {
  return uniqueOffsets(BigInt(items.length), count2, bytes).map((place) => items[Number(place)]);
}
function strings(count2, length, alphabet, bytes) {
  const places = offsets(BigInt(alphabet.length), count2 * length, bytes);
  const characters = places.map((place) => alphabet[Number(place)]);
  return Array.from({ length: count2 }, (_, i) => characters.slice(i * length, (i + 1) * length).join(""));
}
function permutation(length, bytes) {
  return integers({ count: length, min: 0, max: length - 1, unique: true, sort: "none" }, bytes);
}
function uuid(octets) {
  let bits = 0n;
  for (const octet of octets) bits = bits << 8n | BigInt(octet);
  bits = bits & ~(0xfn << 76n) | 4n << 76n;
  bits = bits & ~(3n << 62n) | 2n << 62n;
  const hex = bits.toString(16).padStart(32, "0");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
function offsets(span, count2, bytes) {
  if (span === 1n) return Array.from({ length: count2 }, () => 0n);
  const batch = span <= 2n ** 21n ? batchSize(span) : 1;
  if (batch === 1) {
    const size = span <= 2n ** 21n ? 4 : wordSize(span);
    return Array.from(
      { length: count2 },
      () => size === 4 ? scaledNumber(span, bytes) : wideNumber(span, size, bytes)
    );
  }
  const values = [];
  while (values.length < count2) {
    const size = Math.min(batch, count2 - values.length);
    let number = scaledNumber(span ** BigInt(size), bytes);
    const digits = [];
    for (let i = 0; i < size; i++) {
      digits.unshift(number % span);
      number /= span;
    }
    values.push(...digits);
  }
  return values;
}
function batchSize(span) {
  const words = 2n ** 32n;
  let best = 1;
  let bestYield = -1n;
  for (let size = 1; span ** BigInt(size) <= words; size++) {
    const valuesPerWords = BigInt(size) * (words - words % span ** BigInt(size));
    if (valuesPerWords > bestYield) {
      best = size;
      bestYield = valuesPerWords;
    }
  }
  return best;
}
function wordCount(size) {
  return size === 7 ? 2n ** 53n : 256n ** BigInt(size);
}
function wordSize(span) {
  let best = 0;
  let bestCost = [1n, 0n];
  for (const size of [4, 5, 6, 7]) {
    const words = wordCount(size);
    if (words < span) continue;
    const cost = [BigInt(size) * words, words - words % span];
    if (cost[0] * bestCost[1] < bestCost[0] * cost[1]) {
      best = size;
      bestCost = cost;
    }
  }
  return best;
}
function scaledNumber(bound, bytes) {
  const words = 2n ** 32n;
  for (; ; ) {
    const scaled = bytes.number(4) * bound;
    if (scaled % words >= words % bound) return scaled / words;
  }
}
function wideNumber(span, size, bytes) {
  const words = wordCount(size);
  for (; ; ) {
    const word = bytes.number(size) % words;
    if (word < words / span * span) return word % span;
  }
}
function uniqueOffsets(span, count2, bytes) {
  if (span <= BigInt(4 * count2)) {
    const range = Array.from({ length: Number(span) }, (_, i) => BigInt(i));
    return shuffle(range, count2, bytes).slice(0, count2);
  }
  const taken = /* @__PURE__ */ new Set();
  while (taken.size < count2) for (const offset of offsets(span, count2 - taken.size, bytes)) taken.add(offset);
  return [...taken];
}
function shuffle(items, steps, bytes) {
  const order = [...items];
  let i = 0;
  while (i < steps) {
    const bounds = [BigInt(order.length - i)];
    const product = () => bounds.reduce((a, b) => a * b, 1n);
    while (i + bounds.length < steps) {
      const next = BigInt(order.length - i - bounds.length);
      if (product() * next > 2n ** 28n) break;
      bounds.push(next);
    }
    let number = scaledNumber(product(), bytes);
    let place = product();
    for (const bound of bounds) {
      place /= bound;
      const j = i + Number(number / place);
      number %= place;
      [order[i], order[j]] = [order[j], order[i]];
      i++;
    }
  }
  return order;
}

// src/certificate/draw-gaussians.ts
function gaussians(count2, request, bytes) {
  const bits = bitsOf(bytes);
  return Array.from({ length: count2 }, () => gaussian(request, bits));
}
function bitsOf(bytes) {
  let word = [];
  return () => {
    if (word.length === 0) {
      const number = bytes.number(4);
      word = Array.from({ length: 32 }, (_, i) => number >> BigInt(i) & 1n);
    }
    return word.shift();
  };
}
function bitAt(number, i) {
  while (number.bits.length <= i) number.bits.push(number.next());
  return number.bits[i];
}
function isLess(a, b) {
  let i = 0;
  while (bitAt(a, i) === bitAt(b, i)) i++;
  return bitAt(a, i) < bitAt(b, i);
}
function gaussian(request, next) {
  const fresh = () => ({ bits: [], next });
  const dice = (sides) => {
    let [v, c] = [1n, 0n];
    for (; ; ) {
      [v, c] = [2n * v, 2n * c + next()];
      if (v >= sides && c < sides) return c;
      if (v >= sides) [v, c] = [v - sides, c - sides];
    }
  };
  const half2 = () => {
    const u = fresh();
    if (bitAt(u, 0) === 1n) return true;
    let [row2, last] = [1, u];
    for (let z = fresh(); isLess(z, last); z = fresh()) [row2, last] = [row2 + 1, z];
    return row2 % 2 === 0;
  };
  const part = (k, x) => {
    let [row2, last] = [0, x];
    for (let z = fresh(); isLess(z, last); z = fresh()) {
      const side = dice(BigInt(2 * k + 2));
      if (side === 0n || side === 1n && !isLess(fresh(), x)) break;
      [row2, last] = [row2 + 1, z];
    }
    return row2 % 2 === 0;
  };
  const all = (times2, trial) => {
    while (times2-- > 0) if (!trial()) return false;
    return true;
  };
  for (; ; ) {
    let k = 0;
    while (half2()) k++;
    if (!all(k * (k - 1), half2)) continue;
    const x = fresh();
    if (!all(k + 1, () => part(k, x))) continue;
    return roundedGaussian(request, k, x, next() === 1n);
  }
}
function roundedGaussian({ mean, stddev, digits }, k, x, isNegative) {
  const [m, s] = [fractionOf(mean), fractionOf(stddev)];
  const typical = [(m[0] < 0n ? -m[0] : m[0]) * s[1] + s[0] * m[1], m[1] * s[1]];
  let first = 0;
  const spacing = placeOf(typical) - digits + 1;
  while (!isAtLeast(power(spacing), [16n * s[0], s[1] << BigInt(first)])) first++;
  for (let known = Math.max(first, x.bits.length); ; known += 4) {
    let fraction = 0n;
    for (let i = 0; i < known; i++) fraction = 2n * fraction + bitAt(x, i);
    const at = (steps) => {
      const z = ((BigInt(k) << BigInt(known)) + steps) * (isNegative ? -1n : 1n);
      return [m[0] * s[1] * (1n << BigInt(known)) + z * s[0] * m[1], m[1] * s[1] << BigInt(known)];
    };
    const ends = [at(fraction), at(fraction + 1n)];
    if (ends.every(([n]) => n > 0n) || ends.every(([n]) => n < 0n)) {
      const [a, b] = ends.map((each) => decimalText(each, digits));
      if (a === b) return Number(a);
    }
  }
}
function fractionOf(value) {
  const [digits, exponent = "0"] = String(value).split("e");
  const places = (digits.split(".")[1] ?? "").length;
  const [n, d] = power(Number(exponent) - places);
  return [BigInt(digits.replace(".", "")) * n, d];
}
function power(exponent) {
  return exponent >= 0 ? [10n ** BigInt(exponent), 1n] : [1n, 10n ** BigInt(-exponent)];
}
function isAtLeast(a, b) {
  return a[0] * b[1] >= b[0] * a[1];
}
function placeOf(value) {
  let place = 0;
  while (isAtLeast(value, power(place + 1))) place++;
  while (!isAtLeast(value, power(place))) place--;
  return place;
}
function decimalText([n, d], digits) {
  const value = [n < 0n ? -n : n, d];
  const exponent = placeOf(value) - digits + 1;
  const [p, q] = power(exponent);
  const twice = 2n * value[0] * q / (value[1] * p);
  const whole = (twice + 1n) / 2n;
  return `${n < 0n ? "-" : ""}${whole === 10n ** BigInt(digits) ? `${whole / 10n}e${exponent + 1}` : `${whole}e${exponent}`}`;
}

// src/certificate/draw-values.ts
var INFO = new TextEncoder().encode("qrn draw v1");
function drawnValues(request, bytes) {
  const kind = text(member(request, "kind"));
  const draw = kind !== void 0 && Object.hasOwn(KINDS, kind) ? KINDS[kind] : void 0;
  if (draw === void 0) return `there is no kind ${show(kind)} of values`;
  return draw(new Members(request), bytes) ?? `its members are not those of ${kind}`;
}
var NUMBERS_MAX = 1e5;
var STEPS_MAX = 2 ** 28;
var GAUSSIANS_MAX = 1e4;
var KINDS = {
  integers(request, bytes) {
    const range = rangeOf(request, request.whole("count"));
    return range === void 0 ? void 0 : integers({ ...range, sort: request.order() }, bytes);
  },
  floats(request, bytes) {
    const [count2, precision] = [request.whole("count"), request.get("precision")];
    if (count2 === 0 || precision !== null && !isWhole(precision, 1, 15)) return void 0;
    return floats(count2, precision, bytes);
  },
  bytes(request, bytes) {
    const [count2, length] = [request.whole("count"), request.whole("length", 1024)];
    const encoding = request.get("encoding");
    if (count2 === 0 || length === 0 || count2 * length > NUMBERS_MAX) return void 0;
    if (encoding !== "hex" && encoding !== "base64") return void 0;
    return times(count2, () => {
      const value = bytes.take(length);
      return encoding === "hex" ? bytesToHex(value) : btoa(String.fromCharCode(...value));
    });
  },
  uuid(request, bytes) {
    const count2 = request.whole("count");
    return count2 === 0 ? void 0 : times(count2, () => uuid(bytes.take(16)));
  },
  sample(request, bytes) {
    const [count2, items] = [request.whole("count"), request.texts("items")];
    if (count2 === 0 || items === void 0 || count2 > items.length) return void 0;
    return sample(items, count2, bytes);
  },
  weighted(request, bytes) {
    const [count2, items, weights] = [request.whole("count"), request.texts("items"), request.get("weights")];
    if (count2 === 0 || items === void 0 || !Array.isArray(weights)) return void 0;
    if (count2 * items.length > STEPS_MAX) return void 0;
    const isFit = weights.length === items.length && weights.every((each) => isWhole(each, 1, 2 ** 53));
    if (!isFit || weights.reduce((sum, weight) => sum + BigInt(weight), 0n) > 2n ** 53n) return void 0;
    return weighted(items, weights, count2, bytes);
  },
  strings(request, bytes) {
    const [count2, length] = [request.whole("count"), request.whole("length", 128)];
    const alphabet = request.texts("alphabet");
    if (count2 === 0 || length === 0 || count2 * length > NUMBERS_MAX || alphabet === void 0)
      return void 0;
    return new Set(alphabet).size < alphabet.length ? void 0 : strings(count2, length, alphabet, bytes);
  },
  sequences(request, bytes) {
    const [count2, given, sort] = [request.whole("count"), request.get("ranges"), request.order()];
    if (count2 === 0 || !Array.isArray(given) || given.length === 0) return void 0;
    const ranges = [];
    for (const each of given) {
      const members = new Members(each);
      const range = rangeOf(members, members.whole("length"));
      if (range === void 0) return void 0;
      ranges.push(range);
    }
    const numbers = ranges.reduce((sum, range) => sum + range.count, 0);
    if (count2 * numbers > NUMBERS_MAX) return void 0;
    return times(count2, () => ranges.map((range) => integers({ ...range, sort }, bytes)));
  },
  permutations(request, bytes) {
    const [count2, length] = [request.whole("count"), request.whole("length", 1e4)];
    if (count2 === 0 || length === 0 || count2 * length > NUMBERS_MAX) return void 0;
    return times(count2, () => permutation(length, bytes));
  },
  gaussians(request, bytes) {
    const [count2, digits] = [request.whole("count", GAUSSIANS_MAX), request.whole("digits", 14)];
    const [mean, stddev] = [request.get("mean"), request.get("stddev")];
    if (count2 === 0 || digits < 2 || typeof mean !== "number" || typeof stddev !== "number") return void 0;
    if (!(Math.abs(mean) <= 1e6 && stddev >= 1e-9 && stddev <= 1e6)) return void 0;
    return gaussians(count2, { mean, stddev, digits }, bytes);
  }
};
function rangeOf(request, count2) {
  const [min, max, unique] = [request.get("min"), request.get("max"), request.get("unique")];
  if (typeof unique !== "boolean") return void 0;
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || count2 === 0) return void 0;
  const range = { count: count2, min: Number(min), max: Number(max), unique };
  const reach = range.max - range.min;
  return reach >= 0 && reach < 2 ** 53 && (!unique || reach + 1 >= count2) ? range : void 0;
}
var Members = class {
  #given;
  constructor(given) {
    this.#given = given;
  }
  get(name) {
    return member(this.#given, name);
  }
  /** A whole number from 1 on; 0 for anything else. */
  whole(name, max = NUMBERS_MAX) {
    const value = this.get(name);
    return isWhole(value, 1, max) ? value : 0;
  }
  order() {
    const value = this.get("sort");
    return value === "ascending" || value === "descending" ? value : "none";
  }
  texts(name) {
    const value = this.get(name);
    const isList = Array.isArray(value) && value.length >= 1 && value.length <= NUMBERS_MAX;
    return isList && value.every((each) => typeof each === "string") ? value : void 0;
  }
};
function isWhole(value, min, max) {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
}
function times(count2, make) {
  return Array.from({ length: count2 }, make);
}

// src/certificate/verify-values.ts
var PIECE_BYTES2 = 16;
var BITS_MAX = 1e5;
var Exhausted = class extends Error {
  name = "Exhausted";
};
var MEMBERS = {
  integers: ["count", "max", "min", "sort", "unique", "values"],
  bytes: ["bits", "bytes", "count", "encoding"],
  floats: ["count", "precision", "values"],
  uuid: ["count", "uuids", "version"],
  bitstring: ["bitstring", "length"],
  shuffle: ["count", "items"],
  batch: ["count", "params", "type", "values"],
  sample: ["count", "items", "list_sha256", "of"],
  weighted: ["count", "items", "list_sha256", "weights"],
  strings: ["alphabet", "count", "length", "values"],
  sequences: ["count", "length", "max", "min", "sort", "unique", "values"],
  permutations: ["count", "length", "values"],
  gaussians: ["count", "digits", "mean", "stddev", "values"]
};
var PARAMS = {
  integers: ["max", "min", "sort", "unique"],
  floats: ["precision"],
  bytes: ["encoding", "length"],
  uuid: [],
  sample: ["list_sha256", "of"],
  weighted: ["list_sha256", "weights"],
  strings: ["alphabet", "length"],
  sequences: ["length", "max", "min", "sort", "unique"],
  permutations: ["length"],
  gaussians: ["digits", "mean", "stddev"]
};
function flawOfData(endpoint, data) {
  const names = rowOf(MEMBERS, endpoint);
  if (names === void 0) return `There is no endpoint ${show(endpoint)}.`;
  if (!hasMembers(data, [...names, "metadata"]))
    return `The members of data are not those of an answer of ${show(endpoint)}: ${names.join(", ")}.`;
  if (endpoint !== "batch") return void 0;
  const type = member(data, "type");
  const params = rowOf(PARAMS, type);
  if (params === void 0) return `A batch has no type ${show(type)}.`;
  return hasMembers(member(data, "params"), params) ? void 0 : `The members of params are not those of a batch of ${show(type)}: ${params.join(", ")}.`;
}
function rowOf(table, name) {
  return typeof name === "string" && Object.hasOwn(table, name) ? table[name] : void 0;
}
function hasMembers(value, names) {
  return isObject(value) && Object.keys(value).sort().join() === names.toSorted().join();
}
function drawnAs(endpoint, data) {
  if (endpoint !== "batch") return { kind: endpoint, told: data };
  const [type, params, values] = ["type", "params", "values"].map((name2) => member(data, name2));
  const own = isObject(params) ? params : {};
  const name = type === "uuid" ? "uuids" : type === "sample" || type === "weighted" ? "items" : "values";
  return {
    kind: type === "bytes" ? BYTE_STRINGS : type,
    told: { ...own, count: member(data, "count"), [name]: values }
  };
}
var BYTE_STRINGS = "byte strings";
var PER_BIT = 4 / 8;
var WORDS_BYTES = 256;
var GAUSSIAN_BYTES = 64;
var BYTES_PER_CHARACTER = 16;
function bytesMaxOf(endpoint, answered) {
  const { kind: drawn, told: data } = drawnAs(endpoint, answered);
  const length = (name) => {
    const told2 = member(data, name);
    return Array.isArray(told2) || typeof told2 === "string" ? told2.length : 0;
  };
  const number = (name) => Number(member(data, name));
  const span = (min, max) => Math.log2(Math.max(1, Number(max) - Number(min) + 1));
  const ofBits = (bits) => Math.ceil(bits * PER_BIT) + WORDS_BYTES;
  const values = length("values");
  switch (drawn) {
    case "bytes":
      return Math.floor(length("bytes") * (member(data, "encoding") === "hex" ? 1 / 2 : 3 / 4));
    case "bitstring":
      return Math.ceil(length("bitstring") / 8);
    case "uuid":
      return 16 * length("uuids");
    case BYTE_STRINGS:
      return values * number("length");
    case "integers":
      return ofBits(values * span(member(data, "min"), member(data, "max")));
    case "floats":
      return ofBits(values * 56);
    case "strings":
      return ofBits(
        values * number("length") * Math.log2([...text(member(data, "alphabet")) ?? ""].length || 1)
      );
    case "permutations":
      return ofBits(values * number("length") * Math.log2(Math.max(2, number("length"))));
    case "sequences": {
      const each = (name) => {
        const told2 = member(data, name);
        return Array.isArray(told2) ? told2 : [];
      };
      const bits = each("length").map((size, i) => Number(size) * span(each("min")[i], each("max")[i]));
      return ofBits(values * bits.reduce((sum, of) => sum + of, 0));
    }
    case "gaussians":
      return GAUSSIAN_BYTES * values + WORDS_BYTES;
    default:
      return BYTES_PER_CHARACTER * (canonical(member(data, "values") ?? member(data, "items")) ?? "").length;
  }
}
function valuesVerdict(endpoint, answered, drawn) {
  const { kind: name, told: data } = drawnAs(endpoint, answered);
  const kind = rowOf(KINDS2, name);
  if (kind === void 0)
    return holds(
      `The bytes drawn for it are those that the lots committed to. That its values follow from them is not checked: an answer of ${show(name)} does not hold all that they were drawn with.`
    );
  const told2 = member(data, kind.values);
  const stream = streamOf(drawn);
  let again;
  try {
    again = kind.drawAgain(data, stream);
  } catch (error) {
    if (!(error instanceof Exhausted)) throw error;
    return failed("The opening holds fewer bytes than its values are drawn from.");
  }
  if (again === void 0 || canonical(again) !== canonical(told2))
    return failed("The values are not those that follow from the bytes that were drawn.");
  if (drawn.length - stream.used >= PIECE_BYTES2)
    return failed("The opening holds more than what its values are drawn from.");
  return holds("Its values follow from bytes that the lots committed to.");
}
function streamOf(bytes) {
  let isGiven = bytes.length === 0;
  return new ByteStream(() => {
    if (isGiven) throw new Exhausted();
    isGiven = true;
    return bytes;
  });
}
var KINDS2 = {
  integers: listed("integers", "values", ["count", "min", "max", "unique", "sort"]),
  floats: listed("floats", "values", ["count", "precision"]),
  uuid: listed("uuid", "uuids", ["count"]),
  strings: listed("strings", "values", ["count", "length"], (data) => ({
    alphabet: [...text(member(data, "alphabet")) ?? ""]
  })),
  sequences: listed("sequences", "values", ["count", "sort"], (data) => ({ ranges: rangesOf(data) })),
  permutations: listed("permutations", "values", ["count", "length"]),
  gaussians: listed("gaussians", "values", ["count", "digits", "mean", "stddev"]),
  [BYTE_STRINGS]: listed("bytes", "values", ["count", "encoding", "length"]),
  bytes: {
    values: "bytes",
    drawAgain: (data, bytes) => {
      const request = {
        kind: "bytes",
        count: 1,
        length: member(data, "count"),
        encoding: member(data, "encoding")
      };
      const drawn = drawnValues(request, bytes);
      return typeof drawn === "string" ? void 0 : drawn[0];
    }
  },
  bitstring: {
    values: "bitstring",
    drawAgain: (data, bytes) => {
      const length = member(data, "length");
      if (typeof length !== "number" || !Number.isInteger(length) || length < 1 || length > BITS_MAX)
        return void 0;
      const octets = [...bytes.take(Math.ceil(length / 8))];
      return octets.map((octet) => octet.toString(2).padStart(8, "0")).join("").slice(0, length);
    }
  }
};
function listed(kind, values, names, more = () => ({})) {
  return {
    values,
    drawAgain: (data, bytes) => {
      const told2 = member(data, values);
      if (!Array.isArray(told2) || told2.length !== member(data, "count")) return void 0;
      const own = Object.fromEntries(names.map((name) => [name, member(data, name)]));
      const drawn = drawnValues({ kind, ...own, ...more(data) }, bytes);
      return typeof drawn === "string" ? void 0 : drawn;
    }
  };
}
function rangesOf(data) {
  const [lengths, mins, maxes] = ["length", "min", "max"].map((name) => member(data, name));
  if (!Array.isArray(lengths) || !Array.isArray(mins) || !Array.isArray(maxes)) return void 0;
  const unique = member(data, "unique");
  return lengths.map((length, i) => ({ length, min: mins[i], max: maxes[i], unique }));
}

// src/certificate/verify-witnesses.ts
var WITNESS_CLOCK_MS = 6e4;
function readWitnessPolicy(keysText, quorumText) {
  const keys = keysText.split(/[\s,]+/).filter((each) => each !== "");
  if (keys.length === 0) return "no witness is named";
  if (quorumText === "") return { keys, quorum: keys.length };
  const quorum = /^[1-9]\d{0,3}$/.test(quorumText) ? Number(quorumText) : 0;
  return quorum >= 1 && quorum <= keys.length ? { keys, quorum } : `the quorum is 1 to ${keys.length}, not ${JSON.stringify(quorumText)}`;
}
async function witnessVerdict(document, certificate, logged, policy) {
  const { keys, quorum } = policy;
  if (!(Number.isSafeInteger(quorum) && quorum >= 1 && quorum <= keys.length))
    return failed(`The quorum is ${quorum}, and ${keys.length} witnesses are named.`);
  const seen = await readCosignatures(keys, logged);
  if (typeof seen === "string" || typeof logged === "string") return failed(String(seen));
  const issuedMs = timeOf(member(certificate, "issued_at"));
  const early = seen.find(({ atS }) => atS * 1e3 < issuedMs - WITNESS_CLOCK_MS);
  if (early !== void 0)
    return failed(`${early.name} saw the tree at ${timeText(early.atS)}, before the certificate was issued.`);
  const told2 = namesAndTimes(seen);
  if (seen.length < quorum) {
    const who = told2 === "" ? "" : `: ${told2}`;
    return failed(`${seen.length} of the ${quorum} witnesses that are asked for saw the tree${who}.`);
  }
  const byS = seen.map(({ atS }) => atS).sort((a, b) => a - b)[quorum - 1];
  const before = await seenWithout(document, logged, policy);
  const since = before === void 0 ? `${text(member(certificate, "issued_at"))}, by the log's own word,` : `${timeText(before.atS)}, when witnesses had seen the log with ${before.size} leaves and so without it,`;
  return holds(`Seen by ${told2}: logged between ${since} and ${timeText(byS)}.`);
}
async function seenWithout(document, { proof, checkpoint }, { keys, quorum }) {
  let latest;
  const lots = member(document, "lots");
  for (const lot of Array.isArray(lots) ? lots : []) {
    const logged = readProof(member(lot, "proof"));
    if (typeof logged === "string") continue;
    const { origin, size } = logged.checkpoint;
    if (origin !== checkpoint.origin || size > proof.index) continue;
    const seen = await readCosignatures(keys, logged);
    if (typeof seen === "string" || seen.length < quorum) continue;
    const atS = Math.min(...seen.map((each) => each.atS));
    if (latest === void 0 || atS > latest.atS) latest = { atS, size };
  }
  return latest;
}
function namesAndTimes(seen) {
  return seen.map(({ name, atS }) => `${name} at ${timeText(atS)}`).join(", ");
}

// src/certificate/verify-lots.ts
var OPENED_BYTES_MAX = 2048;
var LOTS_UNKNOWN = "It reads the lots, and those that were given are not the ones of the certificate.";
function readLots(document, certificate) {
  const named = member(certificate, "provenance", "lots");
  const given = member(document, "lots");
  const unknown = (why) => ({ leaves: void 0, verdict: failed(why) });
  if (!Array.isArray(named) || named.length === 0) return unknown("The certificate names no lot.");
  if (!Array.isArray(given) || given.length !== named.length)
    return unknown(`The certificate names ${named.length} lots, and its file has not as many under lots.`);
  const ids = named.map((each) => text(member(each, "id")));
  if (new Set(ids).size < ids.length) return unknown("The certificate names a lot twice.");
  const leaves = given.map((each) => member(each, "leaf"));
  for (const [i, leaf] of leaves.entries()) {
    const id = ids[i];
    const isLot = member(leaf, "type") === "lot" && member(leaf, "version") === 1;
    if (!isLot || id === void 0 || member(leaf, "lot_id") !== id)
      return unknown(`What is given for lot ${show(id)} is not its leaf.`);
    const hash = canonical(leaf);
    if (hash === void 0 || toBase64(leafHash(sha256, utf8Bytes(hash))) !== member(named[i], "leaf"))
      return unknown(`The leaf of lot ${id} is not the one that the certificate names by its hash.`);
  }
  const which = leaves.length === 1 ? "The lot is the one" : `The ${leaves.length} lots are those`;
  return { leaves, verdict: holds(`${which} that the certificate names by the hash of its leaf.`) };
}
function issuedText(certificate) {
  if (!isObject(certificate)) return void 0;
  const issued = Object.entries(certificate).filter(([name]) => !UNSIGNED.some((each) => each === name));
  return canonical(Object.fromEntries(issued));
}
async function fixedVerdict(input, certificate, leaves, logged) {
  const { octets, witnesses } = input;
  const mode = member(certificate, "entropy_mode");
  if (mode === "csprng") return failed("Required, and not shown: values of csprng mode come from no lot.");
  if (leaves === void 0) return failed(LOTS_UNKNOWN);
  const response = octets === void 0 || !isObject(input.response) ? input.response : { opening: null, ...input.response };
  const fixed = [];
  for (const [i, leaf] of leaves.entries()) {
    const found = await fixedLot(input, certificate, logged, leaf, i);
    if (typeof found === "string") return failed(found);
    fixed.push(found);
  }
  const bound = mode === "pure" ? pureVerdict(certificate, fixed, response) : seedVerdict(certificate, fixed);
  if ("failure" in bound) return bound;
  const latestS = Math.max(...fixed.map(({ atS }) => atS));
  const seen = witnesses === void 0 ? "" : `, and ${witnesses.quorum} witnesses or more saw them by then, give or take ${WITNESS_CLOCK_MS / 1e3} s`;
  return holds(
    `The log says that it held its lots by ${timeText(latestS)}, before it was issued${seen}. ${bound.holds}`
  );
}
async function fixedLot({ certificate: document, keys, witnesses }, certificate, logged, told2, place) {
  const id = text(member(told2, "lot_id")) ?? "";
  const proofs = member(document, "lots");
  const proof = Array.isArray(proofs) ? proofs[place] : void 0;
  const leaf = canonical(told2) ?? "";
  const lotAt = readProof(member(proof, "proof"));
  if (typeof lotAt === "string") return `Lot ${id}: ${lotAt}`;
  const { index } = lotAt.proof;
  if (!holdsLeaf(lotAt, leaf)) return `Lot ${id} is not leaf ${index} of the tree that its proof names.`;
  if (typeof logged !== "string" && logged.checkpoint.origin === lotAt.checkpoint.origin && index >= logged.proof.index)
    return `Lot ${id} was logged after the certificate.`;
  const signed = await readSigned(keys, lotAt);
  if (typeof signed === "string") return `Lot ${id}: ${signed}`;
  const issuedMs = timeOf(member(certificate, "issued_at"));
  const { atS = Number.POSITIVE_INFINITY } = signed;
  if (!(Math.floor(timeOf(member(told2, "finished_at")) / 1e3) <= atS))
    return `The log says that it held lot ${id} at ${timeText(atS)}, before the lot ended.`;
  if (!(atS * 1e3 <= issuedMs))
    return `The log held lot ${id} by ${timeText(atS)}, which is not before the answer was issued.`;
  if (witnesses !== void 0) {
    const seen = await readCosignatures(witnesses.keys, lotAt);
    if (typeof seen === "string") return `Lot ${id}: ${seen}`;
    const before = seen.filter((each) => each.atS * 1e3 <= issuedMs + WITNESS_CLOCK_MS).length;
    if (before < witnesses.quorum)
      return `${before} of the ${witnesses.quorum} witnesses that are asked for saw lot ${id} before the answer was issued.`;
  }
  return commitmentIn(told2, proof, atS) ?? `The leaf of lot ${id} has another form.`;
}
function commitmentIn(leaf, proof, atS) {
  const count2 = (...path) => {
    const value = member(leaf, ...path);
    return isCount2(value) ? value : void 0;
  };
  const pureBytes = count2("pure", "bytes");
  const blockBytes = count2("pure", "block_bytes");
  const seedCount = count2("seeds", "count");
  const pureRoot = text(member(leaf, "pure", "root"));
  const seedRoot = text(member(leaf, "seeds", "root"));
  const runs = member(proof, "runs");
  const isWhole2 = pureBytes !== void 0 && blockBytes !== void 0 && seedCount !== void 0 && Array.isArray(runs);
  if (!isWhole2 || pureRoot === void 0 || seedRoot === void 0) return void 0;
  const isCut = blockBytes > 0 && blockBytes % PIECE_BYTES === 0 && pureBytes % PIECE_BYTES === 0;
  if (!isCut || member(leaf, "pure", "piece_bytes") !== PIECE_BYTES) return void 0;
  return { pureBytes, blockBytes, pureRoot, seedCount, seedRoot, runs, atS };
}
function seedVerdict(certificate, [lot]) {
  const index = member(certificate, "provenance", "seed", "index");
  const run2 = readRun(lot.runs[0]);
  if (run2 === void 0 || run2.first !== index || run2.hashes.length !== 1 || lot.runs.length !== 1)
    return failed(`Nothing leads from seed ${show(index)} to its lot.`);
  const root = rootOfRun(sha256, lot.seedCount, run2.first, run2.hashes, run2.path);
  if (root === void 0 || run2.path.length > 0 || toBase64(root) !== lot.seedRoot)
    return failed(`Seed ${index} is not among the seeds that its lot committed to.`);
  return holds(`Its seed is number ${index} of the ${lot.seedCount} that the lot committed to.`);
}
function pureVerdict(certificate, fixed, response) {
  const drawn = member(certificate, "provenance", "drawn");
  if (!Array.isArray(drawn) || drawn.length === 0) return failed("It does not say what was drawn.");
  const used = fixed.map(() => 0);
  const ranges = [];
  let total = 0;
  for (const each of drawn) {
    const range = readRange(each, fixed.length);
    if (range === void 0) return failed("What it says was drawn are no whole pieces of its lots.");
    total += range.bytes;
    const lot = fixed[range.lot];
    const bound = boundRange(range, lot, lot.runs[used[range.lot]++]);
    if (bound === void 0)
      return failed(`Nothing leads from byte ${range.offset} to lot ${range.lot + 1} of the certificate.`);
    ranges.push(bound);
  }
  if (fixed.some((lot, i) => lot.runs.length !== used[i]))
    return failed("The proof of a lot has more than was drawn.");
  if (response === void 0)
    return holds(
      "Whether the answer was made of those bytes is not checked: only an answer in JSON that drew at most 2048 bytes can show it."
    );
  const [endpoint, data] = [member(certificate, "endpoint"), member(response, "data")];
  const opening = member(response, "opening");
  if (opening === null && text(member(certificate, "media_type")) !== void 0)
    return holds("Not shown of its bytes: an answer in octets carries no opening.");
  const flaw = flawOfData(endpoint, data);
  if (flaw !== void 0) return failed(flaw);
  if (opening !== void 0 && opening !== null) return openingVerdict(ranges, response, endpoint);
  return Math.min(total, bytesMaxOf(endpoint, data)) > OPENED_BYTES_MAX ? holds("The answer is too long to carry what shows that its bytes are those.") : failed("The answer lacks the opening that shows which bytes it was made of.");
}
function boundRange(range, fixed, told2) {
  const { offset, bytes } = range;
  const { pureBytes, blockBytes, pureRoot } = fixed;
  if (offset + bytes > pureBytes) return void 0;
  const firstBlock = Math.floor(offset / blockBytes);
  const blocks = Math.ceil((offset + bytes) / blockBytes) - firstBlock;
  const run2 = readRun(told2);
  if (run2 === void 0 || run2.first !== firstBlock || run2.hashes.length !== blocks) return void 0;
  const root = rootOfRun(sha256, Math.ceil(pureBytes / blockBytes), firstBlock, run2.hashes, run2.path);
  if (root === void 0 || run2.path.length > 0 || toBase64(root) !== pureRoot) return void 0;
  return { ...range, fixed, firstBlock, blockRoots: run2.hashes };
}
function openingVerdict(ranges, response, endpoint) {
  const part = (name) => fromBase64(text(member(response, "opening", name)) ?? "");
  const [bytes, salts, pathBytes] = [part("bytes"), part("salts"), part("path")];
  const length = ranges.reduce((sum, range) => sum + range.bytes, 0);
  const isWhole2 = bytes?.length === length && salts?.length === length / PIECE_BYTES * PIECE_SALT_BYTES;
  if (!isWhole2 || pathBytes === void 0 || pathBytes.length % HASH_BYTES !== 0)
    return failed("The opening does not hold what was drawn.");
  const path = splitHashes(pathBytes);
  let at = 0;
  for (const { fixed, firstBlock, blockRoots, offset, bytes: size } of ranges) {
    let from = offset;
    for (const [i, blockRoot] of blockRoots.entries()) {
      const start = (firstBlock + i) * fixed.blockBytes;
      const end = Math.min(start + fixed.blockBytes, fixed.pureBytes);
      const pieces = [];
      for (let piece = from; piece < Math.min(end, offset + size); piece += PIECE_BYTES, at += PIECE_BYTES) {
        const saltAt = at / PIECE_BYTES * PIECE_SALT_BYTES;
        const salt = salts.subarray(saltAt, saltAt + PIECE_SALT_BYTES);
        pieces.push(pieceHash(sha256, salt, bytes.subarray(at, at + PIECE_BYTES)));
      }
      const root = rootOfRun(sha256, (end - start) / PIECE_BYTES, (from - start) / PIECE_BYTES, pieces, path);
      if (root === void 0 || !equalHashes(root, blockRoot))
        return failed("The bytes in the opening are not those that the lot committed to.");
      from = end;
    }
  }
  if (path.length > 0) return failed("The opening holds more than what was drawn.");
  return valuesVerdict(endpoint, member(response, "data"), bytes);
}
function readRange(value, lots) {
  const [lot, offset, bytes] = ["lot", "offset", "bytes"].map((name) => member(value, name));
  if (!isCount2(lot) || !isCount2(offset) || !isCount2(bytes) || lot >= lots || bytes === 0) return void 0;
  const isWhole2 = offset % PIECE_BYTES === 0 && bytes % PIECE_BYTES === 0;
  return isWhole2 && Number.isSafeInteger(offset + bytes) ? { lot, offset, bytes } : void 0;
}
function isCount2(value) {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
function readRun(value) {
  const first = member(value, "first");
  const hashes = parseHashes(member(value, "hashes"));
  const path = parseHashes(member(value, "path"));
  return isCount2(first) && hashes !== void 0 && path !== void 0 ? { first, hashes, path } : void 0;
}

// src/certificate/verify.ts
async function verifyAnswer(input) {
  const { response, octets, certificate, keys, witnesses } = input;
  const document = member(certificate, "certificate") ?? certificate;
  const logged = readProof(member(document, "proof"));
  const signed = await readSignatures(keys, logged);
  const checks = [];
  const add = (name, verdict) => checks.push(check(name, verdict));
  if (response !== void 0) {
    add("certificate id", certificateId(response, document));
    add("request id", requestId(response, document));
    add("metadata", metadata(input, document));
  }
  if (response !== void 0 || octets !== void 0) add("delivered", delivered(input, document));
  const label = labelVerdict(octets === void 0 ? response : void 0, document);
  if (label !== void 0) add("label", label);
  const lots = readLots(certificate, document);
  add("lots", lots.verdict);
  add("derived", lots.leaves === void 0 ? failed(LOTS_UNKNOWN) : derivedVerdict(document, lots.leaves));
  add("status", statusNow(certificate, document, lots));
  add("keys", keysListed(keys));
  add("inclusion", inclusion(document, logged));
  add("signature", signature(logged, signed));
  add("dates", dates(document, lots, signed));
  if (member(document, "entropy_mode") !== "csprng" || input.requireFixed === true)
    add("fixed", await fixedVerdict(input, document, lots.leaves, logged));
  if (witnesses !== void 0)
    add("witnesses", await witnessVerdict(certificate, document, logged, witnesses));
  return {
    ok: checks.every((check2) => check2.ok),
    checks,
    notCovered: response === void 0 ? [] : notCovered(response, octets !== void 0)
  };
}
function check(name, verdict) {
  return "failure" in verdict ? { name, ok: false, why: verdict.failure } : { name, ok: true, why: verdict.holds };
}
function certificateId(response, document) {
  const id = text(member(document, "id"));
  const url = text(member(document, "verify_url"));
  const asked = member(response, "metadata", "certificate_id");
  if (id === void 0) return failed("The certificate has no id.");
  if (asked !== id) return failed(`The response names ${show(asked)}, the certificate is ${id}.`);
  if (!url?.endsWith(`/${id}`)) return failed("verify_url does not end in the id.");
  return holds(`The response names certificate ${id}.`);
}
function requestId(response, document) {
  const id = text(member(document, "request_id"));
  const named = member(response, "metadata", "request_id");
  const uuid2 = member(response, "meta", "request_id");
  const bits = id?.startsWith("req_") ? bytesOfBase32(id.slice(4)) : void 0;
  if (bits === void 0) return failed("The certificate has no request_id.");
  if (named !== id) return failed(`The response has request ${show(named)}, the certificate is for ${id}.`);
  if (uuid2 !== uuidOf(bits))
    return failed(`meta.request_id is ${show(uuid2)}, not the same 128 bits as ${id}.`);
  return holds(`Both are of request ${id}.`);
}
function metadata({ response }, document) {
  const differing = REPEATED.filter(([inResponse, inCertificate]) => {
    const certified = member(document, ...inCertificate.split("."));
    const told2 = member(response, ...inResponse.split("."));
    return certified === void 0 || told2 !== certified;
  }).map(([inResponse]) => inResponse);
  const type = member(response, "media_type");
  if (type !== void 0 && type !== member(document, "media_type")) differing.push("media_type");
  return differing.length > 0 ? failed(`Not as certified: ${differing.join(", ")}.`) : holds("Time, circuit, backend, origin, mode and test result are as certified.");
}
function delivered({ response, octets, salt: given }, document) {
  const certified = member(document, "hashes", "delivered");
  const type = member(document, "media_type");
  const salt = given ?? text(member(response, "metadata", "certificate_salt"));
  const bytes = type === void 0 ? jsonBytes(response, octets) : octets;
  if (salt === void 0 || !/^[0-9a-f]{64}$/.test(salt))
    return failed("metadata.certificate_salt is not 64 hex digits.");
  if (type !== void 0 && octets === void 0)
    return failed(`The certificate is of octets, ${show(type)}; the answer is not.`);
  if (bytes === void 0 && octets !== void 0)
    return failed("The certificate is of JSON; the answer is in octets.");
  if (bytes === void 0) return failed("The response has no data.");
  const digest = digestText(concatBytes(hexToBytes(salt), bytes));
  if (digest !== certified)
    return failed(`The data and the salt hash to ${digest}, certified is ${show(certified)}.`);
  return type === void 0 ? holds("The data is what was delivered, bit for bit.") : holds(`The octets are what was delivered, bit for bit. They are ${text(type) ?? show(type)}.`);
}
function jsonBytes(response, octets) {
  const data = octets === void 0 ? canonical(member(response, "data")) : void 0;
  return data === void 0 ? void 0 : utf8Bytes(data);
}
function statusNow(certificate, document, lots) {
  const status = member(document, "status");
  if (lots.leaves === void 0) return failed(LOTS_UNKNOWN);
  const deterministic = lots.leaves.some((lot) => member(lot, "deterministic") === true);
  if (status === "revoked") {
    const reason = member(certificate, "revocation", "reason");
    return failed(`A lot was withdrawn: ${text(reason) ?? "no reason is given"}.`);
  }
  if (status !== (deterministic ? "test" : "valid"))
    return failed(`status is ${show(status)}; the lots make it ${deterministic ? "test" : "valid"}.`);
  return deterministic ? holds("A deterministic test source made this: not random.") : holds("The document says of no lot that it was withdrawn.");
}
function inclusion(document, logged) {
  if (typeof logged === "string") return failed(logged);
  const leaf = issuedText(document);
  const { index } = logged.proof;
  const { size } = logged.checkpoint;
  return leaf !== void 0 && holdsLeaf(logged, leaf) ? holds(`The certificate is leaf ${index} of the logged tree of ${size}.`) : failed(`The certificate is not leaf ${index} of the tree of ${size} that the proof names.`);
}
function keysListed(keys) {
  const listed2 = knownKeys(keys);
  if (typeof listed2 === "string") return failed(listed2);
  const current = member(keys, "current_key_id");
  return listed2.some((key) => key.keyId === current) ? holds("The keys are well-formed.") : failed("current_key_id does not name a listed key.");
}
function signature(logged, signed) {
  if (typeof logged === "string") return failed(logged);
  if (typeof signed === "string") return failed(signed);
  const keyIds = signed.filter(({ atS }) => atS === void 0).map(({ key }) => key.keyId);
  return holds(`The checkpoint is signed by ${keyIds.join(" and ")} of ${logged.checkpoint.origin}.`);
}
function dates(document, lots, signed) {
  const issuedAt = member(document, "issued_at");
  const issuedMs = timeOf(issuedAt);
  if (Number.isNaN(issuedMs)) return failed(`issued_at is ${show(issuedAt)}, not a time.`);
  if (lots.leaves === void 0) return failed(LOTS_UNKNOWN);
  for (const lot of lots.leaves) {
    const finishedAt = member(lot, "finished_at");
    if (!(timeOf(finishedAt) <= issuedMs))
      return failed(`It was issued at ${show(issuedAt)}, and a lot of it ended at ${show(finishedAt)}.`);
  }
  if (typeof signed === "string")
    return holds("Issued after its lots ended. No signature that holds says more.");
  const valid = signed.filter(({ key }) => key.beganMs <= issuedMs);
  if (!valid.some(({ atS }) => atS === void 0))
    return failed(`It was issued at ${show(issuedAt)}, before the key that signed the checkpoint began.`);
  const times2 = signed.flatMap(({ atS }) => atS === void 0 ? [] : [atS]);
  const lastMsOf = (each) => Math.max(issuedMs, ...signed.map(({ key, atS }) => key === each && atS !== void 0 ? atS * 1e3 : 0));
  if (!valid.some(
    ({ atS, key }) => atS === void 0 && (key.retiredMs === null || lastMsOf(key) <= key.retiredMs)
  ))
    return failed("The key that signed the checkpoint had been retired before.");
  if (times2.length === 0) return holds("Issued after its lots ended. The log did not say when it signed.");
  const earliest = Math.min(...times2);
  if (earliest < Math.floor(issuedMs / 1e3))
    return failed(`The log says that it signed at ${timeText(earliest)}, before the certificate was issued.`);
  return holds(`Issued after its lots ended; the log says that it signed by ${timeText(earliest)}.`);
}
function uuidOf(bits) {
  return bytesToHex(bits).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

// src/certificate/octet-answer.ts
function fieldsOf(head) {
  const fields = /* @__PURE__ */ new Map();
  for (const line of head.split(/\r?\n/)) {
    if (/^HTTP\//.test(line)) fields.clear();
    const colon = line.indexOf(":");
    if (colon > 0) fields.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return fields;
}
function responseOfFields(fields) {
  const uuid2 = fields.get("x-request-id");
  const verified = fields.get("x-nist-verified");
  const texts = (names) => Object.fromEntries(
    Object.entries(names).flatMap(([member2, name]) => {
      const value = fields.get(name);
      return value === void 0 ? [] : [[member2, value]];
    })
  );
  const bits = uuid2 === void 0 ? void 0 : bytesOfUuid(uuid2);
  return {
    ...texts({ media_type: "content-type" }),
    data: { metadata: texts({ entropy_mode: "x-entropy-mode" }) },
    meta: uuid2 === void 0 ? {} : { request_id: uuid2 },
    metadata: {
      ...texts({
        certificate_id: "x-certificate-id",
        certificate_salt: "x-certificate-salt",
        entropy_origin: "x-entropy-origin",
        lang_circuit: "x-lang-circuit",
        lang_version: "x-lang-version",
        quantum_backend: "x-quantum-backend",
        timestamp: "x-timestamp",
        verify_url: "x-verify-url"
      }),
      ...verified === void 0 ? {} : { nist_verified: verified === "true" },
      ...bits === void 0 ? {} : { request_id: `req_${base32Of(bits)}` }
    }
  };
}
function bytesOfUuid(uuid2) {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid2)) return void 0;
  const digits = uuid2.replaceAll("-", "");
  return Uint8Array.from({ length: 16 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

// src/core/repeated-member.ts
var TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}]/g;
var COLON = /[\t\n\r ]*:/y;
function repeatedMember(text3) {
  const open = [];
  for (const { 0: token, index } of text3.matchAll(TOKEN)) {
    if (token === "{") open.push(/* @__PURE__ */ new Set());
    else if (token === "}") open.pop();
    else {
      COLON.lastIndex = index + token.length;
      if (!COLON.test(text3)) continue;
      const name = token.includes("\\") ? JSON.parse(token) : token.slice(1, -1);
      const names = open[open.length - 1];
      if (names.has(name)) return name;
      names.add(name);
    }
  }
  return void 0;
}

// src/cli/verification-text.ts
function verificationText({ checks, notCovered: notCovered2 }) {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.map(
    ({ name, ok, why }) => `${ok ? "ok    " : "FAILED"}  ${name.padEnd(width)}  ${printable(why)}`
  );
  if (notCovered2.length > 0) lines.push(`no certificate speaks of ${printable(notCovered2.join(", "))}`);
  return lines.map((line) => `${line}
`).join("");
}
function verdictText(verification, what) {
  const failed2 = verification.checks.filter(({ ok }) => !ok).map(({ name }) => name);
  if (failed2.length > 0) return `${what}: not verified: ${failed2.join(", ")} failed`;
  if (!("standing" in verification) || verification.advice === void 0) return `${what}: verified`;
  return `${what}: ${verification.standing}: ${printable(verification.advice)}`;
}

// src/cli/standalone-verifier.ts
var USAGE = `usage: qrn-verify.mjs [--require-fixed] [--witness KEY,...] [--quorum N] [[--headers HEADERS.txt] ANSWER] CERTIFICATE.json KEYS.json

Checks a saved answer, its certificate and the signed log it stands in, without asking anyone.
  ANSWER            the body of the answer; without it the certificate alone is checked
  HEADERS.txt       the header fields of an answer in octets, as curl -D HEADERS.txt writes them
  CERTIFICATE.json  the body of /v1/certificate?id=..., or of the verification page as JSON
  KEYS.json         /.well-known/qrn-keys.json, best had long before or from someone else
  --witness KEY,... verifier keys of witnesses that you trust: who else must have seen the log
  --quorum N        how many of them; all when not given
  --require-fixed   fails an answer whose certificate does not show that what it was drawn from was logged before
Exit status: 0 when all checks hold, 1 when one does not, 2 when the files cannot be read.
`;
var OPTIONS = ["--headers", "--witness", "--quorum", "--require-fixed"];
var program = globalThis.process;
if (program !== void 0 && await isMain(program)) program.exitCode = await run(program);
async function isMain({ argv }) {
  const { main } = import.meta;
  if (main !== void 0 || argv?.[1] === void 0) return main === true;
  const [{ realpath }, { pathToFileURL }] = await Promise.all([
    import("node:fs/promises"),
    import("node:url")
  ]);
  const started = await realpath(argv[1]).catch(() => "");
  return pathToFileURL(started).href === import.meta.url;
}
async function run({ argv, stdout, stderr }) {
  const files = argv.slice(2);
  if (files.includes("--help") || files.includes("-h")) {
    stdout.write(USAGE);
    return 0;
  }
  const options = /* @__PURE__ */ new Map();
  while (files[0]?.startsWith("--")) {
    const [name] = files.splice(0, 1);
    options.set(name, name === "--require-fixed" ? "" : files.shift());
  }
  const headers = options.get("--headers");
  const isKnown = [...options].every(([name, value]) => OPTIONS.includes(name) && value !== void 0);
  if (!isKnown || files.length !== 3 && (files.length !== 2 || headers !== void 0)) {
    stderr.write(USAGE);
    return 2;
  }
  const isWitnessed = options.has("--witness") || options.has("--quorum");
  const witnesses = isWitnessed ? readWitnessPolicy(options.get("--witness") ?? "", options.get("--quorum") ?? "") : void 0;
  if (typeof witnesses === "string") {
    stderr.write(`qrn-verify: --witness and --quorum: ${witnesses}
`);
    return 2;
  }
  let input;
  try {
    const policy = witnesses === void 0 ? {} : { witnesses };
    const requireFixed = options.has("--require-fixed");
    input = { ...await inputOf(files, headers), ...policy, requireFixed };
  } catch (error) {
    stderr.write(`qrn-verify: ${error instanceof Error ? error.message : String(error)}
`);
    return 2;
  }
  const verification = await verifyAnswer(input);
  stdout.write(verificationText(verification));
  const verdict = `${verdictText(verification, files[0])}
`;
  if (verification.ok) stdout.write(verdict);
  else stderr.write(verdict);
  return verification.ok ? 0 : 1;
}
async function inputOf(files, headers) {
  const [answer] = files.slice(0, -2);
  const given = answer === void 0 ? {} : await answerOf(answer, headers);
  const [certificate, keys] = files.slice(-2);
  return { ...given, certificate: await readJson(certificate), keys: await readJson(keys) };
}
async function answerOf(path, headers) {
  if (headers === void 0) return { response: await readJson(path) };
  const response = responseOfFields(fieldsOf(textOf(await readBytes(headers))));
  return { response, octets: await readBytes(path) };
}
async function readBytes(path) {
  const { readFile } = await import("node:fs/promises");
  return readFile(path);
}
function textOf(bytes) {
  return new TextDecoder().decode(bytes);
}
async function readJson(path) {
  const text3 = textOf(await readBytes(path));
  let value;
  try {
    value = JSON.parse(text3);
  } catch (error) {
    throw new Error(`${path} is not JSON`, { cause: error });
  }
  const repeated = repeatedMember(text3);
  if (repeated === void 0) return value;
  throw new Error(`${path} has two members ${JSON.stringify(repeated)} in one object`);
}
export {
  fieldsOf,
  readWitnessPolicy,
  responseOfFields,
  verifyAnswer
};
// Licence: Apache-2.0, as is canonicalize (https://github.com/erdtman/canonicalize), which is inside. So are parts of noble-hashes (https://github.com/paulmillr/noble-hashes):
//
// The MIT License (MIT)
//
// Copyright (c) 2022 Paul Miller (https://paulmillr.com)
//
// Permission is hereby granted, free of charge, to any person obtaining a copy
// of this software and associated documentation files (the “Software”), to deal
// in the Software without restriction, including without limitation the rights
// to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
// copies of the Software, and to permit persons to whom the Software is
// furnished to do so, subject to the following conditions:
//
// The above copyright notice and this permission notice shall be included in
// all copies or substantial portions of the Software.
//
// THE SOFTWARE IS PROVIDED “AS IS”, WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
// IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
// FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
// AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
// LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
// OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
// THE SOFTWARE.
