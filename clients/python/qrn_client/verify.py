"""Verifies an answer, its certificate and the log's word for it, from what a client holds and from nothing else.

docs/certificates.md of the service says what is checked and why; the checks have the names that it gives them.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import ed25519
from ._wire import BASE32
from .canonical import canonical_json

_NOTE_LENGTH_MAX = 65_536
#: A tree of 2^53 leaves has paths of 53 hashes.
_PROOF_HASHES_MAX = 53
_ED25519_TYPE = b"\x01"
_MISSING = object()


class VerificationFailed(Exception):
    """A verification that found something wrong."""

    def __init__(self, verification: "Verification") -> None:
        failed = (f"{check.name}: {check.why}" for check in verification.checks if not check.ok)
        super().__init__(" ".join(failed))
        self.verification = verification


@dataclass(frozen=True)
class Check:
    name: str
    ok: bool
    #: What was found, in a sentence.
    why: str


@dataclass(frozen=True)
class Verification:
    checks: Sequence[Check]
    #: Members of the answer that no certificate speaks of, such as durations and credits.
    not_covered: Sequence[str]

    @property
    def ok(self) -> bool:
        """True when every check holds."""
        return all(check.ok for check in self.checks)

    def require(self) -> "Verification":
        """Itself; raises VerificationFailed unless every check holds."""
        if not self.ok:
            raise VerificationFailed(self)
        return self


def verify_answer(*, certificate: Any, keys: Any, response: Any = None) -> Verification:
    """Checks an answer. Never raises for what it is given: what cannot be read is a check that failed.

    response: the JSON body of the answer, parsed; leave it out to check a certificate alone
    certificate: what the certificate endpoint answered, parsed
    keys: /.well-known/qrn-keys.json, parsed: the anchor of trust, best had long before or from someone else
    """
    document = _member(certificate, "certificate")
    if document is _MISSING or document is None:
        document = certificate
    logged = _read_proof(_member(document, "proof"))
    checks: List[Check] = []
    if response is not None:
        checks += [
            _check_certificate_id(response, document),
            _check_request_id(response, document),
            _check_metadata(response, document),
            _check_delivered(response, document),
        ]
    checks += [
        _check_lots(document),
        _check_status(certificate, document),
        _check_keys(keys),
        _check_inclusion(document, logged),
        _check_signature(keys, logged),
    ]
    return Verification(tuple(checks), tuple(_not_covered(response)))


def _check(name: str, failure: Optional[str], holds: str) -> Check:
    return Check(name, failure is None, holds if failure is None else failure)


def _check_certificate_id(response: Any, document: Any) -> Check:
    id = _text(_member(document, "id"))
    url = _text(_member(document, "verify_url"))
    asked = _member(response, "metadata", "certificate_id")
    failure = None
    if id is None:
        failure = "The certificate has no id."
    elif asked != id:
        failure = f"The response names {_show(asked)}, the certificate is {id}."
    elif url is None or not url.endswith(f"/{id}"):
        failure = "verify_url does not end in the id."
    return _check("certificate id", failure, f"The response names certificate {id}.")


def _check_request_id(response: Any, document: Any) -> Check:
    id = _text(_member(document, "request_id"))
    named = _member(response, "metadata", "request_id")
    uuid = _member(response, "meta", "request_id")
    bits = _bits_of_base32(id[4:]) if id is not None and id.startswith("req_") else None
    failure = None
    if bits is None:
        failure = "The certificate has no request_id."
    elif named != id:
        failure = f"The response has request {_show(named)}, the certificate is for {id}."
    elif uuid != _uuid_text(bits):
        failure = f"meta.request_id is {_show(uuid)}, not the same 128 bits as {id}."
    return _check("request id", failure, f"Both are of request {id}.")


#: Members of the response beside `data` that the certificate repeats, and where it has them.
_REPEATED: Sequence[Tuple[Sequence[str], Sequence[str]]] = (
    (("metadata", "timestamp"), ("issued_at",)),
    (("metadata", "lang_circuit"), ("provenance", "lang_circuit")),
    (("metadata", "lang_version"), ("provenance", "lang_version")),
    (("metadata", "quantum_backend"), ("provenance", "quantum_backend")),
    (("metadata", "entropy_origin"), ("provenance", "origin")),
    (("metadata", "nist_verified"), ("verification", "nist_verified")),
    (("metadata", "powered_by"), ("powered_by",)),
    (("data", "metadata", "entropy_mode"), ("entropy_mode",)),
)


def _check_metadata(response: Any, document: Any) -> Check:
    differing = []
    for in_response, in_certificate in _REPEATED:
        certified, given = _member(document, *in_certificate), _member(response, *in_response)
        scalar = isinstance(certified, (str, bool, int, float)) or certified is None
        if not scalar or type(given) is not type(certified) or given != certified:
            differing.append(".".join(in_response))
    failure = f"Not as certified: {', '.join(differing)}." if differing else None
    return _check("metadata", failure, "Time, circuit, backend, origin, mode and test result are as certified.")


def _check_delivered(response: Any, document: Any) -> Check:
    """`delivered` is SHA-256(salt, canonical JSON of `data`); only who holds the response has the salt."""
    certified = _member(document, "hashes", "delivered")
    salt = _text(_member(response, "metadata", "certificate_salt"))
    data = canonical_json(_member(response, "data"))
    failure = None
    if salt is None or not re.fullmatch("[0-9a-f]{64}", salt):
        failure = "metadata.certificate_salt is not 64 hex digits."
    elif data is None:
        failure = "The response has no data."
    else:
        delivered = f"sha256:{sha256(bytes.fromhex(salt) + data).hexdigest()}"
        if delivered != certified:
            failure = f"The data and the salt hash to {delivered}, certified is {_show(certified)}."
    return _check("delivered", failure, "The data is what was delivered, bit for bit.")


def _check_lots(document: Any) -> Check:
    """The hashes of several lots are joined and hashed; what is claimed of all is what the weakest claims."""
    lots = _member(document, "provenance", "lots")
    if not isinstance(lots, list) or not lots:
        return _check("lots", "The certificate names no lot.", "")
    failures = []
    for name in ("raw_output", "processed"):
        digests = [_text(_member(lot, name)) or "" for lot in lots]
        if not all(re.fullmatch("sha256:[0-9a-f]{64}", digest) for digest in digests):
            failures.append(f"A lot has no {name}.")
        elif _member(document, "hashes", name) != _joined(digests):
            failures.append(f"hashes.{name} is not that of the lots.")
    version = _member(document, "version")
    if version == 1 and version is not True:
        told = [_member(document, "provenance", "evidence"), *(_member(lot, "evidence") for lot in lots)]
        if any(each is not _MISSING for each in told):
            failures.append("Version 1 does not speak of evidence.")
    else:
        evidence = _evidence_failure(document, lots)
        if evidence is not None:
            failures.append(evidence)
    claim = _text(_member(document, "provenance", "evidence"))
    and_evidence = "" if claim is None else f", and so is the evidence: {claim}"
    return _check("lots", " ".join(failures) or None, f"The hashes are those of the lots named{and_evidence}.")


#: From the weakest to the strongest.
_CLAIMS = ("simulated", "statistical", "calibrated", "source-independent", "bell-witness")
_CEILINGS = {
    "quantum-processor": "bell-witness",
    "qrng-device": "bell-witness",
    "simulated": "simulated",
    "replay": "statistical",
    "system": "statistical",
}


def _evidence_failure(document: Any, lots: Sequence[Any]) -> Optional[str]:
    """From version 2 on: every lot has a claim that its origin allows, and the weakest of them stands for all."""
    ranks = []
    for lot in lots:
        claim, origin = _member(lot, "evidence", "claim"), _member(lot, "origin")
        if not isinstance(claim, str) or claim not in _CLAIMS:
            return "A lot has no evidence."
        ceiling = _CEILINGS.get(origin) if isinstance(origin, str) else None
        if ceiling is None or _CLAIMS.index(claim) > _CLAIMS.index(ceiling):
            return f"A lot of origin {_show(origin)} claims {_show(claim)}."
        ranks.append(_CLAIMS.index(claim))
    certified, weakest = _member(document, "provenance", "evidence"), _CLAIMS[min(ranks)]
    if certified == weakest:
        return None
    return f"The evidence is {_show(certified)}, the weakest of the lots has {_show(weakest)}."


def _joined(digests: Sequence[str]) -> str:
    if len(digests) == 1:
        return digests[0]
    joined = b"".join(bytes.fromhex(digest[len("sha256:") :]) for digest in digests)
    return f"sha256:{sha256(joined).hexdigest()}"


def _check_status(certificate: Any, document: Any) -> Check:
    """The log does not hold the status, which may change; what it follows from does stand in the log."""
    status = _member(document, "status")
    lots = _member(document, "provenance", "lots")
    deterministic = isinstance(lots, list) and any(_member(lot, "deterministic") is True for lot in lots)
    expected = "test" if deterministic else "valid"
    failure = None
    if status == "revoked":
        reason = _text(_member(certificate, "revocation", "reason"))
        failure = f"A lot was withdrawn: {reason or 'no reason is given'}."
    elif status != expected:
        failure = f"status is {_show(status)}; the lots make it {expected}."
    holds = "A deterministic test source made this: not random." if deterministic else "No lot was withdrawn."
    return _check("status", failure, holds)


class _Signature(NamedTuple):
    name: str
    key_id: bytes
    signature: bytes


@dataclass(frozen=True)
class _Logged:
    """A proof of inclusion (c2sp.org/tlog-proof) and the checkpoint in it (tlog-checkpoint, signed-note)."""

    index: int
    path: Sequence[bytes]
    #: With its last newline.
    signed_text: str
    signatures: Sequence[_Signature]
    origin: str
    size: int
    root: bytes


def _read_proof(text: Any) -> Union[_Logged, str]:
    """The proof, or why it is none."""
    if text is _MISSING or text is None:
        return "The certificate has no proof: fetch it again, it is logged a moment after it was issued."
    malformed = "proof is not of the form c2sp.org/tlog-proof@v1."
    if not isinstance(text, str) or "\n\n" not in text:
        return malformed
    head, _, note = text.partition("\n\n")
    version, *lines = head.split("\n")
    if version != "c2sp.org/tlog-proof@v1" or not lines or not lines[0].startswith("index "):
        return malformed
    index, path = _count(lines[0][len("index ") :]), [_from_base64(line) for line in lines[1:]]
    if index is None or len(path) > _PROOF_HASHES_MAX or any(hash is None or len(hash) != 32 for hash in path):
        return malformed
    signed = _read_note(note)
    if signed is None:
        return "The checkpoint in the proof is no signed note."
    signed_text, signatures = signed
    origin, *rest = signed_text[:-1].split("\n")
    size = _count(rest[0]) if len(rest) >= 2 else None
    root = _from_base64(rest[1]) if len(rest) >= 2 else None
    if origin == "" or size is None or root is None or len(root) != 32 or "" in rest[2:]:
        return "The signed note in the proof is no checkpoint."
    hashes = [hash for hash in path if hash is not None]
    return _Logged(index, hashes, signed_text, signatures, origin, size, root)


def _read_note(note: str) -> Optional[Tuple[str, List[_Signature]]]:
    well_formed = _encoded(note) is not None and not re.search("[\x00-\x09\x0b-\x1f]", note)
    blank = note.rfind("\n\n")
    if len(note) > _NOTE_LENGTH_MAX or not well_formed or blank <= 0 or not note.endswith("\n"):
        return None
    signatures = []
    for line in note[blank + 2 : -1].split("\n"):
        parts = line.split(" ")
        signed = _from_base64(parts[2]) if len(parts) == 3 else None
        if signed is None or len(signed) <= 4 or parts[0] != "—" or not _is_key_name(parts[1]):
            return None
        signatures.append(_Signature(parts[1], signed[:4], signed[4:]))
    return note[: blank + 1], signatures


def _is_key_name(name: str) -> bool:
    """Key names are not empty and hold no space of any kind, no control character and no plus."""
    return name != "" and not any(
        character == "+" or character.isspace() or unicodedata.category(character) in ("Zs", "Zl", "Zp", "Cc")
        for character in name
    )


def _check_inclusion(document: Any, logged: Union[_Logged, str]) -> Check:
    if isinstance(logged, str):
        return _check("inclusion", logged, "")
    issued = {name: value for name, value in document.items() if name not in ("status", "proof")}
    entry = canonical_json(issued)
    included = entry is not None and _is_included(sha256(b"\x00" + entry).digest(), logged)
    failure = f"The certificate is not leaf {logged.index} of the tree of {logged.size} that the proof names."
    holds = f"The certificate is leaf {logged.index} of the logged tree of {logged.size}."
    return _check("inclusion", None if included else failure, holds)


def _is_included(leaf: bytes, logged: _Logged) -> bool:
    """RFC 9162 §2.1.3.2"""
    if logged.index >= logged.size:
        return False
    fn, sn, root = logged.index, logged.size - 1, leaf
    for sibling in logged.path:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            root = sha256(b"\x01" + sibling + root).digest()
            while fn and not fn & 1:
                fn, sn = fn >> 1, sn >> 1
        else:
            root = sha256(b"\x01" + root + sibling).digest()
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and root == logged.root


def _check_keys(keys: Any) -> Check:
    """Key ids and verifier keys must follow from the keys themselves."""
    known = _known_keys(keys)
    current = _member(keys, "current_key_id")
    failure = None
    if isinstance(known, str):
        failure = known
    elif not isinstance(current, str) or all(key_id.hex() != current for key_id in known[1]):
        failure = "current_key_id is none of the keys."
    return _check("keys", failure, "The keys are well-formed.")


def _known_keys(keys: Any) -> Union[Tuple[str, Dict[bytes, bytes]], str]:
    """The log's name and its keys by their ids, or why there are none."""
    origin, listed = _text(_member(keys, "origin")), _member(keys, "keys")
    if origin is None or _encoded(origin) is None or not isinstance(listed, list):
        return "This is no document of keys."
    known = {}
    for key in listed:
        public = _from_base64(_text(_member(key, "public_key")) or "")
        named = _text(_member(key, "key_id"))
        if public is None or len(public) != 32 or _member(key, "algorithm") != "ed25519" or named is None:
            return "A key is not an Ed25519 public key."
        key_id = sha256(origin.encode() + b"\n" + _ED25519_TYPE + public).digest()[:4]
        if named != key_id.hex():
            return f"Key {named} is not the key it is named after."
        verifier_key = f"{origin}+{named}+{base64.b64encode(_ED25519_TYPE + public).decode()}"
        if _member(key, "verifier_key") != verifier_key:
            return f"Key {named} is given in two ways."
        known[key_id] = public
    return origin, known


