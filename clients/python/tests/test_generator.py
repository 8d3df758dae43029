"""`Generator` over known bytes. The bytes are the same each time, so no test of a distribution fails by chance."""

from __future__ import annotations

import math
import random
import unittest
from collections import Counter
from fractions import Fraction
from itertools import permutations

from known_bytes import KnownBytes
from qrn_client import Generator, _normal

try:
    import numpy as np
except ImportError:
    np = None  # type: ignore[assignment]

needs_numpy = unittest.skipIf(np is None, "numpy is not installed")


def chi_square(counts: "Counter", expected: "dict") -> float:
    return sum((counts[value] - mean) ** 2 / mean for value, mean in expected.items())


@needs_numpy
class Integers(unittest.TestCase):
    def setUp(self) -> None:
        self.generator = Generator(KnownBytes(3))

    def test_has_the_shapes_types_and_bounds_of_numpy(self) -> None:
        draw = self.generator.integers
        self.assertEqual(draw(10, size=(2, 3)).shape, (2, 3))
        self.assertEqual(draw(10, size=0).shape, (0,))
        self.assertIsInstance(draw(10), np.integer)
        for kind in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
            info = np.iinfo(kind)
            values = draw(info.min, info.max, size=2_000, dtype=kind, endpoint=True)
            self.assertEqual(values.dtype, np.dtype(kind))
            self.assertLess(values.min(), info.min + (int(info.max) - int(info.min)) / 100)
            self.assertGreater(values.max(), info.max - (int(info.max) - int(info.min)) / 100)
        self.assertEqual(set(draw(2, size=99, dtype=bool).tolist()), {False, True})
        self.assertEqual(draw(-5, -4, size=3).tolist(), [-5, -5, -5])
        values = draw([0, 100], [10, 110], size=(50, 2))
        self.assertTrue((values // 10 == [0, 10]).all())

    def test_refuses_what_numpy_refuses(self) -> None:
        draw = self.generator.integers
        for low, high, options in ((5, 5, {}), (6, 5, {"endpoint": True}), (0, 300, {"dtype": "uint8"}), (0.5, 3, {})):
            with self.assertRaises(ValueError):
                draw(low, high, **options)
        with self.assertRaises(TypeError):
            draw(5, dtype="float64")

    def test_is_uniform_whatever_the_span(self) -> None:
        for span in (2, 3, 6, 100, 256, 257):
            values = self.generator.integers(span, size=100 * span)
            found = chi_square(Counter(values.tolist()), dict.fromkeys(range(span), 100))
            self.assertLess(found, span - 1 + 4.5 * math.sqrt(2 * span) + 6, span)

    def test_rejects_exactly_the_words_that_would_favour_some_values(self) -> None:
        # For a span of 6, 252 of the 256 one-byte words are kept; the four others come first.
        stream = bytes((252, 253, 254, 255)) * 10 + bytes(range(252)) * 8
        generator = Generator(KnownBytes(stream=stream), block_bytes=512)
        values = generator._below(6, 252)
        self.assertEqual(Counter(values.tolist()), Counter({value: 42 for value in range(6)}))


@needs_numpy
class Floats(unittest.TestCase):
    def test_are_multiples_of_a_power_of_two_below_1(self) -> None:
        generator = Generator(KnownBytes(4))
        values = generator.random(10_000)
        self.assertTrue(((values * 2.0**53) % 1 == 0).all() and (values >= 0).all() and (values < 1).all())
        self.assertLess(abs(values.mean() - 0.5), 0.01)
        singles = generator.random((10, 10), dtype="float32")
        self.assertEqual((singles.dtype, singles.shape), (np.float32, (10, 10)))
        out = np.zeros(5)
        self.assertIs(generator.random(out=out), out)
        self.assertTrue(out.all())
        self.assertIsInstance(generator.random(), float)
        edges = Generator(KnownBytes(stream=b"\xff" * 8 + bytes(1_016)), block_bytes=1_024).random(2)
        self.assertEqual(edges.tolist(), [1 - 2.0**-53, 0.0])


@needs_numpy
class Normals(unittest.TestCase):
    def test_have_the_normal_distribution(self) -> None:
        count = 200_000
        values = np.sort(Generator(KnownBytes(5)).normal(size=count))
        expected = np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in values])
        ranks = np.arange(count)
        distance = max(np.abs(expected - ranks / count).max(), np.abs(expected - (ranks + 1) / count).max())
        self.assertLess(distance * math.sqrt(count), 1.95)  # Kolmogorov and Smirnov at 0.001
        self.assertGreater(np.abs(values).max(), 4)

    def test_take_mean_deviation_and_shape(self) -> None:
        generator = Generator(KnownBytes(6))
        values = generator.normal(10, 2, (100, 200))
        self.assertEqual(values.shape, (100, 200))
        self.assertLess(abs(values.mean() - 10), 0.05)
        self.assertLess(abs(values.std() - 2), 0.05)
        self.assertIsInstance(generator.normal(), float)
        self.assertEqual(generator.normal([0, 1000]).shape, (2,))
        with self.assertRaises(ValueError):
            generator.normal(scale=-1)

    def test_decide_in_doubles_as_in_exact_arithmetic(self) -> None:
        words = bytearray(random.Random(7).getrandbits(8 * 16 * 500).to_bytes(16 * 500, "little"))

        def taking():
            later = random.Random(8)
            first = [words]
            return lambda count: bytearray(
                first.pop() if first else later.getrandbits(8 * count).to_bytes(count, "little")
            )

        fast = _normal._from_candidates(taking(), 500)
        margin, _normal._MARGIN = _normal._MARGIN, 2.0  # with this margin no decision is clear
        try:
            exact = _normal._from_candidates(taking(), 500)
        finally:
            _normal._MARGIN = margin
        self.assertEqual(fast.tolist(), exact.tolist())
        self.assertGreater(len(fast), 300)

    def test_take_more_bits_where_the_first_do_not_decide(self) -> None:
        # A coin that equals the first 32 bits of exp(-x (2k + x) / 2): both decisions must occur.
        x_bits = 3 << 62
        coin = int(math.exp(-0.5 * 0.75 * 0.75) * 2**32)
        found = {_normal._exact(_bits(seed), 0, x_bits, coin) is None for seed in range(40)}
        self.assertEqual(found, {False, True})
        # A word for k at the exact end of a share: both values of k must occur.
        end = _normal._k_ends()[0]
        ks = {_normal._decided_k(_bits(seed), _normal._Uniform(end, 31)) for seed in range(40)}
        self.assertEqual(ks, {0, 1})

    def test_round_a_small_value_from_as_many_bits_as_it_needs(self) -> None:
        value = _normal._exact(lambda count: bytearray(b"\xff" * count), 0, 1, 0)
        self.assertEqual(value, 2.0**-63)  # 1.111… units of 2**-64, rounded
        low = _normal._exact(lambda count: bytearray(count), 1, 1, 0)
        self.assertEqual(low, -(2.0**-64))

    def test_have_the_shares_of_whole_parts_that_they_should_have(self) -> None:
        weights = [math.exp(-k * k / 2) for k in range(40)]
        shares = [end / 2**31 for end in _normal._k_ends()]
        for k, share in enumerate(shares[:-1]):
            self.assertAlmostEqual(share, sum(weights[: k + 1]) / sum(weights), delta=2.0**-30)


