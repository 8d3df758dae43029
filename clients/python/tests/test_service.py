"""Both clients against the real service at QRN_URL with QRN_KEY (tier Pro, simulated source)."""

from __future__ import annotations

import asyncio
import copy
import io
import os
import runpy
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, List
from uuid import UUID

from qrn_client import Answer, AsyncQrnClient, Generator, QrnClient, Random, errors

try:
    import numpy as np
except ImportError:
    np = None  # type: ignore[assignment]

needs_numpy = unittest.skipIf(np is None, "numpy is not installed")


def draws(client: Any) -> List[Any]:
    """Makes one call of each kind, with either client."""
    return [
        client.integers(3),
        client.integers(5, min=-2, max=2, unique=True, sort="descending"),
        client.bytes(5, encoding="base64", entropy_mode="pure"),
        client.floats(3, entropy_mode="csprng"),
        client.floats(3, precision=2),
        client.uuid(2),
        client.bitstring(77),
        client.shuffle(["é", "b,c", ""]),
        client.batch("floats", 1_000),
        client.batch("uuid", 2),
        client.batch("bytes", 2, length=3, encoding="base64"),
        client.bytes_octets(5),
        client.batch_octets("integers", 4, min=-9, max=9),
        client.batch_octets("integers", 4, min=0, max=2**50),
        client.batch_octets("floats", 1_000),
        client.batch_octets("floats", 4, precision=3),
        client.batch_octets("bytes", 4, length=3, entropy_mode="pure"),
        client.batch_octets("uuid", 4),
        client.sample(["é", "b,c", ""], 2),
        client.weighted(["a", "b,c"], [1, 2**52], 3),
        client.strings(2, length=5, alphabet="é,+"),
        client.sequences(2, length=[3, 1], min=[0, -7], max=[2, -6], unique=True, sort="ascending"),
        client.permutations(4, 2),
        client.gaussians(5, mean=-3, stddev=0.5, digits=6),
        client.batch("gaussians", 2, mean=2.5, stddev=1e-9, digits=2),
        client.batch("integers", 3, min=1, max=3, unique=True, sort="descending"),
    ]


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.client = QrnClient()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.client.close()

    def check(self, answers: List[Any]) -> None:
        ordered, hidden, texts, shuffled = answers[1], answers[2], answers[5], answers[7]
        self.assertEqual(ordered.values, [2, 1, 0, -1, -2])
        self.assertIsInstance(hidden.values, bytes)
        self.assertEqual((len(hidden.values), hidden.metadata.entropy_mode, hidden.credits.used), (5, "pure", 5))
        self.assertTrue(all(isinstance(value, UUID) and value.version == 4 for value in texts.values))
        self.assertEqual(sorted(shuffled.values), ["", "b,c", "é"])
        for answer in answers:
            self.assertEqual(answer.metadata.entropy_origin, "system" if answer is answers[3] else "simulated")
            self.assertGreater(answer.rate_limit.reset_at, 0)
            self.assertEqual(answer.response.status, 200)
        sample, weighted, strings, sequences, permutations, gaussians, nearly, sorted_ = (
            answer.values for answer in answers[18:]
        )
        self.assertEqual([(type(each), abs(each + 3) < 6) for each in gaussians], [(float, True)] * 5)
        self.assertEqual((nearly, sorted_), ([2.5, 2.5], [3, 2, 1]))
        self.assertEqual(len(set(sample) & {"é", "b,c", ""}), 2)
        self.assertEqual(weighted, ["b,c"] * 3)
        self.assertEqual([(len(text), set(text) <= set("é,+")) for text in strings], [(5, True)] * 2)
        self.assertEqual([(row[0], len(row[1]), row[1][0] in (-7, -6)) for row in sequences], [([0, 1, 2], 1, True)] * 2)
        self.assertEqual([sorted(each) for each in permutations], [[0, 1, 2, 3]] * 2)
        octets = answers[11:18]
        self.assertEqual([each.values.format for each in octets], ["B", "i", "d", "d", "d", "B", "B"])
        self.assertTrue(all(-9 <= value <= 9 for value in octets[1].values))
        self.assertEqual((octets[5].values.shape, octets[6].values.shape), ((4, 3), (4, 16)))

    def test_are_what_was_asked_for_and_verify(self) -> None:
        answers = draws(self.client)
        self.check(answers)
        keys = self.client.keys()
        for answer in answers:
            found = self.client.verify(answer, keys=keys)
            self.assertEqual([check for check in found.checks if not check.ok], [])
            self.assertTrue(all(name.split(".")[0] in ("meta", "metadata", "quantum_credits") for name in found.not_covered))

    def test_are_the_same_by_asyncio_many_at_a_time(self) -> None:
        async def run() -> List[Any]:
            async with AsyncQrnClient() as client:
                answers = await asyncio.gather(*draws(client))
                for answer in answers[:2] + answers[-2:]:
                    (await client.verify(answer)).require()
                self.assertIn((await client.health())["status"], ("pass", "warn"))
                self.assertIn("used", (await client.usage())["credits"])
                self.assertEqual((await client.tiers())["tiers"][2]["tier"], "pro")
                pdf = await client.certificate_pdf(answers[0].metadata.certificate_id)
                self.assertTrue(pdf.startswith(b"%PDF"))
                quote = await client.quote("bytes", count=9, entropy_mode="pure")
                self.assertEqual(quote["required_bytes"], 9)
                counts = [block.count async for block in client.stream("integers", 2_500, block=1_000, max=9)]
                self.assertEqual(counts, [1_000, 1_000, 500])
                return answers

        self.check(asyncio.run(run()))

    def test_that_were_changed_do_not_verify(self) -> None:
        answer = self.client.integers(3)
        octets = self.client.batch_octets("floats", 3)
        self.assertTrue(self.client.verify(answer).ok and self.client.verify(octets).ok)
        body = copy.deepcopy(answer.body)
        body["data"]["values"][0] += 1
        changed = Answer(**{**answer.__dict__, "body": body})
        self.assertEqual([c.name for c in self.client.verify(changed).checks if not c.ok], ["delivered"])
        octets.octets[0] ^= 1
        self.assertEqual([c.name for c in self.client.verify(octets).checks if not c.ok], ["delivered"])

    def test_carry_what_the_caller_says_of_them(self) -> None:
        said = {"purpose": "the Python client", "user_data": "a&b\n", "public": True}
        answers = [
            self.client.integers(2, **said),
            self.client.batch("uuid", 2, **said),
            self.client.bytes_octets(4, **said),
            *self.client.stream("uuid", 2, block=1, **said),
        ]
        for answer in answers[:2]:
            label = answer.body["label"]
            self.assertEqual((label["purpose"], label["user_data"], label["public"]), ("the Python client", "a&b\n", True))
        for answer in answers:
            found = self.client.verify(answer)
            self.assertTrue(found.ok and any(check.name == "label" for check in found.checks))
        self.assertEqual(self.client.quote("integers", count=2, purpose="a price")["mode"], "quantum-seeded")

    def test_verify_offline_with_a_certificate_and_keys_from_before(self) -> None:
        answer = self.client.uuid()
        self.client.verify(answer).require()
        keys, certificate = self.client.keys(), self.client.certificate(answer.metadata.certificate_id)
        deaf = QrnClient("http://127.0.0.1:1", "none", retries=0)
        self.assertTrue(deaf.verify(answer, certificate=certificate, keys=keys).ok)

    def test_come_with_the_rest_of_the_service(self) -> None:
        self.assertEqual(self.client.quote("integers", count=8, min=0, max=255, entropy_mode="pure")["required_bytes"], 8)
        self.assertEqual(self.client.quote("batch", type="uuid", count=8, entropy_mode="pure")["mode"], "pure")
        self.assertEqual(self.client.usage()["tier"], "pro")
        self.assertEqual(self.client.tiers()["tiers"][0]["requests_per_minute"], 10)
        self.assertIn(self.client.health()["status"], ("pass", "warn"))  # a busy machine may warn
        self.assertEqual(sum(block.count for block in self.client.stream("floats", 150_000)), 150_000)

    @needs_numpy
    def test_of_octets_are_arrays_without_a_copy(self) -> None:
        for answer, kind, shape in (
            (self.client.batch_octets("floats", 1_000), "float64", (1_000,)),
            (self.client.batch_octets("integers", 10, max=9), "int32", (10,)),
            (self.client.batch_octets("integers", 10, max=2**50), "float64", (10,)),
            (self.client.batch_octets("bytes", 10, length=7), "uint8", (10, 7)),
            (self.client.bytes_octets(9), "uint8", (9,)),
        ):
            array = answer.array()
            self.assertEqual((array.dtype, array.shape), (np.dtype(kind), shape))
            self.assertTrue(np.shares_memory(array, np.frombuffer(answer.octets, np.uint8)))
            array[...] = 0  # writable
            self.assertFalse(any(answer.octets))


