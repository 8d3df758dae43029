// The verifier of the Quantum Random Number Service: checks an answer, its certificate and the signed log it stands in, or
// a committed draw. Runs in browsers, Node, Deno and Bun, and asks nobody. As a module:
// import { verifyAnswer, verifyDraw } from './qrn-verify.mjs'; as a program: node qrn-verify.mjs --help. Made from
// src/certificate by scripts/build-verifier.ts.

// node_modules/@noble/hashes/_u64.js
var U32_MASK64 = /* @__PURE__ */ (() => BigInt(2 ** 32 - 1))();
var _32n = /* @__PURE__ */ BigInt(32);
function fromBig(n, le = false) {
  if (le)
    return { h: Number(n & U32_MASK64), l: Number(n >> _32n & U32_MASK64) };
  return { h: Number(n >> _32n & U32_MASK64) | 0, l: Number(n & U32_MASK64) | 0 };
}
function split(lst, le = false) {
  const len = lst.length;
  let Ah = new Uint32Array(len);
  let Al = new Uint32Array(len);
  for (let i = 0; i < len; i++) {
    const { h, l } = fromBig(lst[i], le);
    [Ah[i], Al[i]] = [h, l];
  }
  return [Ah, Al];
}
var fromNumH = (n) => n / 2 ** 32 | 0;
var fromNumL = (n) => n >>> 0;
function setU64FromNum(view, byteOffset, n, isLE2) {
  const h = fromNumH(n);
  const l = fromNumL(n);
  view.setUint32(byteOffset, isLE2 ? l : h, isLE2);
  view.setUint32(byteOffset + 4, isLE2 ? h : l, isLE2);
}
var shrSH = (h, _l, s) => h >>> s;
var shrSL = (h, l, s) => h << 32 - s | l >>> s;
var rotrSH = (h, l, s) => h >>> s | l << 32 - s;
var rotrSL = (h, l, s) => h << 32 - s | l >>> s;
var rotrBH = (h, l, s) => h << 64 - s | l >>> s - 32;
var rotrBL = (h, l, s) => h >>> s - 32 | l << 64 - s;
function add(Ah, Al, Bh, Bl) {
  const l = (Al >>> 0) + (Bl >>> 0);
  return { h: Ah + Bh + (l / 2 ** 32 | 0) | 0, l: l | 0 };
}
var add3L = (Al, Bl, Cl) => (Al >>> 0) + (Bl >>> 0) + (Cl >>> 0);
var add3H = (low, Ah, Bh, Ch) => Ah + Bh + Ch + (low / 2 ** 32 | 0) | 0;
var add4L = (Al, Bl, Cl, Dl) => (Al >>> 0) + (Bl >>> 0) + (Cl >>> 0) + (Dl >>> 0);
var add4H = (low, Ah, Bh, Ch, Dh) => Ah + Bh + Ch + Dh + (low / 2 ** 32 | 0) | 0;
var add5L = (Al, Bl, Cl, Dl, El) => (Al >>> 0) + (Bl >>> 0) + (Cl >>> 0) + (Dl >>> 0) + (El >>> 0);
var add5H = (low, Ah, Bh, Ch, Dh, Eh) => Ah + Bh + Ch + Dh + Eh + (low / 2 ** 32 | 0) | 0;

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
function ahash(h) {
  if (typeof h !== "function" || typeof h.create !== "function")
    throw new TypeError("expected hash wrapped by utils.createHasher");
  anumber(h.outputLen);
  anumber(h.blockLen);
  if (h.outputLen < 1 || h.blockLen < 1)
    throw new Error("hash blockLen / outputLen must be >= 1");
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
function concatBytes(...arrays) {
  let sum = 0;
  for (let i = 0; i < arrays.length; i++) {
    const a = arrays[i];
    abytes(a);
    sum += a.length;
  }
  const res = new Uint8Array(sum);
  for (let i = 0, pad = 0; i < arrays.length; i++) {
    const a = arrays[i];
    res.set(a, pad);
    pad += a.length;
  }
  return res;
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
function randomBytes(bytesLength = 32) {
  anumber(bytesLength, "bytesLength");
  const cr = typeof globalThis === "object" ? globalThis.crypto : null;
  if (typeof cr?.getRandomValues !== "function")
    throw new Error("crypto.getRandomValues must be defined");
  if (bytesLength > 65536)
    throw new RangeError(`"bytesLength" expected <= 65536, got ${bytesLength}`);
  return cr.getRandomValues(new Uint8Array(bytesLength));
}
var oidNist = (suffix) => ({
  // Current NIST hashAlgs suffixes used here fit in one DER subidentifier octet.
  // Larger suffix values would need base-128 OID encoding and a different length byte.
  oid: Uint8Array.from([6, 9, 96, 134, 72, 1, 101, 3, 4, 2, suffix])
});

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
  constructor(blockLen, outputLen, padOffset, isLE2) {
    this.blockLen = blockLen;
    this.outputLen = outputLen;
    this.padOffset = padOffset;
    this.isLE = isLE2;
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
    const { buffer, view, blockLen, isLE: isLE2 } = this;
    let { pos } = this;
    buffer[pos++] = 128;
    buffer.fill(0, pos);
    if (this.padOffset > blockLen - pos) {
      this.process(view, 0);
      buffer.fill(0);
    }
    setU64FromNum(view, blockLen - 8, this.length * 8, isLE2);
    this.process(view, 0);
    this.roundClean();
    const oview = out === buffer ? view : createView(out);
    const len = this.outputLen;
    const outLen = len / 4;
    const state = this.get();
    if (len % 4 || outLen > state.length)
      throw new Error("invalid outputLen");
    for (let i = 0; i < outLen; i++)
      oview.setUint32(4 * i, state[i], isLE2);
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
var SHA512_IV = /* @__PURE__ */ Uint32Array.from([
  1779033703,
  4089235720,
  3144134277,
  2227873595,
  1013904242,
  4271175723,
  2773480762,
  1595750129,
  1359893119,
  2917565137,
  2600822924,
  725511199,
  528734635,
  4215389547,
  1541459225,
  327033209
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
var K512 = /* @__PURE__ */ (() => split([
  "0x428a2f98d728ae22",
  "0x7137449123ef65cd",
  "0xb5c0fbcfec4d3b2f",
  "0xe9b5dba58189dbbc",
  "0x3956c25bf348b538",
  "0x59f111f1b605d019",
  "0x923f82a4af194f9b",
  "0xab1c5ed5da6d8118",
  "0xd807aa98a3030242",
  "0x12835b0145706fbe",
  "0x243185be4ee4b28c",
  "0x550c7dc3d5ffb4e2",
  "0x72be5d74f27b896f",
  "0x80deb1fe3b1696b1",
  "0x9bdc06a725c71235",
  "0xc19bf174cf692694",
  "0xe49b69c19ef14ad2",
  "0xefbe4786384f25e3",
  "0x0fc19dc68b8cd5b5",
  "0x240ca1cc77ac9c65",
  "0x2de92c6f592b0275",
  "0x4a7484aa6ea6e483",
  "0x5cb0a9dcbd41fbd4",
  "0x76f988da831153b5",
  "0x983e5152ee66dfab",
  "0xa831c66d2db43210",
  "0xb00327c898fb213f",
  "0xbf597fc7beef0ee4",
  "0xc6e00bf33da88fc2",
  "0xd5a79147930aa725",
  "0x06ca6351e003826f",
  "0x142929670a0e6e70",
  "0x27b70a8546d22ffc",
  "0x2e1b21385c26c926",
  "0x4d2c6dfc5ac42aed",
  "0x53380d139d95b3df",
  "0x650a73548baf63de",
  "0x766a0abb3c77b2a8",
  "0x81c2c92e47edaee6",
  "0x92722c851482353b",
  "0xa2bfe8a14cf10364",
  "0xa81a664bbc423001",
  "0xc24b8b70d0f89791",
  "0xc76c51a30654be30",
  "0xd192e819d6ef5218",
  "0xd69906245565a910",
  "0xf40e35855771202a",
  "0x106aa07032bbd1b8",
  "0x19a4c116b8d2d0c8",
  "0x1e376c085141ab53",
  "0x2748774cdf8eeb99",
  "0x34b0bcb5e19b48a8",
  "0x391c0cb3c5c95a63",
  "0x4ed8aa4ae3418acb",
  "0x5b9cca4f7763e373",
  "0x682e6ff3d6b2b8a3",
  "0x748f82ee5defb2fc",
  "0x78a5636f43172f60",
  "0x84c87814a1f0ab72",
  "0x8cc702081a6439ec",
  "0x90befffa23631e28",
  "0xa4506cebde82bde9",
  "0xbef9a3f7b2c67915",
  "0xc67178f2e372532b",
  "0xca273eceea26619c",
  "0xd186b8c721c0c207",
  "0xeada7dd6cde0eb1e",
  "0xf57d4f7fee6ed178",
  "0x06f067aa72176fba",
  "0x0a637dc5a2c898a6",
  "0x113f9804bef90dae",
  "0x1b710b35131c471b",
  "0x28db77f523047d84",
  "0x32caab7b40c72493",
  "0x3c9ebe0a15c9bebc",
  "0x431d67c49c100d4c",
  "0x4cc5d4becb3e42b6",
  "0x597f299cfc657e2a",
  "0x5fcb6fab3ad6faec",
  "0x6c44198c4a475817"
].map((n) => BigInt(n))))();
var SHA512_Kh = /* @__PURE__ */ (() => K512[0])();
var SHA512_Kl = /* @__PURE__ */ (() => K512[1])();
var SHA512_W_H = /* @__PURE__ */ new Uint32Array(80);
var SHA512_W_L = /* @__PURE__ */ new Uint32Array(80);
var SHA2_64B = class extends HashMD {
  // We cannot use array here since array allows indexing by variable
  // which means optimizer/compiler cannot use registers.
  // h -- high 32 bits, l -- low 32 bits
  // Numeric initializers matter: starting the fields as `undefined` changes
  // V8's field representation and slows hashing down (measured on sha256).
  Ah = 0;
  Al = 0;
  Bh = 0;
  Bl = 0;
  Ch = 0;
  Cl = 0;
  Dh = 0;
  Dl = 0;
  Eh = 0;
  El = 0;
  Fh = 0;
  Fl = 0;
  Gh = 0;
  Gl = 0;
  Hh = 0;
  Hl = 0;
  constructor(outputLen, IV) {
    super(128, outputLen, 16, false);
    this.Ah = IV[0] | 0;
    this.Al = IV[1] | 0;
    this.Bh = IV[2] | 0;
    this.Bl = IV[3] | 0;
    this.Ch = IV[4] | 0;
    this.Cl = IV[5] | 0;
    this.Dh = IV[6] | 0;
    this.Dl = IV[7] | 0;
    this.Eh = IV[8] | 0;
    this.El = IV[9] | 0;
    this.Fh = IV[10] | 0;
    this.Fl = IV[11] | 0;
    this.Gh = IV[12] | 0;
    this.Gl = IV[13] | 0;
    this.Hh = IV[14] | 0;
    this.Hl = IV[15] | 0;
  }
  // prettier-ignore
  get() {
    const { Ah, Al, Bh, Bl, Ch, Cl, Dh, Dl, Eh, El, Fh, Fl, Gh, Gl, Hh, Hl } = this;
    return [Ah, Al, Bh, Bl, Ch, Cl, Dh, Dl, Eh, El, Fh, Fl, Gh, Gl, Hh, Hl];
  }
  // prettier-ignore
  set(Ah, Al, Bh, Bl, Ch, Cl, Dh, Dl, Eh, El, Fh, Fl, Gh, Gl, Hh, Hl) {
    this.Ah = Ah | 0;
    this.Al = Al | 0;
    this.Bh = Bh | 0;
    this.Bl = Bl | 0;
    this.Ch = Ch | 0;
    this.Cl = Cl | 0;
    this.Dh = Dh | 0;
    this.Dl = Dl | 0;
    this.Eh = Eh | 0;
    this.El = El | 0;
    this.Fh = Fh | 0;
    this.Fl = Fl | 0;
    this.Gh = Gh | 0;
    this.Gl = Gl | 0;
    this.Hh = Hh | 0;
    this.Hl = Hl | 0;
  }
  _cloneInto(to) {
    (to ||= new this.constructor()).set(...this.get());
    return this._cloneIntoMeta(to);
  }
  process(view, offset) {
    for (let i = 0; i < 16; i++, offset += 4) {
      SHA512_W_H[i] = view.getUint32(offset);
      SHA512_W_L[i] = view.getUint32(offset += 4);
    }
    for (let i = 16; i < 80; i++) {
      const W15h = SHA512_W_H[i - 15] | 0;
      const W15l = SHA512_W_L[i - 15] | 0;
      const s0h = rotrSH(W15h, W15l, 1) ^ rotrSH(W15h, W15l, 8) ^ shrSH(W15h, W15l, 7);
      const s0l = rotrSL(W15h, W15l, 1) ^ rotrSL(W15h, W15l, 8) ^ shrSL(W15h, W15l, 7);
      const W2h = SHA512_W_H[i - 2] | 0;
      const W2l = SHA512_W_L[i - 2] | 0;
      const s1h = rotrSH(W2h, W2l, 19) ^ rotrBH(W2h, W2l, 61) ^ shrSH(W2h, W2l, 6);
      const s1l = rotrSL(W2h, W2l, 19) ^ rotrBL(W2h, W2l, 61) ^ shrSL(W2h, W2l, 6);
      const SUMl = add4L(s0l, s1l, SHA512_W_L[i - 7], SHA512_W_L[i - 16]);
      const SUMh = add4H(SUMl, s0h, s1h, SHA512_W_H[i - 7], SHA512_W_H[i - 16]);
      SHA512_W_H[i] = SUMh | 0;
      SHA512_W_L[i] = SUMl | 0;
    }
    let { Ah, Al, Bh, Bl, Ch, Cl, Dh, Dl, Eh, El, Fh, Fl, Gh, Gl, Hh, Hl } = this;
    for (let i = 0; i < 80; i++) {
      const sigma1h = rotrSH(Eh, El, 14) ^ rotrSH(Eh, El, 18) ^ rotrBH(Eh, El, 41);
      const sigma1l = rotrSL(Eh, El, 14) ^ rotrSL(Eh, El, 18) ^ rotrBL(Eh, El, 41);
      const CHIh = Eh & Fh ^ ~Eh & Gh;
      const CHIl = El & Fl ^ ~El & Gl;
      const T1ll = add5L(Hl, sigma1l, CHIl, SHA512_Kl[i], SHA512_W_L[i]);
      const T1h = add5H(T1ll, Hh, sigma1h, CHIh, SHA512_Kh[i], SHA512_W_H[i]);
      const T1l = T1ll | 0;
      const sigma0h = rotrSH(Ah, Al, 28) ^ rotrBH(Ah, Al, 34) ^ rotrBH(Ah, Al, 39);
      const sigma0l = rotrSL(Ah, Al, 28) ^ rotrBL(Ah, Al, 34) ^ rotrBL(Ah, Al, 39);
      const MAJh = Ah & Bh ^ Ah & Ch ^ Bh & Ch;
      const MAJl = Al & Bl ^ Al & Cl ^ Bl & Cl;
      Hh = Gh | 0;
      Hl = Gl | 0;
      Gh = Fh | 0;
      Gl = Fl | 0;
      Fh = Eh | 0;
      Fl = El | 0;
      ({ h: Eh, l: El } = add(Dh | 0, Dl | 0, T1h | 0, T1l | 0));
      Dh = Ch | 0;
      Dl = Cl | 0;
      Ch = Bh | 0;
      Cl = Bl | 0;
      Bh = Ah | 0;
      Bl = Al | 0;
      const All = add3L(T1l, sigma0l, MAJl);
      Ah = add3H(All, T1h, sigma0h, MAJh);
      Al = All | 0;
    }
    ({ h: Ah, l: Al } = add(this.Ah | 0, this.Al | 0, Ah | 0, Al | 0));
    ({ h: Bh, l: Bl } = add(this.Bh | 0, this.Bl | 0, Bh | 0, Bl | 0));
    ({ h: Ch, l: Cl } = add(this.Ch | 0, this.Cl | 0, Ch | 0, Cl | 0));
    ({ h: Dh, l: Dl } = add(this.Dh | 0, this.Dl | 0, Dh | 0, Dl | 0));
    ({ h: Eh, l: El } = add(this.Eh | 0, this.El | 0, Eh | 0, El | 0));
    ({ h: Fh, l: Fl } = add(this.Fh | 0, this.Fl | 0, Fh | 0, Fl | 0));
    ({ h: Gh, l: Gl } = add(this.Gh | 0, this.Gl | 0, Gh | 0, Gl | 0));
    ({ h: Hh, l: Hl } = add(this.Hh | 0, this.Hl | 0, Hh | 0, Hl | 0));
    this.set(Ah, Al, Bh, Bl, Ch, Cl, Dh, Dl, Eh, El, Fh, Fl, Gh, Gl, Hh, Hl);
  }
  roundClean() {
    clean(SHA512_W_H, SHA512_W_L);
  }
  destroy() {
    this.destroyed = true;
    clean(this.buffer);
    this.set(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  }
};
var _SHA512 = class extends SHA2_64B {
  constructor() {
    super(64, SHA512_IV);
  }
};
var sha256 = /* @__PURE__ */ createHasher(
  () => new _SHA256(),
  /* @__PURE__ */ oidNist(1)
);
var sha512 = /* @__PURE__ */ createHasher(
  () => new _SHA512(),
  /* @__PURE__ */ oidNist(3)
);

// node_modules/@noble/curves/utils.js
/*! noble-curves - MIT License (c) 2022 Paul Miller (paulmillr.com) */
function aarray(item, title, inner = () => {
}) {
  if (!Array.isArray(item))
    throw new TypeError(`"${title}" expected array, got type=${typeof item}`);
  for (let i = 0; i < item.length; i++)
    inner(item[i], `${title}[${i}]`);
  return item;
}
var abytes2 = (value, length, title) => abytes(value, length, title);
var anumber2 = anumber;
function aobject2(value, title = "object") {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new TypeError(title === "object" ? "expected valid options object" : `"${title}" expected object, got type=${typeof value}`);
  return value;
}
function afunction(value, title) {
  if (typeof value !== "function")
    throw new TypeError(`"${title}" is invalid: expected function, got ${typeof value}`);
  return value;
}
var bytesToHex2 = bytesToHex;
var concatBytes2 = (...arrays) => concatBytes(...arrays);
var hexToBytes2 = (hex) => hexToBytes(hex);
var isBytes2 = isBytes;
var randomBytes2 = (bytesLength) => randomBytes(bytesLength);
var _0n = /* @__PURE__ */ BigInt(0);
var _1n = /* @__PURE__ */ BigInt(1);
var atitle2 = (title) => title ? `"${title}" ` : "";
function abool(value, title = "") {
  if (typeof value !== "boolean")
    throw new TypeError(atitle2(title) + "expected boolean, got type=" + typeof value);
  return value;
}
function abignumber(n) {
  if (typeof n === "bigint") {
    if (!isPosBig(n))
      throw new RangeError("positive bigint expected, got " + n);
  } else
    anumber2(n);
  return n;
}
function asafenumber(value, title = "") {
  if (typeof value !== "number") {
    const prefix = title && `"${title}" `;
    throw new TypeError(prefix + "expected number, got type=" + typeof value);
  }
  if (!Number.isSafeInteger(value)) {
    const prefix = title && `"${title}" `;
    throw new RangeError(prefix + "expected safe integer, got " + value);
  }
}
function hexToNumber(hex) {
  if (typeof hex !== "string")
    throw new TypeError("hex string expected, got " + typeof hex);
  return hex === "" ? _0n : BigInt("0x" + hex);
}
function bytesToNumberBE(bytes) {
  return hexToNumber(bytesToHex(bytes));
}
function bytesToNumberLE(bytes) {
  return hexToNumber(bytesToHex(copyBytes(abytes(bytes)).reverse()));
}
function numberToBytesBE(n, len) {
  anumber(len);
  if (len === 0)
    throw new Error("zero output length is invalid");
  n = abignumber(n);
  const expectedLen = len * 2;
  const hex = n.toString(16);
  if (hex.length > expectedLen)
    throw new RangeError("number is too large");
  return hexToBytes(hex.padStart(expectedLen, "0"));
}
function numberToBytesLE(n, len) {
  return numberToBytesBE(n, len).reverse();
}
function copyBytes(bytes) {
  return Uint8Array.from(abytes2(bytes));
}
function asciiToBytes(ascii) {
  if (typeof ascii !== "string")
    throw new TypeError("ascii string expected, got " + typeof ascii);
  return Uint8Array.from(ascii, (c, i) => {
    const charCode = c.charCodeAt(0);
    if (c.length !== 1 || charCode > 127) {
      throw new RangeError(`string contains non-ASCII character "${ascii[i]}" with code ${charCode} at position ${i}`);
    }
    return charCode;
  });
}
function isPosBig(n) {
  return typeof n === "bigint" && _0n <= n;
}
function inRange(n, min, max) {
  return isPosBig(n) && isPosBig(min) && isPosBig(max) && min <= n && n < max;
}
function aInRange(title, n, min, max) {
  if (!inRange(n, min, max))
    throw new RangeError("expected valid " + title + ": " + min + " <= n < " + max + ", got " + n);
}
function bitLen(n) {
  if (n < _0n)
    throw new Error("expected non-negative bigint, got " + n);
  return n === _0n ? 0 : n.toString(2).length;
}
function bitGet(n, pos) {
  if (typeof n !== "bigint")
    throw new TypeError('"n" expected bigint, got type=' + typeof n);
  asafenumber(pos, "pos");
  return n >> BigInt(pos) & _1n;
}
var bitMask = (n) => {
  asafenumber(n, "n");
  return (_1n << BigInt(n)) - _1n;
};
function validateObject(object2, fields2 = {}, optFields = {}, title = "object") {
  aobject2(object2, title);
  aobject2(fields2, "fields");
  aobject2(optFields, "optFields");
  function checkField(fieldName, expectedType, isOpt) {
    const label = title === "object" ? `param "${String(fieldName)}"` : `"${title}.${String(fieldName)}"`;
    const val = object2[fieldName];
    if (!Object.hasOwn(object2, fieldName) && (isOpt ? val !== void 0 : expectedType !== "function")) {
      throw new TypeError(`${label} is invalid: expected own property`);
    }
    if (isOpt && val === void 0)
      return;
    const current = typeof val;
    if (current !== expectedType || val === null)
      throw new TypeError(`${label} is invalid: expected ${expectedType}, got ${current}`);
  }
  const iter = (f, isOpt) => Object.entries(f).forEach(([k, v]) => checkField(k, v, isOpt));
  iter(fields2, false);
  iter(optFields, true);
}
var notImplemented = () => {
  throw new Error("not implemented");
};

// node_modules/@noble/curves/abstract/modular.js
/*! noble-curves - MIT License (c) 2022 Paul Miller (paulmillr.com) */
var _0n2 = /* @__PURE__ */ BigInt(0);
var _1n2 = /* @__PURE__ */ BigInt(1);
var _2n = /* @__PURE__ */ BigInt(2);
var _3n = /* @__PURE__ */ BigInt(3);
var _4n = /* @__PURE__ */ BigInt(4);
var _5n = /* @__PURE__ */ BigInt(5);
var _7n = /* @__PURE__ */ BigInt(7);
var _8n = /* @__PURE__ */ BigInt(8);
var _9n = /* @__PURE__ */ BigInt(9);
var _15n = /* @__PURE__ */ BigInt(15);
var _16n = /* @__PURE__ */ BigInt(16);
var POW_WINDOWED_MIN = /* @__PURE__ */ BigInt("0x10000000000000000");
function mod(a, b) {
  if (b <= _0n2)
    throw new Error("mod: expected positive modulus, got " + b);
  const result = a % b;
  return result >= _0n2 ? result : b + result;
}
function pow(num, power2, modulo) {
  if (modulo <= _1n2)
    throw new Error("pow: expected modulus > 1, got " + modulo);
  if (typeof power2 !== "bigint")
    throw new TypeError("invalid exponent: expected bigint, got " + typeof power2);
  if (power2 < _0n2)
    throw new Error("invalid exponent, negatives unsupported");
  if (power2 === _0n2)
    return _1n2;
  if (power2 === _1n2)
    return num;
  let d = num % modulo;
  if (d < _0n2)
    d += modulo;
  if (power2 < POW_WINDOWED_MIN) {
    let p2 = _1n2;
    while (power2 > _0n2) {
      if (power2 & _1n2)
        p2 = p2 * d % modulo;
      d = d * d % modulo;
      power2 >>= _1n2;
    }
    return p2;
  }
  const digits = [];
  while (power2 > _0n2) {
    digits.push(Number(power2 & _15n));
    power2 >>= _4n;
  }
  const table = new Array(16);
  table[0] = _1n2;
  table[1] = d;
  for (let i = 2; i < 16; i++)
    table[i] = table[i - 1] * d % modulo;
  let p = table[digits[digits.length - 1]];
  for (let w = digits.length - 2; w >= 0; w--) {
    p = p * p % modulo;
    p = p * p % modulo;
    p = p * p % modulo;
    p = p * p % modulo;
    const digit = digits[w];
    if (digit !== 0)
      p = p * table[digit] % modulo;
  }
  return p;
}
function pow2(x, power2, modulo) {
  if (modulo <= _1n2)
    throw new Error("pow2: expected modulus > 1, got " + modulo);
  if (power2 < _0n2)
    throw new Error("pow2: expected non-negative exponent, got " + power2);
  let res = x;
  while (power2-- > _0n2) {
    res *= res;
    res %= modulo;
  }
  return res;
}
function invert(number, modulo) {
  if (number === _0n2)
    throw new Error("invert: expected non-zero number");
  if (modulo <= _1n2)
    throw new Error("invert: expected modulus > 1, got " + modulo);
  let a = mod(number, modulo);
  let b = modulo;
  let x = _0n2, u = _1n2;
  while (a !== _0n2) {
    const q = b / a;
    const r = b - a * q;
    const m = x - u * q;
    b = a, a = r, x = u, u = m;
  }
  const gcd = b;
  if (gcd !== _1n2)
    throw new Error("invert: does not exist");
  return mod(x, modulo);
}
function assertIsSquare(Fp3, root2, n) {
  const F = Fp3;
  if (!F.eql(F.sqr(root2), n))
    throw new Error("Cannot find square root");
}
function aoddModulus(order, fnName) {
  if ((order & _1n2) === _0n2)
    throw new Error(fnName + ": expected odd modulus, got " + order);
}
function sqrt3mod4(Fp3, n) {
  const F = Fp3;
  const p1div4 = (F.ORDER + _1n2) / _4n;
  const root2 = F.pow(n, p1div4);
  assertIsSquare(F, root2, n);
  return root2;
}
function sqrt5mod8(Fp3, n) {
  const F = Fp3;
  const p5div8 = (F.ORDER - _5n) / _8n;
  const n2 = F.mul(n, _2n);
  const v = F.pow(n2, p5div8);
  const nv = F.mul(n, v);
  const i = F.mul(F.mul(nv, _2n), v);
  const root2 = F.mul(nv, F.sub(i, F.ONE));
  assertIsSquare(F, root2, n);
  return root2;
}
function sqrt9mod16(P) {
  const Fp_ = Field(P);
  const tn = tonelliShanks(P);
  const c1 = tn(Fp_, Fp_.neg(Fp_.ONE));
  const c2 = tn(Fp_, c1);
  const c3 = tn(Fp_, Fp_.neg(c1));
  const c4 = (P + _7n) / _16n;
  return ((Fp3, n) => {
    const F = Fp3;
    let tv1 = F.pow(n, c4);
    let tv2 = F.mul(tv1, c1);
    const tv3 = F.mul(tv1, c2);
    const tv4 = F.mul(tv1, c3);
    const e1 = F.eql(F.sqr(tv2), n);
    const e2 = F.eql(F.sqr(tv3), n);
    tv1 = F.cmov(tv1, tv2, e1);
    tv2 = F.cmov(tv4, tv3, e2);
    const e3 = F.eql(F.sqr(tv2), n);
    const root2 = F.cmov(tv1, tv2, e3);
    assertIsSquare(F, root2, n);
    return root2;
  });
}
function tonelliShanks(P) {
  if (P < _3n)
    throw new Error("sqrt is not defined for small field");
  aoddModulus(P, "tonelliShanks");
  let Q = P - _1n2;
  let S = 0;
  while (Q % _2n === _0n2) {
    Q /= _2n;
    S++;
  }
  let Z = _2n;
  const _Fp = Field(P);
  while (FpLegendre(_Fp, Z) === 1) {
    if (Z++ > 1e3)
      throw new Error("Cannot find square root: probably non-prime P");
  }
  if (S === 1)
    return sqrt3mod4;
  let cc = _Fp.pow(Z, Q);
  const Q1div2 = (Q + _1n2) / _2n;
  return function tonelliSlow(Fp3, n) {
    const F = Fp3;
    if (F.is0(n))
      return n;
    if (FpLegendre(F, n) !== 1)
      throw new Error("Cannot find square root");
    let M = S;
    let c = F.mul(F.ONE, cc);
    let t = F.pow(n, Q);
    let R = F.pow(n, Q1div2);
    while (!F.eql(t, F.ONE)) {
      if (F.is0(t))
        throw new Error("Cannot find square root: probably non-prime P");
      let i = 1;
      let t_tmp = F.sqr(t);
      while (!F.eql(t_tmp, F.ONE)) {
        i++;
        t_tmp = F.sqr(t_tmp);
        if (i === M)
          throw new Error("Cannot find square root");
      }
      const exponent = _1n2 << BigInt(M - i - 1);
      const b = F.pow(c, exponent);
      M = i;
      c = F.sqr(b);
      t = F.mul(t, c);
      R = F.mul(R, b);
    }
    return R;
  };
}
function FpSqrt(P) {
  aoddModulus(P, "Fp.sqrt");
  if (P % _4n === _3n)
    return sqrt3mod4;
  if (P % _8n === _5n)
    return sqrt5mod8;
  if (P % _16n === _9n)
    return sqrt9mod16(P);
  return tonelliShanks(P);
}
var isNegativeLE = (num, modulo) => (mod(num, modulo) & _1n2) === _1n2;
var FIELD_FIELDS = [
  "create",
  "isValid",
  "is0",
  "neg",
  "inv",
  "sqrt",
  "sqr",
  "eql",
  "add",
  "sub",
  "mul",
  "pow",
  "div",
  "addN",
  "subN",
  "mulN",
  "sqrN"
];
function validateField(field) {
  aobject2(field, "field");
  if (typeof field.ORDER !== "bigint")
    throw new TypeError('param "ORDER" is invalid: expected bigint, got ' + typeof field.ORDER);
  asafenumber(field.BYTES, "BYTES");
  asafenumber(field.BITS, "BITS");
  for (const name of FIELD_FIELDS)
    afunction(field[name], "field." + name);
  if (field.BYTES < 1 || field.BITS < 1)
    throw new Error("invalid field: expected BYTES/BITS > 0");
  if (field.ORDER <= _1n2)
    throw new Error("invalid field: expected ORDER > 1, got " + field.ORDER);
  return field;
}
function FpPow(Fp3, num, power2) {
  validateField(Fp3);
  const F = Fp3;
  if (typeof power2 !== "bigint")
    throw new TypeError("invalid exponent: expected bigint, got " + typeof power2);
  if (power2 < _0n2)
    throw new Error("invalid exponent, negatives unsupported");
  if (power2 === _0n2)
    return F.ONE;
  if (power2 === _1n2)
    return num;
  if (power2 < POW_WINDOWED_MIN) {
    let p2 = F.ONE;
    let d = num;
    while (power2 > _0n2) {
      if (power2 & _1n2)
        p2 = F.mul(p2, d);
      d = F.sqr(d);
      power2 >>= _1n2;
    }
    return p2;
  }
  const digits = [];
  while (power2 > _0n2) {
    digits.push(Number(power2 & _15n));
    power2 >>= _4n;
  }
  const table = new Array(16);
  table[0] = F.ONE;
  table[1] = num;
  for (let i = 2; i < 16; i++)
    table[i] = F.mul(table[i - 1], num);
  let p = table[digits[digits.length - 1]];
  for (let w = digits.length - 2; w >= 0; w--) {
    p = F.sqr(F.sqr(F.sqr(F.sqr(p))));
    const digit = digits[w];
    if (digit !== 0)
      p = F.mul(p, table[digit]);
  }
  return p;
}
function FpInvertBatch(Fp3, nums, passZero = false) {
  validateField(Fp3);
  aarray(nums, "nums");
  abool(passZero, "passZero");
  const F = Fp3;
  const inverted = new Array(nums.length).fill(passZero ? F.ZERO : void 0);
  const multipliedAcc = nums.reduce((acc, num, i) => {
    if (F.is0(num))
      return acc;
    inverted[i] = acc;
    return F.mul(acc, num);
  }, F.ONE);
  const invertedAcc = F.inv(multipliedAcc);
  nums.reduceRight((acc, num, i) => {
    if (F.is0(num))
      return acc;
    inverted[i] = F.mul(acc, inverted[i]);
    return F.mul(acc, num);
  }, invertedAcc);
  return inverted;
}
function FpLegendre(Fp3, n) {
  validateField(Fp3);
  const F = Fp3;
  aoddModulus(F.ORDER, "FpLegendre");
  const p1mod2 = (F.ORDER - _1n2) / _2n;
  const powered = F.pow(n, p1mod2);
  const yes = F.eql(powered, F.ONE);
  const zero = F.eql(powered, F.ZERO);
  const no = F.eql(powered, F.neg(F.ONE));
  if (!yes && !zero && !no)
    throw new Error("invalid Legendre symbol result");
  return yes ? 1 : zero ? 0 : -1;
}
function FpIsSquare(Fp3, n) {
  const l = FpLegendre(Fp3, n);
  return l !== -1;
}
function nLength(n, nBitLength) {
  if (nBitLength !== void 0)
    anumber2(nBitLength);
  if (n <= _0n2)
    throw new Error("invalid n length: expected positive n, got " + n);
  if (nBitLength !== void 0 && nBitLength < 1)
    throw new Error("invalid n length: expected positive bit length, got " + nBitLength);
  const bits = bitLen(n);
  if (nBitLength !== void 0 && nBitLength < bits)
    throw new Error(`invalid n length: expected nBitLength (${nBitLength}) >= bitLen(n) (${bits})`);
  const _nBitLength = nBitLength !== void 0 ? nBitLength : bits;
  const nByteLength = Math.ceil(_nBitLength / 8);
  return { nBitLength: _nBitLength, nByteLength };
}
var FIELD_SQRT = /* @__PURE__ */ new WeakMap();
var _Field = class {
  ORDER;
  BITS;
  BYTES;
  isLE;
  ZERO = _0n2;
  ONE = _1n2;
  _lengths;
  _mod;
  constructor(ORDER, opts = {}) {
    if (ORDER <= _1n2)
      throw new Error("invalid field: expected ORDER > 1, got " + ORDER);
    let _nbitLength = void 0;
    this.isLE = false;
    if (opts != null && typeof opts === "object") {
      if (typeof opts.BITS === "number")
        _nbitLength = opts.BITS;
      if (typeof opts.sqrt === "function")
        Object.defineProperty(this, "sqrt", { value: opts.sqrt, enumerable: true });
      if (typeof opts.isLE === "boolean")
        this.isLE = opts.isLE;
      if (opts.allowedLengths)
        this._lengths = Object.freeze(opts.allowedLengths.slice());
      if (typeof opts.modFromBytes === "boolean")
        this._mod = opts.modFromBytes;
    }
    const { nBitLength, nByteLength } = nLength(ORDER, _nbitLength);
    if (nByteLength > 2048)
      throw new Error("invalid field: expected ORDER of <= 2048 bytes");
    this.ORDER = ORDER;
    this.BITS = nBitLength;
    this.BYTES = nByteLength;
    Object.freeze(this);
  }
  create(num) {
    return mod(num, this.ORDER);
  }
  isValid(num) {
    if (typeof num !== "bigint")
      throw new TypeError("invalid field element: expected bigint, got " + typeof num);
    return _0n2 <= num && num < this.ORDER;
  }
  is0(num) {
    return num === _0n2;
  }
  // is valid and invertible
  isValidNot0(num) {
    return !this.is0(num) && this.isValid(num);
  }
  isOdd(num) {
    return (num & _1n2) === _1n2;
  }
  neg(num) {
    return mod(-num, this.ORDER);
  }
  eql(lhs, rhs) {
    return lhs === rhs;
  }
  sqr(num) {
    return mod(num * num, this.ORDER);
  }
  add(lhs, rhs) {
    return mod(lhs + rhs, this.ORDER);
  }
  sub(lhs, rhs) {
    return mod(lhs - rhs, this.ORDER);
  }
  mul(lhs, rhs) {
    return mod(lhs * rhs, this.ORDER);
  }
  pow(num, power2) {
    return pow(num, power2, this.ORDER);
  }
  div(lhs, rhs) {
    return mod(lhs * invert(rhs, this.ORDER), this.ORDER);
  }
  // Same as above, but doesn't normalize
  sqrN(num) {
    return num * num;
  }
  addN(lhs, rhs) {
    return lhs + rhs;
  }
  subN(lhs, rhs) {
    return lhs - rhs;
  }
  mulN(lhs, rhs) {
    return lhs * rhs;
  }
  inv(num) {
    return invert(num, this.ORDER);
  }
  sqrt(num) {
    let sqrt = FIELD_SQRT.get(this);
    if (!sqrt)
      FIELD_SQRT.set(this, sqrt = FpSqrt(this.ORDER));
    return sqrt(this, num);
  }
  toBytes(num) {
    return this.isLE ? numberToBytesLE(num, this.BYTES) : numberToBytesBE(num, this.BYTES);
  }
  fromBytes(bytes, skipValidation = false) {
    abytes2(bytes);
    const { _lengths: allowedLengths, BYTES, isLE: isLE2, ORDER, _mod: modFromBytes } = this;
    if (allowedLengths) {
      if (bytes.length < 1 || !allowedLengths.includes(bytes.length) || bytes.length > BYTES) {
        throw new Error("Field.fromBytes: expected " + allowedLengths + " bytes, got " + bytes.length);
      }
      const padded = new Uint8Array(BYTES);
      padded.set(bytes, isLE2 ? 0 : padded.length - bytes.length);
      bytes = padded;
    }
    if (bytes.length !== BYTES)
      throw new Error("Field.fromBytes: expected " + BYTES + " bytes, got " + bytes.length);
    let scalar = isLE2 ? bytesToNumberLE(bytes) : bytesToNumberBE(bytes);
    if (modFromBytes)
      scalar = mod(scalar, ORDER);
    if (!skipValidation) {
      if (!this.isValid(scalar))
        throw new Error("invalid field element: outside of range 0..ORDER");
    }
    return scalar;
  }
  // TODO: we don't need it here, move out to separate fn
  invertBatch(lst) {
    return FpInvertBatch(this, lst, true);
  }
  // We can't move this out because Fp6, Fp12 implement it
  // and it's unclear what to return in there.
  cmov(a, b, condition) {
    abool(condition, "condition");
    return condition ? b : a;
  }
};
function Field(ORDER, opts = {}) {
  Object.freeze(_Field.prototype);
  return new _Field(ORDER, opts);
}
function getFieldBytesLength(fieldOrder) {
  if (typeof fieldOrder !== "bigint")
    throw new Error("field order must be bigint");
  if (fieldOrder <= _1n2)
    throw new Error("field order must be greater than 1");
  const bitLength = bitLen(fieldOrder - _1n2);
  return Math.ceil(bitLength / 8);
}
function getMinHashLength(fieldOrder) {
  const length = getFieldBytesLength(fieldOrder);
  return length + Math.ceil(length / 2);
}
function mapHashToField(key, fieldOrder, isLE2 = false) {
  abytes2(key);
  const len = key.length;
  const fieldLen = getFieldBytesLength(fieldOrder);
  const minLen = Math.max(getMinHashLength(fieldOrder), 16);
  if (len < minLen || len > 1024)
    throw new Error("expected " + minLen + "-1024 bytes of input, got " + len);
  const num = isLE2 ? bytesToNumberLE(key) : bytesToNumberBE(key);
  const reduced = mod(num, fieldOrder - _1n2) + _1n2;
  return isLE2 ? numberToBytesLE(reduced, fieldLen) : numberToBytesBE(reduced, fieldLen);
}

// node_modules/@noble/curves/abstract/curve.js
/*! noble-curves - MIT License (c) 2022 Paul Miller (paulmillr.com) */
var _0n3 = /* @__PURE__ */ BigInt(0);
var _1n3 = /* @__PURE__ */ BigInt(1);
var _4n2 = /* @__PURE__ */ BigInt(4);
var BLIND_BYTES = 16;
var BLIND_BITS = 128;
var FW_WINDOW = 5;
var TABLE_BYTES_MAX = /* @__PURE__ */ (() => 2 ** 31)();
function validatePointCons(Point) {
  const pc = Point;
  if (typeof pc !== "function")
    throw new TypeError('"Point" expected constructor, got type=' + typeof Point);
  afunction(pc.fromAffine, "Point.fromAffine");
  afunction(pc.fromBytes, "Point.fromBytes");
  afunction(pc.fromHex, "Point.fromHex");
  aobject2(pc.BASE, "Point.BASE");
  aobject2(pc.ZERO, "Point.ZERO");
  validateField(pc.Fp);
  validateField(pc.Fn);
}
function normalizeZ(c, points) {
  validatePointCons(c);
  validateMSMPoints(points, c);
  const invertedZs = FpInvertBatch(c.Fp, points.map((p) => p.Z));
  return points.map((p, i) => c.fromAffine(p.toAffine(invertedZs[i])));
}
function validateW(W, bits, min = 1) {
  if (!Number.isSafeInteger(W) || W < min || W > bits)
    throw new Error("invalid window size, expected [" + min + ".." + bits + "], got W=" + W);
}
function validateTableBytes(numPoints, fpBytes) {
  const bytes = numPoints * (4 * fpBytes + 128);
  if (bytes > TABLE_BYTES_MAX)
    throw new Error("invalid window size: table would need ~" + Math.ceil(bytes / 2 ** 20) + " MiB, max " + TABLE_BYTES_MAX / 2 ** 20 + " MiB");
}
function probeRandomBytes(randomBytes4, length) {
  if (randomBytes4 === void 0)
    return void 0;
  afunction(randomBytes4, "randomBytes");
  try {
    const probe = randomBytes4(length);
    if (!isBytes2(probe) || probe.length !== length)
      return void 0;
  } catch {
    return void 0;
  }
  return randomBytes4;
}
function validateMSMPoints(points, c) {
  aarray(points, "points");
  points.forEach((p, i) => {
    if (!(p instanceof c))
      throw new Error("invalid point at index " + i);
  });
}
function validateMSMScalars(scalars, field, maxScalar) {
  if (!Array.isArray(scalars))
    throw new Error("array of scalars expected");
  scalars.forEach((s, i) => {
    const ok = maxScalar === void 0 ? field.isValid(s) : isPosBig(s) && s < maxScalar;
    if (!ok)
      throw new Error("invalid scalar at index " + i);
  });
}
var pointWindowSizes = /* @__PURE__ */ new WeakMap();
function getWindowSize(P) {
  return pointWindowSizes.get(P) || 1;
}
function oddMultiples(p, size) {
  const dbl = p.double();
  const t = [p];
  for (let j = 1; j < size; j++)
    t.push(t[j - 1].add(dbl));
  return t;
}
function wnafDigits(n, W) {
  const size = 2 ** W;
  const half2 = size / 2;
  const mask = BigInt(size - 1);
  const d = [];
  while (n > _0n3) {
    let w = 0;
    if (n & _1n3) {
      w = Number(n & mask);
      if (w >= half2)
        w -= size;
      n -= BigInt(w);
    }
    d.push(w);
    n >>= _1n3;
  }
  return d;
}
function signedWindowDigits(n, W, windows) {
  const size = 2 ** W;
  const half2 = size / 2;
  const mask = BigInt(size - 1);
  const shiftBy = BigInt(W);
  const d = [];
  for (let w = 0; w < windows; w++) {
    let v = Number(n & mask);
    n >>= shiftBy;
    if (v > half2) {
      v -= size;
      n += _1n3;
    }
    d.push(v);
  }
  if (n !== _0n3)
    throw new Error("invalid wnaf");
  return d;
}
function wnafWalk(zero, tables, digits) {
  let max = 0;
  for (const d of digits)
    max = Math.max(max, d.length);
  let acc = zero;
  for (let bit = max - 1; bit >= 0; bit--) {
    if (bit !== max - 1)
      acc = acc.double();
    for (let i = 0; i < digits.length; i++) {
      const w = digits[i][bit];
      if (w) {
        const item = tables[i][Math.abs(w) - 1 >> 1];
        acc = acc.add(w < 0 ? item.negate() : item);
      }
    }
  }
  return acc;
}
var ScalarMultiplier = class {
  Point;
  BASE;
  ZERO;
  randomBytes;
  wnafPrecomputes = /* @__PURE__ */ new WeakMap();
  baseCanBeBlinded;
  bits;
  // Parametrized with a given Point class (not individual point)
  constructor(Point, randomBytes4) {
    validatePointCons(Point);
    this.randomBytes = probeRandomBytes(randomBytes4, BLIND_BYTES);
    this.Point = Point;
    this.BASE = Point.BASE;
    this.ZERO = Point.ZERO;
    this.bits = Point.Fn.BITS;
  }
  /**
   * Creates a signed fixed-window wNAF precomputation table: for every window w, the
   * multiples `[1..2^(W−1)]⋅2^(w⋅W)⋅P`, flattened. All doublings are baked into the table,
   * so cached multiplication is additions-only. `windows = ceil(bits/W) + 1`: the extra
   * window absorbs the final carry of signed-digit recoding.
   * For a 256-bit curve and W=6, the table is 44⋅32 = 1408 points.
   * @param point - Point instance
   * @param W - window size
   * @param bits - scalar bitlength the table must cover
   */
  buildWnafTable(point, W, bits) {
    const windows = Math.ceil(bits / W) + 1;
    const half2 = 2 ** (W - 1);
    const comp = [];
    let base = point;
    for (let w = 0; w < windows; w++) {
      let acc = base;
      for (let i = 0; i < half2; i++) {
        comp.push(acc);
        acc = acc.add(base);
      }
      base = comp[comp.length - 1].double();
    }
    return { W, bits, windows, comp };
  }
  /**
   * Implements ec multiplication using precomputed signed fixed-window wNAF tables.
   * Constant-time: fixed window count with one table addition per window — zero digits feed
   * the fake accumulator — and no doublings; the lookup scans the whole window slice.
   * Scalar bounds are validated by the public entry points ({@link ScalarMultiplier.mulCT},
   * {@link ScalarMultiplier.mulCTBlinded}, {@link ScalarMultiplier.mulUnsafe});
   * signedWindowDigits throws if `n` exceeds the table.
   * @returns real and fake (for const-time) points
   */
  wnafCachedCT(precomputes, n) {
    const { W, windows, comp } = precomputes;
    const half2 = 2 ** (W - 1);
    const digits = signedWindowDigits(n, W, windows);
    let p = this.ZERO;
    let f = this.BASE;
    for (let w = 0; w < windows; w++) {
      const digit = digits[w];
      const start = w * half2;
      const idx = Math.abs(digit) - 1;
      let sel = comp[start];
      for (let i = 1; i < half2; i++)
        sel = i === idx ? comp[start + i] : sel;
      const neg = sel.negate();
      if (digit === 0)
        f = f.add(comp[start]);
      else
        p = p.add(digit < 0 ? neg : sel);
    }
    return { p, f };
  }
  // Cache key is point identity plus (W, bits); at most two entries exist per point (public-width
  // `Fn.BITS` and blinded `Fn.BITS + BLIND_BITS`). Callers must not reuse the same point with
  // incompatible `transform(...)` layouts and expect a separate cache entry.
  getWnafPrecomputes(W, point, bits, transform) {
    let entries = this.wnafPrecomputes.get(point);
    let comp = entries?.find((entry) => entry.W === W && entry.bits === bits);
    if (!comp) {
      comp = this.buildWnafTable(point, W, bits);
      if (typeof transform === "function")
        comp = { ...comp, comp: transform(comp.comp) };
      if (!entries) {
        entries = [];
        this.wnafPrecomputes.set(point, entries);
      }
      entries.push(comp);
    }
    return comp;
  }
  assertPoint(point) {
    if (!(point instanceof this.Point))
      throw new TypeError('"point" expected Point instance, got type=' + typeof point);
  }
  // Shared prologue of the constant-time entry points. Rejects scalar 0: in key/signature-style
  // callers a zero scalar means broken upstream plumbing, and concrete Points already reject it.
  // Uses inRange instead of Fn.isValidNot0: validateField() only certifies the arithmetic subset.
  validateMulInput(point, scalar) {
    this.assertPoint(point);
    if (!inRange(scalar, _1n3, this.Point.Fn.ORDER))
      throw new Error("invalid scalar");
  }
  // Constant-time dispatch shared by mulCT / mulCTBlinded. Un-precomputed points (W===1, e.g.
  // ECDH peer keys) skip building a throwaway cached table in favor of a small fixed-window
  // multiply. `n` must be < 2^bits.
  runCT(point, n, bits, transform) {
    const W = getWindowSize(point);
    if (W === 1)
      return this.fixedWindowCT(point, n, bits);
    return this.wnafCachedCT(this.getWnafPrecomputes(W, point, bits, transform), n);
  }
  mulCT(point, scalar, transform) {
    this.validateMulInput(point, scalar);
    return this.runCT(point, scalar, this.bits, transform);
  }
  mulCTBlinded(point, scalar, transform) {
    this.validateMulInput(point, scalar);
    if (this.randomBytes === void 0)
      throw new Error("randomBytes is required for scalar blinding");
    const bits = this.Point.Fn.BITS + BLIND_BITS;
    const blind = this.randomBytes(BLIND_BYTES);
    if (!isBytes2(blind) || blind.length !== BLIND_BYTES)
      throw new Error("randomBytes returned invalid byte array");
    blind[0] = blind[0] & 63 | 128;
    const n = scalar + bytesToNumberBE(blind) * this.Point.Fn.ORDER;
    return this.runCT(point, n, bits, transform);
  }
  /**
   * Constant-time multiplication `n*point` for an un-precomputed point, via a small fixed window.
   * A cached wNAF table only pays off when reused; a flat 2^FW_WINDOW table (`size-1` adds) is
   * far cheaper to build for a single use. The point-operation sequence is independent of `n`:
   * build the table, then per window exactly FW_WINDOW doublings, a data-oblivious scan over
   * every table entry, and one addition (adds the identity when the window digit is 0 — never
   * skipped).
   *
   * `n` must be `< 2^bits`. Assumes complete addition (adding the identity costs the same as any
   * add), which holds for the Weierstrass/Edwards point types used here. The table is left in
   * projective form (no normalizeZ): normalizing this small a table costs more than the
   * mixed-add savings it would buy for a single multiply.
   * @returns real point `p`; `f` duplicates it only to match {@link wnafCachedCT}'s return shape
   * (this path needs no fake accumulator — its op-count is already scalar-independent).
   */
  fixedWindowCT(point, n, bits) {
    const W = FW_WINDOW;
    const size = 1 << W;
    const mask = bitMask(W);
    const table = new Array(size);
    table[0] = this.ZERO;
    for (let i = 1; i < size; i++)
      table[i] = table[i - 1].add(point);
    const windows = Math.ceil(bits / W);
    let acc = this.ZERO;
    for (let window = windows - 1; window >= 0; window--) {
      if (window !== windows - 1)
        for (let d = 0; d < W; d++)
          acc = acc.double();
      const digit = Number(n >> BigInt(window * W) & mask);
      let sel = table[0];
      for (let i = 1; i < size; i++)
        sel = i === digit ? table[i] : sel;
      acc = acc.add(sel);
    }
    return { p: acc, f: acc };
  }
  shouldBlind(point, cofactor) {
    if (this.randomBytes === void 0)
      return false;
    if (cofactor === _1n3)
      return true;
    if (point !== this.BASE)
      return false;
    if (this.baseCanBeBlinded === void 0)
      this.baseCanBeBlinded = this.mulUnsafe(this.BASE, this.Point.Fn.ORDER).is0();
    return this.baseCanBeBlinded;
  }
  mulSecret(point, scalar, cofactor, transform) {
    return this.shouldBlind(point, cofactor) ? this.mulCTBlinded(point, scalar, transform) : this.mulCT(point, scalar, transform);
  }
  mulUnsafe(point, scalar, transform) {
    this.assertPoint(point);
    if (!isPosBig(scalar))
      throw new Error("invalid scalar");
    const W = getWindowSize(point);
    if (W === 1 || scalar >= this.Point.Fn.ORDER)
      return mulAddUnsafe(this.Point, [point], [scalar], true);
    const precomputes = this.getWnafPrecomputes(W, point, this.bits, transform);
    return this.wnafCachedCT(precomputes, scalar).p;
  }
  // Remembers the window size used for precomputed wNAF multiplication of the given point
  // and drops any previously built tables. Usually only the base point is precomputed.
  // W=1 resets the point to the un-precomputed (table-less) paths.
  // W is additionally capped so tables stay under ~2 GiB ({@link TABLE_BYTES_MAX}).
  setWindowSize(point, W) {
    this.assertPoint(point);
    validateW(W, this.bits);
    const windows = Math.ceil((this.bits + BLIND_BITS) / W) + 1;
    validateTableBytes(windows * 2 ** (W - 1), this.Point.Fp.BYTES);
    pointWindowSizes.set(point, W);
    this.wnafPrecomputes.delete(point);
  }
  // True when a window size is set: tables themselves are built lazily on first multiply.
  hasWindowSize(point) {
    return getWindowSize(point) !== 1;
  }
};
function mulAddUnsafe(c, points, scalars, allowOversized = false) {
  validatePointCons(c);
  validateMSMPoints(points, c);
  abool(allowOversized, "allowOversized");
  validateMSMScalars(scalars, c.Fn, allowOversized ? c.Fn.ORDER ** _4n2 : void 0);
  if (points.length !== scalars.length)
    throw new Error("arrays of points and scalars must have equal length");
  const tables = points.map((p) => oddMultiples(p, 4));
  const digits = scalars.map((n) => wnafDigits(n, 4));
  return wnafWalk(c.ZERO, tables, digits);
}
function createField(order, field, isLE2) {
  if (field) {
    if (field.ORDER !== order)
      throw new Error("Field.ORDER must match order: Fp == p, Fn == n");
    validateField(field);
    return field;
  } else {
    return Field(order, { isLE: isLE2 });
  }
}
function createCurveFields(type, CURVE, curveOpts = {}, FpFnLE) {
  if (type !== "weierstrass" && type !== "edwards")
    throw new Error('expected curve type "weierstrass" or "edwards"');
  if (FpFnLE === void 0)
    FpFnLE = type === "edwards";
  if (!CURVE || typeof CURVE !== "object")
    throw new Error(`expected valid ${type} CURVE object`);
  validateObject(curveOpts);
  for (const p of ["p", "n", "h"]) {
    const val = CURVE[p];
    if (!(isPosBig(val) && val !== _0n3))
      throw new Error(`CURVE.${p} must be positive bigint`);
  }
  const Fp3 = createField(CURVE.p, curveOpts.Fp, FpFnLE);
  const Fn = createField(CURVE.n, curveOpts.Fn, FpFnLE);
  const _b = type === "weierstrass" ? "b" : "d";
  const params = ["Gx", "Gy", "a", _b];
  for (const p of params) {
    if (!Fp3.isValid(CURVE[p]))
      throw new Error(`CURVE.${p} must be valid field element of CURVE.Fp`);
  }
  CURVE = Object.freeze(Object.assign({}, CURVE));
  return { CURVE, Fp: Fp3, Fn };
}
function createKeygen(randomSecretKey, getPublicKey) {
  return function keygen(seed) {
    const secretKey = randomSecretKey(seed);
    return { secretKey, publicKey: getPublicKey(secretKey) };
  };
}

// node_modules/@noble/curves/abstract/edwards.js
/*! noble-curves - MIT License (c) 2022 Paul Miller (paulmillr.com) */
var _0n4 = /* @__PURE__ */ BigInt(0);
var _1n4 = /* @__PURE__ */ BigInt(1);
var _2n2 = /* @__PURE__ */ BigInt(2);
var _4n3 = /* @__PURE__ */ BigInt(4);
var _8n2 = /* @__PURE__ */ BigInt(8);
function isEdValidXY(Fp3, CURVE, x, y) {
  const x2 = Fp3.sqr(x);
  const y2 = Fp3.sqr(y);
  const left = Fp3.add(Fp3.mul(CURVE.a, x2), y2);
  const right = Fp3.add(Fp3.ONE, Fp3.mul(CURVE.d, Fp3.mul(x2, y2)));
  return Fp3.eql(left, right);
}
function edwards(params, extraOpts = {}) {
  validateObject(extraOpts, {}, {}, "extraOpts");
  const opts = extraOpts;
  const validated = createCurveFields("edwards", params, opts, opts.FpFnLE);
  const { Fp: Fp3, Fn } = validated;
  let CURVE = validated.CURVE;
  const { h: cofactor } = CURVE;
  if (FpLegendre(Fp3, CURVE.a) !== 1)
    throw new Error("edwards: CURVE.a must be a square in Fp for complete addition formulas");
  if (FpLegendre(Fp3, CURVE.d) !== -1)
    throw new Error("edwards: CURVE.d must be a non-square in Fp for complete addition formulas");
  validateObject(opts, {}, { uvRatio: "function", randomBytes: "function" });
  const randomBytes4 = opts.randomBytes === void 0 ? randomBytes2 : opts.randomBytes;
  const MASK = _2n2 << BigInt(Fp3.BYTES * 8) - _1n4;
  function isOdd(n) {
    if (!Fp3.isOdd)
      throw new Error("Field does not have .isOdd()");
    return Fp3.isOdd(n);
  }
  const uvRatio2 = opts.uvRatio === void 0 ? (u, v) => {
    try {
      return { isValid: true, value: Fp3.sqrt(Fp3.div(u, v)) };
    } catch (e) {
      return { isValid: false, value: _0n4 };
    }
  } : opts.uvRatio;
  if (!isEdValidXY(Fp3, CURVE, CURVE.Gx, CURVE.Gy))
    throw new Error("bad curve params: generator point");
  const mulA = Fp3.eql(CURVE.a, Fp3.neg(Fp3.ONE)) ? (x) => Fp3.neg(x) : Fp3.eql(CURVE.a, Fp3.ONE) ? (x) => x : (x) => Fp3.mul(CURVE.a, x);
  function acoord(title, n, banZero = false) {
    const min = banZero ? _1n4 : _0n4;
    aInRange("coordinate " + title, n, min, MASK);
    return n;
  }
  function aedpoint(other) {
    if (!(other instanceof Point))
      throw new Error("EdwardsPoint expected");
  }
  class Point {
    static BASE = new Point(CURVE.Gx, CURVE.Gy, Fp3.ONE, Fp3.mul(CURVE.Gx, CURVE.Gy));
    static ZERO = new Point(Fp3.ZERO, Fp3.ONE, Fp3.ONE, Fp3.ZERO);
    static Fp = Fp3;
    static Fn = Fn;
    X;
    Y;
    Z;
    T;
    constructor(X, Y, Z, T) {
      this.X = acoord("x", X);
      this.Y = acoord("y", Y);
      this.Z = acoord("z", Z, true);
      this.T = acoord("t", T);
      Object.freeze(this);
    }
    static CURVE() {
      return CURVE;
    }
    /**
     * Create one extended Edwards point from affine coordinates.
     * Does NOT validate that the point is on-curve or torsion-free.
     * Use `.assertValidity()` on adversarial inputs.
     */
    static fromAffine(p) {
      if (p instanceof Point)
        throw new Error("extended point not allowed");
      const { x, y } = p || {};
      acoord("x", x);
      acoord("y", y);
      return new Point(x, y, Fp3.ONE, Fp3.mul(x, y));
    }
    // Uses algo from RFC8032 5.1.3.
    static fromBytes(bytes, zip215 = false) {
      const len = Fp3.BYTES;
      const { a, d } = CURVE;
      bytes = copyBytes(abytes2(bytes, len, "point"));
      abool(zip215, "zip215");
      const normed = copyBytes(bytes);
      const lastByte = bytes[len - 1];
      normed[len - 1] = lastByte & ~128;
      const y = bytesToNumberLE(normed);
      const max = zip215 ? MASK : Fp3.ORDER;
      aInRange("point.y", y, _0n4, max);
      const y2 = Fp3.sqr(y);
      const u = Fp3.sub(y2, Fp3.ONE);
      const v = Fp3.sub(Fp3.mulN(d, y2), a);
      let { isValid, value: x } = uvRatio2(u, v);
      if (!isValid)
        throw new Error("bad point: invalid y coordinate");
      const isXOdd = isOdd(x);
      const isLastByteOdd = (lastByte & 128) !== 0;
      if (!zip215 && Fp3.is0(x) && isLastByteOdd)
        throw new Error("bad point: x=0 and x_0=1");
      if (isLastByteOdd !== isXOdd)
        x = Fp3.neg(x);
      return Point.fromAffine({ x, y });
    }
    static fromHex(hex, zip215 = false) {
      return Point.fromBytes(hexToBytes2(hex), zip215);
    }
    get x() {
      return this.toAffine().x;
    }
    get y() {
      return this.toAffine().y;
    }
    precompute(windowSize = 6, isLazy = true) {
      wnaf.setWindowSize(this, windowSize);
      if (!isLazy)
        this.multiply(_2n2);
      return this;
    }
    // Useful in fromAffine() - not for fromBytes(), which always created valid points.
    assertValidity() {
      const p = this;
      const { a, d } = CURVE;
      if (p.is0())
        throw new Error("bad point: ZERO");
      const { X, Y, Z, T } = p;
      const X2 = Fp3.sqr(X);
      const Y2 = Fp3.sqr(Y);
      const Z2 = Fp3.sqr(Z);
      const Z4 = Fp3.sqr(Z2);
      const aX2 = Fp3.mul(X2, a);
      const left = Fp3.mul(Fp3.add(aX2, Y2), Z2);
      const right = Fp3.add(Z4, Fp3.mul(d, Fp3.mul(X2, Y2)));
      if (!Fp3.eql(left, right))
        throw new Error("bad point: equation left != right (1)");
      const XY = Fp3.mul(X, Y);
      const ZT = Fp3.mul(Z, T);
      if (!Fp3.eql(XY, ZT))
        throw new Error("bad point: equation left != right (2)");
    }
    // Compare one point to another.
    equals(other) {
      aedpoint(other);
      const { X: X1, Y: Y1, Z: Z1 } = this;
      const { X: X2, Y: Y2, Z: Z2 } = other;
      const X1Z2 = Fp3.mul(X1, Z2);
      const X2Z1 = Fp3.mul(X2, Z1);
      const Y1Z2 = Fp3.mul(Y1, Z2);
      const Y2Z1 = Fp3.mul(Y2, Z1);
      return Fp3.eql(X1Z2, X2Z1) && Fp3.eql(Y1Z2, Y2Z1);
    }
    is0() {
      return this.equals(Point.ZERO);
    }
    negate() {
      return new Point(Fp3.neg(this.X), this.Y, this.Z, Fp3.neg(this.T));
    }
    // Fast algo for doubling Extended Point.
    // https://hyperelliptic.org/EFD/g1p/auto-twisted-extended.html#doubling-dbl-2008-hwcd
    // Cost: 4M + 4S + 1*a + 6add + 1*2.
    double() {
      const { X: X1, Y: Y1, Z: Z1 } = this;
      const A = Fp3.sqr(X1);
      const B = Fp3.sqr(Y1);
      const C = Fp3.mul(Fp3.sqr(Z1), _2n2);
      const D = mulA(A);
      const x1y1 = Fp3.addN(X1, Y1);
      const E = Fp3.sub(Fp3.subN(Fp3.sqr(x1y1), A), B);
      const G = Fp3.addN(D, B);
      const F = Fp3.subN(G, C);
      const H = Fp3.subN(D, B);
      const X3 = Fp3.mul(E, F);
      const Y3 = Fp3.mul(G, H);
      const T3 = Fp3.mul(E, H);
      const Z3 = Fp3.mul(F, G);
      return new Point(X3, Y3, Z3, T3);
    }
    // Fast algo for adding 2 Extended Points.
    // https://hyperelliptic.org/EFD/g1p/auto-twisted-extended.html#addition-add-2008-hwcd
    // Cost: 9M + 1*a + 1*d + 7add.
    add(other) {
      aedpoint(other);
      const { d } = CURVE;
      const { X: X1, Y: Y1, Z: Z1, T: T1 } = this;
      const { X: X2, Y: Y2, Z: Z2, T: T2 } = other;
      const A = Fp3.mul(X1, X2);
      const B = Fp3.mul(Y1, Y2);
      const C = Fp3.mul(Fp3.mulN(T1, d), T2);
      const D = Fp3.mul(Z1, Z2);
      const E = Fp3.sub(Fp3.subN(Fp3.mulN(Fp3.addN(X1, Y1), Fp3.addN(X2, Y2)), A), B);
      const F = Fp3.subN(D, C);
      const G = Fp3.addN(D, C);
      const H = Fp3.sub(B, mulA(A));
      const X3 = Fp3.mul(E, F);
      const Y3 = Fp3.mul(G, H);
      const T3 = Fp3.mul(E, H);
      const Z3 = Fp3.mul(F, G);
      return new Point(X3, Y3, Z3, T3);
    }
    subtract(other) {
      aedpoint(other);
      return this.add(other.negate());
    }
    // Constant-time multiplication.
    multiply(scalar) {
      if (!Fn.isValidNot0(scalar))
        throw new RangeError("invalid scalar: expected 1 <= sc < curve.n");
      const { p, f } = wnaf.mulSecret(this, scalar, cofactor, normalize);
      return normalize([p, f])[0];
    }
    // Non-constant-time multiplication. Uses double-and-add algorithm.
    // It's faster, but should only be used when you don't care about
    // an exposed private key e.g. sig verification.
    // Keeps the same subgroup-scalar contract: 0 is allowed for public-scalar callers, but
    // n and larger values are rejected instead of being reduced mod n to the identity point.
    multiplyUnsafe(scalar) {
      if (!Fn.isValid(scalar))
        throw new RangeError("invalid scalar: expected 0 <= sc < curve.n");
      if (scalar === _0n4)
        return Point.ZERO;
      if (this.is0() || scalar === _1n4)
        return this;
      return wnaf.mulUnsafe(this, scalar, normalize);
    }
    // Checks if point is of small order.
    // If you add something to small order point, you will have "dirty"
    // point with torsion component.
    // Clears cofactor and checks if the result is 0.
    isSmallOrder() {
      return this.clearCofactor().is0();
    }
    // Multiplies point by curve order and checks if the result is 0.
    // Returns `false` is the point is dirty.
    isTorsionFree() {
      return wnaf.mulUnsafe(this, CURVE.n).is0();
    }
    // Converts Extended point to default (x, y) coordinates.
    // Can accept precomputed Z^-1 - for example, from invertBatch.
    toAffine(invertedZ) {
      const p = this;
      let iz = invertedZ;
      if (iz != null && typeof iz !== "bigint")
        throw new TypeError('"invertedZ" expected bigint, got type=' + typeof iz);
      const { X, Y, Z } = p;
      const is0 = p.is0();
      if (iz == null)
        iz = is0 ? Fp3.create(_8n2) : Fp3.inv(Z);
      const x = Fp3.mul(X, iz);
      const y = Fp3.mul(Y, iz);
      const zz = Fp3.mul(Z, iz);
      if (is0)
        return { x: Fp3.ZERO, y: Fp3.ONE };
      if (!Fp3.eql(zz, Fp3.ONE))
        throw new Error("invZ was invalid");
      return { x, y };
    }
    clearCofactor() {
      if (cofactor === _1n4)
        return this;
      if (cofactor === _2n2)
        return this.double();
      if (cofactor === _4n3)
        return this.double().double();
      if (cofactor === _8n2)
        return this.double().double().double();
      return this.multiplyUnsafe(cofactor);
    }
    toBytes() {
      const { x, y } = this.toAffine();
      const bytes = Fp3.toBytes(y);
      bytes[bytes.length - 1] |= isOdd(x) ? 128 : 0;
      return bytes;
    }
    toHex() {
      return bytesToHex2(this.toBytes());
    }
    toString() {
      return `<Point ${this.is0() ? "ZERO" : this.toHex()}>`;
    }
  }
  const normalize = (points) => normalizeZ(Point, points);
  const wnaf = new ScalarMultiplier(Point, randomBytes4);
  if (wnaf.bits >= 6)
    Point.BASE.precompute(6);
  Object.freeze(Point.prototype);
  Object.freeze(Point);
  return Point;
}
function eddsa(Point, cHash, eddsaOpts = {}) {
  validatePointCons(Point);
  if (typeof cHash !== "function")
    throw new Error('"hash" function param is required');
  const hash2 = cHash;
  const opts = eddsaOpts;
  validateObject(opts, {}, {
    adjustScalarBytes: "function",
    randomBytes: "function",
    domain: "function",
    prehash: "function",
    zip215: "boolean",
    mapToCurve: "function",
    toMontgomery: "function",
    toMontgomerySecret: "function"
  });
  const { prehash } = opts;
  const { BASE, Fp: Fp3, Fn } = Point;
  const outputLen = hash2.outputLen;
  const expectedLen = 2 * Fp3.BYTES;
  if (outputLen !== void 0) {
    asafenumber(outputLen, "hash.outputLen");
    if (outputLen !== expectedLen)
      throw new Error(`hash.outputLen must be ${expectedLen}, got ${outputLen}`);
  }
  const randomBytes4 = opts.randomBytes === void 0 ? randomBytes2 : opts.randomBytes;
  const toMontgomery2 = opts.toMontgomery;
  const toMontgomerySecret2 = opts.toMontgomerySecret;
  const adjustScalarBytes2 = opts.adjustScalarBytes === void 0 ? (bytes) => bytes : opts.adjustScalarBytes;
  const domain = opts.domain === void 0 ? (data, ctx, phflag) => {
    abool(phflag, "phflag");
    if (ctx.length || phflag)
      throw new Error("Contexts/pre-hash are not supported");
    return data;
  } : opts.domain;
  function modN_LE(hash3) {
    return Fn.create(bytesToNumberLE(hash3));
  }
  function getPrivateScalar(key) {
    const len = lengths.secretKey;
    abytes2(key, lengths.secretKey, "secretKey");
    const hashed = abytes2(hash2(key), 2 * len, "hashedSecretKey");
    const head = adjustScalarBytes2(hashed.slice(0, len));
    const prefix = hashed.slice(len, 2 * len);
    const scalar = modN_LE(head);
    return { head, prefix, scalar };
  }
  function getExtendedPublicKey(secretKey) {
    const { head, prefix, scalar } = getPrivateScalar(secretKey);
    const point = BASE.multiply(scalar);
    const pointBytes = point.toBytes();
    return { head, prefix, scalar, point, pointBytes };
  }
  function getPublicKey(secretKey) {
    return getExtendedPublicKey(secretKey).pointBytes;
  }
  function hashDomainToScalar(context = Uint8Array.of(), ...msgs) {
    const msg = concatBytes2(...msgs);
    return modN_LE(hash2(domain(msg, abytes2(context, void 0, "context"), !!prehash)));
  }
  function sign(msg, secretKey, options = {}) {
    validateObject(options, {}, {}, "options");
    msg = copyBytes(abytes2(msg, void 0, "message"));
    if (prehash)
      msg = prehash(msg);
    const { prefix, scalar, pointBytes } = getExtendedPublicKey(secretKey);
    const r = hashDomainToScalar(options.context, prefix, msg);
    const R = BASE.multiply(r).toBytes();
    const k = hashDomainToScalar(options.context, R, pointBytes, msg);
    const s = Fn.create(r + k * scalar);
    if (!Fn.isValid(s))
      throw new Error("sign failed: invalid s");
    const rs = concatBytes2(R, Fn.toBytes(s));
    return abytes2(rs, lengths.signature, "result");
  }
  const verifyOpts = {
    zip215: opts.zip215
  };
  function verify2(sig, msg, publicKey, options = verifyOpts) {
    validateObject(options);
    const { context } = options;
    const zip215 = options.zip215 === void 0 ? !!verifyOpts.zip215 : options.zip215;
    const len = lengths.signature;
    sig = abytes2(sig, len, "signature");
    msg = abytes2(msg, void 0, "message");
    publicKey = abytes2(publicKey, lengths.publicKey, "publicKey");
    if (zip215 !== void 0)
      abool(zip215, "zip215");
    if (prehash)
      msg = prehash(msg);
    const mid = len / 2;
    const r = sig.subarray(0, mid);
    const s = bytesToNumberLE(sig.subarray(mid, len));
    let A, R, SB;
    try {
      A = Point.fromBytes(publicKey, zip215);
      R = Point.fromBytes(r, zip215);
      SB = BASE.multiplyUnsafe(s);
    } catch (error) {
      return false;
    }
    if (!zip215 && A.isSmallOrder())
      return false;
    const k = hashDomainToScalar(context, r, publicKey, msg);
    const RkA = R.add(A.multiplyUnsafe(k));
    return RkA.subtract(SB).clearCofactor().is0();
  }
  const _size = Fp3.BYTES;
  const lengths = {
    secretKey: _size,
    publicKey: _size,
    signature: 2 * _size,
    seed: _size
  };
  function randomSecretKey(seed) {
    seed = seed === void 0 ? randomBytes4(lengths.seed) : seed;
    return abytes2(seed, lengths.seed, "seed");
  }
  function isValidSecretKey(key) {
    return isBytes2(key) && key.length === lengths.secretKey;
  }
  function isValidPublicKey(key, zip215) {
    try {
      return !!Point.fromBytes(key, zip215 === void 0 ? verifyOpts.zip215 : zip215);
    } catch (error) {
      return false;
    }
  }
  const utils = {
    getExtendedPublicKey,
    randomSecretKey,
    isValidSecretKey,
    isValidPublicKey,
    /** Converts an Edwards public key to a companion Montgomery public key. */
    toMontgomery(publicKey) {
      if (toMontgomery2 === void 0)
        throw new Error("Montgomery conversion is not supported for this curve");
      return toMontgomery2(Point.fromBytes(publicKey));
    },
    toMontgomerySecret(secretKey) {
      if (toMontgomerySecret2 === void 0)
        throw new Error("Montgomery conversion is not supported for this curve");
      return toMontgomerySecret2(secretKey);
    }
  };
  Object.freeze(lengths);
  Object.freeze(utils);
  return Object.freeze({
    keygen: createKeygen(randomSecretKey, getPublicKey),
    getPublicKey,
    sign,
    verify: verify2,
    utils,
    Point,
    lengths
  });
}

// node_modules/@noble/curves/abstract/hash-to-curve.js
var _0n5 = /* @__PURE__ */ BigInt(0);
var _1n5 = /* @__PURE__ */ BigInt(1);
var _2n3 = /* @__PURE__ */ BigInt(2);
var _3n2 = /* @__PURE__ */ BigInt(3);
var _4n4 = /* @__PURE__ */ BigInt(4);
var os2ip = bytesToNumberBE;
function i2osp(value, length) {
  asafenumber(value);
  asafenumber(length);
  if (length < 0 || length > 4)
    throw new Error("invalid I2OSP length: " + length);
  if (value < 0 || value > 2 ** (8 * length) - 1)
    throw new Error("invalid I2OSP input: " + value);
  const res = Array.from({ length }).fill(0);
  for (let i = length - 1; i >= 0; i--) {
    res[i] = value & 255;
    value >>>= 8;
  }
  return new Uint8Array(res);
}
function strxor(a, b) {
  const arr = new Uint8Array(a.length);
  for (let i = 0; i < a.length; i++) {
    arr[i] = a[i] ^ b[i];
  }
  return arr;
}
function normDST(DST) {
  if (!isBytes2(DST) && typeof DST !== "string")
    throw new Error("DST must be Uint8Array or ascii string");
  const dst = typeof DST === "string" ? asciiToBytes(DST) : DST;
  if (dst.length === 0)
    throw new Error("DST must be non-empty");
  return dst;
}
function expand_message_xmd(msg, DST, lenInBytes, H) {
  abytes2(msg);
  asafenumber(lenInBytes);
  if (typeof H !== "function")
    throw new Error("expand_message_xmd: expected hash function");
  asafenumber(H.outputLen, "hash.outputLen");
  asafenumber(H.blockLen, "hash.blockLen");
  DST = normDST(DST);
  if (DST.length > 255)
    DST = H(concatBytes2(asciiToBytes("H2C-OVERSIZE-DST-"), DST));
  const { outputLen: b_in_bytes, blockLen: r_in_bytes } = H;
  const ell = Math.ceil(lenInBytes / b_in_bytes);
  if (lenInBytes > 65535 || ell > 255)
    throw new Error("expand_message_xmd: invalid lenInBytes");
  const DST_prime = concatBytes2(DST, i2osp(DST.length, 1));
  const Z_pad = new Uint8Array(r_in_bytes);
  const l_i_b_str = i2osp(lenInBytes, 2);
  const b = new Array(ell);
  const b_0 = H(concatBytes2(Z_pad, msg, l_i_b_str, i2osp(0, 1), DST_prime));
  b[0] = H(concatBytes2(b_0, i2osp(1, 1), DST_prime));
  for (let i = 1; i < ell; i++) {
    const args = [strxor(b_0, b[i - 1]), i2osp(i + 1, 1), DST_prime];
    b[i] = H(concatBytes2(...args));
  }
  const pseudo_random_bytes = concatBytes2(...b);
  return pseudo_random_bytes.slice(0, lenInBytes);
}
function expand_message_xof(msg, DST, lenInBytes, k, H) {
  abytes2(msg);
  asafenumber(lenInBytes);
  asafenumber(k, "k");
  if (k < 0)
    throw new Error("expand_message_xof: invalid k");
  if (typeof H !== "function")
    throw new Error("expand_message_xof: expected XOF function");
  if (typeof H.create !== "function")
    throw new Error("expand_message_xof: expected XOF create");
  DST = normDST(DST);
  if (lenInBytes < 0 || lenInBytes > 65535)
    throw new Error("expand_message_xof: invalid lenInBytes");
  if (DST.length > 255) {
    const dkLen = Math.ceil(2 * k / 8);
    DST = H.create({ dkLen }).update(asciiToBytes("H2C-OVERSIZE-DST-")).update(DST).digest();
  }
  if (DST.length > 255)
    throw new Error("expand_message_xof: invalid DST");
  return H.create({ dkLen: lenInBytes }).update(msg).update(i2osp(lenInBytes, 2)).update(DST).update(i2osp(DST.length, 1)).digest();
}
function hash_to_field(msg, count2, options) {
  validateObject(options, {
    p: "bigint",
    m: "number",
    k: "number",
    hash: "function"
  });
  const { p, k, m, hash: hash2, expand: expand2, DST } = options;
  asafenumber(hash2.outputLen, "valid hash");
  abytes2(msg);
  asafenumber(count2);
  asafenumber(m, "m");
  asafenumber(k, "k");
  if (p <= BigInt(1))
    throw new Error("hash_to_field: expected valid field characteristic");
  if (count2 < 1)
    throw new Error("hash_to_field: expected count >= 1");
  if (m < 1)
    throw new Error("hash_to_field: expected m >= 1");
  if (k < 0)
    throw new Error("hash_to_field: invalid k");
  const log2p = p.toString(2).length;
  const L = Math.ceil((log2p + k) / 8);
  const len_in_bytes = count2 * m * L;
  let prb;
  if (expand2 === "xmd") {
    prb = expand_message_xmd(msg, DST, len_in_bytes, hash2);
  } else if (expand2 === "xof") {
    prb = expand_message_xof(msg, DST, len_in_bytes, k, hash2);
  } else if (expand2 === "_internal_pass") {
    prb = msg;
  } else {
    throw new Error('expand must be "xmd" or "xof"');
  }
  const u = new Array(count2);
  for (let i = 0; i < count2; i++) {
    const e = new Array(m);
    for (let j = 0; j < m; j++) {
      const elm_offset = L * (j + i * m);
      const tv = prb.subarray(elm_offset, elm_offset + L);
      e[j] = mod(os2ip(tv), p);
    }
    u[i] = e;
  }
  return u;
}
function isogenyMap(field, map) {
  validateField(field);
  aarray(map, "map");
  const coeff = map.map((i, row3) => {
    aarray(i, "map[" + row3 + "]");
    if (i.length < 1)
      throw new Error("isogenyMap: expected non-empty coefficients");
    return Array.from(i).reverse();
  });
  return (x, y) => {
    const [xn, xd, yn, yd] = coeff.map((val) => val.reduce((acc, i) => field.add(field.mul(acc, x), i)));
    const isZero = field.is0(xd) || field.is0(yd);
    const [xd_inv, yd_inv] = FpInvertBatch(field, [xd, yd], true);
    x = field.mul(xn, xd_inv);
    y = field.mul(y, field.mul(yn, yd_inv));
    return isZero ? { x: field.ZERO, y: field.ZERO } : { x, y };
  };
}
var _DST_scalar = "HashToScalar-";
function createHasher2(Point, mapToCurve, defaults) {
  if (typeof mapToCurve !== "function")
    throw new Error("mapToCurve() must be defined");
  validateObject(defaults);
  const snapshot = (src) => Object.freeze({
    ...src,
    DST: isBytes2(src.DST) ? copyBytes(src.DST) : src.DST,
    ...src.encodeDST === void 0 ? {} : { encodeDST: isBytes2(src.encodeDST) ? copyBytes(src.encodeDST) : src.encodeDST }
  });
  const safeDefaults = snapshot(defaults);
  const dstOverride = (options) => options && options.DST !== void 0 ? { DST: options.DST } : void 0;
  function map(num) {
    return Point.fromAffine(mapToCurve(num));
  }
  function clear(initial) {
    const P = initial.clearCofactor();
    if (P.equals(Point.ZERO))
      return Point.ZERO;
    P.assertValidity();
    return P;
  }
  return Object.freeze({
    get defaults() {
      return snapshot(safeDefaults);
    },
    Point,
    hashToCurve(msg, options) {
      const opts = Object.assign({}, safeDefaults, dstOverride(options));
      const u = hash_to_field(msg, 2, opts);
      const u0 = map(u[0]);
      const u1 = map(u[1]);
      return clear(u0.add(u1));
    },
    encodeToCurve(msg, options) {
      const optsDst = safeDefaults.encodeDST === void 0 ? {} : { DST: safeDefaults.encodeDST };
      const opts = Object.assign({}, safeDefaults, optsDst, dstOverride(options));
      const u = hash_to_field(msg, 1, opts);
      const u0 = map(u[0]);
      return clear(u0);
    },
    /** See {@link H2CHasher} */
    mapToCurve(scalars) {
      if (safeDefaults.m === 1) {
        if (typeof scalars !== "bigint")
          throw new Error("expected bigint (m=1)");
        return clear(map([scalars]));
      }
      if (!Array.isArray(scalars))
        throw new Error("expected array of bigints");
      if (scalars.length !== safeDefaults.m)
        throw new Error(`expected array of ${safeDefaults.m} bigints`);
      for (const i of scalars)
        if (typeof i !== "bigint")
          throw new Error("expected array of bigints");
      return clear(map(scalars));
    },
    // hash_to_scalar can produce 0: https://www.rfc-editor.org/errata/eid8393
    // RFC 9380, draft-irtf-cfrg-bbs-signatures-08. Default scalar DST is the shared generic
    // `HashToScalar-` prefix above unless the caller overrides it per invocation.
    hashToScalar(msg, options) {
      const N = Point.Fn.ORDER;
      const opts = Object.assign({}, safeDefaults, { DST: _DST_scalar }, dstOverride(options), {
        p: N,
        m: 1
      });
      return hash_to_field(msg, 1, opts)[0][0];
    }
  });
}
function SWUFpSqrtRatio(Fp3, Z) {
  const F = validateField(Fp3);
  const q = F.ORDER;
  let l = _0n5;
  for (let o = q - _1n5; o % _2n3 === _0n5; o /= _2n3)
    l += _1n5;
  const c1 = l;
  const _2n_pow_c1_1 = _2n3 << c1 - _1n5 - _1n5;
  const _2n_pow_c1 = _2n_pow_c1_1 * _2n3;
  const c2 = (q - _1n5) / _2n_pow_c1;
  const c3 = (c2 - _1n5) / _2n3;
  const c4 = _2n_pow_c1 - _1n5;
  const c5 = _2n_pow_c1_1;
  const c6 = F.pow(Z, c2);
  const c7 = F.pow(Z, (c2 + _1n5) / _2n3);
  let sqrtRatio = (u, v) => {
    let tv1 = c6;
    let tv2 = F.pow(v, c4);
    let tv3 = F.sqr(tv2);
    tv3 = F.mul(tv3, v);
    let tv5 = F.mul(u, tv3);
    tv5 = F.pow(tv5, c3);
    tv5 = F.mul(tv5, tv2);
    tv2 = F.mul(tv5, v);
    tv3 = F.mul(tv5, u);
    let tv4 = F.mul(tv3, tv2);
    tv5 = F.pow(tv4, c5);
    let isQR = F.eql(tv5, F.ONE);
    tv2 = F.mul(tv3, c7);
    tv5 = F.mul(tv4, tv1);
    tv3 = F.cmov(tv2, tv3, isQR);
    tv4 = F.cmov(tv5, tv4, isQR);
    for (let i = c1; i > _1n5; i--) {
      let tv52 = i - _2n3;
      tv52 = _2n3 << tv52 - _1n5;
      let tvv5 = F.pow(tv4, tv52);
      const e1 = F.eql(tvv5, F.ONE);
      tv2 = F.mul(tv3, tv1);
      tv1 = F.mul(tv1, tv1);
      tvv5 = F.mul(tv4, tv1);
      tv3 = F.cmov(tv2, tv3, e1);
      tv4 = F.cmov(tvv5, tv4, e1);
    }
    return { isValid: !F.is0(v) && (isQR || F.is0(u)), value: tv3 };
  };
  if (F.ORDER % _4n4 === _3n2) {
    const c12 = (F.ORDER - _3n2) / _4n4;
    const c22 = F.sqrt(F.neg(Z));
    sqrtRatio = (u, v) => {
      let tv1 = F.sqr(v);
      const tv2 = F.mul(u, v);
      tv1 = F.mul(tv1, tv2);
      let y1 = F.pow(tv1, c12);
      y1 = F.mul(y1, tv2);
      const y2 = F.mul(y1, c22);
      const tv3 = F.mul(F.sqr(y1), v);
      const isQR = F.eql(tv3, u);
      let y = F.cmov(y2, y1, isQR);
      return { isValid: !F.is0(v) && isQR, value: y };
    };
  }
  return sqrtRatio;
}
function mapToCurveSimpleSWU(Fp3, opts) {
  const F = validateField(Fp3);
  validateObject(opts, {}, {}, "opts");
  const { A, B, Z } = opts;
  if (!F.isValidNot0(A) || !F.isValidNot0(B) || !F.isValid(Z))
    throw new Error("mapToCurveSimpleSWU: invalid opts");
  if (F.eql(Z, F.neg(F.ONE)) || FpIsSquare(F, Z))
    throw new Error("mapToCurveSimpleSWU: invalid opts");
  const x = F.mul(B, F.inv(F.mul(Z, A)));
  const gx = F.add(F.add(F.mul(F.sqr(x), x), F.mul(A, x)), B);
  if (!FpIsSquare(F, gx))
    throw new Error("mapToCurveSimpleSWU: invalid opts");
  const sqrtRatio = SWUFpSqrtRatio(F, Z);
  if (!F.isOdd)
    throw new Error("Field does not have .isOdd()");
  return (u) => {
    let tv1, tv2, tv3, tv4, tv5, tv6, x2, y;
    tv1 = F.sqr(u);
    tv1 = F.mul(tv1, Z);
    tv2 = F.sqr(tv1);
    tv2 = F.add(tv2, tv1);
    tv3 = F.add(tv2, F.ONE);
    tv3 = F.mul(tv3, B);
    tv4 = F.cmov(Z, F.neg(tv2), !F.eql(tv2, F.ZERO));
    tv4 = F.mul(tv4, A);
    tv2 = F.sqr(tv3);
    tv6 = F.sqr(tv4);
    tv5 = F.mul(tv6, A);
    tv2 = F.add(tv2, tv5);
    tv2 = F.mul(tv2, tv3);
    tv6 = F.mul(tv6, tv4);
    tv5 = F.mul(tv6, B);
    tv2 = F.add(tv2, tv5);
    x2 = F.mul(tv1, tv3);
    const { isValid, value } = sqrtRatio(tv2, tv6);
    y = F.mul(tv1, u);
    y = F.mul(y, value);
    x2 = F.cmov(x2, tv3, isValid);
    y = F.cmov(y, value, isValid);
    const e1 = F.isOdd(u) === F.isOdd(y);
    y = F.cmov(F.neg(y), y, e1);
    const tv4_inv = FpInvertBatch(F, [tv4], true)[0];
    x2 = F.mul(x2, tv4_inv);
    return { x: x2, y };
  };
}

// node_modules/@noble/curves/ed25519.js
/*! noble-curves - MIT License (c) 2022 Paul Miller (paulmillr.com) */
var _1n6 = /* @__PURE__ */ BigInt(1);
var _2n4 = /* @__PURE__ */ BigInt(2);
var _5n2 = /* @__PURE__ */ BigInt(5);
var _8n3 = /* @__PURE__ */ BigInt(8);
var ed25519_CURVE_p = /* @__PURE__ */ BigInt("0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed");
var ed25519_CURVE = /* @__PURE__ */ (() => ({
  p: ed25519_CURVE_p,
  n: BigInt("0x1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed"),
  h: _8n3,
  a: BigInt("0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffec"),
  d: BigInt("0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3"),
  Gx: BigInt("0x216936d3cd6e53fec0a4e231fdd6dc5c692cc7609525a7b2c9562d608f25d51a"),
  Gy: BigInt("0x6666666666666666666666666666666666666666666666666666666666666658")
}))();
function ed25519_pow_2_252_3(x) {
  const _10n = BigInt(10), _20n = BigInt(20), _40n = BigInt(40), _80n = BigInt(80);
  const P = ed25519_CURVE_p;
  const x2 = x * x % P;
  const b2 = x2 * x % P;
  const b4 = pow2(b2, _2n4, P) * b2 % P;
  const b5 = pow2(b4, _1n6, P) * x % P;
  const b10 = pow2(b5, _5n2, P) * b5 % P;
  const b20 = pow2(b10, _10n, P) * b10 % P;
  const b40 = pow2(b20, _20n, P) * b20 % P;
  const b80 = pow2(b40, _40n, P) * b40 % P;
  const b160 = pow2(b80, _80n, P) * b80 % P;
  const b240 = pow2(b160, _80n, P) * b80 % P;
  const b250 = pow2(b240, _10n, P) * b10 % P;
  const pow_p_5_8 = pow2(b250, _2n4, P) * x % P;
  return { pow_p_5_8, b2 };
}
function adjustScalarBytes(bytes) {
  bytes[0] &= 248;
  bytes[31] &= 127;
  bytes[31] |= 64;
  return bytes;
}
var ED25519_SQRT_M1 = /* @__PURE__ */ BigInt("19681161376707505956807079304988542015446066515923890162744021073123829784752");
function uvRatio(u, v) {
  const P = ed25519_CURVE_p;
  const v3 = mod(v * v * v, P);
  const v7 = mod(v3 * v3 * v, P);
  const pow3 = ed25519_pow_2_252_3(u * v7).pow_p_5_8;
  let x = mod(u * v3 * pow3, P);
  const vx2 = mod(v * x * x, P);
  const root1 = x;
  const root2 = mod(x * ED25519_SQRT_M1, P);
  const useRoot1 = vx2 === u;
  const useRoot2 = vx2 === mod(-u, P);
  const noRoot = vx2 === mod(-u * ED25519_SQRT_M1, P);
  if (useRoot1)
    x = root1;
  if (useRoot2 || noRoot)
    x = root2;
  if (isNegativeLE(x, P))
    x = mod(-x, P);
  return { isValid: useRoot1 || useRoot2, value: x };
}
var ed25519_Point = /* @__PURE__ */ edwards(ed25519_CURVE, { uvRatio });
var Fp = /* @__PURE__ */ (() => ed25519_Point.Fp)();
function toMontgomery(point) {
  const { y } = point;
  return Fp.toBytes(Fp.div(_1n6 + y, _1n6 - y));
}
function toMontgomerySecret(secretKey) {
  const size = ed25519_Point.Fp.BYTES;
  abytes(secretKey, size);
  return adjustScalarBytes(sha512(secretKey.subarray(0, size))).subarray(0, size);
}
function ed(opts) {
  return eddsa(ed25519_Point, sha512, Object.assign({ adjustScalarBytes, toMontgomery, toMontgomerySecret, zip215: true }, opts));
}
var ed25519 = /* @__PURE__ */ ed({});

// src/core/bytes.ts
var utf8 = new TextEncoder();
function utf8Bytes(text3) {
  return utf8.encode(text3);
}
function concatBytes3(...parts) {
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
var LARGE_BYTES = 32 * 1024;

// src/crypto/ed25519.ts
var PUBLIC_KEY_BYTES = 32;
var SIGNATURE_BYTES = 64;
var SPKI_HEAD = Uint8Array.from([48, 42, 48, 5, 6, 3, 43, 101, 112, 3, 33, 0]);
var { process } = globalThis;
var native = process?.getBuiltinModule?.("node:crypto");
var verify = native === void 0 ? void 0 : nativeVerify(native);
function verifyWithoutOpenSsl(pure) {
  verify ??= pure;
}
function verifyEd25519(publicKey, message, signature) {
  if (publicKey.length !== PUBLIC_KEY_BYTES || signature.length !== SIGNATURE_BYTES) return false;
  if (verify === void 0)
    throw new Error("Ed25519: this platform has no OpenSSL; load crypto/ed25519-pure.ts first");
  return verify(publicKey, message, signature);
}
function nativeVerify(crypto) {
  return (publicKey, message, signature) => {
    const key = concatBytes3(SPKI_HEAD, publicKey);
    return crypto.verify(
      null,
      message,
      crypto.createPublicKey({ key, format: "der", type: "spki" }),
      signature
    );
  };
}

// src/crypto/ed25519-pure.ts
verifyWithoutOpenSsl(verifyPurely);
function verifyPurely(publicKey, message, signature) {
  if (!ed25519.verify(signature, message, publicKey, { zip215: false })) return false;
  const { Point } = ed25519;
  return [publicKey, signature.subarray(0, 32)].every((point) => Point.fromBytes(point).isTorsionFree());
}

// src/core/assert.ts
var InvariantError = class extends Error {
  name = "InvariantError";
};
function assert(condition, what) {
  if (!condition) throw new InvariantError(what);
}

// src/core/ids.ts
var ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
var ID_TEXT = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;
var CERTIFICATE_ID = /^cert_[0-9a-hjkmnp-tv-z]{26}$/;
var REQUEST_ID = /^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
function base32Of(id) {
  assert(id.length === 16, "an id has 16 bytes");
  let text3 = "";
  let bits = 2;
  let accumulator = 0;
  for (let i = 0; i < id.length; i++) {
    accumulator = accumulator << 8 | id[i];
    bits += 8;
    for (; bits >= 5; bits -= 5) text3 += ALPHABET[accumulator >>> bits - 5 & 31];
  }
  return text3;
}
function bytesOfBase32(text3) {
  if (!ID_TEXT.test(text3)) return void 0;
  const id = new Uint8Array(16);
  let at = 0;
  let bits = -2;
  let accumulator = 0;
  for (const digit of text3) {
    accumulator = accumulator << 5 | ALPHABET.indexOf(digit);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      id[at++] = accumulator >>> bits;
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
  const root2 = enterValue(object2, seen);
  if (typeof root2 !== "object") {
    return root2;
  }
  let result = root2.keys === null ? "[" : "{";
  const stack = [root2];
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

// src/core/json.ts
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function listIn(value) {
  return Array.isArray(value) ? value : [];
}
function numberIn(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
function isCount(value) {
  return Number.isSafeInteger(value) && value >= 0;
}

// src/certificate/members.ts
function member(value, ...path) {
  let found2 = value;
  for (const name of path) found2 = isObject(found2) && Object.hasOwn(found2, name) ? found2[name] : void 0;
  return found2;
}
function listAt(value, ...path) {
  return listIn(member(value, ...path));
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
function canonicalText(value) {
  const text3 = canonicalize(value);
  assert(text3 !== void 0, "an object has a canonical form");
  return text3;
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
function shapeOf(...names) {
  return Object.fromEntries(names.map((name) => [name, null]));
}
function unknownMembersIn(value, shape, path = "") {
  if (Array.isArray(value))
    return [
      ...new Set(value.flatMap((each) => Array.isArray(each) ? [] : unknownMembersIn(each, shape, path)))
    ];
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const known = Object.hasOwn(shape, name) ? shape[name] : void 0;
    if (known === void 0) return [`${path}${name}`];
    return known === null ? [] : unknownMembersIn(inner, known, `${path}${name}.`);
  });
}
var METADATA = REPEATED.flatMap(([path]) => /^metadata\.(\w+)$/.exec(path)?.[1] ?? []);
var RESPONSE = {
  metadata: shapeOf(...METADATA, "certificate_id", "certificate_salt", "request_id"),
  meta: shapeOf("request_id"),
  media_type: null,
  label: shapeOf("public", "purpose", "series", "user_data", "user_data_sha256"),
  opening: shapeOf("bytes", "path", "salts"),
  quantum_credits: {}
};
function notCovered(response, isOctets) {
  return unknownMembersIn(response, {
    ...RESPONSE,
    data: isOctets ? { metadata: shapeOf("entropy_mode") } : null
  });
}

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

// src/crypto/sha256.ts
var SHA256_BYTES = 32;
var { process: process2 } = globalThis;
var { hash } = process2?.getBuiltinModule?.("node:crypto") ?? {};
function sha2562(data, digest2 = new Uint8Array(SHA256_BYTES), at = 0) {
  if (hash === void 0) {
    digest2.set(sha256(data), at);
    return digest2;
  }
  const text3 = hash("sha256", data, "binary");
  for (let i = 0; i < SHA256_BYTES; i++) digest2[at + i] = text3.charCodeAt(i);
  return digest2;
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
function leafHash(entry) {
  return taggedHash(0, entry);
}
var PIECE_BYTES = 16;
var PIECE_SALT_BYTES = 16;
function pieceHash(salt, piece) {
  return taggedHash(2, salt, piece);
}
function taggedHash(tag, ...parts) {
  const input = concatBytes3(Uint8Array.of(tag), ...parts);
  const hash2 = sha2562(input);
  input.fill(0);
  return hash2;
}
var nodeInput = new Uint8Array(1 + 2 * HASH_BYTES);
nodeInput[0] = 1;
function nodeHash(left, right) {
  assert(left.length === HASH_BYTES && right.length === HASH_BYTES, "a node has two hashes of 32 bytes");
  nodeInput.set(left, 1);
  nodeInput.set(right, 1 + HASH_BYTES);
  return sha2562(nodeInput);
}
function rootOfRun(size, from, run2, proof) {
  if (!isCount(size) || !isCount(from) || run2.length === 0 || from + run2.length > size) return void 0;
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
      above.push(i + 1 < level.length ? nodeHash(level[i], level[i + 1]) : level[i]);
    }
    level = above;
    first = half(first);
  }
  return level[0];
}
function verifyInclusion(leaf, index, size, proof, root2) {
  const path = [...proof];
  const own = rootOfRun(size, index, [leaf], path);
  return own !== void 0 && path.length === 0 && equalHashes(own, root2);
}
function half(count2) {
  return Math.floor(count2 / 2);
}
function equalHashes(a, b) {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

// src/crypto/note.ts
var ED25519_TYPE = 1;
var COSIGNATURE_TYPE = 4;
var PUBLIC_KEY_BYTES2 = 32;
var TIMESTAMP_BYTES = 8;
var ED25519_SIGNATURE_BYTES = 64;
var KEY_ID_BYTES = 4;
var NOTE_LENGTH_MAX = 65536;
var PROOF_VERSION = "c2sp.org/tlog-proof@v1";
var PROOF_HASHES_MAX = 53;
var utf82 = new TextEncoder();
function noteKeyId(name, publicKey, type = ED25519_TYPE) {
  const prefix = utf82.encode(`${name}
`);
  const input = new Uint8Array(prefix.length + 1 + publicKey.length);
  input.set(prefix);
  input[prefix.length] = type;
  input.set(publicKey, prefix.length + 1);
  return bytesToHex(sha2562(input).subarray(0, KEY_ID_BYTES));
}
function verifierKey(name, publicKey, type = ED25519_TYPE) {
  const typed = new Uint8Array(1 + publicKey.length);
  typed[0] = type;
  typed.set(publicKey, 1);
  return `${name}+${noteKeyId(name, publicKey, type)}+${toBase64(typed)}`;
}
function parseVerifierKey(text3) {
  const [, name, keyId, typed] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text3) ?? [];
  const bytes = fromBase64(typed ?? "");
  if (bytes?.length !== 1 + PUBLIC_KEY_BYTES2 || !isKeyName(name)) return void 0;
  const [type] = bytes;
  const publicKey = bytes.slice(1);
  if (type !== ED25519_TYPE && type !== COSIGNATURE_TYPE) return void 0;
  return keyId === noteKeyId(name, publicKey, type) ? { name, keyId, type, publicKey } : void 0;
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
  const root2 = fromBase64(rootText ?? "");
  if (origin === "" || size === void 0 || root2?.length !== HASH_BYTES) return void 0;
  if (extensions.includes("")) return void 0;
  return { origin, size, root: root2 };
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
function parseHashes(texts2) {
  if (!Array.isArray(texts2)) return void 0;
  const hashes = [];
  for (const each of texts2) {
    const hash2 = typeof each === "string" ? fromBase64(each) : void 0;
    if (hash2?.length !== HASH_BYTES) return void 0;
    hashes.push(hash2);
  }
  return hashes;
}
function parseCount(text3) {
  const count2 = /^(0|[1-9][0-9]{0,15})$/.test(text3) ? Number(text3) : Number.NaN;
  return Number.isSafeInteger(count2) ? count2 : void 0;
}

// src/certificate/verdict.ts
var Refusal = class extends Error {
  name = "Refusal";
};
function refuse(why) {
  throw new Refusal(why);
}
function found(find) {
  try {
    const known = find();
    return Object.assign(() => known, { known });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const refusal = error.message;
    return Object.assign(() => refuse(refusal), { refusal });
  }
}
function about(what, find) {
  const { known, refusal } = found(find);
  if (refusal !== void 0) refuse(`${what}: ${refusal}`);
  return known;
}
function digestText(data) {
  return `sha256:${bytesToHex(sha2562(typeof data === "string" ? utf8Bytes(data) : data))}`;
}

// src/certificate/signed-checkpoint.ts
function readProof(proofText) {
  if (proofText === null || proofText === void 0)
    refuse("The certificate has no proof yet. It is logged a moment after it is issued: fetch it again.");
  const proof = typeof proofText === "string" ? parseProof(proofText) : void 0;
  if (proof === void 0) refuse("The proof is not in the format c2sp.org/tlog-proof@v1.");
  return { proof, ...readCheckpoint(proof.note) };
}
function readCheckpoint(noteText) {
  const note = parseNote(noteText);
  if (note === void 0) refuse("The checkpoint is not a signed note.");
  const checkpoint = parseCheckpoint(note.text);
  if (checkpoint === void 0) refuse("The signed note is not a checkpoint.");
  return { note, checkpoint };
}
function holdsLeaf({ proof, checkpoint }, leaf) {
  const hash2 = leafHash(utf8Bytes(leaf));
  return verifyInclusion(hash2, proof.index, checkpoint.size, proof.path, checkpoint.root);
}
function knownKeys(keys) {
  const predecessors = member(keys, "predecessors") ?? [];
  if (!Array.isArray(predecessors)) refuse("This is not a keys document.");
  return [keys, ...predecessors].flatMap(keysOfLog);
}
function keysOfLog(log) {
  const origin = text(member(log, "origin"));
  const listed = member(log, "keys");
  if (origin === void 0 || !Array.isArray(listed)) refuse("This is not a keys document.");
  const known = [];
  for (const key of listed) {
    const publicKey = fromBase64(text(member(key, "public_key")) ?? "");
    const keyId = text(member(key, "key_id"));
    if (publicKey?.length !== 32 || member(key, "algorithm") !== "ed25519" || keyId === void 0)
      refuse("The keys document lists a key that is not an Ed25519 public key.");
    if (known.some((other) => other.keyId === keyId)) refuse(`The keys document lists key ${keyId} twice.`);
    if (keyId !== noteKeyId(origin, publicKey))
      refuse(`The id of key ${keyId} does not follow from its public key.`);
    if (member(key, "verifier_key") !== verifierKey(origin, publicKey) || member(key, "cosigner_key") !== verifierKey(origin, publicKey, COSIGNATURE_TYPE))
      refuse(`The members public_key, verifier_key and cosigner_key of key ${keyId} do not agree.`);
    const retiredAt = member(key, "retired_at") ?? null;
    known.push({
      name: origin,
      keyId,
      publicKey,
      beganMs: timeOf(member(key, "created_at")),
      retiredMs: retiredAt === null ? null : timeOf(retiredAt)
    });
  }
  return known;
}
var SIGNATURES_MAX = 16;
function signaturesBy({ text: text3, signatures }, keys) {
  const own = signatures.flatMap(
    (line) => keys.flatMap((key) => key.name === line.name && key.keyId === line.keyId ? [{ key, line }] : [])
  );
  if (own.length > SIGNATURES_MAX)
    refuse(`The checkpoint has ${own.length} signatures of known keys, more than ${SIGNATURES_MAX}.`);
  return own.map(({ key, line }) => {
    const { keyId, signature } = line;
    const timed = key.type === COSIGNATURE_TYPE ? readTimestamped(signature) : { atS: void 0, signature };
    if (timed === void 0) refuse(`The signature of key ${keyId} on the checkpoint is malformed.`);
    const message = timed.atS === void 0 ? text3 : cosignatureText(timed.atS, text3);
    if (!verifyEd25519(key.publicKey, utf8Bytes(message), timed.signature))
      refuse(`The signature of key ${keyId} on the checkpoint is wrong.`);
    return { key, atS: timed.atS, line };
  });
}
function readSignatures(keys, { note, checkpoint }) {
  const known = knownKeys(keys);
  const { origin } = checkpoint;
  const own = known.filter(({ name }) => name === origin);
  if (own.length === 0)
    refuse(
      `The checkpoint is of the log ${origin}, but the keys are of ${[...new Set(known.map(({ name }) => name))].join(", ")}.`
    );
  const signers = own.flatMap(
    (of) => [ED25519_TYPE, COSIGNATURE_TYPE].map((type) => ({
      name: origin,
      keyId: noteKeyId(origin, of.publicKey, type),
      type,
      publicKey: of.publicKey,
      of
    }))
  );
  const signed = signaturesBy(note, signers).map(({ key, atS }) => ({ key: key.of, atS }));
  if (signed.every(({ atS }) => atS !== void 0)) refuse("None of the known keys signed the checkpoint.");
  return own.flatMap((key) => {
    const of = signed.filter((each) => each.key === key);
    if (of.length === 0) return [];
    const [atS, ...others] = of.flatMap((each) => each.atS ?? []);
    if (atS === void 0)
      refuse(`Key ${key.keyId} signed the checkpoint, but no cosignature of it states the time.`);
    if (others.length > 0) refuse(`Key ${key.keyId} has more than one cosignature on the checkpoint.`);
    if (of.length === 1)
      refuse(`Key ${key.keyId} has a cosignature on the checkpoint, but no plain signature.`);
    return [{ key, atS }];
  });
}
function readSigned(keys, read) {
  const signed = readSignatures(keys, read);
  const atS = Math.min(...signed.map((each) => each.atS));
  if (!signed.some(({ key: { retiredMs } }) => retiredMs === null || atS * 1e3 <= retiredMs))
    refuse("The key that signed the checkpoint had already been retired.");
  return { note: read.note, checkpoint: read.checkpoint, atS };
}
function loggedLeaf(leaf, proof, keys) {
  if (proof === null || proof === void 0) refuse("It has no proof yet: fetch it again in a moment.");
  const at = readProof(proof);
  if (!holdsLeaf(at, leaf)) refuse(`It is not leaf ${at.proof.index} of the tree that its proof names.`);
  const { atS } = readSigned(keys, at);
  return { at, atS };
}
function readCosignatures(keys, { note }) {
  const seen = /* @__PURE__ */ new Map();
  for (const each of keys) {
    const key = parseVerifierKey(each);
    if (key?.type !== COSIGNATURE_TYPE) refuse(`${each} is not the verifier key of a witness.`);
    const bytes = key.publicKey.join();
    for (const { atS = 0 } of signaturesBy(note, [key]))
      if (!seen.has(bytes)) seen.set(bytes, { name: key.name, atS });
  }
  return [...seen.values()];
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
function object(properties, optional, description) {
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
var integer = { type: "integer" };
var sha2563 = textLike(/^sha256:[0-9a-f]{64}$/);
function textLike({ source }) {
  return { type: "string", pattern: source };
}
function constant(value) {
  return { type: typeof value === "string" ? "string" : "integer", const: value };
}
function orNull(schema) {
  return { ...schema, type: [schema["type"], "null"] };
}
function oneOfWords(words, description) {
  return { type: "string", enum: words, ...description === void 0 ? {} : { description } };
}
function listOf(items) {
  return { type: "array", items };
}
function listFrom(items, minItems, maxItems) {
  return { type: "array", items, minItems, maxItems };
}
function someOf(items) {
  return listFrom(items, 1, LIST_ITEMS_MAX);
}
var LIST_ITEMS_MAX = 4096;
function described(schema, description) {
  return { ...schema, description };
}

// src/certificate/certified-label.ts
var ROWS = {
  purpose: row(text2, "The purpose of the answer. Only a public label contains it.", ({ purpose }) => purpose),
  purpose_commitment: row(
    sha2563,
    "The SHA-256 hash of the byte 04, the salt and the purpose. Only a private label contains it.",
    ({ purposeCommitment }) => digest(purposeCommitment)
  ),
  series: row(
    text2,
    "The identifier of the series: all answers of one account under one purpose.",
    ({ series }) => series
  ),
  serial: row(
    count,
    "The serial number of the answer in its series. Numbers start at 1 and have no gaps.",
    ({ serial }) => serial
  ),
  user_data: row(
    text2,
    "The user data that the answer is bound to. Only a public label contains it.",
    ({ userData }) => userData
  ),
  user_data_sha256: row(
    sha2563,
    "The SHA-256 hash of the user data that the answer is bound to.",
    ({ userDataSha256 }) => digest(userDataSha256)
  ),
  user_data_commitment: row(
    sha2563,
    "The SHA-256 hash of the byte 05, the salt and the user data. Only a private label contains it.",
    ({ userDataCommitment }) => digest(userDataCommitment)
  )
};
var LABEL = object(
  { public: described(boolean, "Whether the certificate shows `purpose` and `user_data` to everyone.") },
  Object.fromEntries(Object.entries(ROWS).map(([name, { schema }]) => [name, schema]))
);
function row(schema, meaning, of) {
  return { schema: described(schema, meaning), of };
}
function digest(hex) {
  return hex === void 0 ? void 0 : `sha256:${hex}`;
}

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
  return digestText(hexToBytes(digests.map((digest2) => digest2.slice("sha256:".length)).join("")));
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
function rowsOf(isDerived) {
  return (schema, meaning, of, { modes = ENTROPY_MODES, isOptional = false } = {}) => ({ schema: described(schema, meaning), modes, isOptional, isDerived, of });
}
var told = rowsOf(false);
var derived = rowsOf(true);
var QUANTUM = ["quantum-seeded", "pure"];
var lotEntry = object({
  id: described(text2, "The identifier of the lot."),
  leaf: described(textLike(/^[A-Za-z0-9+/]{43}=$/), "The leaf hash of the lot in the log, in base64.")
});
var drawnPiece = object({
  lot: described(count, "The index of the lot in `lots`, from 0."),
  offset: described(count, "The offset of the first byte within the lot, from 0."),
  bytes: described(count, "The number of bytes.")
});
var TOP = {
  version: told(constant(1), "The version of the certificate format.", () => 1),
  id: told(textLike(CERTIFICATE_ID), "The identifier of the certificate.", ({ id }) => id),
  issued_at: told(time, "The time at which the answer was made.", ({ issuedAt }) => issuedAt),
  request_id: told(
    textLike(REQUEST_ID),
    "The identifier of the request. It encodes the same 128 bits as the `X-Request-ID` header.",
    ({ requestId }) => requestId
  ),
  endpoint: told(
    oneOfWords(DATA_ENDPOINTS),
    "The endpoint that the values were requested from.",
    ({ endpoint }) => endpoint
  ),
  entropy_mode: told(oneOfWords(ENTROPY_MODES), "The entropy mode of the answer.", ({ mode }) => mode),
  media_type: told(
    text2,
    "The media type of the body that `hashes.delivered` covers. Absent if the hash covers the JSON member `data`.",
    ({ mediaType }) => mediaType,
    { isOptional: true }
  ),
  label: told(
    LABEL,
    "The label that the caller gave the answer. Absent if the caller gave none.",
    ({ label }) => label,
    { isOptional: true }
  )
};
var PROVENANCE = {
  lang_circuit: derived(
    text2,
    "The name of the quantum circuit of the first lot.",
    (from) => circuitOf(from).lang_circuit
  ),
  lang_version: derived(
    text2,
    "The version of the circuit compiler of the first lot.",
    (from) => circuitOf(from).lang_version
  ),
  quantum_backend: derived(
    text2,
    "The quantum processor or device of the first lot.",
    (from) => circuitOf(from).quantum_backend
  ),
  qubits_used: derived(
    count,
    "The number of qubits that the circuit of the first lot used.",
    (from) => circuitOf(from).qubits_used
  ),
  circuit_depth: derived(
    count,
    "The depth of the circuit of the first lot.",
    (from) => circuitOf(from).circuit_depth
  ),
  origin: derived(
    oneOfWords(ORIGINS),
    "The kind of source that produced the raw bits. If the origins of the lots differ, this is the weakest of them.",
    ({ lots }) => originOf(lots)
  ),
  evidence: derived(
    oneOfWords(EVIDENCE_LEVELS),
    "How well the quantum origin of the raw bits is supported. If the claims of the lots differ, this is the weakest of them.",
    ({ lots }) => evidenceOf(lots),
    { modes: QUANTUM }
  ),
  system_entropy: told(
    oneOfWords(SYSTEM_GENERATORS),
    "The generator of the operating system. In quantum-seeded mode its output is mixed into the seed; in csprng mode it produced the values.",
    ({ systemGenerator }) => systemGenerator,
    { modes: ["quantum-seeded", "csprng"] }
  ),
  seed: told(
    object({ index: described(count, "The index of the seed within the lot, from 0.") }),
    "The seed of the lot that the values were derived from.",
    ({ seed }) => seed,
    { modes: ["quantum-seeded"] }
  ),
  drawn: told(
    someOf(drawnPiece),
    "The pieces of pure bytes that the answer was drawn from, in the order in which they were drawn.",
    ({ drawn }) => drawn,
    { modes: ["pure"] }
  ),
  sample: told(
    { type: "boolean", const: true },
    "Always `true` in csprng mode: the lot is a tested sample of the generator that produced the values. The values themselves do not come from the lot.",
    () => true,
    { modes: ["csprng"] }
  ),
  lots: told(
    someOf(lotEntry),
    "The lots that the answer was drawn from, in the order of drawing.",
    ({ named }) => named
  )
};
var VERIFICATION = {
  nist_sp800_22: derived(
    text2,
    "How many tests of NIST SP 800-22 the tested windows that the answer was drawn from passed: `<passed>/<total> passed`, or `not tested`.",
    nistResultOf
  ),
  nist_verified: derived(
    boolean,
    "Whether every bit that the answer was drawn from lies in a tested window that passed.",
    nistVerifiedOf
  ),
  dieharder: derived(
    constant("not implemented"),
    "Always `not implemented`: the service does not run the Dieharder tests.",
    () => "not implemented"
  ),
  min_entropy_per_bit: derived(
    orNull(share),
    "The estimated min-entropy per raw bit. If the estimates of the lots differ, this is the lowest of them.",
    ({ lots }) => minEntropyOf(lots)
  )
};
var HASHES = {
  raw_output: derived(
    sha2563,
    "The SHA-256 hash of the raw bits of the lot. For several lots, the hash of the concatenated hashes of the lots.",
    ({ lots }) => joinedDigest(lots.map((lot) => lot.raw_output))
  ),
  processed: derived(
    sha2563,
    "The SHA-256 hash of the conditioned bytes of the lot. For several lots, the hash of the concatenated hashes of the lots.",
    ({ lots }) => joinedDigest(lots.map((lot) => lot.processed))
  ),
  delivered: told(
    sha2563,
    "The SHA-256 hash of the salt followed by the delivered values.",
    ({ delivered }) => delivered
  )
};
var UNSIGNED = ["status", "verify_url", "proof"];
var SECTIONS = {
  provenance: ["Where the entropy of the answer came from.", PROVENANCE],
  verification: ["The results of the tests of the bits that the answer was drawn from.", VERIFICATION],
  hashes: ["SHA-256 hashes of the raw bits, of the conditioned bytes and of the delivered values.", HASHES]
};
var CERTIFICATE_ROWS = [
  ...Object.entries(TOP),
  ...Object.entries(SECTIONS).flatMap(
    ([section, [, rows]]) => Object.entries(rows).map(([name, row3]) => [`${section}.${name}`, row3])
  )
];
function certificateForm(mode, beside = {}) {
  const inner = Object.entries(SECTIONS).map(
    ([name, [meaning, rows]]) => [name, described(formOf(rows, mode), meaning)]
  );
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

// src/certificate/form.ts
function checkForm(schema, value, place) {
  const types = [schema["type"]].flat();
  if (schema["type"] !== void 0 && !types.some((type) => isOfType(type, value)))
    refuse(`${place} is ${show(value)}, not ${types.map((type) => TYPE_NAMES[String(type)]).join(" or ")}.`);
  if (value === null) return;
  const { const: only, enum: words, pattern, format, minimum, maximum } = schema;
  if (only !== void 0 && value !== only) refuse(`${place} is ${show(value)}, not ${show(only)}.`);
  if (Array.isArray(words) && !words.includes(value))
    refuse(`${place} is ${show(value)}, not one of ${words.map(show).join(", ")}.`);
  if (typeof pattern === "string" && !new RegExp(pattern, "u").test(String(value)))
    refuse(`${place} is ${show(value)}, which does not have the required form.`);
  if (format === "date-time" && Number.isNaN(timeOf(value)))
    refuse(`${place} is ${show(value)}, not a time.`);
  if (typeof minimum === "number" && !(Number(value) >= minimum))
    refuse(`${place} is ${show(value)}, below ${minimum}.`);
  if (typeof maximum === "number" && !(Number(value) <= maximum))
    refuse(`${place} is ${show(value)}, above ${maximum}.`);
  if (Array.isArray(value)) checkItems(schema, value, place);
  else if (isObject(value)) checkMembers(schema, value, place);
}
function checkItems(schema, items, place) {
  const { items: each, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  if (items.length > Number(maxItems)) refuse(`${place} has more than ${maxItems} entries.`);
  if (items.length < Number(minItems)) refuse(`${place} is an empty list.`);
  for (const [i, item] of items.entries()) if (isObject(each)) checkForm(each, item, `${place}[${i}]`);
}
function checkMembers(schema, value, place) {
  const { properties, required, additionalProperties: others } = schema;
  const known = isObject(properties) ? properties : {};
  const path = (name) => place === "" ? name : `${place}.${name}`;
  const missing = listIn(required).find((name) => !Object.hasOwn(value, String(name)));
  if (missing !== void 0) refuse(`${path(String(missing))} is missing.`);
  for (const [name, inner] of Object.entries(value)) {
    const own = Object.hasOwn(known, name) ? known[name] : others;
    if (own === false) refuse(`${path(name)} is an unknown member.`);
    if (isObject(own)) checkForm(own, inner, path(name));
  }
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
function checkFigures({ lot_id: id, raw_bits: bits, min_entropy_per_bit, evidence }) {
  const { autocorrelation: r, autocorrelation_bound: bound, autocorrelation_lag: lag } = evidence.figures;
  if (r === void 0 || lag === 0) return;
  const lags = Math.min(LAGS_MAX, 2 ** Math.max(0, Math.floor(Math.log2(bits)) - 1));
  const expected = Math.sqrt(2 * (Math.log(2 * (lags - 1)) + 40 * Math.LN2) / (bits - lag));
  if (!Number.isSafeInteger(lag) || lag < 1 || lag >= lags)
    refuse(
      `Lot ${id} states an autocorrelation at the lag ${show(lag)}, which a lot of its size does not have.`
    );
  if (!(Math.abs(bound - expected) <= ROUNDING))
    refuse(
      `The autocorrelation of lot ${id} has the bound ${expected.toFixed(6)}, but the lot states ${show(bound)}.`
    );
  const size = Math.abs(r);
  if (size <= bound) return;
  if (evidence.claim === "calibrated")
    refuse(
      `Lot ${id} claims "calibrated", but its autocorrelation ${r} is beyond the bound ${bound}: its bits are not independent.`
    );
  const left = 1 - Math.log2(1 + Math.sqrt(Math.min(1, size + bound)));
  const isLess2 = (figure) => figure === null || figure <= left + ROUNDING;
  const told2 = evidence.min_entropy_per_bit;
  if (!isLess2(min_entropy_per_bit) || told2 === null || !isLess2(told2))
    refuse(
      `Lot ${id} claims more min-entropy than the ${left.toFixed(6)} that its autocorrelation ${r} leaves.`
    );
}

// src/certificate/lot-members.ts
function row2(schema, meaning, of) {
  return { schema: described(schema, meaning), of };
}
var claim = oneOfWords(
  EVIDENCE_LEVELS,
  "How well the quantum origin of the raw bits is supported. The values are listed from the weakest to the strongest claim."
);
var TESTED = object(
  {
    of: oneOfWords(
      ["raw", "conditioned", "system"],
      "Which bits were tested: raw bits of the source, conditioned bits, or the csprng stream (`system`)."
    ),
    bits: described(count, "The number of tested bits."),
    first_bit: described(count, "The offset of the first tested bit, from 0."),
    sha256: described(textLike(/^[0-9a-f]{64}$/), "The SHA-256 hash of the tested bits, packed into bytes."),
    passed: described(count, "The number of p-values that passed."),
    total: described(count, "The number of all p-values."),
    smallest_p: described(share, "The smallest p-value."),
    verified: described(boolean, "Whether the tested bits passed SP 800-22 as a whole.")
  },
  {
    order: oneOfWords(
      ["shots", "channels"],
      "The order of the tested raw bits: shot by shot, or channel by channel."
    ),
    reason: described(text2, "The reason why `verified` is false.")
  }
);
var EVIDENCE = object({
  claim,
  min_entropy_per_bit: described(
    orNull(share),
    "The min-entropy per raw bit that follows from the method and the assumptions."
  ),
  figures: described(
    { type: "object", additionalProperties: { type: "number" } },
    "The measured figures that the claim is computed from, by name."
  ),
  method: described(text2, "The formula and the publication that it comes from."),
  assumptions: described(text2, "The assumptions under which the claim holds."),
  not_reached: described(
    listOf(object({ claim, why: described(text2, "The reason why this claim is not made.") })),
    "The stronger claims that are not made, with the reasons."
  )
});
var CALIBRATION = object({
  id: described(orNull(text2), "The identifier of the calibration at the provider."),
  date: described(orNull(text2), "The date of the calibration, as the provider states it."),
  digest: described(
    sha2563,
    "The SHA-256 hash of the complete calibration data as canonical JSON (RFC 8785)."
  )
});
var HEALTH = object({
  samples: described(count, "The number of raw bits that were tested."),
  rct_failures: described(count, "The number of alarms of the repetition count test."),
  apt_failures: described(count, "The number of alarms of the adaptive proportion test.")
});
var root = described(text2, "The root hash of the Merkle tree over these blocks or seeds, in base64.");
var PURE = object({
  bytes: described(count, "The number of bytes for pure mode."),
  block_bytes: described({ ...count, minimum: 1 }, "The number of bytes in a block."),
  piece_bytes: described(count, "The number of bytes in a piece."),
  root
});
var UPSTREAM = object({
  log: described(text2, "The name of the log that contains the certificates."),
  origin: oneOfWords(ORIGINS, "The weakest origin that the certificates state."),
  certificates: described(
    someOf(
      object({
        id: described(textLike(CERTIFICATE_ID), "The identifier of the certificate."),
        leaf: described(
          textLike(/^[A-Za-z0-9+/]{43}=$/),
          "The leaf hash of the certificate in that log, in base64."
        )
      })
    ),
    "The certificates of the other service that cover the raw bits."
  )
});
var LOT_MEMBERS = {
  type: row2(constant("lot"), "The type of the leaf.", () => "lot"),
  version: row2(constant(1), "The version of the leaf format.", () => 1),
  lot_id: row2(text2, "The identifier of the lot.", (lot) => lot.id),
  source: row2(text2, "The name that the operator gave the source.", (lot) => lot.source),
  provider: row2(text2, "The provider that runs the device.", (lot) => lot.provider),
  device: row2(text2, "The name of the device at its provider.", (lot) => lot.device),
  quantum_backend: row2(
    text2,
    "The identifier of the quantum processor or device.",
    (lot) => lot.quantumBackend
  ),
  job_id: row2(orNull(text2), "The identifier of the job at the provider.", (lot) => lot.jobId),
  origin: row2(oneOfWords(ORIGINS), "The kind of source that produced the raw bits.", (lot) => lot.origin),
  declared: row2(
    boolean,
    "Whether the quantum origin rests only on the declaration of the operator.",
    (lot) => lot.isDeclared
  ),
  deterministic: row2(
    boolean,
    "Whether a deterministic test source produced the lot.",
    (lot) => lot.deterministic
  ),
  lang_circuit: row2(text2, "The name of the quantum circuit.", (lot) => lot.circuit),
  lang_version: row2(text2, "The version of the circuit compiler.", (lot) => lot.circuitVersion),
  circuit_sha256: row2(
    orNull(sha2563),
    "The SHA-256 hash of the circuit as it was submitted.",
    (lot) => lot.circuitSha256 === null ? null : prefixed(lot.circuitSha256)
  ),
  qubits_used: row2(count, "The number of qubits that the circuit used.", (lot) => lot.qubitsUsed),
  circuit_depth: row2(count, "The depth of the circuit.", (lot) => lot.circuitDepth),
  shots: row2(count, "The number of times that the circuit was run.", (lot) => lot.shots),
  calibration: row2(
    orNull(CALIBRATION),
    "The calibration of the device at the time of the job.",
    (lot) => lot.calibration === null ? null : calibrationOf(lot.calibration)
  ),
  upstream: row2(
    orNull(UPSTREAM),
    "The certificates under which another service delivered the raw bits. It is null if the raw bits came directly from a source.",
    ({ upstream }) => upstream === void 0 ? null : upstreamOf(upstream)
  ),
  finished_at: row2(
    time,
    "The time at which reading the raw bits ended.",
    (lot) => new Date(lot.finishedAtMs).toISOString()
  ),
  raw_bits: row2(count, "The number of raw bits that were read.", (lot) => lot.rawBits),
  raw_output: row2(
    sha2563,
    "The SHA-256 hash of the raw bits as the source delivered them.",
    (lot) => prefixed(lot.rawSha256)
  ),
  processed: row2(
    sha2563,
    "The SHA-256 hash of the conditioned bytes.",
    (lot) => prefixed(lot.processedSha256)
  ),
  health: row2(HEALTH, "The results of the continuous health tests (SP 800-90B §4.4).", ({ health }) => ({
    samples: health.samples,
    rct_failures: health.rctFailures,
    apt_failures: health.aptFailures
  })),
  min_entropy_per_bit: row2(
    orNull(share),
    "The estimated min-entropy per raw bit (SP 800-90B §6.3). It is null if too few bits were read.",
    (lot) => lot.minEntropyPerBit
  ),
  raw_windows: row2(
    count,
    "The number of windows of raw bits that were assessed. Together the windows cover every bit in both orders.",
    (lot) => lot.rawWindows
  ),
  tested: row2(
    { ...listOf(TESTED), maxItems: LIST_ITEMS_MAX },
    "The runs of the SP 800-22 tests. The service erased the conditioned bits of every window that failed.",
    (lot) => lot.assessments.map(testedOf)
  ),
  evidence: row2(
    orNull(EVIDENCE),
    "How well the quantum origin of the lot is supported. It is null for a sample of the csprng stream.",
    (lot) => lot.evidence === void 0 ? null : evidenceOf2(lot.evidence)
  ),
  pure: row2(
    PURE,
    "The bytes for pure mode, divided into blocks, and the hash that commits to them.",
    (lot, { blocks }) => ({
      bytes: committed(lot).pureBytes,
      block_bytes: PURE_BLOCK_BYTES,
      piece_bytes: PIECE_BYTES,
      root: toBase64(blocks.root)
    })
  ),
  seeds: row2(
    object({ count: described(count, "The number of seeds."), root }),
    "The seeds for quantum-seeded mode, and the hash that commits to them.",
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
function prefixed(digest2) {
  assert(digest2.length === 64, "a digest has 64 hex digits");
  return `sha256:${digest2}`;
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
function testedOf({ of, bits, firstBit, order, sha256: digest2, sp80022 }) {
  const { passed, total, smallestP, verified, reason } = sp80022;
  return {
    of,
    bits,
    first_bit: firstBit,
    sha256: digest2,
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
function formedLots(leaves) {
  for (const [i, leaf] of leaves.entries()) requireForm(LOT_LEAF, leaf, `lots[${i}].leaf`);
  return leaves;
}
function requireForm(schema, value, place) {
  const { refusal } = found(() => checkForm(schema, value, place));
  if (refusal !== void 0) refuse(`The document does not have the form of version 1: ${refusal}`);
}
function derivedVerdict(certificate, lotsOf) {
  const told2 = member(certificate, "entropy_mode");
  const mode = ENTROPY_MODES.find((each) => each === told2);
  if (mode === void 0 || !isObject(certificate))
    refuse(`entropy_mode is ${show(told2)}, not one of ${ENTROPY_MODES.join(", ")}.`);
  const issued = Object.fromEntries(Object.entries(certificate).filter(([name]) => !isElsewhere(name)));
  requireForm(certificateForm(mode), issued, "");
  const lots = lotsOf();
  const from = { mode, lots, spans: lots.map((_, i) => spansOf(certificate, mode, i)) };
  for (const lot of lots) checkLot(lot, mode);
  checkDraw(from);
  if (mode === "pure") checkOrder(certificate, lots);
  const contradictions = CERTIFICATE_ROWS.flatMap(([path, row3]) => {
    if (!row3.isDerived || !row3.modes.includes(mode)) return [];
    const certified = member(certificate, ...path.split("."));
    const follows = row3.of(from);
    return certified === follows ? [] : [`${path} is ${show(certified)}, but ${show(follows)} follows from the lots.`];
  });
  if (contradictions.length > 0) refuse(contradictions.join(" "));
  return "Circuit, origin, evidence, test results and hashes follow from the lots.";
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
function checkLot(lot, mode) {
  const { lot_id: id, origin, evidence, tested } = lot;
  if (mode === "csprng") {
    const isSample = origin === "system" && evidence === null && lot.pure.bytes === 0 && lot.seeds.count === 0;
    if (!isSample)
      refuse(`The certificate is of csprng mode, but lot ${id} is not a sample of the csprng stream.`);
    return;
  }
  if (evidence === null) refuse(`Lot ${id} has no evidence.`);
  if (!allowsEvidence(origin, evidence.claim))
    refuse(`Lot ${id} claims ${show(evidence.claim)}, which a lot of origin ${show(origin)} cannot.`);
  checkFigures({ ...lot, evidence });
  checkCitations(lot);
  if (lot.declared && !isQuantum(origin))
    refuse(`Lot ${id} is declared quantum, but its origin is ${show(origin)}.`);
  const isWhole = tested.every(
    ({ of, bits, first_bit: first, passed, total }) => passed <= total && bits > 0 && (of !== "conditioned" || bits % 8 === 0 && first % 8 === 0)
  );
  if (!isWhole) refuse(`Lot ${id} lists a window of its tests that cannot exist.`);
}
function checkCitations({ lot_id: id, origin, raw_bits: bits, upstream }) {
  if (upstream === null) return;
  const { certificates, origin: certified } = upstream;
  if (new Set(certificates.map((each) => each.id)).size < certificates.length)
    refuse(`Lot ${id} cites a certificate twice.`);
  if (bits > certificates.length * BITS_PER_CITATION)
    refuse(
      `Lot ${id} has ${bits} raw bits, more than the ${certificates.length} certificates that it cites can cover.`
    );
  if (ORIGINS.indexOf(origin) < ORIGINS.indexOf(certified))
    refuse(
      `Lot ${id} has the origin ${show(origin)}, better than the origin ${show(certified)} of the certificates that it cites.`
    );
}
function checkDraw({ mode, lots, spans }) {
  if (mode !== "pure" && lots.length !== 1)
    refuse(`A certificate of mode ${show(mode)} has one lot, not ${lots.length}.`);
  if (mode === "csprng") return;
  for (const [i, { lot_id: id, pure, seeds }] of lots.entries()) {
    const size = mode === "pure" ? pure.bytes : seeds.count * SEED_BLOCK_BYTES;
    const isWithin = ({ offset, bytes }) => bytes > 0 && bytes % PIECE_BYTES === 0 && offset % PIECE_BYTES === 0 && offset + bytes <= size;
    if (spans[i].length === 0) refuse(`The certificate names lot ${id}, but draws nothing from it.`);
    if (!spans[i].every(isWithin))
      refuse(`The certificate draws bytes from lot ${id} that the lot does not have.`);
  }
}
function checkOrder(certificate, lots) {
  const drawn = member(certificate, "provenance", "drawn");
  const other = drawn.find(({ lot }) => lot >= lots.length);
  if (other !== void 0)
    refuse(`The certificate draws from lot ${other.lot + 1}, but names only ${lots.length}.`);
  for (const { lot, offset, bytes } of drawn.slice(0, -1)) {
    const { lot_id: id, pure } = lots[lot];
    const end = offset + bytes;
    if (end % pure.block_bytes !== 0 && end !== pure.bytes)
      refuse(`The certificate leaves a block of lot ${id} at byte ${end}, before the block was used up.`);
  }
  for (const [i, { lot_id: id, pure }] of lots.entries()) {
    const ranges = drawn.filter(({ lot }) => lot === i).sort((a, b) => a.offset - b.offset);
    let drawnTo = 0;
    for (const { offset, bytes } of ranges) {
      if (Math.floor(offset / pure.block_bytes) < drawnTo)
        refuse(`The certificate goes back to a block of lot ${id} that it had left.`);
      drawnTo = Math.ceil((offset + bytes) / pure.block_bytes);
    }
  }
}

// src/certificate/verify-label.ts
var PURPOSE_BYTE = 4;
var USER_DATA_BYTE = 5;
function labelVerdict(response, certificate) {
  const label = member(certificate, "label");
  if (label === void 0) refuse("The answer has a label, but the certificate has none.");
  checkForm(LABEL, label, "label");
  const certified = label;
  const { serial, series, user_data: userData, user_data_sha256: digest2 } = certified;
  checkTexts("certificate", certified);
  const hasPurpose = certified.purpose !== void 0 || certified.purpose_commitment !== void 0;
  if (hasPurpose && (series === void 0 || serial === void 0 || serial < 1))
    refuse("The label of the certificate has a purpose, but lacks the series or the serial number.");
  if (!hasPurpose && (series !== void 0 || serial !== void 0))
    refuse("The label of the certificate has a series or a serial number, but no purpose.");
  if (userData !== void 0 && digest2 !== digestText(userData))
    refuse("user_data_sha256 of the certificate is not the hash of its user_data.");
  if (response !== void 0) compare(response, certified);
  return holdsText(certified);
}
function checkTexts(whose, label) {
  for (const name of ["purpose", "user_data"]) {
    const value = member(label, name);
    if (value !== void 0 && text(value)?.isWellFormed() !== true)
      refuse(`${name} of the ${whose}'s label is not well-formed text.`);
  }
}
function compare(response, certified) {
  const told2 = member(response, "label");
  if (told2 === void 0) refuse("The certificate has a label, but the answer has none.");
  const salt = text(member(response, "metadata", "certificate_salt")) ?? "";
  if (!/^[0-9a-f]{64}$/.test(salt)) refuse("metadata.certificate_salt is not 64 hex digits.");
  checkTexts("answer", told2);
  const isPublic = certified.public;
  const expected = { public: isPublic };
  const purpose = member(told2, "purpose");
  const userData = member(told2, "user_data");
  if (purpose !== void 0) {
    expected["series"] = member(told2, "series");
    if (isPublic) expected["purpose"] = purpose;
    else expected["purpose_commitment"] = commitment(PURPOSE_BYTE, salt, purpose);
  }
  if (userData !== void 0) {
    if (isPublic) {
      expected["user_data"] = userData;
      expected["user_data_sha256"] = digestText(text(userData) ?? "");
    } else expected["user_data_commitment"] = commitment(USER_DATA_BYTE, salt, userData);
  }
  const digest2 = member(told2, "user_data_sha256");
  if (digest2 !== void 0) expected["user_data_sha256"] = digest2;
  if (member(told2, "public") !== isPublic)
    refuse("The label of the answer differs from the certificate in public.");
  const { serial: _, ...rest } = certified;
  const names = /* @__PURE__ */ new Set([...Object.keys(expected), ...Object.keys(rest)]);
  const differing = [...names].filter((name) => expected[name] !== rest[name]);
  if (differing.length > 0)
    refuse(`The label of the answer differs from the certificate in ${differing.join(", ")}.`);
}
function holdsText({ serial, series, purpose }) {
  const of = purpose === void 0 ? "one purpose" : `the purpose ${show(purpose)}`;
  const numbered = serial === void 0 ? "" : ` It is number ${show(serial)} of series ${show(series)}: the answers of one account for ${of}.`;
  return `The label is as certified.${numbered}`;
}
function commitment(byte, salt, value) {
  return digestText(concatBytes3(Uint8Array.of(byte), hexToBytes(salt), utf8Bytes(text(value) ?? "")));
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
    let [row3, last] = [1, u];
    for (let z = fresh(); isLess(z, last); z = fresh()) [row3, last] = [row3 + 1, z];
    return row3 % 2 === 0;
  };
  const part = (k, x) => {
    let [row3, last] = [0, x];
    for (let z = fresh(); isLess(z, last); z = fresh()) {
      const side = dice(BigInt(2 * k + 2));
      if (side === 0n || side === 1n && !isLess(fresh(), x)) break;
      [row3, last] = [row3 + 1, z];
    }
    return row3 % 2 === 0;
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

// src/certificate/draw-samplers.ts
var ByteStream = class {
  #next;
  #chunk = new Uint8Array(0);
  #at = 0;
  /** How many bytes have been taken. */
  used = 0;
  /** `next` returns the next bytes, at least one, or throws if there are none. */
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
function integers({ min, max, count: count2, unique, sort: sort2 }, bytes) {
  const span = BigInt(max) - BigInt(min) + 1n;
  const drawn = unique ? uniqueOffsets(span, count2, bytes) : offsets(span, count2, bytes);
  const values = drawn.map((offset) => BigInt(min) + offset);
  if (sort2 !== "none") values.sort((a, b) => a < b ? -1 : a > b ? 1 : 0);
  if (sort2 === "descending") values.reverse();
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
    const range2 = Array.from({ length: Number(span) }, (_, i) => BigInt(i));
    return shuffle(range2, count2, bytes).slice(0, count2);
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

// src/certificate/draw-kinds.ts
var NUMBERS_MAX = 1e5;
var STEPS_MAX = 2 ** 28;
var upTo = (maximum, minimum = 1) => ({ ...integer, minimum, maximum });
var someOf2 = (items) => ({ ...listOf(items), minItems: 1, maxItems: NUMBERS_MAX });
var texts = someOf2(text2);
var range = { min: integer, max: integer, unique: boolean };
var sort = oneOfWords(["none", "ascending", "descending"]);
var KINDS = {
  integers: {
    members: { ...range, sort },
    isPossible: (request) => isRange(request, request.count),
    hasOneOutcome: (request) => isFixed(request, request.count, request.sort),
    draw: integers
  },
  floats: {
    members: { precision: orNull(upTo(15)) },
    draw: ({ count: count2, precision }, bytes) => floats(count2, precision, bytes)
  },
  bytes: {
    members: { length: upTo(1024), encoding: oneOfWords(["hex", "base64"]), single: boolean },
    isPossible: ({ count: count2, length }) => count2 * length <= NUMBERS_MAX,
    draw: ({ count: count2, length, encoding }, bytes) => times(count2, () => {
      const value = bytes.take(length);
      return encoding === "hex" ? bytesToHex(value) : btoa(String.fromCharCode(...value));
    })
  },
  uuid: { members: {}, draw: ({ count: count2 }, bytes) => times(count2, () => uuid(bytes.take(16))) },
  sample: {
    members: { items: texts },
    isPossible: ({ count: count2, items }) => count2 <= items.length,
    hasOneOutcome: ({ items }) => new Set(items).size === 1,
    draw: ({ count: count2, items }, bytes) => sample(items, count2, bytes)
  },
  weighted: {
    members: { items: texts, weights: someOf2(upTo(2 ** 53, 1)) },
    isPossible: ({ count: count2, items, weights }) => weights.length === items.length && count2 * items.length <= STEPS_MAX && weights.reduce((sum, weight) => sum + BigInt(weight), 0n) <= 2n ** 53n,
    hasOneOutcome: ({ items }) => new Set(items).size === 1,
    draw: ({ count: count2, items, weights }, bytes) => weighted(items, weights, count2, bytes)
  },
  strings: {
    members: { length: upTo(128), alphabet: texts },
    isPossible: ({ count: count2, length, alphabet }) => count2 * length <= NUMBERS_MAX && new Set(alphabet).size === alphabet.length,
    hasOneOutcome: ({ alphabet }) => alphabet.length === 1,
    draw: ({ count: count2, length, alphabet }, bytes) => strings(count2, length, alphabet, bytes)
  },
  sequences: {
    members: { ranges: someOf2(object({ length: upTo(NUMBERS_MAX), ...range })), sort },
    isPossible: ({ count: count2, ranges }) => ranges.every((each) => isRange(each, each.length)) && count2 * ranges.reduce((sum, { length }) => sum + length, 0) <= NUMBERS_MAX,
    hasOneOutcome: ({ ranges, sort: sort2 }) => ranges.every((each) => isFixed(each, each.length, sort2)),
    draw: ({ count: count2, ranges, sort: sort2 }, bytes) => times(count2, () => ranges.map((each) => integers({ ...each, count: each.length, sort: sort2 }, bytes)))
  },
  permutations: {
    members: { length: upTo(1e4) },
    isPossible: ({ count: count2, length }) => count2 * length <= NUMBERS_MAX,
    hasOneOutcome: ({ length }) => length === 1,
    draw: ({ count: count2, length }, bytes) => times(count2, () => permutation(length, bytes))
  },
  gaussians: {
    members: {
      mean: { type: "number", minimum: -1e6, maximum: 1e6 },
      stddev: { type: "number", minimum: 1e-9, maximum: 1e6 },
      digits: upTo(14, 2)
    },
    isPossible: ({ count: count2 }) => count2 <= 1e4,
    // The spread is smaller than one unit of the last digit.
    hasOneOutcome: ({ mean, stddev, digits }) => stddev < 10 ** (Math.floor(Math.log10(Math.abs(mean) + stddev)) - digits + 1),
    draw: (request, bytes) => gaussians(request.count, request, bytes)
  }
};
function drawnValues(request, bytes) {
  const { draw, isPossible = () => true } = soundKind(request);
  if (!isPossible(request))
    refuse(`The request asks for values of ${text(member(request, "kind"))} that cannot be drawn.`);
  return draw(request, bytes);
}
function checkChance(request) {
  const { hasOneOutcome = () => false } = soundKind(request);
  if (hasOneOutcome(request))
    refuse("The draw has only one possible outcome, so nothing is left to chance.");
}
function soundKind(request) {
  const name = text(member(request, "kind"));
  if (name === void 0 || !Object.hasOwn(KINDS, name))
    refuse(
      `The request has the kind ${show(member(request, "kind"))}, not one of ${Object.keys(KINDS).join(", ")}.`
    );
  const kind = KINDS[name];
  checkForm(object({ kind: text2, count: upTo(NUMBERS_MAX), ...kind.members }), request, "request");
  return kind;
}
function isRange({ min, max, unique }, count2) {
  const reach = max - min;
  return reach >= 0 && reach < 2 ** 53 && (!unique || reach + 1 >= count2);
}
function isFixed({ min, max, unique }, count2, sort2) {
  return min === max || unique && max - min + 1 === count2 && sort2 !== "none";
}
function times(count2, make) {
  return Array.from({ length: count2 }, make);
}

// node_modules/@noble/ciphers/utils.js
/*! noble-ciphers - MIT License (c) 2023 Paul Miller (paulmillr.com) */
function isBytes3(a) {
  return a instanceof Uint8Array || ArrayBuffer.isView(a) && a.constructor.name === "Uint8Array" && "BYTES_PER_ELEMENT" in a && a.BYTES_PER_ELEMENT === 1;
}
var atitle3 = (title) => title ? `"${title}" ` : "";
function abool2(value, title = "") {
  if (typeof value !== "boolean")
    throw new TypeError(atitle3(title) + "expected boolean, got type=" + typeof value);
  return value;
}
function anumber3(n, title = "") {
  if (typeof n !== "number")
    throw new TypeError(atitle3(title) + "expected number, got " + typeof n);
  if (!Number.isSafeInteger(n) || n < 0)
    throw new RangeError(atitle3(title) + "expected integer >= 0, got " + n);
  return n;
}
function abytes3(value, length, title = "") {
  if (isBytes3(value) && (length === void 0 || value.length === length))
    return value;
  if (length !== void 0)
    anumber3(length, "length");
  const bytes = isBytes3(value);
  const ofLen = length !== void 0 ? ` of length ${length}` : "";
  const got = bytes ? `length=${value.length}` : `type=${typeof value}`;
  const message = atitle3(title) + "expected Uint8Array" + ofLen + ", got " + got;
  if (!bytes)
    throw new TypeError(message);
  throw new RangeError(message);
}
var aobject3 = (value, label) => {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new TypeError(label === "object" ? "expected valid options object" : `"${label}" expected object, got type=${typeof value}`);
};
function u32(arr) {
  return new Uint32Array(arr.buffer, arr.byteOffset, Math.floor(arr.byteLength / 4));
}
function clean2(...arrays) {
  for (let i = 0; i < arrays.length; i++) {
    arrays[i].fill(0);
  }
}
var isLE = /* @__PURE__ */ (() => new Uint8Array(new Uint32Array([287454020]).buffer)[0] === 68)();
function byteSwap(word) {
  return word << 24 & 4278190080 | word << 8 & 16711680 | word >>> 8 & 65280 | word >>> 24 & 255;
}
function byteSwap32(arr) {
  for (let i = 0; i < arr.length; i++) {
    arr[i] = byteSwap(arr[i]);
  }
  return arr;
}
var swap32IfBE = isLE ? (u) => u : byteSwap32;
function overlapBytes(a, b) {
  if (!a.byteLength || !b.byteLength)
    return false;
  return a.buffer === b.buffer && // best we can do, may fail with an obscure Proxy
  a.byteOffset < b.byteOffset + b.byteLength && // a starts before b end
  b.byteOffset < a.byteOffset + a.byteLength;
}
function complexOverlapBytes(input, output) {
  if (overlapBytes(input, output) && input.byteOffset < output.byteOffset)
    throw new Error("complex overlap of input and output is not supported");
}
function checkOpts2(defaults, opts) {
  aobject3(defaults, "defaults");
  aobject3(opts, "opts");
  const merged = Object.assign(defaults, opts);
  return merged;
}
function getOutput(expectedLength, out, onlyAligned = true) {
  if (out === void 0)
    return new Uint8Array(expectedLength);
  abytes3(out, expectedLength, "output");
  if (onlyAligned && !isAligned32(out))
    throw new Error("invalid output, must be aligned");
  return out;
}
function isAligned32(bytes) {
  return bytes.byteOffset % 4 === 0;
}
function copyBytes3(bytes) {
  return Uint8Array.from(abytes3(bytes));
}

// node_modules/@noble/ciphers/_arx.js
var encodeStr = (str) => Uint8Array.from(str.split(""), (c) => c.charCodeAt(0));
var sigma16_32 = /* @__PURE__ */ (() => swap32IfBE(u32(encodeStr("expand 16-byte k"))))();
var sigma32_32 = /* @__PURE__ */ (() => swap32IfBE(u32(encodeStr("expand 32-byte k"))))();
function rotl(a, b) {
  return a << b | a >>> 32 - b;
}
var BLOCK_LEN = 64;
var BLOCK_LEN32 = 16;
var MAX_COUNTER = /* @__PURE__ */ (() => 2 ** 32 - 1)();
var U32_EMPTY = /* @__PURE__ */ Uint32Array.of();
function runCipher(core, sigma, key, nonce, data, output, counter, rounds) {
  const len = data.length;
  const block = new Uint8Array(BLOCK_LEN);
  const b32 = u32(block);
  const isAligned = isLE && isAligned32(data) && isAligned32(output);
  const d32 = isAligned ? u32(data) : U32_EMPTY;
  const o32 = isAligned ? u32(output) : U32_EMPTY;
  if (!isLE) {
    for (let pos = 0; pos < len; counter++) {
      core(sigma, key, nonce, b32, counter, rounds);
      swap32IfBE(b32);
      if (counter >= MAX_COUNTER)
        throw new Error("arx: counter overflow");
      const take = Math.min(BLOCK_LEN, len - pos);
      for (let j = 0, posj; j < take; j++) {
        posj = pos + j;
        output[posj] = data[posj] ^ block[j];
      }
      pos += take;
    }
    return;
  }
  for (let pos = 0; pos < len; counter++) {
    core(sigma, key, nonce, b32, counter, rounds);
    if (counter >= MAX_COUNTER)
      throw new Error("arx: counter overflow");
    const take = Math.min(BLOCK_LEN, len - pos);
    if (isAligned && take === BLOCK_LEN) {
      const pos32 = pos / 4;
      if (pos % 4 !== 0)
        throw new Error("arx: invalid block position");
      for (let j = 0, posj; j < BLOCK_LEN32; j++) {
        posj = pos32 + j;
        o32[posj] = d32[posj] ^ b32[j];
      }
      pos += BLOCK_LEN;
      continue;
    }
    for (let j = 0, posj; j < take; j++) {
      posj = pos + j;
      output[posj] = data[posj] ^ block[j];
    }
    pos += take;
  }
}
function createCipher(core, opts) {
  const { allowShortKeys, extendNonceFn, counterLength, counterRight, rounds } = checkOpts2({ allowShortKeys: false, counterLength: 8, counterRight: false, rounds: 20 }, opts);
  if (typeof core !== "function")
    throw new Error("core must be a function");
  anumber3(counterLength);
  anumber3(rounds);
  abool2(counterRight);
  abool2(allowShortKeys);
  return (key, nonce, data, output, counter = 0) => {
    abytes3(key, void 0, "key");
    abytes3(nonce, void 0, "nonce");
    abytes3(data, void 0, "data");
    const len = data.length;
    const hasOutput = output !== void 0;
    output = getOutput(len, output, false);
    if (hasOutput)
      complexOverlapBytes(data, output);
    anumber3(counter);
    if (counter < 0 || counter >= MAX_COUNTER)
      throw new Error("arx: counter overflow");
    const toClean = [];
    let l = key.length;
    let k;
    let sigma;
    if (l === 32) {
      toClean.push(k = copyBytes3(key));
      sigma = sigma32_32;
    } else if (l === 16 && allowShortKeys) {
      k = new Uint8Array(32);
      k.set(key);
      k.set(key, 16);
      sigma = sigma16_32;
      toClean.push(k);
    } else {
      abytes3(key, 32, "arx key");
      throw new Error("invalid key size");
    }
    if (!isLE || !isAligned32(nonce))
      toClean.push(nonce = copyBytes3(nonce));
    let k32 = u32(k);
    if (extendNonceFn) {
      if (nonce.length !== 24)
        throw new Error("arx: extended nonce must be 24 bytes");
      const n16 = nonce.subarray(0, 16);
      if (isLE)
        extendNonceFn(sigma, k32, u32(n16), k32);
      else {
        const sigmaRaw = swap32IfBE(Uint32Array.from(sigma));
        extendNonceFn(sigmaRaw, k32, u32(n16), k32);
        clean2(sigmaRaw);
        swap32IfBE(k32);
      }
      nonce = nonce.subarray(16);
    } else if (!isLE)
      swap32IfBE(k32);
    const nonceNcLen = 16 - counterLength;
    if (nonceNcLen !== nonce.length)
      throw new Error(`arx: nonce must be ${nonceNcLen} or 16 bytes`);
    if (nonceNcLen !== 12) {
      const nc = new Uint8Array(12);
      nc.set(nonce, counterRight ? 0 : 12 - nonce.length);
      nonce = nc;
      toClean.push(nonce);
    }
    const n32 = swap32IfBE(u32(nonce));
    try {
      runCipher(core, sigma, k32, n32, data, output, counter, rounds);
      return output;
    } finally {
      clean2(...toClean);
    }
  };
}

// node_modules/@noble/ciphers/chacha.js
function chachaCore(s, k, n, out, cnt, rounds = 20) {
  let y00 = s[0], y01 = s[1], y02 = s[2], y03 = s[3], y04 = k[0], y05 = k[1], y06 = k[2], y07 = k[3], y08 = k[4], y09 = k[5], y10 = k[6], y11 = k[7], y12 = cnt, y13 = n[0], y14 = n[1], y15 = n[2];
  let x00 = y00, x01 = y01, x02 = y02, x03 = y03, x04 = y04, x05 = y05, x06 = y06, x07 = y07, x08 = y08, x09 = y09, x10 = y10, x11 = y11, x12 = y12, x13 = y13, x14 = y14, x15 = y15;
  for (let r = 0; r < rounds; r += 2) {
    x00 = x00 + x04 | 0;
    x12 = rotl(x12 ^ x00, 16);
    x08 = x08 + x12 | 0;
    x04 = rotl(x04 ^ x08, 12);
    x00 = x00 + x04 | 0;
    x12 = rotl(x12 ^ x00, 8);
    x08 = x08 + x12 | 0;
    x04 = rotl(x04 ^ x08, 7);
    x01 = x01 + x05 | 0;
    x13 = rotl(x13 ^ x01, 16);
    x09 = x09 + x13 | 0;
    x05 = rotl(x05 ^ x09, 12);
    x01 = x01 + x05 | 0;
    x13 = rotl(x13 ^ x01, 8);
    x09 = x09 + x13 | 0;
    x05 = rotl(x05 ^ x09, 7);
    x02 = x02 + x06 | 0;
    x14 = rotl(x14 ^ x02, 16);
    x10 = x10 + x14 | 0;
    x06 = rotl(x06 ^ x10, 12);
    x02 = x02 + x06 | 0;
    x14 = rotl(x14 ^ x02, 8);
    x10 = x10 + x14 | 0;
    x06 = rotl(x06 ^ x10, 7);
    x03 = x03 + x07 | 0;
    x15 = rotl(x15 ^ x03, 16);
    x11 = x11 + x15 | 0;
    x07 = rotl(x07 ^ x11, 12);
    x03 = x03 + x07 | 0;
    x15 = rotl(x15 ^ x03, 8);
    x11 = x11 + x15 | 0;
    x07 = rotl(x07 ^ x11, 7);
    x00 = x00 + x05 | 0;
    x15 = rotl(x15 ^ x00, 16);
    x10 = x10 + x15 | 0;
    x05 = rotl(x05 ^ x10, 12);
    x00 = x00 + x05 | 0;
    x15 = rotl(x15 ^ x00, 8);
    x10 = x10 + x15 | 0;
    x05 = rotl(x05 ^ x10, 7);
    x01 = x01 + x06 | 0;
    x12 = rotl(x12 ^ x01, 16);
    x11 = x11 + x12 | 0;
    x06 = rotl(x06 ^ x11, 12);
    x01 = x01 + x06 | 0;
    x12 = rotl(x12 ^ x01, 8);
    x11 = x11 + x12 | 0;
    x06 = rotl(x06 ^ x11, 7);
    x02 = x02 + x07 | 0;
    x13 = rotl(x13 ^ x02, 16);
    x08 = x08 + x13 | 0;
    x07 = rotl(x07 ^ x08, 12);
    x02 = x02 + x07 | 0;
    x13 = rotl(x13 ^ x02, 8);
    x08 = x08 + x13 | 0;
    x07 = rotl(x07 ^ x08, 7);
    x03 = x03 + x04 | 0;
    x14 = rotl(x14 ^ x03, 16);
    x09 = x09 + x14 | 0;
    x04 = rotl(x04 ^ x09, 12);
    x03 = x03 + x04 | 0;
    x14 = rotl(x14 ^ x03, 8);
    x09 = x09 + x14 | 0;
    x04 = rotl(x04 ^ x09, 7);
  }
  let oi = 0;
  out[oi++] = y00 + x00 | 0;
  out[oi++] = y01 + x01 | 0;
  out[oi++] = y02 + x02 | 0;
  out[oi++] = y03 + x03 | 0;
  out[oi++] = y04 + x04 | 0;
  out[oi++] = y05 + x05 | 0;
  out[oi++] = y06 + x06 | 0;
  out[oi++] = y07 + x07 | 0;
  out[oi++] = y08 + x08 | 0;
  out[oi++] = y09 + x09 | 0;
  out[oi++] = y10 + x10 | 0;
  out[oi++] = y11 + x11 | 0;
  out[oi++] = y12 + x12 | 0;
  out[oi++] = y13 + x13 | 0;
  out[oi++] = y14 + x14 | 0;
  out[oi++] = y15 + x15 | 0;
}
var chacha20 = /* @__PURE__ */ createCipher(chachaCore, {
  counterRight: false,
  counterLength: 4,
  allowShortKeys: false
});

// node_modules/@noble/hashes/hmac.js
var _HMAC = class {
  oHash;
  iHash;
  blockLen;
  outputLen;
  canXOF = false;
  finished = false;
  destroyed = false;
  constructor(hash2, key) {
    ahash(hash2);
    abytes(key, void 0, "key");
    this.iHash = hash2.create();
    if (typeof this.iHash.update !== "function")
      throw new Error("expected Hash instance");
    this.blockLen = this.iHash.blockLen;
    this.outputLen = this.iHash.outputLen;
    const blockLen = this.blockLen;
    const pad = new Uint8Array(blockLen);
    pad.set(key.length > blockLen ? hash2.create().update(key).digest() : key);
    for (let i = 0; i < pad.length; i++)
      pad[i] ^= 54;
    this.iHash.update(pad);
    this.oHash = hash2.create();
    for (let i = 0; i < pad.length; i++)
      pad[i] ^= 54 ^ 92;
    this.oHash.update(pad);
    clean(pad);
  }
  update(buf) {
    aexists(this);
    this.iHash.update(buf);
    return this;
  }
  digestInto(out) {
    aexists(this);
    aoutput(out, this);
    this.finished = true;
    const buf = out.subarray(0, this.outputLen);
    this.iHash.digestInto(buf);
    this.oHash.update(buf);
    this.oHash.digestInto(buf);
    this.destroy();
  }
  digest() {
    const out = new Uint8Array(this.oHash.outputLen);
    this.digestInto(out);
    return out;
  }
  _cloneInto(to) {
    to ||= Object.create(Object.getPrototypeOf(this), {});
    const { oHash, iHash, finished, destroyed, blockLen, outputLen, canXOF } = this;
    to = to;
    to.finished = finished;
    to.destroyed = destroyed;
    to.blockLen = blockLen;
    to.outputLen = outputLen;
    to.canXOF = canXOF;
    to.oHash = oHash._cloneInto(to.oHash);
    to.iHash = iHash._cloneInto(to.iHash);
    return to;
  }
  clone() {
    return this._cloneInto();
  }
  destroy() {
    this.destroyed = true;
    this.oHash.destroy();
    this.iHash.destroy();
  }
};
var hmac = /* @__PURE__ */ (() => {
  const hmac_ = ((hash2, key, message) => new _HMAC(hash2, key).update(message).digest());
  hmac_.create = (hash2, key) => new _HMAC(hash2, key);
  return hmac_;
})();

// node_modules/@noble/hashes/hkdf.js
var HKDF_COUNTER = /* @__PURE__ */ Uint8Array.of(0);
var EMPTY_BUFFER = /* @__PURE__ */ Uint8Array.of();
function expand(hash2, prk, info, length = 32, _recycled) {
  ahash(hash2);
  anumber(length, "length");
  abytes(prk, void 0, "prk");
  const olen = hash2.outputLen;
  if (prk.length < olen)
    throw new Error('"prk" must be at least HashLen octets');
  if (length > 255 * olen)
    throw new Error("Length must be <= 255*HashLen");
  const blocks = Math.ceil(length / olen);
  if (info === void 0)
    info = EMPTY_BUFFER;
  else
    abytes(info, void 0, "info");
  if (!blocks) {
    if (_recycled)
      clean(prk);
    return new Uint8Array();
  }
  const okm = _recycled && blocks === 1 ? prk : new Uint8Array(blocks * olen);
  const { iHash, oHash } = hmac.create(hash2, prk);
  const T = _recycled ? prk : new Uint8Array(olen);
  const worker = blocks > 1 ? _recycled?.iHash || hash2.create() : void 0;
  for (let counter = 0; counter < blocks - 1; counter++) {
    HKDF_COUNTER[0] = counter + 1;
    const iWork = iHash._cloneInto(worker);
    if (counter)
      iWork.update(T);
    iWork.update(info).update(HKDF_COUNTER).digestInto(T);
    oHash._cloneInto(worker).update(T).digestInto(T);
    okm.set(T, olen * counter);
  }
  HKDF_COUNTER[0] = blocks;
  if (blocks > 1)
    iHash.update(T);
  iHash.update(info).update(HKDF_COUNTER).digestInto(T);
  oHash.update(T).digestInto(T);
  okm.set(T, olen * (blocks - 1));
  iHash.destroy();
  oHash.destroy();
  worker?.destroy();
  if (T !== okm)
    clean(T);
  clean(HKDF_COUNTER);
  if (length === okm.length)
    return okm;
  const res = okm.slice(0, length);
  clean(okm);
  return res;
}
var hkdf = (hash2, ikm, salt, info, length) => {
  ahash(hash2);
  if (salt === void 0)
    salt = new Uint8Array(hash2.outputLen);
  const HMAC = hmac.create(hash2, salt).update(ikm);
  return expand(hash2, HMAC.digest(), info, length, HMAC);
};

// src/certificate/draw-stream.ts
var INFO = new TextEncoder().encode("qrn draw v1");
var KEY_BYTES = 32;
var CHUNK_BYTES = 4096;
var BLOCK_BYTES = 64;
function drawKey({ secret, nonce, randomness, statementDigest }) {
  const parts = [secret, nonce, randomness, statementDigest];
  const joined = new Uint8Array(parts.reduce((size, part) => size + 4 + part.length, 0));
  let at = 0;
  for (const part of parts) {
    new DataView(joined.buffer).setUint32(at, part.length);
    joined.set(part, at + 4);
    at += 4 + part.length;
  }
  return hkdf(sha256, joined, new Uint8Array(0), INFO, KEY_BYTES);
}
function drawStream(key) {
  let counter = 0;
  return new ByteStream(() => {
    const bytes = chacha20(key, new Uint8Array(12), new Uint8Array(CHUNK_BYTES), void 0, counter);
    counter += CHUNK_BYTES / BLOCK_BYTES;
    return bytes;
  });
}

// src/certificate/verify-values.ts
var PIECE_BYTES2 = 16;
var BITS_MAX = 1e5;
var COUNTED = { values: "values", beside: ["count"] };
var LISTED = { values: "items", beside: ["count"] };
var KINDS2 = {
  integers: counted("integers", ["max", "min", "sort", "unique"]),
  floats: counted("floats", ["precision"]),
  uuid: { ...counted("uuid", [], "uuids"), beside: ["count", "version"] },
  strings: counted("strings", ["alphabet", "length"], "values", ({ alphabet, ...own }) => ({
    ...own,
    alphabet: [...text(alphabet) ?? ""]
  })),
  sequences: counted("sequences", ["length", "max", "min", "sort", "unique"], "values", (own) => ({
    count: own["count"],
    sort: own["sort"],
    ranges: rangesOf(own)
  })),
  permutations: counted("permutations", ["length"]),
  gaussians: counted("gaussians", ["digits", "mean", "stddev"]),
  shuffle: { ...LISTED, params: [] },
  sample: { ...LISTED, params: ["list_sha256", "of"] },
  weighted: { ...LISTED, params: ["list_sha256", "weights"] },
  bytes: {
    params: ["encoding"],
    values: "bytes",
    beside: ["bits", "count"],
    drawAgain: (data, bytes) => {
      const [length, encoding] = [member(data, "count"), member(data, "encoding")];
      return drawnValues({ kind: "bytes", count: 1, length, encoding, single: true }, bytes)[0];
    }
  },
  bitstring: {
    params: ["length"],
    values: "bitstring",
    beside: [],
    drawAgain: (data, bytes) => {
      const length = member(data, "length");
      if (typeof length !== "number" || !Number.isInteger(length) || length < 1 || length > BITS_MAX)
        return void 0;
      const octets = [...bytes.take(Math.ceil(length / 8))];
      return octets.map((octet) => octet.toString(2).padStart(8, "0")).join("").slice(0, length);
    }
  }
};
var BYTE_STRINGS = counted("bytes", ["encoding", "length"], "values", (own) => ({ ...own, single: false }));
var BATCH_MEMBERS = ["count", "params", "type", "values"];
var NOT_IN_BATCHES = ["bitstring", "shuffle"];
function counted(kind, params, values = "values", requestOf = (own) => own) {
  return {
    ...COUNTED,
    params,
    values,
    drawAgain: (data, bytes) => {
      const told2 = member(data, values);
      if (!Array.isArray(told2) || told2.length !== member(data, "count")) return void 0;
      const own = Object.fromEntries(["count", ...params].map((name) => [name, member(data, name)]));
      return drawnValues({ kind, ...requestOf(own) }, bytes);
    }
  };
}
function kindOf(endpoint) {
  if (typeof endpoint === "string" && Object.hasOwn(KINDS2, endpoint)) return KINDS2[endpoint];
  return refuse(`The certificate names the endpoint ${show(endpoint)}, which does not exist.`);
}
function kindInBatch(type) {
  if (type === "bytes") return BYTE_STRINGS;
  if (typeof type !== "string" || !Object.hasOwn(KINDS2, type) || NOT_IN_BATCHES.includes(type))
    refuse(`The answer is a batch of the type ${show(type)}, which does not exist.`);
  return KINDS2[type];
}
function checkMembers2(endpoint, data) {
  const isBatch = endpoint === "batch";
  const { params, beside, values } = isBatch ? { ...COUNTED, params: [] } : kindOf(endpoint);
  const names = isBatch ? BATCH_MEMBERS : [...params, ...beside, values].sort();
  if (!hasMembers(data, [...names, "metadata"]))
    refuse(
      `data must have exactly the members of an answer of ${show(endpoint)}: ${names.join(", ")}, metadata.`
    );
  if (!isBatch) return;
  const type = member(data, "type");
  const own = kindInBatch(type).params;
  if (!hasMembers(member(data, "params"), own))
    refuse(`data.params must have exactly the members of a batch of ${show(type)}: ${own.join(", ")}.`);
}
function hasMembers(value, names) {
  return isObject(value) && Object.keys(value).sort().join() === names.toSorted().join();
}
function drawnAs(endpoint, data) {
  if (endpoint !== "batch") return { kind: kindOf(endpoint), told: data };
  const [type, params, values] = ["type", "params", "values"].map((name) => member(data, name));
  const kind = kindInBatch(type);
  const own = isObject(params) ? params : {};
  return { kind, told: { ...own, count: member(data, "count"), [kind.values]: values } };
}
function rangesOf(data) {
  const [mins, maxes] = [listAt(data, "min"), listAt(data, "max")];
  const unique = member(data, "unique");
  return listAt(data, "length").map((length, i) => ({ length, min: mins[i], max: maxes[i], unique }));
}
var BYTES_PER_CHARACTER = 16;
var CHANCE_BYTES = 256;
function mayTakeMore(endpoint, answered, bytes) {
  const { kind, told: data } = drawnAs(endpoint, answered);
  const characters = (canonical(member(data, kind.values)) ?? "").length;
  if (kind.drawAgain === void 0) return BYTES_PER_CHARACTER * characters > bytes;
  const sure = drawStream(new Uint8Array(32)).take(Math.floor((bytes - CHANCE_BYTES) / 2));
  try {
    kind.drawAgain(data, streamOf(sure));
    return false;
  } catch (error) {
    if (error instanceof Exhausted) return true;
    if (!(error instanceof Refusal)) throw error;
    return characters > NUMBERS_MAX;
  }
}
var Exhausted = class extends Error {
  name = "Exhausted";
};
function valuesVerdict(endpoint, answered, drawn) {
  const { kind, told: data } = drawnAs(endpoint, answered);
  if (kind.drawAgain === void 0) {
    const name = endpoint === "batch" ? member(answered, "type") : endpoint;
    return `The answer opens the bytes that the lots committed to. Whether its values follow from them was not checked: an answer of ${show(name)} does not hold everything that its values were drawn with.`;
  }
  const stream = streamOf(drawn);
  let again;
  try {
    again = kind.drawAgain(data, stream);
  } catch (error) {
    if (!(error instanceof Exhausted)) throw error;
    refuse("The opening holds fewer bytes than the values take.");
  }
  if (again === void 0 || canonical(again) !== canonical(member(data, kind.values)))
    refuse("The values do not follow from the bytes that were drawn.");
  if (drawn.length - stream.used >= PIECE_BYTES2) refuse("The opening holds more bytes than the values take.");
  return "The values follow from bytes that the lots committed to.";
}
function streamOf(bytes) {
  let isGiven = bytes.length === 0;
  return new ByteStream(() => {
    if (isGiven) throw new Exhausted();
    isGiven = true;
    return bytes;
  });
}

// src/certificate/verify-witnesses.ts
var WITNESS_CLOCK_MS = 6e4;
function readWitnessPolicy(keysText, quorumText) {
  const keys = keysText.split(/[\s,]+/).filter((each) => each !== "");
  if (keys.length === 0) return "name at least one witness";
  if (quorumText === "") return { keys, quorum: keys.length };
  const quorum = /^[1-9]\d{0,3}$/.test(quorumText) ? Number(quorumText) : 0;
  return quorum >= 1 && quorum <= keys.length ? { keys, quorum } : `the quorum must be a number from 1 to ${keys.length}, not ${JSON.stringify(quorumText)}`;
}
function heldBefore(what, [leaf, proof], { keys, witnesses }, { event, latestMs, clocksMs }) {
  const logged = about(`${what[0].toUpperCase()}${what.slice(1)}`, () => loggedLeaf(leaf, proof, keys));
  if (!(logged.atS * 1e3 <= latestMs))
    refuse(`The log held ${what} only by ${timeText(logged.atS)}, which is not before ${event}.`);
  if (witnesses === void 0) return logged;
  const seen = readCosignatures(witnesses.keys, logged.at);
  const before = seen.filter(({ atS }) => atS * 1e3 <= latestMs + clocksMs).length;
  if (before < witnesses.quorum)
    refuse(`${before} witnesses saw ${what} before ${event}, but ${witnesses.quorum} are required.`);
  return logged;
}
function witnessVerdict(document, certificate, logged, policy) {
  const { keys, quorum } = policy;
  if (!(Number.isSafeInteger(quorum) && quorum >= 1 && quorum <= keys.length))
    refuse(
      `The quorum is ${quorum}, but must be a whole number from 1 to the ${keys.length} witnesses named.`
    );
  const seen = readCosignatures(keys, logged);
  const issuedMs = timeOf(member(certificate, "issued_at"));
  const early = seen.find(({ atS }) => atS * 1e3 < issuedMs - WITNESS_CLOCK_MS);
  if (early !== void 0)
    refuse(
      `The witness ${early.name} saw the tree at ${timeText(early.atS)}, before the certificate was issued.`
    );
  const told2 = namesAndTimes(seen);
  if (seen.length < quorum) {
    const who = told2 === "" ? "" : `: ${told2}`;
    refuse(`${seen.length} witnesses saw the tree, but ${quorum} are required${who}.`);
  }
  const byS = seen.map(({ atS }) => atS).sort((a, b) => a - b)[quorum - 1];
  const before = seenWithout(document, logged, policy);
  const since = before === void 0 ? `${text(member(certificate, "issued_at"))}, according to the log alone,` : `${timeText(before.atS)}, when witnesses had seen the log with ${before.size} leaves and without the certificate,`;
  return `Seen by ${told2}. So the certificate was logged between ${since} and ${timeText(byS)}.`;
}
function seenWithout(document, { proof, checkpoint }, { keys, quorum }) {
  let latest;
  for (const lot of listAt(document, "lots")) {
    const logged = found(() => readProof(member(lot, "proof"))).known;
    if (logged === void 0) continue;
    const { origin, size } = logged.checkpoint;
    if (origin !== checkpoint.origin || size > proof.index) continue;
    const seen = found(() => readCosignatures(keys, logged)).known ?? [];
    if (seen.length < quorum) continue;
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
function readLots(document, certificate) {
  const named = member(certificate, "provenance", "lots");
  const given = member(document, "lots");
  if (!Array.isArray(named) || named.length === 0) refuse("The certificate names no lot.");
  if (!Array.isArray(given) || given.length !== named.length)
    refuse(`The number of lots in the document is not the ${named.length} that the certificate names.`);
  const ids = named.map((each) => text(member(each, "id")));
  if (new Set(ids).size < ids.length) refuse("The certificate names a lot twice.");
  const leaves = given.map((each) => member(each, "leaf"));
  for (const [i, leaf] of leaves.entries()) {
    const id = ids[i];
    const isLot = member(leaf, "type") === "lot" && member(leaf, "version") === 1;
    if (!isLot || id === void 0 || member(leaf, "lot_id") !== id)
      refuse(`The document does not hold the leaf of lot ${show(id)}, but something else in its place.`);
    const hash2 = canonical(leaf);
    if (hash2 === void 0 || toBase64(leafHash(utf8Bytes(hash2))) !== member(named[i], "leaf"))
      refuse(`The leaf of lot ${id} does not have the hash that the certificate names.`);
  }
  return leaves;
}
function lotsVerdict({ length }) {
  return length === 1 ? "The leaf of the lot has the hash that the certificate names." : `The leaves of the ${length} lots have the hashes that the certificate names.`;
}
function issuedText(certificate) {
  if (!isObject(certificate)) return void 0;
  const issued = Object.entries(certificate).filter(([name]) => !UNSIGNED.some((each) => each === name));
  return canonical(Object.fromEntries(issued));
}
function fixedVerdict(input, certificate, lots, logged) {
  const { octets, witnesses } = input;
  const mode = member(certificate, "entropy_mode");
  if (mode === "csprng")
    refuse("It cannot be shown that the entropy was fixed before: values of csprng mode come from no lot.");
  const response = octets === void 0 || !isObject(input.response) ? input.response : { opening: null, ...input.response };
  const fixed = lots().map((leaf, i) => fixedLot(input, certificate, logged, leaf, i));
  const bound = mode === "pure" ? pureVerdict(certificate, fixed, response) : seedVerdict(certificate, fixed);
  const latestS = Math.max(...fixed.map(({ atS }) => atS));
  const seen = witnesses === void 0 ? "" : `, and at least ${witnesses.quorum} witnesses had seen them by then (clocks may differ by ${WITNESS_CLOCK_MS / 1e3} s)`;
  return `The log says that it held the lots by ${timeText(latestS)}, before the answer was issued${seen}. ${bound}`;
}
function fixedLot(input, certificate, logged, told2, place) {
  const { lot_id: id, pure, seeds } = told2;
  const proof = listAt(input.certificate, "lots")[place];
  const leaf = [canonical(told2) ?? "", member(proof, "proof")];
  const { at, atS } = heldBefore(`lot ${id}`, leaf, input, {
    event: "the answer was issued",
    latestMs: timeOf(member(certificate, "issued_at")),
    clocksMs: WITNESS_CLOCK_MS
  });
  if (logged?.checkpoint.origin === at.checkpoint.origin && at.proof.index >= logged.proof.index)
    refuse(`Lot ${id} was logged after the certificate.`);
  if (!(Math.floor(timeOf(told2.finished_at) / 1e3) <= atS))
    refuse(`The log says that it held lot ${id} at ${timeText(atS)}, which is before the lot ended.`);
  const runs = member(proof, "runs");
  const isCut = [pure.block_bytes, pure.bytes, pure.piece_bytes].every((each) => each % PIECE_BYTES === 0);
  if (!isCut || pure.piece_bytes !== PIECE_BYTES || !Array.isArray(runs))
    refuse(`The leaf or the proof of lot ${id} does not have the form that it must have.`);
  return { pure, seeds, runs, atS };
}
function seedVerdict(certificate, [lot]) {
  const index = member(certificate, "provenance", "seed", "index");
  const run2 = readRun(lot.runs[0]);
  if (run2 === void 0 || run2.first !== index || run2.hashes.length !== 1 || lot.runs.length !== 1)
    refuse(`The document has no proof that seed ${show(index)} is of its lot.`);
  const root2 = rootOfRun(lot.seeds.count, run2.first, run2.hashes, run2.path);
  if (root2 === void 0 || run2.path.length > 0 || toBase64(root2) !== lot.seeds.root)
    refuse(`The proof of seed ${index} does not lead to the seeds that its lot committed to.`);
  return `The seed of the answer is number ${index} of the ${lot.seeds.count} seeds that the lot committed to.`;
}
function pureVerdict(certificate, fixed, response) {
  const drawn = member(certificate, "provenance", "drawn");
  if (!Array.isArray(drawn) || drawn.length === 0)
    refuse("The certificate does not say which bytes were drawn: provenance.drawn is missing or empty.");
  const used = fixed.map(() => 0);
  const ranges = [];
  let total = 0;
  for (const each of drawn) {
    const range2 = readRange(each, fixed.length);
    if (range2 === void 0)
      refuse("The bytes that the certificate says were drawn are not whole pieces of its lots.");
    total += range2.bytes;
    const lot = fixed[range2.lot];
    const bound = boundRange(range2, lot, lot.runs[used[range2.lot]++]);
    if (bound === void 0)
      refuse(
        `The document does not prove that lot ${range2.lot + 1} committed to the bytes drawn from byte ${range2.offset}.`
      );
    ranges.push(bound);
  }
  if (fixed.some((lot, i) => lot.runs.length !== used[i]))
    refuse("The proof of a lot covers more than what was drawn.");
  if (response === void 0)
    return "Whether the answer was made of these bytes was not checked: only an answer in JSON that drew at most 2,048 bytes can show that.";
  const [endpoint, data] = [member(certificate, "endpoint"), member(response, "data")];
  const opening = member(response, "opening");
  if (opening === null && text(member(certificate, "media_type")) !== void 0)
    return "It cannot be shown that the answer was made of these bytes: an answer in octets carries no opening.";
  checkMembers2(endpoint, data);
  if (opening !== void 0 && opening !== null) return openingVerdict(ranges, response, endpoint);
  if (total <= OPENED_BYTES_MAX || !mayTakeMore(endpoint, data, OPENED_BYTES_MAX))
    refuse("The answer must have an opening, which shows the bytes that it was made of, and has none.");
  return "It cannot be shown that the answer was made of these bytes: it is too long to carry an opening.";
}
function boundRange(range2, fixed, told2) {
  const { offset, bytes } = range2;
  const { bytes: pureBytes, block_bytes: blockBytes, root: pureRoot } = fixed.pure;
  if (offset + bytes > pureBytes) return void 0;
  const firstBlock = Math.floor(offset / blockBytes);
  const blocks = Math.ceil((offset + bytes) / blockBytes) - firstBlock;
  const run2 = readRun(told2);
  if (run2 === void 0 || run2.first !== firstBlock || run2.hashes.length !== blocks) return void 0;
  const root2 = rootOfRun(Math.ceil(pureBytes / blockBytes), firstBlock, run2.hashes, run2.path);
  if (root2 === void 0 || run2.path.length > 0 || toBase64(root2) !== pureRoot) return void 0;
  return { ...range2, fixed, firstBlock, blockRoots: run2.hashes };
}
function openingVerdict(ranges, response, endpoint) {
  const part = (name) => fromBase64(text(member(response, "opening", name)) ?? "");
  const [bytes, salts, pathBytes] = [part("bytes"), part("salts"), part("path")];
  const length = ranges.reduce((sum, range2) => sum + range2.bytes, 0);
  const isWhole = bytes?.length === length && salts?.length === length / PIECE_BYTES * PIECE_SALT_BYTES;
  if (!isWhole || pathBytes === void 0 || pathBytes.length % HASH_BYTES !== 0)
    refuse("The opening does not hold as many bytes and salts as were drawn.");
  const path = splitHashes(pathBytes);
  let at = 0;
  for (const { fixed, firstBlock, blockRoots, offset, bytes: size } of ranges) {
    let from = offset;
    for (const [i, blockRoot] of blockRoots.entries()) {
      const start = (firstBlock + i) * fixed.pure.block_bytes;
      const end = Math.min(start + fixed.pure.block_bytes, fixed.pure.bytes);
      const pieces = [];
      for (let piece = from; piece < Math.min(end, offset + size); piece += PIECE_BYTES, at += PIECE_BYTES) {
        const saltAt = at / PIECE_BYTES * PIECE_SALT_BYTES;
        const salt = salts.subarray(saltAt, saltAt + PIECE_SALT_BYTES);
        pieces.push(pieceHash(salt, bytes.subarray(at, at + PIECE_BYTES)));
      }
      const root2 = rootOfRun((end - start) / PIECE_BYTES, (from - start) / PIECE_BYTES, pieces, path);
      if (root2 === void 0 || !equalHashes(root2, blockRoot))
        refuse("The bytes in the opening are not those that the lot committed to.");
      from = end;
    }
  }
  if (path.length > 0) refuse("The opening holds more than what was drawn.");
  return valuesVerdict(endpoint, member(response, "data"), bytes);
}
function readRange(value, lots) {
  const [lot, offset, bytes] = ["lot", "offset", "bytes"].map((name) => member(value, name));
  if (!isCount(lot) || !isCount(offset) || !isCount(bytes) || lot >= lots || bytes === 0) return void 0;
  const isWhole = offset % PIECE_BYTES === 0 && bytes % PIECE_BYTES === 0;
  return isWhole && Number.isSafeInteger(offset + bytes) ? { lot, offset, bytes } : void 0;
}
function readRun(value) {
  const first = member(value, "first");
  const hashes = parseHashes(member(value, "hashes"));
  const path = parseHashes(member(value, "path"));
  return isCount(first) && hashes !== void 0 && path !== void 0 ? { first, hashes, path } : void 0;
}

// src/certificate/verify.ts
function verifyAnswer(input) {
  const { response, octets, certificate, keys, witnesses } = input;
  const document = member(certificate, "certificate") ?? certificate;
  const logged = found(() => readProof(member(document, "proof")));
  const signed = found(() => readSignatures(keys, logged()));
  const leaves = found(() => readLots(certificate, document));
  const lots = found(() => formedLots(leaves()));
  const checks = [];
  const add2 = (name, holds2) => checks.push(check(name, holds2));
  if (response !== void 0) {
    add2("certificate id", () => certificateIdVerdict(response, document));
    add2("request id", () => requestIdVerdict(response, document));
    add2("metadata", () => metadataVerdict(input, document));
  }
  if (response !== void 0 || octets !== void 0)
    add2("delivered", () => deliveredVerdict(input, document));
  const labelled = octets === void 0 ? response : void 0;
  if (member(document, "label") !== void 0 || member(labelled, "label") !== void 0)
    add2("label", () => labelVerdict(labelled, document));
  add2("lots", () => lotsVerdict(leaves()));
  add2("derived", () => derivedVerdict(document, lots));
  add2("status", () => statusVerdict(certificate, document, leaves()));
  add2("keys", () => keysVerdict(keys));
  add2("inclusion", () => inclusionVerdict(document, logged()));
  add2("signature", () => signatureVerdict(logged(), signed()));
  add2("dates", () => datesVerdict(document, leaves(), signed.known));
  if (member(document, "entropy_mode") !== "csprng" || input.requireFixed === true)
    add2("fixed", () => fixedVerdict(input, document, lots, logged.known));
  if (witnesses !== void 0)
    add2("witnesses", () => witnessVerdict(certificate, document, logged(), witnesses));
  return {
    ok: checks.every((each) => each.ok),
    checks,
    notCovered: response === void 0 ? [] : notCovered(response, octets !== void 0)
  };
}
function check(name, holds2) {
  const { known, refusal = "" } = found(holds2);
  return { name, ok: known !== void 0, why: known ?? refusal };
}
function certificateIdVerdict(response, document) {
  const id = text(member(document, "id"));
  const url = text(member(document, "verify_url"));
  const asked = member(response, "metadata", "certificate_id");
  if (id === void 0) refuse("The certificate has no id.");
  if (asked !== id) refuse(`The answer names certificate ${show(asked)}, but this is certificate ${id}.`);
  if (!url?.endsWith(`/${id}`)) refuse("verify_url of the certificate does not end in its id.");
  return `The answer names certificate ${id}.`;
}
function requestIdVerdict(response, document) {
  const id = text(member(document, "request_id"));
  const named = member(response, "metadata", "request_id");
  const uuid2 = member(response, "meta", "request_id");
  const bits = id?.startsWith("req_") ? bytesOfBase32(id.slice(4)) : void 0;
  if (bits === void 0) refuse("The certificate has no request_id.");
  if (named !== id)
    refuse(`The answer is of request ${show(named)}, but the certificate is of request ${id}.`);
  if (uuid2 !== uuidOf(bits))
    refuse(`meta.request_id is ${show(uuid2)}, not the UUID of the same 128 bits as ${id}.`);
  return `The answer and the certificate are of request ${id}.`;
}
function metadataVerdict({ response }, document) {
  const differing = REPEATED.filter(([inResponse, inCertificate]) => {
    const certified = member(document, ...inCertificate.split("."));
    const told2 = member(response, ...inResponse.split("."));
    return certified === void 0 || told2 !== certified;
  }).map(([inResponse]) => inResponse);
  const type = member(response, "media_type");
  if (type !== void 0 && type !== member(document, "media_type")) differing.push("media_type");
  if (differing.length > 0) refuse(`The answer differs from the certificate in: ${differing.join(", ")}.`);
  return "Time, circuit, backend, origin, mode and test result are as certified.";
}
function deliveredVerdict({ response, octets, salt: given }, document) {
  const certified = member(document, "hashes", "delivered");
  const type = member(document, "media_type");
  const salt = given ?? text(member(response, "metadata", "certificate_salt"));
  const bytes = type === void 0 ? jsonBytes(response, octets) : octets;
  if (salt === void 0 || !/^[0-9a-f]{64}$/.test(salt))
    refuse("metadata.certificate_salt is not 64 hex digits.");
  if (type !== void 0 && octets === void 0)
    refuse(`The certificate is of an answer in octets (${show(type)}), but this answer is in JSON.`);
  if (bytes === void 0 && octets !== void 0)
    refuse("The certificate is of an answer in JSON, but this answer is in octets.");
  if (bytes === void 0) refuse("The answer has no member data.");
  const digest2 = digestText(concatBytes3(hexToBytes(salt), bytes));
  if (digest2 !== certified)
    refuse(`The salt and the data hash to ${digest2}, but the certificate names ${show(certified)}.`);
  return type === void 0 ? "The data is what was delivered, bit for bit." : `The octets are what was delivered, bit for bit. Their media type is ${text(type) ?? show(type)}.`;
}
function jsonBytes(response, octets) {
  const data = octets === void 0 ? canonical(member(response, "data")) : void 0;
  return data === void 0 ? void 0 : utf8Bytes(data);
}
function statusVerdict(certificate, document, leaves) {
  const status = member(document, "status");
  const deterministic = leaves.some((lot) => member(lot, "deterministic") === true);
  if (status === "revoked") {
    const reason = member(certificate, "revocation", "reason");
    refuse(`The operator withdrew a lot of this certificate: ${text(reason) ?? "no reason is given"}.`);
  }
  if (status !== (deterministic ? "test" : "valid"))
    refuse(
      `status is ${show(status)}, but with these lots it must be ${deterministic ? '"test"' : '"valid"'}.`
    );
  return deterministic ? "A deterministic test source made the values: they are not random." : "According to the document, none of the lots was withdrawn.";
}
function inclusionVerdict(document, logged) {
  const leaf = issuedText(document);
  const { index } = logged.proof;
  const { size } = logged.checkpoint;
  if (leaf === void 0 || !holdsLeaf(logged, leaf))
    refuse(`The certificate is not leaf ${index} of the tree of ${size} leaves that its proof names.`);
  return `The certificate is leaf ${index} of the signed tree of ${size} leaves.`;
}
function keysVerdict(keys) {
  const current = member(keys, "current_key_id");
  if (!knownKeys(keys).some((key) => key.keyId === current))
    refuse("current_key_id of the keys document names no key that the document lists.");
  return "The keys document is well-formed.";
}
function signatureVerdict({ checkpoint }, signed) {
  const keyIds = signed.map(({ key }) => key.keyId);
  const whose = keyIds.length === 1 ? "key" : "keys";
  return `The checkpoint of the log ${checkpoint.origin} is signed by ${whose} ${keyIds.join(" and ")}.`;
}
function datesVerdict(document, leaves, signed) {
  const issuedAt = member(document, "issued_at");
  const issuedMs = timeOf(issuedAt);
  if (Number.isNaN(issuedMs)) refuse(`issued_at is ${show(issuedAt)}, not a time.`);
  for (const lot of leaves) {
    const finishedAt = member(lot, "finished_at");
    if (!(timeOf(finishedAt) <= issuedMs))
      refuse(
        `The certificate was issued at ${show(issuedAt)}, but a lot of it ended at ${show(finishedAt)}.`
      );
  }
  if (signed === void 0)
    return "The certificate was issued after its lots ended. No valid signature shows more.";
  const begun = signed.filter(({ key }) => key.beganMs <= issuedMs);
  if (begun.length === 0)
    refuse(
      `The certificate was issued at ${show(issuedAt)}, before the key that signed the checkpoint was created.`
    );
  const isRightful = ({ key: { retiredMs }, atS }) => retiredMs === null || Math.max(issuedMs, atS * 1e3) <= retiredMs;
  if (!begun.some(isRightful)) refuse("The key that signed the checkpoint had already been retired.");
  const earliest = Math.min(...signed.map(({ atS }) => atS));
  if (earliest < Math.floor(issuedMs / 1e3))
    refuse(`The log says that it signed at ${timeText(earliest)}, before the certificate was issued.`);
  return `The certificate was issued after its lots ended. The log says that it signed by ${timeText(earliest)}.`;
}
function uuidOf(bits) {
  return bytesToHex(bits).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

// src/beacon/drand.ts
var G1_DOMAIN = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_";
var G2_DOMAIN = "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_";
var SCHEMES = {
  "pedersen-bls-chained": { isChained: true, hasShortSignatures: false, domain: G2_DOMAIN },
  "pedersen-bls-unchained": { isChained: false, hasShortSignatures: false, domain: G2_DOMAIN },
  // An early scheme that hashes to G1 with the tag of G2.
  "bls-unchained-on-g1": { isChained: false, hasShortSignatures: true, domain: G2_DOMAIN },
  "bls-unchained-g1-rfc9380": { isChained: false, hasShortSignatures: true, domain: G1_DOMAIN }
};
var LEAGUE_OF_ENTROPY = {
  "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971": "quicknet",
  "8990e7a9aaed2ffed73dbd7092123d6f289930540d7651336225dc172e51b2ce": "default"
};
var BeaconError = class extends Error {
  name = "BeaconError";
};
var INFO_MEMBERS = [
  "public_key",
  "period",
  "genesis_time",
  "genesis_seed",
  "hash",
  "groupHash",
  "schemeID",
  "metadata"
];
function chainOf(info, hash2) {
  const { public_key, period, genesis_time, schemeID, metadata, ...rest } = membersOf(info);
  const scheme = typeof schemeID === "string" && Object.hasOwn(SCHEMES, schemeID) ? SCHEMES[schemeID] : void 0;
  if (scheme === void 0)
    throw new BeaconError(
      `the scheme is ${JSON.stringify(schemeID)}, not one of ${Object.keys(SCHEMES).join(", ")}`
    );
  const publicKey = bytesOf2("public_key", public_key);
  const seed = bytesOf2("groupHash", rest["groupHash"]);
  const periodS = numberOf("period", period, 2 ** 32 - 1);
  const genesisS = numberOf("genesis_time", genesis_time, Number.MAX_SAFE_INTEGER);
  const beaconId = typeof metadata === "object" ? membersOf(metadata)["beaconID"] : void 0;
  const named = typeof beaconId === "string" && beaconId !== "default" ? beaconId : "";
  const head = new Uint8Array(12);
  new DataView(head.buffer).setUint32(0, periodS);
  new DataView(head.buffer).setBigInt64(4, BigInt(genesisS));
  const computed = digestOf(head, publicKey, seed, new TextEncoder().encode(named));
  if (bytesToHex(computed) !== hash2)
    throw new BeaconError(`the information is that of chain ${bytesToHex(computed)}, not of ${hash2}`);
  return { hash: hash2, scheme, publicKey, periodS, genesisS };
}
function dueMs({ genesisS, periodS }, round) {
  return (genesisS + (round - 1) * periodS) * 1e3;
}
function membersOf(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new BeaconError("the answer is not a JSON object");
  return value;
}
function bytesOf2(name, value) {
  if (typeof value !== "string" || !/^(?:[0-9a-f]{2}){1,256}$/.test(value))
    throw new BeaconError(`${name} is not up to 256 bytes in hex`);
  return hexToBytes(value);
}
function numberOf(name, value, max) {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > max)
    throw new BeaconError(`${name} is ${JSON.stringify(value)}, not a whole number from 1 to ${max}`);
  return value;
}
function digestOf(...parts) {
  return sha2562(concatBytes3(...parts));
}

// src/certificate/draw.ts
var STATEMENT = object(
  {
    type: described(constant("draw_statement"), "The type of the object."),
    version: described(constant(1), "The version of the format."),
    // 128 random bits, so that nobody can guess the statement from its hash.
    id: described(text2, "The identifier of the draw."),
    request: described(
      { type: "object" },
      "The request for the values, with all defaults written out. `kind` is the kind of values."
    ),
    purpose: described(text2, "The purpose of the draw."),
    public: described(boolean, "Whether the certificate shows `purpose` and `user_data` to everyone."),
    due_at: described(time, "The time at which the draw is due.")
  },
  {
    list: object(
      {
        sha256: described(sha2563, "The SHA-256 hash of the items in UTF-8, each followed by a line feed."),
        size: described(count, "The number of items in the list.")
      },
      {},
      "The list that winners are drawn from."
    ),
    user_data: described(text2, "The user data that the draw is bound to."),
    user_data_sha256: described(sha2563, "The SHA-256 hash of the user data that the draw is bound to."),
    nonce: described(text2, "The nonce of the caller, in hex. The values depend on it."),
    nonce_sha256: described(sha2563, "The SHA-256 hash of a nonce that the caller reveals later."),
    beacon: object(
      {
        chain: described(text2, "The hash of the beacon chain."),
        round: described(count, "The number of the round.")
      },
      {},
      "The round of a public randomness beacon that the values depend on."
    ),
    gives_up_at: described(
      time,
      "The time at which the draw fails if the beacon round or the nonce is still missing."
    )
  }
);
var ENDS = {
  revealed: [null],
  cancelled: ["cancelled"],
  failed: ["beacon_missing", "beacon_wrong", "nonce_missing", "secret_lost"]
};
function hashOf(value) {
  return digestText(canonicalText(value));
}
function chancesOf(request) {
  if (request.kind !== "weighted") return void 0;
  const { items, weights } = request;
  const sum = weights.reduce((total, each) => total + each, 0);
  return items.map((item, i) => ({ item, percent: percentText(weights[i] / sum * 100) }));
}
function percentText(percent) {
  if (percent < 1e-4) return "less than 0.0001";
  return percent > 99.99 && percent < 100 ? "more than 99.99" : String(Number(percent.toPrecision(4)));
}
function listSha256(items) {
  return digestText(items.map((item) => `${item}
`).join(""));
}
function drawCommitText(statement, delivered) {
  const { due_at, gives_up_at } = statement;
  return canonicalText({
    type: "draw_commit",
    version: 1,
    statement_sha256: hashOf(statement),
    delivered,
    due_at,
    ...gives_up_at === void 0 ? {} : { gives_up_at }
  });
}
function drawEndText(outcome) {
  const { statement_sha256, state, ended_at } = outcome;
  return canonicalText({
    type: "draw_end",
    version: 1,
    statement_sha256,
    state,
    outcome_sha256: hashOf(outcome),
    ended_at
  });
}

// src/certificate/draw-statement.ts
var OVERDUE_MS = 6e4;
var CHANCES_TOLD = 10;
function checkRequest(request) {
  checkChance(request);
  for (const name of ["items", "alphabet"]) {
    for (const [i, item] of listAt(request, name).entries()) {
      const what = name === "items" ? `Item ${i + 1}` : `Character ${i + 1} of the alphabet`;
      if (LINE_BREAK.test(String(item)))
        refuse(`${what} has a line break, so it would look like several lines of a list.`);
      if (name === "alphabet" && [...String(item)].length !== 1)
        refuse(`${what} is ${show(item)}, not one character.`);
    }
  }
}
var LINE_BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;
function readStatement(draw) {
  const statement = member(draw, "statement");
  checkForm(STATEMENT, statement, "statement");
  if (canonical(statement) === void 0) refuse("The statement has text that is not well-formed Unicode.");
  return statement;
}
function statementVerdict(draw, statement, digest2) {
  const { id, request, list, purpose } = statement;
  if (member(draw, "type") !== "draw" || member(draw, "version") !== 1)
    refuse('The document is not that of a draw: its type must be "draw" and its version 1.');
  if (member(draw, "statement_sha256") !== digest2)
    refuse(
      `The statement hashes to ${digest2}, but statement_sha256 is ${show(member(draw, "statement_sha256"))}.`
    );
  if (member(draw, "id") !== id)
    refuse(`The statement is of draw ${show(id)}, but the document is of draw ${show(member(draw, "id"))}.`);
  checkRequest(request);
  const listed = list === void 0 ? "" : listText(list, request);
  if (canonical(member(draw, "chances") ?? null) !== canonical(chancesOf(request) ?? null))
    refuse("The chances in the document do not follow from the weights in the statement.");
  return `Draw ${id} for ${show(purpose)} has a statement that says what is drawn and when: ${digest2}.${listed}${chancesText(request)}`;
}
function listText({ sha256: hash2, size }, request) {
  const { kind } = request;
  const other = () => refuse("The request does not draw from the list that the statement names.");
  if (kind === "sample" || kind === "weighted") {
    const { items } = request;
    const isWhole = listSha256(items) === hash2;
    const isNumbered = kind === "weighted" && items.every((item, i) => item === String(i + 1));
    if (items.length !== size || !(isWhole || isNumbered)) other();
    if (isWhole) return " It holds the whole list.";
  } else if (kind !== "integers") {
    refuse(`The statement names a list, but a draw of ${show(kind)} reads none.`);
  } else {
    const { min, max, unique, sort: sort2 } = request;
    if (min !== 1 || max !== size || !unique || sort2 !== "none") other();
  }
  return ` It draws line numbers of a list of ${show(size)} lines: check that your copy of the list hashes to ${show(hash2)}.`;
}
function shareOf({ percent }) {
  return percent.startsWith("less") ? 0 : Number(percent.replace("more than ", ""));
}
function chancesText(request) {
  const chances = chancesOf(request);
  if (chances === void 0) return "";
  const likeliest = chances.toSorted((a, b) => shareOf(b) - shareOf(a));
  const told2 = likeliest.slice(0, CHANCES_TOLD).map(({ item, percent }) => `${show(item)} ${percent} %`);
  const others = chances.length - told2.length;
  const more = others === 0 ? "" : `, and ${others} more in the statement`;
  return ` The chances in one pick are: ${told2.join(", ")}${more}.`;
}

// node_modules/@noble/curves/abstract/weierstrass.js
/*! noble-curves - MIT License (c) 2022 Paul Miller (paulmillr.com) */
var divNearest = (num, den) => (num + (num >= 0 ? den : -den) / _2n5) / den;
function _splitEndoScalar(k, basis, n) {
  aInRange("scalar", k, _0n6, n);
  const [[a1, b1], [a2, b2]] = basis;
  const c1 = divNearest(b2 * k, n);
  const c2 = divNearest(-b1 * k, n);
  let k1 = k - c1 * a1 - c2 * a2;
  let k2 = -c1 * b1 - c2 * b2;
  const k1neg = k1 < _0n6;
  const k2neg = k2 < _0n6;
  if (k1neg)
    k1 = -k1;
  if (k2neg)
    k2 = -k2;
  const MAX_NUM = bitMask(Math.ceil(bitLen(n) / 2)) + _1n7;
  if (k1 < _0n6 || k1 >= MAX_NUM || k2 < _0n6 || k2 >= MAX_NUM) {
    throw new Error("splitScalar (endomorphism): failed for k");
  }
  return { k1neg, k1, k2neg, k2 };
}
var _0n6 = /* @__PURE__ */ BigInt(0);
var _1n7 = /* @__PURE__ */ BigInt(1);
var _2n5 = /* @__PURE__ */ BigInt(2);
var _3n3 = /* @__PURE__ */ BigInt(3);
var _4n5 = /* @__PURE__ */ BigInt(4);
function weierstrass(params, extraOpts = {}) {
  const validated = createCurveFields("weierstrass", params, extraOpts);
  const Fp3 = validated.Fp;
  const Fn = validated.Fn;
  let CURVE = validated.CURVE;
  const { h: cofactor, n: CURVE_ORDER } = CURVE;
  validateObject(extraOpts, {}, {
    allowInfinityPoint: "boolean",
    clearCofactor: "function",
    isTorsionFree: "function",
    fromBytes: "function",
    toBytes: "function",
    endo: "object",
    randomBytes: "function"
  });
  const { endo: endoOpts, allowInfinityPoint, clearCofactor, isTorsionFree, fromBytes, toBytes } = extraOpts;
  const randomBytes4 = extraOpts.randomBytes === void 0 ? randomBytes2 : extraOpts.randomBytes;
  if (endoOpts) {
    if (!Fp3.is0(CURVE.a) || typeof endoOpts.beta !== "bigint" || !Array.isArray(endoOpts.basises)) {
      throw new Error('invalid endo: expected "beta": bigint and "basises": array');
    }
  }
  const endo = endoOpts ? {
    beta: endoOpts.beta,
    basises: endoOpts.basises.map((basis) => [...basis])
  } : void 0;
  const lengths = getWLengths(Fp3, Fn);
  function assertCompressionIsSupported() {
    if (!Fp3.isOdd)
      throw new Error("compression is not supported: Field does not have .isOdd()");
  }
  function pointToBytes(_c, point, isCompressed) {
    if (point.is0()) {
      if (!allowInfinityPoint)
        throw new Error("bad point: ZERO");
      return Uint8Array.of(0);
    }
    const { x, y } = point.toAffine();
    const bx = Fp3.toBytes(x);
    abool(isCompressed, "isCompressed");
    if (isCompressed) {
      assertCompressionIsSupported();
      const hasEvenY = !Fp3.isOdd(y);
      return concatBytes2(pprefix(hasEvenY), bx);
    } else {
      return concatBytes2(Uint8Array.of(4), bx, Fp3.toBytes(y));
    }
  }
  function pointFromBytes(bytes) {
    abytes2(bytes, void 0, "Point");
    const { publicKey: comp, publicKeyUncompressed: uncomp } = lengths;
    const length = bytes.length;
    const head = bytes[0];
    const tail = bytes.subarray(1);
    if (allowInfinityPoint && length === 1 && head === 0)
      return { x: Fp3.ZERO, y: Fp3.ZERO };
    if (length === comp && (head === 2 || head === 3)) {
      const x = Fp3.fromBytes(tail);
      if (!Fp3.isValid(x))
        throw new Error("bad point: is not on curve, wrong x");
      const y2 = weierstrassEquation(x);
      let y;
      try {
        y = Fp3.sqrt(y2);
      } catch (sqrtError) {
        const err = sqrtError instanceof Error ? ": " + sqrtError.message : "";
        throw new Error("bad point: is not on curve, sqrt error" + err);
      }
      assertCompressionIsSupported();
      const evenY = Fp3.isOdd(y);
      const evenH = (head & 1) === 1;
      if (evenH !== evenY)
        y = Fp3.neg(y);
      return { x, y };
    } else if (length === uncomp && head === 4) {
      const L = Fp3.BYTES;
      const x = Fp3.fromBytes(tail.subarray(0, L));
      const y = Fp3.fromBytes(tail.subarray(L, L * 2));
      if (!isValidXY(x, y))
        throw new Error("bad point: is not on curve");
      return { x, y };
    } else {
      throw new Error(`bad point: got length ${length}, expected compressed=${comp} or uncompressed=${uncomp}`);
    }
  }
  const encodePoint = toBytes === void 0 ? pointToBytes : toBytes;
  const decodePoint = fromBytes === void 0 ? pointFromBytes : fromBytes;
  const b3 = Fp3.mul(CURVE.b, _3n3);
  const mulA = Fp3.is0(CURVE.a) ? (_) => Fp3.ZERO : (x) => Fp3.mul(CURVE.a, x);
  function weierstrassEquation(x) {
    const x2 = Fp3.sqr(x);
    const x3 = Fp3.mul(x2, x);
    return Fp3.add(Fp3.add(x3, Fp3.mul(x, CURVE.a)), CURVE.b);
  }
  function isValidXY(x, y) {
    const left = Fp3.sqr(y);
    const right = weierstrassEquation(x);
    return Fp3.eql(left, right);
  }
  if (!isValidXY(CURVE.Gx, CURVE.Gy))
    throw new Error("bad curve params: generator point");
  const _4a3 = Fp3.mul(Fp3.pow(CURVE.a, _3n3), _4n5);
  const _27b2 = Fp3.mul(Fp3.sqr(CURVE.b), BigInt(27));
  if (Fp3.is0(Fp3.add(_4a3, _27b2)))
    throw new Error("bad curve params: a or b");
  function acoord(title, n, banZero = false) {
    if (!Fp3.isValid(n) || banZero && Fp3.is0(n))
      throw new Error(`bad point coordinate ${title}`);
    return typeof n === "object" && n !== null ? Fp3.create(n) : n;
  }
  function aprjpoint(other) {
    if (!(other instanceof Point))
      throw new Error("Weierstrass Point expected");
  }
  function splitEndoScalarN(k) {
    if (!endo || !endo.basises)
      throw new Error("no endo");
    return _splitEndoScalar(k, endo.basises, Fn.ORDER);
  }
  function pushWnafPair(points, scalars, p, k) {
    if (!Fn.isValid(k))
      throw new RangeError("invalid scalar: out of range");
    if (endo) {
      const { k1neg, k1, k2neg, k2 } = splitEndoScalarN(k);
      const psi = new Point(Fp3.mul(p.X, endo.beta), p.Y, p.Z);
      points.push(k1neg ? p.negate() : p, k2neg ? psi.negate() : psi);
      scalars.push(k1, k2);
    } else {
      points.push(p);
      scalars.push(k);
    }
  }
  const validityCache = /* @__PURE__ */ new WeakSet();
  class Point {
    static BASE = new Point(CURVE.Gx, CURVE.Gy, Fp3.ONE);
    static ZERO = new Point(Fp3.ZERO, Fp3.ONE, Fp3.ZERO);
    static Fp = Fp3;
    static Fn = Fn;
    X;
    Y;
    Z;
    /** Does NOT validate if the point is valid. Use `.assertValidity()`. */
    constructor(X, Y, Z) {
      this.X = acoord("x", X);
      this.Y = acoord("y", Y, true);
      this.Z = acoord("z", Z);
      Object.freeze(this);
    }
    static CURVE() {
      return CURVE;
    }
    /** Does NOT validate if the point is valid. Use `.assertValidity()`. */
    static fromAffine(p) {
      const { x, y } = p || {};
      if (!p || !Fp3.isValid(x) || !Fp3.isValid(y))
        throw new Error("invalid affine point");
      if (p instanceof Point)
        throw new Error("projective point not allowed");
      if (Fp3.is0(x) && Fp3.is0(y))
        return Point.ZERO;
      return new Point(x, y, Fp3.ONE);
    }
    static fromBytes(bytes) {
      const P = Point.fromAffine(decodePoint(abytes2(bytes, void 0, "point")));
      P.assertValidity();
      return P;
    }
    static fromHex(hex) {
      return Point.fromBytes(hexToBytes2(hex));
    }
    get x() {
      return this.toAffine().x;
    }
    get y() {
      return this.toAffine().y;
    }
    /**
     * @param isLazy - true will defer table computation until the first multiplication
     */
    precompute(windowSize = 6, isLazy = true) {
      wnaf.setWindowSize(this, windowSize);
      if (!isLazy)
        this.multiply(_3n3);
      return this;
    }
    // TODO: return `this`
    /** A point on curve is valid if it conforms to equation. */
    assertValidity() {
      const p = this;
      if (p.is0()) {
        if (allowInfinityPoint && Fp3.is0(p.X) && Fp3.eql(p.Y, Fp3.ONE) && Fp3.is0(p.Z))
          return;
        throw new Error("bad point: ZERO");
      }
      if (validityCache.has(p))
        return;
      const { x, y } = p.toAffine();
      if (!Fp3.isValid(x) || !Fp3.isValid(y))
        throw new Error("bad point: x or y not field elements");
      if (!isValidXY(x, y))
        throw new Error("bad point: equation left != right");
      if (!p.isTorsionFree())
        throw new Error("bad point: not in prime-order subgroup");
      validityCache.add(p);
    }
    hasEvenY() {
      const { y } = this.toAffine();
      if (!Fp3.isOdd)
        throw new Error("Field doesn't support isOdd");
      return !Fp3.isOdd(y);
    }
    /** Compare one point to another. */
    equals(other) {
      aprjpoint(other);
      const { X: X1, Y: Y1, Z: Z1 } = this;
      const { X: X2, Y: Y2, Z: Z2 } = other;
      const U1 = Fp3.eql(Fp3.mul(X1, Z2), Fp3.mul(X2, Z1));
      const U2 = Fp3.eql(Fp3.mul(Y1, Z2), Fp3.mul(Y2, Z1));
      return U1 && U2;
    }
    /** Flips point to one corresponding to (x, -y) in Affine coordinates. */
    negate() {
      return new Point(this.X, Fp3.neg(this.Y), this.Z);
    }
    // Renes-Costello-Batina exception-free doubling formula.
    // There is 30% faster Jacobian formula, but it is not complete.
    // https://eprint.iacr.org/2015/1060, algorithm 3
    // Cost: 8M + 3S + 3*a + 2*b3 + 15add.
    double() {
      const { X: X1, Y: Y1, Z: Z1 } = this;
      let X3 = Fp3.ZERO, Y3 = Fp3.ZERO, Z3 = Fp3.ZERO;
      let t0 = Fp3.mul(X1, X1);
      let t1 = Fp3.mul(Y1, Y1);
      let t2 = Fp3.mul(Z1, Z1);
      let t3 = Fp3.mul(X1, Y1);
      t3 = Fp3.add(t3, t3);
      Z3 = Fp3.mul(X1, Z1);
      Z3 = Fp3.add(Z3, Z3);
      X3 = mulA(Z3);
      Y3 = Fp3.mul(b3, t2);
      Y3 = Fp3.add(X3, Y3);
      X3 = Fp3.sub(t1, Y3);
      Y3 = Fp3.add(t1, Y3);
      Y3 = Fp3.mul(X3, Y3);
      X3 = Fp3.mul(t3, X3);
      Z3 = Fp3.mul(b3, Z3);
      t2 = mulA(t2);
      t3 = Fp3.sub(t0, t2);
      t3 = mulA(t3);
      t3 = Fp3.add(t3, Z3);
      Z3 = Fp3.add(t0, t0);
      t0 = Fp3.add(Z3, t0);
      t0 = Fp3.add(t0, t2);
      t0 = Fp3.mul(t0, t3);
      Y3 = Fp3.add(Y3, t0);
      t2 = Fp3.mul(Y1, Z1);
      t2 = Fp3.add(t2, t2);
      t0 = Fp3.mul(t2, t3);
      X3 = Fp3.sub(X3, t0);
      Z3 = Fp3.mul(t2, t1);
      Z3 = Fp3.add(Z3, Z3);
      Z3 = Fp3.add(Z3, Z3);
      return new Point(X3, Y3, Z3);
    }
    // Renes-Costello-Batina exception-free addition formula.
    // There is 30% faster Jacobian formula, but it is not complete.
    // https://eprint.iacr.org/2015/1060, algorithm 1
    // Cost: 12M + 0S + 3*a + 3*b3 + 23add.
    add(other) {
      aprjpoint(other);
      const { X: X1, Y: Y1, Z: Z1 } = this;
      const { X: X2, Y: Y2, Z: Z2 } = other;
      let X3 = Fp3.ZERO, Y3 = Fp3.ZERO, Z3 = Fp3.ZERO;
      let t0 = Fp3.mul(X1, X2);
      let t1 = Fp3.mul(Y1, Y2);
      let t2 = Fp3.mul(Z1, Z2);
      let t3 = Fp3.add(X1, Y1);
      let t4 = Fp3.add(X2, Y2);
      t3 = Fp3.mul(t3, t4);
      t4 = Fp3.add(t0, t1);
      t3 = Fp3.sub(t3, t4);
      t4 = Fp3.add(X1, Z1);
      let t5 = Fp3.add(X2, Z2);
      t4 = Fp3.mul(t4, t5);
      t5 = Fp3.add(t0, t2);
      t4 = Fp3.sub(t4, t5);
      t5 = Fp3.add(Y1, Z1);
      X3 = Fp3.add(Y2, Z2);
      t5 = Fp3.mul(t5, X3);
      X3 = Fp3.add(t1, t2);
      t5 = Fp3.sub(t5, X3);
      Z3 = mulA(t4);
      X3 = Fp3.mul(b3, t2);
      Z3 = Fp3.add(X3, Z3);
      X3 = Fp3.sub(t1, Z3);
      Z3 = Fp3.add(t1, Z3);
      Y3 = Fp3.mul(X3, Z3);
      t1 = Fp3.add(t0, t0);
      t1 = Fp3.add(t1, t0);
      t2 = mulA(t2);
      t4 = Fp3.mul(b3, t4);
      t1 = Fp3.add(t1, t2);
      t2 = Fp3.sub(t0, t2);
      t2 = mulA(t2);
      t4 = Fp3.add(t4, t2);
      t0 = Fp3.mul(t1, t4);
      Y3 = Fp3.add(Y3, t0);
      t0 = Fp3.mul(t5, t4);
      X3 = Fp3.mul(t3, X3);
      X3 = Fp3.sub(X3, t0);
      t0 = Fp3.mul(t3, t1);
      Z3 = Fp3.mul(t5, Z3);
      Z3 = Fp3.add(Z3, t0);
      return new Point(X3, Y3, Z3);
    }
    subtract(other) {
      aprjpoint(other);
      return this.add(other.negate());
    }
    is0() {
      return this.equals(Point.ZERO);
    }
    /**
     * Constant time multiplication.
     * Uses precomputed tables (signed fixed-window wNAF) when available.
     * Uses scalar blinding and avoids endomorphism splitting in the secret-scalar path.
     * @param scalar - by which the point would be multiplied
     * @returns New point
     */
    multiply(scalar) {
      if (!Fn.isValidNot0(scalar))
        throw new RangeError("invalid scalar: out of range");
      const { p, f } = wnaf.mulSecret(this, scalar, cofactor, normalize);
      return normalize([p, f])[0];
    }
    /**
     * Non-constant-time multiplication. Uses width-4 wNAF with GLV endomorphism splitting
     * when available (two half-width scalars sharing one halved doubling chain).
     * It's faster, but should only be used when you don't care about
     * an exposed secret key e.g. sig verification, which works over *public* keys.
     */
    multiplyUnsafe(scalar) {
      const p = this;
      const sc = scalar;
      if (!Fn.isValid(sc))
        throw new RangeError("invalid scalar: out of range");
      if (sc === _0n6 || p.is0())
        return Point.ZERO;
      if (sc === _1n7)
        return p;
      if (wnaf.hasWindowSize(this))
        return wnaf.mulUnsafe(p, sc, normalize);
      const points = [];
      const scalars = [];
      pushWnafPair(points, scalars, p, sc);
      return mulAddUnsafe(Point, points, scalars);
    }
    /**
     * Non-constant-time double-scalar multiplication `a⋅this + b⋅other` (Strauss–Shamir).
     * Both walks share one doubling chain via {@link mulAddUnsafe}, and GLV endomorphism
     * (when available) halves the chain again by splitting each scalar into two half-width
     * parts. Used by ECDSA verification and public-key recovery for `R = u1⋅G + u2⋅P`.
     * Only for public scalars.
     */
    mulAddUnsafe(a, other, b) {
      aprjpoint(other);
      const points = [];
      const scalars = [];
      pushWnafPair(points, scalars, this, a);
      pushWnafPair(points, scalars, other, b);
      return mulAddUnsafe(Point, points, scalars);
    }
    /**
     * Converts Projective point to affine (x, y) coordinates.
     * (X, Y, Z) ∋ (x=X/Z, y=Y/Z).
     * @param invertedZ - Z^-1 (inverted zero) - optional, precomputation is useful for invertBatch
     */
    toAffine(invertedZ) {
      const p = this;
      let iz = invertedZ;
      if (iz != null && !Fp3.isValid(iz))
        throw new RangeError('"invertedZ" expected valid field element');
      const { X, Y, Z } = p;
      if (Fp3.eql(Z, Fp3.ONE))
        return { x: X, y: Y };
      const is0 = p.is0();
      if (iz == null)
        iz = is0 ? Fp3.ONE : Fp3.inv(Z);
      const x = Fp3.mul(X, iz);
      const y = Fp3.mul(Y, iz);
      const zz = Fp3.mul(Z, iz);
      if (is0)
        return { x: Fp3.ZERO, y: Fp3.ZERO };
      if (!Fp3.eql(zz, Fp3.ONE))
        throw new Error("invZ was invalid");
      return { x, y };
    }
    /**
     * Checks whether Point is free of torsion elements (is in prime subgroup).
     * Always torsion-free for cofactor=1 curves.
     */
    isTorsionFree() {
      if (cofactor === _1n7)
        return true;
      if (isTorsionFree)
        return isTorsionFree(Point, this);
      return wnaf.mulUnsafe(this, CURVE_ORDER).is0();
    }
    clearCofactor() {
      if (cofactor === _1n7)
        return this;
      if (clearCofactor)
        return clearCofactor(Point, this);
      return this.multiplyUnsafe(cofactor);
    }
    isSmallOrder() {
      if (cofactor === _1n7)
        return this.is0();
      return this.clearCofactor().is0();
    }
    toBytes(isCompressed = true) {
      abool(isCompressed, "isCompressed");
      this.assertValidity();
      return encodePoint(Point, this, isCompressed);
    }
    toHex(isCompressed = true) {
      return bytesToHex2(this.toBytes(isCompressed));
    }
    toString() {
      return `<Point ${this.is0() ? "ZERO" : this.toHex()}>`;
    }
  }
  const normalize = (points) => normalizeZ(Point, points);
  const wnaf = new ScalarMultiplier(Point, randomBytes4);
  if (wnaf.bits >= 6)
    Point.BASE.precompute(6);
  Object.freeze(Point.prototype);
  Object.freeze(Point);
  return Point;
}
function pprefix(hasEvenY) {
  return Uint8Array.of(hasEvenY ? 2 : 3);
}
function getWLengths(Fp3, Fn) {
  return {
    secretKey: Fn.BYTES,
    publicKey: 1 + Fp3.BYTES,
    publicKeyUncompressed: 1 + 2 * Fp3.BYTES,
    publicKeyHasPrefix: true,
    // Raw compact `(r || s)` signature width; DER and recovered signatures use
    // different lengths outside this helper.
    signature: 2 * Fn.BYTES
  };
}

// node_modules/@noble/curves/abstract/bls.js
/*! noble-curves - MIT License (c) 2022 Paul Miller (paulmillr.com) */
var _0n7 = BigInt(0);
var _1n8 = BigInt(1);
var _2n6 = BigInt(2);
var _3n4 = BigInt(3);
function NAfDecomposition(a) {
  const res = [];
  for (; a > _1n8; a >>= _1n8) {
    if ((a & _1n8) === _0n7)
      res.unshift(0);
    else if ((a & _3n4) === _3n4) {
      res.unshift(-1);
      a += _1n8;
    } else
      res.unshift(1);
  }
  return res;
}
function aNonEmpty(arr) {
  if (!Array.isArray(arr) || arr.length === 0)
    throw new Error("expected non-empty array");
}
function createBlsPairing(fields2, G1, G2, params) {
  validateObject(fields2, { Fp: "object", Fr: "object", Fp2: "object", Fp12: "object" }, { Fp6: "object" }, "fields");
  if (typeof G1 !== "function")
    throw new TypeError('"G1_Point" expected point constructor, got type=' + typeof G1);
  if (typeof G2 !== "function")
    throw new TypeError('"G2_Point" expected point constructor, got type=' + typeof G2);
  validateObject(params, { ateLoopSize: "bigint", xNegative: "boolean", twistType: "string" }, { randomBytes: "function", postPrecompute: "function" }, "params");
  const { Fp: Fp3, Fr, Fp2: Fp23, Fp12: Fp122 } = fields2;
  const { twistType, ateLoopSize, xNegative, postPrecompute } = params;
  const fp22 = (c0, c1) => ({ c0, c1 });
  const fp2f = ({ c0, c1 }) => Object.freeze({ c0, c1 });
  const add2 = (a, b) => fp22(Fp3.add(a.c0, b.c0), Fp3.add(a.c1, b.c1));
  const sub2 = (a, b) => fp22(Fp3.sub(a.c0, b.c0), Fp3.sub(a.c1, b.c1));
  const mul2 = (a, b) => {
    const t0 = Fp3.mul(a.c0, b.c0);
    const t1 = Fp3.mul(a.c1, b.c1);
    return fp22(Fp3.sub(t0, t1), Fp3.sub(Fp3.mul(Fp3.add(a.c0, a.c1), Fp3.add(b.c0, b.c1)), Fp3.add(t0, t1)));
  };
  const mul2ByFp = (a, rhs) => fp22(Fp3.mul(a.c0, rhs), Fp3.mul(a.c1, rhs));
  const mul2ByNonresidue = (a) => Fp23.mulByNonresidue(a);
  const mul014ByLine = ({ c0: f0, c1: f1 }, o0, l1, l4, Px, Py) => {
    const o1 = mul2ByFp(l1, Px);
    const o4 = mul2ByFp(l4, Py);
    const { c0: a0, c1: a1, c2: a2 } = f0;
    const { c0: b0, c1: b1, c2: b2 } = f1;
    const t0_0 = mul2(a0, o0);
    const t0_1 = mul2(a1, o1);
    const t0_c0 = add2(mul2ByNonresidue(sub2(mul2(add2(a1, a2), o1), t0_1)), t0_0);
    const t0_c1 = sub2(sub2(mul2(add2(o0, o1), add2(a0, a1)), t0_0), t0_1);
    const t0_c2 = add2(sub2(mul2(add2(a0, a2), o0), t0_0), t0_1);
    const t1_c0 = mul2ByNonresidue(mul2(b2, o4));
    const t1_c1 = mul2(b0, o4);
    const t1_c2 = mul2(b1, o4);
    const s0 = add2(a0, b0);
    const s1 = add2(a1, b1);
    const s2 = add2(a2, b2);
    const o14 = add2(o1, o4);
    const t2_0 = mul2(s0, o0);
    const t2_1 = mul2(s1, o14);
    const t2_c0 = add2(mul2ByNonresidue(sub2(mul2(add2(s1, s2), o14), t2_1)), t2_0);
    const t2_c1 = sub2(sub2(mul2(add2(o0, o14), add2(s0, s1)), t2_0), t2_1);
    const t2_c2 = add2(sub2(mul2(add2(s0, s2), o0), t2_0), t2_1);
    return Object.freeze({
      c0: Object.freeze({
        c0: fp2f(add2(mul2ByNonresidue(t1_c2), t0_c0)),
        c1: fp2f(add2(t1_c0, t0_c1)),
        c2: fp2f(add2(t1_c1, t0_c2))
      }),
      c1: Object.freeze({
        c0: fp2f(sub2(sub2(t2_c0, t0_c0), t1_c0)),
        c1: fp2f(sub2(sub2(t2_c1, t0_c1), t1_c1)),
        c2: fp2f(sub2(sub2(t2_c2, t0_c2), t1_c2))
      })
    });
  };
  const mul034ByLine = ({ c0: f0, c1: f1 }, l0, l3, o4, Px, Py) => {
    const o0 = mul2ByFp(l0, Py);
    const o3 = mul2ByFp(l3, Px);
    const { c0: a0, c1: a1, c2: a2 } = f0;
    const { c0: b0, c1: b1, c2: b2 } = f1;
    const a_c0 = mul2(a0, o0);
    const a_c1 = mul2(a1, o0);
    const a_c2 = mul2(a2, o0);
    const b0m = mul2(b0, o3);
    const b1m = mul2(b1, o4);
    const b_c0 = add2(mul2ByNonresidue(sub2(mul2(add2(b1, b2), o4), b1m)), b0m);
    const b_c1 = sub2(sub2(mul2(add2(o3, o4), add2(b0, b1)), b0m), b1m);
    const b_c2 = add2(sub2(mul2(add2(b0, b2), o3), b0m), b1m);
    const s0 = add2(a0, b0);
    const s1 = add2(a1, b1);
    const s2 = add2(a2, b2);
    const o03 = add2(o0, o3);
    const e0m = mul2(s0, o03);
    const e1m = mul2(s1, o4);
    const e_c0 = add2(mul2ByNonresidue(sub2(mul2(add2(s1, s2), o4), e1m)), e0m);
    const e_c1 = sub2(sub2(mul2(add2(o03, o4), add2(s0, s1)), e0m), e1m);
    const e_c2 = add2(sub2(mul2(add2(s0, s2), o03), e0m), e1m);
    return Object.freeze({
      c0: Object.freeze({
        c0: fp2f(add2(mul2ByNonresidue(b_c2), a_c0)),
        c1: fp2f(add2(b_c0, a_c1)),
        c2: fp2f(add2(b_c1, a_c2))
      }),
      c1: Object.freeze({
        c0: fp2f(sub2(sub2(e_c0, a_c0), b_c0)),
        c1: fp2f(sub2(sub2(e_c1, a_c1), b_c1)),
        c2: fp2f(sub2(sub2(e_c2, a_c2), b_c2))
      })
    });
  };
  let lineFunction;
  if (twistType === "multiplicative") {
    lineFunction = (c0, c1, c2, f, Px, Py) => mul014ByLine(f, c0, c1, c2, Px, Py);
  } else if (twistType === "divisive") {
    lineFunction = (c0, c1, c2, f, Px, Py) => mul034ByLine(f, c2, c1, c0, Px, Py);
  } else
    throw new Error("bls: unknown twist type");
  const Fp2div2 = Fp23.div(Fp23.ONE, Fp23.mul(Fp23.ONE, _2n6));
  function pointDouble(ell, Rx, Ry, Rz) {
    const t0 = Fp23.sqr(Ry);
    const t1 = Fp23.sqr(Rz);
    const t2 = Fp23.mulByB(Fp23.mul(t1, _3n4));
    const t3 = Fp23.mul(t2, _3n4);
    const t4 = Fp23.sub(Fp23.sub(Fp23.sqr(Fp23.add(Ry, Rz)), t1), t0);
    const c0 = Fp23.sub(t2, t0);
    const c1 = Fp23.mul(Fp23.sqr(Rx), _3n4);
    const c2 = Fp23.neg(t4);
    ell.push([c0, c1, c2]);
    Rx = Fp23.mul(Fp23.mul(Fp23.mul(Fp23.sub(t0, t3), Rx), Ry), Fp2div2);
    Ry = Fp23.sub(Fp23.sqr(Fp23.mul(Fp23.add(t0, t3), Fp2div2)), Fp23.mul(Fp23.sqr(t2), _3n4));
    Rz = Fp23.mul(t0, t4);
    return { Rx, Ry, Rz };
  }
  function pointAdd(ell, Rx, Ry, Rz, Qx, Qy) {
    const t0 = Fp23.sub(Ry, Fp23.mul(Qy, Rz));
    const t1 = Fp23.sub(Rx, Fp23.mul(Qx, Rz));
    const c0 = Fp23.sub(Fp23.mul(t0, Qx), Fp23.mul(t1, Qy));
    const c1 = Fp23.neg(t0);
    const c2 = t1;
    ell.push([c0, c1, c2]);
    const t2 = Fp23.sqr(t1);
    const t3 = Fp23.mul(t2, t1);
    const t4 = Fp23.mul(t2, Rx);
    const t5 = Fp23.add(Fp23.sub(t3, Fp23.mul(t4, _2n6)), Fp23.mul(Fp23.sqr(t0), Rz));
    Rx = Fp23.mul(t1, t5);
    Ry = Fp23.sub(Fp23.mul(Fp23.sub(t4, t5), t0), Fp23.mul(t3, Ry));
    Rz = Fp23.mul(Rz, t3);
    return { Rx, Ry, Rz };
  }
  const ATE_NAF = NAfDecomposition(ateLoopSize);
  const calcPairingPrecomputes = (point) => {
    if (!(point instanceof G2))
      throw new TypeError('"point" expected G2 point, got type=' + typeof point);
    const p = point;
    const { x, y } = p.toAffine();
    const Qx = x, Qy = y, negQy = Fp23.neg(y);
    let Rx = Qx, Ry = Qy, Rz = Fp23.ONE;
    const ell = [];
    for (const bit of ATE_NAF) {
      const cur = [];
      ({ Rx, Ry, Rz } = pointDouble(cur, Rx, Ry, Rz));
      if (bit)
        ({ Rx, Ry, Rz } = pointAdd(cur, Rx, Ry, Rz, Qx, bit === -1 ? negQy : Qy));
      ell.push(cur);
    }
    if (postPrecompute) {
      const last = ell[ell.length - 1];
      postPrecompute(Rx, Ry, Rz, Qx, Qy, pointAdd.bind(null, last));
    }
    return ell;
  };
  function millerLoopBatch(pairs, withFinalExponent = false) {
    aarray(pairs, "pairs", (pair, title) => {
      aarray(pair, title);
      if (pair.length !== 3)
        throw new TypeError(`"${title}" expected precompute tuple`);
      aarray(pair[0], title + "[0]");
    });
    let f12 = Fp122.ONE;
    if (pairs.length) {
      const ellLen = pairs[0][0].length;
      for (let i = 0; i < ellLen; i++) {
        if (i !== 0)
          f12 = Fp122.sqr(f12);
        for (const [ell, Px, Py] of pairs) {
          for (const [c0, c1, c2] of ell[i])
            f12 = lineFunction(c0, c1, c2, f12, Px, Py);
        }
      }
    }
    if (xNegative)
      f12 = Fp122.conjugate(f12);
    return withFinalExponent ? Fp122.finalExponentiate(f12) : f12;
  }
  function pairingBatch(pairs, withFinalExponent = true) {
    aarray(pairs, "pairs");
    const res = [];
    for (let i = 0; i < pairs.length; i++) {
      const pair = pairs[i];
      validateObject(pair, { g1: "object", g2: "object" }, {}, "pairs[" + i + "]");
      const { g1: g12, g2: g22 } = pair;
      if (!(g12 instanceof G1))
        throw new TypeError('"pairs[' + i + '].g1" expected G1 point, got type=' + typeof g12);
      if (!(g22 instanceof G2))
        throw new TypeError('"pairs[' + i + '].g2" expected G2 point, got type=' + typeof g22);
      if (g12.is0() || g22.is0())
        throw new Error("pairing is not available for ZERO point");
      g12.assertValidity();
      g22.assertValidity();
      const Qa = g12.toAffine();
      res.push([calcPairingPrecomputes(g22), Qa.x, Qa.y]);
    }
    return millerLoopBatch(res, withFinalExponent);
  }
  function pairing(Q, P, withFinalExponent = true) {
    if (!(Q instanceof G1))
      throw new TypeError('"Q" expected G1 point, got type=' + typeof Q);
    if (!(P instanceof G2))
      throw new TypeError('"P" expected G2 point, got type=' + typeof P);
    return pairingBatch([{ g1: Q, g2: P }], withFinalExponent);
  }
  const lengths = {
    seed: getMinHashLength(Fr.ORDER)
  };
  const rand = params.randomBytes === void 0 ? randomBytes2 : params.randomBytes;
  const randomSecretKey = (seed) => {
    seed = seed === void 0 ? rand(lengths.seed) : seed;
    abytes2(seed, lengths.seed, "seed");
    return mapHashToField(seed, Fr.ORDER);
  };
  Object.freeze(lengths);
  return {
    lengths,
    Fr,
    Fp12: Fp122,
    // NOTE: we re-export Fp12 here because pairing results are Fp12!
    millerLoopBatch,
    pairing,
    pairingBatch,
    calcPairingPrecomputes,
    randomSecretKey
  };
}
function createBlsSig(blsPairing, PubPoint, SigPoint, isSigG1, hashToSigCurve, SignatureCoder) {
  const { Fr, Fp12: Fp122, pairingBatch, randomSecretKey, lengths } = blsPairing;
  if (!SignatureCoder) {
    SignatureCoder = {
      fromBytes: notImplemented,
      fromHex: notImplemented,
      toBytes: notImplemented,
      toHex: notImplemented
    };
  }
  const sigCoder = Object.freeze({ ...SignatureCoder });
  function normPub(point) {
    return point instanceof PubPoint ? point : PubPoint.fromBytes(point);
  }
  function normSig(point) {
    return point instanceof SigPoint ? point : sigCoder.fromBytes(point);
  }
  function amsg(m) {
    if (!(m instanceof SigPoint))
      throw new Error(`expected valid message hashed to ${!isSigG1 ? "G2" : "G1"} curve`);
    return m;
  }
  const pair = !isSigG1 ? (a, b) => ({ g1: a, g2: b }) : (a, b) => ({ g1: b, g2: a });
  return Object.freeze({
    lengths: Object.freeze({ ...lengths, secretKey: Fr.BYTES }),
    keygen(seed) {
      const secretKey = randomSecretKey(seed);
      const publicKey = this.getPublicKey(secretKey);
      return { secretKey, publicKey };
    },
    // P = pk x G
    getPublicKey(secretKey) {
      let sec;
      try {
        sec = PubPoint.Fn.fromBytes(secretKey);
      } catch (error) {
        throw new Error("invalid private key: " + typeof secretKey, { cause: error });
      }
      return PubPoint.BASE.multiply(sec);
    },
    // S = pk x H(m)
    sign(message, secretKey, unusedArg) {
      if (unusedArg != null)
        throw new Error("sign() expects 2 arguments");
      const sec = PubPoint.Fn.fromBytes(secretKey);
      amsg(message).assertValidity();
      return message.multiply(sec);
    },
    // Checks if pairing of public key & hash is equal to pairing of generator & signature.
    // e(P, H(m)) == e(G, S)
    // e(S, G) == e(H(m), P)
    verify(signature, message, publicKey, unusedArg) {
      if (unusedArg != null)
        throw new Error("verify() expects 3 arguments");
      signature = normSig(signature);
      publicKey = normPub(publicKey);
      const P = publicKey.negate();
      const G = PubPoint.BASE;
      const Hm = amsg(message);
      const S = signature;
      try {
        const exp = pairingBatch([pair(P, Hm), pair(G, S)]);
        return Fp122.eql(exp, Fp122.ONE);
      } catch {
        return false;
      }
    },
    // https://ethresear.ch/t/fast-verification-of-multiple-bls-signatures/5407
    // e(G, S) = e(G, SUM(n)(Si)) = MUL(n)(e(G, Si))
    // TODO: maybe `{message: G2Hex, publicKey: G1Hex}[]` instead?
    verifyBatch(signature, items) {
      aNonEmpty(items);
      const sig = normSig(signature);
      const nMessages = items.map((i) => amsg(i.message));
      const nPublicKeys = items.map((i) => normPub(i.publicKey));
      const messagePubKeyMap = /* @__PURE__ */ new Map();
      for (let i = 0; i < nPublicKeys.length; i++) {
        const pub = nPublicKeys[i];
        const msg = nMessages[i];
        let keys = messagePubKeyMap.get(msg);
        if (keys === void 0) {
          keys = [];
          messagePubKeyMap.set(msg, keys);
        }
        keys.push(pub);
      }
      const paired = [];
      const G = PubPoint.BASE;
      try {
        for (const [msg, keys] of messagePubKeyMap) {
          const groupPublicKey = keys.reduce((acc, msg2) => acc.add(msg2));
          paired.push(pair(groupPublicKey, msg));
        }
        paired.push(pair(G.negate(), sig));
        return Fp122.eql(pairingBatch(paired), Fp122.ONE);
      } catch {
        return false;
      }
    },
    // Adds a bunch of public key points together.
    // pk1 + pk2 + pk3 = pkA
    aggregatePublicKeys(publicKeys) {
      aNonEmpty(publicKeys);
      publicKeys = publicKeys.map((pub) => normPub(pub));
      const agg = publicKeys.reduce((sum, p) => sum.add(p), PubPoint.ZERO);
      agg.assertValidity();
      return agg;
    },
    // Adds a bunch of signature points together.
    // pk1 + pk2 + pk3 = pkA
    aggregateSignatures(signatures) {
      aNonEmpty(signatures);
      signatures = signatures.map((sig) => normSig(sig));
      const agg = signatures.reduce((sum, s) => sum.add(s), SigPoint.ZERO);
      agg.assertValidity();
      return agg;
    },
    hash(messageBytes, DST) {
      abytes2(messageBytes);
      const opts = DST === void 0 ? void 0 : { DST };
      return hashToSigCurve(messageBytes, opts);
    },
    Signature: Object.freeze({ ...sigCoder })
  });
}
function blsBasic(fields2, G1_Point2, G2_Point2, params) {
  const { Fp: Fp3, Fr, Fp2: Fp23, Fp6: Fp62, Fp12: Fp122 } = fields2;
  const G1 = { Point: G1_Point2 };
  const G2 = { Point: G2_Point2 };
  const pairingRes = createBlsPairing(fields2, G1_Point2, G2_Point2, params);
  const { millerLoopBatch, pairing, pairingBatch, calcPairingPrecomputes, randomSecretKey, lengths } = pairingRes;
  G1.Point.BASE.precompute(4);
  Object.freeze(G1);
  Object.freeze(G2);
  return Object.freeze({
    lengths: Object.freeze(lengths),
    millerLoopBatch,
    pairing,
    pairingBatch,
    G1,
    G2,
    fields: Object.freeze({ Fr, Fp: Fp3, Fp2: Fp23, Fp6: Fp62, Fp12: Fp122 }),
    params: Object.freeze({
      ateLoopSize: params.ateLoopSize,
      xNegative: params.xNegative,
      twistType: params.twistType,
      postPrecompute: params.postPrecompute
    }),
    utils: Object.freeze({
      randomSecretKey,
      calcPairingPrecomputes
    })
  });
}
function blsHashers(fields2, G1_Point2, G2_Point2, params, hasherParams) {
  const base = blsBasic(fields2, G1_Point2, G2_Point2, params);
  validateObject(hasherParams, { hasherOpts: "object", hasherOptsG1: "object", hasherOptsG2: "object" }, { mapToG1: "function", mapToG2: "function" }, "hasherParams");
  const G1Hasher = createHasher2(G1_Point2, hasherParams.mapToG1 === void 0 ? notImplemented : hasherParams.mapToG1, {
    ...hasherParams.hasherOpts,
    ...hasherParams.hasherOptsG1
  });
  const G2Hasher = createHasher2(G2_Point2, hasherParams.mapToG2 === void 0 ? notImplemented : hasherParams.mapToG2, {
    ...hasherParams.hasherOpts,
    ...hasherParams.hasherOptsG2
  });
  return Object.freeze({ ...base, G1: G1Hasher, G2: G2Hasher });
}
function bls(fields2, G1_Point2, G2_Point2, params, hasherParams, signatureCoders2) {
  const base = blsHashers(fields2, G1_Point2, G2_Point2, params, hasherParams);
  const pairingRes = {
    ...base,
    Fr: base.fields.Fr,
    Fp12: base.fields.Fp12,
    calcPairingPrecomputes: base.utils.calcPairingPrecomputes,
    randomSecretKey: base.utils.randomSecretKey
  };
  const longSignatures = createBlsSig(pairingRes, G1_Point2, G2_Point2, false, base.G2.hashToCurve, signatureCoders2?.LongSignature);
  const shortSignatures = createBlsSig(pairingRes, G2_Point2, G1_Point2, true, base.G1.hashToCurve, signatureCoders2?.ShortSignature);
  return Object.freeze({ ...base, longSignatures, shortSignatures });
}

// node_modules/@noble/curves/abstract/tower.js
/*! noble-curves - MIT License (c) 2022 Paul Miller (paulmillr.com) */
var _0n8 = /* @__PURE__ */ BigInt(0);
var _1n9 = /* @__PURE__ */ BigInt(1);
var _2n7 = /* @__PURE__ */ BigInt(2);
var _3n5 = /* @__PURE__ */ BigInt(3);
var _6n = /* @__PURE__ */ BigInt(6);
var _12n = /* @__PURE__ */ BigInt(12);
var isObj = (value) => !!value && typeof value === "object";
function calcFrobeniusCoefficients(Fp3, nonResidue, modulus, degree, num = 1, divisor) {
  asafenumber(num, "num");
  asafenumber(degree, "degree");
  const divisorN = divisor === void 0 ? degree : divisor;
  asafenumber(divisorN, "divisor");
  const F = Fp3;
  if (typeof modulus !== "bigint" || modulus <= _1n9)
    throw new Error("calcFrobeniusCoefficients: expected valid modulus, got " + modulus);
  if (degree <= 0)
    throw new Error("calcFrobeniusCoefficients: expected positive degree, got " + degree);
  if (num <= 0)
    throw new Error("calcFrobeniusCoefficients: expected positive row count, got " + num);
  if (divisorN <= 0)
    throw new Error("calcFrobeniusCoefficients: expected positive divisor, got " + divisorN);
  const _divisor = BigInt(divisorN);
  const towerModulus = modulus ** BigInt(degree);
  const res = [];
  for (let i = 0; i < num; i++) {
    const a = BigInt(i + 1);
    const powers = [];
    for (let j = 0, qPower = _1n9; j < degree; j++) {
      const numer = a * qPower - a;
      if (numer % _divisor)
        throw new Error("calcFrobeniusCoefficients: inexact tower exponent");
      const power2 = numer / _divisor % towerModulus;
      powers.push(F.pow(nonResidue, power2));
      qPower *= modulus;
    }
    res.push(powers);
  }
  return res;
}
function psiFrobenius(Fp3, Fp23, base) {
  validateField(Fp3);
  validateField(Fp23);
  validateObject(Fp23, {
    Fp: "object",
    frobeniusMap: "function",
    fromBigTuple: "function",
    mulByB: "function",
    mulByNonresidue: "function",
    reim: "function",
    Fp4Square: "function",
    NONRESIDUE: "object"
  }, {});
  if (!isObj(base) || Array.isArray(base))
    throw new TypeError('"base" expected Fp2 element, got type=' + typeof base);
  if (!Fp23.isValid(base))
    throw new RangeError('"base" expected valid Fp2 element');
  const PSI_X = Fp23.pow(base, (Fp3.ORDER - _1n9) / _3n5);
  const PSI_Y = Fp23.pow(base, (Fp3.ORDER - _1n9) / _2n7);
  function psi(x, y) {
    const x2 = Fp23.mul(Fp23.frobeniusMap(x, 1), PSI_X);
    const y2 = Fp23.mul(Fp23.frobeniusMap(y, 1), PSI_Y);
    return [x2, y2];
  }
  const PSI2_X = Fp23.pow(base, (Fp3.ORDER ** _2n7 - _1n9) / _3n5);
  const PSI2_Y = Fp23.pow(base, (Fp3.ORDER ** _2n7 - _1n9) / _2n7);
  if (!Fp23.eql(PSI2_Y, Fp23.neg(Fp23.ONE)))
    throw new Error("psiFrobenius: PSI2_Y!==-1");
  function psi2(x, y) {
    return [Fp23.mul(x, PSI2_X), Fp23.neg(y)];
  }
  const mapAffine = (fn) => (c, P) => {
    if (typeof c !== "function")
      throw new TypeError('"c" expected point constructor, got type=' + typeof c);
    validatePointCons(c);
    if (!(P instanceof c))
      throw new TypeError('"P" expected Point instance, got type=' + typeof P);
    const affine = P.toAffine();
    const p = fn(affine.x, affine.y);
    return c.fromAffine({ x: p[0], y: p[1] });
  };
  const G2psi3 = mapAffine(psi);
  const G2psi22 = mapAffine(psi2);
  return { psi, psi2, G2psi: G2psi3, G2psi2: G2psi22, PSI_X, PSI_Y, PSI2_X, PSI2_Y };
}
var _Field2 = class {
  ORDER;
  BITS;
  BYTES;
  isLE;
  ZERO;
  ONE;
  Fp;
  NONRESIDUE;
  mulByB;
  Fp_NONRESIDUE;
  Fp_div2;
  constructor(Fp3, opts = {}) {
    const { NONRESIDUE = BigInt(-1), FP2_NONRESIDUE, Fp2mulByB } = opts;
    const ORDER = Fp3.ORDER;
    const FP2_ORDER = ORDER * ORDER;
    this.Fp = Fp3;
    this.ORDER = FP2_ORDER;
    this.BITS = bitLen(FP2_ORDER);
    this.BYTES = Math.ceil(bitLen(FP2_ORDER) / 8);
    this.isLE = Fp3.isLE;
    this.ZERO = this.create({ c0: Fp3.ZERO, c1: Fp3.ZERO });
    this.ONE = this.create({ c0: Fp3.ONE, c1: Fp3.ZERO });
    this.Fp_NONRESIDUE = Fp3.create(NONRESIDUE);
    this.Fp_div2 = Fp3.div(Fp3.ONE, _2n7);
    this.NONRESIDUE = this.create({ c0: FP2_NONRESIDUE[0], c1: FP2_NONRESIDUE[1] });
    this.mulByB = (num) => {
      const { c0, c1 } = Fp2mulByB(num);
      return Object.freeze({ c0, c1 });
    };
    Object.freeze(this);
  }
  fromBigTuple(tuple) {
    if (!Array.isArray(tuple) || tuple.length !== 2)
      throw new Error("invalid Fp2.fromBigTuple");
    const [c0, c1] = tuple;
    if (typeof c0 !== "bigint" || typeof c1 !== "bigint")
      throw new Error("invalid Fp2.fromBigTuple");
    return this.create({ c0, c1 });
  }
  create(num) {
    const { Fp: Fp3 } = this;
    const c0 = Fp3.create(num.c0);
    const c1 = Fp3.create(num.c1);
    return Object.freeze({ c0, c1 });
  }
  isValid(num) {
    if (!isObj(num))
      throw new TypeError("invalid field element: expected object, got " + typeof num);
    const { c0, c1 } = num;
    const { Fp: Fp3 } = this;
    return Fp3.isValid(c0) && Fp3.isValid(c1);
  }
  is0(num) {
    if (!isObj(num))
      return false;
    const { c0, c1 } = num;
    const { Fp: Fp3 } = this;
    return Fp3.is0(c0) && Fp3.is0(c1);
  }
  isValidNot0(num) {
    return !this.is0(num) && this.isValid(num);
  }
  eql({ c0, c1 }, { c0: r0, c1: r1 }) {
    const { Fp: Fp3 } = this;
    return Fp3.eql(c0, r0) && Fp3.eql(c1, r1);
  }
  neg({ c0, c1 }) {
    const { Fp: Fp3 } = this;
    return Object.freeze({ c0: Fp3.neg(c0), c1: Fp3.neg(c1) });
  }
  pow(num, power2) {
    return FpPow(this, num, power2);
  }
  invertBatch(nums) {
    return FpInvertBatch(this, nums, true);
  }
  // Normalized
  add(f1, f2) {
    const { Fp: Fp3 } = this;
    const { c0, c1 } = f1;
    const { c0: r0, c1: r1 } = f2;
    return Object.freeze({
      c0: Fp3.add(c0, r0),
      c1: Fp3.add(c1, r1)
    });
  }
  sub({ c0, c1 }, { c0: r0, c1: r1 }) {
    const { Fp: Fp3 } = this;
    return Object.freeze({
      c0: Fp3.sub(c0, r0),
      c1: Fp3.sub(c1, r1)
    });
  }
  mul({ c0, c1 }, rhs) {
    const { Fp: Fp3 } = this;
    if (typeof rhs === "bigint")
      return Object.freeze({ c0: Fp3.mul(c0, rhs), c1: Fp3.mul(c1, rhs) });
    const { c0: r0, c1: r1 } = rhs;
    let t1 = Fp3.mul(c0, r0);
    let t2 = Fp3.mul(c1, r1);
    const o0 = Fp3.sub(t1, t2);
    const o1 = Fp3.sub(Fp3.mul(Fp3.add(c0, c1), Fp3.add(r0, r1)), Fp3.add(t1, t2));
    return Object.freeze({ c0: o0, c1: o1 });
  }
  sqr({ c0, c1 }) {
    const { Fp: Fp3 } = this;
    const a = Fp3.add(c0, c1);
    const b = Fp3.sub(c0, c1);
    const c = Fp3.add(c0, c0);
    return Object.freeze({ c0: Fp3.mul(a, b), c1: Fp3.mul(c, c1) });
  }
  // NonNormalized stuff
  addN(a, b) {
    return this.add(a, b);
  }
  subN(a, b) {
    return this.sub(a, b);
  }
  mulN(a, b) {
    return this.mul(a, b);
  }
  sqrN(a) {
    return this.sqr(a);
  }
  // Why inversion for bigint inside Fp instead of Fp2? it is even used in that context?
  div(lhs, rhs) {
    const { Fp: Fp3 } = this;
    return this.mul(lhs, typeof rhs === "bigint" ? Fp3.inv(Fp3.create(rhs)) : this.inv(rhs));
  }
  inv({ c0: a, c1: b }) {
    const { Fp: Fp3 } = this;
    const factor = Fp3.inv(Fp3.create(a * a + b * b));
    return Object.freeze({ c0: Fp3.mul(factor, Fp3.create(a)), c1: Fp3.mul(factor, Fp3.create(-b)) });
  }
  sqrt(num) {
    const { Fp: Fp3 } = this;
    const Fp23 = this;
    const { c0, c1 } = num;
    if (Fp3.is0(c1)) {
      if (FpLegendre(Fp3, c0) === 1)
        return Fp23.create({ c0: Fp3.sqrt(c0), c1: Fp3.ZERO });
      else
        return Fp23.create({ c0: Fp3.ZERO, c1: Fp3.sqrt(Fp3.div(c0, this.Fp_NONRESIDUE)) });
    }
    const a = Fp3.sqrt(Fp3.sub(Fp3.sqr(c0), Fp3.mul(Fp3.sqr(c1), this.Fp_NONRESIDUE)));
    let d = Fp3.mul(Fp3.add(a, c0), this.Fp_div2);
    const legendre = FpLegendre(Fp3, d);
    if (legendre === -1)
      d = Fp3.sub(d, a);
    const a0 = Fp3.sqrt(d);
    const candidateSqrt = Fp23.create({ c0: a0, c1: Fp3.div(Fp3.mul(c1, this.Fp_div2), a0) });
    if (!Fp23.eql(Fp23.sqr(candidateSqrt), num))
      throw new Error("Cannot find square root");
    const x1 = candidateSqrt;
    const x2 = Fp23.neg(x1);
    const { re: re1, im: im1 } = Fp23.reim(x1);
    const { re: re2, im: im2 } = Fp23.reim(x2);
    if (im1 > im2 || im1 === im2 && re1 > re2)
      return x1;
    return x2;
  }
  // Same as sgn0_m_eq_2 in RFC 9380
  isOdd(x) {
    const { re: x0, im: x1 } = this.reim(x);
    const sign_0 = x0 % _2n7;
    const zero_0 = x0 === _0n8;
    const sign_1 = x1 % _2n7;
    return BigInt(sign_0 || zero_0 && sign_1) == _1n9;
  }
  // Bytes util
  fromBytes(b) {
    const { Fp: Fp3 } = this;
    abytes2(b);
    if (b.length !== this.BYTES)
      throw new Error("fromBytes invalid length=" + b.length);
    return this.create({
      c0: Fp3.fromBytes(b.subarray(0, Fp3.BYTES)),
      c1: Fp3.fromBytes(b.subarray(Fp3.BYTES))
    });
  }
  toBytes({ c0, c1 }) {
    return concatBytes2(this.Fp.toBytes(c0), this.Fp.toBytes(c1));
  }
  cmov({ c0, c1 }, { c0: r0, c1: r1 }, c) {
    const { Fp: Fp3 } = this;
    return this.create({
      c0: Fp3.cmov(c0, r0, c),
      c1: Fp3.cmov(c1, r1, c)
    });
  }
  reim({ c0, c1 }) {
    return { re: c0, im: c1 };
  }
  Fp4Square(a, b) {
    const Fp23 = this;
    const a2 = Fp23.sqr(a);
    const b2 = Fp23.sqr(b);
    return {
      first: Fp23.add(Fp23.mulByNonresidue(b2), a2),
      // b² * Nonresidue + a²
      second: Fp23.sub(Fp23.sub(Fp23.sqr(Fp23.add(a, b)), a2), b2)
      // (a + b)² - a² - b²
    };
  }
  // multiply by u + 1
  mulByNonresidue({ c0, c1 }) {
    const { Fp: Fp3, NONRESIDUE: nr } = this;
    if (nr.c0 === Fp3.ONE && nr.c1 === Fp3.ONE) {
      return Object.freeze({ c0: Fp3.sub(c0, c1), c1: Fp3.add(c0, c1) });
    }
    if (nr.c1 === Fp3.ONE) {
      return Object.freeze({
        c0: Fp3.sub(Fp3.mul(c0, nr.c0), c1),
        c1: Fp3.add(c0, Fp3.mul(c1, nr.c0))
      });
    }
    return this.mul({ c0, c1 }, nr);
  }
  frobeniusMap(num, power2) {
    const { c0, c1 } = num;
    const { Fp: Fp3 } = this;
    return Object.freeze({ c0, c1: power2 % 2 === 0 ? c1 : Fp3.neg(c1) });
  }
};
var _Field6 = class {
  ORDER;
  BITS;
  BYTES;
  isLE;
  ZERO;
  ONE;
  Fp2;
  constructor(Fp23) {
    this.Fp2 = Fp23;
    this.ORDER = Fp23.Fp.ORDER ** _6n;
    this.BITS = 3 * Fp23.BITS;
    this.BYTES = 3 * Fp23.BYTES;
    this.isLE = Fp23.isLE;
    this.ZERO = this.create({ c0: Fp23.ZERO, c1: Fp23.ZERO, c2: Fp23.ZERO });
    this.ONE = this.create({ c0: Fp23.ONE, c1: Fp23.ZERO, c2: Fp23.ZERO });
    Object.freeze(this);
  }
  // Most callers never touch Frobenius maps, so keep the sextic tables lazy:
  // eagerly deriving them dominates `bls12-381.js` / `bn254.js` import time.
  get FROBENIUS_COEFFICIENTS_1() {
    const frob2 = _FROBENIUS_COEFFICIENTS_6.get(this);
    if (frob2)
      return frob2[0];
    const { Fp2: Fp23 } = this;
    const { Fp: Fp3 } = Fp23;
    const rows = calcFrobeniusCoefficients(Fp23, Fp23.NONRESIDUE, Fp3.ORDER, 6, 2, 3);
    const cache = [Object.freeze(rows[0]), Object.freeze(rows[1])];
    _FROBENIUS_COEFFICIENTS_6.set(this, cache);
    return cache[0];
  }
  get FROBENIUS_COEFFICIENTS_2() {
    const frob2 = _FROBENIUS_COEFFICIENTS_6.get(this);
    if (frob2)
      return frob2[1];
    void this.FROBENIUS_COEFFICIENTS_1;
    return _FROBENIUS_COEFFICIENTS_6.get(this)[1];
  }
  add({ c0, c1, c2 }, { c0: r0, c1: r1, c2: r2 }) {
    const { Fp2: Fp23 } = this;
    return Object.freeze({
      c0: Fp23.add(c0, r0),
      c1: Fp23.add(c1, r1),
      c2: Fp23.add(c2, r2)
    });
  }
  sub({ c0, c1, c2 }, { c0: r0, c1: r1, c2: r2 }) {
    const { Fp2: Fp23 } = this;
    return Object.freeze({
      c0: Fp23.sub(c0, r0),
      c1: Fp23.sub(c1, r1),
      c2: Fp23.sub(c2, r2)
    });
  }
  mul({ c0, c1, c2 }, rhs) {
    const { Fp2: Fp23 } = this;
    if (typeof rhs === "bigint") {
      return Object.freeze({
        c0: Fp23.mul(c0, rhs),
        c1: Fp23.mul(c1, rhs),
        c2: Fp23.mul(c2, rhs)
      });
    }
    const { c0: r0, c1: r1, c2: r2 } = rhs;
    const t0 = Fp23.mul(c0, r0);
    const t1 = Fp23.mul(c1, r1);
    const t2 = Fp23.mul(c2, r2);
    return Object.freeze({
      // t0 + (c1 + c2) * (r1 * r2) - (T1 + T2) * (u + 1)
      c0: Fp23.add(t0, Fp23.mulByNonresidue(Fp23.sub(Fp23.mul(Fp23.add(c1, c2), Fp23.add(r1, r2)), Fp23.add(t1, t2)))),
      // (c0 + c1) * (r0 + r1) - (T0 + T1) + T2 * (u + 1)
      c1: Fp23.add(Fp23.sub(Fp23.mul(Fp23.add(c0, c1), Fp23.add(r0, r1)), Fp23.add(t0, t1)), Fp23.mulByNonresidue(t2)),
      // T1 + (c0 + c2) * (r0 + r2) - T0 + T2
      c2: Fp23.sub(Fp23.add(t1, Fp23.mul(Fp23.add(c0, c2), Fp23.add(r0, r2))), Fp23.add(t0, t2))
    });
  }
  sqr({ c0, c1, c2 }) {
    const { Fp2: Fp23 } = this;
    let t0 = Fp23.sqr(c0);
    let t1 = Fp23.mul(Fp23.mul(c0, c1), _2n7);
    let t3 = Fp23.mul(Fp23.mul(c1, c2), _2n7);
    let t4 = Fp23.sqr(c2);
    return Object.freeze({
      c0: Fp23.add(Fp23.mulByNonresidue(t3), t0),
      // T3 * (u + 1) + T0
      c1: Fp23.add(Fp23.mulByNonresidue(t4), t1),
      // T4 * (u + 1) + T1
      // T1 + (c0 - c1 + c2)² + T3 - T0 - T4
      c2: Fp23.sub(Fp23.sub(Fp23.add(Fp23.add(t1, Fp23.sqr(Fp23.add(Fp23.sub(c0, c1), c2))), t3), t0), t4)
    });
  }
  addN(a, b) {
    return this.add(a, b);
  }
  subN(a, b) {
    return this.sub(a, b);
  }
  mulN(a, b) {
    return this.mul(a, b);
  }
  sqrN(a) {
    return this.sqr(a);
  }
  create(num) {
    const { Fp2: Fp23 } = this;
    const c0 = Fp23.create(num.c0);
    const c1 = Fp23.create(num.c1);
    const c2 = Fp23.create(num.c2);
    return Object.freeze({ c0, c1, c2 });
  }
  isValid(num) {
    if (!isObj(num))
      throw new TypeError("invalid field element: expected object, got " + typeof num);
    const { c0, c1, c2 } = num;
    const { Fp2: Fp23 } = this;
    return Fp23.isValid(c0) && Fp23.isValid(c1) && Fp23.isValid(c2);
  }
  is0(num) {
    if (!isObj(num))
      return false;
    const { c0, c1, c2 } = num;
    const { Fp2: Fp23 } = this;
    return Fp23.is0(c0) && Fp23.is0(c1) && Fp23.is0(c2);
  }
  isValidNot0(num) {
    return !this.is0(num) && this.isValid(num);
  }
  neg({ c0, c1, c2 }) {
    const { Fp2: Fp23 } = this;
    return Object.freeze({ c0: Fp23.neg(c0), c1: Fp23.neg(c1), c2: Fp23.neg(c2) });
  }
  eql({ c0, c1, c2 }, { c0: r0, c1: r1, c2: r2 }) {
    const { Fp2: Fp23 } = this;
    return Fp23.eql(c0, r0) && Fp23.eql(c1, r1) && Fp23.eql(c2, r2);
  }
  sqrt(_) {
    return notImplemented();
  }
  // Do we need division by bigint at all? Should be done via order:
  div(lhs, rhs) {
    const { Fp2: Fp23 } = this;
    const { Fp: Fp3 } = Fp23;
    return this.mul(lhs, typeof rhs === "bigint" ? Fp3.inv(Fp3.create(rhs)) : this.inv(rhs));
  }
  pow(num, power2) {
    return FpPow(this, num, power2);
  }
  invertBatch(nums) {
    return FpInvertBatch(this, nums, true);
  }
  inv({ c0, c1, c2 }) {
    const { Fp2: Fp23 } = this;
    let t0 = Fp23.sub(Fp23.sqr(c0), Fp23.mulByNonresidue(Fp23.mul(c2, c1)));
    let t1 = Fp23.sub(Fp23.mulByNonresidue(Fp23.sqr(c2)), Fp23.mul(c0, c1));
    let t2 = Fp23.sub(Fp23.sqr(c1), Fp23.mul(c0, c2));
    let t4 = Fp23.inv(Fp23.add(Fp23.mulByNonresidue(Fp23.add(Fp23.mul(c2, t1), Fp23.mul(c1, t2))), Fp23.mul(c0, t0)));
    return Object.freeze({ c0: Fp23.mul(t4, t0), c1: Fp23.mul(t4, t1), c2: Fp23.mul(t4, t2) });
  }
  // Bytes utils
  fromBytes(b) {
    const { Fp2: Fp23 } = this;
    abytes2(b);
    if (b.length !== this.BYTES)
      throw new Error("fromBytes invalid length=" + b.length);
    const B2 = Fp23.BYTES;
    return this.create({
      c0: Fp23.fromBytes(b.subarray(0, B2)),
      c1: Fp23.fromBytes(b.subarray(B2, B2 * 2)),
      c2: Fp23.fromBytes(b.subarray(2 * B2))
    });
  }
  toBytes({ c0, c1, c2 }) {
    const { Fp2: Fp23 } = this;
    return concatBytes2(Fp23.toBytes(c0), Fp23.toBytes(c1), Fp23.toBytes(c2));
  }
  cmov({ c0, c1, c2 }, { c0: r0, c1: r1, c2: r2 }, c) {
    const { Fp2: Fp23 } = this;
    return this.create({
      c0: Fp23.cmov(c0, r0, c),
      c1: Fp23.cmov(c1, r1, c),
      c2: Fp23.cmov(c2, r2, c)
    });
  }
  fromBigSix(tuple) {
    const { Fp2: Fp23 } = this;
    if (!Array.isArray(tuple) || tuple.length !== 6)
      throw new Error("invalid Fp6.fromBigSix");
    for (let i = 0; i < 6; i++)
      if (typeof tuple[i] !== "bigint")
        throw new Error("invalid Fp6.fromBigSix");
    const t = tuple;
    return this.create({
      c0: Fp23.fromBigTuple(t.slice(0, 2)),
      c1: Fp23.fromBigTuple(t.slice(2, 4)),
      c2: Fp23.fromBigTuple(t.slice(4, 6))
    });
  }
  frobeniusMap(num, power2) {
    const { c0, c1, c2 } = num;
    if (power2 % 6 === 0)
      return Object.freeze({ c0, c1, c2 });
    const { Fp2: Fp23 } = this;
    return Object.freeze({
      c0: Fp23.frobeniusMap(c0, power2),
      c1: Fp23.mul(Fp23.frobeniusMap(c1, power2), this.FROBENIUS_COEFFICIENTS_1[power2 % 6]),
      c2: Fp23.mul(Fp23.frobeniusMap(c2, power2), this.FROBENIUS_COEFFICIENTS_2[power2 % 6])
    });
  }
  mulByFp2({ c0, c1, c2 }, rhs) {
    const { Fp2: Fp23 } = this;
    return Object.freeze({
      c0: Fp23.mul(c0, rhs),
      c1: Fp23.mul(c1, rhs),
      c2: Fp23.mul(c2, rhs)
    });
  }
  mulByNonresidue({ c0, c1, c2 }) {
    const { Fp2: Fp23 } = this;
    return Object.freeze({ c0: Fp23.mulByNonresidue(c2), c1: c0, c2: c1 });
  }
  // Sparse multiplication
  mul1({ c0, c1, c2 }, b1) {
    const { Fp2: Fp23 } = this;
    return Object.freeze({
      c0: Fp23.mulByNonresidue(Fp23.mul(c2, b1)),
      c1: Fp23.mul(c0, b1),
      c2: Fp23.mul(c1, b1)
    });
  }
  // Sparse multiplication
  mul01({ c0, c1, c2 }, b0, b1) {
    const { Fp2: Fp23 } = this;
    let t0 = Fp23.mul(c0, b0);
    let t1 = Fp23.mul(c1, b1);
    return Object.freeze({
      // ((c1 + c2) * b1 - T1) * (u + 1) + T0
      c0: Fp23.add(Fp23.mulByNonresidue(Fp23.sub(Fp23.mul(Fp23.add(c1, c2), b1), t1)), t0),
      // (b0 + b1) * (c0 + c1) - T0 - T1
      c1: Fp23.sub(Fp23.sub(Fp23.mul(Fp23.add(b0, b1), Fp23.add(c0, c1)), t0), t1),
      // (c0 + c2) * b0 - T0 + T1
      c2: Fp23.add(Fp23.sub(Fp23.mul(Fp23.add(c0, c2), b0), t0), t1)
    });
  }
};
var _FROBENIUS_COEFFICIENTS_6 = /* @__PURE__ */ new WeakMap();
var _Field12 = class {
  ORDER;
  BITS;
  BYTES;
  isLE;
  ZERO;
  ONE;
  Fp6;
  X_LEN;
  finalExponentiate;
  constructor(Fp62, opts) {
    const { X_LEN, Fp12finalExponentiate } = opts;
    const { Fp2: Fp23 } = Fp62;
    const { Fp: Fp3 } = Fp23;
    this.Fp6 = Fp62;
    this.ORDER = Fp3.ORDER ** _12n;
    this.BITS = 2 * Fp62.BITS;
    this.BYTES = 2 * Fp62.BYTES;
    this.isLE = Fp62.isLE;
    this.ZERO = this.create({ c0: Fp62.ZERO, c1: Fp62.ZERO });
    this.ONE = this.create({ c0: Fp62.ONE, c1: Fp62.ZERO });
    this.X_LEN = X_LEN;
    this.finalExponentiate = (num) => {
      const copy2 = ({ c0, c1 }) => Object.freeze({ c0, c1 });
      const copy6 = ({ c0, c1, c2 }) => Object.freeze({ c0: copy2(c0), c1: copy2(c1), c2: copy2(c2) });
      const res = Fp12finalExponentiate(num);
      return Object.freeze({ c0: copy6(res.c0), c1: copy6(res.c1) });
    };
    Object.freeze(this);
  }
  // Keep the degree-12 Frobenius row lazy too; after the first lookup the cached
  // array is reused exactly like the old eager table.
  get FROBENIUS_COEFFICIENTS() {
    const frob2 = _FROBENIUS_COEFFICIENTS_12.get(this);
    if (frob2)
      return frob2;
    const { Fp2: Fp23 } = this.Fp6;
    const { Fp: Fp3 } = Fp23;
    const cache = Object.freeze(calcFrobeniusCoefficients(Fp23, Fp23.NONRESIDUE, Fp3.ORDER, 12, 1, 6)[0]);
    _FROBENIUS_COEFFICIENTS_12.set(this, cache);
    return cache;
  }
  create(num) {
    const { Fp6: Fp62 } = this;
    const c0 = Fp62.create(num.c0);
    const c1 = Fp62.create(num.c1);
    return Object.freeze({ c0, c1 });
  }
  isValid(num) {
    if (!isObj(num))
      throw new TypeError("invalid field element: expected object, got " + typeof num);
    const { c0, c1 } = num;
    const { Fp6: Fp62 } = this;
    return Fp62.isValid(c0) && Fp62.isValid(c1);
  }
  is0(num) {
    if (!isObj(num))
      return false;
    const { c0, c1 } = num;
    const { Fp6: Fp62 } = this;
    return Fp62.is0(c0) && Fp62.is0(c1);
  }
  isValidNot0(num) {
    return !this.is0(num) && this.isValid(num);
  }
  neg({ c0, c1 }) {
    const { Fp6: Fp62 } = this;
    return Object.freeze({ c0: Fp62.neg(c0), c1: Fp62.neg(c1) });
  }
  eql({ c0, c1 }, { c0: r0, c1: r1 }) {
    const { Fp6: Fp62 } = this;
    return Fp62.eql(c0, r0) && Fp62.eql(c1, r1);
  }
  sqrt(_) {
    return notImplemented();
  }
  inv({ c0, c1 }) {
    const { Fp6: Fp62 } = this;
    let t = Fp62.inv(Fp62.sub(Fp62.sqr(c0), Fp62.mulByNonresidue(Fp62.sqr(c1))));
    return Object.freeze({ c0: Fp62.mul(c0, t), c1: Fp62.neg(Fp62.mul(c1, t)) });
  }
  div(lhs, rhs) {
    const { Fp6: Fp62 } = this;
    const { Fp2: Fp23 } = Fp62;
    const { Fp: Fp3 } = Fp23;
    return this.mul(lhs, typeof rhs === "bigint" ? Fp3.inv(Fp3.create(rhs)) : this.inv(rhs));
  }
  pow(num, power2) {
    return FpPow(this, num, power2);
  }
  invertBatch(nums) {
    return FpInvertBatch(this, nums, true);
  }
  // Normalized
  add({ c0, c1 }, { c0: r0, c1: r1 }) {
    const { Fp6: Fp62 } = this;
    return Object.freeze({
      c0: Fp62.add(c0, r0),
      c1: Fp62.add(c1, r1)
    });
  }
  sub({ c0, c1 }, { c0: r0, c1: r1 }) {
    const { Fp6: Fp62 } = this;
    return Object.freeze({
      c0: Fp62.sub(c0, r0),
      c1: Fp62.sub(c1, r1)
    });
  }
  mul({ c0, c1 }, rhs) {
    const { Fp6: Fp62 } = this;
    if (typeof rhs === "bigint")
      return Object.freeze({ c0: Fp62.mul(c0, rhs), c1: Fp62.mul(c1, rhs) });
    let { c0: r0, c1: r1 } = rhs;
    let t1 = Fp62.mul(c0, r0);
    let t2 = Fp62.mul(c1, r1);
    return Object.freeze({
      c0: Fp62.add(t1, Fp62.mulByNonresidue(t2)),
      // T1 + T2 * v
      // (c0 + c1) * (r0 + r1) - (T1 + T2)
      c1: Fp62.sub(Fp62.mul(Fp62.add(c0, c1), Fp62.add(r0, r1)), Fp62.add(t1, t2))
    });
  }
  sqr({ c0, c1 }) {
    const { Fp6: Fp62 } = this;
    let ab = Fp62.mul(c0, c1);
    return Object.freeze({
      // (c1 * v + c0) * (c0 + c1) - AB - AB * v
      c0: Fp62.sub(Fp62.sub(Fp62.mul(Fp62.add(Fp62.mulByNonresidue(c1), c0), Fp62.add(c0, c1)), ab), Fp62.mulByNonresidue(ab)),
      c1: Fp62.add(ab, ab)
    });
  }
  // NonNormalized stuff
  addN(a, b) {
    return this.add(a, b);
  }
  subN(a, b) {
    return this.sub(a, b);
  }
  mulN(a, b) {
    return this.mul(a, b);
  }
  sqrN(a) {
    return this.sqr(a);
  }
  // Bytes utils
  fromBytes(b) {
    const { Fp6: Fp62 } = this;
    abytes2(b);
    if (b.length !== this.BYTES)
      throw new Error("fromBytes invalid length=" + b.length);
    return this.create({
      c0: Fp62.fromBytes(b.subarray(0, Fp62.BYTES)),
      c1: Fp62.fromBytes(b.subarray(Fp62.BYTES))
    });
  }
  toBytes({ c0, c1 }) {
    const { Fp6: Fp62 } = this;
    return concatBytes2(Fp62.toBytes(c0), Fp62.toBytes(c1));
  }
  cmov({ c0, c1 }, { c0: r0, c1: r1 }, c) {
    const { Fp6: Fp62 } = this;
    return this.create({
      c0: Fp62.cmov(c0, r0, c),
      c1: Fp62.cmov(c1, r1, c)
    });
  }
  // Utils
  // toString() {
  //   return '' + 'Fp12(' + this.c0 + this.c1 + '* w');
  // },
  // fromTuple(c: [Fp6, Fp6]) {
  //   return new Fp12(...c);
  // }
  fromBigTwelve(tuple) {
    const { Fp6: Fp62 } = this;
    if (!Array.isArray(tuple) || tuple.length !== 12)
      throw new Error("invalid Fp12.fromBigTwelve");
    for (let i = 0; i < 12; i++)
      if (typeof tuple[i] !== "bigint")
        throw new Error("invalid Fp12.fromBigTwelve");
    const t = tuple;
    return this.create({
      c0: Fp62.fromBigSix(t.slice(0, 6)),
      c1: Fp62.fromBigSix(t.slice(6, 12))
    });
  }
  // Raises to q**i -th power
  frobeniusMap(lhs, power2) {
    const p = power2 % 12;
    if (p === 0)
      return Object.freeze({ c0: lhs.c0, c1: lhs.c1 });
    if (p === 6)
      return this.conjugate(lhs);
    const { Fp6: Fp62 } = this;
    const { Fp2: Fp23 } = Fp62;
    const { c0, c1, c2 } = Fp62.frobeniusMap(lhs.c1, power2);
    const coeff = this.FROBENIUS_COEFFICIENTS[p];
    return Object.freeze({
      c0: Fp62.frobeniusMap(lhs.c0, power2),
      c1: Object.freeze({
        c0: Fp23.mul(c0, coeff),
        c1: Fp23.mul(c1, coeff),
        c2: Fp23.mul(c2, coeff)
      })
    });
  }
  mulByFp2({ c0, c1 }, rhs) {
    const { Fp6: Fp62 } = this;
    return Object.freeze({
      c0: Fp62.mulByFp2(c0, rhs),
      c1: Fp62.mulByFp2(c1, rhs)
    });
  }
  conjugate({ c0, c1 }) {
    return Object.freeze({ c0, c1: this.Fp6.neg(c1) });
  }
  // A cyclotomic group is a subgroup of Fp^n defined by
  //   GΦₙ(p) = {α ∈ Fpⁿ : α^Φₙ(p) = 1}
  // The result of any pairing is in a cyclotomic subgroup
  // https://eprint.iacr.org/2009/565.pdf
  // https://eprint.iacr.org/2010/354.pdf
  _cyclotomicSquare({ c0, c1 }) {
    const { Fp6: Fp62 } = this;
    const { Fp2: Fp23 } = Fp62;
    const { c0: c0c0, c1: c0c1, c2: c0c2 } = c0;
    const { c0: c1c0, c1: c1c1, c2: c1c2 } = c1;
    const { first: t3, second: t4 } = Fp23.Fp4Square(c0c0, c1c1);
    const { first: t5, second: t6 } = Fp23.Fp4Square(c1c0, c0c2);
    const { first: t7, second: t8 } = Fp23.Fp4Square(c0c1, c1c2);
    const t9 = Fp23.mulByNonresidue(t8);
    return Object.freeze({
      c0: Object.freeze({
        c0: Fp23.add(Fp23.mul(Fp23.sub(t3, c0c0), _2n7), t3),
        // 2 * (T3 - c0c0)  + T3
        c1: Fp23.add(Fp23.mul(Fp23.sub(t5, c0c1), _2n7), t5),
        // 2 * (T5 - c0c1)  + T5
        c2: Fp23.add(Fp23.mul(Fp23.sub(t7, c0c2), _2n7), t7)
      }),
      // 2 * (T7 - c0c2)  + T7
      c1: Object.freeze({
        c0: Fp23.add(Fp23.mul(Fp23.add(t9, c1c0), _2n7), t9),
        // 2 * (T9 + c1c0) + T9
        c1: Fp23.add(Fp23.mul(Fp23.add(t4, c1c1), _2n7), t4),
        // 2 * (T4 + c1c1) + T4
        c2: Fp23.add(Fp23.mul(Fp23.add(t6, c1c2), _2n7), t6)
      })
    });
  }
  // https://eprint.iacr.org/2009/565.pdf
  _cyclotomicExp(num, n) {
    aInRange("cyclotomic exponent", n, _0n8, _1n9 << BigInt(this.X_LEN));
    if (n === _0n8)
      return this.ONE;
    let z = num;
    for (let i = bitLen(n) - 2; i >= 0; i--) {
      z = this._cyclotomicSquare(z);
      if (bitGet(n, i))
        z = this.mul(z, num);
    }
    return z;
  }
};
var _FROBENIUS_COEFFICIENTS_12 = /* @__PURE__ */ new WeakMap();
function tower12(opts) {
  validateObject(opts, {
    ORDER: "bigint",
    X_LEN: "number",
    FP2_NONRESIDUE: "object",
    Fp2mulByB: "function",
    Fp12finalExponentiate: "function"
  }, { NONRESIDUE: "bigint" });
  asafenumber(opts.X_LEN, "X_LEN");
  if (opts.X_LEN < 1)
    throw new Error("invalid X_LEN");
  const nonresidue = opts.FP2_NONRESIDUE;
  if (!Array.isArray(nonresidue) || nonresidue.length !== 2)
    throw new Error("invalid FP2_NONRESIDUE");
  if (typeof nonresidue[0] !== "bigint" || typeof nonresidue[1] !== "bigint")
    throw new Error("invalid FP2_NONRESIDUE");
  const Fp3 = Field(opts.ORDER);
  const Fp23 = new _Field2(Fp3, opts);
  const Fp62 = new _Field6(Fp23);
  const Fp122 = new _Field12(Fp62, opts);
  return { Fp: Fp3, Fp2: Fp23, Fp6: Fp62, Fp12: Fp122 };
}

// node_modules/@noble/curves/bls12-381.js
/*! noble-curves - MIT License (c) 2022 Paul Miller (paulmillr.com) */
var _0n9 = BigInt(0);
var _1n10 = BigInt(1);
var _2n8 = BigInt(2);
var _3n6 = BigInt(3);
var _4n6 = BigInt(4);
var BLS_X = BigInt("0xd201000000010000");
var BLS_X_LEN = bitLen(BLS_X);
var bls12_381_CURVE_G1 = {
  p: BigInt("0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab"),
  n: BigInt("0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001"),
  h: BigInt("0x396c8c005555e1568c00aaab0000aaab"),
  a: _0n9,
  b: _4n6,
  Gx: BigInt("0x17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb"),
  Gy: BigInt("0x08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1")
};
var bls12_381_Fr = Field(bls12_381_CURVE_G1.n, {
  modFromBytes: true
});
function bls12FromCompressed(g0, g12, { g2: g22, g3, g4, g5 }) {
  return { c0: { c0: g0, c1: g4, c2: g3 }, c1: { c0: g22, c1: g12, c2: g5 } };
}
function bls12Compress({ c0, c1 }) {
  return { g2: c1.c0, g3: c0.c2, g4: c0.c1, g5: c1.c2 };
}
function bls12CyclotomicSquareCompressed({ g2: g22, g3, g4, g5 }) {
  const { first: h23c0, second: h23c1 } = Fp22.Fp4Square(g4, g5);
  const { first: h45c0, second: h45c1 } = Fp22.Fp4Square(g22, g3);
  const d2 = Fp22.add(g22, g22);
  const d3 = Fp22.add(g3, g3);
  const d4 = Fp22.add(g4, g4);
  const d5 = Fp22.add(g5, g5);
  return {
    g2: Fp22.add(Fp22.mul(Fp22.mulByNonresidue(h23c1), _3n6), d2),
    g3: Fp22.sub(Fp22.mul(h23c0, _3n6), d3),
    g4: Fp22.sub(Fp22.mul(h45c0, _3n6), d4),
    g5: Fp22.add(Fp22.mul(h45c1, _3n6), d5)
  };
}
function bls12RecoverG1Ratio({ g2: g22, g3, g4, g5 }) {
  if (Fp22.is0(g22))
    return { num: Fp22.mul(Fp22.mul(g4, g5), _2n8), den: g3 };
  return {
    num: Fp22.add(Fp22.sub(Fp22.mul(Fp22.sqr(g4), _3n6), Fp22.mul(g3, _2n8)), Fp22.mulByNonresidue(Fp22.sqr(g5))),
    den: Fp22.mul(g22, _4n6)
  };
}
function bls12RecoverG0(g12, { g2: g22, g3, g4, g5 }) {
  const g3g4 = Fp22.mul(g3, g4);
  const t = Fp22.add(Fp22.sub(Fp22.mul(Fp22.sub(Fp22.sqr(g12), g3g4), _2n8), g3g4), Fp22.mul(g22, g5));
  return Fp22.add(Fp22.mulByNonresidue(t), Fp22.ONE);
}
function bls12CyclotomicExpCompressed(num, squarings) {
  const gs = [];
  let g = bls12Compress(num);
  for (const count2 of squarings) {
    for (let i = 0; i < count2; i++)
      g = bls12CyclotomicSquareCompressed(g);
    gs.push(g);
  }
  const isOne = gs.map(({ g2: g22, g3 }) => Fp22.is0(g22) && Fp22.is0(g3));
  const ratios = gs.map(bls12RecoverG1Ratio);
  const invDens = Fp22.invertBatch(ratios.map(({ den }) => den));
  const elems = gs.map((compressed, i) => {
    if (isOne[i])
      return Fp12.ONE;
    const g12 = Fp22.mul(ratios[i].num, invDens[i]);
    return bls12FromCompressed(bls12RecoverG0(g12, compressed), g12, compressed);
  });
  return { result: Fp12.mul(Fp12.mul(elems[0], elems[1]), elems[2]), last: elems[2] };
}
function bls12CyclotomicExpX(num) {
  const { result, last } = bls12CyclotomicExpCompressed(num, [16, 32, 9]);
  let r = result;
  let s = last;
  for (let i = 0; i < 3; i++)
    s = Fp12._cyclotomicSquare(s);
  r = Fp12.mul(r, s);
  for (let i = 0; i < 2; i++)
    s = Fp12._cyclotomicSquare(s);
  r = Fp12.mul(r, s);
  s = Fp12._cyclotomicSquare(s);
  return Fp12.mul(r, s);
}
var { Fp: Fp2, Fp2: Fp22, Fp6, Fp12 } = tower12({
  ORDER: bls12_381_CURVE_G1.p,
  X_LEN: BLS_X_LEN,
  // Finite extension field over irreducible polynominal.
  // Fp(u) / (u² - β) where β = -1
  // Public `Fp2.NONRESIDUE` below is the sextic-tower value `(1, 1) = u + 1`;
  // the quadratic non-residue for the base Fp2 construction is still `-1`.
  FP2_NONRESIDUE: [_1n10, _1n10],
  Fp2mulByB: ({ c0, c1 }) => {
    const t0 = Fp2.mul(c0, _4n6);
    const t1 = Fp2.mul(c1, _4n6);
    return { c0: Fp2.sub(t0, t1), c1: Fp2.add(t0, t1) };
  },
  Fp12finalExponentiate: (num) => {
    const powMinusX = (num2) => Fp12.conjugate(bls12CyclotomicExpX(num2));
    const t0 = Fp12.div(Fp12.frobeniusMap(num, 6), num);
    const t1 = Fp12.mul(Fp12.frobeniusMap(t0, 2), t0);
    const t2 = powMinusX(t1);
    const t3 = Fp12.mul(Fp12.conjugate(Fp12._cyclotomicSquare(t1)), t2);
    const t4 = powMinusX(t3);
    const t5 = powMinusX(t4);
    const t6 = Fp12.mul(powMinusX(t5), Fp12._cyclotomicSquare(t2));
    const t7 = powMinusX(t6);
    const t2_t5_pow_q2 = Fp12.frobeniusMap(Fp12.mul(t2, t5), 2);
    const t4_t1_pow_q3 = Fp12.frobeniusMap(Fp12.mul(t4, t1), 3);
    const t6_t1c_pow_q1 = Fp12.frobeniusMap(Fp12.mul(t6, Fp12.conjugate(t1)), 1);
    const t7_t3c_t1 = Fp12.mul(Fp12.mul(t7, Fp12.conjugate(t3)), t1);
    return Fp12.mul(Fp12.mul(Fp12.mul(t2_t5_pow_q2, t4_t1_pow_q3), t6_t1c_pow_q1), t7_t3c_t1);
  }
});
var frob;
var getFrob = () => frob || (frob = psiFrobenius(Fp2, Fp22, Fp22.div(Fp22.ONE, Fp22.NONRESIDUE)));
var G2psi = (c, P) => {
  const fn = getFrob().G2psi;
  G2psi = fn;
  return fn(c, P);
};
var G2psi2 = (c, P) => {
  const fn = getFrob().G2psi2;
  G2psi2 = fn;
  return fn(c, P);
};
var hasher_opts = Object.freeze({
  DST: "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_",
  encodeDST: "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_",
  p: Fp2.ORDER,
  m: 2,
  k: 128,
  expand: "xmd",
  hash: sha256
});
var bls12_381_CURVE_G2 = {
  p: Fp22.ORDER,
  n: bls12_381_CURVE_G1.n,
  h: BigInt("0x5d543a95414e7f1091d50792876a202cd91de4547085abaa68a205b2e5a7ddfa628f1cb4d9e82ef21537e293a6691ae1616ec6e786f0c70cf1c38e31c7238e5"),
  a: Fp22.ZERO,
  b: Fp22.fromBigTuple([_4n6, _4n6]),
  Gx: Fp22.fromBigTuple([
    BigInt("0x024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8"),
    BigInt("0x13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e")
  ]),
  Gy: Fp22.fromBigTuple([
    BigInt("0x0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801"),
    BigInt("0x0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be")
  ])
};
var sortBit = (parts, p) => {
  for (const part of parts) {
    if (part !== _0n9)
      return Boolean(part * _2n8 / p);
  }
  return false;
};
var fp2 = {
  // Generic tower bytes use `c0 || c1`, but the BLS12-381 G2 point/signature wire encoding uses
  // `c1 || c0`, so keep this local wrapper instead of changing generic field serialization.
  encode({ c0, c1 }) {
    const { BYTES: L } = Fp2;
    return concatBytes2(numberToBytesBE(c1, L), numberToBytesBE(c0, L));
  },
  decode(bytes) {
    const { BYTES: L } = Fp2;
    return Fp22.create({
      c0: decodeFp(bytes.subarray(L)),
      c1: decodeFp(bytes.subarray(0, L))
    });
  }
};
var BaseFp = Fp2;
function decodeFp(bytes) {
  return Fp2.fromBytes(bytes);
}
var coder = (name, Fp3, b, encode, decode, yparts) => {
  const F = Fp3;
  const enc = encode;
  const dec = decode;
  const W = F.BYTES;
  return (allowUncompressed) => ({
    encode(point, compressed = true) {
      if (!compressed && !allowUncompressed)
        throw new Error("invalid signature: expected compressed encoding");
      const infinity = point.is0();
      const { x, y } = point.toAffine();
      const bytes = compressed ? enc(x) : concatBytes2(enc(x), enc(y));
      let sort2;
      if (compressed && !infinity)
        sort2 = sortBit(yparts(y), BaseFp.ORDER);
      return setMask(bytes, { compressed, infinity, sort: sort2 });
    },
    decode(bytes) {
      const raw = allowUncompressed ? abytes2(bytes, void 0, "point") : abytes2(bytes, W, "signature");
      const { compressed, infinity, sort: sort2, value } = parseMask(raw);
      if (!allowUncompressed && !compressed)
        throw new Error("invalid signature: expected compressed encoding");
      const len = compressed ? W : 2 * W;
      if (value.length !== len)
        throw new Error(`invalid ${name} point: expected ${len} bytes`);
      if (infinity) {
        for (const b2 of value) {
          if (b2)
            throw new Error(`invalid ${name} point: non-canonical zero`);
        }
        return { x: F.ZERO, y: F.ZERO };
      }
      const x = dec(compressed ? value : value.subarray(0, W));
      let y;
      if (compressed) {
        y = F.sqrt(F.add(F.pow(x, _3n6), b));
        if (!y)
          throw new Error(`invalid ${name} point: compressed`);
        if (sortBit(yparts(y), BaseFp.ORDER) !== sort2)
          y = F.neg(y);
      } else {
        y = dec(value.subarray(W));
      }
      if (!compressed && F.is0(x) && F.is0(y))
        throw new Error(`invalid ${name} point: uncompressed`);
      return { x, y };
    }
  });
};
function validateMask({ compressed, infinity, sort: sort2 }) {
  if (!compressed && !infinity && sort2 || // 0010_0000 = 0x20
  !compressed && infinity && sort2 || // 0110_0000 = 0x60
  compressed && infinity && sort2)
    throw new Error("invalid encoding flag");
}
function parseMask(bytes) {
  bytes = copyBytes(bytes);
  const mask = bytes[0] & 224;
  const compressed = !!(mask >> 7 & 1);
  const infinity = !!(mask >> 6 & 1);
  const sort2 = !!(mask >> 5 & 1);
  validateMask({ compressed, infinity, sort: sort2 });
  bytes[0] &= 31;
  return { compressed, infinity, sort: sort2, value: bytes };
}
function setMask(bytes, mask) {
  if (bytes[0] & 224)
    throw new Error("setMask: non-empty mask");
  validateMask({ compressed: !!mask.compressed, infinity: !!mask.infinity, sort: !!mask.sort });
  if (mask.compressed)
    bytes[0] |= 128;
  if (mask.infinity)
    bytes[0] |= 64;
  if (mask.sort)
    bytes[0] |= 32;
  return bytes;
}
var g1coder = coder("G1", Fp2, Fp2.create(bls12_381_CURVE_G1.b), (x) => numberToBytesBE(x, Fp2.BYTES), decodeFp, (y) => [y]);
var g1 = { point: g1coder(true), sig: g1coder(false) };
var signatureG1ToBytes = (point) => {
  point.assertValidity();
  return g1.sig.encode(point);
};
function signatureG1FromBytes(bytes) {
  const Point = bls12_381.G1.Point;
  const point = Point.fromAffine(g1.sig.decode(bytes));
  point.assertValidity();
  return point;
}
var g2coder = coder("G2", Fp22, bls12_381_CURVE_G2.b, fp2.encode, fp2.decode, (y) => [
  y.c1,
  y.c0
]);
var g2 = { point: g2coder(true), sig: g2coder(false) };
var signatureG2ToBytes = (point) => {
  point.assertValidity();
  return g2.sig.encode(point);
};
function signatureG2FromBytes(bytes) {
  const Point = bls12_381.G2.Point;
  const point = Point.fromAffine(g2.sig.decode(bytes));
  point.assertValidity();
  return point;
}
var signatureCoders = {
  ShortSignature: {
    fromBytes(bytes) {
      return signatureG1FromBytes(abytes2(bytes));
    },
    fromHex(hex) {
      return signatureG1FromBytes(hexToBytes2(hex));
    },
    toBytes(point) {
      return signatureG1ToBytes(point);
    },
    // Historical alias: BLS signatures have a single compressed byte format here.
    toRawBytes(point) {
      return signatureG1ToBytes(point);
    },
    toHex(point) {
      return bytesToHex2(signatureG1ToBytes(point));
    }
  },
  LongSignature: {
    fromBytes(bytes) {
      return signatureG2FromBytes(abytes2(bytes));
    },
    fromHex(hex) {
      return signatureG2FromBytes(hexToBytes2(hex));
    },
    toBytes(point) {
      return signatureG2ToBytes(point);
    },
    // Historical alias: BLS signatures have a single compressed byte format here.
    toRawBytes(point) {
      return signatureG2ToBytes(point);
    },
    toHex(point) {
      return bytesToHex2(signatureG2ToBytes(point));
    }
  }
};
var fields = {
  Fp: Fp2,
  Fp2: Fp22,
  Fp6,
  Fp12,
  Fr: bls12_381_Fr
};
var G1_Point = weierstrass(bls12_381_CURVE_G1, {
  // Public point APIs still accept infinity, even though the Zcash proof
  // encoding rules cited above only define nonzero point encodings.
  allowInfinityPoint: true,
  Fn: bls12_381_Fr,
  fromBytes: g1.point.decode,
  toBytes: (_c, point, isComp) => g1.point.encode(point, isComp),
  // Checks is the point resides in prime-order subgroup.
  // point.isTorsionFree() should return true for valid points
  // It returns false for shitty points.
  // https://eprint.iacr.org/2021/1130.pdf
  isTorsionFree: (c, point) => {
    const beta = BigInt("0x5f19672fdf76ce51ba69c6076a0f77eaddb3a93be6f89688de17d813620a00022e01fffffffefffe");
    const phi = new c(Fp2.mul(point.X, beta), point.Y, point.Z);
    const xP = point.multiplyUnsafe(BLS_X).negate();
    const u2P = xP.multiplyUnsafe(BLS_X);
    return u2P.equals(phi);
  },
  // Clear cofactor of G1
  // https://eprint.iacr.org/2019/403
  clearCofactor: (_c, point) => {
    return point.multiplyUnsafe(BLS_X).add(point);
  }
});
var G2_Point = weierstrass(bls12_381_CURVE_G2, {
  Fp: Fp22,
  // Public point APIs still accept infinity, even though the Zcash proof
  // encoding rules cited above only define nonzero point encodings.
  allowInfinityPoint: true,
  Fn: bls12_381_Fr,
  fromBytes: g2.point.decode,
  toBytes: (_c, point, isComp) => g2.point.encode(point, isComp),
  // https://eprint.iacr.org/2021/1130.pdf
  // Older version: https://eprint.iacr.org/2019/814.pdf
  isTorsionFree: (c, P) => {
    return P.multiplyUnsafe(BLS_X).negate().equals(G2psi(c, P));
  },
  // clear_cofactor_bls12381_g2 from RFC 9380.
  // https://eprint.iacr.org/2017/419.pdf
  // prettier-ignore
  clearCofactor: (c, P) => {
    const x = BLS_X;
    let t1 = P.multiplyUnsafe(x).negate();
    let t2 = G2psi(c, P);
    let t3 = P.double();
    t3 = G2psi2(c, t3);
    t3 = t3.subtract(t2);
    t2 = t1.add(t2);
    t2 = t2.multiplyUnsafe(x).negate();
    t3 = t3.add(t2);
    t3 = t3.subtract(t1);
    const Q = t3.subtract(P);
    return Q;
  }
});
var bls12_hasher_opts = {
  mapToG1,
  mapToG2,
  hasherOpts: hasher_opts,
  // RFC 9380 Appendix J defines distinct G1/G2 RO and NU suite IDs, and
  // draft-irtf-cfrg-bls-signature-06 §4.2.1 gives separate G1/G2 `_NUL_` DSTs.
  // Keep G1 encode-to-curve on the G1 domain instead of inheriting G2's `encodeDST`.
  hasherOptsG1: {
    ...hasher_opts,
    m: 1,
    DST: "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_",
    encodeDST: "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
  },
  hasherOptsG2: { ...hasher_opts }
};
var bls12_params = {
  ateLoopSize: BLS_X,
  // The BLS parameter x for BLS12-381
  xNegative: true,
  twistType: "multiplicative",
  randomBytes: randomBytes2
};
var bls12_381 = bls(fields, G1_Point, G2_Point, bls12_params, bls12_hasher_opts, signatureCoders);
var isogenyMapG2 = isogenyMap(Fp22, [
  // xNum
  [
    [
      "0x5c759507e8e333ebb5b7a9a47d7ed8532c52d39fd3a042a88b58423c50ae15d5c2638e343d9c71c6238aaaaaaaa97d6",
      "0x5c759507e8e333ebb5b7a9a47d7ed8532c52d39fd3a042a88b58423c50ae15d5c2638e343d9c71c6238aaaaaaaa97d6"
    ],
    [
      "0x0",
      "0x11560bf17baa99bc32126fced787c88f984f87adf7ae0c7f9a208c6b4f20a4181472aaa9cb8d555526a9ffffffffc71a"
    ],
    [
      "0x11560bf17baa99bc32126fced787c88f984f87adf7ae0c7f9a208c6b4f20a4181472aaa9cb8d555526a9ffffffffc71e",
      "0x8ab05f8bdd54cde190937e76bc3e447cc27c3d6fbd7063fcd104635a790520c0a395554e5c6aaaa9354ffffffffe38d"
    ],
    [
      "0x171d6541fa38ccfaed6dea691f5fb614cb14b4e7f4e810aa22d6108f142b85757098e38d0f671c7188e2aaaaaaaa5ed1",
      "0x0"
    ]
  ],
  // xDen
  [
    [
      "0x0",
      "0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaa63"
    ],
    [
      "0xc",
      "0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaa9f"
    ],
    ["0x1", "0x0"]
    // LAST 1
  ],
  // yNum
  [
    [
      "0x1530477c7ab4113b59a4c18b076d11930f7da5d4a07f649bf54439d87d27e500fc8c25ebf8c92f6812cfc71c71c6d706",
      "0x1530477c7ab4113b59a4c18b076d11930f7da5d4a07f649bf54439d87d27e500fc8c25ebf8c92f6812cfc71c71c6d706"
    ],
    [
      "0x0",
      "0x5c759507e8e333ebb5b7a9a47d7ed8532c52d39fd3a042a88b58423c50ae15d5c2638e343d9c71c6238aaaaaaaa97be"
    ],
    [
      "0x11560bf17baa99bc32126fced787c88f984f87adf7ae0c7f9a208c6b4f20a4181472aaa9cb8d555526a9ffffffffc71c",
      "0x8ab05f8bdd54cde190937e76bc3e447cc27c3d6fbd7063fcd104635a790520c0a395554e5c6aaaa9354ffffffffe38f"
    ],
    [
      "0x124c9ad43b6cf79bfbf7043de3811ad0761b0f37a1e26286b0e977c69aa274524e79097a56dc4bd9e1b371c71c718b10",
      "0x0"
    ]
  ],
  // yDen
  [
    [
      "0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffa8fb",
      "0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffa8fb"
    ],
    [
      "0x0",
      "0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffa9d3"
    ],
    [
      "0x12",
      "0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaa99"
    ],
    ["0x1", "0x0"]
    // LAST 1
  ]
].map((i) => i.map((pair) => Fp22.fromBigTuple(pair.map(BigInt)))));
var isogenyMapG1 = isogenyMap(Fp2, [
  // xNum
  [
    "0x11a05f2b1e833340b809101dd99815856b303e88a2d7005ff2627b56cdb4e2c85610c2d5f2e62d6eaeac1662734649b7",
    "0x17294ed3e943ab2f0588bab22147a81c7c17e75b2f6a8417f565e33c70d1e86b4838f2a6f318c356e834eef1b3cb83bb",
    "0xd54005db97678ec1d1048c5d10a9a1bce032473295983e56878e501ec68e25c958c3e3d2a09729fe0179f9dac9edcb0",
    "0x1778e7166fcc6db74e0609d307e55412d7f5e4656a8dbf25f1b33289f1b330835336e25ce3107193c5b388641d9b6861",
    "0xe99726a3199f4436642b4b3e4118e5499db995a1257fb3f086eeb65982fac18985a286f301e77c451154ce9ac8895d9",
    "0x1630c3250d7313ff01d1201bf7a74ab5db3cb17dd952799b9ed3ab9097e68f90a0870d2dcae73d19cd13c1c66f652983",
    "0xd6ed6553fe44d296a3726c38ae652bfb11586264f0f8ce19008e218f9c86b2a8da25128c1052ecaddd7f225a139ed84",
    "0x17b81e7701abdbe2e8743884d1117e53356de5ab275b4db1a682c62ef0f2753339b7c8f8c8f475af9ccb5618e3f0c88e",
    "0x80d3cf1f9a78fc47b90b33563be990dc43b756ce79f5574a2c596c928c5d1de4fa295f296b74e956d71986a8497e317",
    "0x169b1f8e1bcfa7c42e0c37515d138f22dd2ecb803a0c5c99676314baf4bb1b7fa3190b2edc0327797f241067be390c9e",
    "0x10321da079ce07e272d8ec09d2565b0dfa7dccdde6787f96d50af36003b14866f69b771f8c285decca67df3f1605fb7b",
    "0x6e08c248e260e70bd1e962381edee3d31d79d7e22c837bc23c0bf1bc24c6b68c24b1b80b64d391fa9c8ba2e8ba2d229"
  ],
  // xDen
  [
    "0x8ca8d548cff19ae18b2e62f4bd3fa6f01d5ef4ba35b48ba9c9588617fc8ac62b558d681be343df8993cf9fa40d21b1c",
    "0x12561a5deb559c4348b4711298e536367041e8ca0cf0800c0126c2588c48bf5713daa8846cb026e9e5c8276ec82b3bff",
    "0xb2962fe57a3225e8137e629bff2991f6f89416f5a718cd1fca64e00b11aceacd6a3d0967c94fedcfcc239ba5cb83e19",
    "0x3425581a58ae2fec83aafef7c40eb545b08243f16b1655154cca8abc28d6fd04976d5243eecf5c4130de8938dc62cd8",
    "0x13a8e162022914a80a6f1d5f43e7a07dffdfc759a12062bb8d6b44e833b306da9bd29ba81f35781d539d395b3532a21e",
    "0xe7355f8e4e667b955390f7f0506c6e9395735e9ce9cad4d0a43bcef24b8982f7400d24bc4228f11c02df9a29f6304a5",
    "0x772caacf16936190f3e0c63e0596721570f5799af53a1894e2e073062aede9cea73b3538f0de06cec2574496ee84a3a",
    "0x14a7ac2a9d64a8b230b3f5b074cf01996e7f63c21bca68a81996e1cdf9822c580fa5b9489d11e2d311f7d99bbdcc5a5e",
    "0xa10ecf6ada54f825e920b3dafc7a3cce07f8d1d7161366b74100da67f39883503826692abba43704776ec3a79a1d641",
    "0x95fc13ab9e92ad4476d6e3eb3a56680f682b4ee96f7d03776df533978f31c1593174e4b4b7865002d6384d168ecdd0a",
    "0x000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001"
    // LAST 1
  ],
  // yNum
  [
    "0x90d97c81ba24ee0259d1f094980dcfa11ad138e48a869522b52af6c956543d3cd0c7aee9b3ba3c2be9845719707bb33",
    "0x134996a104ee5811d51036d776fb46831223e96c254f383d0f906343eb67ad34d6c56711962fa8bfe097e75a2e41c696",
    "0xcc786baa966e66f4a384c86a3b49942552e2d658a31ce2c344be4b91400da7d26d521628b00523b8dfe240c72de1f6",
    "0x1f86376e8981c217898751ad8746757d42aa7b90eeb791c09e4a3ec03251cf9de405aba9ec61deca6355c77b0e5f4cb",
    "0x8cc03fdefe0ff135caf4fe2a21529c4195536fbe3ce50b879833fd221351adc2ee7f8dc099040a841b6daecf2e8fedb",
    "0x16603fca40634b6a2211e11db8f0a6a074a7d0d4afadb7bd76505c3d3ad5544e203f6326c95a807299b23ab13633a5f0",
    "0x4ab0b9bcfac1bbcb2c977d027796b3ce75bb8ca2be184cb5231413c4d634f3747a87ac2460f415ec961f8855fe9d6f2",
    "0x987c8d5333ab86fde9926bd2ca6c674170a05bfe3bdd81ffd038da6c26c842642f64550fedfe935a15e4ca31870fb29",
    "0x9fc4018bd96684be88c9e221e4da1bb8f3abd16679dc26c1e8b6e6a1f20cabe69d65201c78607a360370e577bdba587",
    "0xe1bba7a1186bdb5223abde7ada14a23c42a0ca7915af6fe06985e7ed1e4d43b9b3f7055dd4eba6f2bafaaebca731c30",
    "0x19713e47937cd1be0dfd0b8f1d43fb93cd2fcbcb6caf493fd1183e416389e61031bf3a5cce3fbafce813711ad011c132",
    "0x18b46a908f36f6deb918c143fed2edcc523559b8aaf0c2462e6bfe7f911f643249d9cdf41b44d606ce07c8a4d0074d8e",
    "0xb182cac101b9399d155096004f53f447aa7b12a3426b08ec02710e807b4633f06c851c1919211f20d4c04f00b971ef8",
    "0x245a394ad1eca9b72fc00ae7be315dc757b3b080d4c158013e6632d3c40659cc6cf90ad1c232a6442d9d3f5db980133",
    "0x5c129645e44cf1102a159f748c4a3fc5e673d81d7e86568d9ab0f5d396a7ce46ba1049b6579afb7866b1e715475224b",
    "0x15e6be4e990f03ce4ea50b3b42df2eb5cb181d8f84965a3957add4fa95af01b2b665027efec01c7704b456be69c8b604"
  ],
  // yDen
  [
    "0x16112c4c3a9c98b252181140fad0eae9601a6de578980be6eec3232b5be72e7a07f3688ef60c206d01479253b03663c1",
    "0x1962d75c2381201e1a0cbd6c43c348b885c84ff731c4d59ca4a10356f453e01f78a4260763529e3532f6102c2e49a03d",
    "0x58df3306640da276faaae7d6e8eb15778c4855551ae7f310c35a5dd279cd2eca6757cd636f96f891e2538b53dbf67f2",
    "0x16b7d288798e5395f20d23bf89edb4d1d115c5dbddbcd30e123da489e726af41727364f2c28297ada8d26d98445f5416",
    "0xbe0e079545f43e4b00cc912f8228ddcc6d19c9f0f69bbb0542eda0fc9dec916a20b15dc0fd2ededda39142311a5001d",
    "0x8d9e5297186db2d9fb266eaac783182b70152c65550d881c5ecd87b6f0f5a6449f38db9dfa9cce202c6477faaf9b7ac",
    "0x166007c08a99db2fc3ba8734ace9824b5eecfdfa8d0cf8ef5dd365bc400a0051d5fa9c01a58b1fb93d1a1399126a775c",
    "0x16a3ef08be3ea7ea03bcddfabba6ff6ee5a4375efa1f4fd7feb34fd206357132b920f5b00801dee460ee415a15812ed9",
    "0x1866c8ed336c61231a1be54fd1d74cc4f9fb0ce4c6af5920abc5750c4bf39b4852cfe2f7bb9248836b233d9d55535d4a",
    "0x167a55cda70a6e1cea820597d94a84903216f763e13d87bb5308592e7ea7d4fbc7385ea3d529b35e346ef48bb8913f55",
    "0x4d2f259eea405bd48f010a01ad2911d9c6dd039bb61a6290e591b36e636a5c871a5c29f4f83060400f8b49cba8f6aa8",
    "0xaccbb67481d033ff5852c1e48c50c477f94ff8aefce42d28c0f9a88cea7913516f968986f7ebbea9684b529e2561092",
    "0xad6b9514c767fe3c3613144b45f1496543346d98adf02267d5ceef9a00d9b8693000763e3b90ac11e99b138573345cc",
    "0x2660400eb2e4f3b628bdd0d53cd76f2bf565b94e72927c1cb748df27942480e420517bd8714cc80d1fadc1326ed06f7",
    "0xe0fa1d816ddc03e6b24255e0d7819c171c40f65e273b853324efcd6356caa205ca2f570f13497804415473a1d634b8f",
    "0x000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001"
    // LAST 1
  ]
].map((i) => i.map((j) => BigInt(j))));
var G1_SWU;
var G2_SWU;
var getG1_SWU = () => G1_SWU || (G1_SWU = mapToCurveSimpleSWU(Fp2, {
  A: Fp2.create(BigInt("0x144698a3b8e9433d693a02c96d4982b0ea985383ee66a8d8e8981aefd881ac98936f8da0e0f97f5cf428082d584c1d")),
  B: Fp2.create(BigInt("0x12e2908d11688030018b12e8753eee3b2016c1f0f24f4070a0b9c14fcef35ef55a23215a316ceaa5d1cc48e98e172be0")),
  Z: Fp2.create(BigInt(11))
}));
var getG2_SWU = () => G2_SWU || (G2_SWU = mapToCurveSimpleSWU(Fp22, {
  // SWU map for the RFC 9380 §8.8.2 pre-isogeny G2 curve E':
  // y² = x³ + 240i * x + 1012 + 1012i
  A: Fp22.create({ c0: Fp2.create(_0n9), c1: Fp2.create(BigInt(240)) }),
  // A' = 240 * I
  B: Fp22.create({ c0: Fp2.create(BigInt(1012)), c1: Fp2.create(BigInt(1012)) }),
  // B' = 1012 * (1 + I)
  Z: Fp22.create({ c0: Fp2.create(BigInt(-2)), c1: Fp2.create(BigInt(-1)) })
  // Z: -(2 + I)
}));
function mapToG1(scalars) {
  const { x, y } = getG1_SWU()(Fp2.create(scalars[0]));
  return isogenyMapG1(x, y);
}
function mapToG2(scalars) {
  const { x, y } = getG2_SWU()(Fp22.fromBigTuple(scalars));
  return isogenyMapG2(x, y);
}

// src/beacon/round.ts
function roundOf(chain, round, answer) {
  const members = membersOf(answer);
  if (members["round"] !== round)
    throw new BeaconError(`the answer is of round ${JSON.stringify(members["round"])}, not of ${round}`);
  const signature = bytesOf2("signature", members["signature"]);
  const number = new Uint8Array(8);
  new DataView(number.buffer).setBigUint64(0, BigInt(round));
  const before = chain.scheme.isChained ? bytesOf2("previous_signature", members["previous_signature"]) : new Uint8Array(0);
  if (!holds(chain, digestOf(before, number), signature))
    throw new BeaconError(`the signature of round ${round} does not hold under the key of the chain`);
  const randomness = bytesToHex(digestOf(signature));
  if (members["randomness"] !== void 0 && members["randomness"] !== randomness)
    throw new BeaconError(`the randomness of round ${round} is not the hash of its signature`);
  return { round, randomness, signature: bytesToHex(signature) };
}
function holds({ scheme, publicKey }, message, signature) {
  try {
    if (scheme.hasShortSignatures) {
      const short = bls12_381.shortSignatures;
      return short.verify(signature, short.hash(message, scheme.domain), publicKey);
    }
    const long = bls12_381.longSignatures;
    return long.verify(signature, long.hash(message, scheme.domain), publicKey);
  } catch {
    return false;
  }
}

// src/certificate/verify-outcome.ts
var OUTCOME = object({
  type: { type: "string", const: "draw_outcome" },
  version: { type: "integer", const: 1 },
  statement_sha256: sha2563,
  state: oneOfWords(Object.keys(ENDS)),
  reason: orNull(text2),
  secret: {},
  nonce: {},
  beacon: {},
  values: {},
  ended_at: time
});
function checkOutcome(input, add2) {
  const { draw } = input;
  if (member(draw, "state") === "committed") {
    add2("end", () => notEnded(draw));
    return;
  }
  const parts = [];
  for (const [name, read] of PARTS) {
    const part = found(() => read(input));
    add2(name, () => part().holds);
    parts.push(part.known?.bytes);
  }
  add2("values", () => valuesVerdict2(input, parts));
  add2("end", () => endVerdict(input));
}
var EMPTY = new Uint8Array(0);
var PARTS = [
  ["secret", secretOf],
  ["nonce", nonceOf],
  ["beacon", randomnessOf]
];
function notEnded(draw) {
  const dueAt = text(member(draw, "statement", "due_at"));
  if (["outcome", "answer", "end"].some((name) => (member(draw, name) ?? null) !== null))
    refuse('The state of the draw is "committed", but the draw has an outcome, an answer or an end.');
  return `The draw has not ended. It is due at ${dueAt}. After that time, the log must show how it ended.`;
}
function secretOf({ draw }) {
  const told2 = member(draw, "outcome", "secret");
  const opened = text(member(draw, "answer", "data", "bytes"));
  if (told2 === null && member(draw, "outcome", "reason") === "secret_lost")
    return { holds: "The service says that it lost the committed bytes, so the draw has no values." };
  if (member(draw, "answer", "data", "encoding") !== "hex" || opened === void 0 || told2 !== opened)
    refuse("The outcome reveals bytes that are not those of the answer that it committed to.");
  if (!/^[0-9a-f]{64}$/.test(opened)) refuse("The revealed bytes are not 32 bytes in hex.");
  return {
    holds: "The revealed bytes are those of the answer that the draw committed to.",
    bytes: hexToBytes(opened)
  };
}
function nonceOf({ draw }) {
  const [fixed, fixedHash] = ["nonce", "nonce_sha256"].map((name) => member(draw, "statement", name));
  const told2 = member(draw, "outcome", "nonce") ?? null;
  if (fixed === void 0 && fixedHash === void 0) {
    if (told2 !== null) refuse("The statement has no nonce, but the outcome has one.");
    return { holds: "The caller gave no nonce.", bytes: EMPTY };
  }
  if (told2 === null) {
    if (isRevealed(draw)) refuse("The outcome lacks the nonce of the caller.");
    return { holds: "The caller did not reveal the nonce." };
  }
  if (typeof told2 !== "string" || !/^(?:[0-9a-f]{2}){1,64}$/.test(told2))
    refuse("The nonce in the outcome is not 1 to 64 bytes in hex.");
  const bytes = hexToBytes(told2);
  if (fixed === void 0 ? fixedHash !== digestText(bytes) : fixed !== told2)
    refuse("The nonce in the outcome is not the one that the statement fixed.");
  return { holds: "The nonce is the one that the statement fixed.", bytes };
}
function randomnessOf({ draw, round: due }) {
  const round = due();
  const told2 = member(draw, "outcome", "beacon") ?? null;
  if (round === void 0) {
    if (told2 !== null) refuse("The statement has no beacon, but the outcome has one.");
    return { holds: withoutBeacon(draw), bytes: EMPTY };
  }
  if (told2 === null) {
    if (isRevealed(draw)) refuse("The outcome lacks the round of the beacon.");
    return {
      holds: `The outcome has no round of the beacon. Its reason is ${show(member(draw, "outcome", "reason"))}.`
    };
  }
  const { chain, atMs } = round;
  if (member(told2, "chain") !== chain.hash)
    refuse("The round in the outcome is of another chain than that of the statement.");
  try {
    const { randomness } = roundOf(chain, round.round, told2);
    const when = timeText(atMs / 1e3);
    const said = `Round ${round.round} of ${chain.hash}, due at ${when}, is signed by the beacon.`;
    return { holds: `${said} ${whoSigns(chain.hash)}`, bytes: hexToBytes(randomness) };
  } catch (error) {
    if (!(error instanceof BeaconError)) throw error;
    refuse(`The round of the beacon is not valid: ${error.message}.`);
  }
}
function withoutBeacon(draw) {
  return member(draw, "statement", "nonce_sha256") === void 0 ? "The draw waits for no beacon, so the service could know its outcome when it committed." : "The draw waits for no beacon, so the service and the holder of the nonce could choose the outcome together.";
}
function whoSigns(chainHash) {
  return !Object.hasOwn(LEAGUE_OF_ENTROPY, chainHash) ? "This chain is not one of the League of Entropy: whoever runs it may know its rounds beforehand and choose them." : `It is the chain ${LEAGUE_OF_ENTROPY[chainHash]} of the League of Entropy.`;
}
function valuesVerdict2({ draw, digest: digest2 }, [secret, nonce, randomness]) {
  const told2 = member(draw, "outcome", "values") ?? null;
  if (secret === void 0 || nonce === void 0 || randomness === void 0) {
    if (isRevealed(draw)) refuse("The values cannot be computed again, because a check above failed.");
    if (told2 !== null) refuse("The outcome has values, but not everything that they follow from.");
    return "The draw has no values.";
  }
  const reason = member(draw, "outcome", "reason");
  if (told2 === null) {
    if (isRevealed(draw)) refuse("The outcome has no values.");
    return `The draw has no values. Its reason is ${show(reason)}.`;
  }
  const statementDigest = hexToBytes(digest2.slice("sha256:".length));
  const key = drawKey({ secret, nonce, randomness, statementDigest });
  const values = drawnValues(member(draw, "statement", "request"), drawStream(key));
  const inputs = ["the committed bytes"];
  if (nonce.length > 0) inputs.push("the nonce");
  if (randomness.length > 0) inputs.push("the round of the beacon");
  const from = inputs.join(", ").replace(/, ([^,]*)$/, " and $1");
  if (canonical(values) !== canonical(told2)) refuse(`The values do not follow from ${from}.`);
  const what = values.length === 1 ? "The one value" : `Each of the ${values.length} values`;
  if (isRevealed(draw)) return `${what} follows from ${from}.`;
  return `${what} follows from ${from}, but does not count. The reason is ${show(reason)}.`;
}
function endVerdict({ draw, keys, digest: digest2, round: due }) {
  const told2 = member(draw, "outcome");
  checkForm(OUTCOME, told2, "outcome");
  if (canonical(told2) === void 0) refuse("The outcome has text that is not well-formed Unicode.");
  const outcome = told2;
  const { state, reason } = outcome;
  if (member(draw, "state") !== state)
    refuse(
      `The state of the draw is ${show(member(draw, "state"))}, but that of its outcome is ${show(state)}.`
    );
  if (outcome.statement_sha256 !== digest2) refuse("The outcome is of another statement.");
  if (!ENDS[state].some((each) => each === reason))
    refuse(`A draw of the state ${show(state)} cannot have the reason ${show(reason)}.`);
  const [dueMs2, givesUpMs] = ["due_at", "gives_up_at"].map((name) => timeOf(member(draw, "statement", name)));
  const endedMs = timeOf(outcome.ended_at);
  if (state === "revealed" && !(endedMs >= dueMs2)) refuse("The draw was revealed before it was due.");
  if (state === "cancelled" && !(endedMs < dueMs2)) refuse("The draw was cancelled after it was due.");
  if (state === "failed" && reason !== "secret_lost" && !(endedMs >= givesUpMs))
    refuse("The draw failed before the time until which its statement says that it is tried.");
  const leaf = drawEndText(outcome);
  if (member(draw, "end", "leaf") !== leaf) refuse("The leaf in the log does not record this outcome.");
  const { atS } = about("The end", () => loggedLeaf(leaf, member(draw, "end", "proof"), keys));
  const round = due.known;
  if (state === "cancelled" && round !== void 0 && atS * 1e3 >= round.atMs)
    refuse(
      `The log held the cancellation only by ${timeText(atS)}, which is not before round ${round.round} was due, at ${timeText(round.atMs / 1e3)}.`
    );
  return `The draw ended as ${state}. The log held its end by ${timeText(atS)}.`;
}
function isRevealed(draw) {
  return member(draw, "state") === "revealed";
}

// src/certificate/verify-draw.ts
var SECRET_BYTES = 32;
function verifyDraw(given) {
  const { draw, keys, witnesses, nowMs } = given;
  const statement = found(() => readStatement(draw));
  const digest2 = statement.known === void 0 ? "" : hashOf(statement.known);
  const answer = member(draw, "answer") ?? void 0;
  const certificate = member(draw, "certificate");
  const round = found(() => roundDue(draw));
  const policy = witnesses === void 0 ? {} : { witnesses };
  const response = answer === void 0 ? {} : { response: answer };
  const ofCertificate = verifyAnswer({ certificate, keys, requireFixed: true, ...policy, ...response });
  const checks = [];
  const add2 = (name, holds2) => checks.push(check(name, holds2));
  add2("statement", () => statementVerdict(draw, statement(), digest2));
  checks.push(...ofCertificate.checks);
  add2("commitment", () => commitmentVerdict(draw, statement(), digest2));
  add2("logged", () => loggedVerdict(given, statement(), round()));
  checkOutcome({ draw, keys, digest: digest2, round }, add2);
  const uncovered = [...unknownMembersIn(draw, DOCUMENT), ...unusedIn(draw), ...ofCertificate.notCovered];
  const standing = standingOf(draw, nowMs);
  return {
    ok: checks.every(({ ok }) => ok),
    checks,
    notCovered: uncovered,
    standing,
    advice: adviceOn(standing, draw, round.known)
  };
}
function standingOf(draw, nowMs) {
  const state = member(draw, "state");
  if (state === "revealed" || state === "cancelled") return state;
  if (state !== "committed") return "failed";
  const [dueMs2, givesUpMs] = ["due_at", "gives_up_at"].map((name) => timeOf(member(draw, "statement", name)));
  return nowMs <= (Number.isNaN(givesUpMs) ? dueMs2 : givesUpMs) + OVERDUE_MS ? "pending" : "overdue";
}
function adviceOn(standing, draw, round) {
  const reason = member(draw, "outcome", "reason");
  switch (standing) {
    case "revealed":
      return void 0;
    case "pending":
      return `It is due at ${text(member(draw, "statement", "due_at"))} and has no values before then.`;
    case "overdue":
      return "It should have ended. Fetch it again. If it still has no end, the service is holding its result back.";
    case "cancelled":
      return "It has no result. Its holder cancelled it before it was due.";
    case "failed":
      if (reason === "beacon_missing" && round !== void 0)
        return `It has no result. Check whether the beacon published round ${round.round} of chain ${round.chain.hash}: if it did, the service did not use it.`;
      if (reason === "nonce_missing") return "It has no result. Whoever held the nonce did not reveal it.";
      return `It has no result (${show(reason)}). The service could have chosen that this draw fails.`;
  }
}
var LEAF = shapeOf("leaf", "proof");
var RUN = shapeOf("first", "hashes", "path");
var DOCUMENT = {
  ...shapeOf("type", "version", "id", "state", "statement", "statement_sha256", "chances"),
  ...shapeOf("committed_at", "certificate_id", "outcome"),
  answer: null,
  // verifyAnswer lists what of the answer no check covers
  certificate: {
    ...shapeOf("certificate", "revocation"),
    lots: { ...LEAF, runs: RUN }
  },
  commit: LEAF,
  chain: shapeOf(...INFO_MEMBERS),
  end: LEAF
};
function unusedIn(draw) {
  const isUnused = (member(draw, "chain") ?? null) !== null && member(draw, "statement", "beacon") === void 0;
  return isUnused ? ["chain"] : [];
}
function roundDue(draw) {
  const beacon = member(draw, "statement", "beacon");
  if (beacon === void 0) return void 0;
  const round = member(beacon, "round");
  if (typeof round !== "number" || !Number.isSafeInteger(round) || round < 1)
    refuse(`The statement names round ${show(round)} of the beacon, which is not a positive whole number.`);
  try {
    const chain = chainOf(member(draw, "chain"), text(member(beacon, "chain")) ?? "");
    return { chain, round, atMs: dueMs(chain, round) };
  } catch (error) {
    if (!(error instanceof BeaconError)) throw error;
    refuse(`The beacon's chain is not the one that the statement names: ${error.message}.`);
  }
}
function commitmentVerdict(draw, statement, digest2) {
  const document = member(draw, "certificate", "certificate");
  if (document === void 0) refuse("The certificate cannot be read yet: fetch the draw again in a moment.");
  const label = member(document, "label");
  const certified = member(label, "user_data_sha256");
  if (certified !== digest2)
    refuse(`The certificate is bound to ${show(certified)}, not to the hash of this statement.`);
  if (member(document, "entropy_mode") !== "pure")
    refuse("The certificate is not of pure mode, so no lot fixes the committed bytes.");
  const drawn = listAt(document, "provenance", "drawn");
  if (drawn.reduce((sum, each) => sum + (numberIn(member(each, "bytes")) ?? Number.NaN), 0) !== SECRET_BYTES)
    refuse(`The certificate does not commit to ${SECRET_BYTES} bytes of its lots.`);
  if (member(draw, "certificate_id") !== member(document, "id"))
    refuse("certificate_id of the document is not the id of the certificate in it.");
  if (member(draw, "committed_at") !== member(document, "issued_at"))
    refuse("committed_at of the document is not the time at which the certificate was issued.");
  if (!(timeOf(statement.due_at) >= timeOf(member(document, "issued_at"))))
    refuse("The draw was due before it was committed.");
  if (member(label, "public") !== statement.public)
    refuse("The statement and the certificate differ in whether the draw is public.");
  const told2 = member(label, "purpose") ?? member(draw, "answer", "label", "purpose");
  if (told2 === void 0 ? member(label, "purpose_commitment") === void 0 : told2 !== statement.purpose)
    refuse(
      `The certificate has the purpose ${show(told2)}, but the statement has ${show(statement.purpose)}.`
    );
  const serial = `${show(member(label, "serial"))} of series ${show(member(label, "series"))}`;
  return `The certificate is bound to this statement and fixes ${SECRET_BYTES} bytes of logged lots. It is number ${serial}: the answers of one account for one purpose.`;
}
var OWN_CLOCK = "That the commitment came before the round rests on the log's own clock: to check it, name witnesses (--witness), or compare commit.leaf with a copy that was published beforehand.";
function loggedVerdict(given, statement, round) {
  const { draw, keys, witnesses } = given;
  const [leaf, proof] = ["leaf", "proof"].map((name2) => member(draw, "commit", name2));
  const certificate = member(draw, "certificate", "certificate");
  const delivered = text(member(certificate, "hashes", "delivered")) ?? "";
  if (typeof leaf !== "string" || !delivered.isWellFormed() || leaf !== drawCommitText(statement, delivered))
    refuse(
      "The leaf in the log does not commit to this statement and to the bytes that the certificate fixes."
    );
  if (round === void 0) {
    const { atS: atS2 } = about("The commitment", () => loggedLeaf(leaf, proof, keys));
    return `The log held the commitment by ${timeText(atS2)}. The draw waits for no beacon.`;
  }
  const [name, dueAt] = [`round ${round.round}`, timeText(round.atMs / 1e3)];
  if (timeOf(statement.due_at) < round.atMs)
    refuse(`The draw was due before ${name} of its beacon, which was due at ${dueAt}.`);
  const deadline = { event: `${name} was due, at ${dueAt}`, latestMs: round.atMs - 1, clocksMs: 0 };
  const ofCertificate = [issuedText(certificate) ?? "", member(certificate, "proof")];
  const atS = Math.max(
    heldBefore("the commitment", [leaf, proof], given, deadline).atS,
    heldBefore("the certificate", ofCertificate, given, deadline).atS
  );
  const seenBy = witnesses === void 0 ? "The log" : `The log and at least ${witnesses.quorum} witnesses`;
  const byOwnWord = witnesses === void 0 ? ` ${OWN_CLOCK}` : "";
  return `${seenBy} held the commitment by ${timeText(atS)}, before ${name} of the beacon was due, at ${dueAt}.${byOwnWord}`;
}

// src/certificate/octet-answer.ts
function fieldsOf(head) {
  const fields2 = /* @__PURE__ */ new Map();
  for (const line of head.split(/\r?\n/)) {
    if (/^HTTP\//.test(line)) fields2.clear();
    const colon = line.indexOf(":");
    if (colon > 0) fields2.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return fields2;
}
function responseOfFields(fields2) {
  const uuid2 = fields2.get("x-request-id");
  const verified = fields2.get("x-nist-verified");
  const texts2 = (names) => Object.fromEntries(
    Object.entries(names).flatMap(([member2, name]) => {
      const value = fields2.get(name);
      return value === void 0 ? [] : [[member2, value]];
    })
  );
  const bits = uuid2 === void 0 ? void 0 : bytesOfUuid(uuid2);
  return {
    ...texts2({ media_type: "content-type" }),
    data: { metadata: texts2({ entropy_mode: "x-entropy-mode" }) },
    meta: uuid2 === void 0 ? {} : { request_id: uuid2 },
    metadata: {
      ...texts2({
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
function parseStrictJson(bytes, from, hint = "") {
  const text3 = new TextDecoder().decode(bytes);
  let value;
  try {
    value = JSON.parse(text3);
  } catch (error) {
    throw new Error(`${from} is not JSON${hint}`, { cause: error });
  }
  const repeated = repeatedMember(text3);
  if (repeated === void 0) return value;
  throw new Error(
    `${from} has two members ${JSON.stringify(repeated)} in one object: readers differ in which counts`
  );
}

// clients/typescript/program/verification-text.ts
var TAMPERED = 1;
var NOT_CHECKED = 2;
var WITHOUT_RESULT = 3;
function exitStatusOf(verification) {
  if (!verification.ok) return TAMPERED;
  const standing = "standing" in verification ? verification.standing : "revealed";
  return standing === "revealed" ? 0 : WITHOUT_RESULT;
}
function isDraw(document) {
  return document?.type === "draw";
}
function verificationText({ checks, notCovered: notCovered2 }) {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.map(
    ({ name, ok, why }) => `${ok ? "ok    " : "FAILED"}  ${name.padEnd(width)}  ${printable(why)}`
  );
  if (notCovered2.length > 0)
    lines.push(`not covered by the certificate: ${printable(notCovered2.join(", "))}`);
  return lines.map((line) => `${line}
`).join("");
}
function verdictText(verification, what) {
  const failed = verification.checks.filter(({ ok }) => !ok).map(({ name }) => name);
  if (failed.length > 0) return `${what}: not verified: ${failed.join(", ")} failed`;
  if (!("standing" in verification) || verification.advice === void 0) return `${what}: verified`;
  return `${what}: ${verification.standing}: ${printable(verification.advice)}`;
}

// clients/typescript/program/standalone-verifier.ts
var USAGE = `usage: qrn-verify.mjs [OPTIONS] ANSWER CERTIFICATE.json KEYS.json
       qrn-verify.mjs [OPTIONS] CERTIFICATE.json KEYS.json
       qrn-verify.mjs [OPTIONS] DRAW.json KEYS.json

Verifies a saved answer, its certificate and the signed log that contains it,
or a committed draw. The program sends no requests.
  ANSWER            the body of the answer; without it, only the certificate is
                    verified
  CERTIFICATE.json  the body of /v1/certificate?id=..., or of the verification
                    page as JSON
  DRAW.json         the body of /v1/draws/ID
  KEYS.json         /.well-known/qrn-keys.json, preferably saved long before
                    the answer or obtained from someone else

  --headers HEADERS.txt  the headers of an answer in octets, as
                         curl -D HEADERS.txt writes them
  --witness KEY,...      verifier keys of witnesses that you trust and that
                         must have cosigned the log
  --quorum N             the number of these witnesses that must have cosigned;
                         default: all
  --require-fixed        reject an answer whose certificate does not show that
                         the bytes were logged before the answer
Exit status, as of qrn verify: 0 if all checks pass, 1 if a check fails, 2 if
the files cannot be read, 3 if a draw is as logged but has no result, because
it is pending, overdue, cancelled or failed.
`;
var OPTIONS = ["--headers", "--witness", "--quorum", "--require-fixed"];
async function runIfMain() {
  const { process: process3 } = globalThis;
  if (process3 !== void 0 && await isMain(process3)) process3.exitCode = await run(process3);
}
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
  const given = argv.slice(2);
  if (given.includes("--help") || given.includes("-h")) {
    stdout.write(USAGE);
    return 0;
  }
  const files = [];
  const options = /* @__PURE__ */ new Map();
  for (let word = given.shift(); word !== void 0; word = given.shift()) {
    if (!word.startsWith("--")) files.push(word);
    else options.set(word, word === "--require-fixed" ? "" : given.shift());
  }
  const wrong = [...options].find(([name, value]) => !OPTIONS.includes(name) || value === void 0);
  if (wrong !== void 0) {
    const allowed = OPTIONS.join(", ");
    stderr.write(
      `qrn-verify: the option ${wrong[0]} is unknown or has no value; the options are ${allowed}
`
    );
    return NOT_CHECKED;
  }
  const headers = options.get("--headers");
  if (files.length !== 3 && (files.length !== 2 || headers !== void 0)) {
    stderr.write(USAGE);
    return NOT_CHECKED;
  }
  const isWitnessed = options.has("--witness") || options.has("--quorum");
  const witnesses = isWitnessed ? readWitnessPolicy(options.get("--witness") ?? "", options.get("--quorum") ?? "") : void 0;
  if (typeof witnesses === "string") {
    stderr.write(`qrn-verify: --witness and --quorum: ${witnesses}
`);
    return NOT_CHECKED;
  }
  const policy = witnesses === void 0 ? {} : { witnesses };
  let verification;
  try {
    const [certificate, keys] = await Promise.all(files.slice(-2).map(readJson));
    if (isDraw(certificate) && files.length === 2) {
      verification = await verifyDraw({ draw: certificate, keys, ...policy, nowMs: Date.now() });
    } else {
      const answer = files.length === 2 ? {} : await answerOf(files[0], headers);
      const requireFixed = options.has("--require-fixed");
      verification = await verifyAnswer({ ...answer, certificate, keys, ...policy, requireFixed });
    }
  } catch (error) {
    stderr.write(`qrn-verify: ${error instanceof Error ? error.message : String(error)}
`);
    return NOT_CHECKED;
  }
  stdout.write(verificationText(verification));
  const status = exitStatusOf(verification);
  const verdict = `${verdictText(verification, files[0])}
`;
  if (status === 0) stdout.write(verdict);
  else stderr.write(verdict);
  return status;
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
  return parseStrictJson(await readBytes(path), path);
}

// qrn-verify.mjs
await runIfMain();
export {
  fieldsOf,
  readWitnessPolicy,
  responseOfFields,
  verifyAnswer,
  verifyDraw
};
// Licence: Apache-2.0, as is canonicalize (https://github.com/erdtman/canonicalize), which is inside. So are parts of @noble/curves, @noble/ciphers and @noble/hashes:
// @noble/curves:
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
// @noble/ciphers:
// The MIT License (MIT)
//
// Copyright (c) 2022 Paul Miller (https://paulmillr.com)
// Copyright (c) 2016 Thomas Pornin <pornin@bolet.org>
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
// @noble/hashes:
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