def _bits(seed: int):
    source = random.Random(seed)
    return lambda count: bytearray(source.getrandbits(8 * count).to_bytes(count, "little"))


@needs_numpy
class Choices(unittest.TestCase):
    def setUp(self) -> None:
        self.generator = Generator(KnownBytes(9))

    def test_take_from_a_range_a_list_and_an_axis(self) -> None:
        choice = self.generator.choice
        self.assertIn(choice(5), range(5))
        self.assertIs(type(choice(5)), int, "as of numpy: it can be written as JSON")
        self.assertIs(type(self.generator.random()), float)
        self.assertIs(type(self.generator.normal()), float)
        self.assertIn(choice(["a", "b"]), ("a", "b"))
        self.assertEqual(choice(10, (2, 3)).shape, (2, 3))
        table = np.arange(12).reshape(3, 4)
        self.assertEqual(choice(table, 2, axis=1).shape, (3, 2))
        with self.assertRaises(ValueError):
            choice([])

    def test_without_replacement_give_each_ordered_sample_equally_often(self) -> None:
        for population, count in ((4, 2), (12, 2)):  # one for `_order`, one for `_few`
            orders = list(permutations(range(population), count))
            draws = 60 * len(orders)
            found = Counter(tuple(self.generator.choice(population, count, replace=False).tolist()) for _ in range(draws))
            self.assertLess(chi_square(found, dict.fromkeys(orders, 60)), len(orders) + 4.5 * math.sqrt(2 * len(orders)))
        with self.assertRaises(ValueError):
            self.generator.choice(3, 4, replace=False)

    def test_with_weights_are_as_likely_as_the_weights_say(self) -> None:
        p = [0.0, 0.1, 0.2, 0.0, 0.7]
        found = Counter(self.generator.choice(5, 20_000, p=p).tolist())
        self.assertEqual(found[0] + found[3], 0)
        self.assertLess(chi_square(found, {i: 20_000 * share for i, share in enumerate(p) if share > 0}), 13.9)
        tiny = [2.0**-1_000, 1 - 2.0**-53]  # weights whose sum is far above 2**64 units
        self.assertEqual(set(self.generator.choice(2, 50, p=tiny).tolist()), {1})
        with self.assertRaises(ValueError):
            self.generator.choice(2, p=[0.5, 0.6])
        with self.assertRaises(ValueError):
            self.generator.choice(2, p=[1.5, -0.5])

    def test_with_weights_take_the_exact_fractions(self) -> None:
        from qrn_client.generator import _exact_weights

        weights = _exact_weights([0.1, 0.2, 0.7], 3)
        self.assertEqual([Fraction(weight, sum(weights)) * (Fraction(0.1) + Fraction(0.2) + Fraction(0.7)) for weight in weights], [Fraction(0.1), Fraction(0.2), Fraction(0.7)])

    def test_with_weights_and_without_replacement_follow_the_order_of_drawing(self) -> None:
        found = Counter(tuple(self.generator.choice(3, 2, replace=False, p=[0.5, 0.25, 0.25]).tolist()) for _ in range(4_000))
        p = {0: 0.5, 1: 0.25, 2: 0.25}
        expected = {(a, b): 4_000 * p[a] * p[b] / (1 - p[a]) for a, b in permutations(range(3), 2)}
        self.assertLess(chi_square(found, expected), 20.6)


