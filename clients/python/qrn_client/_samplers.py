"""Draws the values of a pure answer again from the bytes that its opening shows (docs/draws.md has the samplers)."""

from __future__ import annotations

import base64
import math
from fractions import Fraction
from functools import reduce
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple
from uuid import UUID

from ._members import MISSING, member, show, text
from .canonical import canonical_json

_WORDS = 2**32
#: An answer that is opened holds no more.
_NUMBERS_MAX, _BITS_MAX = 100_000, 100_000


class Exhausted(Exception):
    """No byte is left."""


class ByteStream:
    """Bytes in order; whole numbers little-endian."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.used = 0

    def take(self, size: int) -> bytes:
        if self.used + size > len(self._data):
            raise Exhausted
        self.used += size
        return self._data[self.used - size : self.used]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")


def values_of(endpoint: Any, data: Any) -> Optional[Tuple[str, Callable[[ByteStream], Any]]]:
    """The member of `data` that holds the values, and how they are drawn; None for answers that do not say all of it.

    What is drawn is None for members that nothing can be drawn with.
    """
    kind, shown = _drawn_as(endpoint, data)
    found = _KINDS.get(kind) if isinstance(kind, str) else None
    if found is None:
        return None
    name, draw, is_list = found

    def drawn(stream: ByteStream) -> Any:
        told, count = member(shown, name), member(shown, "count")
        # values that take no entropy would be counted to any number
        if is_list and not (isinstance(told, list) and len(told) == count and 1 <= count <= _NUMBERS_MAX):
            return None
        return draw(shown, stream)

    return "values" if endpoint == "batch" else name, drawn


def _drawn_as(endpoint: Any, data: Any) -> Tuple[Any, Any]:
    """A batch as an answer of the endpoint of its type has it: what it was drawn with stands beside its count and values."""
    if endpoint != "batch":
        return endpoint, data
    kind, params = member(data, "type"), member(data, "params")
    name = {"uuid": "uuids", "sample": "items", "weighted": "items"}.get(kind, "values") if isinstance(kind, str) else "values"
    own = params if isinstance(params, dict) else {}
    return _BYTE_STRINGS if kind == "bytes" else kind, {**own, "count": member(data, "count"), name: member(data, "values")}


#: What `data` has beside `metadata`; a member of another kind of answer would show what was not drawn.
MEMBERS: Dict[str, str] = {
    "integers": "count max min sort unique values",
    "bytes": "bits bytes count encoding",
    "floats": "count precision values",
    "uuid": "count uuids version",
    "bitstring": "bitstring length",
    "shuffle": "count items",
    "batch": "count params type values",
    "sample": "count items list_sha256 of",
    "weighted": "count items list_sha256 weights",
    "strings": "alphabet count length values",
    "sequences": "count length max min sort unique values",
    "permutations": "count length values",
    "gaussians": "count digits mean stddev values",
}

#: What `params` of a batch has, by its type.
PARAMS: Dict[str, str] = {
    "integers": "max min sort unique",
    "floats": "precision",
    "bytes": "encoding length",
    "uuid": "",
    "sample": "list_sha256 of",
    "weighted": "list_sha256 weights",
    "strings": "alphabet length",
    "sequences": "length max min sort unique",
    "permutations": "length",
    "gaussians": "digits mean stddev",
}


def data_flaw(endpoint: Any, data: Any) -> Optional[str]:
    """Why `data` is not that of an answer of the endpoint that the certificate names."""
    names = MEMBERS.get(endpoint) if isinstance(endpoint, str) else None
    if names is None:
        return f"There is no endpoint {show(endpoint)}."
    if not isinstance(data, dict) or set(data) != {*names.split(), "metadata"}:
        return f"The members of data are not those of an answer of {show(endpoint)}: {', '.join(names.split())}."
    if endpoint != "batch":
        return None
    kind, params = data["type"], data["params"]
    own = PARAMS.get(kind) if isinstance(kind, str) else None
    if own is None:
        return f"A batch has no type {show(kind)}."
    if isinstance(params, dict) and set(params) == set(own.split()):
        return None
    return f"The members of params are not those of a batch of {show(kind)}: {', '.join(own.split())}."


def bytes_max(answered: Any, shown: Any) -> float:
    """Bytes that an honest answer draws at most: four times the entropy of its values, and some words more."""
    endpoint, data = _drawn_as(answered, shown)

    def size(name: str) -> int:
        told = member(data, name)
        return len(told) if isinstance(told, (list, str)) else 0

    def number(name: str) -> int:
        told = member(data, name)
        return told if _is_whole(told, 0) else 0

    def span(low: Any, high: Any) -> float:
        return math.log2(max(1, high - low + 1)) if _is_whole(low, -(2**53)) and _is_whole(high, -(2**53)) else 0

    def of_bits(bits: float) -> float:
        return bits / 2 + 256

    values = size("values")
    if endpoint == "bytes":
        return size("bytes") // 2 if member(data, "encoding") == "hex" else size("bytes") * 3 // 4
    if endpoint == "bitstring":
        return -(-size("bitstring") // 8)
    if endpoint == "uuid":
        return 16 * size("uuids")
    if endpoint == _BYTE_STRINGS:
        return values * number("length")
    if endpoint == "integers":
        return of_bits(values * span(member(data, "min"), member(data, "max")))
    if endpoint == "floats":
        return of_bits(values * 56)
    if endpoint == "strings":
        return of_bits(values * number("length") * math.log2(size("alphabet") or 1))
    if endpoint == "permutations":
        return of_bits(values * number("length") * math.log2(max(2, number("length"))))
    if endpoint == "sequences":
        lists = [member(data, name) for name in ("length", "min", "max")]
        rows = list(zip(*lists)) if all(isinstance(each, list) for each in lists) else []
        return of_bits(values * sum(count * span(low, high) for count, low, high in rows if _is_whole(count, 0)))
    if endpoint == "gaussians":
        return 64 * values + 256
    told = member(data, "items" if member(data, "values") is MISSING else "values")
    return 16 * len((canonical_json(told) or b"").decode())


def _integers(data: Any, stream: ByteStream) -> Optional[List[int]]:
    low, high, count = member(data, "min"), member(data, "max"), member(data, "count")
    return _range(low, high, count, member(data, "unique"), member(data, "sort"), stream)


def _range(low: Any, high: Any, count: Any, unique: Any, sort: Any, stream: ByteStream) -> Optional[List[int]]:
    is_whole = _is_whole(low, -(2**53) + 1) and _is_whole(high, -(2**53) + 1) and _is_whole(count, 1, _NUMBERS_MAX)
    if not is_whole or not isinstance(unique, bool) or not 0 <= high - low < 2**53:
        return None
    span = high - low + 1
    if unique and span < count:
        return None
    if sort not in ("none", "ascending", "descending"):
        return None
    drawn = [low + each for each in (_unique(span, count, stream) if unique else _offsets(span, count, stream))]
    return drawn if sort == "none" else sorted(drawn, reverse=sort == "descending")


def _floats(data: Any, stream: ByteStream) -> Optional[List[float]]:
    count, precision = member(data, "count"), member(data, "precision")
    if precision is None:
        return [stream.number(7) % 2**53 / 2**53 for _ in range(count)]
    if not _is_whole(precision, 1, 15):
        return None
    return [float(f"{each}e-{precision}") for each in _offsets(10**precision, count, stream)]


def _uuids(data: Any, stream: ByteStream) -> List[str]:
    return [str(UUID(bytes=stream.take(16), version=4)) for _ in range(member(data, "count"))]


def _strings(data: Any, stream: ByteStream) -> Optional[List[str]]:
    count, length, alphabet = member(data, "count"), member(data, "length"), text(member(data, "alphabet"))
    if not alphabet or not _is_whole(length, 1, 128) or count * length > _NUMBERS_MAX:
        return None
    if len(set(alphabet)) < len(alphabet):
        return None
    drawn = [alphabet[each] for each in _offsets(len(alphabet), count * length, stream)]
    return ["".join(drawn[i * length : (i + 1) * length]) for i in range(count)]


def _sequences(data: Any, stream: ByteStream) -> Optional[List[List[List[int]]]]:
    lengths, lows, highs = (member(data, name) for name in ("length", "min", "max"))
    if not all(isinstance(each, list) and each for each in (lengths, lows, highs)):
        return None
    if not len(lengths) == len(lows) == len(highs):
        return None
    if not all(_is_whole(each, 1, _NUMBERS_MAX) for each in lengths):
        return None
    if member(data, "count") * sum(lengths) > _NUMBERS_MAX:
        return None
    unique, sort, drawn = member(data, "unique"), member(data, "sort"), []
    for _ in range(member(data, "count")):
        rows = [_range(low, high, length, unique, sort, stream) for length, low, high in zip(lengths, lows, highs)]
        if any(row is None for row in rows):
            return None
        drawn.append([row for row in rows if row is not None])
    return drawn


def _permutations(data: Any, stream: ByteStream) -> Optional[List[List[int]]]:
    count, length = member(data, "count"), member(data, "length")
    if not _is_whole(length, 1, 10_000) or count * length > _NUMBERS_MAX:
        return None
    return [_unique(length, length, stream) for _ in range(count)]


def _gaussians(data: Any, stream: ByteStream) -> Optional[List[float]]:
    mean, stddev, digits = (member(data, name) for name in ("mean", "stddev", "digits"))
    if not _is_whole(digits, 2, 14) or not all(_is_number(each) for each in (mean, stddev)):
        return None
    if not (abs(mean) <= 10**6 and 1e-9 <= stddev <= 10**6):
        return None
    bits = _Bits(stream)
    exact = Fraction(repr(mean)), Fraction(repr(stddev))
    return [_gaussian(exact[0], exact[1], digits, bits) for _ in range(member(data, "count"))]


def _bytes(data: Any, stream: ByteStream) -> Optional[str]:
    count, encoding = member(data, "count"), member(data, "encoding")
    if not _is_whole(count, 1, 1_024) or encoding not in ("hex", "base64"):
        return None
    octets = stream.take(count)
    return octets.hex() if encoding == "hex" else base64.b64encode(octets).decode()


def _byte_strings(data: Any, stream: ByteStream) -> Optional[List[str]]:
    count, length, encoding = member(data, "count"), member(data, "length"), member(data, "encoding")
    if not _is_whole(length, 1, 1_024) or count * length > _NUMBERS_MAX or encoding not in ("hex", "base64"):
        return None
    drawn = [stream.take(length) for _ in range(count)]
    return [each.hex() if encoding == "hex" else base64.b64encode(each).decode() for each in drawn]


def _bitstring(data: Any, stream: ByteStream) -> Optional[str]:
    length = member(data, "length")
    if not _is_whole(length, 1, _BITS_MAX):
        return None
    return "".join(f"{octet:08b}" for octet in stream.take(-(-length // 8)))[:length]


#: The values of a batch of bytes; GET /v1/bytes has one.
_BYTE_STRINGS = "byte strings"

_KINDS: Dict[str, Tuple[str, Callable[[Any, ByteStream], Any], bool]] = {
    _BYTE_STRINGS: ("values", _byte_strings, True),
    "integers": ("values", _integers, True),
    "floats": ("values", _floats, True),
    "uuid": ("uuids", _uuids, True),
    "strings": ("values", _strings, True),
    "sequences": ("values", _sequences, True),
    "permutations": ("values", _permutations, True),
    "gaussians": ("values", _gaussians, True),
    "bytes": ("bytes", _bytes, False),
    "bitstring": ("bitstring", _bitstring, False),
}


def _is_whole(value: Any, least: int, most: int = 2**53 - 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def _scaled(bound: int, stream: ByteStream) -> int:
    """A 32-bit word scaled to [0, bound); words of which the fraction is below 2^32 mod bound are drawn again."""
    while True:
        scaled = stream.number(4) * bound
        if scaled % _WORDS >= _WORDS % bound:
            return scaled // _WORDS


def _batch_size(span: int) -> int:
    """How many values come from one word: what makes the most values an accepted word, the smaller of equals."""
    best, most, size = 1, -1, 1
    while span**size <= _WORDS:
        yielded = size * (_WORDS - _WORDS % span**size)
        if yielded > most:
            best, most = size, yielded
        size += 1
    return best


def _offsets(span: int, count: int, stream: ByteStream) -> List[int]:
    """`count` whole numbers from 0 to span - 1."""
    if span == 1:
        return [0] * count
    if span > 2**21:
        return [_wide(span, stream) for _ in range(count)]
    batch, values = _batch_size(span), []
    while len(values) < count:
        size = min(batch, count - len(values))
        number, digits = _scaled(span**size, stream), []
        for _ in range(size):
            number, digit = divmod(number, span)
            digits.append(digit)
        values += reversed(digits)
    return values


def _wide(span: int, stream: ByteStream) -> int:
    """From a word of the size that costs the fewest bytes an accepted word; one of seven bytes has 53 bits."""
    counts = {4: _WORDS, 5: 256**5, 6: 256**6, 7: 2**53}
    fit = [(Fraction(size * words, words - words % span), size) for size, words in counts.items() if words >= span]
    size = min(fit)[1]
    if size == 4:
        return _scaled(span, stream)
    words = counts[size]
    while True:
        word = stream.number(size) % words
        if word < words // span * span:
            return word % span


def _unique(span: int, count: int, stream: ByteStream) -> List[int]:
    if span <= 4 * count:
        return _shuffled(list(range(span)), count, stream)[:count]
    taken: Dict[int, None] = {}
    while len(taken) < count:
        taken.update(dict.fromkeys(_offsets(span, count - len(taken), stream)))
    return list(taken)


def _shuffled(order: List[int], steps: int, stream: ByteStream) -> List[int]:
    """The first steps of a Fisher-Yates shuffle. As many indices as fit come from one word."""
    i = 0
    while i < steps:
        bounds = [len(order) - i]
        while i + len(bounds) < steps:
            following = len(order) - i - len(bounds)
            if _product(bounds) * following > 2**28:
                break
            bounds.append(following)
        place = _product(bounds)
        number = _scaled(place, stream)
        for bound in bounds:
            place //= bound
            step, number = divmod(number, place)
            order[i], order[i + step] = order[i + step], order[i]
            i += 1
    return order


def _product(factors: Sequence[int]) -> int:
    return reduce(lambda a, b: a * b, factors, 1)


# Karney, "Sampling exactly from the normal distribution", ACM TOMS 42:1 (2016), algorithm N.


class _Bits:
    """The bits of words of four bytes, the lowest of each first."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._word: List[int] = []

    def next(self) -> int:
        if not self._word:
            number = self._stream.number(4)
            self._word = [number >> i & 1 for i in reversed(range(32))]
        return self._word.pop()


