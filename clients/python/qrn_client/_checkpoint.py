"""The checkpoint in a proof, the keys that a verifier knows, and which of them signed."""

from __future__ import annotations

import base64
import re
import unicodedata
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import ed25519
from ._members import MISSING, encoded, from_base64, member, text, time_of, whole_number

_NOTE_LENGTH_MAX = 65_536
#: A tree of 2^53 leaves has paths of 53 hashes.
_PROOF_HASHES_MAX = 53
#: Types of signatures: of the text alone (c2sp.org/signed-note), and of the text with the time (tlog-cosignature).
_PLAIN, TIMED = b"\x01", b"\x04"
_TIME_BYTES = 8


class Signature(NamedTuple):
    name: str
    key_id: bytes
    signature: bytes


@dataclass(frozen=True)
class Logged:
    """A proof of inclusion (c2sp.org/tlog-proof) and the checkpoint in it (tlog-checkpoint, signed-note)."""

    index: int
    path: Sequence[bytes]
    #: With its last newline.
    signed_text: str
    signatures: Sequence[Signature]
    origin: str
    size: int
    root: bytes


def read_proof(text: Any) -> Union[Logged, str]:
    """The proof, or why it is none."""
    if text is MISSING or text is None:
        return "The certificate has no proof: fetch it again, it is logged a moment after it was issued."
    malformed = "proof is not of the form c2sp.org/tlog-proof@v1."
    if not isinstance(text, str) or "\n\n" not in text:
        return malformed
    head, _, note = text.partition("\n\n")
    version, *lines = head.split("\n")
    if version != "c2sp.org/tlog-proof@v1" or not lines or not lines[0].startswith("index "):
        return malformed
    index, path = whole_number(lines[0][len("index ") :]), [from_base64(line) for line in lines[1:]]
    if index is None or len(path) > _PROOF_HASHES_MAX or any(hash is None or len(hash) != 32 for hash in path):
        return malformed
    signed = _read_note(note)
    if signed is None:
        return "The checkpoint in the proof is not a signed note."
    signed_text, signatures = signed
    origin, *rest = signed_text[:-1].split("\n")
    size = whole_number(rest[0]) if len(rest) >= 2 else None
    root = from_base64(rest[1]) if len(rest) >= 2 else None
    if origin == "" or size is None or root is None or len(root) != 32 or "" in rest[2:]:
        return "The signed note in the proof is not a checkpoint."
    hashes = [hash for hash in path if hash is not None]
    return Logged(index, hashes, signed_text, signatures, origin, size, root)


def is_included(leaf: bytes, logged: Logged) -> bool:
    """RFC 9162 §2.1.3.2"""
    if logged.index >= logged.size:
        return False
    fn, sn, root = logged.index, logged.size - 1, leaf
    for sibling in logged.path:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            root = sha256(b"\x01" + sibling + root).digest()
            while fn and not fn & 1:
                fn, sn = fn >> 1, sn >> 1
        else:
            root = sha256(b"\x01" + root + sibling).digest()
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and root == logged.root


def _read_note(note: str) -> Optional[Tuple[str, List[Signature]]]:
    well_formed = encoded(note) is not None and not re.search("[\x00-\x09\x0b-\x1f]", note)
    blank = note.rfind("\n\n")
    if len(note) > _NOTE_LENGTH_MAX or not well_formed or blank <= 0 or not note.endswith("\n"):
        return None
    signatures = []
    for line in note[blank + 2 : -1].split("\n"):
        parts = line.split(" ")
        signed = from_base64(parts[2]) if len(parts) == 3 else None
        if signed is None or len(signed) <= 4 or parts[0] != "—" or not is_key_name(parts[1]):
            return None
        signatures.append(Signature(parts[1], signed[:4], signed[4:]))
    return note[: blank + 1], signatures


def is_key_name(name: str) -> bool:
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
    #: It signs no checkpoint without the time.
    is_timed: bool
    #: When the key began to sign, in milliseconds since 1970; None for what is no time.
    began: Optional[float]
    is_retired: bool
    #: When it had signed for the last time; None for what is no time.
    retired: Optional[float]


@dataclass(frozen=True)
class Signed:
    """A known key's signature that holds."""

    key: KnownKey
    #: Seconds since 1970, of a signature that says when.
    at: Optional[int]


