"""What every call that draws values may be told beside its own parameters."""

from __future__ import annotations

import re
import secrets
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple, TypedDict


class DrawOptions(TypedDict, total=False):
    """Keyword arguments of every call that draws values."""

    #: quantum-seeded, pure or csprng; left out, the account's tier decides, and never for pure.
    entropy_mode: Optional[str]
    #: 1 to 255 visible ASCII characters. In pure mode and with a purpose the client makes one for each call.
    idempotency_key: Optional[str]
    #: What the values are for, 1 to 100 characters; the certificate numbers the answers of the account under it.
    purpose: Optional[str]
    #: Anything that the certificate is to be bound to, 1 to 1,000 characters.
    user_data: Optional[str]
    #: In place of `user_data` its SHA-256, 64 hex digits in lower case.
    user_data_sha256: Optional[str]
    #: Whether the certificate shows purpose and user_data; otherwise it holds commitments, which only the answer opens.
    public: Optional[bool]


class SentOptions(NamedTuple):
    """The options as a request carries them."""

    #: By their names on the wire; None for what is left out.
    parameters: Dict[str, Any]
    idempotency_key: Optional[str]


_NAMES = frozenset(DrawOptions.__annotations__)
_KEY = re.compile(r"[\x21-\x7e]{1,255}")


def is_pure(options: Mapping[str, Any]) -> bool:
    return str(options.get("entropy_mode")).lower() == "pure"


def split_options(given: Mapping[str, Any]) -> Tuple[Dict[str, Any], DrawOptions]:
    """A call's own parameters, and its options."""
    own = {name: value for name, value in given.items() if name not in _NAMES}
    options: Any = {name: value for name, value in given.items() if name in _NAMES}
    return own, options


def sent_options(options: DrawOptions, dry_run: bool) -> SentOptions:
    """Raises TypeError for an unknown name, and ValueError for an idempotency_key that no header can carry.

    What costs credits, or has a serial under a purpose, has an Idempotency-Key: no retry pays or counts again.
    """
    unknown = sorted(set(options) - _NAMES)
    if unknown:
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}")
    parameters: Dict[str, Any] = dict(options)
    key = parameters.pop("idempotency_key", None)
    parameters["dry_run"] = True if dry_run else None
    is_once = not dry_run and (is_pure(parameters) or parameters.get("purpose") is not None)
    return SentOptions(parameters, key_of(key) if is_once or key is not None else None)


def key_of(given: Optional[str]) -> str:
    """The caller's Idempotency-Key, or else one of its own for a call that must not be answered twice."""
    key = secrets.token_hex(16) if given is None else given
    if not _KEY.fullmatch(key):
        raise ValueError("idempotency_key: 1 to 255 visible ASCII characters")
    return key
