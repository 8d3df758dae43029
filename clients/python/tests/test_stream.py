"""GET /v1/stream over sockets, for both clients."""

from __future__ import annotations

import asyncio
import json
import unittest
from typing import Any, List
from unittest import mock

from qrn_client import AsyncQrnClient, QrnClient, errors
from qrn_client import _wire
from scripted_server import ScriptedServer, http_reply

FACTS = {
    "Content-Type": "application/octet-stream; type=int32; byteorder=little-endian",
    "X-Entropy-Mode": "quantum-seeded",
    "X-Entropy-Origin": "simulated",
    "X-Quantum-Backend": "simulator",
    "X-Lang-Circuit": "h",
    "X-Lang-Version": "1",
    "X-NIST-Verified": "true",
    "X-Request-ID": "019a0000-0000-7000-8000-000000000000",
    "X-Quantum-Credits-Remaining": "unlimited",
    "X-Quantum-Credits-Used": "0",
    "X-Certificate-ID": "cert_x",
    "X-Certificate-Salt": "00",
    "X-Timestamp": "2026-11-22T00:00:00.000Z",
    "X-Processing-Time-Ms": "1",
    "X-Entropy-Consumed-Bytes": "8",
}


def frame(facts: Any, *values: int) -> bytes:
    text = json.dumps(facts).encode()
    octets = b"".join(value.to_bytes(4, "little") for value in values)
    return len(text).to_bytes(4, "little") + len(octets).to_bytes(4, "little") + text + octets


def chunked(body: bytes, size: int, is_whole: bool = True) -> bytes:
    """A reply in chunks of so many bytes."""
    pieces = (body[at : at + size] for at in range(0, len(body), size))
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return b"HTTP/1.1 200 -\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + (b"0\r\n\r\n" if is_whole else b"")


def block(*values: int) -> bytes:
    return frame(FACTS, *values)


END = frame({"end": {}})


def refused(code: str, status: int, **more: Any) -> bytes:
    return frame({"error": {"code": code, "message": "No.", "status": status, "request_id": "req_x"}, **more})


def sync_values(url: str, total: int, **options: Any) -> List[int]:
    with QrnClient(url, "k", **options) as client:
        return [value for each in client.stream("integers", total, block=2, min=1, max=9) for value in each.values]


def async_values(url: str, total: int, **options: Any) -> List[int]:
    async def run() -> List[int]:
        async with AsyncQrnClient(url, "k", **options) as client:
            blocks = client.stream("integers", total, block=2, min=1, max=9)
            return [value async for each in blocks for value in each.values]

    return asyncio.run(run())


class Streams(unittest.TestCase):
    def setUp(self) -> None:
        patch = mock.patch.object(_wire, "_BACKOFF_FIRST", 0.001)
        patch.start()
        self.addCleanup(patch.stop)

    def each(self, *answers: Any) -> Any:
        for values in (sync_values, async_values):
            with self.subTest(values.__name__), ScriptedServer(*answers) as server:
                yield values, server

    def test_are_asked_for_once_however_the_body_is_cut(self) -> None:
        for size in (1, 7, 100_000):
            for values, server in self.each([chunked(block(1, 2) + block(3) + END, size)]):
                self.assertEqual(values(server.url, 3), [1, 2, 3])
                self.assertEqual(len(server.requests), 1)
                target = server.requests[0].split(b" ")[1]
                self.assertEqual(target, b"/v1/stream?type=integers&total=3&block=2&min=1&max=9")

    def test_are_resumed_at_the_block_that_did_not_come_whole(self) -> None:
        cut = chunked(block(1, 2) + block(3, 4)[:40], 50, False)
        for values, server in self.each([cut, None], [chunked(block(3, 4), 50), None], [chunked(block(5) + END, 50)]):
            self.assertEqual(values(server.url, 5), [1, 2, 3, 4, 5])
            self.assertIn(b"&first=1", server.requests[1])
            self.assertIn(b"&first=2", server.requests[2])

    def test_wait_as_the_service_asks(self) -> None:
        later = chunked(block(1, 2) + refused("rate_limited", 429, retry_after=0), 50)
        for values, server in self.each([later, None], [chunked(block(3) + END, 50)]):
            self.assertEqual(values(server.url, 3), [1, 2, 3])

    def test_end_with_an_error_that_does_not_pass(self) -> None:
        revoked = chunked(block(1, 2) + refused("auth_invalid", 401), 50)
        for values, server in self.each([revoked, None]):
            with self.assertRaises(errors.AuthInvalidError) as caught:
                values(server.url, 9)
            self.assertEqual((caught.exception.status, caught.exception.request_id), (401, "req_x"))
        wrong = http_reply(400, b'{"error": {"code": "invalid_count", "message": "No."}}')
        for values, server in self.each([wrong, None]):
            with self.assertRaises(errors.InvalidCountError):
                values(server.url, 9)

    def test_take_no_memory_at_the_word_of_a_peer(self) -> None:
        for values, server in self.each([chunked(b"\xff" * 64, 50), None]):
            with self.assertRaises(errors.InvalidAnswerError):
                values(server.url, 9, retries=0)

    def test_limit_the_time_of_a_block(self) -> None:
        for values, server in self.each([chunked(block(1, 2), 50, False), 0.5, None]):
            with self.assertRaises(errors.TimeoutExceededError):
                values(server.url, 9, retries=0, timeout=0.1)


if __name__ == "__main__":
    unittest.main()