class _Lazy:
    """Bits of a number in (0, 1), drawn as far as somebody asks."""

    def __init__(self, bits: _Bits) -> None:
        self._bits = bits
        self.known: List[int] = []

    def bit(self, i: int) -> int:
        while len(self.known) <= i:
            self.known.append(self._bits.next())
        return self.known[i]

    def is_below(self, other: "_Lazy") -> bool:
        i = 0
        while self.bit(i) == other.bit(i):
            i += 1
        return self.bit(i) < other.bit(i)


def _gaussian(mean: Fraction, stddev: Fraction, digits: int, bits: _Bits) -> float:
    while True:
        k = 0
        while _half(bits):
            k += 1
        if not all(_half(bits) for _ in range(k * (k - 1))):
            continue
        x = _Lazy(bits)
        if all(_part(k, x, bits) for _ in range(k + 1)):
            return _rounded(mean, stddev, digits, k, x, bits.next() == 1)


def _half(bits: _Bits) -> bool:
    first = _Lazy(bits)
    if first.bit(0) == 1:
        return True
    row, last, z = 1, first, _Lazy(bits)
    while z.is_below(last):
        row, last, z = row + 1, z, _Lazy(bits)
    return row % 2 == 0


def _part(k: int, x: _Lazy, bits: _Bits) -> bool:
    row, last, z = 0, x, _Lazy(bits)
    while z.is_below(last):
        side = _dice(2 * k + 2, bits)
        if side == 0 or (side == 1 and not _Lazy(bits).is_below(x)):
            break
        row, last, z = row + 1, z, _Lazy(bits)
    return row % 2 == 0