class Sampling(unittest.TestCase):
    def test_uses_verified_blocks(self) -> None:
        with QrnClient() as client:
            verified: List[bool] = []
            drawn = Random(client, block_bytes=2_048, on_block=lambda block: verified.append(client.verify(block).ok))
            deck = list(range(52))
            drawn.shuffle(deck)
            self.assertEqual(sorted(deck), list(range(52)))
            self.assertEqual(len(drawn.randbytes(3_000)), 3_000)
            self.assertTrue(len(verified) == 2 and all(verified))

    def test_in_pure_mode_pays_for_a_block_once(self) -> None:
        with QrnClient() as client:
            before = client.usage()["credits"]["used"]
            drawn = Random(client, entropy_mode="pure", block_bytes=64)
            for _ in range(64):
                drawn.getrandbits(8)
            self.assertEqual(client.usage()["credits"]["used"], before + 64)

    @needs_numpy
    def test_makes_a_million_normals_by_the_example(self) -> None:
        example = Path(os.environ["QRN_TEST_EXAMPLES"]) / "million_normals.py"
        self.assertLessEqual(len(example.read_text("utf-8").splitlines()), 15)
        out = io.StringIO()
        with redirect_stdout(out):
            runpy.run_path(str(example))
        lines = out.getvalue().splitlines()
        self.assertRegex(lines[0], r"^\[\d+(, \d+){5}\] simulated$")
        self.assertEqual(lines[1], "verified: True")
        self.assertRegex(lines[2], r"^1000000 normals: mean [+-]0\.00\d\d, deviation (1\.00|0\.99)\d\d$")
        self.assertRegex(lines[3], r"^\d+ blocks verified$")

    @needs_numpy
    def test_passes_on_what_the_service_refuses(self) -> None:
        with self.assertRaises(errors.InvalidEntropyModeError):
            Generator(entropy_mode="quantum").random(3)
