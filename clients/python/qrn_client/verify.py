"""Verifies an answer, its certificate and the log's word for it, from what a client holds and from nothing else.

docs/certificates.md of the service says what is checked and why; the checks have the names that it gives them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, List, Optional, Sequence, Tuple, Union

from ._checkpoint import Logged, Signed, is_included, known_keys, read_proof, read_signatures
from ._fixed import fixed_failure, not_fixed
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
    checks += [
        _check_lots(document),
        _check_status(certificate, document),
        _check_keys(keys),
        _check_inclusion(document, logged),
        _check_signature(logged, signed),
        _check_dates(document, signed),
    ]
    missing = not_fixed(document) if require_fixed else None
    if missing is not None:
        checks.append(_check("fixed", f"Required, and not shown: {missing}", ""))
    elif _version(document) >= 4:
        # an answer that is bare values has no place for an opening
        opened = {"opening": None, **response} if octets is not None and isinstance(response, dict) else response
        checks.append(_check("fixed", *fixed_failure(opened, certificate, document, logged, keys, witnesses)))
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


def _check_metadata(response: Any, document: Any, octets: Optional[bytes]) -> Check:
    differing = []
    for in_response, in_certificate in _REPEATED:
        certified, given = member(document, *in_certificate), member(response, *in_response)
        if octets is not None and given is MISSING and in_response[1] == "powered_by":  # no header carries it
            continue
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


def _check_lots(document: Any) -> Check:
    """The hashes of several lots are joined and hashed; what is claimed of all is what the weakest claims."""
    lots = member(document, "provenance", "lots")
    if not isinstance(lots, list) or not lots:
        return _check("lots", "The certificate names no lot.", "")
    failures = []
    if _version(document) not in (1, 2, 3, 4):
        failures.append(f"The version is {show(member(document, 'version'))}; this verifier knows 1 to 4.")
    for name in ("raw_output", "processed"):
        digests = [text(member(lot, name)) or "" for lot in lots]
        if not all(re.fullmatch("sha256:[0-9a-f]{64}", digest) for digest in digests):
            failures.append(f"A lot has no {name}.")
        elif member(document, "hashes", name) != _joined(digests):
            failures.append(f"hashes.{name} is not that of the lots.")
    version = member(document, "version")
    if (version == 1 and version is not True) or member(document, "entropy_mode") == "csprng":
        told = [member(document, "provenance", "evidence"), *(member(lot, "evidence") for lot in lots)]
        if any(each is not MISSING for each in told):
            failures.append("Version 1 and csprng do not speak of evidence.")
    elif _version(document) >= 4 and any(member(lot, "evidence") is MISSING for lot in lots):
        if member(document, "provenance", "evidence") is not MISSING:
            failures.append("It speaks of evidence that one of its lots does not have.")
    else:
        evidence = _evidence_failure(document, lots)
        if evidence is not None:
            failures.append(evidence)
    claim = text(member(document, "provenance", "evidence"))
    and_evidence = "" if claim is None else f", and so is the evidence: {claim}"
    return _check("lots", " ".join(failures) or None, f"The hashes are those of the lots named{and_evidence}.")


#: From the weakest to the strongest.
_CLAIMS = ("simulated", "statistical", "calibrated")
_CEILINGS = {
    "quantum-processor": "calibrated",
    "qrng-device": "calibrated",
    "simulated": "simulated",
    "replay": "statistical",
    "system": "statistical",
}


def _evidence_failure(document: Any, lots: Sequence[Any]) -> Optional[str]:
    """From version 2 on: every lot has a claim that its origin allows. The weakest of them stands for all."""
    ranks: List[int] = []
    for lot in lots:
        claim, origin = member(lot, "evidence", "claim"), member(lot, "origin")
        if not isinstance(claim, str) or claim not in _CLAIMS:
            return "A lot has no evidence."
        ceiling = _CEILINGS.get(origin) if isinstance(origin, str) else None
        if ceiling is None or _CLAIMS.index(claim) > _CLAIMS.index(ceiling):
            return f"A lot of origin {show(origin)} claims {show(claim)}."
        ranks.append(_CLAIMS.index(claim))
    certified, weakest = member(document, "provenance", "evidence"), _CLAIMS[min(ranks)]
    if certified == weakest:
        return None
    return f"The evidence is {show(certified)}, the weakest of the lots has {show(weakest)}."


def _version(document: Any) -> int:
    version = member(document, "version")
    return version if isinstance(version, int) and not isinstance(version, bool) else 0


def _joined(digests: Sequence[str]) -> str:
    if len(digests) == 1:
        return digests[0]
    joined = b"".join(bytes.fromhex(digest[len("sha256:") :]) for digest in digests)
    return f"sha256:{sha256(joined).hexdigest()}"


def _check_status(certificate: Any, document: Any) -> Check:
    """The log does not hold the status, which may change; what it follows from does stand in the log."""
    status = member(document, "status")
    lots = member(document, "provenance", "lots")
    deterministic = isinstance(lots, list) and any(member(lot, "deterministic") is True for lot in lots)
    expected = "test" if deterministic else "valid"
    failure = None
    if status == "revoked":
        reason = text(member(certificate, "revocation", "reason"))
        failure = f"A lot was withdrawn: {reason or 'no reason is given'}."
    elif status != expected:
        failure = f"status is {show(status)}; the lots make it {expected}."
    test, none = "A deterministic test source made this: not random.", "The document says of no lot that it was withdrawn."
    return _check("status", failure, test if deterministic else none)


def _check_inclusion(document: Any, logged: Union[Logged, str]) -> Check:
    if isinstance(logged, str):
        return _check("inclusion", logged, "")
    issued = {name: value for name, value in document.items() if name not in ("status", "proof")}
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


def _check_dates(document: Any, signed: Union[Sequence[Signed], str]) -> Check:
    """Every lot had ended when the certificate was issued, the key that signed had begun and was not retired, and the
    checkpoint is no older than the certificate in it.
    """
    told = member(document, "issued_at")
    issued = time_of(told)
    if issued is None:
        return _check("dates", f"issued_at is {show(told)}, not a time.", "")
    lots = member(document, "provenance", "lots")
    for lot in lots if isinstance(lots, list) else ():
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
            if is_octets:
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
