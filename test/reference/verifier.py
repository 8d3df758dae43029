"""A second verifier of certificates, written from docs/certificates.md alone, with nothing but Python's standard library.

It shares no line with the verifier of the service. `python3 verifier.py CASE.json...` reads whole cases, as
`node scripts/certificate-vectors.ts FOLDER` writes those of test/vectors/certificate, and prints a line of JSON
for each: the checks of the document's table that fail.
"""
import base64
import datetime
import hashlib
import itertools
import json
import math
import re
import sys
import uuid
from fractions import Fraction

# Ed25519 (RFC 8032 §5.1), on extended coordinates
P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def add(a, b):
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    c, d = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = f - e, d - c, d + c, f + e
    return e * f % P, g * h % P, f * g % P, e * h % P


def sum_of(s, a, k, b):
    """s·a + k·b, one bit of both at a time."""
    both, out = add(a, b), (0, 1, 1, 0)
    for i in reversed(range(max(s.bit_length(), k.bit_length()))):
        out = add(out, out)
        bits = s >> i & 1, k >> i & 1
        if any(bits):
            out = add(out, both if all(bits) else a if bits[0] else b)
    return out


def encode(point):
    z = pow(point[2], -1, P)
    return (point[1] * z % P | (point[0] * z % P & 1) << 255).to_bytes(32, "little")


