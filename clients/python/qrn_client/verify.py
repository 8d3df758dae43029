"""Verifies an answer, its certificate and its place in the log, without any network.

docs/certificates.md of the service explains each check under the same name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Dict, List, Optional, Sequence
from uuid import UUID

from ._fixed import fixed_before
from ._log import Proof, Signed, WitnessPolicy, known_keys, seen_by_witnesses, signatures_of
from ._lots import UNSIGNED, entry_of, read_lots, require_derived
from ._reading import BASE32, MALFORMED, Refused, hashed, is_count, milliseconds_of, plain, require, same, show, time_text

_ABSENT = object()


class VerificationFailed(Exception):
    """A check of the verification failed."""

    def __init__(self, verification: "Verification") -> None:
        failed = (f"{check.name}: {check.why}" for check in verification.checks if not check.ok)
        super().__init__(" ".join(failed))
        self.verification = verification


@dataclass(frozen=True)
class Check:
    name: str
    ok: bool
    #: The finding, in a sentence.
    why: str


@dataclass(frozen=True)
class Verification:
    checks: Sequence[Check]
    #: Members of the answer that no certificate covers, such as durations and credits.
    not_covered: Sequence[str]

    @property
    def ok(self) -> bool:
        """True when every check holds."""
        return all(check.ok for check in self.checks)

    def require(self) -> "Verification":
        """Returns itself, or raises VerificationFailed unless every check holds."""
        if not self.ok:
            raise VerificationFailed(self)
        return self


def verify_answer(
    *,
    certificate: Any,
    keys: Any,
    response: Any = _ABSENT,
    octets: Optional[bytes] = None,
    require_fixed: bool = False,
    witnesses: Optional[WitnessPolicy] = None,
) -> Verification:
    """Checks an answer. Never raises because of its input: input that cannot be read is a failed check.

    response: the parsed JSON body of the answer, or what the header fields of an answer in octets say. Leave it out to check only
        a certificate; None is the answer `null`, which fails
    octets: the body of an answer in octets, to which the certificate commits when it names a media type
    certificate: the parsed reply of the certificate endpoint
    keys: /.well-known/qrn-keys.json, parsed: the anchor of trust. Best obtained long before, or from someone else
    require_fixed: fails an answer whose certificate does not show that the bytes it was drawn from were fixed before
    witnesses: the witnesses that must have seen the log; None: none
    """
    verifier = _Verifier(response, plain(certificate), plain(keys), octets, witnesses)
    names = ["lots", "derived", "status", "keys", "inclusion", "signature", "dates"]
    if verifier.has_label:
        names.insert(0, "label")
    if response is not _ABSENT or octets is not None:
        names.insert(0, "delivered")
    if response is not _ABSENT:
        names[:0] = ["certificate id", "request id", "metadata"]
    if require_fixed or verifier.issued.get("entropy_mode") != "csprng":
        names.append("fixed")
    if witnesses is not None:
        names.append("witnesses")
    return Verification(tuple(map(verifier.check, names)), tuple(verifier.not_covered()))


#: The members of the response that the certificate repeats, and their places in the certificate.
_REPEATED = {
    "metadata.timestamp": "issued_at",
    "metadata.lang_circuit": "provenance.lang_circuit",
    "metadata.lang_version": "provenance.lang_version",
    "metadata.quantum_backend": "provenance.quantum_backend",
    "metadata.entropy_origin": "provenance.origin",
    "metadata.nist_verified": "verification.nist_verified",
    "data.metadata.entropy_mode": "entropy_mode",
}
_COVERED = {
    *_REPEATED,
    *("metadata." + name for name in ("certificate_id", "certificate_salt", "request_id")),
    *("label." + name for name in ("public", "purpose", "series", "user_data", "user_data_sha256")),
    *("opening." + name for name in ("bytes", "path", "salts")),
    *("meta.request_id", "media_type", "opening"),
}


class _Verifier:
    """Each check returns its finding in a sentence, or raises Refused, or one of MALFORMED for input that it cannot read."""

    def __init__(
        self, response: Any, document: Any, keys: Any, octets: Optional[bytes], witnesses: Optional[WitnessPolicy]
    ) -> None:
        self.has_response = response is not _ABSENT
        self.response: Any = plain(response) if self.has_response else None
        self.document: Dict[str, Any] = document if isinstance(document, dict) else {}
        inner = self.document.get("certificate") or self.document
        self.issued: Dict[str, Any] = inner if isinstance(inner, dict) else {}
        self.keys, self.octets, self.witnesses = keys, octets, witnesses
        in_answer = octets is None and isinstance(self.response, dict) and "label" in self.response
        self.has_label = "label" in self.issued or in_answer

    def check(self, name: str) -> Check:
        try:
            return Check(name, True, getattr(self, "_" + name.replace(" ", "_"))())
        except Refused as refused:
            return Check(name, False, str(refused))
        except MALFORMED as error:
            what = f"{type(error).__name__}: {error}"[:200]
            return Check(name, False, f"What it reads has not the form that docs/certificates.md gives ({what}).")

    @cached_property
    def proof(self) -> Proof:
        return Proof(self.issued.get("proof"))

    @cached_property
    def signed(self) -> List[Signed]:
        return signatures_of(self.proof, self.keys)

    @cached_property
    def leaves(self) -> List[Any]:
        try:
            return read_lots(self.document, self.issued)
        except (Refused, *MALFORMED):
            raise Refused("It reads the lots, and those that were given are not the ones of the certificate.") from None

    def _certificate_id(self) -> str:
        id, asked = self.issued.get("id"), self.response["metadata"].get("certificate_id")
        require(isinstance(id, str), "The certificate has no id.")
        require(asked == id, f"The answer names certificate {show(asked)}, but this is certificate {id}.")
        require(self.issued["verify_url"].endswith(f"/{id}"), "verify_url of the certificate does not end in its id.")
        return f"The answer names certificate {id}."

    def _request_id(self) -> str:
        id, bits = self.issued.get("request_id"), 0
        is_id = isinstance(id, str) and re.fullmatch(f"req_[0-7][{BASE32}]{{25}}", id)
        require(is_id, "The certificate has no request_id.")
        for character in str(id)[len("req_") :]:
            bits = bits << 5 | BASE32.index(character)
        named, uuid = self.response["metadata"]["request_id"], self.response["meta"]["request_id"]
        require(named == id, f"The answer is of request {show(named)}, but the certificate is of request {id}.")
        require(uuid == str(UUID(int=bits)), f"meta.request_id is {show(uuid)}, not the UUID of the same 128 bits as {id}.")
        return f"The answer and the certificate are of request {id}."

    def _metadata(self) -> str:
        differing = []
        for in_response, in_certificate in _REPEATED.items():
            certified, given = _at(self.issued, in_certificate), _at(self.response, in_response)
            if isinstance(certified, (dict, list)) or certified is _ABSENT or not same(given, certified):
                differing.append(in_response)
        if "media_type" in self.response and self.response["media_type"] != self.issued.get("media_type", _ABSENT):
            differing.append("media_type")
        require(not differing, f"The answer differs from the certificate in: {', '.join(differing)}.")
        return "Time, circuit, backend, origin, mode and test result are as certified."

    def _salt(self) -> bytes:
        salt = self.response["metadata"]["certificate_salt"]
        is_salt = isinstance(salt, str) and re.fullmatch("[0-9a-f]{64}", salt)
        require(is_salt, "metadata.certificate_salt is not 64 hex digits.")
        return bytes.fromhex(salt)

    def _delivered(self) -> str:
        """`delivered` is SHA-256(salt, canonical JSON of `data`), or SHA-256(salt, octets) when the certificate names a media type.
        Only the holder of the response has the salt.
        """
        salt, is_octets = self._salt(), "media_type" in self.issued
        media_type = self.issued.get("media_type")
        require(not is_octets or self.octets is not None, f"The certificate is of an answer in octets ({show(media_type)}), but this answer is in JSON.")
        require(is_octets or self.octets is None, "The certificate is of an answer in JSON, but this answer is in octets.")
        delivered = hashed(salt, entry_of(self.response["data"]) if self.octets is None else self.octets)
        certified = self.issued["hashes"]["delivered"]
        require(delivered == certified, f"The salt and the data hash to {delivered}, but the certificate names {show(certified)}.")
        return f"The {'octets are' if is_octets else 'data is'} what was delivered, bit for bit."

    def _label(self) -> str:
        require("label" in self.issued, "The answer has a label, but the certificate has none.")
        certified = self.issued["label"]
        is_label = isinstance(certified, dict) and type(certified.get("public")) is bool
        require(is_label, "The label of the certificate is not an object that says whether it is public.")
        _require_texts(certified, "the certificate's")
        serial, series = certified.get("serial", _ABSENT), certified.get("series", _ABSENT)
        if "purpose" in certified or "purpose_commitment" in certified:
            is_numbered = isinstance(series, str) and is_count(serial) and serial >= 1
            require(is_numbered, "The label of the certificate has a purpose, but lacks the series or the serial number.")
        else:
            require(serial is series is _ABSENT, "The label of the certificate has a series or a serial number, but no purpose.")
        if "user_data" in certified:
            is_hash = certified.get("user_data_sha256") == hashed(certified["user_data"].encode())
            require(is_hash, "user_data_sha256 of the certificate is not the hash of its user_data.")
        if self.has_response and self.octets is None:
            self._require_same_label(certified)
        holds = "The label is as certified."
        if "serial" not in certified:
            return holds
        of = f"the purpose {show(certified['purpose'])}" if "purpose" in certified else "one purpose"
        return f"{holds} It is number {serial} of series {show(series)}: the answers of one account for {of}."

    def _require_same_label(self, certified: Dict[str, Any]) -> None:
        told = self.response.get("label")
        require(isinstance(told, dict), "The certificate has a label, but the answer has none.")
        salt = self._salt()
        _require_texts(told, "the answer's")
        require(told.get("public") is certified["public"], "The label of the answer differs from the certificate in public.")
        names = ("public", "purpose", "series", "user_data", "user_data_sha256")
        expected = {name: told[name] for name in names if name in told}
        if certified["public"] and "user_data" in expected:
            expected["user_data_sha256"] = hashed(expected["user_data"].encode())
        for name, byte in () if certified["public"] else (("purpose", b"\4"), ("user_data", b"\5")):
            if name in expected:
                expected[name + "_commitment"] = hashed(byte, salt, expected.pop(name).encode())
        differing = [
            name
            for name in sorted({*expected, *certified} - {"serial"})
            if isinstance(certified.get(name), (dict, list)) or expected.get(name, _ABSENT) != certified.get(name, _ABSENT)
        ]
        require(not differing, f"The label of the answer differs from the certificate in {', '.join(differing)}.")

    def _lots(self) -> str:
        leaves = read_lots(self.document, self.issued)
        if len(leaves) == 1:
            return "The leaf of the lot has the hash that the certificate names."
        return f"The leaves of the {len(leaves)} lots have the hashes that the certificate names."

    def _derived(self) -> str:
        require_derived(self.issued, self.leaves)
        return "Circuit, origin, evidence, test results and hashes follow from the lots."

    def _status(self) -> str:
        """The log does not hold the status, because it may change. The log holds the leaves from which the status follows."""
        status = self.issued.get("status")
        expected = "test" if any(leaf.get("deterministic") is True for leaf in self.leaves) else "valid"
        if status == "revoked":
            reason = (self.document.get("revocation") or {}).get("reason")
            raise Refused(f"The operator withdrew a lot of this certificate: {reason or 'no reason is given'}.")
        require(status == expected, f"status is {show(status)}, but with these lots it must be {show(expected)}.")
        if expected == "test":
            return "A deterministic test source made the values: they are not random."
        return "According to the document, none of the lots was withdrawn."

    def _keys(self) -> str:
        current = self.keys["current_key_id"] if isinstance(self.keys, dict) else None
        is_listed = any(key.key_id == current for key in known_keys(self.keys))
        require(is_listed, "current_key_id of the keys document names no key that the document lists.")
        return "The keys document is well-formed."

    def _inclusion(self) -> str:
        proof, issued = self.proof, {name: value for name, value in self.issued.items() if name not in UNSIGNED}
        is_included = proof.includes(entry_of(issued))
        require(is_included, f"The certificate is not leaf {proof.index} of the tree of {proof.size} leaves that its proof names.")
        return f"The certificate is leaf {proof.index} of the signed tree of {proof.size} leaves."

    def _signature(self) -> str:
        ids = [each.key.key_id for each in self.signed if each.at is None]
        whose = "key" if len(ids) == 1 else "keys"
        return f"The checkpoint of the log {self.proof.origin} is signed by {whose} {' and '.join(ids)}."

    def _dates(self) -> str:
        """Checks that every lot had ended when the certificate was issued, that the signing key had begun and was not retired, and
        that the checkpoint is not older than the certificate in it.
        """
        told = self.issued["issued_at"]
        issued = milliseconds_of(told)
        for lot in self.leaves:
            has_ended = milliseconds_of(lot["finished_at"]) <= issued
            require(has_ended, f"The certificate was issued at {show(told)}, but a lot of it ended at {show(lot['finished_at'])}.")
        try:
            signed = self.signed
        except (Refused, *MALFORMED):
            return "The certificate was issued after its lots ended. No valid signature shows more."
        begun = [each.key for each in signed if each.at is None and each.key.began is not None and each.key.began <= issued]
        require(begun, f"The certificate was issued at {show(told)}, before the key that signed the checkpoint was created.")
        times = [(each.key.key_id, each.at) for each in signed if each.at is not None]
        # after a rotation the new key has signed beside the retired one, and later
        is_rightful = any(
            key.may_sign_at(max([issued, *(1_000 * at for key_id, at in times if key_id == key.key_id)])) for key in begun
        )
        require(is_rightful, "The key that signed the checkpoint had already been retired.")
        earliest = min(at for _, at in times)
        is_later = earliest >= issued // 1_000  # the log's time has whole seconds
        require(is_later, f"The log says that it signed at {time_text(earliest)}, before the certificate was issued.")
        return f"The certificate was issued after its lots ended. The log says that it signed by {time_text(earliest)}."

    def _fixed(self) -> str:
        try:
            proof: Optional[Proof] = self.proof
        except (Refused, *MALFORMED):
            proof = None
        response = self.response
        if self.octets is not None and isinstance(response, dict):
            response = {"opening": None, **response}  # octets have no place for an opening
        given = self.document["lots"] if self.leaves else []
        return fixed_before(response, self.has_response, self.issued, self.leaves, given, proof, self.keys, self.witnesses)

    def _witnesses(self) -> str:
        assert self.witnesses is not None
        lots = self.document.get("lots")
        proofs = [lot.get("proof") for lot in lots if isinstance(lot, dict)] if isinstance(lots, list) else []
        return seen_by_witnesses(self.proof, proofs, self.issued.get("issued_at", ""), self.witnesses)

    def not_covered(self) -> List[str]:
        """Returns the members of the response, two levels deep, that no check covers."""
        names = []
        for outer, inner in self.response.items() if isinstance(self.response, dict) else ():
            paths = [f"{outer}.{name}" for name in inner] if isinstance(inner, dict) else [outer]
            if outer == "data":  # for a JSON answer the hash covers all of `data`
                paths = [path for path in paths if path not in ("data", "data.metadata")] if self.octets is not None else []
            names += [path for path in paths if path not in _COVERED]
        return names


def _at(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = value.get(name, _ABSENT) if isinstance(value, dict) else _ABSENT
    return value


def _require_texts(label: Dict[str, Any], whose: str) -> None:
    """Raises Refused when a member is not text in Unicode: otherwise it could have the same hash as another text."""
    for name in ("purpose", "user_data"):
        try:
            label.get(name, "").encode()
        except (AttributeError, UnicodeEncodeError):
            raise Refused(f"{name} of {whose} label is not well-formed text.") from None