def _check_signature(keys: Any, logged: Union[_Logged, str]) -> Check:
    """c2sp.org/signed-note: unknown signatures are ignored, one of a known key that fails rejects the note."""
    if isinstance(logged, str):
        return _check("signature", logged, "")
    listed = _known_keys(keys)
    if isinstance(listed, str):
        return _check("signature", listed, "")
    origin, known = listed
    signed = []
    for name, key_id, signature in logged.signatures:
        public = known.get(key_id)
        if name != origin or public is None:
            continue
        if not ed25519.verify(public, logged.signed_text.encode(), signature):
            return _check("signature", f"The signature of key {key_id.hex()} on the checkpoint is wrong.", "")
        signed.append(key_id.hex())
    failure = None
    if not signed:
        failure = "None of the known keys signed the checkpoint."
    elif logged.origin != origin:
        failure = f"The checkpoint is of the log {logged.origin}, the keys are of {origin}."
    return _check("signature", failure, f"The checkpoint is signed by {' and '.join(signed)} of {logged.origin}.")


def _not_covered(response: Any) -> List[str]:
    """The members of the response, two levels deep, that no check has looked at."""
    covered = {".".join(path) for path, _ in _REPEATED}
    covered |= {"metadata.certificate_id", "metadata.certificate_salt", "metadata.request_id", "meta.request_id"}
    names = []
    for outer, inner in response.items() if isinstance(response, dict) else ():
        if outer == "data":
            continue
        paths = [f"{outer}.{name}" for name in inner] if isinstance(inner, dict) else [outer]
        names += [path for path in paths if path not in covered]
    return names


