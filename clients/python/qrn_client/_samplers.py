"""Draws the values of a pure answer again from the bytes that its opening shows (docs/draws.md has the samplers)."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import count as numbers_from
from typing import Any, Callable, Dict, Iterator, List, Tuple
from uuid import UUID

from ._reading import Refused, base64_of, require, show
from .canonical import canonical_json

#: An answer with an opening has at most this many numbers.
_NUMBERS_MAX = 100_000

#: The members of `data` besides `metadata`, by endpoint. Any other member could show values that were not drawn.
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
#: The kind of a batch of bytes, which has many values; GET /v1/bytes has one.
_BYTE_STRINGS = "byte strings"
_BYTES_PARAMS = "encoding length"
#: The member that holds the values; for other endpoints it is `values`.
_PLACES = {"uuid": "uuids", "sample": "items", "weighted": "items", "shuffle": "items", "bytes": "bytes", "bitstring": "bitstring"}


def require_members(endpoint: Any, data: Any) -> None:
    """Raises Refused unless `data` has exactly the members of an answer of the endpoint that the certificate names."""
    require(endpoint in MEMBERS, f"The certificate names the endpoint {show(endpoint)}, which does not exist.")
    names = MEMBERS[endpoint].split()
    is_whole = isinstance(data, dict) and set(data) == {*names, "metadata"}
    require(is_whole, f"data must have exactly the members of an answer of {show(endpoint)}: {', '.join(names)}, metadata.")
    if endpoint != "batch":
        return
    kind, params = data["type"], data["params"]
    is_kind = kind in MEMBERS and kind not in ("batch", "shuffle", "bitstring")
    require(is_kind, f"The answer is a batch of the type {show(kind)}, which does not exist.")
    told = set(MEMBERS[kind].split()) - {"count", "version", _PLACES.get(kind, "values")}
    own = _BYTES_PARAMS.split() if kind == "bytes" else sorted(told)
    is_own = isinstance(params, dict) and set(params) == set(own)
    require(is_own, f"data.params must have exactly the members of a batch of {show(kind)}: {', '.join(own)}.")


def _drawn_as(endpoint: Any, data: Any) -> Tuple[Any, Any]:
    """Returns the endpoint and data of an answer; a batch is turned into the form of the endpoint of its type."""
    if endpoint != "batch":
        return endpoint, data
    kind = _BYTE_STRINGS if data["type"] == "bytes" else data["type"]
    return kind, {**data["params"], "count": data["count"], _PLACES.get(kind, "values"): data["values"]}


def bytes_max(answered: Any, shown: Any) -> float:
    """Returns the most bytes that an honest answer draws: four times the entropy of its values and some words more."""
    endpoint, data = _drawn_as(answered, shown)
    values = data.get(_PLACES.get(endpoint, "values"))

    def span(low: int, high: int) -> float:
        return math.log2(max(1, high - low + 1))

    if endpoint == "bytes":
        return len(values) // 2 if data["encoding"] == "hex" else len(values) * 3 // 4
    if endpoint == "bitstring":
        return -(-len(values) // 8)
    if endpoint == "uuid":
        return 16 * len(values)
    if endpoint == _BYTE_STRINGS:
        return float(len(values) * data["length"])
    if endpoint == "gaussians":
        return 64 * len(values) + 256
    bits: Dict[str, Callable[[], float]] = {
        "integers": lambda: span(data["min"], data["max"]),
        "floats": lambda: 56,
        "strings": lambda: float(data["length"] * math.log2(len(data["alphabet"]) or 1)),
        "permutations": lambda: float(data["length"] * math.log2(max(2, data["length"]))),
        "sequences": lambda: sum(size * span(*ends) for size, *ends in zip(data["length"], data["min"], data["max"])),
    }
    if endpoint not in bits:
        return 16 * len((canonical_json(values) or b"").decode())
    return float(len(values) * bits[endpoint]() / 2 + 256)


class Exhausted(Exception):
    """The drawn bytes are used up."""


def require_values_follow(endpoint: Any, shown: Any, drawn: bytes) -> str:
    """Draws the values again from the bytes and compares them. Raises Refused unless they are equal and less than a piece is left.

    Returns the finding in a sentence.
    """
    kind, data = _drawn_as(endpoint, shown)
    draws = Draws(drawn)
    draw = getattr(draws, f"draw_{str(kind).replace(' ', '_')}", None)
    if draw is None:
        rest = f"an answer of {show(endpoint)} does not hold everything that its values were drawn with."
        return f"The answer opens the bytes that the lots committed to. Whether its values follow from them was not checked: {rest}"
    told, wrong = data[_PLACES.get(kind, "values")], Refused("The values do not follow from the bytes that were drawn.")
    if not _may_be_drawn(kind, data, told):
        raise wrong
    try:
        again = canonical_json(draw(data))
    except Exhausted:
        raise Refused("The opening holds fewer bytes than the values take.") from None
    if again is None or again != canonical_json(told):
        raise wrong
    require(len(drawn) - draws.used < 16, "The opening holds more bytes than the values take.")
    return "The values follow from bytes that the lots committed to."


def _may_be_drawn(kind: str, data: Any, told: Any) -> bool:
    """Returns whether the service accepts such parameters and the number of values fits them. Others could keep a checker busy forever."""
    length, count = data.get("length", 1), data.get("count", 1)
    lengths = length if isinstance(length, list) else [length]
    sizes = [count, *lengths]
    if not all(type(each) is int and 1 <= each <= _NUMBERS_MAX for each in sizes) or count * sum(lengths) > _NUMBERS_MAX:
        return False
    if isinstance(told, list) and len(told) != count:
        return False
    sizes_max = {"strings": 128, "bytes": 1_024, _BYTE_STRINGS: 1_024, "permutations": 10_000}
    if (count if kind == "bytes" else max(lengths)) > sizes_max.get(kind, _NUMBERS_MAX):
        return False
    ends = [each for name in ("min", "max") for each in ([data[name]] if kind == "integers" else data.get(name, []))]
    if not all(type(each) is int and abs(each) < 2**53 for each in ends):
        return False
    is_sorted = data.get("sort", "none") in ("none", "ascending", "descending") and type(data.get("unique", False)) is bool
    is_printed = data.get("encoding", "hex") in ("hex", "base64")
    digits, precision, alphabet = data.get("digits", 2), data.get("precision"), data.get("alphabet", "ab")
    is_precise = type(digits) is int and 2 <= digits <= 14 and (precision is None or type(precision) is int and 1 <= precision <= 15)
    is_normal = abs(data.get("mean", 0)) <= 10**6 and 1e-9 <= data.get("stddev", 1) <= 10**6
    return is_sorted and is_printed and is_precise and is_normal and 0 < len(set(alphabet)) == len(alphabet)


class Draws:
    """The samplers over these bytes. There is a method for each kind of answer that contains all parameters of its draw."""

    def __init__(self, drawn: bytes) -> None:
        self._drawn = drawn
        self.used = 0

    def _take(self, size: int) -> bytes:
        if self.used + size > len(self._drawn):
            raise Exhausted
        self.used += size
        return self._drawn[self.used - size : self.used]

    def _word(self, size: int) -> int:
        return int.from_bytes(self._take(size), "little")

    def _scaled(self, bound: int) -> int:
        """Returns a 32-bit word scaled to [0, bound). Draws again while the fraction is below 2^32 mod bound."""
        while True:
            whole, fraction = divmod(self._word(4) * bound, 2**32)
            if fraction >= 2**32 % bound:
                return whole

    def _below(self, span: int, count: int) -> List[int]:
        """Returns `count` whole numbers from 0 to span - 1."""
        if span == 1:
            return [0] * count
        if span > 2**21:
            return [self._wide(span) for _ in range(count)]
        # as many values from one word as give the most values a drawn word; of several such numbers the smallest
        fitting = [size for size in range(1, 33) if span**size <= 2**32]
        batch = max(fitting, key=lambda size: (size * (2**32 - 2**32 % span**size), -size))
        found: List[int] = []
        while len(found) < count:
            size = min(batch, count - len(found))
            number = self._scaled(span**size)
            found += [number // span**i % span for i in reversed(range(size))]
        return found

    def _wide(self, span: int) -> int:
        """Returns a number from a word of the size that costs the fewest bytes on average. A word of seven bytes has 53 bits."""
        words: Dict[int, int] = {size: 1 << min(8 * size, 53) for size in (4, 5, 6, 7)}
        fitting = [size for size in words if words[size] >= span]
        size = min(fitting, key=lambda each: (Fraction(each * words[each], words[each] - words[each] % span), each))
        if size == 4:
            return self._scaled(span)
        while True:
            word = self._word(size) % words[size]
            if word < words[size] // span * span:
                return word % span

    def _distinct(self, span: int, count: int) -> List[int]:
        if span > 4 * count:
            found: Dict[int, None] = {}
            while len(found) < count:
                found.update(dict.fromkeys(self._below(span, count - len(found))))
            return list(found)
        # the first steps of a Fisher-Yates shuffle; as many indices as fit come from one word
        order, i = list(range(span)), 0
        while i < count:
            bounds = [span - i]
            while i + len(bounds) < count and math.prod(bounds) * (span - i - len(bounds)) <= 2**28:
                bounds.append(span - i - len(bounds))
            place = math.prod(bounds)
            number = self._scaled(place)
            for bound in bounds:
                place //= bound
                step, number = divmod(number, place)
                order[i], order[i + step] = order[i + step], order[i]
                i += 1
        return order[:count]

    def _row(self, low: int, high: int, count: int, unique: bool, sort: str) -> List[int]:
        span = high - low + 1
        if not (count if unique else 1) <= span <= 2**53:
            raise ValueError("no such range")
        drawn = [low + each for each in (self._distinct if unique else self._below)(span, count)]
        return drawn if sort == "none" else sorted(drawn, reverse=sort == "descending")

    def draw_integers(self, data: Any) -> List[int]:
        return self._row(data["min"], data["max"], data["count"], data["unique"], data["sort"])

    def draw_sequences(self, data: Any) -> List[List[List[int]]]:
        rows = list(zip(data["min"], data["max"], data["length"]))
        if not len(data["min"]) == len(data["max"]) == len(data["length"]):
            raise ValueError("lists of different lengths")
        return [[self._row(*row, data["unique"], data["sort"]) for row in rows] for _ in range(data["count"])]

    def draw_floats(self, data: Any) -> List[float]:
        precision = data["precision"]
        if precision is None:
            return [self._word(7) % 2**53 / 2**53 for _ in range(data["count"])]
        return [float(f"{each}e-{precision}") for each in self._below(10**precision, data["count"])]

    def draw_uuid(self, data: Any) -> List[str]:
        return [str(UUID(bytes=self._take(16), version=4)) for _ in range(data["count"])]

    def draw_strings(self, data: Any) -> List[str]:
        length, alphabet = data["length"], data["alphabet"]
        drawn = [alphabet[each] for each in self._below(len(alphabet), data["count"] * length)]
        return ["".join(drawn[i : i + length]) for i in range(0, len(drawn), length)]

    def draw_permutations(self, data: Any) -> List[List[int]]:
        return [self._distinct(data["length"], data["length"]) for _ in range(data["count"])]

    def draw_bytes(self, data: Any) -> str:
        own = self._take(data["count"])
        return own.hex() if data["encoding"] == "hex" else base64_of(own)

    def draw_byte_strings(self, data: Any) -> List[str]:
        one = {"count": data["length"], "encoding": data["encoding"]}
        return [self.draw_bytes(one) for _ in range(data["count"])]

    def draw_bitstring(self, data: Any) -> str:
        return "".join(f"{octet:08b}" for octet in self._take(-(-data["length"] // 8)))[: data["length"]]

    def draw_gaussians(self, data: Any) -> List[float]:
        mean, stddev, bits = Fraction(repr(data["mean"])), Fraction(repr(data["stddev"])), self._bits()
        return [_gaussian(bits, mean, stddev, data["digits"]) for _ in range(data["count"])]

    def _bits(self) -> Iterator[int]:
        """Yields the bits of words of four bytes, the lowest bit of each word first."""
        while True:
            word = self._word(4)
            yield from (word >> i & 1 for i in range(32))


def _gaussian(bits: Iterator[int], mean: Fraction, stddev: Fraction, digits: int) -> float:
    """Returns a normal value, exactly rounded to `digits` digits.

    Karney, "Sampling exactly from the normal distribution", ACM TOMS 42:1 (2016), algorithm N. A list holds the bits of a number in
    (0, 1) that are drawn so far.
    """

    def bit(number: List[int], i: int) -> int:
        while len(number) <= i:
            number.append(next(bits))
        return number[i]

    def is_less(one: List[int], other: List[int]) -> bool:
        i = next(i for i in numbers_from() if bit(one, i) != bit(other, i))
        return one[i] < other[i]

    def half() -> bool:
        last: List[int] = []
        if bit(last, 0) == 1:
            return True
        for row in numbers_from(1):
            following: List[int] = []
            if not is_less(following, last):
                return row % 2 == 0
            last = following
        raise AssertionError

    def dice(sides: int) -> int:
        v, c = 1, 0
        while True:
            v, c = 2 * v, 2 * c + next(bits)
            if v >= sides:
                if c < sides:
                    return c
                v, c = v - sides, c - sides

    def part(k: int, x: List[int]) -> bool:
        last = x
        for row in numbers_from():
            following: List[int] = []
            if not is_less(following, last):
                return row % 2 == 0
            side = dice(2 * k + 2)
            if side == 0 or (side == 1 and not is_less([], x)):
                return row % 2 == 0
            last = following
        raise AssertionError

    while True:
        k = 0
        while half():
            k += 1
        if not all(half() for _ in range(k * (k - 1))):
            continue
        x: List[int] = []
        if all(part(k, x) for _ in range(k + 1)):
            break
    sign, spacing = -1 if next(bits) else 1, Fraction(10) ** (_place(abs(mean) + stddev) - digits + 1)
    known = max(len(x), next(i for i in numbers_from() if spacing >= 16 * stddev / 2**i))
    while True:
        below = sum(bit(x, i) << known - 1 - i for i in range(known))
        ends = [mean + sign * stddev * (k + Fraction(below + i, 2**known)) for i in (0, 1)]
        if min(ends) > 0 or max(ends) < 0:
            one, other = (_rounded(each, digits) for each in ends)
            if one == other:
                return float(one)
        known += 4


def _place(value: Fraction) -> int:
    """Returns the decimal place of the first digit: 0 for 1 to 9.99…"""
    place = 0
    while value >= Fraction(10) ** (place + 1):
        place += 1
    while value < Fraction(10) ** place:
        place -= 1
    return place


def _rounded(value: Fraction, digits: int) -> Fraction:
    """Returns the nearest decimal with that many significant digits, halves rounded away from zero."""
    unit = Fraction(10) ** (_place(abs(value)) - digits + 1)
    nearest = (2 * abs(value) // unit + 1) // 2 * unit
    return nearest if value > 0 else -nearest
