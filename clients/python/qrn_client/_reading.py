"""Reads documents from outside. Checks read them as if they had the form in docs/certificates.md. A document of another form makes
the code raise one of MALFORMED, and then the check has failed.
"""

from __future__ import annotations

import base64
import re
from datetime import datetime, timezone
from hashlib import sha256 as _sha256
from typing import Any, List

MALFORMED = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
BASE32 = "0123456789abcdefghjkmnpqrstvwxyz"


class Refused(Exception):
    """The reason for which a check fails, in a sentence."""


def require(holds: object, why: str) -> None:
    """Raises Refused with the reason unless it holds."""
    if not holds:
        raise Refused(why)


def plain(value: Any) -> Any:
    """Returns a copy in which whole numbers have the type int, because in JSON 4.0 is 4; None for a value that is nested too deeply."""
    try:
        return _plain(value)
    except RecursionError:
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return int(value) if isinstance(value, float) and abs(value) < 2**53 and value.is_integer() else value


def show(value: Any) -> str:
    """Returns a short text for a value. Lists and objects are not written out, because they may be large."""
    if isinstance(value, (dict, list)):
        return "a list" if isinstance(value, list) else "an object"
    return ascii(value)


def same(one: Any, other: Any) -> bool:
    """Returns whether the values are equal and of one type: True is not 1."""
    return type(one) is type(other) and bool(one == other)


def is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**53


def sha256(*parts: bytes) -> bytes:
    return _sha256(b"".join(parts)).digest()


def hashed(*parts: bytes) -> str:
    return f"sha256:{sha256(*parts).hex()}"


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def from_base64(text: str) -> bytes:
    """Returns the bytes of a text in base64. Raises ValueError unless the text is the only encoding of these bytes."""
    data = base64.b64decode(text, validate=True)
    if base64_of(data) != text:
        raise ValueError("not the base64 of its bytes")
    return data


def hashes_of(texts: List[str]) -> List[bytes]:
    hashes = [from_base64(text) for text in texts]
    if any(len(each) != 32 for each in hashes):
        raise ValueError("a hash has 32 bytes")
    return hashes


def pieces_of(data: bytes, size: int) -> List[bytes]:
    if len(data) % size:
        raise ValueError(f"not a multiple of {size} bytes")
    return [data[i : i + size] for i in range(0, len(data), size)]


def whole_number(text: str) -> int:
    """Reads an ASCII decimal without leading zeroes, below 2^53. Raises ValueError for anything else."""
    if not re.fullmatch("0|[1-9][0-9]{0,15}", text) or int(text) >= 2**53:
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def milliseconds_of(text: str) -> int:
    """Reads a time of the service (ISO 8601 in UTC) as milliseconds since 1970. Raises ValueError or TypeError for anything else."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text, re.ASCII):
        raise ValueError(f"{text!r} is not a time")
    at = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    return round(at.timestamp() * 1_000)


def time_text(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return f"{seconds} s after 1970"