def known_keys(keys: Any) -> Union[List[KnownKey], str]:
    """The keys of the log and of those that it has succeeded, or why there are none."""
    predecessors, known = member(keys, "predecessors"), []
    earlier = [] if predecessors is MISSING or predecessors is None else predecessors
    if not isinstance(earlier, list):
        return "This is not a keys document."
    for log in [keys, *earlier]:
        of_log = _keys_of_log(log)
        if isinstance(of_log, str):
            return of_log
        known += of_log
    return known


def _keys_of_log(log: Any) -> Union[List[KnownKey], str]:
    """Key ids and verifier keys must follow from the keys themselves."""
    origin, listed = text(member(log, "origin")), member(log, "keys")
    if origin is None or encoded(origin) is None or not isinstance(listed, list):
        return "This is not a keys document."
    known: List[KnownKey] = []
    for key in listed:
        public = from_base64(text(member(key, "public_key")) or "")
        named = text(member(key, "key_id"))
        if public is None or len(public) != 32 or member(key, "algorithm") != "ed25519" or named is None:
            return "A key is not an Ed25519 public key."
        if any(other.key_id == named for other in known):
            return f"Key {named} is listed twice."
        if named != key_id_of(origin, public, _PLAIN).hex():
            return f"Key {named} is not the key it is named after."
        cosigner, retired = member(key, "cosigner_key"), member(key, "retired_at")
        is_timed, is_retired = cosigner not in (None, MISSING), retired not in (None, MISSING)
        if member(key, "verifier_key") != _verifier_key(origin, public, _PLAIN) or (
            is_timed and cosigner != _verifier_key(origin, public, TIMED)
        ):
            return f"Key {named} is given in two ways."
        began = time_of(member(key, "created_at"))
        known.append(KnownKey(origin, named, public, is_timed, began, is_retired, time_of(retired)))
    return known


def read_signatures(keys: Any, logged: Union[Logged, str]) -> Union[List[Signed], str]:
    """The signatures of known keys, or why they do not hold.

    c2sp.org/signed-note: unknown signatures are ignored, one of a known key that fails rejects the note.
    """
    if isinstance(logged, str):
        return logged
    known = known_keys(keys)
    if isinstance(known, str):
        return known
    if all(key.name != logged.origin for key in known):
        names = ", ".join(dict.fromkeys(key.name for key in known))
        return f"The checkpoint is of the log {logged.origin}, the keys are of {names}."
    signed: List[Signed] = []
    for name, key_id, signature in logged.signatures:
        for key in known:
            is_timed = key_id == key_id_of(name, key.public_key, TIMED)
            if key.name != name or name != logged.origin or not (is_timed or key_id.hex() == key.key_id):
                continue
            message, at = logged.signed_text, None
            if is_timed:
                timed = timed_message(signature, message)
                if timed is None:
                    return f"The signature of key {key_id.hex()} on the checkpoint is malformed."
                at, message, signature = timed
            if not ed25519.verify(key.public_key, message.encode(), signature):
                return f"The signature of key {key_id.hex()} on the checkpoint is wrong."
            signed.append(Signed(key, at))
    if all(each.at is not None for each in signed):
        return "None of the known keys signed the checkpoint."
    with_time = {each.key.key_id for each in signed if each.at is not None}
    for each in signed:
        if each.key.is_timed and each.key.key_id not in with_time:
            return f"Key {each.key.key_id} signed the checkpoint without saying when."
    return signed


def timed_message(signature: bytes, signed_text: str) -> Optional[Tuple[int, str, bytes]]:
    """The time in a signature that says when, what was signed with it, and the plain signature; None if malformed."""
    at = int.from_bytes(signature[:_TIME_BYTES], "big")
    if len(signature) != _TIME_BYTES + 64 or not 0 < at < 2**53:
        return None
    return at, f"cosignature/v1\ntime {at}\n{signed_text}", signature[_TIME_BYTES:]


def key_id_of(name: str, public: bytes, kind: bytes) -> bytes:
    return sha256(name.encode() + b"\n" + kind + public).digest()[:4]


def _verifier_key(name: str, public: bytes, kind: bytes) -> str:
    return f"{name}+{key_id_of(name, public, kind).hex()}+{base64.b64encode(kind + public).decode()}"
