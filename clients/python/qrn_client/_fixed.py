"""That what an answer was drawn from stood in the log before the answer was issued: the lots of version 4."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, List, Optional, Sequence, Tuple, Union

from ._checkpoint import Logged, is_included, read_proof, read_signatures
from ._members import MISSING, from_base64, member, show, text, time_of, time_text
from ._witnesses import WITNESS_CLOCK_SECONDS, WitnessPolicy, lot_failure
from .canonical import canonical_json

_PIECE_BYTES = _SALT_BYTES = 16
#: An answer that drew no more than this, from lots with leaves alone, carries an opening.
_OPENED_BYTES_MAX = 2_048


class _Failure(Exception):
    """Why it does not hold, in a sentence."""


@dataclass
class _Lot:
    pure_bytes: int
    block_bytes: int
    pure_root: str
    seed_count: int
    seed_root: str
    runs: List[Any]
    at: int


#: Lot, offset and bytes, index of its first block, and the roots of its blocks.
_Range = Tuple[_Lot, int, int, int, List[bytes]]


def fixed_failure(
    response: Any,
    document: Any,
    certificate: Any,
    logged: Union[Logged, str],
    keys: Any,
    witnesses: Optional[WitnessPolicy],
) -> Tuple[Optional[str], str]:
    """Why it does not hold, or None and what holds. Without an answer, `response` is MISSING."""
    try:
        return None, _holds(response, document, certificate, logged, keys, witnesses)
    except _Failure as failure:
        return str(failure), ""


def not_fixed(certificate: Any) -> Optional[str]:
    """Why a certificate of this form cannot show that what was drawn was fixed before; None where it can."""
    version, named = member(certificate, "version"), member(certificate, "provenance", "lots")
    if member(certificate, "entropy_mode") == "csprng":
        return "values of csprng mode come from no lot."
    if not _is_count(version) or version < 4:
        return f"a certificate of version {show(version)} does not say where in its lots an answer was drawn."
    loose = [lot for lot in named if member(lot, "committed") is not True] if isinstance(named, list) else []
    if not loose:
        return None
    return f"{len(loose)} of its lots are of an earlier release, which logged none before they were used."


def _holds(
    response: Any,
    document: Any,
    certificate: Any,
    logged: Union[Logged, str],
    keys: Any,
    witnesses: Optional[WitnessPolicy],
) -> str:
    named = member(certificate, "provenance", "lots")
    if not isinstance(named, list) or not named:
        raise _Failure("The certificate names no lot.")
    lots = [
        None if member(lot, "committed") is False else _lot(lot, document, certificate, logged, keys, witnesses)
        for lot in named
    ]
    if member(certificate, "entropy_mode") == "pure":
        bound = _pure(certificate, lots, response)
    else:
        bound = _seed(certificate, lots)
    fixed = [lot for lot in lots if lot is not None]
    if not fixed:
        return "Not shown: its lots are of an earlier release, which logged none before they were used."
    loose = len(lots) - len(fixed)
    but = f" Not shown of {loose} of its lots, which are of an earlier release." if loose else ""
    seen, by = "", time_text(max(lot.at for lot in fixed))
    if witnesses is not None:
        seen = f", and {witnesses.needed} witnesses or more saw them by then, give or take {WITNESS_CLOCK_SECONDS} s"
    return f"The log says that it held its lots by {by}, before it was issued{seen}. {bound}{but}".strip()


def _lot(
    lot: Any,
    document: Any,
    certificate: Any,
    logged: Union[Logged, str],
    keys: Any,
    witnesses: Optional[WitnessPolicy],
) -> _Lot:
    """The leaf of the lot is what the certificate says of it, and older than the certificate."""
    name, proofs = text(member(lot, "id")), member(document, "lots")
    proof = next((each for each in proofs if member(each, "lot_id") == name), None) if isinstance(proofs, list) else None
    leaf = text(member(proof, "leaf"))
    if name is None or leaf is None:
        raise _Failure(f"There is no leaf of lot {show(member(lot, 'id'))}.")
    told = _parsed(leaf)
    is_lot = member(told, "type") == "lot" and member(told, "version") == 1 and member(told, "lot_id") == name
    if not is_lot or canonical_json(told) != leaf.encode("utf-8", "surrogatepass"):
        raise _Failure(f"The given leaf of lot {name} is not a lot leaf.")
    facts = canonical_json(lot)
    if facts is None or member(told, "facts") != f"sha256:{sha256(facts).hexdigest()}":
        raise _Failure(f"The leaf of lot {name} says other facts of it than the certificate.")
    lot_at = read_proof(member(proof, "proof"))
    if isinstance(lot_at, str):
        raise _Failure(f"Lot {name}: {lot_at}")
    if not is_included(sha256(b"\x00" + leaf.encode()).digest(), lot_at):
        raise _Failure(f"Lot {name} is not leaf {lot_at.index} of the tree that its proof names.")
    if not isinstance(logged, str) and logged.origin == lot_at.origin and lot_at.index >= logged.index:
        raise _Failure(f"Lot {name} was logged after the certificate.")
    signed = read_signatures(keys, lot_at)
    if isinstance(signed, str):
        raise _Failure(f"Lot {name}: {signed}")
    times, issued = [each.at for each in signed if each.at is not None], time_of(member(certificate, "issued_at"))
    ended = time_of(member(lot, "finished_at"))
    if times and (ended is None or ended // 1_000 > min(times)):
        raise _Failure(f"The log says that it held lot {name} at {time_text(min(times))}, before the lot ended.")
    if not times or issued is None or min(times) * 1_000 > issued:
        raise _Failure(f"The log held lot {name} not before the answer was issued.")
    plain = [each.key for each in signed if each.at is None]
    if not any(not key.is_retired or (key.retired is not None and min(times) * 1_000 <= key.retired) for key in plain):
        raise _Failure(f"Lot {name}: the key that signed the checkpoint had been retired before.")
    unseen = None if witnesses is None else lot_failure(name, lot_at, issued, witnesses)
    if unseen is not None:
        raise _Failure(unseen)
    pure_bytes, block_bytes, pieces = (member(told, "pure", each) for each in ("bytes", "block_bytes", "piece_bytes"))
    seed_count, pure_root, seed_root = member(told, "seeds", "count"), member(told, "pure", "root"), member(told, "seeds", "root")
    runs = member(proof, "runs")
    is_cut = _is_count(pure_bytes) and _is_count(block_bytes) and block_bytes > 0 and block_bytes % _PIECE_BYTES == 0
    is_cut = is_cut and pure_bytes % _PIECE_BYTES == 0 and pieces == _PIECE_BYTES and _is_count(seed_count)
    if not is_cut or not isinstance(pure_root, str) or not isinstance(seed_root, str) or not isinstance(runs, list):
        raise _Failure(f"The leaf of lot {name} has another form.")
    return _Lot(pure_bytes, block_bytes, pure_root, seed_count, seed_root, runs, min(times))


def _seed(certificate: Any, lots: Sequence[Optional[_Lot]]) -> str:
    mode, index, lot = member(certificate, "entropy_mode"), member(certificate, "provenance", "seed", "index"), lots[0]
    if mode != "quantum-seeded" or len(lots) != 1:
        raise _Failure(f"A certificate of mode {show(mode)} from {len(lots)} lots has no form of this version.")
    if lot is None:
        return ""
    run = _run(lot.runs[0]) if len(lot.runs) == 1 else None
    if run is None or not _is_count(index) or run[0] != index or len(run[1]) != 1:
        raise _Failure(f"Nothing leads from seed {show(index)} to its lot.")
    if _root(lot.seed_count, run[0], run[1], run[2]) != lot.seed_root or run[2]:
        raise _Failure(f"Seed {index} is not among the seeds that its lot committed to.")
    return f"Its seed is number {index} of the {lot.seed_count} that the lot committed to."


def _pure(certificate: Any, lots: Sequence[Optional[_Lot]], response: Any) -> str:
    drawn = member(certificate, "provenance", "drawn")
    if not isinstance(drawn, list) or not drawn:
        raise _Failure("It does not say what was drawn.")
    used, total, ranges = [0] * len(lots), 0, []
    for each in drawn:
        place, offset, size = (member(each, name) for name in ("lot", "offset", "bytes"))
        if not (_is_count(place) and _is_count(offset) and _is_count(size) and place < len(lots) and size > 0):
            raise _Failure("What it says was drawn are no whole pieces of its lots.")
        if offset % _PIECE_BYTES or size % _PIECE_BYTES:
            raise _Failure("What it says was drawn are no whole pieces of its lots.")
        total += size
        lot = lots[place]
        if lot is not None:
            ranges.append(_bound(lot, place, offset, size, used[place]))
            used[place] += 1
    if any(lot is not None and len(lot.runs) != used[i] for i, lot in enumerate(lots)):
        raise _Failure("The proof of a lot has more than was drawn.")
    if response is MISSING:
        return "Whether the answer was made of those bytes is not checked: only an answer in JSON that drew at most 2048 bytes can show it."
    if len(ranges) < len(drawn):
        return ""
    opening = member(response, "opening")
    # the certificate decides whether the answer was bare values: whoever gives the answer could leave the opening out
    if opening is None and text(member(certificate, "media_type")) is not None:
        return "Not shown of its bytes: an answer in octets carries no opening."
    if opening is not MISSING and opening is not None:
        return _opened(ranges, opening, response)
    # a certificate that draws more than the values take does not free the answer of its opening
    plain = _plain_bytes(member(response, "data"))
    if (total if plain is None else plain) > _OPENED_BYTES_MAX:
        return "The answer is too long to carry what shows that its bytes are those."
    raise _Failure("The answer lacks the opening that shows which bytes it was made of.")


def _bound(lot: _Lot, place: int, offset: int, size: int, nth: int) -> _Range:
    first, run = offset // lot.block_bytes, _run(lot.runs[nth]) if nth < len(lot.runs) else None
    blocks = -(-(offset + size) // lot.block_bytes) - first
    width = -(-lot.pure_bytes // lot.block_bytes)
    is_whole = run is not None and offset + size <= lot.pure_bytes and run[0] == first and len(run[1]) == blocks
    if run is None or not is_whole or _root(width, first, run[1], run[2]) != lot.pure_root or run[2]:
        raise _Failure(f"Nothing leads from byte {offset} to lot {place + 1} of the certificate.")
    return lot, offset, size, first, run[1]


def _opened(ranges: Sequence[_Range], opening: Any, response: Any) -> str:
    """The pieces in the answer are those of the blocks; values that are plain bytes are these very bytes."""
    drawn, salts, joined = (from_base64(text(member(opening, name)) or "") for name in ("bytes", "salts", "path"))
    length = sum(size for _, _, size, _, _ in ranges)
    if drawn is None or salts is None or joined is None or not len(drawn) == len(salts) == length or len(joined) % 32:
        raise _Failure("The opening does not hold what was drawn.")
    path, at = [joined[i : i + 32] for i in range(0, len(joined), 32)], 0
    for lot, offset, size, first, roots in ranges:
        begin = offset
        for i, root in enumerate(roots):
            start = (first + i) * lot.block_bytes
            end, pieces = min(start + lot.block_bytes, lot.pure_bytes), []
            for _ in range(begin, min(end, offset + size), _PIECE_BYTES):
                pieces.append(sha256(b"\x02" + salts[at : at + _SALT_BYTES] + drawn[at : at + _PIECE_BYTES]).digest())
                at += _PIECE_BYTES
            width = (end - start) // _PIECE_BYTES
            if _root(width, (begin - start) // _PIECE_BYTES, pieces, path) != _encoded(root):
                raise _Failure("The bytes in the opening are not those that the lot committed to.")
            begin = end
    if path:
        raise _Failure("The opening holds more than what was drawn.")
    derived = _is_drawn(drawn, member(response, "data"))
    if derived is False:
        raise _Failure("The values are not the bytes that were drawn.")
    if derived is None:
        return "The bytes drawn for it are those that the lots committed to; that its values follow from them is not checked."
    return "Its values are bytes that the lots committed to."


def _plain_bytes(data: Any) -> Optional[int]:
    """How many bytes the values are, where they are drawn bytes; None for values that must be sampled."""
    told, bits, uuids = text(member(data, "bytes")), text(member(data, "bitstring")), member(data, "uuids")
    if told is not None:
        return len(told) // 2 if member(data, "encoding") == "hex" else len(told) * 3 // 4
    if bits is not None:
        return -(-len(bits) // 8)
    return 16 * len(uuids) if isinstance(uuids, list) else None


def _is_drawn(drawn: bytes, data: Any) -> Optional[bool]:
    """None for values that must be sampled."""
    told, count = text(member(data, "bytes")), member(data, "count")
    if told is not None:
        if not _is_count(count):
            return False
        octets = drawn[:count]
        return len(octets) == count and told == (octets.hex() if member(data, "encoding") == "hex" else _encoded(octets))
    bits = text(member(data, "bitstring"))
    if bits is not None:
        every = "".join(f"{byte:08b}" for byte in drawn[: -(-len(bits) // 8)])
        return len(every) >= len(bits) and every[: len(bits)] == bits
    uuids = member(data, "uuids")
    if not isinstance(uuids, list):
        return None
    for i, uuid in enumerate(uuids):
        own = bytearray(drawn[16 * i : 16 * i + 16])
        if len(own) < 16:
            return False
        own[6], own[8] = own[6] & 0x0F | 0x40, own[8] & 0x3F | 0x80
        if not isinstance(uuid, str) or uuid.replace("-", "") != own.hex():
            return False
    return True


def _root(width: int, first: int, run: Sequence[bytes], path: List[bytes]) -> Optional[str]:
    """The root, in base64, of a tree in which the run begins at `first`; takes what it needs off the path."""
    if not run or first + len(run) > width:
        return None
    level = list(run)
    while width > 1:
        last = first + len(level) - 1
        sides = (first % 2 == 1, last % 2 == 0 and last + 1 < width)
        if len(path) < sum(sides):
            return None
        if sides[0]:
            level.insert(0, path.pop(0))
        if sides[1]:
            level.append(path.pop(0))
        pairs = (level[i : i + 2] for i in range(0, len(level), 2))
        level = [sha256(b"\x01" + pair[0] + pair[1]).digest() if len(pair) == 2 else pair[0] for pair in pairs]
        first, width = first // 2, -(-width // 2)
    return _encoded(level[0])


def _run(value: Any) -> Optional[Tuple[int, List[bytes], List[bytes]]]:
    first, hashes, path = member(value, "first"), _hashes(member(value, "hashes")), _hashes(member(value, "path"))
    return None if not _is_count(first) or hashes is None or path is None else (first, hashes, path)


def _hashes(value: Any) -> Optional[List[bytes]]:
    if not isinstance(value, list):
        return None
    hashes = [from_base64(text(each) or "") for each in value]
    return None if any(each is None or len(each) != 32 for each in hashes) else [each for each in hashes if each is not None]


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _parsed(told: str) -> Any:
    try:
        return json.loads(told)
    except (ValueError, RecursionError):
        return None