def _dice(sides: int, bits: _Bits) -> int:
    v, c = 1, 0
    while True:
        v, c = 2 * v, 2 * c + bits.next()
        if v >= sides:
            if c < sides:
                return c
            v, c = v - sides, c - sides


def _rounded(mean: Fraction, stddev: Fraction, digits: int, k: int, x: _Lazy, is_negative: bool) -> float:
    spacing, first = _place(abs(mean) + stddev) - digits + 1, 0
    while Fraction(10) ** spacing < 16 * stddev / 2**first:
        first += 1
    known = max(first, len(x.known))
    while True:
        fraction = 0
        for i in range(known):
            fraction = 2 * fraction + x.bit(i)
        sign = -1 if is_negative else 1
        ends = [mean + sign * stddev * (k + Fraction(each, 2**known)) for each in (fraction, fraction + 1)]
        if all(each > 0 for each in ends) or all(each < 0 for each in ends):
            rounded = [_decimal(each, digits) for each in ends]
            if rounded[0] == rounded[1]:
                return float(rounded[0])
        known += 4


def _place(value: Fraction) -> int:
    """The place of the first digit: 0 for 1 to 9.99…"""
    place = 0
    while value >= Fraction(10) ** (place + 1):
        place += 1
    while value < Fraction(10) ** place:
        place -= 1
    return place


def _decimal(value: Fraction, digits: int) -> str:
    """The nearest decimal of so many significant digits."""
    exponent = _place(abs(value)) - digits + 1
    whole = (2 * abs(value) // Fraction(10) ** exponent + 1) // 2
    sign = "-" if value < 0 else ""
    # 99.96 has three digits as 100: written as the same number whichever place its first digit had
    return f"{sign}{whole // 10}e{exponent + 1}" if whole == 10**digits else f"{sign}{whole}e{exponent}"
