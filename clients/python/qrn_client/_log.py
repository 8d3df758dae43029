"""The log of certificates: proofs of inclusion, their checkpoints, and the keys of the log and of witnesses that signed these."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import ed25519
from ._reading import MALFORMED, Refused, base64_of, from_base64, hashes_of, milliseconds_of, require, sha256, show, time_text, whole_number

_NOTE_LENGTH_MAX = 65_536
#: A tree of 2^53 leaves has paths of 53 hashes.
_PROOF_HASHES_MAX = 53
#: Types of signatures: of the text alone (c2sp.org/signed-note), and of the text with the time (tlog-cosignature).
_PLAIN, _TIMED = b"\x01", b"\x04"
#: The largest difference that is allowed between a witness's clock and the service's.
WITNESS_CLOCK_SECONDS = 60


class _Signature(NamedTuple):
    name: str
    key_id: bytes
    signature: bytes


class Proof:
    """A proof of inclusion (c2sp.org/tlog-proof) and the checkpoint in it (tlog-checkpoint, signed-note)."""

    def __init__(self, text: Any) -> None:
        require(text is not None, "The certificate has no proof yet. It is logged a moment after it is issued: fetch it again.")
        try:
            head, _, note = text.partition("\n\n")
            version, index, *path = head.split("\n")
            require(version == "c2sp.org/tlog-proof@v1" and index.startswith("index ") and len(path) <= _PROOF_HASHES_MAX, "")
            self.index, self.path = whole_number(index[len("index ") :]), hashes_of(path)
        except (Refused, *MALFORMED):
            raise Refused("The proof is not in the format c2sp.org/tlog-proof@v1.") from None
        try:
            self.signed_text, self.signatures = _read_note(note)
        except (Refused, *MALFORMED):
            raise Refused("The checkpoint in the proof is not a signed note.") from None
        try:
            self.origin, size, root, *more = self.signed_text[:-1].split("\n")
            self.size, (self.root,) = whole_number(size), hashes_of([root])
            require(self.origin and "" not in more, "")
        except (Refused, *MALFORMED):
            raise Refused("The signed note in the proof is not a checkpoint.") from None

    def includes(self, entry: bytes) -> bool:
        """RFC 9162 §2.1.3.2"""
        fn, sn, root = self.index, self.size - 1, sha256(b"\x00", entry)
        if fn > sn:
            return False
        for sibling in self.path:
            if sn == 0:
                return False
            if fn & 1 or fn == sn:
                root = sha256(b"\x01", sibling, root)
                while fn and not fn & 1:
                    fn, sn = fn >> 1, sn >> 1
            else:
                root = sha256(b"\x01", root, sibling)
            fn, sn = fn >> 1, sn >> 1
        return sn == 0 and root == self.root


def _read_note(note: str) -> Tuple[str, List[_Signature]]:
    blank = note.rfind("\n\n")
    note.encode()  # raises for a lone surrogate
    is_note = len(note) <= _NOTE_LENGTH_MAX and not re.search("[\x00-\x09\x0b-\x1f]", note)
    require(is_note and blank > 0 and note.endswith("\n"), "")
    signatures = []
    for line in note[blank + 2 : -1].split("\n"):
        dash, name, signed = line.split(" ")
        data = from_base64(signed)
        require(dash == "—" and _is_key_name(name) and len(data) > 4, "")
        signatures.append(_Signature(name, data[:4], data[4:]))
    return note[: blank + 1], signatures


def _is_key_name(name: str) -> bool:
    """Key names are not empty and hold no space of any kind, no control character and no plus."""
    return name != "" and not any(
        character == "+" or character.isspace() or unicodedata.category(character) in ("Zs", "Zl", "Zp", "Cc")
        for character in name
    )


@dataclass(frozen=True)
class KnownKey:
    name: str
    #: 8 hex digits.
    key_id: str
    public_key: bytes
    #: When the key began to sign, in milliseconds since 1970; None when the document gives no valid time.
    began: Optional[int]
    is_retired: bool
    #: When the key had signed for the last time, in the same form.
    retired: Optional[int]

    def may_sign_at(self, ms: int) -> bool:
        return not self.is_retired or (self.retired is not None and ms <= self.retired)


@dataclass(frozen=True)
class Signed:
    """A valid signature of a known key."""

    key: KnownKey
    #: The time in the signature, in seconds since 1970; None for a signature without a time.
    at: Optional[int]


def known_keys(keys: Any) -> List[KnownKey]:
    """Returns the keys of the log and of its predecessors. Raises Refused unless ids and verifier keys follow from the public keys."""
    known: List[KnownKey] = []
    try:
        for log in [keys, *(keys.get("predecessors") or [])]:
            name = log["origin"]
            name.encode()
            own: List[KnownKey] = []
            for key in log["keys"]:
                own.append(_known_key(name, key, own))
            known += own
    except MALFORMED:
        raise Refused("This is not a keys document.") from None
    return known


def _known_key(name: str, key: Any, before: Sequence[KnownKey]) -> KnownKey:
    public, named, cosigner = _bytes_or_none(key["public_key"]), key["key_id"], key.get("cosigner_key")
    is_key = public is not None and len(public) == 32 and key["algorithm"] == "ed25519" and isinstance(named, str)
    require(is_key, "The keys document lists a key that is not an Ed25519 public key.")
    assert public is not None
    require(all(other.key_id != named for other in before), f"The keys document lists key {named} twice.")
    require(named == _key_id(name, public, _PLAIN).hex(), f"The id of key {named} does not follow from its public key.")
    texts = [_verifier_key(name, public, kind) for kind in (_PLAIN, _TIMED)]
    require([key["verifier_key"], cosigner] == texts, f"The members public_key, verifier_key and cosigner_key of key {named} do not agree.")
    retired = key.get("retired_at")
    began = _milliseconds_or_none(key.get("created_at"))
    return KnownKey(name, named, public, began, retired is not None, _milliseconds_or_none(retired))


def _bytes_or_none(text: Any) -> Optional[bytes]:
    try:
        return from_base64(text)
    except MALFORMED:
        return None


def _milliseconds_or_none(text: Any) -> Optional[int]:
    try:
        return milliseconds_of(text)
    except MALFORMED:
        return None


def signatures_of(proof: Proof, keys: Any) -> List[Signed]:
    """Returns the signatures of known keys.

    c2sp.org/signed-note: signatures of unknown keys are ignored; a wrong signature of a known key rejects the note.
    """
    known = known_keys(keys)
    names = ", ".join(dict.fromkeys(key.name for key in known))
    require(any(key.name == proof.origin for key in known), f"The checkpoint is of the log {proof.origin}, but the keys are of {names}.")
    signed: List[Signed] = []
    for name, key_id, signature in proof.signatures:
        for key in known:
            is_timed = key_id == _key_id(name, key.public_key, _TIMED)
            if key.name != name or name != proof.origin or not (is_timed or key_id.hex() == key.key_id):
                continue
            at, message = None, proof.signed_text
            if is_timed:
                at, message, signature = _timed(signature, message, f"The signature of key {key_id.hex()} on the checkpoint is malformed.")
            holds = ed25519.verify(key.public_key, message.encode(), signature)
            require(holds, f"The signature of key {key_id.hex()} on the checkpoint is wrong.")
            signed.append(Signed(key, at))
    require(any(each.at is None for each in signed), "None of the known keys signed the checkpoint.")
    for key in {each.key.key_id: each.key for each in signed}.values():
        times = [each.at for each in signed if each.key is key]
        timed = [at for at in times if at is not None]
        require(timed, f"Key {key.key_id} signed the checkpoint, but no cosignature of it states the time.")
        # with several times, their order would decide which one counts
        require(len(timed) == 1, f"Key {key.key_id} has more than one cosignature on the checkpoint.")
        require(len(times) > 1, f"Key {key.key_id} has a cosignature on the checkpoint, but no plain signature.")
    return signed


def _timed(signature: bytes, signed_text: str, malformed: str) -> Tuple[int, str, bytes]:
    """Returns the time in a timed signature, the text that was signed, and the plain signature."""
    at = int.from_bytes(signature[:8], "big")
    require(len(signature) == 8 + 64 and 0 < at < 2**53, malformed)
    return at, f"cosignature/v1\ntime {at}\n{signed_text}", signature[8:]


def _key_id(name: str, public: bytes, kind: bytes) -> bytes:
    return sha256(name.encode(), b"\n", kind, public)[:4]


def _verifier_key(name: str, public: bytes, kind: bytes) -> str:
    return f"{name}+{_key_id(name, public, kind).hex()}+{base64_of(kind + public)}"


@dataclass(frozen=True)
class WitnessPolicy:
    """The witnesses that you trust, and how many of them must have seen the log (c2sp.org/tlog-cosignature)."""

    #: Their verifier keys, as `qrn witness` prints them.
    keys: Sequence[str]
    #: How many must have seen the log; None: all of them.
    quorum: Optional[int] = None

    @property
    def needed(self) -> int:
        return len(self.keys) if self.quorum is None else self.quorum


class _Cosigned(NamedTuple):
    name: str
    #: Seconds since 1970.
    at: int


def seen_by_witnesses(proof: Proof, lot_proofs: Sequence[Any], issued_at: str, policy: WitnessPolicy) -> str:
    """Returns a sentence that says which witnesses saw the tree with the certificate, and between which times it was logged."""
    needed, named = policy.needed, len(policy.keys)
    is_quorum = type(needed) is int and 1 <= needed <= named
    require(is_quorum, f"The quorum is {show(needed)}, but must be a whole number from 1 to the {named} witnesses named.")
    seen, issued = _cosignatures(proof, policy), _milliseconds_or_none(issued_at)
    for each in seen:
        is_early = issued is not None and each.at * 1_000 < issued - WITNESS_CLOCK_SECONDS * 1_000
        require(not is_early, f"The witness {each.name} saw the tree at {time_text(each.at)}, before the certificate was issued.")
    told = ", ".join(f"{each.name} at {time_text(each.at)}" for each in seen)
    who = f": {told}" if told else ""
    require(len(seen) >= needed, f"{len(seen)} witnesses saw the tree, but {needed} are required{who}.")
    by = sorted(each.at for each in seen)[needed - 1]
    before = _seen_without(lot_proofs, proof, policy)
    if before is None:
        since = f"{issued_at}, according to the log alone,"
    else:
        since = f"{time_text(before[0])}, when witnesses had seen the log with {before[1]} leaves and without the certificate,"
    return f"Seen by {told}. So the certificate was logged between {since} and {time_text(by)}."


def require_lot_was_seen(name: str, proof: Proof, issued_ms: int, policy: WitnessPolicy) -> None:
    """Raises Refused unless enough witnesses saw the lot's leaf before the answer was issued."""
    try:
        seen = _cosignatures(proof, policy)
    except Refused as refused:
        raise Refused(f"Lot {name}: {refused}") from None
    before = sum(each.at * 1_000 <= issued_ms + WITNESS_CLOCK_SECONDS * 1_000 for each in seen)
    needed = policy.needed
    require(before >= needed, f"{before} witnesses saw lot {name} before the answer was issued, but {needed} are required.")


