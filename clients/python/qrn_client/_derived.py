"""What a certificate says of its lots follows from their leaves: docs/certificates.md, rules D1 to D9."""

from __future__ import annotations

import base64
import math
import re
from hashlib import sha256
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ._members import MISSING, member, show, text, time_of
from ._samplers import MEMBERS
from .canonical import canonical_json

UNSIGNED = ("status", "verify_url", "proof")

_MODES = ("quantum-seeded", "pure", "csprng")
#: From the most to the least trustworthy.
_ORIGINS = ("quantum-processor", "qrng-device", "simulated", "replay", "system")
#: From the weakest to the strongest, and the strongest that an origin allows.
_CLAIMS = ("simulated", "statistical", "calibrated")
_CEILINGS = {"simulated": 0, "replay": 1, "system": 1, "quantum-processor": 2, "qrng-device": 2}
_PIECE_BYTES, _SEED_BYTES = 16, 32
#: A shorter window is too short to fail.
_WINDOW_BITS = 1_000_000


#: A longer list is refused: whoever checks it would wait.
_LIST_MAX = 4_096


class _Failure(Exception):
    """Why it does not hold, in a sentence."""


def read_lots(document: Any, certificate: Any) -> Tuple[Optional[List[Any]], str]:
    """The leaves of the lots, in the order of the certificate, and what holds; None and why where one is not given."""
    named, given = member(certificate, "provenance", "lots"), member(document, "lots")
    if not isinstance(named, list) or not named:
        return None, "The certificate names no lot."
    if not isinstance(given, list) or len(given) != len(named):
        return None, f"The certificate names {len(named)} lots, and its file has not as many under lots."
    ids = [text(member(each, "id")) for each in named]
    if len(set(ids)) < len(ids):
        return None, "The certificate names a lot twice."
    leaves = [member(each, "leaf") for each in given]
    for leaf, name, each in zip(leaves, ids, named):
        is_lot = member(leaf, "type") == "lot" and _is_one(member(leaf, "version"))
        if not is_lot or name is None or member(leaf, "lot_id") != name:
            return None, f"What is given for lot {show(name)} is not its leaf."
        entry = canonical_json(leaf)
        if entry is None or _base64_of(sha256(b"\x00" + entry).digest()) != member(each, "leaf"):
            return None, f"The leaf of lot {name} is not the one that the certificate names by its hash."
    which = "The lot is the one" if len(leaves) == 1 else f"The {len(leaves)} lots are those"
    return leaves, f"{which} that the certificate names by the hash of its leaf."


def derived_failure(certificate: Any, leaves: Sequence[Any]) -> Optional[str]:
    """Why the certificate does not say what follows from the lots; None where it does."""
    try:
        _check(certificate, leaves)
    except _Failure as failure:
        return str(failure)
    return None


class _Lot(NamedTuple):
    leaf: Any
    #: Where in its pure bytes, or of seeded mode in its seeds, the answer lies.
    spans: List[Tuple[int, int]]


def _check(certificate: Any, leaves: Sequence[Any]) -> None:
    mode = member(certificate, "entropy_mode")
    if not isinstance(certificate, dict) or mode not in _MODES:
        raise _Failure(f"There is no mode {show(mode)}.")
    # the label is checked by itself
    issued = {name: value for name, value in certificate.items() if name not in (*UNSIGNED, "label")}
    flaw = _flaw_of_form(issued, mode)
    for i, leaf in enumerate(leaves):
        flaw = flaw or _flaw_of(leaf, _LEAF, f"lots[{i}].leaf", is_closed=False)
    if flaw is not None:
        raise _Failure(f"The form is not that of version 1: {flaw}.")
    lots = [_Lot(leaf, _spans(certificate, mode, i)) for i, leaf in enumerate(leaves)]
    for lot in lots:
        _check_lot(lot.leaf, mode)
    _check_draw(lots, mode)
    if mode == "pure":
        _check_order(member(certificate, "provenance", "drawn"), leaves)
    failures = []
    for path, follows in _derived(lots, mode).items():
        certified = member(certificate, *path.split("."))
        if type(certified) is not type(follows) or certified != follows:
            failures.append(f"{path} is {show(certified)}, and {show(follows)} follows from the lots.")
    if failures:
        raise _Failure(" ".join(failures))


def _spans(certificate: Any, mode: str, place: int) -> List[Tuple[int, int]]:
    source = member(certificate, "provenance")
    if mode == "csprng":
        return []
    if mode == "quantum-seeded":
        return [(_SEED_BYTES * member(source, "seed", "index"), _SEED_BYTES)]
    drawn = member(source, "drawn")
    return [(member(each, "offset"), member(each, "bytes")) for each in drawn if member(each, "lot") == place]


