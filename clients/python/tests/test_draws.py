"""Committed draws by both clients, with the real service at QRN_URL with QRN_KEY (tier Pro, simulated source)."""

from __future__ import annotations

import asyncio
import hashlib
import os
import unittest
from datetime import datetime, timedelta, timezone
from typing import Any

from cutting_proxy import CuttingProxy
from qrn_client import AsyncQrnClient, QrnClient, errors

ITEMS = ["ada", "grace", "barbara", "katherine"]
RAFFLE: Any = {"purpose": "raffle in Python", "winners": {"count": 2, "list": {"items": ITEMS}}}


def later() -> datetime:
    return datetime.now(timezone.utc).replace(microsecond=123_000) + timedelta(hours=1)


class Draws(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.client = QrnClient()
        cls.proxy = CuttingProxy(os.environ["QRN_URL"])
        cls.distant = QrnClient(cls.proxy.url)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.proxy.stop()
        cls.client.close()
        cls.distant.close()

    def check(self, draw: Any) -> None:
        self.assertEqual((draw["state"], draw["outcome"]["reason"]), ("revealed", None))
        self.assertEqual(len(set(draw["outcome"]["values"]) & set(ITEMS)), 2)
        proofs = (draw["certificate"]["certificate"]["proof"], draw["commit"]["proof"], draw["end"]["proof"])
        self.assertNotIn(None, proofs)

    def test_are_created_and_end(self) -> None:
        created = self.client.draws.create(**RAFFLE, user_data="é", public=True)
        statement = created["statement"]
        self.assertEqual((statement["purpose"], statement["user_data"], statement["public"]), ("raffle in Python", "é", True))
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

    def test_send_each_member_under_its_name(self) -> None:
        at = later()
        draw = self.client.draws.create(
            "p",
            request={"type": "integers", "count": 3, "params": {"min": 1, "max": 6}},
            nonce=b"\x00\xff",
            reveal_at=at.astimezone(timezone(timedelta(hours=-5))),
            user_data_sha256="ab" * 32,
        )
        statement = draw["statement"]
        due = at.strftime("%Y-%m-%dT%H:%M:%S.123Z")
        self.assertEqual((statement["nonce"], statement["due_at"]), ("00ff", due))
        self.assertEqual(statement["user_data_sha256"], "sha256:" + "ab" * 32)
        request = statement["request"]
        self.assertEqual([request[name] for name in ("kind", "count", "min", "max")], ["integers", 3, 1, 6])
        with self.assertRaises(errors.InvalidBeaconError):
            self.client.draws.create(**RAFFLE, beacon={"chain": "nowhere", "round": 1})
        with self.assertRaisesRegex(ValueError, "^reveal_at: a datetime needs a time zone"):
            self.client.draws.create(**RAFFLE, reveal_at=datetime(2030, 1, 1))

    def test_are_paid_once_where_the_reply_was_lost(self) -> None:
        before = int(self.client.usage()["credits"]["used"])
        self.proxy.idempotency_keys.clear()
        self.proxy.cuts = 2
        self.distant.draws.create(**RAFFLE, reveal_at=later())
        self.assertEqual((len(self.proxy.idempotency_keys), len(set(self.proxy.idempotency_keys))), (3, 1))
        self.assertEqual(int(self.client.usage()["credits"]["used"]), before + 32)

    def test_are_cancelled_once_also_where_the_reply_was_lost(self) -> None:
        id = self.client.draws.create(**RAFFLE, reveal_at=later())["id"]
        self.proxy.cuts = 1
        self.assertEqual(self.distant.draws.cancel(id)["state"], "cancelled")
        with self.assertRaises(errors.DrawEndedError):
            self.client.draws.cancel(id)

    def test_are_waited_for_no_longer_than_the_caller_said(self) -> None:
        id = self.client.draws.create(**RAFFLE, reveal_at=later())["id"]
        with self.assertRaisesRegex(errors.TimeoutExceededError, f"The draw {id} has not ended within 0.05 s; it is due at 20"):
            self.client.draws.wait(id, timeout=0.05)

    def test_are_read_without_a_valid_key(self) -> None:
        id = self.client.draws.create(**RAFFLE, reveal_at=later())["id"]
        with QrnClient(key="qrn_nobody") as stranger:
            self.assertEqual(stranger.draws.get(id)["id"], id)
            with self.assertRaises(errors.AuthInvalidError):
                stranger.draws.create(**RAFFLE)
        with self.assertRaises(errors.InvalidDrawIdError):
            self.client.draws.get("../usage")