def _cosignatures(proof: Proof, policy: WitnessPolicy) -> List[_Cosigned]:
    """Returns the first cosignature of each of these witnesses."""
    seen: Dict[bytes, _Cosigned] = {}
    for verifier_key in policy.keys:
        name, key_id, public_key = _witness_key(verifier_key)
        for signature in proof.signatures:
            if signature.name != name or signature.key_id != key_id:
                continue
            at, message, plain = _timed(signature.signature, proof.signed_text, f"The cosignature of {name} is malformed.")
            holds = ed25519.verify(public_key, message.encode(), plain)
            require(holds, f"The signature of key {key_id.hex()} on the checkpoint is wrong.")
            seen.setdefault(public_key, _Cosigned(name, at))  # one key is one witness, whatever names it has
    return list(seen.values())


def _seen_without(lot_proofs: Sequence[Any], proof: Proof, policy: WitnessPolicy) -> Optional[Tuple[int, int]]:
    """Returns when the witnesses had seen the log with the lots but without the certificate, and how many leaves it had then.

    The certificate was logged after the latest such checkpoint. Of its cosignatures the earliest time counts, so that one honest
    witness of the quorum is enough.
    """
    found = []
    for text in lot_proofs:
        try:
            lot = Proof(text)
            seen = _cosignatures(lot, policy)
        except Refused:
            continue
        if lot.origin == proof.origin and lot.size <= proof.index and len(seen) >= policy.needed:
            found.append((min(each.at for each in seen), lot.size))
    return max(found, key=lambda each: each[0]) if found else None


def _witness_key(verifier_key: Any) -> Tuple[str, bytes, bytes]:
    """Returns the name, key id and public key of a cosigner's `NAME+ID+KEY`. Raises Refused unless the id follows from the key."""
    try:
        name, key_id, typed = verifier_key.split("+", 2)
        data = from_base64(typed)
        is_key = len(data) == 33 and data[:1] == _TIMED and _is_key_name(name)
        require(is_key and _key_id(name, data[1:], _TIMED).hex() == key_id, "")
    except (Refused, *MALFORMED):
        told = verifier_key if isinstance(verifier_key, str) else show(verifier_key)
        raise Refused(f"{told} is not the verifier key of a witness.") from None
    return name, _key_id(name, data[1:], _TIMED), data[1:]
