"""Reads JSON that somebody else wrote: whatever it holds, nothing here raises."""

from __future__ import annotations

import base64
import binascii
import re
from datetime import datetime, timezone
from typing import Any, Optional

MISSING = object()


def member(value: Any, *path: str) -> Any:
    """MISSING for what is not there. JSON has one kind of number: 4.0 is 4."""
    for name in path:
        value = value.get(name, MISSING) if isinstance(value, dict) else MISSING
    return int(value) if isinstance(value, float) and abs(value) < 2**53 and value.is_integer() else value


def text(value: Any) -> Optional[str]:
    return value if isinstance(value, str) else None


def show(value: Any) -> str:
    """Lists and objects are not written out: they may be large."""
    if value is MISSING:
        return "nothing"
    if isinstance(value, (dict, list)):
        return "a list" if isinstance(value, list) else "an object"
    return ascii(value)


def encoded(text: str) -> Optional[bytes]:
    try:
        return text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return None


def from_base64(text: str) -> Optional[bytes]:
    """None unless the text is exactly what base64 prints for the bytes."""
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return decoded if base64.b64encode(decoded).decode() == text else None


def whole_number(text: str) -> Optional[int]:
    """ASCII decimal without leading zeroes, within 2^53."""
    count = int(text) if re.fullmatch("0|[1-9][0-9]{0,15}", text) else None
    return count if count is not None and count < 2**53 else None


def time_of(value: Any) -> Optional[float]:
    """Milliseconds since 1970 of a time as the service prints it: ISO 8601 in UTC; None for anything else."""
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value, re.ASCII):
        return None
    try:
        at = datetime.strptime(value, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    return round(at.timestamp() * 1_000)


def time_text(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return f"{seconds} s after 1970"