def decode(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or (x * x - square) % P or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


BASE = decode((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def signature_holds(key, message, signature):
    point, s = decode(key), int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or point is None or s >= L:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    minus = (P - point[0], point[1], 1, P - point[3])
    return encode(sum_of(s, BASE, k, minus)) == signature[:32]


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def hexed(data):
    return "sha256:" + data.hex()


def number(value):
    """ECMAScript prints a number with the fewest digits; its exponents begin at 10^21 and at 10^-7."""
    mantissa, _, exponent = f"{float(value)!r}".partition("e")
    sign, mantissa = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))  # before which digit
    digits = digits.rstrip("0")
    if not digits:
        return "0"
    if 0 < point <= 21:
        return sign + (digits.ljust(point, "0") if len(digits) <= point else digits[:point] + "." + digits[point:])
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    return sign + digits[0] + ("." + digits[1:] if digits[1:] else "") + f"e{point - 1:+d}"


def canonical(value):
    """RFC 8785 as bytes; a lone surrogate raises UnicodeEncodeError."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return b"{" + b",".join(canonical(name) + b":" + canonical(value[name]) for name in names) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(map(canonical, value)) + b"]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value).encode()
    return json.dumps(value, ensure_ascii=False).encode()


def milliseconds(text):
    assert re.fullmatch(r"[0-9-]{10}T[0-9:]{8}\.[0-9]{3}Z", text)
    at = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc)
    return round(at.timestamp() * 1000)


def unbase64(text):
    data = base64.b64decode(text, validate=True)
    assert base64.b64encode(data).decode() == text
    return data


def hashes(texts):
    return [unbase64(text) for text in texts]



def bears_citations(lot):
    upstream = lot["upstream"]
    if upstream is None:
        return True
    cited = upstream["certificates"]
    assert set(upstream) == {"log", "origin", "certificates"} and cited and isinstance(upstream["log"], str)
    for each in cited:
        assert set(each) == {"id", "leaf"} and re.fullmatch("cert_[%s]{26}" % ALPHABET, each["id"])
        assert len(unbase64(each["leaf"])) == 32
    few = lot["raw_bits"] > 8192 * len(cited) or len({each["id"] for each in cited}) < len(cited)
    return not few and ORIGINS.index(lot["origin"]) >= ORIGINS.index(upstream["origin"])


def bears_figures(lot):
    """Whether what a lot claims can be true beside the autocorrelation that it tells of."""
    evidence, bits = lot["evidence"], lot["raw_bits"]
    figures = evidence["figures"]
    if "autocorrelation" not in figures or figures["autocorrelation_lag"] == 0:
        return True
    size, bound, lag = (abs(figures["autocorrelation" + end]) for end in ("", "_bound", "_lag"))
    lags = min(2**18, 2 ** max(0, math.floor(math.log2(bits)) - 1))
    expected = math.sqrt(2 * (math.log(2 * (lags - 1)) + 40 * math.log(2)) / (bits - lag))
    if type(lag) is not int or not 1 <= lag < lags or abs(bound - expected) > 2e-6:
        return False
    if size <= bound:
        return True
    left = 1 - math.log2(1 + math.sqrt(min(1, size + bound))) + 2e-6
    told = [each for each in (lot["min_entropy_per_bit"], evidence["min_entropy_per_bit"]) if each is not None]
    return evidence["claim"] != "calibrated" and evidence["min_entropy_per_bit"] is not None and max(told) <= left

class Proof:
    def __init__(self, text):
        head, _, note = text.partition("\n\n")
        version, index, *path = head.split("\n")
        assert version == "c2sp.org/tlog-proof@v1" and re.fullmatch("index (0|[1-9][0-9]*)", index)
        self.index, self.path = int(index[6:]), hashes(path)
        signed, _, signatures = note.rpartition("\n\n")
        self.signed, self.lines = signed + "\n", signatures.removesuffix("\n").split("\n")
        self.origin, size, root = self.signed.split("\n")[:3]
        assert re.fullmatch("0|[1-9][0-9]*", size)
        self.size, self.root = int(size), unbase64(root)

    def includes(self, entry):  # RFC 9162 §2.1.3.2
        fn, sn, node = self.index, self.size - 1, sha256(b"\0", entry)
        for sibling in self.path:
            if sn == 0:
                return False
            if fn & 1 or fn == sn:
                node = sha256(b"\1", sibling, node)
                while fn and not fn & 1:
                    fn, sn = fn >> 1, sn >> 1
            else:
                node = sha256(b"\1", node, sibling)
            fn, sn = fn >> 1, sn >> 1
        return self.index < self.size and sn == 0 and node == self.root

    def signers(self, keys):
        """The keys that signed, and the times that they gave; None when one is wrong or all are unknown."""
        logs = [keys, *keys.get("predecessors", [])]
        plain, seconds = [], {}
        for key in next((log["keys"] for log in logs if log["origin"] == self.origin), []):
            public = unbase64(key["public_key"])
            for line in self.lines:
                dash, name, encoded = line.split(" ")
                assert dash == "\u2014" and name and not re.search(r"[\s+]", name)
                data = unbase64(encoded)
                for kind in (1, 4):
                    if name != self.origin or data[:4] != key_id(name, kind, public):
                        continue
                    at = int.from_bytes(data[4:12], "big") if kind == 4 else None
                    head = "" if kind == 1 else f"cosignature/v1\ntime {at}\n"
                    signature = data[4:] if kind == 1 else data[12:]
                    if not signature_holds(public, (head + self.signed).encode(), signature):
                        return None
                    if kind == 1:
                        plain.append(key)
                    else:
                        seconds[key["key_id"]] = at
        if not plain or any(key.get("cosigner_key") and key["key_id"] not in seconds for key in plain):
            return None
        return plain, seconds


def key_id(name, kind, public):
    return sha256(name.encode(), b"\n", bytes([kind]), public)[:4]


def run_root(size, first, run, path):
    """Root of the tree of `size` leaves in which `run` begins at place `first`; takes from `path`."""
    assert run and first + len(run) <= size
    while size > 1:
        last = first + len(run) - 1
        run = [path.pop(0), *run] if first % 2 else run
        run = [*run, path.pop(0)] if last % 2 == 0 and last + 1 < size else run
        pairs = [run[i : i + 2] for i in range(0, len(run), 2)]
        run = [sha256(b"\1", *pair) if len(pair) == 2 else pair[0] for pair in pairs]
        first, size = first // 2, (size + 1) // 2
    return run[0]


CLAIMS = ["simulated", "statistical", "calibrated"]
ORIGINS = ["quantum-processor", "qrng-device", "simulated", "replay", "system"]
DATA = {  # what `data` has beside `metadata`, by endpoint
    "integers": "count max min sort unique values", "bytes": "bits bytes count encoding", "floats": "count precision values",
    "uuid": "count uuids version", "bitstring": "bitstring length", "shuffle": "count items", "batch": "count params type values",
    "sample": "count items list_sha256 of", "weighted": "count items list_sha256 weights",
    "strings": "alphabet count length values", "sequences": "count length max min sort unique values",
    "permutations": "count length values", "gaussians": "count digits mean stddev values",
}
PARAMS = {  # what `params` of a batch has, by type
    "integers": "max min sort unique", "floats": "precision", "bytes": "encoding length", "uuid": "", "sample": "list_sha256 of",
    "weighted": "list_sha256 weights", "strings": "alphabet length", "sequences": "length max min sort unique",
    "permutations": "length", "gaussians": "digits mean stddev",
}
HIGHEST = {"simulated": 0, "replay": 1, "system": 1, "quantum-processor": 2, "qrng-device": 2}
MEMBERS = {  # of a certificate as issued; those with a mode in front belong to that mode alone
    "": "version id issued_at request_id endpoint entropy_mode provenance verification hashes",
    "provenance": "lang_circuit lang_version quantum_backend qubits_used circuit_depth origin lots "
    "quantum-seeded:evidence pure:evidence quantum-seeded:system_entropy csprng:system_entropy "
    "quantum-seeded:seed pure:drawn csprng:sample",
    "verification": "nist_sp800_22 nist_verified dieharder min_entropy_per_bit",
    "hashes": "raw_output processed delivered",
}
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def read(what):
    """None for what has another form."""
    try:
        return what()
    except (ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, RecursionError, StopIteration, TypeError, ValueError):
        return None


class Verifier:
    def __init__(self, response, document, keys, octets=None, require_fixed=False):
        self.require_fixed = require_fixed
        self.answer, self.document, self.keys, self.octets = response, document, keys, octets
        self.certificate = read(lambda: dict(document["certificate"])) or {}
        self.issued = {name: value for name, value in self.certificate.items() if name not in ("status", "verify_url", "proof")}
        self.lots = read(self.leaves)
        self.issued_ms = read(lambda: milliseconds(self.issued["issued_at"]))
        self.proof = read(lambda: Proof(self.certificate["proof"]))
        self.signed = self.proof and read(lambda: self.proof.signers(keys))

    def failures(self):
        has_label = "label" in self.issued or (self.octets is None and isinstance(self.answer, dict) and "label" in self.answer)
        names = ["certificate id", "request id", "metadata", "delivered"] + (["label"] if has_label else [])
        names += ["lots", "derived", "status", "keys", "inclusion", "signature", "dates"]
        names += ["fixed"] if self.require_fixed or self.issued.get("entropy_mode") != "csprng" else []
        return [name for name in names if not self.holds(getattr(self, "check_" + name.replace(" ", "_")))]

    @staticmethod
    def holds(check):
        return bool(read(check))

    def check_certificate_id(self):
        identity = self.issued["id"]
        return self.answer["metadata"]["certificate_id"] == identity and self.certificate["verify_url"].endswith("/" + identity)

    def check_request_id(self):
        identity, bits = self.issued["request_id"], 0
        assert re.fullmatch("req_[0-7][%s]{25}" % ALPHABET, identity)
        for character in identity[4:]:
            bits = bits * 32 + ALPHABET.index(character)
        uuid = re.sub("(.{8})(.{4})(.{4})(.{4})(.{12})", r"\1-\2-\3-\4-\5", f"{bits:032x}")
        return self.answer["metadata"]["request_id"] == identity and self.answer["meta"]["request_id"] == uuid

    def check_metadata(self):
        told, source = self.answer["metadata"], self.issued["provenance"]
        same = told["timestamp"] == self.issued["issued_at"] and told["entropy_origin"] == source["origin"]
        same = same and all(told[name] == source[name] for name in ("lang_circuit", "lang_version", "quantum_backend"))
        same = same and told["nist_verified"] is self.issued["verification"]["nist_verified"]
        same = same and self.answer.get("media_type", self.issued.get("media_type")) == self.issued.get("media_type")
        return same and self.answer["data"]["metadata"]["entropy_mode"] == self.issued["entropy_mode"]

    def check_delivered(self):
        if ("media_type" in self.issued) != (self.octets is not None):
            return False
        content = canonical(self.answer["data"]) if self.octets is None else self.octets
        assert re.fullmatch("[0-9a-f]{64}", self.answer["metadata"]["certificate_salt"])
        salt = bytes.fromhex(self.answer["metadata"]["certificate_salt"])
        return hexed(sha256(salt, content)) == self.issued["hashes"]["delivered"]

    def check_label(self):
        certified = dict(self.issued["label"])
        numbered = "purpose" in certified or "purpose_commitment" in certified
        serial = certified.pop("serial", None)
        assert type(certified["public"]) is bool and ("series" in certified) == numbered == (serial is not None)
        assert not numbered or (type(serial) is int and serial >= 1)
        if "user_data" in certified:
            assert certified["user_data_sha256"] == hexed(sha256(certified["user_data"].encode()))
        if self.octets is not None:
            return True
        expected = dict(self.answer["label"])
        salt = bytes.fromhex(self.answer["metadata"]["certificate_salt"])
        if expected["public"] and "user_data" in expected:
            expected["user_data_sha256"] = hexed(sha256(expected["user_data"].encode()))
        for name, byte in () if expected["public"] else (("purpose", b"\4"), ("user_data", b"\5")):
            if name in expected:
                expected[name + "_commitment"] = hexed(sha256(byte, salt, expected.pop(name).encode()))
        return expected == certified

    def leaves(self):
        """The lots' leaves, each bound to the certificate by its hash."""
        named, given = self.issued["provenance"]["lots"], self.document["lots"]
        assert named and len(named) == len(given) == len({each["id"] for each in named})
        for each, lot in zip(named, given):
            leaf = lot["leaf"]
            assert leaf["type"] == "lot" and leaf["version"] == 1 and type(leaf["version"]) is int
            assert leaf["lot_id"] == each["id"] and unbase64(each["leaf"]) == sha256(b"\0", canonical(leaf))
        return [lot["leaf"] for lot in given]

    def check_lots(self):
        return self.lots

    def check_derived(self):
        """Rules D1 to D9."""
        issued, mode, lots = self.issued, self.issued["entropy_mode"], self.lots
        assert mode in ("quantum-seeded", "pure", "csprng") and lots
        assert type(issued["version"]) is int and issued["version"] == 1
        for section, names in MEMBERS.items():
            told = set(issued[section] if section else set(issued) - {"media_type", "label"})
            split = [name.rpartition(":") for name in names.split()]
            assert told == {name for of, _, name in split if of in ("", mode)}
        source, tests, digests = issued["provenance"], issued["verification"], issued["hashes"]
        assert tests["dieharder"] == "not implemented" and re.fullmatch("sha256:[0-9a-f]{64}", digests["delivered"])
        assert all(set(each) == {"id", "leaf"} for each in source["lots"])
        assert source.get("system_entropy", "kernel") in ("kernel", "openssl") and issued["endpoint"] in DATA
        assert re.fullmatch("cert_[%s]{26}" % ALPHABET, issued["id"]) and self.issued_ms is not None
        names = "lang_circuit", "lang_version", "quantum_backend", "qubits_used", "circuit_depth"
        circuit = [0 if name.endswith(("used", "depth")) else "none" for name in names]
        if mode != "csprng":
            circuit = [lots[0][name] for name in names]
        assert self.alike([source[name] for name in names], circuit)
        assert source["origin"] == max((lot["origin"] for lot in lots), key=ORIGINS.index)
        if mode == "csprng":
            assert source["sample"] is True and len(lots) == 1 and lots[0]["origin"] == "system" and lots[0]["evidence"] is None
            assert lots[0]["pure"]["bytes"] == lots[0]["seeds"]["count"] == 0
        else:
            ranks = [CLAIMS.index(lot["evidence"]["claim"]) for lot in lots]
            assert all(rank <= HIGHEST[lot["origin"]] for rank, lot in zip(ranks, lots))
            assert source["evidence"] == CLAIMS[min(ranks)]
            assert all(bears_figures(lot) and bears_citations(lot) for lot in lots)
        for name in ("raw_output", "processed"):
            assert all(re.fullmatch("sha256:[0-9a-f]{64}", lot[name]) for lot in lots)
            each = [bytes.fromhex(lot[name][7:]) for lot in lots]
            assert digests[name] == hexed(each[0] if len(each) == 1 else sha256(*each))
        estimates = [lot["min_entropy_per_bit"] for lot in lots]
        assert all(each is None or 0 <= each <= 1 for each in estimates)
        assert self.alike([tests["min_entropy_per_bit"]], [None if None in estimates else min(estimates)])
        results = [self.tested(place, lot) for place, lot in enumerate(lots)]
        assert mode != "pure" or self.in_order()
        windows = [window for drawn_on, _ in results for window in drawn_on]
        missing = any(not drawn_on for drawn_on, _ in results) or any(window["total"] == 0 for window in windows)
        passed, total = sum(each["passed"] for each in windows), sum(each["total"] for each in windows)
        verified = not missing and all(whole for _, whole in results) and all(each["verified"] is True for each in windows)
        assert tests["nist_sp800_22"] == ("not tested" if missing else f"{passed}/{total} passed")
        return tests["nist_verified"] is verified

    @staticmethod
    def alike(given, expected):
        return [(type(each), each) for each in given] == [(type(each), each) for each in expected]

    def in_order(self):
        """An answer takes the rest of a block and goes on with another."""
        drawn, seen = self.issued["provenance"]["drawn"], set()
        for i, each in enumerate(drawn):
            pure, end = self.lots[each["lot"]]["pure"], each["offset"] + each["bytes"]
            assert i == len(drawn) - 1 or end == pure["bytes"] or end % pure["block_bytes"] == 0
            own = {(each["lot"], block) for block in range(each["offset"] // pure["block_bytes"], -(-end // pure["block_bytes"]))}
            assert not own & seen
            seen |= own
        return True

    def tested(self, place, lot):
        """The windows of a lot that the answer drew on, and whether they hold every byte of it; byte by byte in units of 16."""
        source, of = self.issued["provenance"], "conditioned"
        mode = self.issued["entropy_mode"]
        if mode == "csprng":
            found = [window for window in lot["tested"] if window["of"] == "system"]
            return found, bool(found)
        seeds = 32 * lot["seeds"]["count"]
        if mode == "pure":
            ranges = [(seeds + each["offset"], each["bytes"]) for each in source["drawn"] if each["lot"] == place]
            assert all(set(each) == {"lot", "offset", "bytes"} and each["lot"] in range(len(self.lots)) for each in source["drawn"])
            assert all(seeds <= first and first + size <= seeds + lot["pure"]["bytes"] for first, size in ranges)
        else:
            assert len(self.lots) == 1 and set(source["seed"]) == {"index"} and source["seed"]["index"] in range(lot["seeds"]["count"])
            ranges = [(32 * source["seed"]["index"], 32)]
        assert ranges and all(size > 0 and first % 16 == 0 and size % 16 == 0 for first, size in ranges)
        conditioned = [window for window in lot["tested"] if window["of"] == of]
        for window in conditioned:
            assert window["bits"] > 0 and window["first_bit"] >= 0 and 0 <= window["passed"] <= window["total"]
            assert window["bits"] % 8 == window["first_bit"] % 8 == 0
        fallen = [window["bits"] >= 10**6 and window["verified"] is not True for window in conditioned]
        erased = set()  # bytes of windows that fell
        for window, fell in zip(conditioned, fallen):
            if fell:
                erased.update(range(window["first_bit"] // 8, (window["first_bit"] + window["bits"]) // 8))
        drawn_on, covered = [], set()
        wanted = {byte for first, size in ranges for byte in range(first, first + size)}
        for window, fell in zip(conditioned, fallen):
            begin, end = window["first_bit"] // 8, (window["first_bit"] + window["bits"]) // 8
            before = sum(byte < begin for byte in erased)
            kept = range(begin - before, end - sum(byte < end for byte in erased))
            if not fell and any(byte in kept for byte in wanted):
                drawn_on.append(window)
                covered.update(byte for byte in wanted if byte in kept)
        return drawn_on, covered == wanted

    def check_status(self):
        assert self.lots
        deterministic = any(lot["deterministic"] is True for lot in self.lots)
        return self.certificate["status"] == ("test" if deterministic else "valid")

    def check_keys(self):
        listed = [(log["origin"], key) for log in [self.keys, *self.keys.get("predecessors", [])] for key in log["keys"]]
        assert len({key["key_id"] for _, key in listed}) == len(listed)
        for name, key in listed:
            public = unbase64(key["public_key"])
            texts = [f"{name}+{key_id(name, kind, public).hex()}+{base64.b64encode(bytes([kind]) + public).decode()}" for kind in (1, 4)]
            assert len(public) == 32 and key["algorithm"] == "ed25519" and key.get("cosigner_key") in (None, texts[1])
            assert (key["key_id"], key["verifier_key"]) == (key_id(name, 1, public).hex(), texts[0])
        return self.keys["current_key_id"] in [key["key_id"] for _, key in listed]

    def check_inclusion(self):
        return self.proof.includes(canonical(self.issued))

    def check_signature(self):
        return self.signed

    def check_dates(self):
        assert self.lots
        if any(milliseconds(lot["finished_at"]) > self.issued_ms for lot in self.lots):
            return False
        if not self.signed:
            return True
        plain, seconds = self.signed
        begun = [key for key in plain if milliseconds(key["created_at"]) <= self.issued_ms]
        last = lambda key: max(self.issued_ms, 1000 * seconds.get(key["key_id"], 0))
        rightful = any(key.get("retired_at") is None or last(key) <= milliseconds(key["retired_at"]) for key in begun)
        return rightful and all(at >= self.issued_ms // 1000 for at in seconds.values())

    def check_fixed(self):
        mode, drawn = self.issued["entropy_mode"], self.issued["provenance"].get("drawn")
        assert self.lots and (mode == "pure" or mode == "quantum-seeded" and len(self.lots) == 1)
        assert mode != "pure" or drawn and all(each["lot"] in range(len(self.lots)) for each in drawn)
        bare = "media_type" in self.issued
        opening = self.answer.get("opening")
        self.opened, self.path = [], [] if not opening else chunks(unbase64(opening["path"]), 32)
        if opening:
            self.opened = list(zip(chunks(unbase64(opening["bytes"]), 16), chunks(unbase64(opening["salts"]), 16), strict=True))
        drawn = b"".join(piece for piece, _ in self.opened)
        for place, leaf in enumerate(self.lots):
            if not self.lot_fixed(place, leaf, self.document["lots"][place], bool(opening)):
                return False
        if mode != "pure":
            return True
        if not bare:
            data = self.answer["data"]
            assert set(data) == {*DATA[self.issued["endpoint"]].split(), "metadata"}
            assert self.issued["endpoint"] != "batch" or set(data["params"]) == set(PARAMS[data["type"]].split())
        if not opening:
            if bare:
                return True
            data, total = self.answer["data"], sum(each["bytes"] for each in self.issued["provenance"]["drawn"])
            most = self.most(data)
            total = min(total, most)
            return total > 2048
        return not self.opened and not self.path and self.values_are(drawn)

    def lot_fixed(self, place, leaf, given, is_open):
        held, source = Proof(given["proof"]), self.issued["provenance"]
        plain, seconds = held.signers(self.keys)
        at = 1000 * min(seconds.values())
        assert any(key.get("retired_at") is None or at <= milliseconds(key["retired_at"]) for key in plain)
        assert held.includes(canonical(leaf)) and at <= self.issued_ms
        assert not self.proof or held.origin != self.proof.origin or held.index < self.proof.index
        assert at >= milliseconds(leaf["finished_at"]) // 1000 * 1000
        if self.issued["entropy_mode"] != "pure":
            (run,), tree, expected = given["runs"], leaf["seeds"], source["seed"]["index"]
            path = hashes(run["path"])
            root = run_root(tree["count"], run["first"], hashes(run["hashes"]), path)
            return run["first"] == expected and len(run["hashes"]) == 1 and not path and root == base64.b64decode(tree["root"])
        size, block = leaf["pure"]["bytes"], leaf["pure"]["block_bytes"]
        assert leaf["pure"]["piece_bytes"] == 16
        ranges = [each for each in source["drawn"] if each["lot"] == place]
        for run, each in zip(given["runs"], ranges, strict=True):
            start, end = each["offset"], each["offset"] + each["bytes"]
            roots, path, first = hashes(run["hashes"]), hashes(run["path"]), start // block
            assert run["first"] == first and len(roots) == -(-end // block) - first and end <= size
            assert start % 16 == 0 and end % 16 == 0 and start < end
            assert run_root(-(-size // block), first, roots, path) == base64.b64decode(leaf["pure"]["root"]) and not path
            for i, root in enumerate(roots if is_open else []):
                begin, stop = (first + i) * block, min((first + i + 1) * block, size)
                a, b = max(start, begin), min(end, stop)
                run_of, self.opened = self.opened[: (b - a) // 16], self.opened[(b - a) // 16 :]
                pieces = [sha256(b"\2", salt, piece) for piece, salt in run_of]
                assert len(pieces) == (b - a) // 16
                assert run_root((stop - begin) // 16, (a - begin) // 16, pieces, self.path) == root
        return True

    def most(self, data):
        """Bytes that an honest answer draws at most: four times the entropy of its values, and some words more."""
        endpoint, data = self.drawn_as(data)
        values = len(data.get("values", []))
        if endpoint == "byte strings":
            return values * data["length"]
        if endpoint in ("bytes", "bitstring", "uuid"):
            hexed = data.get("encoding") == "hex"
            return {"bytes": lambda: len(data["bytes"]) * (2 if hexed else 3) // 4, "bitstring": lambda: len(data["bitstring"]) / 8, "uuid": lambda: 16 * len(data["uuids"])}[endpoint]()
        if endpoint == "gaussians":
            return 64 * values + 256
        if endpoint not in ("integers", "floats", "strings", "permutations", "sequences"):
            return 16 * len(canonical(data.get("values", data.get("items"))).decode())
        span = lambda low, high: math.log2(max(1, high - low + 1))
        each = {
            "integers": lambda: span(data["min"], data["max"]),
            "floats": lambda: 56,
            "strings": lambda: data["length"] * math.log2(len(data["alphabet"])),
            "permutations": lambda: data["length"] * math.log2(max(2, data["length"])),
            "sequences": lambda: sum(count * span(low, high) for count, low, high in zip(data["length"], data["min"], data["max"])),
        }[endpoint]()
        return values * each / 2 + 256

    def drawn_as(self, data):
        """A batch as an answer of the endpoint of its type has it."""
        if self.issued["endpoint"] != "batch":
            return self.issued["endpoint"], data
        name = {"uuid": "uuids", "sample": "items", "weighted": "items"}.get(data["type"], "values")
        kind = "byte strings" if data["type"] == "bytes" else data["type"]
        return kind, {**data["params"], "count": data["count"], name: data["values"]}

    def values_are(self, drawn):
        """The values follow from the bytes, of which none is left but the rest of the last piece."""
        (endpoint, data), draws = self.drawn_as(self.answer["data"]), Draws(drawn)
        draw = {
            "integers": draws.integers, "floats": draws.floats, "uuid": draws.uuid, "strings": draws.strings, "bytes": draws.bytes,
            "sequences": draws.sequences, "permutations": draws.permutations, "bitstring": draws.bitstring, "gaussians": draws.gaussians,
            "byte strings": draws.byte_strings,
        }.get(endpoint)
        if draw is None:
            return True  # not all that they were drawn with stands in the answer
        whole = [data.get(name, 1) for name in ("count", "length", "digits")]
        sizes = [each for told in whole for each in (told if isinstance(told, list) else [told])]
        assert all(type(each) is int and 1 <= each <= 100_000 for each in sizes) and data.get("digits", 2) <= 14
        assert data.get("unique", True) in (True, False) and type(data.get("unique", True)) is bool
        assert data.get("sort", "none") in ("none", "ascending", "descending")
        assert endpoint != "strings" or data["length"] <= 128
        assert endpoint != "bytes" or data["count"] <= 1_024
        assert endpoint != "byte strings" or data["length"] <= 1_024
        assert len(data.get("values", [0] * data.get("count", 0))) == data.get("count", 0)
        name = {"bytes": "bytes", "bitstring": "bitstring", "uuid": "uuids"}.get(endpoint, "values")
        return canonical(draw(data)) == canonical(data[name]) and len(draws.left) < 16


class Draws:
    """The samplers of docs/draws.md over these bytes. A method for each endpoint whose answer holds all that it takes."""

    def __init__(self, left):
        self.left = left

    def take(self, size):
        assert len(self.left) >= size
        taken, self.left = self.left[:size], self.left[size:]
        return taken

    def word(self, size):
        return int.from_bytes(self.take(size), "little")

    def scaled(self, bound):
        while True:
            whole, fraction = divmod(self.word(4) * bound, 2**32)
            if fraction >= 2**32 % bound:
                return whole

    def below(self, span, count):
        """Numbers from 0 to span - 1."""
        if span == 1:
            return [0] * count
        if span > 2**21:
            words = {size: 2 ** min(8 * size, 53) for size in (4, 5, 6, 7)}
            # the fewest bytes for an accepted word, the smaller of equals
            size = min((size for size in words if words[size] >= span), key=lambda each: Fraction(each * words[each], words[each] // span * span))
            found = []
            while len(found) < count:
                if size == 4:
                    found.append(self.scaled(span))
                    continue
                word = self.word(size) % words[size]
                found += [word % span] if word < words[size] // span * span else []
            return found
        fitting = [k for k in range(1, 33) if span**k <= 2**32]
        batch, found = max(fitting, key=lambda k: (k * (2**32 // span**k * span**k), -k)), []
        while len(found) < count:
            k = min(batch, count - len(found))
            number = self.scaled(span**k)
            found += [number // span**i % span for i in reversed(range(k))]
        return found

    def distinct(self, span, count):
        if span > 4 * count:
            found = {}
            while len(found) < count:
                found.update(dict.fromkeys(self.below(span, count - len(found))))
            return list(found)
        assert span >= count
        order, i = list(range(span)), 0
        while i < count:
            bounds = [span - i]
            while i + len(bounds) < count and math.prod(bounds) * (span - i - len(bounds)) <= 2**28:
                bounds.append(span - i - len(bounds))
            number = self.scaled(math.prod(bounds))
            for at, bound in enumerate(bounds):
                step = number // math.prod(bounds[at + 1 :]) % bound
                order[i], order[i + step] = order[i + step], order[i]
                i += 1
        return order[:count]

    def row(self, low, high, count, unique, sort):
        numbers = [low + each for each in (self.distinct if unique else self.below)(high - low + 1, count)]
        return numbers if sort == "none" else sorted(numbers, reverse=sort == "descending")

    def integers(self, data):
        return self.row(*(data[name] for name in ("min", "max", "count", "unique", "sort")))

    def floats(self, data):
        digits = data["precision"]
        if digits is None:
            return [self.word(7) % 2**53 / 2**53 for _ in range(data["count"])]
        return [float(f"{each}e-{digits}") for each in self.below(10**digits, data["count"])]

    def uuid(self, data):
        return [str(uuid.UUID(bytes=self.take(16), version=4)) for _ in range(data["count"])]

    def strings(self, data):
        places = self.below(len(data["alphabet"]), data["count"] * data["length"])
        return ["".join(data["alphabet"][each] for each in text) for text in chunks(places, data["length"])]

    def sequences(self, data):
        rows = list(zip(data["min"], data["max"], data["length"], strict=True))
        return [[self.row(*each, data["unique"], data["sort"]) for each in rows] for _ in range(data["count"])]

    def permutations(self, data):
        return [self.distinct(data["length"], data["length"]) for _ in range(data["count"])]

    def bytes(self, data):
        own = self.take(data["count"])
        return own.hex() if data["encoding"] == "hex" else base64.b64encode(own).decode()

    def byte_strings(self, data):
        one = {"count": data["length"], "encoding": data["encoding"]}
        return [self.bytes(one) for _ in range(data["count"])]

    def bitstring(self, data):
        return "".join(f"{byte:08b}" for byte in self.take(-(-data["length"] // 8)))[: data["length"]]

    def bits(self):
        while True:
            word = self.word(4)
            yield from (word >> i & 1 for i in range(32))

    def gaussians(self, data):
        """Karney, ACM TOMS 42:1 (2016), algorithm N."""
        source, mean, stddev = self.bits(), Fraction(repr(data["mean"])), Fraction(repr(data["stddev"]))
        return [self.gaussian(source, mean, stddev, data["digits"]) for _ in range(data["count"])]

    def gaussian(self, source, mean, stddev, digits):
        def bit(number, i):
            while len(number) <= i:
                number.append(next(source))
            return number[i]

        def less(a, b):
            i = next(i for i in itertools.count() if bit(a, i) != bit(b, i))
            return a[i] < b[i]

        def half():
            last, row = [], 1
            if bit(last, 0):
                return True
            while less(z := [], last):
                last, row = z, row + 1
            return row % 2 == 0

        def dice(sides):
            v, c = 1, 0
            while True:
                v, c = 2 * v, 2 * c + next(source)
                if v >= sides and c < sides:
                    return c
                if v >= sides:
                    v, c = v - sides, c - sides

        def part(k, x):
            last, row = x, 0
            while less(z := [], last):
                side = dice(2 * k + 2)
                if side == 0 or side == 1 and not less([], x):
                    break
                last, row = z, row + 1
            return row % 2 == 0

        while True:
            k, x = 0, []
            while half():
                k += 1
            if all(half() for _ in range(k * (k - 1))) and all(part(k, x) for _ in range(k + 1)):
                break
        sign, spacing = -1 if next(source) else 1, Fraction(10) ** (place_of(abs(mean) + stddev) - digits + 1)
        known = max(len(x), next(i for i in itertools.count() if spacing >= 16 * stddev / 2**i))
        while True:
            below = sum(bit(x, i) << known - 1 - i for i in range(known))
            ends = [mean + sign * stddev * (k + Fraction(below + i, 2**known)) for i in (0, 1)]
            if min(ends) > 0 or max(ends) < 0:
                a, b = (rounded(each, digits) for each in ends)
                if a == b:
                    return float(a)
            known += 4


def place_of(value):
    return next(i for i in itertools.count(-40) if value < Fraction(10) ** (i + 1))


def rounded(value, digits):
    unit = Fraction(10) ** (place_of(abs(value)) - digits + 1)
    return (2 * value // unit + 1) // 2 * unit if value > 0 else -rounded(-value, digits)


def double(text):
    """A number of JSON: 4.0 is 4."""
    value = float(text)
    return int(value) if value.is_integer() else value


def members(pairs):
    """Readers differ in which of two members counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a member twice")
    return found


def chunks(data, size):
    assert len(data) % size == 0
    return [data[i : i + size] for i in range(0, len(data), size)]


if __name__ == "__main__":
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            case = json.load(file, parse_float=double, object_pairs_hook=members)
        octets = bytes.fromhex(case["octets"]) if "octets" in case else None
        policy = case.get("require_fixed", False)
        print(json.dumps(Verifier(case["response"], case["certificate"], case["keys"], octets, policy).failures()))
