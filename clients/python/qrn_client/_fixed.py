"""That what an answer was drawn from stood in the log before the answer was issued."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, List, Optional, Sequence, Tuple, Union

from ._checkpoint import Logged, is_included, read_proof, read_signatures
from ._members import MISSING, from_base64, member, show, text, time_of, time_text
from ._samplers import ByteStream, Exhausted, bytes_max, data_flaw, values_of
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
    leaves: Sequence[Any],
    logged: Union[Logged, str],
    keys: Any,
    witnesses: Optional[WitnessPolicy],
) -> Tuple[Optional[str], str]:
    """Why it does not hold, or None and what holds. Without an answer, `response` is MISSING.

    leaves: of the lots that the certificate names, bound to it by their hashes
    """
    try:
        return None, _holds(response, document, certificate, leaves, logged, keys, witnesses)
    except _Failure as failure:
        return str(failure), ""


def _holds(
    response: Any,
    document: Any,
    certificate: Any,
    leaves: Sequence[Any],
    logged: Union[Logged, str],
    keys: Any,
    witnesses: Optional[WitnessPolicy],
) -> str:
    mode, proofs = member(certificate, "entropy_mode"), member(document, "lots")
    if mode == "csprng":
        raise _Failure("Required, and not shown: values of csprng mode come from no lot.")
    lots = [_lot(leaf, proof, certificate, logged, keys, witnesses) for leaf, proof in zip(leaves, proofs)]
    bound = _pure(certificate, lots, response) if mode == "pure" else _seed(certificate, lots)
    seen, by = "", time_text(max(lot.at for lot in lots))
    if witnesses is not None:
        seen = f", and {witnesses.needed} witnesses or more saw them by then, give or take {WITNESS_CLOCK_SECONDS} s"
    return f"The log says that it held its lots by {by}, before it was issued{seen}. {bound}".strip()


def _lot(
    told: Any,
    proof: Any,
    certificate: Any,
    logged: Union[Logged, str],
    keys: Any,
    witnesses: Optional[WitnessPolicy],
) -> _Lot:
    """The leaf of the lot stands in the log, and is older than the certificate."""
    name, entry = text(member(told, "lot_id")), canonical_json(told)
    lot_at = read_proof(member(proof, "proof"))
    if isinstance(lot_at, str) or entry is None:
        raise _Failure(f"Lot {name}: {lot_at}")
    if not is_included(sha256(b"\x00" + entry).digest(), lot_at):
        raise _Failure(f"Lot {name} is not leaf {lot_at.index} of the tree that its proof names.")
    if not isinstance(logged, str) and logged.origin == lot_at.origin and lot_at.index >= logged.index:
        raise _Failure(f"Lot {name} was logged after the certificate.")
    signed = read_signatures(keys, lot_at)
    if isinstance(signed, str):
        raise _Failure(f"Lot {name}: {signed}")
    times, issued = [each.at for each in signed if each.at is not None], time_of(member(certificate, "issued_at"))
    ended = time_of(member(told, "finished_at"))
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


def _seed(certificate: Any, lots: Sequence[_Lot]) -> str:
    index, lot = member(certificate, "provenance", "seed", "index"), lots[0]
    run = _run(lot.runs[0]) if len(lot.runs) == 1 else None
    if run is None or not _is_count(index) or run[0] != index or len(run[1]) != 1:
        raise _Failure(f"Nothing leads from seed {show(index)} to its lot.")
    if _root(lot.seed_count, run[0], run[1], run[2]) != lot.seed_root or run[2]:
        raise _Failure(f"Seed {index} is not among the seeds that its lot committed to.")
    return f"Its seed is number {index} of the {lot.seed_count} that the lot committed to."


def _pure(certificate: Any, lots: Sequence[_Lot], response: Any) -> str:
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
        ranges.append(_bound(lots[place], place, offset, size, used[place]))
        used[place] += 1
    if any(len(lot.runs) != used[i] for i, lot in enumerate(lots)):
        raise _Failure("The proof of a lot has more than was drawn.")
    if response is MISSING:
        return "Whether the answer was made of those bytes is not checked: only an answer in JSON that drew at most 2048 bytes can show it."
    opening = member(response, "opening")
    # the certificate decides whether the answer was bare values: whoever gives the answer could leave the opening out
    if opening is None and text(member(certificate, "media_type")) is not None:
        return "Not shown of its bytes: an answer in octets carries no opening."
    endpoint, data = member(certificate, "endpoint"), member(response, "data")
    flaw = data_flaw(endpoint, data)
    if flaw is not None:
        raise _Failure(flaw)
    if opening is not MISSING and opening is not None:
        return _opened(ranges, opening, response, endpoint)
    # a certificate that draws more than the values take does not free the answer of its opening
    if min(total, bytes_max(endpoint, data)) > _OPENED_BYTES_MAX:
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


def _opened(ranges: Sequence[_Range], opening: Any, response: Any, endpoint: Any) -> str:
    """The pieces in the answer are those of the blocks, and its values follow from them."""
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
    data = member(response, "data")
    found = values_of(endpoint, data)
    if found is None:
        rest = f"an answer of {show(endpoint)} does not hold all that they were drawn with."
        return f"The bytes drawn for it are those that the lots committed to. That its values follow from them is not checked: {rest}"
    (name, draw), stream = found, ByteStream(drawn)
    try:
        again = draw(stream)
    except Exhausted:
        raise _Failure("The opening holds fewer bytes than its values are drawn from.") from None
    told = canonical_json(member(data, name))
    if again is None or told is None or canonical_json(again) != told:
        raise _Failure("The values are not those that follow from the bytes that were drawn.")
    if len(drawn) - stream.used >= _PIECE_BYTES:
        raise _Failure("The opening holds more than what its values are drawn from.")
    return "Its values follow from bytes that the lots committed to."


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
