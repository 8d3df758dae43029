"""Exact normal deviates, each rounded once, to the nearest double.

The method is that of C. F. F. Karney, "Sampling exactly from the normal distribution", ACM TOMS 42 (2016): |z| = k + x, where
the whole part k has a probability proportional to exp(-k**2 / 2) and the fraction x is uniform in (0, 1). The pair is accepted
with probability exp(-x (2k + x) / 2). The sign is a fair coin.

Karney decides by comparing digits of uniform numbers. This module decides in doubles when the margin is larger than any rounding
error. Otherwise, about once in a billion, `_exact` decides with as many further bits and digits as it needs. So no probability is
rounded.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Tuple

if TYPE_CHECKING:
    import numpy

Take = Callable[[int], bytearray]

#: The bytes of one candidate: 4 for the sign and k, 8 for x, and 4 to accept it.
_CANDIDATE_BYTES = 16
#: The share of candidates that are accepted: sqrt(pi / 2) / sum of exp(-k**2 / 2).
_ACCEPTED = 0.7148
#: Far more than the error of exp(-x (2k + x) / 2) in doubles, for k up to _K_MAX.
_MARGIN = 2.0**-40
_K_BITS = 31
_K_MAX = 15


def standard_normal(take: Take, count: int) -> "numpy.ndarray[Any, Any]":
    """Returns `count` deviates with mean 0 and standard deviation 1, made from bytes of `take`."""
    import numpy as np

    values = np.empty(count)
    filled = 0
    while filled < count:
        missing = count - filled
        kept = _from_candidates(take, missing + int(missing * (1 / _ACCEPTED - 1)) + 1)[:missing]
        values[filled : filled + len(kept)] = kept
        filled += len(kept)
    return values


def _from_candidates(take: Take, count: int) -> "numpy.ndarray[Any, Any]":
    """Makes `count` candidates and returns the values of those that are accepted."""
    import numpy as np

    octets = memoryview(take(_CANDIDATE_BYTES * count))
    x_bits = np.frombuffer(octets[: 8 * count], "<u8")
    first = np.frombuffer(octets[8 * count : 12 * count], "<u4")
    coin = np.frombuffer(octets[12 * count :], "<u4")

    k_bits = first >> 1
    ends = np.array(_k_ends(), np.uint32)
    k = np.searchsorted(ends, k_bits, side="right").astype(np.uint64)
    unclear = np.isin(k_bits, ends) | (k > _K_MAX)

    x = x_bits * 2.0**-64
    chance = np.exp(-0.5 * x * (2.0 * k + x))
    accepted = (coin + 1.0) * 2.0**-32 <= chance - _MARGIN
    unclear |= ~accepted & (coin * 2.0**-32 < chance + _MARGIN)
    # Fewer than 54 significant bits of the value are known: more must be drawn before it is rounded.
    unclear |= (k == 0) & (x_bits < 1 << 54)

    # The last bit stands for the bits that are not drawn: they are not all zero, so no value lies exactly between two doubles.
    one = np.uint64(1)
    with_whole = ((k << np.uint64(60)) | (x_bits >> np.uint64(4)) | one).astype(np.float64) * 2.0**-60
    values = np.where(k == 0, (x_bits | one).astype(np.float64) * 2.0**-64, with_whole)
    values[(first & 1).astype(bool)] *= -1
    for at in np.flatnonzero(unclear):
        value = _exact(take, int(first[at]), int(x_bits[at]), int(coin[at]))
        accepted[at] = value is not None
        values[at] = 0.0 if value is None else value
    kept: "numpy.ndarray[Any, Any]" = values[accepted]
    return kept


class _Uniform:
    """A uniform number in (0, 1) of which the first `length` bits are known. `extend` draws 64 more."""

    def __init__(self, bits: int, length: int) -> None:
        self.bits = bits
        self.length = length

    def extend(self, take: Take) -> None:
        self.bits = self.bits << 64 | int.from_bytes(take(8), "little")
        self.length += 64

    def bounds(self) -> Tuple[Decimal, Decimal]:
        """Returns the bounds of the number, exactly: the precision of the current decimal context must hold all bits."""
        unit = Decimal(1) / (1 << self.length)
        return self.bits * unit, (self.bits + 1) * unit


def _exact(take: Take, first: int, x_bits: int, coin: int) -> Optional[float]:
    """Returns the value of a candidate, or None when it is not accepted."""
    x = _Uniform(x_bits, 64)
    k = _decided_k(take, _Uniform(first >> 1, _K_BITS))
    if not _decided(take, k, x, _Uniform(coin, 32)):
        return None
    whole = (k << x.length) + x.bits
    while whole.bit_length() < 55:
        x.extend(take)
        whole = (k << x.length) + x.bits
    value = (2 * whole + 1) / (1 << (x.length + 1))  # true division of integers rounds once
    return -value if first & 1 else value


def _decided_k(take: Take, uniform: _Uniform) -> int:
    while True:
        precision = _precision(uniform.length)
        with localcontext() as context:
            context.prec = precision
            low, high = uniform.bounds()
            error = Decimal(10) ** (20 - precision)
            for k, end in enumerate(_cumulated(precision)):
                if high <= end - error:
                    return k
                if low < end + error:
                    break  # the end of k lies between the bounds
        uniform.extend(take)


def _decided(take: Take, k: int, x: _Uniform, coin: _Uniform) -> bool:
    """Returns whether coin < exp(-x (2k + x) / 2)."""
    while True:
        precision = _precision(max(x.length, coin.length))
        with localcontext() as context:
            context.prec = precision
            error = Decimal(10) ** (20 - precision)
            x_low, x_high = x.bounds()
            least = (-x_high * (2 * k + x_high) / 2).exp() - error
            most = (-x_low * (2 * k + x_low) / 2).exp() + error
            low, high = coin.bounds()
        if high <= least:
            return True
        if low >= most:
            return False
        x.extend(take)
        coin.extend(take)


def _precision(bits: int) -> int:
    """Returns enough decimal digits for a binary fraction of that many bits, and 40 more, so that errors stay below 10**(20 - digits)."""
    return bits + 40


@lru_cache(maxsize=8)
def _cumulated(precision: int) -> List[Decimal]:
    """Returns the probabilities that k is at most 0, 1, 2, … until the remainder is below the precision."""
    with localcontext() as context:
        context.prec = precision
        shares: List[Decimal] = []
        k = 0
        while not shares or shares[-1] > Decimal(10) ** -precision:
            shares.append((Decimal(-k * k) / 2).exp())
            k += 1
        total, sums = sum(shares, Decimal(0)), []
        for end in range(len(shares)):
            sums.append(sum(shares[: end + 1], Decimal(0)) / total)
        return sums


@lru_cache(maxsize=1)
def _k_ends() -> List[int]:
    """Returns the values of `_cumulated` in units of 2**-31, rounded down. A word that equals one of them is unclear."""
    ends = [int(end * (1 << _K_BITS)) for end in _cumulated(_precision(64))]
    return sorted({min(end, (1 << _K_BITS) - 1) for end in ends})
