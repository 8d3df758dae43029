"""Checks that the bytes an answer was drawn from were committed to in the log before the answer was issued."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

from ._lots import entry_of
from ._log import WITNESS_CLOCK_SECONDS, Proof, WitnessPolicy, require_lot_was_seen, signatures_of
from ._reading import MALFORMED, Refused, base64_of, from_base64, hashes_of, is_count, milliseconds_of, pieces_of, require, sha256, show, time_text
from ._samplers import bytes_max, require_members, require_values_follow

_PIECE_BYTES = 16
#: A JSON answer that drew at most this many bytes carries an opening.
_OPENED_BYTES_MAX = 2_048


class _Run(NamedTuple):
    """Neighbouring leaves of a tree, and the path to its root."""

    first: int
    hashes: List[bytes]
    path: List[bytes]


class _Range(NamedTuple):
    """A range of bytes that was drawn from a lot, and the roots of the blocks that hold it."""

    leaf: Any
    offset: int
    size: int
    roots: List[bytes]


def fixed_before(
    response: Any,
    has_response: bool,
    certificate: Any,
    leaves: Sequence[Any],
    given: Sequence[Any],
    proof: Optional[Proof],
    keys: Any,
    witnesses: Optional[WitnessPolicy],
) -> str:
    """Returns the finding in a sentence, or raises Refused.

    has_response: false without an answer, or for an answer in octets without its header fields
    leaves: the leaves of the lots that the certificate names, already bound to it by their hashes
    given: the proofs and runs of these lots
    proof: the certificate's proof; None when it has none that can be read
    """
    mode = certificate["entropy_mode"]
    require(mode != "csprng", "It cannot be shown that the entropy was fixed before: values of csprng mode come from no lot.")
    issued = milliseconds_of(certificate["issued_at"])
    seconds = [_held_at(leaf, each, issued, proof, keys, witnesses) for leaf, each in zip(leaves, given)]
    runs = [[_Run(run["first"], hashes_of(run["hashes"]), hashes_of(run["path"])) for run in each["runs"]] for each in given]
    if mode != "pure":
        bound = _seed_is_bound(certificate, leaves[0], runs[0])
    else:
        ranges = _bound_ranges(certificate["provenance"]["drawn"], leaves, runs)
        bound = _values_are_bound(ranges, certificate, response) if has_response else (
            "Whether the answer was made of these bytes was not checked: only an answer in JSON that drew at most 2,048 bytes can show that."
        )
    seen = ""
    if witnesses is not None:
        seen = f", and at least {witnesses.needed} witnesses had seen them by then (clocks may differ by {WITNESS_CLOCK_SECONDS} s)"
    return f"The log says that it held the lots by {time_text(max(seconds))}, before the answer was issued{seen}. {bound}"


def _held_at(
    leaf: Any, given: Any, issued: int, proof: Optional[Proof], keys: Any, witnesses: Optional[WitnessPolicy]
) -> int:
    """Returns when the log held the lot's leaf, in seconds since 1970. Raises Refused unless that was before the certificate was issued."""
    name = leaf["lot_id"]
    try:
        lot = Proof(given["proof"])
        signed = signatures_of(lot, keys)
    except Refused as refused:
        raise Refused(f"Lot {name}: {refused}") from None
    is_there = lot.includes(entry_of(leaf))
    require(is_there, f"Lot {name} is not leaf {lot.index} of the tree that its proof names.")
    is_older = proof is None or proof.origin != lot.origin or lot.index < proof.index
    require(is_older, f"Lot {name} was logged after the certificate.")
    at = min(each.at for each in signed if each.at is not None)
    has_ended = milliseconds_of(leaf["finished_at"]) // 1_000 <= at
    require(has_ended, f"The log says that it held lot {name} at {time_text(at)}, which is before the lot ended.")
    require(at * 1_000 <= issued, f"The log did not hold lot {name} before the answer was issued.")
    is_rightful = any(each.key.may_sign_at(at * 1_000) for each in signed if each.at is None)
    require(is_rightful, f"Lot {name}: The key that signed the checkpoint had already been retired.")
    if witnesses is not None:
        require_lot_was_seen(name, lot, issued, witnesses)
    pure = leaf["pure"]
    is_cut = pure["piece_bytes"] == _PIECE_BYTES and pure["block_bytes"] > 0
    is_cut = is_cut and pure["block_bytes"] % _PIECE_BYTES == pure["bytes"] % _PIECE_BYTES == 0
    require(is_cut and is_count(leaf["seeds"]["count"]), f"The leaf or the proof of lot {name} does not have the form that it must have.")
    return at


def _seed_is_bound(certificate: Any, leaf: Any, runs: Sequence[_Run]) -> str:
    index, seeds = certificate["provenance"]["seed"]["index"], leaf["seeds"]
    leads = len(runs) == 1 and is_count(index) and runs[0].first == index and len(runs[0].hashes) == 1
    require(leads, f"The document has no proof that seed {show(index)} is of its lot.")
    ((first, hashes, path),) = runs
    is_bound = _root(seeds["count"], first, hashes, path) == seeds["root"] and not path
    require(is_bound, f"The proof of seed {index} does not lead to the seeds that its lot committed to.")
    return f"The seed of the answer is number {index} of the {seeds['count']} seeds that the lot committed to."


