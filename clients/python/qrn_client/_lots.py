"""Checks that everything a certificate says of its lots follows from their leaves: docs/certificates.md, rules D1 to D9."""

from __future__ import annotations

import math
import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ._reading import BASE32, base64_of, hashed, is_count, milliseconds_of, require, same, sha256, show
from ._samplers import MEMBERS
from .canonical import canonical_json

UNSIGNED = ("status", "verify_url", "proof")

_MODES = ("quantum-seeded", "pure", "csprng")
#: From the most to the least trustworthy.
_ORIGINS = ("quantum-processor", "qrng-device", "simulated", "replay", "system")
#: From the weakest to the strongest claim; and for each origin the index of the strongest claim that it allows.
_CLAIMS = ("simulated", "statistical", "calibrated")
_CEILINGS = {"simulated": 0, "replay": 1, "system": 1, "quantum-processor": 2, "qrng-device": 2}
_PIECE_BYTES, _SEED_BYTES = 16, 32
#: A shorter window cannot fail the tests.
_WINDOW_BITS = 1_000_000
#: A longer list is refused, so that a check takes little time.
_LIST_MAX = 4_096


def read_lots(document: Any, certificate: Any) -> List[Any]:
    """Returns the leaves of the lots, in the order of the certificate. Raises Refused unless each has the hash in the certificate."""
    named, given = certificate.get("provenance", {}).get("lots"), document.get("lots")
    require(isinstance(named, list) and named, "The certificate names no lot.")
    is_whole = isinstance(given, list) and len(given) == len(named)
    require(is_whole, f"The number of lots in the document is not the {len(named)} that the certificate names.")
    ids = [each["id"] for each in named]
    require(len(set(ids)) == len(ids), "The certificate names a lot twice.")
    leaves = [each["leaf"] for each in given]
    for leaf, name, each in zip(leaves, ids, named):
        is_lot = leaf["type"] == "lot" and same(leaf["version"], 1) and isinstance(name, str) and leaf["lot_id"] == name
        require(is_lot, f"The document does not hold the leaf of lot {show(name)}, but something else in its place.")
        is_named = base64_of(sha256(b"\x00", entry_of(leaf))) == each["leaf"]
        require(is_named, f"The leaf of lot {name} does not have the hash that the certificate names.")
    return leaves


def entry_of(value: Any) -> bytes:
    """Returns the canonical JSON of the value, which the log holds. Raises ValueError when the value has none."""
    entry = canonical_json(value)
    if entry is None:
        raise ValueError("not JSON in Unicode")
    return entry


class _Lot(NamedTuple):
    leaf: Any
    #: The ranges of the lot that the answer used, of its pure bytes or in seeded mode of its seeds: offset and size in bytes.
    spans: List[Tuple[int, int]]


def require_derived(certificate: Any, leaves: Sequence[Any]) -> None:
    mode = certificate["entropy_mode"]
    require(mode in _MODES, f"entropy_mode is {show(mode)}, not one of {', '.join(_MODES)}.")
    # another check is for the label
    issued = {name: value for name, value in certificate.items() if name not in (*UNSIGNED, "label")}
    _require_form(issued, _certificate_form(mode), "")
    for i, leaf in enumerate(leaves):
        _require_form(leaf, _LEAF, f"lots[{i}].leaf")
    lots = [_Lot(leaf, _spans(certificate["provenance"], mode, i)) for i, leaf in enumerate(leaves)]
    for leaf in leaves:
        _check_lot(leaf, mode)
    _check_draw(lots, mode)
    if mode == "pure":
        _check_order(certificate["provenance"]["drawn"], leaves)
    failures = []
    for (section, name), follows in _derived(lots, mode).items():
        certified = certificate[section][name]
        if not same(certified, follows):
            failures.append(f"{section}.{name} is {show(certified)}, but {show(follows)} follows from the lots.")
    require(not failures, " ".join(failures))


def _spans(source: Any, mode: str, place: int) -> List[Tuple[int, int]]:
    if mode == "csprng":
        return []
    if mode == "quantum-seeded":
        return [(_SEED_BYTES * source["seed"]["index"], _SEED_BYTES)]
    return [(each["offset"], each["bytes"]) for each in source["drawn"] if each["lot"] == place]


