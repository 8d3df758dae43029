"""Who beside the operator must have seen the log, and what their times say (c2sp.org/tlog-cosignature)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import ed25519
from ._checkpoint import TIMED, Logged, is_key_name, key_id_of, read_proof, timed_message
from ._members import from_base64, member, show, text, time_of, time_text

#: A witness's clock and the service's may differ by so much.
WITNESS_CLOCK_SECONDS = 60


@dataclass(frozen=True)
class WitnessPolicy:
    """Witnesses that you trust, and how many of them must have seen the log."""

    #: Their verifier keys, as `qrn witness` prints them.
    keys: Sequence[str]
    #: All of them when left out.
    quorum: Optional[int] = None

    @property
    def needed(self) -> int:
        return len(self.keys) if self.quorum is None else self.quorum


class Cosigned(NamedTuple):
    name: str
    #: Seconds since 1970.
    at: int


def witnesses_failure(
    document: Any, certificate: Any, logged: Union[Logged, str], policy: WitnessPolicy
) -> Tuple[Optional[str], str]:
    """Why too few have seen the tree, or None and between which times the certificate was logged."""
    needed, named = policy.needed, len(policy.keys)
    if isinstance(needed, bool) or not isinstance(needed, int) or not 1 <= needed <= named:
        return f"The quorum is {show(needed)}, and {named} witnesses are named.", ""
    seen = read_cosignatures(policy.keys, logged)
    if isinstance(seen, str) or isinstance(logged, str):
        return str(seen), ""
    issued = time_of(member(certificate, "issued_at"))
    for each in seen:
        if issued is not None and each.at * 1_000 < issued - WITNESS_CLOCK_SECONDS * 1_000:
            return f"{each.name} saw the tree at {time_text(each.at)}, before the certificate was issued.", ""
    told = ", ".join(f"{each.name} at {time_text(each.at)}" for each in seen)
    if len(seen) < needed:
        who = f": {told}" if told else ""
        return f"{len(seen)} of the {needed} witnesses that are asked for saw the tree{who}.", ""
    by = sorted(each.at for each in seen)[needed - 1]
    before = _seen_without(document, logged, policy)
    if before is None:
        since = f"{text(member(certificate, 'issued_at'))}, by the log's own word,"
    else:
        since = f"{time_text(before[0])}, when witnesses had seen the log with {before[1]} leaves and so without it,"
    return None, f"Seen by {told}: logged between {since} and {time_text(by)}."


def lot_failure(name: str, lot_at: Logged, issued: float, policy: WitnessPolicy) -> Optional[str]:
    """Why too few have seen the leaf of a lot before the answer was issued; None when enough have."""
    seen = read_cosignatures(policy.keys, lot_at)
    if isinstance(seen, str):
        return f"Lot {name}: {seen}"
    before = sum(each.at * 1_000 <= issued + WITNESS_CLOCK_SECONDS * 1_000 for each in seen)
    if before >= policy.needed:
        return None
    return f"{before} of the {policy.needed} witnesses that are asked for saw lot {name} before the answer was issued."


def read_cosignatures(keys: Sequence[str], logged: Union[Logged, str]) -> Union[List[Cosigned], str]:
    """The first cosignature of each of these witnesses; why not, when a key is none or a cosignature is wrong."""
    if isinstance(logged, str):
        return logged
    seen: Dict[bytes, Cosigned] = {}
    for each in keys:
        key = _witness_key(each)
        if key is None:
            return f"{each if isinstance(each, str) else show(each)} is not the verifier key of a witness."
        name, key_id, public_key = key
        for signature in logged.signatures:
            if signature.name != name or signature.key_id != key_id:
                continue
            timed = timed_message(signature.signature, logged.signed_text)
            if timed is None:
                return f"The cosignature of {name} is malformed."
            at, message, plain = timed
            if not ed25519.verify(public_key, message.encode(), plain):
                return f"The signature of key {key_id.hex()} on the checkpoint is wrong."
            seen.setdefault(public_key, Cosigned(name, at))  # one key is one witness, under whatever names it is given
    return list(seen.values())


def _seen_without(document: Any, logged: Logged, policy: WitnessPolicy) -> Optional[Tuple[int, int]]:
    """When the witnesses had seen the log with its lots and without the certificate, and how many leaves it had then.

    The latest such checkpoint says since when the certificate can have been in the log: the earliest time on it, so that
    one witness of the quorum who keeps to the rules is enough.
    """
    latest: Optional[Tuple[int, int]] = None
    lots = member(document, "lots")
    for lot in lots if isinstance(lots, list) else ():
        lot_at = read_proof(member(lot, "proof"))
        if isinstance(lot_at, str) or lot_at.origin != logged.origin or lot_at.size > logged.index:
            continue
        seen = read_cosignatures(policy.keys, lot_at)
        if isinstance(seen, str) or len(seen) < policy.needed:
            continue
        at = min(each.at for each in seen)
        if latest is None or at > latest[0]:
            latest = at, lot_at.size
    return latest


def _witness_key(verifier_key: Any) -> Optional[Tuple[str, bytes, bytes]]:
    """Name, key id and public key of `NAME+ID+KEY`; None unless it is the key of a cosigner and the id follows from it."""
    parts = re.fullmatch(r"([^+]+)\+([0-9a-f]{8})\+(.+)", verifier_key) if isinstance(verifier_key, str) else None
    typed = from_base64(parts[3]) if parts else None
    if parts is None or typed is None or len(typed) != 33 or typed[:1] != TIMED or not is_key_name(parts[1]):
        return None
    key_id = key_id_of(parts[1], typed[1:], TIMED)
    return (parts[1], key_id, typed[1:]) if key_id.hex() == parts[2] else None
