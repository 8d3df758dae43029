"""`Random` and its blocks over known bytes."""

from __future__ import annotations

import copy
import os
import pickle
import random
import unittest
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from known_bytes import KnownBytes
from qrn_client import Random


class Draws(unittest.TestCase):
    def test_has_every_method_of_the_standard_library(self) -> None:
        drawn = Random(KnownBytes())
        deck = list(range(52))
        drawn.shuffle(deck)
        self.assertNotEqual(deck, list(range(52)))
        self.assertEqual(sorted(deck), list(range(52)))
        self.assertEqual(len(set(drawn.sample(range(1_000), 30))), 30)
        self.assertIn(drawn.choice("abc"), "abc")
        self.assertEqual(len(drawn.choices("abc", k=9)), 9)
        self.assertEqual(set(drawn.choices("abc", [0, 1, 0], k=20)), {"b"})
        self.assertTrue(all(1 <= drawn.randint(1, 6) <= 6 for _ in range(100)))
        self.assertTrue(all(0 <= drawn.random() < 1 for _ in range(100)))
        self.assertEqual(len(drawn.randbytes(33)), 33)
        for method in ("gauss", "normalvariate", "lognormvariate", "vonmisesvariate", "gammavariate", "betavariate"):
            self.assertIsInstance(getattr(drawn, method)(1.0, 2.0), float)
        self.assertLess(drawn.getrandbits(200), 1 << 200)
        self.assertEqual(drawn.getrandbits(0), 0)
        with self.assertRaises(ValueError):
            drawn.getrandbits(-1)

    def test_uses_the_bits_that_came_and_no_others(self) -> None:
        drawn = Random(KnownBytes(stream=bytes(range(16))), block_bytes=16)
        self.assertEqual(drawn.getrandbits(16), 0x0001)
        self.assertEqual(drawn.getrandbits(4), 0x02 >> 4)
        self.assertEqual(drawn.random(), (0x03040506070809 >> 3) * 2.0**-53)
        self.assertEqual(drawn.randbytes(2), bytes((10, 11)))
        self.assertEqual(drawn.available_bytes, 4)

    def test_is_uniform_where_it_says_so(self) -> None:
        drawn = Random(KnownBytes(2))
        for values in (
            [drawn.randrange(7) for _ in range(14_000)],
            drawn.choices(range(7), k=14_000),
            [drawn.sample(range(7), 3)[1] for _ in range(14_000)],
        ):
            counts = Counter(values)
            squares = sum((counts[i] - 2_000) ** 2 / 2_000 for i in range(7))
            self.assertLess(squares, 27.9)  # chi-square of 6 degrees at 0.0001; the bytes are the same each time

    def test_refuses_a_seed_and_a_state(self) -> None:
        drawn = Random(KnownBytes())
        for refused in (
            lambda: drawn.seed(1),
            drawn.getstate,
            lambda: drawn.setstate(random.getstate()),
            lambda: pickle.dumps(drawn),
            lambda: copy.copy(drawn),
        ):
            with self.assertRaisesRegex(NotImplementedError, "from the service"):
                refused()


class BlocksOfBytes(unittest.TestCase):
    def test_asks_for_a_block_only_when_bytes_are_needed(self) -> None:
        client = KnownBytes()
        drawn = Random(client, block_bytes=64, entropy_mode="csprng")
        self.assertEqual(client.asked, [])
        for _ in range(64):
            drawn.getrandbits(8)
        self.assertEqual(client.asked, [64])
        drawn.getrandbits(8)
        self.assertEqual(client.asked, [64, 64])
        self.assertEqual(client.modes, ["csprng", "csprng"])

    def test_takes_small_blocks_in_pure_mode_where_they_cost(self) -> None:
        client = KnownBytes()
        Random(client, entropy_mode="pure").getrandbits(8)
        self.assertEqual(client.asked, [256])

    def test_erases_what_was_used(self) -> None:
        client = KnownBytes()
        drawn = Random(client, block_bytes=64)
        drawn.randbytes(40)
        self.assertEqual(bytes(client.given[0].octets[:40]), bytes(40))
        self.assertTrue(any(client.given[0].octets[40:]))

    def test_raises_what_the_service_refuses_and_goes_on_later(self) -> None:
        client = KnownBytes()
        drawn = Random(client, block_bytes=16)
        client.failure = RuntimeError("no entropy")
        with self.assertRaisesRegex(RuntimeError, "no entropy"):
            drawn.random()
        client.failure = None
        self.assertTrue(0 <= drawn.random() < 1)

    def test_uses_nothing_of_a_block_that_on_block_refuses(self) -> None:
        client = KnownBytes()

        def refuse(block: object) -> None:
            raise RuntimeError("not as certified")

        drawn = Random(client, block_bytes=16, on_block=refuse)
        with self.assertRaisesRegex(RuntimeError, "not as certified"):
            drawn.random()
        self.assertEqual(drawn.available_bytes, 0)

    def test_hands_out_each_byte_once_however_many_threads_draw(self) -> None:
        stream = b"".join(i.to_bytes(4, "big") for i in range(4_096))
        drawn = Random(KnownBytes(stream=stream), block_bytes=1_024)
        with ThreadPoolExecutor(8) as threads:
            words = list(threads.map(lambda _: drawn.randbytes(4), range(4_096)))
        self.assertEqual(sorted(words), [stream[at : at + 4] for at in range(0, len(stream), 4)])

    @unittest.skipUnless(hasattr(os, "fork"), "the system has no fork")
    def test_gives_a_forked_process_no_byte_of_its_parent(self) -> None:
        stream = b"".join(i.to_bytes(4, "big") for i in range(64))
        drawn = Random(KnownBytes(stream=stream), block_bytes=16)
        drawn.randbytes(4)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, drawn.randbytes(4))
            os._exit(0)
        os.waitpid(child, 0)
        self.assertEqual(os.read(reader, 4), (4).to_bytes(4, "big"))  # from a block that the child fetched itself
        self.assertEqual(drawn.randbytes(4), (1).to_bytes(4, "big"))
        os.close(reader)
        os.close(writer)

    def test_refuses_sizes_that_the_service_does_not_serve(self) -> None:
        for size in (0, 15, 1_025, 1 << 25):
            with self.assertRaisesRegex(ValueError, "block_bytes"):
                Random(KnownBytes(), block_bytes=size)
