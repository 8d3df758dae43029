"""The options of every call that draws values."""

from __future__ import annotations

import re
import secrets
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple, TypedDict


class DrawOptions(TypedDict, total=False):
    """The keyword arguments of every call that draws values, besides its own parameters."""

    #: quantum-seeded, pure or csprng. Default: the account's tier decides, and never for pure.
    entropy_mode: Optional[str]
    #: 1 to 255 visible ASCII characters. Default: the client makes one for a call in pure mode or with a purpose.
    idempotency_key: Optional[str]
    #: What the values are for, 1 to 100 characters. The certificate has the number of this answer among those with the same purpose.
    purpose: Optional[str]
    #: Any text to which the certificate is bound, 1 to 1,000 characters.
    user_data: Optional[str]
    #: The SHA-256 of such a text instead of `user_data`: 64 hex digits in lower case.
    user_data_sha256: Optional[str]
    #: If true, the certificate shows purpose and user_data; else it holds commitments to them, which only the answer opens.
    public: Optional[bool]


class SentOptions(NamedTuple):
    """The options in the form that a request carries."""

    #: The parameters by their names on the wire; None for one that is left out.
    parameters: Dict[str, Any]
    idempotency_key: Optional[str]


_NAMES = frozenset(DrawOptions.__annotations__)
_KEY = re.compile(r"[\x21-\x7e]{1,255}")


def is_pure(options: Mapping[str, Any]) -> bool:
    return str(options.get("entropy_mode")).lower() == "pure"


def split_options(given: Mapping[str, Any]) -> Tuple[Dict[str, Any], DrawOptions]:
    """Splits keyword arguments into the call's own parameters and its options."""
    own = {name: value for name, value in given.items() if name not in _NAMES}
    options: Any = {name: value for name, value in given.items() if name in _NAMES}
    return own, options


def sent_options(options: DrawOptions, dry_run: bool) -> SentOptions:
    """Returns the options in the form that a request carries.

    A call that costs credits or has a purpose gets an Idempotency-Key, so that a retry neither pays nor counts again. Raises
    TypeError for an unknown name, and ValueError for an idempotency_key that no header can carry.
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
    """Returns the caller's Idempotency-Key, or a new one."""
    key = secrets.token_hex(16) if given is None else given
    if not _KEY.fullmatch(key):
        raise ValueError("idempotency_key: 1 to 255 visible ASCII characters")
    return key
