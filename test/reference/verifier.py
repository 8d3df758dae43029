"""A second verifier of certificates, written from docs/certificates.md alone, with nothing but Python's standard library.

It shares no line with the verifier of the service. `python3 verifier.py CASE.json...` reads whole cases, as
`node scripts/certificate-vectors.ts FOLDER` writes those of test/vectors/certificate, and prints a line of JSON
for each: the checks of the document's table that fail.
"""
import base64
import datetime
import hashlib
import json
import re
import sys

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
HIGHEST = {"simulated": 0, "replay": 1, "system": 1, "quantum-processor": 4, "qrng-device": 4}
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def read(what):
    """None for what has another form."""
    try:
        return what()
    except (AssertionError, AttributeError, LookupError, StopIteration, TypeError, ValueError):
        return None


class Verifier:
    def __init__(self, response, document, keys, octets=None, require_fixed=False):
        self.require_fixed = require_fixed
        self.answer, self.document, self.keys, self.octets = response, document, keys, octets
        self.certificate = document["certificate"]
        self.issued = {name: value for name, value in self.certificate.items() if name not in ("status", "proof")}
        self.lots = self.issued["provenance"]["lots"]
        self.issued_ms = read(lambda: milliseconds(self.issued["issued_at"]))
        self.proof = read(lambda: Proof(self.certificate["proof"]))
        self.signed = self.proof and read(lambda: self.proof.signers(keys))

    def failures(self):
        has_label = "label" in self.issued or (self.octets is None and "label" in self.answer)
        names = ["certificate id", "request id", "metadata", "delivered"] + (["label"] if has_label else [])
        names += ["lots", "status", "keys", "inclusion", "signature", "dates"] + (["fixed"] if self.require_fixed or self.issued["version"] not in (1, 2, 3) else [])
        return [name for name in names if not self.holds(getattr(self, "check_" + name.replace(" ", "_")))]

    @staticmethod
    def holds(check):
        return bool(read(check))

    def check_certificate_id(self):
        identity = self.issued["id"]
        return self.answer["metadata"]["certificate_id"] == identity and self.issued["verify_url"].endswith("/" + identity)

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
        same = same and (self.octets is not None and "powered_by" not in told or told["powered_by"] == self.issued["powered_by"])
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

    def check_lots(self):
        if type(self.issued["version"]) is not int or not 1 <= self.issued["version"] <= 4:
            return False
        for name in ("raw_output", "processed"):
            assert self.lots and all(re.fullmatch("sha256:[0-9a-f]{64}", lot[name]) for lot in self.lots)
            digests = [bytes.fromhex(lot[name].removeprefix("sha256:")) for lot in self.lots]
            if self.issued["hashes"][name] != hexed(digests[0] if len(digests) == 1 else sha256(*digests)):
                return False
        source, version = self.issued["provenance"], self.issued["version"]
        claims = [lot.get("evidence", {}).get("claim") for lot in self.lots]
        if version == 1 or self.issued["entropy_mode"] == "csprng":
            return "evidence" not in source and claims == [None] * len(claims)
        if version >= 4 and None in claims:
            return "evidence" not in source
        ranks = [CLAIMS.index(claim) for claim in claims]
        if any(rank > HIGHEST[lot["origin"]] for rank, lot in zip(ranks, self.lots)):
            return False
        return source["evidence"] == CLAIMS[min(ranks)]

    def check_status(self):
        deterministic = any(lot["deterministic"] is True for lot in self.lots)
        return self.certificate["status"] == ("test" if deterministic else "valid")

    def check_keys(self):
        listed = [(log["origin"], key) for log in [self.keys, *self.keys.get("predecessors", [])] for key in log["keys"]]
        assert len({key["key_id"] for _, key in listed}) == len(listed)
        for name, key in listed:
            public = unbase64(key["public_key"])
            texts = [f"{name}+{key_id(name, kind, public).hex()}+{base64.b64encode(bytes([kind]) + public).decode()}" for kind in (1, 4)]
            assert len(public) == 32 and key["algorithm"] == "ed25519" and key["cosigner_key"] in (None, texts[1])
            assert (key["key_id"], key["verifier_key"]) == (key_id(name, 1, public).hex(), texts[0])
        return self.keys["current_key_id"] in [key["key_id"] for _, key in listed]

    def check_inclusion(self):
        return self.proof.includes(canonical(self.issued))

    def check_signature(self):
        return self.signed

    def check_dates(self):
        if any(milliseconds(lot["finished_at"]) > self.issued_ms for lot in self.lots):
            return False
        if not self.signed:
            return True
        plain, seconds = self.signed
        begun = [key for key in plain if milliseconds(key["created_at"]) <= self.issued_ms]
        last = lambda key: max(self.issued_ms, 1000 * seconds.get(key["key_id"], 0))
        rightful = any(key["retired_at"] is None or last(key) <= milliseconds(key["retired_at"]) for key in begun)
        return rightful and all(at >= self.issued_ms // 1000 for at in seconds.values())

    def check_fixed(self):
        if self.require_fixed and not all(lot.get("committed") for lot in self.lots):
            return False
        mode, drawn = self.issued["entropy_mode"], self.issued["provenance"].get("drawn")
        assert mode == "pure" or mode == "quantum-seeded" and len(self.lots) == 1
        assert mode != "pure" or drawn and all(each["lot"] in range(len(self.lots)) for each in drawn)
        bare = "media_type" in self.issued
        # one of lots that have no leaf shows nothing
        opening = self.answer.get("opening") if all(lot["committed"] for lot in self.lots) else None
        self.opened, self.path = [], [] if not opening else chunks(unbase64(opening["path"]), 32)
        if opening:
            self.opened = list(zip(chunks(unbase64(opening["bytes"]), 16), chunks(unbase64(opening["salts"]), 16), strict=True))
        drawn = b"".join(piece for piece, _ in self.opened)
        for place, lot in enumerate(self.lots):
            if lot["committed"] is not False and not self.lot_fixed(place, lot, bool(opening)):
                return False
        if self.issued["entropy_mode"] != "pure" or not all(lot["committed"] for lot in self.lots):
            return True
        if not opening:
            data, total = self.answer["data"], sum(each["bytes"] for each in self.issued["provenance"]["drawn"])
            if "bytes" in data:
                total = len(data["bytes"]) * (2 if data["encoding"] == "hex" else 3) // 4
            elif "bitstring" in data or "uuids" in data:
                total = len(data["bitstring"]) / 8 if "bitstring" in data else 16 * len(data["uuids"])
            return bare or total > 2048
        return not self.opened and not self.path and self.values_are(drawn)

    def lot_fixed(self, place, lot, is_open):
        given = next(each for each in self.document["lots"] if each["lot_id"] == lot["id"])
        leaf, held, source = json.loads(given["leaf"]), Proof(given["proof"]), self.issued["provenance"]
        plain, seconds = held.signers(self.keys)
        at = 1000 * min(seconds.values())
        rightful = any(key["retired_at"] is None or at <= milliseconds(key["retired_at"]) for key in plain)
        assert (leaf["type"], leaf["version"], leaf["lot_id"]) == ("lot", 1, lot["id"]) and rightful
        assert leaf["facts"] == hexed(sha256(canonical(lot))) and canonical(leaf) == given["leaf"].encode()
        assert held.includes(given["leaf"].encode()) and at <= self.issued_ms
        assert held.origin != self.proof.origin or held.index < self.proof.index
        assert at >= milliseconds(lot["finished_at"]) // 1000 * 1000
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

    def values_are(self, drawn):
        data = self.answer["data"]
        if "bytes" in data:
            own = drawn[: data["count"]]
            return data["bytes"] == (own.hex() if data["encoding"] == "hex" else base64.b64encode(own).decode())
        if "bitstring" in data:
            return "".join(f"{byte:08b}" for byte in drawn).startswith(data["bitstring"])
        for i, uuid in enumerate(data.get("uuids", [])):
            own = bytearray(drawn[16 * i : 16 * i + 16])
            own[6], own[8] = own[6] & 15 | 64, own[8] & 63 | 128
            if own.hex() != uuid.replace("-", ""):
                return False
        return True


def double(text):
    """A number of JSON: 4.0 is 4."""
    value = float(text)
    return int(value) if value.is_integer() else value


def chunks(data, size):
    assert len(data) % size == 0
    return [data[i : i + size] for i in range(0, len(data), size)]


if __name__ == "__main__":
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            case = json.load(file, parse_float=double)
        octets = bytes.fromhex(case["octets"]) if "octets" in case else None
        policy = case.get("require_fixed", False)
        print(json.dumps(Verifier(case["response"], case["certificate"], case["keys"], octets, policy).failures()))
