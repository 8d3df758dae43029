"""Canonical JSON (RFC 8785): one text for each value. Numbers are written as in ECMAScript."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, List, Optional

_INTEGER_MAX = 2**53


def canonical_json(value: Any) -> Optional[bytes]:
    """Returns the canonical form in UTF-8; None for a value that is not JSON in Unicode."""
    try:
        return _text(value).encode("utf-8")
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, dict):
        # Sorted by UTF-16 code units. A lone surrogate is refused here or when the text is encoded.
        names: List[str] = sorted(value, key=_utf16)
        return "{" + ",".join(f"{_text(name)}:{_text(value[name])}" for name in names) + "}"
    raise TypeError(f"{type(value).__name__} is not JSON")


def _utf16(name: Any) -> bytes:
    if not isinstance(name, str):
        raise TypeError("a name in JSON is a string")
    return name.encode("utf-16-be")


def number_text(number: float) -> str:
    """Returns a double as ECMAScript prints it (ECMA-262, Number::toString). Raises ValueError or OverflowError for any other number."""
    if isinstance(number, int):
        if -_INTEGER_MAX <= number <= _INTEGER_MAX:
            return str(number)
        number = float(number)
    if not isfinite(number):
        raise ValueError(f"{number} is not JSON")
    if number == 0:
        return "0"
    # repr gives the shortest digits that read back to the same double, as ECMAScript requires; only the layout differs.
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    if fraction == "0":
        fraction = ""
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    sign = "-" if number < 0 else ""
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"
