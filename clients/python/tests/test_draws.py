"""Committed draws by both clients against the real service at QRN_URL with QRN_KEY (tier Pro, simulated source)."""

from __future__ import annotations

import asyncio
import hashlib
import unittest
from datetime import datetime, timedelta, timezone
from typing import Any

from qrn_client import AsyncQrnClient, QrnClient, errors

ITEMS = ["ada", "grace", "barbara", "katherine"]
RAFFLE: Any = {"purpose": "raffle in Python", "winners": {"count": 2, "list": {"items": ITEMS}}}


def later() -> datetime:
    return datetime.now(timezone.utc).replace(microsecond=123_000) + timedelta(hours=1)


class Draws(unittest.TestCase):
    def setUp(self) -> None:
        self.client = QrnClient()
        self.addCleanup(self.client.close)

    def check(self, draw: Any) -> None:
        self.assertEqual((draw["state"], draw["outcome"]["reason"]), ("revealed", None))
        self.assertEqual(len(set(draw["outcome"]["values"]) & set(ITEMS)), 2)
        proofs = (draw["certificate"]["certificate"]["proof"], draw["commit"]["proof"], draw["end"]["proof"])
        self.assertNotIn(None, proofs)

    def test_are_created_and_end(self) -> None:
        created = self.client.draws.create(**RAFFLE, user_data="é", public=True)
        self.assertEqual(created["statement"]["purpose"], "raffle in Python")
        self.check(self.client.draws.wait(created["id"]))

    def test_are_the_same_by_asyncio(self) -> None:
        async def run() -> None:
            async with AsyncQrnClient() as client:
                nonce = b"\xc0\xff\xee"
                digest = hashlib.sha256(nonce).hexdigest()
                opened, sealed = await asyncio.gather(
                    client.draws.create(**RAFFLE, nonce_sha256=digest), client.draws.create(**RAFFLE, reveal_at=later())
                )
                with self.assertRaises(errors.InvalidNonceError):
                    await client.draws.reveal(opened["id"], b"other")
                await client.draws.reveal(opened["id"], nonce)
                draw = await client.draws.wait(opened["id"])
                self.check(draw)
                self.assertEqual(draw["outcome"]["nonce"], "c0ffee")
                self.assertEqual((await client.draws.get(sealed["id"]))["state"], "committed")
                self.assertEqual((await client.draws.cancel(sealed["id"]))["state"], "cancelled")

        asyncio.run(run())

    def test_are_revealed_at_a_time_in_any_zone(self) -> None:
        at = later()
        draw = self.client.draws.create(**RAFFLE, reveal_at=at.astimezone(timezone(timedelta(hours=-5))))
        self.assertEqual(draw["statement"]["due_at"], at.strftime("%Y-%m-%dT%H:%M:%S.123Z"))
        with self.assertRaisesRegex(ValueError, "^reveal_at: a datetime needs a time zone"):
            self.client.draws.create(**RAFFLE, reveal_at=datetime(2030, 1, 1))
        id = draw["id"]
        with self.assertRaisesRegex(errors.TimeoutExceededError, f"The draw {id} has not ended within 0.05 s; it is due at 20"):
            self.client.draws.wait(id, timeout=0.05)