def _member(value: Any, *path: str) -> Any:
    for name in path:
        value = value.get(name, _MISSING) if isinstance(value, dict) else _MISSING
    return value


def _text(value: Any) -> Optional[str]:
    return value if isinstance(value, str) else None


def _show(value: Any) -> str:
    """Lists and objects are not written out: they may be large."""
    if value is _MISSING:
        return "nothing"
    if isinstance(value, (dict, list)):
        return "a list" if isinstance(value, list) else "an object"
    return ascii(value)


def _encoded(text: str) -> Optional[bytes]:
    try:
        return text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return None


def _from_base64(text: str) -> Optional[bytes]:
    """None unless the text is exactly what base64 prints for the bytes."""
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return decoded if base64.b64encode(decoded).decode() == text else None


def _count(text: str) -> Optional[int]:
    """ASCII decimal without leading zeroes, within 2^53."""
    count = int(text) if re.fullmatch("0|[1-9][0-9]{0,15}", text) else None
    return count if count is not None and count < 2**53 else None


def _bits_of_base32(text: str) -> Optional[int]:
    if len(text) != 26 or any(character not in BASE32 for character in text) or text[0] > "7":
        return None
    bits = 0
    for character in text:
        bits = bits << 5 | BASE32.index(character)
    return bits


def _uuid_text(bits: int) -> str:
    digits = f"{bits:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
