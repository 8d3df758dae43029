"""How far ahead of the reader streams fetch blocks. clients/conformance.json tests what they send and yield."""

from __future__ import annotations

import asyncio
import unittest
from typing import Any, List

from known_bytes import KnownBytes
from qrn_client import AsyncQrnClient

SIZE: Any = {"block": 2, "length": 8}


class Ahead(unittest.TestCase):
    def test_is_nothing_of_what_costs(self) -> None:
        for options in ({"entropy_mode": "pure"}, {"purpose": "a draw"}):
            client = KnownBytes()
            blocks = client.stream("bytes", 99, **SIZE, **options)
            for taken in range(1, 4):
                next(blocks)
                self.assertEqual(len(client.asked), taken)

    def test_are_at_most_four_blocks(self) -> None:
        client = KnownBytes()
        blocks = client.stream("bytes", 999, **SIZE)
        for _ in range(10):
            next(blocks)
        blocks.close()  # type: ignore[attr-defined]
        # When the tenth block was yielded, 4 were being fetched or ready, so at most 3 follow it.
        self.assertLessEqual(len(client.asked), 13)

    def test_ends_with_a_reader_that_leaves(self) -> None:
        async def leave() -> List[int]:
            async with AsyncQrnClient("http://127.0.0.1:1", "k") as client:
                client._client = known = KnownBytes()
                known.close = lambda: None  # type: ignore[method-assign]
                async for _ in client.stream("bytes", 999, **SIZE):
                    break
                return known.asked

        self.assertEqual(asyncio.run(leave()), [16])


if __name__ == "__main__":
    unittest.main()