def _check_lot(leaf: Any, mode: str) -> None:
    """Something of that mode can be drawn from such a lot, and its leaf does not contradict itself."""
    name, origin, evidence = member(leaf, "lot_id"), member(leaf, "origin"), member(leaf, "evidence")
    if mode == "csprng":
        is_sample = origin == "system" and evidence is None
        if not is_sample or member(leaf, "pure", "bytes") or member(leaf, "seeds", "count"):
            raise _Failure(f"Lot {name} is no sample of the csprng stream.")
        return
    if evidence is None:
        raise _Failure(f"Lot {name} has no evidence.")
    claim = member(evidence, "claim")
    if _CLAIMS.index(claim) > _CEILINGS[origin]:
        raise _Failure(f"Lot {name} of origin {show(origin)} claims {show(claim)}.")
    _check_figures(leaf, evidence)
    _check_citations(leaf)
    if member(leaf, "declared") is True and origin not in _ORIGINS[:2]:
        raise _Failure(f"Lot {name} of origin {show(origin)} is declared quantum.")
    for window in member(leaf, "tested"):
        is_whole = member(window, "passed") <= member(window, "total") and member(window, "bits") > 0
        if member(window, "of") == "conditioned":
            is_whole = is_whole and member(window, "bits") % 8 == 0 and member(window, "first_bit") % 8 == 0
        if not is_whole:
            raise _Failure(f"Lot {name} was tested in windows that are none.")


#: Largest lag of the autocorrelation, plus one; and the last decimal of the figures that are told.
_LAGS_MAX, _ROUNDING = 1 << 18, 2e-6


def _check_figures(leaf: Any, evidence: Any) -> None:
    """The autocorrelation that a lot tells of does not contradict what it claims. The formulas stand in docs/evidence.md."""
    name, bits, figures = member(leaf, "lot_id"), member(leaf, "raw_bits"), member(evidence, "figures")
    correlation, bound, lag = (
        member(figures, "autocorrelation" + suffix) for suffix in ("", "_bound", "_lag")
    )
    if correlation is MISSING or lag == 0:
        return
    lags = min(_LAGS_MAX, 1 << max(0, bits.bit_length() - 2))
    if not isinstance(lag, int) or not 1 <= lag < lags:
        raise _Failure(f"Lot {name} has no lag {show(lag)}.")
    expected = math.sqrt(2 * (math.log(2 * (lags - 1)) + 40 * math.log(2)) / (bits - lag))
    if bound is MISSING or not abs(bound - expected) <= _ROUNDING:
        raise _Failure(f"The bound of the autocorrelation of lot {name} is {expected:.6f}, not {show(bound)}.")
    if abs(correlation) <= bound:
        return
    if member(evidence, "claim") == "calibrated":
        raise _Failure(
            f'Lot {name} claims "calibrated", and its autocorrelation {correlation} is beyond {bound}: '
            "its bits are not independent."
        )
    left = 1 - math.log2(1 + math.sqrt(min(1, abs(correlation) + bound)))
    told, shown = member(leaf, "min_entropy_per_bit"), member(evidence, "min_entropy_per_bit")
    if (told is not None and told > left + _ROUNDING) or shown is None or shown > left + _ROUNDING:
        raise _Failure(
            f"Lot {name} claims more min-entropy than the {left:.6f} that its autocorrelation {correlation} leaves."
        )


#: One answer of `/v1/bytes`: 1,024 bytes at most.
_BITS_PER_CITATION = 8_192


def _check_citations(leaf: Any) -> None:
    """The bits of a lot can be those of the certificates that it cites, as far as the leaf alone shows it."""
    name, origin, bits, upstream = (member(leaf, part) for part in ("lot_id", "origin", "raw_bits", "upstream"))
    if upstream is None:
        return
    certificates, certified = member(upstream, "certificates"), member(upstream, "origin")
    if len({member(each, "id") for each in certificates}) < len(certificates):
        raise _Failure(f"Lot {name} cites a certificate twice.")
    if bits > len(certificates) * _BITS_PER_CITATION:
        raise _Failure(f"Lot {name} has {bits} raw bits, and the {len(certificates)} certificates that it cites are of fewer.")
    if _ORIGINS.index(origin) < _ORIGINS.index(certified):
        raise _Failure(f"Lot {name} of origin {show(origin)} cites certificates of origin {show(certified)}.")