@needs_numpy
class Permutations(unittest.TestCase):
    def test_give_each_order_equally_often(self) -> None:
        generator = Generator(KnownBytes(10))
        orders = list(permutations(range(4)))
        found = Counter(tuple(generator.permutation(4).tolist()) for _ in range(100 * len(orders)))
        self.assertLess(chi_square(found, dict.fromkeys(orders, 100)), 56)

    def test_leave_the_argument_and_shuffle_changes_it(self) -> None:
        generator = Generator(KnownBytes(11))
        items = np.arange(100)
        permuted = generator.permutation(items)
        self.assertEqual(items.tolist(), list(range(100)))
        self.assertEqual(sorted(permuted.tolist()), list(range(100)))
        table = np.arange(20).reshape(4, 5)
        self.assertEqual(sorted(generator.permutation(table, axis=1)[0].tolist()), [0, 1, 2, 3, 4])
        generator.shuffle(items)
        self.assertNotEqual(items.tolist(), list(range(100)))
        texts = [str(i) for i in range(30)]
        generator.shuffle(texts)
        self.assertEqual(sorted(texts), sorted(str(i) for i in range(30)))

    def test_draw_keys_again_when_two_are_equal(self) -> None:
        stream = bytes(24) + bytes(range(24)) + bytes(976)
        order = Generator(KnownBytes(stream=stream), block_bytes=1_024).permutation(3)
        self.assertEqual(order.tolist(), [0, 1, 2])


@needs_numpy
class LargeDraws(unittest.TestCase):
    def test_fetch_large_blocks_in_few_requests(self) -> None:
        client = KnownBytes(12)
        Generator(client, block_bytes=16_384).random(1_000_000)
        self.assertEqual(client.asked, [8_000_512])

    def test_without_numpy_say_what_is_missing(self) -> None:
        import sys

        held = sys.modules.get("numpy")
        sys.modules["numpy"] = None  # type: ignore[assignment]
        try:
            with self.assertRaises(ImportError):
                Generator(KnownBytes())
        finally:
            sys.modules["numpy"] = held  # type: ignore[assignment]
