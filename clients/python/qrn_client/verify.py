"""Verifies an answer, its certificate and the log's word for it, from what a client holds and from nothing else.

docs/certificates.md of the service says what is checked and why; the checks have the names that it gives them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, List, Optional, Sequence, Tuple, Union

from ._checkpoint import Logged, Signed, is_included, known_keys, read_proof, read_signatures
from ._derived import UNSIGNED, derived_failure, read_lots
from ._fixed import fixed_failure
from ._label import label_finding
from ._members import MISSING, member, show, text, time_of, time_text
from ._wire import BASE32
from ._witnesses import WitnessPolicy, witnesses_failure
from .canonical import canonical_json


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


def verify_answer(
    *,
    certificate: Any,
    keys: Any,
    response: Any = MISSING,
    octets: Optional[bytes] = None,
    require_fixed: bool = False,
    witnesses: Optional[WitnessPolicy] = None,
) -> Verification:
    """Checks an answer. Never raises for what it is given: what cannot be read is a check that failed.

    response: the JSON body of the answer, parsed, or what came beside its octets; leave it out to check a certificate
        alone; None is an answer of `null`, which fails
    octets: what the certificate commits to, where it names their media type: the body of an answer in octets
    certificate: what the certificate endpoint answered, parsed
    keys: /.well-known/qrn-keys.json, parsed: the anchor of trust, best had long before or from someone else
    require_fixed: fails an answer whose certificate does not show that what it was drawn from was fixed before
    witnesses: who else must have seen the log; without it nobody else is asked for
    """
    document = member(certificate, "certificate")
    if document is MISSING or document is None:
        document = certificate
    logged = read_proof(member(document, "proof"))
    signed = read_signatures(keys, logged)
    checks: List[Check] = []
    if response is not MISSING:
        checks += [
            _check_certificate_id(response, document),
            _check_request_id(response, document),
            _check_metadata(response, document, octets),
        ]
    if response is not MISSING or octets is not None:
        checks.append(_check_delivered(response, document, octets))
    label = label_finding(response if octets is None else MISSING, document)
    if label is not None:
        checks.append(_check("label", *label))
    leaves, found = read_lots(certificate, document)
    is_named = leaves is not None
    checks.append(_check("lots", None if is_named else found, found))
    derived = _LOTS_UNKNOWN if leaves is None else derived_failure(document, leaves)
    checks.append(_check("derived", derived, "Circuit, origin, evidence, tests and hashes follow from the lots."))
    checks += [
        _check_status(certificate, document, leaves),
        _check_keys(keys),
        _check_inclusion(document, logged),
        _check_signature(logged, signed),
        _check_dates(document, leaves, signed),
    ]
    if member(document, "entropy_mode") != "csprng" or require_fixed:
        # an answer that is bare values has no place for an opening
        opened = {"opening": None, **response} if octets is not None and isinstance(response, dict) else response
        fixed = (_LOTS_UNKNOWN, "")
        if leaves is not None:
            fixed = fixed_failure(opened, certificate, document, leaves, logged, keys, witnesses)
        checks.append(_check("fixed", *fixed))
    if witnesses is not None:
        checks.append(_check("witnesses", *witnesses_failure(certificate, document, logged, witnesses)))
    return Verification(tuple(checks), tuple(_not_covered(response, octets is not None)))


def _check(name: str, failure: Optional[str], holds: str) -> Check:
    return Check(name, failure is None, holds if failure is None else failure)


def _check_certificate_id(response: Any, document: Any) -> Check:
    id = text(member(document, "id"))
    url = text(member(document, "verify_url"))
    asked = member(response, "metadata", "certificate_id")
    failure = None
    if id is None:
        failure = "The certificate has no id."
    elif asked != id:
        failure = f"The response names {show(asked)}, the certificate is {id}."
    elif url is None or not url.endswith(f"/{id}"):
        failure = "verify_url does not end in the id."
    return _check("certificate id", failure, f"The response names certificate {id}.")


def _check_request_id(response: Any, document: Any) -> Check:
    id = text(member(document, "request_id"))
    named = member(response, "metadata", "request_id")
    uuid = member(response, "meta", "request_id")
    bits = _bits_of_base32(id[4:]) if id is not None and id.startswith("req_") else None
    failure = None
    if bits is None:
        failure = "The certificate has no request_id."
    elif named != id:
        failure = f"The response has request {show(named)}, the certificate is for {id}."
    elif uuid != _uuid_text(bits):
        failure = f"meta.request_id is {show(uuid)}, not the same 128 bits as {id}."
    return _check("request id", failure, f"Both are of request {id}.")


#: Why a check that reads the lots cannot be made.
_LOTS_UNKNOWN = "It reads the lots, and those that were given are not the ones of the certificate."

#: Members of the response beside `data` that the certificate repeats, and where it has them.
_REPEATED: Sequence[Tuple[Sequence[str], Sequence[str]]] = (
    (("metadata", "timestamp"), ("issued_at",)),
    (("metadata", "lang_circuit"), ("provenance", "lang_circuit")),
    (("metadata", "lang_version"), ("provenance", "lang_version")),
    (("metadata", "quantum_backend"), ("provenance", "quantum_backend")),
    (("metadata", "entropy_origin"), ("provenance", "origin")),
    (("metadata", "nist_verified"), ("verification", "nist_verified")),
    (("data", "metadata", "entropy_mode"), ("entropy_mode",)),
)


def _check_metadata(response: Any, document: Any, octets: Optional[bytes]) -> Check:
    differing = []
    for in_response, in_certificate in _REPEATED:
        certified, given = member(document, *in_certificate), member(response, *in_response)
        scalar = isinstance(certified, (str, bool, int, float)) or certified is None
        if not scalar or type(given) is not type(certified) or given != certified:
            differing.append(".".join(in_response))
    media_type = member(response, "media_type")
    if media_type is not MISSING and media_type != member(document, "media_type"):
        differing.append("media_type")
    failure = f"Not as certified: {', '.join(differing)}." if differing else None
    return _check("metadata", failure, "Time, circuit, backend, origin, mode and test result are as certified.")


def _check_delivered(response: Any, document: Any, octets: Optional[bytes]) -> Check:
    """`delivered` is SHA-256(salt, canonical JSON of `data`), or SHA-256(salt, octets) where the certificate names their
    media type; only who holds the response has the salt.
    """
    certified = member(document, "hashes", "delivered")
    media_type = member(document, "media_type")
    salt = text(member(response, "metadata", "certificate_salt"))
    data = octets if media_type is not MISSING or octets is not None else canonical_json(member(response, "data"))
    failure = None
    if salt is None or not re.fullmatch("[0-9a-f]{64}", salt):
        failure = "metadata.certificate_salt is not 64 hex digits."
    elif media_type is not MISSING and octets is None:
        failure = f"The certificate is of octets, {show(media_type)}; the answer is not."
    elif media_type is MISSING and octets is not None:
        failure = "The certificate is of JSON; the answer is in octets."
    elif data is None:
        failure = "The response has no data."
    else:
        delivered = f"sha256:{sha256(bytes.fromhex(salt) + data).hexdigest()}"
        if delivered != certified:
            failure = f"The data and the salt hash to {delivered}, certified is {show(certified)}."
    what = "data is" if media_type is MISSING else "octets are"
    return _check("delivered", failure, f"The {what} what was delivered, bit for bit.")


def _check_status(certificate: Any, document: Any, leaves: Optional[List[Any]]) -> Check:
    """The log does not hold the status, which may change; what it follows from does stand in the log."""
    status = member(document, "status")
    if leaves is None:
        return _check("status", _LOTS_UNKNOWN, "")
    expected = "test" if any(member(leaf, "deterministic") is True for leaf in leaves) else "valid"
    failure = None
    if status == "revoked":
        reason = text(member(certificate, "revocation", "reason"))
        failure = f"A lot was withdrawn: {reason or 'no reason is given'}."
    elif status != expected:
        failure = f"status is {show(status)}; the lots make it {expected}."
    test, none = "A deterministic test source made this: not random.", "The document says of no lot that it was withdrawn."
    return _check("status", failure, test if expected == "test" else none)


def _check_inclusion(document: Any, logged: Union[Logged, str]) -> Check:
    if isinstance(logged, str):
        return _check("inclusion", logged, "")
    issued = {name: value for name, value in document.items() if name not in UNSIGNED}
    entry = canonical_json(issued)
    included = entry is not None and is_included(sha256(b"\x00" + entry).digest(), logged)
    failure = f"The certificate is not leaf {logged.index} of the tree of {logged.size} that the proof names."
    holds = f"The certificate is leaf {logged.index} of the logged tree of {logged.size}."
    return _check("inclusion", None if included else failure, holds)


def _check_keys(keys: Any) -> Check:
    known = known_keys(keys)
    current = member(keys, "current_key_id")
    failure = None
    if isinstance(known, str):
        failure = known
    elif all(key.key_id != current for key in known):
        failure = "current_key_id does not name a listed key."
    return _check("keys", failure, "The keys are well-formed.")


def _check_signature(logged: Union[Logged, str], signed: Union[Sequence[Signed], str]) -> Check:
    if isinstance(signed, str) or isinstance(logged, str):
        return _check("signature", signed if isinstance(signed, str) else str(logged), "")
    ids = [each.key.key_id for each in signed if each.at is None]
    return _check("signature", None, f"The checkpoint is signed by {' and '.join(ids)} of {logged.origin}.")


def _check_dates(document: Any, leaves: Optional[List[Any]], signed: Union[Sequence[Signed], str]) -> Check:
    """Every lot had ended when the certificate was issued, the key that signed had begun and was not retired, and the
    checkpoint is no older than the certificate in it.
    """
    told = member(document, "issued_at")
    issued = time_of(told)
    if issued is None:
        return _check("dates", f"issued_at is {show(told)}, not a time.", "")
    if leaves is None:
        return _check("dates", _LOTS_UNKNOWN, "")
    for lot in leaves:
        finished = time_of(member(lot, "finished_at"))
        if finished is None or finished > issued:
            ended = show(member(lot, "finished_at"))
            return _check("dates", f"It was issued at {show(told)}, and a lot of it ended at {ended}.", "")
    if isinstance(signed, str):
        return _check("dates", None, "Issued after its lots ended. No signature that holds says more.")
    plain = [each.key for each in signed if each.at is None and each.key.began is not None and each.key.began <= issued]
    if not plain:
        failure = f"It was issued at {show(told)}, before the key that signed the checkpoint began."
        return _check("dates", failure, "")
    times = [each.at for each in signed if each.at is not None]
    # a key that was rotated in has signed beside the retired one, and later
    last = {key.key_id: issued for key in plain}
    for each in signed:
        if each.at is not None and each.key.key_id in last:
            last[each.key.key_id] = max(last[each.key.key_id], 1_000 * each.at)
    if not any(not key.is_retired or (key.retired is not None and last[key.key_id] <= key.retired) for key in plain):
        return _check("dates", "The key that signed the checkpoint had been retired before.", "")
    if not times:
        return _check("dates", None, "Issued after its lots ended. The log did not say when it signed.")
    earliest = min(times)
    too_early = None
    if earliest < issued // 1_000:  # the log's time has whole seconds
        too_early = f"The log says that it signed at {time_text(earliest)}, before the certificate was issued."
    holds = f"Issued after its lots ended; the log says that it signed by {time_text(earliest)}."
    return _check("dates", too_early, holds)


def _not_covered(response: Any, is_octets: bool) -> List[str]:
    """The members of the response, two levels deep, that no check has looked at."""
    covered = {".".join(path) for path, _ in _REPEATED} | {"media_type"}
    covered |= {"metadata.certificate_id", "metadata.certificate_salt", "metadata.request_id", "meta.request_id"}
    covered |= {"label." + name for name in ("public", "purpose", "series", "user_data", "user_data_sha256")}
    covered |= {"opening.bytes", "opening.path", "opening.salts", "opening"}
    names = []
    for outer, inner in response.items() if isinstance(response, dict) else ():
        if outer == "data":
            if is_octets and isinstance(inner, dict):
                names += [f"data.{name}" for name in inner if name != "metadata"]
            continue  # of JSON the hash covers all of it
        paths = [f"{outer}.{name}" for name in inner] if isinstance(inner, dict) else [outer]
        names += [path for path in paths if path not in covered]
    return names


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
