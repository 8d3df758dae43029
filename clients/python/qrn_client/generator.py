"""The methods of numpy's Generator, with bits of the service and exact sampling."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from ._blocks import Blocks, OnBlock
from ._normal import standard_normal
from .client import QrnClient

#: Stands for numpy.ndarray, because numpy need not be installed.
Array = Any

Size = Union[int, Sequence[int], None]

_BLOCK_BYTES = 1 << 20
_WORDS = 1 << 64


class Generator:
    """The methods integers, random, normal, choice, permutation, shuffle and bytes of numpy's Generator.

    Each value has exactly its distribution: no step rounds a probability. Needs numpy. The parameters are those of `Random`, but
    a block has 1 MiB by default, and a large draw fetches larger blocks.
    """

    def __init__(
        self,
        client: Optional[QrnClient] = None,
        *,
        entropy_mode: Optional[str] = None,
        block_bytes: Optional[int] = None,
        on_block: Optional[OnBlock] = None,
    ) -> None:
        import numpy

        self._np: Any = numpy
        self._blocks = Blocks(client, entropy_mode, block_bytes, _BLOCK_BYTES, on_block)

    def bytes(self, length: int) -> bytes:
        """`length` bytes."""
        return b"".join([self._blocks.take(length)])

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Size = None,
        dtype: Any = "int64",
        endpoint: bool = False,
    ) -> Any:
        """Integers from `low` to `high`; `high` is included only with `endpoint`. Without `high` they are from 0 to `low`.

        Bounds may be arrays, which are broadcast as in numpy.
        """
        np = self._np
        kind = np.dtype(dtype)
        if kind == np.dtype(bool):
            least, most = 0, 1
        elif kind.kind in "iu":
            least, most = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
        else:
            raise TypeError(f"integers: {kind} is not a type of integers")
        if high is None:
            low, high = 0, low
        if np.ndim(low) == 0 and np.ndim(high) == 0:
            first, span = _bounds(low, high, endpoint, least, most)
            shape = _shape(size)
            offsets = self._below(span, _count(shape))
            return self._given(self._moved(offsets, first, kind), shape)
        lows, highs = np.broadcast_arrays(np.asarray(low, object), np.asarray(high, object))
        shape = lows.shape if size is None else _shape(size)
        pairs = zip(np.broadcast_to(lows, shape).ravel(), np.broadcast_to(highs, shape).ravel())
        bounds = [_bounds(one, other, endpoint, least, most) for one, other in pairs]
        values = [self._moved(self._below(span, 1), first, kind) for first, span in bounds]
        return np.concatenate(values).reshape(shape) if values else np.empty(shape, kind)

    def random(self, size: Size = None, dtype: Any = "float64", out: Any = None) -> Any:
        """Multiples of 2**-53 in [0, 1), each equally likely; of 2**-24 for float32."""
        np = self._np
        kind = np.dtype(dtype if out is None else out.dtype)
        shape = _shape(size) if out is None else out.shape
        if kind == np.float64:
            values = (self._words(8, _count(shape)) >> 11) * 2.0**-53
        elif kind == np.float32:
            values = (self._words(4, _count(shape)) >> 8).astype(kind) * kind.type(2.0**-24)
        else:
            raise TypeError(f"random: float64 or float32, not {kind}")
        if out is None:
            return self._given(values, shape)
        out[...] = values.reshape(shape)
        return out

    def standard_normal(self, size: Size = None) -> Any:
        """Normal deviates with mean 0 and standard deviation 1. Each is exact and rounded once, to the nearest double."""
        shape = _shape(size)
        return self._given(standard_normal(self._blocks.take, _count(shape)), shape)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
        """Normal deviates: `loc + scale * standard_normal()`."""
        np = self._np
        if np.any(np.asarray(scale) < 0):
            raise ValueError("scale < 0")
        shape = np.broadcast(loc, scale).shape if size is None else _shape(size)
        return self.standard_normal(shape or None) * scale + loc

    def choice(
        self,
        a: Any,
        size: Size = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> Any:
        """Elements of `a`, or of range(a).

        p: the probabilities, as exact numbers; each is divided by their exact sum
        shuffle: ignored: without replacement, the order is always random
        """
        np = self._np
        items = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        population = items.shape[axis]
        shape = _shape(size)
        count = _count(shape)
        if population == 0 and count > 0:
            raise ValueError("choice: there is nothing to choose from")
        if not replace and count > population:
            raise ValueError("choice: cannot take a larger sample than population when replace is False")
        if p is not None:
            chosen = self._weighted(_exact_weights(p, population), count, replace)
        elif replace:
            chosen = self._below(population, count)
        elif 4 * count > population:
            chosen = self._order(population)[:count]
        else:
            chosen = np.array(self._few(population, count), np.int64)
        chosen = chosen.astype(np.int64)
        if size is None:
            one = int(chosen[0])
            return one if np.ndim(a) == 0 else np.take(items, one, axis)
        return np.take(items, chosen.reshape(shape), axis)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """A new array with `x`, or range(x), in random order along an axis. Each order is equally likely."""
        np = self._np
        items = np.arange(x) if np.ndim(x) == 0 else np.array(x)
        return np.take(items, self._order(items.shape[axis]), axis)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Puts an array or a list into random order in place."""
        order = self._order(len(x) if isinstance(x, list) else x.shape[axis])
        if isinstance(x, list):
            x[:] = [x[i] for i in order]
        else:
            x[...] = self._np.take(x, order, axis)

    def _words(self, width: int, count: int) -> Array:
        return self._np.frombuffer(self._blocks.take(width * count), f"<u{width}")

    def _below(self, span: int, count: int) -> Array:
        """Returns `count` integers in [0, span) as uint64; span is at most 2**64.

        A word of w bits is kept when it is below the largest multiple of span up to 2**w. Among these words every remainder is
        equally frequent.
        """
        np = self._np
        values = np.zeros(count, np.uint64)
        if span == 1:
            return values
        width = next(each for each in (1, 2, 4, 8) if span <= 1 << 8 * each)
        words_in_all = 1 << 8 * width
        limit = words_in_all - words_in_all % span
        filled = 0
        while filled < count:
            # As many words as are needed on average: each is kept with the probability limit / words_in_all.
            words = self._words(width, (count - filled) * words_in_all // limit + 1)
            kept = words if limit == words_in_all else words[words < limit]
            kept = kept[: count - filled].astype(np.uint64)
            values[filled : filled + len(kept)] = kept if span == _WORDS else kept % np.uint64(span)
            filled += len(kept)
        return values

    def _one_below(self, span: int) -> int:
        """Returns an integer in [0, span), for any span."""
        bits = (span - 1).bit_length()
        size = (bits + 7) // 8
        while True:
            value = int.from_bytes(self._blocks.take(size), "little") & ((1 << bits) - 1)
            if value < span:
                return value

    def _moved(self, offsets: Array, first: int, kind: Any) -> Array:
        """Returns first + offsets in an integer type that holds all of them. The sum wraps at 2**64, so it is exact."""
        np = self._np
        moved = offsets + np.uint64(first % _WORDS)
        if kind.kind == "i":
            moved = moved.view(np.int64)
        return moved.astype(kind)

    def _order(self, count: int) -> Array:
        """Returns a random order, that of random keys. If two keys are equal all are drawn again, so each order is equally likely."""
        np = self._np
        while True:
            keys = self._words(8, count)
            order = np.argsort(keys, kind="stable")
            ordered = keys[order]
            if not np.any(ordered[1:] == ordered[:-1]):
                return order

    def _few(self, population: int, count: int) -> List[int]:
        """Returns `count` of many numbers in random order: a Fisher-Yates shuffle of a list that is not written out."""
        moved: Dict[int, int] = {}
        chosen: List[int] = []
        for at in range(count):
            other = at + self._one_below(population - at) if population - at > 1 else at
            chosen.append(moved.get(other, other))
            moved[other] = moved.get(at, at)
        return chosen

    def _weighted(self, weights: List[int], count: int, replace: bool) -> Array:
        np = self._np
        if not replace and sum(weight > 0 for weight in weights) < count:
            raise ValueError("choice: fewer non-zero entries in p than size")
        total = sum(weights)
        if replace and total <= _WORDS:
            ends = np.cumsum(np.array(weights, object)).tolist()
            # An end may be 2**64, but end - 1 fits uint64. The first end above a value is the first with end - 1 not below it.
            values = self._below(total, count)
            lasts = np.array([max(end - 1, 0) for end in ends], np.uint64)
            first = next(i for i, weight in enumerate(weights) if weight > 0)
            found = np.searchsorted(lasts, values, side="left")
            return np.maximum(found, first)
        left = list(weights)
        chosen = []
        for _ in range(count):
            value = self._one_below(sum(left))
            at = 0
            while value >= left[at]:
                value -= left[at]
                at += 1
            chosen.append(at)
            if not replace:
                left[at] = 0
        return np.array(chosen, np.int64)

    def _given(self, values: Array, shape: Optional[Tuple[int, ...]]) -> Any:
        """Returns the values in their shape. Without a shape it returns one value: as in numpy, a float of Python or a numpy scalar."""
        if shape is not None:
            return values.reshape(shape)
        return float(values[0]) if values.dtype == self._np.float64 else values[0]


def _shape(size: Size) -> Optional[Tuple[int, ...]]:
    if size is None:
        return None
    whole = tuple(int(each) for each in size) if isinstance(size, Sequence) else (int(size),)
    if any(each < 0 for each in whole):
        raise ValueError("negative dimensions are not allowed")
    return whole


def _count(shape: Optional[Tuple[int, ...]]) -> int:
    count = 1
    for each in shape or ():
        count *= each
    return count


def _bounds(low: Any, high: Any, endpoint: bool, least: int, most: int) -> Tuple[int, int]:
    """Returns the first value and the number of values."""
    first, last = _whole(low), _whole(high) - (0 if endpoint else 1)
    if first > last:
        raise ValueError("low >= high" if not endpoint else "low > high")
    if first < least or last > most:
        raise ValueError(f"integers: the bounds do not fit into the type, which goes from {least} to {most}")
    return first, last - first + 1


def _whole(value: Any) -> int:
    whole = int(value)
    if whole != value:
        raise ValueError(f"integers: {value!r} is not a whole number")
    return whole


def _exact_weights(p: Any, population: int) -> List[int]:
    """Returns whole numbers in the same proportion as p. Floats count as the exact binary fractions that they are."""
    exact = [Fraction(each) for each in (p.tolist() if hasattr(p, "tolist") else p)]
    if len(exact) != population:
        raise ValueError("choice: a and p must have the same size")
    if any(each < 0 for each in exact) or not any(exact):
        raise ValueError("choice: probabilities are not non-negative, or all are zero")
    if abs(float(sum(exact)) - 1) > 1e-8:
        raise ValueError("choice: probabilities do not sum to 1")
    unit = lcm(*(each.denominator for each in exact))
    return [int(each * unit) for each in exact]

