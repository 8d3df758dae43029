"""Tests what clients/conformance.json does not cover: bytes on the wire, settings, and Python's own types."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import os
import pickle
import re
import socket
import ssl
import time
import unittest
import warnings
from pathlib import Path
from unittest import mock

from qrn_client import AsyncQrnClient, QrnClient, QrnError, errors
from qrn_client import _http, _wire
from scripted_server import ScriptedServer, http_reply

OVERLOADED = {"error": {"code": "overloaded", "message": "Later.", "status": 503, "request_id": "req_1"}}
KEYS = http_reply(200, b'{"keys": []}')
LATER = http_reply(503, json.dumps(OVERLOADED).encode(), "Retry-After: 0")


def keys_of(url: str, **options: object):
    with QrnClient(url, "k", **options) as client:  # type: ignore[arg-type]
        return client.keys()


class Retries(unittest.TestCase):
    def test_wait_as_asked_and_else_ever_longer(self) -> None:
        def failure(**members: object) -> QrnError:
            return QrnError("", code="overloaded", status=503, **members)  # type: ignore[arg-type]

        self.assertEqual(_wire.retry_delay(failure(), 1, 0.0, 60), 0.125)
        self.assertEqual(_wire.retry_delay(failure(), 3, 1.0, 60), 1.0)
        self.assertEqual(_wire.retry_delay(failure(), 100, 1.0, 60), 8.0)
        self.assertEqual(_wire.retry_delay(failure(retry_after=5.0), 1, 0.5, 60), 5.125)
        self.assertIsNone(_wire.retry_delay(failure(retry_after=61.0), 1, 0.5, 60))
        self.assertEqual(_wire.retry_after("Sun, 06 Nov 1994 08:49:37 GMT", 784111770), 7)
        self.assertIsNone(_wire.retry_after("soon", 0))

    def test_replace_a_connection_that_was_closed_while_idle_at_once(self) -> None:
        with ScriptedServer([KEYS, None], [KEYS]) as server, QrnClient(server.url, "k", retries=0) as client:
            client.keys()
            client.keys()


class Failures(unittest.TestCase):
    def test_are_a_time_out_when_the_body_does_not_end(self) -> None:
        slow = http_reply(200, b'{"keys": []}')[:-3]
        with ScriptedServer([slow, 2.0]) as server, self.assertRaises(errors.TimeoutExceededError):
            keys_of(server.url, timeout=0.2, retries=0)

    def test_are_a_network_error_when_the_answer_is_cut_or_is_no_http(self) -> None:
        for answer in ([KEYS[:-3], None], [b"HTTP/1.1 200 OK\r\nContent-Le", None], [b"hello\r\n\r\n", None]):
            with ScriptedServer(answer) as server, self.assertRaises(errors.ConnectionFailedError) as caught:
                keys_of(server.url, retries=0)
            self.assertEqual(caught.exception.code, "network_error")

    def test_are_an_invalid_answer_when_it_is_elsewhere(self) -> None:
        with ScriptedServer([http_reply(301, b"", "Location: /")]) as server:
            with self.assertRaises(errors.InvalidAnswerError):
                keys_of(server.url, retries=0)

    def test_name_a_service_that_is_not_there(self) -> None:
        with self.assertRaisesRegex(errors.ConnectionFailedError, "No answer: "):
            keys_of("http://127.0.0.1:1", retries=0)

    def test_survive_a_trip_to_another_process(self) -> None:
        error = errors.CreditsExhaustedError("No.", code="credits_exhausted", status=402, details={"required": 9})
        error.attempts = 3
        other = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(other), str(other), other.__dict__), (type(error), str(error), error.__dict__))


class Bodies(unittest.TestCase):
    def test_come_in_chunks_or_until_the_connection_closes(self) -> None:
        chunked = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"key\r\n7;x=y\r\ns": []}\r\n0\r\n\r\n'
        closed = b'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{"keys": []}'
        for answer in ([chunked], [closed, None]):
            with ScriptedServer(answer) as server:
                self.assertEqual(keys_of(server.url, retries=0), {"keys": []})

    def test_are_not_read_when_they_are_too_large(self) -> None:
        with ScriptedServer([b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n"]) as server:
            with self.assertRaisesRegex(errors.ConnectionFailedError, "is not an answer of the service"):
                keys_of(server.url, retries=0)


class Settings(unittest.TestCase):
    def test_come_from_the_environment(self) -> None:
        with mock.patch.dict(os.environ, {"QRN_URL": "https://qrn.example/", "QRN_KEY": "qrn_p_1\n"}):
            settings = QrnClient()._settings
            self.assertEqual((settings.scheme, settings.host, settings.port), ("https", "qrn.example", 443))
            self.assertEqual((settings.base_path, settings.key), ("/v1", "qrn_p_1"))
            self.assertNotIn("qrn_p_1", repr(settings))
        with mock.patch.dict(os.environ, {"QRN_KEY": "k"}):
            os.environ.pop("QRN_URL", None)
            settings = QrnClient()._settings
            self.assertEqual((settings.host, settings.port, settings.base_path), ("127.0.0.1", 3000, "/v1"))

    def test_are_refused_when_they_cannot_be_meant(self) -> None:
        for url in ("ftp://x", "x", "http://x/v2", "http://x/v1?a=b"):
            with self.assertRaisesRegex(ValueError, "url"):
                QrnClient(url, "k")
        with mock.patch.dict(os.environ):
            os.environ.pop("QRN_KEY", None)
            for key in (None, "a b", "a\r\nb"):
                with self.assertRaisesRegex(ValueError, "QRN_KEY"):
                    QrnClient("http://x", key)
        with self.assertRaises(ValueError):
            QrnClient("http://x", "k", timeout=0)
        with self.assertRaisesRegex(TypeError, "verify_answer"):
            QrnClient("http://x", "k").verify({"data": {}})  # type: ignore[arg-type]
        with self.assertRaisesRegex(ValueError, "idempotency_key"):
            QrnClient("http://x", "k").uuid(idempotency_key="a\nb")

    def test_can_be_changed_for_a_call(self) -> None:
        client = QrnClient("http://x", "k")
        other = client.with_options(timeout=1, retries=0)
        self.assertEqual((other._settings.timeout, other._settings.retries, other._settings.retry_wait_max), (1, 0, 60))
        self.assertEqual(client._settings.timeout, 30)


class Talk(unittest.TestCase):
    def test_of_a_cancelled_task_ends_its_request(self) -> None:
        async def run() -> float:
            async with AsyncQrnClient(server.url, "k", timeout=20) as client:
                task = asyncio.create_task(client.keys())
                while not server.requests:
                    await asyncio.sleep(0.01)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                begun = time.monotonic()
            return time.monotonic() - begun

        with ScriptedServer([15.0]) as server:
            self.assertLess(asyncio.run(run()), 5)

    def test_that_ends_while_its_thread_sends_is_never_in_clear_text(self) -> None:
        def send_meanwhile(sock: socket.socket, how: int) -> None:
            with self.assertRaises(ssl.SSLWantReadError):
                sock.send(b"secret-key")

        ours, theirs = socket.socketpair()
        context = ssl.create_default_context()
        with theirs, context.wrap_socket(ours, server_hostname="x", do_handshake_on_connect=False) as sock:
            sock.setblocking(False)
            call = _http.Call()
            call.uses(sock)
            with mock.patch.object(socket.socket, "shutdown", send_meanwhile):
                call.end()
            self.assertNotIn(b"secret-key", theirs.recv(65536))

    def test_logs_what_is_sent_again_and_never_the_key(self) -> None:
        with ScriptedServer([LATER], [http_reply(200, b'{"data": {}}')]) as server:
            with self.assertLogs("qrn_client", logging.DEBUG) as logs:
                with QrnClient(server.url, "secret-key") as client:
                    client.usage()
        self.assertIn("attempt 2 follows", logs.output[0])
        self.assertNotIn("secret-key", "".join(logs.output))
        self.assertIn(b"Authorization: Bearer secret-key", server.requests[0])
        self.assertRegex(server.requests[0], rb"User-Agent: qrn_client-python/[0-9.]+ Python/3")


class Interface(unittest.TestCase):
    def test_is_the_same_for_asyncio(self) -> None:
        for name, method in inspect.getmembers(QrnClient, inspect.isfunction):
            if name.startswith("_") and name != "__init__":
                continue
            other = getattr(AsyncQrnClient, name)
            own, others = inspect.signature(method), inspect.signature(other)
            self.assertEqual(list(own.parameters.values()), list(others.parameters.values()), name)

    def test_has_a_class_for_each_code_of_the_service(self) -> None:
        text = Path(os.environ["QRN_TEST_ERRORS"]).read_text("utf-8")
        codes = re.findall(r'^\| <a id="(\w+)">.*?\| (\d+) \|', text, re.MULTILINE)
        self.assertGreater(len(codes), 30)
        for code, status in codes:
            self.assertIn(code, errors.BY_CODE, "add a class for the code to qrn_client/errors.py")
            # 409 of a draw has nothing to do with an Idempotency-Key
            kind = errors.InvalidRequestError if code in ("draw_ended", "draw_due") else _kind(int(status))
            self.assertTrue(issubclass(errors.BY_CODE[code], kind), code)
        known = {code for code, _ in codes} | {"network_error", "timeout", "invalid_answer"}
        self.assertEqual(set(errors.BY_CODE), known)
        self.assertEqual(len(set(errors.BY_CODE.values())), len(errors.BY_CODE))

    def test_takes_integers_of_other_types(self) -> None:
        class Five:  # as numpy's are
            def __index__(self) -> int:
                return 5

        settings = _wire.Settings.of("http://127.0.0.1:1", "k", 1, 0, 0)
        self.assertEqual(_wire.query_of({"count": Five()}), "?count=5")  # type: ignore[dict-item]
        parameters = _wire.batch_parameters("integers", Five(), {"max": Five()})  # type: ignore[arg-type]
        body = _wire.draw(settings, "batch", parameters, {}).body or b""
        self.assertEqual(json.loads(body), {"type": "integers", "count": 5, "params": {"max": 5}})

    def test_writes_queries_as_the_service_reads_them(self) -> None:
        self.assertEqual(_wire.query_of({"a": None}), "")
        self.assertEqual(
            _wire.query_of({"items": ["a,b", "é", ""], "unique": True, "min": -3, "x": "a b&c"}),
            "?items=a%2Cb,%C3%A9,&unique=true&min=-3&x=a%20b%26c",
        )
        self.assertEqual(list(_wire.counts_of(250, 100)), [100, 100, 50])
        self.assertEqual(_wire.request_id_of("01000000-0000-0000-0000-00000000000d"), "req_0100000000000000000000000d")


def _kind(status: int) -> type:
    if status >= 500:
        return errors.ServiceError
    kinds = {401: errors.AuthenticationError, 402: QrnError, 403: errors.PermissionDeniedError, 404: errors.NotFoundError}
    kinds.update({409: errors.IdempotencyError, 422: errors.IdempotencyError, 429: errors.RateLimitError})
    return kinds.get(status, errors.InvalidRequestError)


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main()