def _check_draw(lots: Sequence[_Lot], mode: str) -> None:
    if mode != "pure" and len(lots) != 1:
        raise _Failure(f"A certificate of mode {show(mode)} has one lot, not {len(lots)}.")
    for leaf, spans in lots if mode != "csprng" else ():
        name = member(leaf, "lot_id")
        size = member(leaf, "pure", "bytes") if mode == "pure" else _SEED_BYTES * member(leaf, "seeds", "count")
        if not spans:
            raise _Failure(f"It draws nothing from lot {name}, which it names.")
        for offset, count in spans:
            if not count or count % _PIECE_BYTES or offset % _PIECE_BYTES or offset + count > size:
                raise _Failure(f"It draws from lot {name} what the lot does not have.")


def _check_order(drawn: Sequence[Any], leaves: Sequence[Any]) -> None:
    """The pieces are those that came next.

    An answer takes the rest of a block and goes on with another, so that nobody takes a piece, leaves its block and takes another that suits.
    """
    blocks: Dict[int, List[Tuple[int, int]]] = {}
    for i, each in enumerate(drawn):
        place, offset, end = member(each, "lot"), member(each, "offset"), member(each, "offset") + member(each, "bytes")
        name, size, width = (member(leaves[place], *path) for path in (("lot_id",), ("pure", "bytes"), ("pure", "block_bytes")))
        if i < len(drawn) - 1 and end % width != 0 and end != size:
            raise _Failure(f"It leaves a block of lot {name} at byte {end}, before the end of the block.")
        blocks.setdefault(place, []).append((offset // width, -(-end // width)))
    for place, runs in blocks.items():
        runs.sort()
        if any(following[0] < run[1] for run, following in zip(runs, runs[1:])):
            raise _Failure(f"It draws twice from a block of lot {member(leaves[place], 'lot_id')}.")


def _derived(lots: Sequence[_Lot], mode: str) -> Dict[str, Any]:
    leaves = [lot.leaf for lot in lots]
    none: Dict[str, Any] = {"lang_circuit": "none", "lang_version": "none", "quantum_backend": "none"}
    none.update(qubits_used=0, circuit_depth=0)
    facts = {f"provenance.{name}": value if mode == "csprng" else member(leaves[0], name) for name, value in none.items()}
    facts["provenance.origin"] = max((member(leaf, "origin") for leaf in leaves), key=_ORIGINS.index)
    if mode != "csprng":
        facts["provenance.evidence"] = min((member(leaf, "evidence", "claim") for leaf in leaves), key=_CLAIMS.index)
    for name in ("raw_output", "processed"):
        facts[f"hashes.{name}"] = _joined([member(leaf, name) for leaf in leaves])
    estimates = [member(leaf, "min_entropy_per_bit") for leaf in leaves]
    facts["verification.min_entropy_per_bit"] = None if None in estimates else min(estimates)
    results = [_result(lot, mode) for lot in lots]
    counts = [result for result in results if result is not None]
    is_tested = len(counts) == len(results)
    passed, total = (sum(each[i] for each in counts) for i in (0, 1))
    facts["verification.nist_sp800_22"] = f"{passed}/{total} passed" if is_tested else "not tested"
    facts["verification.nist_verified"] = is_tested and all(verified for _, _, verified in counts)
    facts["verification.dieharder"] = "not implemented"
    return facts


def _joined(digests: Sequence[str]) -> str:
    """One lot's digest as it is; several joined in order and hashed again."""
    if len(digests) == 1:
        return digests[0]
    joined = b"".join(bytes.fromhex(digest[len("sha256:") :]) for digest in digests)
    return f"sha256:{sha256(joined).hexdigest()}"


def _result(lot: _Lot, mode: str) -> Optional[Tuple[int, int, bool]]:
    """Passed, total, and whether every bit lies in a window that passed; None where nothing was tested."""
    tested = member(lot.leaf, "tested")
    if mode == "csprng":
        return _sum([each for each in tested if member(each, "of") == "system"], True)
    windows = [each for each in tested if member(each, "of") == "conditioned"]
    failed = [each for each in windows if member(each, "bits") >= _WINDOW_BITS and member(each, "verified") is not True]
    # what lay in a window that failed was erased, and the rest moved together; windows may overlap
    erased = sorted(_bytes_of(each) for each in failed)

    def kept(place: int) -> int:
        count = at = 0
        for begin, end in erased:
            count += max(0, min(end, place) - max(begin, at))
            at = max(at, end)
        return place - count

    start = _SEED_BYTES * member(lot.leaf, "seeds", "count") if mode == "pure" else 0
    spans = [(start + offset, start + offset + size) for offset, size in lot.spans]
    served = []
    for each in windows:
        if each not in failed:
            begin, end = _bytes_of(each)
            served.append((kept(begin), kept(end), each))
    # of a window that was swallowed nothing is left
    touched = [each for each in served if any(max(begin, each[0]) < min(end, each[1]) for begin, end in spans)]
    is_covered = True
    for begin, end in spans:
        for low, high, _ in sorted(touched, key=lambda each: each[:2]):
            if low <= begin:
                begin = max(begin, high)
        is_covered = is_covered and begin >= end
    return _sum([window for _, _, window in touched], is_covered)


def _bytes_of(window: Any) -> Tuple[int, int]:
    first = member(window, "first_bit")
    return first // 8, (first + member(window, "bits")) // 8


def _sum(windows: Sequence[Any], is_covered: bool) -> Optional[Tuple[int, int, bool]]:
    if not windows or any(member(each, "total") == 0 for each in windows):
        return None
    passed, total = (sum(member(each, name) for each in windows) for name in ("passed", "total"))
    return passed, total, is_covered and all(member(each, "verified") is True for each in windows)


# The form (rule D1). A rule says of a value whether it has the form; a table, of an object's members.

_Rule = Callable[[Any], bool]
_ALWAYS, _QUANTUM = _MODES, _MODES[:2]


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _is_above_zero(value: Any) -> bool:
    return _is_count(value) and value > 0


def _is_one(value: Any) -> bool:
    return _is_count(value) and value == 1


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def _is_share(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _is_time(value: Any) -> bool:
    return time_of(value) is not None


def _form(pattern: str) -> _Rule:
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII) is not None


def _word(*words: str) -> _Rule:
    return lambda value: isinstance(value, str) and value in words


def _or_null(rule: _Rule) -> _Rule:
    return lambda value: value is None or rule(value)


def _list(rule: _Rule, least: int = 0) -> _Rule:
    return lambda value: isinstance(value, list) and least <= len(value) <= _LIST_MAX and all(map(rule, value))


def _object(members: Dict[str, _Rule], optional: Optional[Dict[str, _Rule]] = None) -> _Rule:
    return lambda value: _flaw_of(value, members, "", optional) is None


_HASH = _form("sha256:[0-9a-f]{64}")
_NUMBERS: _Rule = lambda value: isinstance(value, dict) and all(
    isinstance(each, (int, float)) and not isinstance(each, bool) for each in value.values()
)

#: Of a certificate: the rule, the modes that have the member, and whether it may be missing there.
_CERTIFICATE: Dict[str, Tuple[_Rule, Sequence[str], bool]] = {
    "version": (_is_one, _ALWAYS, False),
    "id": (_form("cert_[0-9a-hjkmnp-tv-z]{26}"), _ALWAYS, False),
    "issued_at": (_is_time, _ALWAYS, False),
    "request_id": (_form("req_[0-7][0-9a-hjkmnp-tv-z]{25}"), _ALWAYS, False),
    "endpoint": (_word(*MEMBERS), _ALWAYS, False),
    "entropy_mode": (_word(*_MODES), _ALWAYS, False),
    "media_type": (_is_text, _ALWAYS, True),
    "provenance.lang_circuit": (_is_text, _ALWAYS, False),
    "provenance.lang_version": (_is_text, _ALWAYS, False),
    "provenance.quantum_backend": (_is_text, _ALWAYS, False),
    "provenance.qubits_used": (_is_count, _ALWAYS, False),
    "provenance.circuit_depth": (_is_count, _ALWAYS, False),
    "provenance.origin": (_word(*_ORIGINS), _ALWAYS, False),
    "provenance.evidence": (_word(*_CLAIMS), _QUANTUM, False),
    "provenance.system_entropy": (_word("kernel", "openssl"), ("quantum-seeded", "csprng"), False),
    "provenance.seed": (_object({"index": _is_count}), ("quantum-seeded",), False),
    "provenance.drawn": (
        _list(_object({"lot": _is_count, "offset": _is_count, "bytes": _is_count}), 1),
        ("pure",),
        False,
    ),
    "provenance.sample": (lambda value: value is True, ("csprng",), False),
    "provenance.lots": (_list(_object({"id": _is_text, "leaf": _form("[A-Za-z0-9+/]{43}=")}), 1), _ALWAYS, False),
    "verification.nist_sp800_22": (_is_text, _ALWAYS, False),
    "verification.nist_verified": (_is_truth, _ALWAYS, False),
    "verification.dieharder": (_word("not implemented"), _ALWAYS, False),
    "verification.min_entropy_per_bit": (_or_null(_is_share), _ALWAYS, False),
    "hashes.raw_output": (_HASH, _ALWAYS, False),
    "hashes.processed": (_HASH, _ALWAYS, False),
    "hashes.delivered": (_HASH, _ALWAYS, False),
}

#: Of a lot's leaf, which may have others beside these.
_LEAF: Dict[str, _Rule] = {
    "type": _word("lot"),
    "version": _is_one,
    "origin": _word(*_ORIGINS),
    "declared": _is_truth,
    "deterministic": _is_truth,
    **{name: _is_text for name in ("lot_id", "source", "provider", "device", "quantum_backend", "lang_circuit", "lang_version")},
    **{name: _is_count for name in ("qubits_used", "circuit_depth", "shots", "raw_bits", "raw_windows")},
    "job_id": _or_null(_is_text),
    "circuit_sha256": _or_null(_HASH),
    "calibration": _or_null(_object({"id": _or_null(_is_text), "date": _or_null(_is_text), "digest": _HASH})),
    "upstream": _or_null(
        _object(
            {
                "log": _is_text,
                "origin": _word(*_ORIGINS),
                "certificates": _list(
                    _object({"id": _form("cert_[0-9a-hjkmnp-tv-z]{26}"), "leaf": _form("[A-Za-z0-9+/]{43}=")}), 1
                ),
            }
        )
    ),
    "finished_at": _is_time,
    "raw_output": _HASH,
    "processed": _HASH,
    "health": _object({"samples": _is_count, "rct_failures": _is_count, "apt_failures": _is_count}),
    "min_entropy_per_bit": _or_null(_is_share),
    "tested": _list(
        _object(
            {
                "of": _word("raw", "conditioned", "system"),
                "bits": _is_count,
                "first_bit": _is_count,
                "sha256": _form("[0-9a-f]{64}"),
                "passed": _is_count,
                "total": _is_count,
                "smallest_p": _is_share,
                "verified": _is_truth,
            },
            {"order": _word("shots", "channels"), "reason": _is_text},
        )
    ),
    "evidence": _or_null(
        _object(
            {
                "claim": _word(*_CLAIMS),
                "min_entropy_per_bit": _or_null(_is_share),
                "figures": _NUMBERS,
                "method": _is_text,
                "assumptions": _is_text,
                "not_reached": _list(_object({"claim": _word(*_CLAIMS), "why": _is_text})),
            }
        )
    ),
    "pure": _object({"bytes": _is_count, "block_bytes": _is_above_zero, "piece_bytes": _is_count, "root": _is_text}),
    "seeds": _object({"count": _is_count, "root": _is_text}),
}

_SECTIONS = ("provenance", "verification", "hashes")


def _flaw_of_form(issued: Dict[str, Any], mode: str) -> Optional[str]:
    for section in ("", *_SECTIONS):
        inner = member(issued, section) if section else issued
        prefix = f"{section}." if section else ""
        rows = {path[len(prefix) :]: row for path, row in _CERTIFICATE.items() if path.startswith(prefix)}
        own = {name: row for name, row in rows.items() if "." not in name and mode in row[1]}
        required = {name: rule for name, (rule, _, is_optional) in own.items() if not is_optional}
        optional = {name: rule for name, (rule, _, is_optional) in own.items() if is_optional}
        if not section:
            required.update((name, lambda value: isinstance(value, dict)) for name in _SECTIONS)
        flaw = _flaw_of(inner, required, prefix.rstrip("."), optional)
        if flaw is not None:
            return flaw
    return None


def _flaw_of(
    value: Any,
    members: Dict[str, _Rule],
    place: str,
    optional: Optional[Dict[str, _Rule]] = None,
    is_closed: bool = True,
) -> Optional[str]:
    if not isinstance(value, dict):
        return f"{place} is {show(value)}, not an object"
    path = f"{place}." if place else ""
    known = {**members, **(optional or {})}
    for name in members:
        if name not in value:
            return f"{path}{name} is missing"
    for name in value:
        if name not in known:
            if is_closed:
                return f"{path}{name} has no place there"
        elif not known[name](member(value, name)):
            return f"{path}{name} is {show(member(value, name))}, which has another form"
    return None


def _base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()
