"""Verifies Ed25519 signatures (RFC 8032), with the package `cryptography` if it is installed, else in Python.

All data is public, so the time that a verification takes may depend on it.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from hashlib import sha512
from typing import Optional, Tuple

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_ROOT_OF_MINUS_1 = pow(2, (_P - 1) // 4, _P)

#: Extended coordinates (X, Y, Z, T) of RFC 8032 §5.1.4: x = X/Z, y = Y/Z, xy = T/Z.
_Point = Tuple[int, int, int, int]

_NEUTRAL: _Point = (0, 1, 1, 0)


def verify(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Returns whether the key signed the message."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except Exception:  # not installed, or broken
        _say_slow()
        return verify_in_python(public_key, message, signature)
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


@lru_cache(maxsize=1)  # warns only once
def _say_slow() -> None:
    text = "signatures are verified in Python, some milliseconds each; install the package cryptography to make it fast"
    logging.getLogger("qrn_client").warning(text)


def verify_in_python(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Verifies as RFC 8032 §5.1.7 says, without the cofactor, as OpenSSL and browsers do."""
    if len(public_key) != 32 or len(signature) != 64:
        return False
    point = _decoded(public_key)
    s = int.from_bytes(signature[32:], "little")
    if point is None or s >= _ORDER:
        return False
    h = int.from_bytes(sha512(signature[:32] + public_key + message).digest(), "little") % _ORDER
    x, y, z, t = point
    negative = (_P - x, y, z, _P - t)
    return _encoded(_sum(_multiple(s, _base()), _multiple(h, negative))) == signature[:32]


def _base() -> _Point:
    y = 4 * pow(5, _P - 2, _P) % _P
    point = _decoded(y.to_bytes(32, "little"))
    assert point is not None
    return point


def _decoded(encoded: bytes) -> Optional[_Point]:
    """Decodes a point (RFC 8032 §5.1.3); None when there is no such point."""
    y = int.from_bytes(encoded, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= _P:
        return None
    u, v = (y * y - 1) % _P, (_D * y * y + 1) % _P
    x = u * pow(v, 3, _P) * pow(u * pow(v, 7, _P), (_P - 5) // 8, _P) % _P
    if v * x * x % _P == -u % _P:
        x = x * _ROOT_OF_MINUS_1 % _P
    if v * x * x % _P != u or (x == 0 and sign == 1):
        return None
    if x & 1 != sign:
        x = _P - x
    return x, y, 1, x * y % _P


def _encoded(point: _Point) -> bytes:
    x, y, z, _ = point
    inverse = pow(z, _P - 2, _P)
    x, y = x * inverse % _P, y * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _sum(one: _Point, other: _Point) -> _Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c = 2 * one[3] * other[3] * _D % _P
    d = 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _multiple(scalar: int, point: _Point) -> _Point:
    result = _NEUTRAL
    while scalar > 0:
        if scalar & 1:
            result = _sum(result, point)
        point = _sum(point, point)
        scalar >>= 1
    return result