def _check_lot(leaf: Any, mode: str) -> None:
    """Raises Refused unless the lot can serve the mode and its leaf is consistent."""
    name, origin, evidence = leaf["lot_id"], leaf["origin"], leaf["evidence"]
    if mode == "csprng":
        is_sample = origin == "system" and evidence is None and leaf["pure"]["bytes"] == leaf["seeds"]["count"] == 0
        require(is_sample, f"The certificate is of csprng mode, but lot {name} is not a sample of the csprng stream.")
        return
    require(evidence is not None, f"Lot {name} has no evidence.")
    is_allowed = _CLAIMS.index(evidence["claim"]) <= _CEILINGS[origin]
    require(is_allowed, f"Lot {name} claims {show(evidence['claim'])}, which a lot of origin {show(origin)} cannot.")
    _check_figures(leaf, evidence)
    _check_citations(leaf)
    is_true = not leaf["declared"] or origin in _ORIGINS[:2]
    require(is_true, f"Lot {name} is declared quantum, but its origin is {show(origin)}.")
    for window in leaf["tested"]:
        is_whole = window["passed"] <= window["total"] and window["bits"] > 0
        if window["of"] == "conditioned":
            is_whole = is_whole and window["bits"] % 8 == window["first_bit"] % 8 == 0
        require(is_whole, f"Lot {name} lists a window of its tests that cannot exist.")


#: The largest lag of the autocorrelation, plus one; and the rounding error of the published figures.
_LAGS_MAX, _ROUNDING = 1 << 18, 2e-6


def _check_figures(leaf: Any, evidence: Any) -> None:
    """Raises Refused when the lot's autocorrelation contradicts its claim. docs/evidence.md has the formulas."""
    name, bits, figures = leaf["lot_id"], leaf["raw_bits"], evidence["figures"]
    correlation, bound, lag = (figures.get("autocorrelation" + suffix) for suffix in ("", "_bound", "_lag"))
    if correlation is None or lag == 0:
        return
    lags = min(_LAGS_MAX, 1 << max(0, bits.bit_length() - 2))
    require(type(lag) is int and 1 <= lag < lags, f"Lot {name} states an autocorrelation at the lag {show(lag)}, which a lot of its size does not have.")
    expected = math.sqrt(2 * (math.log(2 * (lags - 1)) + 40 * math.log(2)) / (bits - lag))
    is_bound = bound is not None and abs(bound - expected) <= _ROUNDING
    require(is_bound, f"The autocorrelation of lot {name} has the bound {expected:.6f}, but the lot states {show(bound)}.")
    if abs(correlation) <= bound:
        return
    beyond = f'Lot {name} claims "calibrated", but its autocorrelation {correlation} is beyond the bound {bound}: its bits are not independent.'
    require(evidence["claim"] != "calibrated", beyond)
    left = 1 - math.log2(1 + math.sqrt(min(1, abs(correlation) + bound)))
    told, shown = leaf["min_entropy_per_bit"], evidence["min_entropy_per_bit"]
    is_less = shown is not None and max(shown, told or 0) <= left + _ROUNDING
    require(is_less, f"Lot {name} claims more min-entropy than the {left:.6f} that its autocorrelation {correlation} leaves.")


#: One answer of `/v1/bytes`: 1,024 bytes at most.
_BITS_PER_CITATION = 8_192


def _check_citations(leaf: Any) -> None:
    """Raises Refused when the lot's bits cannot be those of the certificates that it cites, as far as the leaf shows it."""
    name, origin, bits, upstream = (leaf[part] for part in ("lot_id", "origin", "raw_bits", "upstream"))
    if upstream is None:
        return
    cited = upstream["certificates"]
    require(len({each["id"] for each in cited}) == len(cited), f"Lot {name} cites a certificate twice.")
    is_enough = bits <= len(cited) * _BITS_PER_CITATION
    require(is_enough, f"Lot {name} has {bits} raw bits, more than the {len(cited)} certificates that it cites can cover.")
    is_weaker = _ORIGINS.index(origin) >= _ORIGINS.index(upstream["origin"])
    require(is_weaker, f"Lot {name} has the origin {show(origin)}, better than the origin {show(upstream['origin'])} of the certificates that it cites.")


