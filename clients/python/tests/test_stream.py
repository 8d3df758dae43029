"""Streams as batches that are asked for ahead, for both clients."""

from __future__ import annotations

import asyncio
import json
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Thread
from typing import Any, Dict, List, Optional
from unittest import mock

from qrn_client import AsyncQrnClient, QrnClient, errors
from qrn_client import _wire

FIELDS = {
    "Content-Type": "application/octet-stream",
    "X-Entropy-Mode": "quantum-seeded",
    "X-Entropy-Origin": "simulated",
    "X-Quantum-Backend": "simulator",
    "X-Lang-Circuit": "h",
    "X-Lang-Version": "1",
    "X-NIST-Verified": "true",
    "X-Request-ID": "019a0000-0000-7000-8000-000000000000",
    "X-Quantum-Credits-Remaining": "5",
    "X-Quantum-Credits-Used": "0",
    "X-Certificate-ID": "cert_x",
    "X-Certificate-Salt": "00",
    "X-Verify-URL": "http://qrn.example/verify/cert_0",
    "X-Timestamp": "2026-11-22T00:00:00.000Z",
    "X-Processing-Time-Ms": "1",
    "X-Entropy-Consumed-Bytes": "8",
}


class BatchServer:
    """Answers a batch under the key `s/N` with values that are all N, and what is lost on its first way the second time."""

    def __init__(self, lost: int = -1, refused: Optional[Dict[int, str]] = None, hold: bool = False) -> None:
        self.keys: List[Optional[str]] = []
        self.changed = Condition()
        server = self
        lost_left = {lost}

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                key = self.headers.get("idempotency-key")
                with server.changed:
                    server.keys.append(key)
                    server.changed.notify_all()
                    # Of blocks that come together the last is answered first.
                    if hold:
                        server.changed.wait_for(lambda: len(server.keys) >= 3 or key == "s/0", 2)
                n = 0 if key is None else int(key.rpartition("/")[2])
                if n in lost_left:
                    lost_left.remove(n)
                    self.close_connection = True
                    return
                code = None if key is None else (refused or {}).get(n)
                if code is not None:
                    status = {"auth_invalid": 401}.get(code, 429)
                    error = {"code": code, "message": "No.", "status": status, "request_id": "req_x"}
                    self._reply(status, json.dumps({"error": error}).encode(), {"Retry-After": "3600"})
                else:
                    self._reply(200, n.to_bytes(4, "little") * body["count"], FIELDS)

            def _reply(self, status: int, body: bytes, fields: Dict[str, str]) -> None:
                self.send_response_only(status)
                for name, value in {**fields, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> "BatchServer":
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        self._server.server_close()


def sync_values(url: str, total: int, **options: Any) -> List[int]:
    with QrnClient(url, "k", retries=2) as client:
        options = {"idempotency_key": "s", **options}
        return [value for each in client.stream("integers", total, block=2, max=9, **options) for value in each.values]


def async_values(url: str, total: int, **options: Any) -> List[int]:
    async def run() -> List[int]:
        async with AsyncQrnClient(url, "k", retries=2) as client:
            blocks = client.stream("integers", total, block=2, max=9, **{"idempotency_key": "s", **options})
            return [value async for each in blocks for value in each.values]

    return asyncio.run(run())


class Streams(unittest.TestCase):
    def setUp(self) -> None:
        patch = mock.patch.object(_wire, "_BACKOFF_FIRST", 0.001)
        patch.start()
        self.addCleanup(patch.stop)

    def each(self, **script: Any) -> Any:
        for values in (sync_values, async_values):
            with self.subTest(values.__name__), BatchServer(**script) as server:
                yield values, server

    def test_are_given_in_order_and_a_lost_block_is_asked_for_again_under_its_key(self) -> None:
        for values, server in self.each(lost=2, hold=True):
            self.assertEqual(values(server.url, 9), [0, 0, 1, 1, 2, 2, 3, 3, 4])
            self.assertEqual(sorted(map(str, server.keys)), ["s/0", "s/1", "s/2", "s/2", "s/3", "s/4"])

    def test_have_a_key_each_unless_given_one(self) -> None:
        with BatchServer() as server, QrnClient(server.url, "k") as client:
            with mock.patch("qrn_client._options.secrets.token_hex", side_effect=[f"{n}" for n in range(9)]):
                self.assertEqual(sum(each.count for each in client.stream("integers", 5, block=2, max=9)), 5)
            self.assertEqual(sorted(map(str, server.keys)), ["0", "1", "2"])

    def test_go_on_without_keys_when_no_more_answers_are_kept(self) -> None:
        for values, server in self.each(refused={0: "idempotency_full"}):
            self.assertEqual(values(server.url, 6), [0] * 6)
            self.assertEqual(server.keys, ["s/0", None, None, None])
        for options in ({"entropy_mode": "pure"}, {"purpose": "a draw"}):
            for values, server in self.each(refused={0: "idempotency_full"}):
                with self.assertRaises(errors.IdempotencyFullError):
                    values(server.url, 6, **options)

    def test_end_with_an_error_that_does_not_pass(self) -> None:
        for values, server in self.each(refused={1: "auth_invalid"}):
            with self.assertRaises(errors.AuthInvalidError) as caught:
                values(server.url, 9)
            self.assertEqual((caught.exception.status, caught.exception.request_id), (401, "req_x"))
            self.assertLessEqual(len(server.keys), 3)

    def test_ask_for_what_costs_when_it_is_wanted(self) -> None:
        for options in ({"entropy_mode": "pure"}, {"purpose": "a draw"}):
            with BatchServer() as server, QrnClient(server.url, "k") as client:
                blocks = client.stream("integers", 99, block=2, max=9, idempotency_key="s", **options)  # type: ignore[arg-type]
                for taken in range(1, 4):
                    next(blocks)
                    self.assertEqual(len(server.keys), taken)

    def test_are_at_most_four_ahead_and_end_with_their_reader(self) -> None:
        with BatchServer() as server, QrnClient(server.url, "k") as client:
            blocks = client.stream("integers", 999, block=2, max=9, idempotency_key="s")
            for _ in range(10):
                next(blocks)
            blocks.close()  # type: ignore[attr-defined]
            # The tenth was given when 4 were under way or came: those after it are 3 at most.
            self.assertLessEqual(len(server.keys), 13)

        async def leave() -> int:
            async with AsyncQrnClient(server.url, "k") as client:
                async for _ in client.stream("integers", 999, block=2, max=9, idempotency_key="s"):
                    break
                return len(server.keys)

        with BatchServer() as server:
            self.assertEqual(asyncio.run(leave()), 1)


if __name__ == "__main__":
    unittest.main()