def _bound_ranges(drawn: Any, leaves: Sequence[Any], runs: Sequence[List[_Run]]) -> List[_Range]:
    """Returns the drawn ranges, in order, after checking that the runs bind them to the lots: one run for each range."""
    require(isinstance(drawn, list) and drawn, "The certificate does not say which bytes were drawn: provenance.drawn is missing or empty.")
    ranges, left = [], [list(each) for each in runs]
    for each in drawn:
        place, offset, size = each["lot"], each["offset"], each["bytes"]
        is_whole = is_count(place) and is_count(offset) and is_count(size) and place < len(leaves) and size > 0
        is_whole = is_whole and offset % _PIECE_BYTES == size % _PIECE_BYTES == 0
        require(is_whole, "The bytes that the certificate says were drawn are not whole pieces of its lots.")
        pure, run = leaves[place]["pure"], left[place].pop(0) if left[place] else _Run(-1, [], [])
        first, width = offset // pure["block_bytes"], -(-pure["bytes"] // pure["block_bytes"])
        blocks = -(-(offset + size) // pure["block_bytes"]) - first
        leads = offset + size <= pure["bytes"] and run.first == first and len(run.hashes) == blocks
        leads = leads and _root(width, first, run.hashes, run.path) == pure["root"] and not run.path
        require(leads, f"The document does not prove that lot {place + 1} committed to the bytes drawn from byte {offset}.")
        ranges.append(_Range(leaves[place], offset, size, run.hashes))
    require(not any(left), "The proof of a lot covers more than what was drawn.")
    return ranges


def _values_are_bound(ranges: Sequence[_Range], certificate: Any, response: Any) -> str:
    opening, endpoint, data = response.get("opening"), certificate["endpoint"], response["data"]
    # the certificate, not the answer, says whether the answer was octets: whoever gives the answer could leave out the opening
    if opening is None and isinstance(certificate.get("media_type"), str):
        return "It cannot be shown that the answer was made of these bytes: an answer in octets carries no opening."
    require_members(endpoint, data)
    if opening is not None:
        return _values_follow(ranges, opening, endpoint, data)
    # an answer needs its opening even when its certificate claims more bytes than the values can have used
    is_long = min(sum(each.size for each in ranges), bytes_max(endpoint, data)) > _OPENED_BYTES_MAX
    require(is_long, "The answer must have an opening, which shows the bytes that it was made of, and has none.")
    return "It cannot be shown that the answer was made of these bytes: it is too long to carry an opening."


def _values_follow(ranges: Sequence[_Range], opening: Any, endpoint: Any, data: Any) -> str:
    """Checks that the pieces in the opening are those of the blocks, and that the values follow from them."""
    try:
        drawn = from_base64(opening["bytes"])
        opened = list(zip(pieces_of(drawn, _PIECE_BYTES), pieces_of(from_base64(opening["salts"]), _PIECE_BYTES)))
        path = pieces_of(from_base64(opening["path"]), 32)
        length = sum(each.size for each in ranges)
        require(len(drawn) == length == len(from_base64(opening["salts"])), "")
    except (Refused, *MALFORMED):
        raise Refused("The opening does not hold as many bytes and salts as were drawn.") from None
    for leaf, offset, size, roots in ranges:
        block_bytes, begin = leaf["pure"]["block_bytes"], offset
        for i, root in enumerate(roots, offset // block_bytes):
            start, end = i * block_bytes, min((i + 1) * block_bytes, leaf["pure"]["bytes"])
            count = (min(end, offset + size) - begin) // _PIECE_BYTES
            pieces, opened = [sha256(b"\x02", salt, piece) for piece, salt in opened[:count]], opened[count:]
            found = _root((end - start) // _PIECE_BYTES, (begin - start) // _PIECE_BYTES, pieces, path)
            require(found == base64_of(root), "The bytes in the opening are not those that the lot committed to.")
            begin = end
    require(not path, "The opening holds more than what was drawn.")
    return require_values_follow(endpoint, data, drawn)


def _root(width: int, first: int, run: Sequence[bytes], path: List[bytes]) -> Optional[str]:
    """Returns the root, in base64, of a tree in which the run begins at leaf `first`. Removes the hashes it needs from the path."""
    if not run or first + len(run) > width:
        return None
    level = list(run)
    while width > 1:
        last = first + len(level) - 1
        sides: Tuple[bool, bool] = (first % 2 == 1, last % 2 == 0 and last + 1 < width)
        if len(path) < sum(sides):
            return None
        if sides[0]:
            level.insert(0, path.pop(0))
        if sides[1]:
            level.append(path.pop(0))
        pairs = (level[i : i + 2] for i in range(0, len(level), 2))
        level = [sha256(b"\x01", *pair) if len(pair) == 2 else pair[0] for pair in pairs]
        first, width = first // 2, -(-width // 2)
    return base64_of(level[0])