def _check_draw(lots: Sequence[_Lot], mode: str) -> None:
    require(mode == "pure" or len(lots) == 1, f"A certificate of mode {show(mode)} has one lot, not {len(lots)}.")
    for leaf, spans in lots if mode != "csprng" else ():
        name = leaf["lot_id"]
        size = leaf["pure"]["bytes"] if mode == "pure" else _SEED_BYTES * leaf["seeds"]["count"]
        require(spans, f"The certificate names lot {name}, but draws nothing from it.")
        for offset, count in spans:
            is_there = count > 0 and count % _PIECE_BYTES == offset % _PIECE_BYTES == 0 and offset + count <= size
            require(is_there, f"The certificate draws bytes from lot {name} that the lot does not have.")


def _check_order(drawn: Sequence[Any], leaves: Sequence[Any]) -> None:
    """Raises Refused unless the answer used the pieces in their order.

    An answer must use up a block before it goes on with another. Otherwise the service could leave a piece that does not suit it
    and take one from another block.
    """
    blocks: Dict[int, List[Tuple[int, int]]] = {}
    for i, each in enumerate(drawn):
        place, offset, end = each["lot"], each["offset"], each["offset"] + each["bytes"]
        leaf = leaves[place]
        size, width = leaf["pure"]["bytes"], leaf["pure"]["block_bytes"]
        is_left = i == len(drawn) - 1 or end % width == 0 or end == size
        require(is_left, f"The certificate leaves a block of lot {leaf['lot_id']} at byte {end}, before the block was used up.")
        blocks.setdefault(place, []).append((offset // width, -(-end // width)))
    for place, runs in blocks.items():
        runs.sort()
        is_once = all(run[1] <= following[0] for run, following in zip(runs, runs[1:]))
        require(is_once, f"The certificate goes back to a block of lot {leaves[place]['lot_id']} that it had left.")


def _derived(lots: Sequence[_Lot], mode: str) -> Dict[Tuple[str, str], Any]:
    leaves = [lot.leaf for lot in lots]
    none: Dict[str, Any] = {"lang_circuit": "none", "lang_version": "none", "quantum_backend": "none"}
    none.update(qubits_used=0, circuit_depth=0)
    facts = {("provenance", name): value if mode == "csprng" else leaves[0][name] for name, value in none.items()}
    facts["provenance", "origin"] = max((leaf["origin"] for leaf in leaves), key=_ORIGINS.index)
    if mode != "csprng":
        facts["provenance", "evidence"] = min((leaf["evidence"]["claim"] for leaf in leaves), key=_CLAIMS.index)
    for name in ("raw_output", "processed"):
        # the digest of a single lot; for several lots the hash of their digests in order
        digests = [leaf[name] for leaf in leaves]
        joined = (bytes.fromhex(digest[len("sha256:") :]) for digest in digests)
        facts["hashes", name] = digests[0] if len(digests) == 1 else hashed(*joined)
    estimates = [leaf["min_entropy_per_bit"] for leaf in leaves]
    facts["verification", "min_entropy_per_bit"] = None if None in estimates else min(estimates)
    results = [_result(lot, mode) for lot in lots]
    counts = [result for result in results if result is not None]
    is_tested = len(counts) == len(results)
    passed, total = (sum(each[i] for each in counts) for i in (0, 1))
    facts["verification", "nist_sp800_22"] = f"{passed}/{total} passed" if is_tested else "not tested"
    facts["verification", "nist_verified"] = is_tested and all(verified for _, _, verified in counts)
    return facts


def _result(lot: _Lot, mode: str) -> Optional[Tuple[int, int, bool]]:
    """Returns passed, total, and whether every bit lies in a window that passed; None when nothing was tested."""
    tested = lot.leaf["tested"]
    if mode == "csprng":
        return _sum([each for each in tested if each["of"] == "system"], True)
    windows = [each for each in tested if each["of"] == "conditioned"]
    failed = [each for each in windows if each["bits"] >= _WINDOW_BITS and not each["verified"]]
    # the bytes of a failed window were erased, and the bytes after it moved up; windows may overlap
    erased = sorted(_bytes_of(each) for each in failed)

    def kept(place: int) -> int:
        count = at = 0
        for begin, end in erased:
            count += max(0, min(end, place) - max(begin, at))
            at = max(at, end)
        return place - count

    start = _SEED_BYTES * lot.leaf["seeds"]["count"] if mode == "pure" else 0
    spans = [(start + offset, start + offset + size) for offset, size in lot.spans]
    served = []
    for each in windows:
        if each not in failed:
            begin, end = _bytes_of(each)
            served.append((kept(begin), kept(end), each))
    # a window whose bytes were all erased touches no span
    touched = [each for each in served if any(max(begin, each[0]) < min(end, each[1]) for begin, end in spans)]
    is_covered = True
    for begin, end in spans:
        for low, high, _ in sorted(touched, key=lambda each: each[:2]):
            if low <= begin:
                begin = max(begin, high)
        is_covered = is_covered and begin >= end
    return _sum([window for _, _, window in touched], is_covered)


def _bytes_of(window: Any) -> Tuple[int, int]:
    first = window["first_bit"]
    return first // 8, (first + window["bits"]) // 8


def _sum(windows: Sequence[Any], is_covered: bool) -> Optional[Tuple[int, int, bool]]:
    if not windows or any(each["total"] == 0 for each in windows):
        return None
    passed, total = (sum(each[name] for each in windows) for name in ("passed", "total"))
    return passed, total, is_covered and all(each["verified"] for each in windows)


# Forms (rule D1). The form of an object is a dict of its members, in which `name?` may be missing and `*` allows others. The form of
# a list is a list with one element, the form of the entries. The form of a text is a regular expression. Any other form is a
# function that returns whether the value has it. A tuple holds alternatives, and None stands for null.


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def _is_true(value: Any) -> bool:
    return value is True


def _is_one(value: Any) -> bool:
    return same(value, 1)


def _is_above_zero(value: Any) -> bool:
    return is_count(value) and value > 0


def _is_share(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1


def _is_time(value: Any) -> bool:
    milliseconds_of(value)
    return True


def _are_numbers(value: Any) -> bool:
    return isinstance(value, dict) and all(type(each) in (int, float) for each in value.values())


def _one_of(*words: str) -> str:
    return "|".join(map(re.escape, words))


_TEXT = "(?s:.*)"
_HASH = "sha256:[0-9a-f]{64}"
_LEAF_HASH = "[A-Za-z0-9+/]{43}="
_CERTIFICATE_ID = f"cert_[{BASE32}]{{26}}"
_CLAIM, _ORIGIN = _one_of(*_CLAIMS), _one_of(*_ORIGINS)


def _certificate_form(mode: str) -> Dict[str, Any]:
    forms: Dict[str, Dict[str, Any]] = {
        "quantum-seeded": {"evidence": _CLAIM, "system_entropy": "kernel|openssl", "seed": {"index": is_count}},
        "pure": {"evidence": _CLAIM, "drawn": [{"lot": is_count, "offset": is_count, "bytes": is_count}]},
        "csprng": {"system_entropy": "kernel|openssl", "sample": _is_true},
    }
    return {
        "version": _is_one,
        "id": _CERTIFICATE_ID,
        "issued_at": _is_time,
        "request_id": f"req_[0-7][{BASE32}]{{25}}",
        "endpoint": _one_of(*MEMBERS),
        "entropy_mode": _TEXT,
        "media_type?": _TEXT,
        "provenance": {
            **{name: _TEXT for name in ("lang_circuit", "lang_version", "quantum_backend")},
            "qubits_used": is_count,
            "circuit_depth": is_count,
            "origin": _ORIGIN,
            "lots": [{"id": _TEXT, "leaf": _LEAF_HASH}],
            **forms[mode],
        },
        "verification": {
            "nist_sp800_22": _TEXT,
            "nist_verified": _is_truth,
            "dieharder": "not implemented",
            "min_entropy_per_bit": (None, _is_share),
        },
        "hashes": {"raw_output": _HASH, "processed": _HASH, "delivered": _HASH},
    }


_LEAF: Dict[str, Any] = {
    "*": None,
    **{name: _TEXT for name in ("type", "lot_id", "source", "provider", "device", "quantum_backend", "lang_circuit", "lang_version")},
    **{name: is_count for name in ("version", "qubits_used", "circuit_depth", "shots", "raw_bits", "raw_windows")},
    "origin": _ORIGIN,
    "declared": _is_truth,
    "deterministic": _is_truth,
    "job_id": (None, _TEXT),
    "circuit_sha256": (None, _HASH),
    "calibration": (None, {"id": (None, _TEXT), "date": (None, _TEXT), "digest": _HASH}),
    "upstream": (None, {"log": _TEXT, "origin": _ORIGIN, "certificates": [{"id": _CERTIFICATE_ID, "leaf": _LEAF_HASH}]}),
    "finished_at": _is_time,
    "raw_output": _HASH,
    "processed": _HASH,
    "health": {"samples": is_count, "rct_failures": is_count, "apt_failures": is_count},
    "min_entropy_per_bit": (None, _is_share),
    "tested": (
        [],
        [
            {
                "of": "raw|conditioned|system",
                **{name: is_count for name in ("bits", "first_bit", "passed", "total")},
                "sha256": "[0-9a-f]{64}",
                "smallest_p": _is_share,
                "verified": _is_truth,
                "order?": "shots|channels",
                "reason?": _TEXT,
            }
        ],
    ),
    "evidence": (
        None,
        {
            "claim": _CLAIM,
            "min_entropy_per_bit": (None, _is_share),
            "figures": _are_numbers,
            "method": _TEXT,
            "assumptions": _TEXT,
            "not_reached": ([], [{"claim": _CLAIM, "why": _TEXT}]),
        },
    ),
    "pure": {"bytes": is_count, "block_bytes": _is_above_zero, "piece_bytes": is_count, "root": _TEXT},
    "seeds": {"count": is_count, "root": _TEXT},
}


def _require_form(value: Any, form: Any, place: str) -> None:
    flaw = _flaw_of(value, form, place)
    require(flaw is None, f"The document does not have the form of version 1: {flaw}.")


def _flaw_of(value: Any, form: Any, place: str) -> Optional[str]:
    """Returns what is wrong with the value, worded for the end of a sentence; None when it has the form."""
    if isinstance(form, dict) and isinstance(value, dict):
        return _flaw_of_members(value, form, f"{place}." if place else "")
    if isinstance(form, list) and isinstance(value, list) and bool(form) == bool(value) and len(value) <= _LIST_MAX:
        entries = (_flaw_of(each, form[0], f"{place}[{i}]") for i, each in enumerate(value))
        return next((flaw for flaw in entries if flaw is not None), None)
    if isinstance(form, tuple):
        flaws = [_flaw_of(value, each, place) for each in form]
        return None if None in flaws else flaws[-1]
    if form is None and value is None:
        return None
    if isinstance(form, str) and isinstance(value, str) and re.fullmatch(form, value, re.ASCII):
        return None
    try:
        if callable(form) and form(value):
            return None
    except (TypeError, ValueError):
        pass
    return f"{place} is {show(value)}, which does not have the required form"


def _flaw_of_members(value: Dict[str, Any], form: Dict[str, Any], prefix: str) -> Optional[str]:
    required = {name: each for name, each in form.items() if not name.endswith(("?", "*"))}
    known = {**required, **{name[:-1]: each for name, each in form.items() if name.endswith("?")}}
    missing = [name for name in required if name not in value]
    if missing:
        return f"{prefix}{missing[0]} is missing"
    for name, each in value.items():
        if name not in known and "*" not in form:
            return f"{prefix}{name} is an unknown member"
        flaw = _flaw_of(each, known[name], prefix + name) if name in known else None
        if flaw is not None:
            return flaw
    return None
