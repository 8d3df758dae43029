"""A server on a socket that sends the bytes that a test has scripted, one answer for each request."""

from __future__ import annotations

import socket
from threading import Thread
from time import sleep
from typing import Any, List, Sequence, Union


def http_reply(status: int, body: bytes = b"", *fields: str) -> bytes:
    lines = [f"HTTP/1.1 {status} -", f"Content-Length: {len(body)}", *fields]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class ScriptedServer:
    """Each step is bytes to send, None to close the connection, or seconds to wait."""

    def __init__(self, *answers: Sequence[Union[bytes, float, None]]) -> None:
        self.requests: List[bytes] = []
        self._answers = list(answers)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while self._answers:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                self._converse(connection)

    def _converse(self, connection: socket.socket) -> None:
        while self._answers:
            request = b""
            while b"\r\n\r\n" not in request:
                got = connection.recv(65_536)
                if not got:
                    return
                request += got
            self.requests.append(request)
            for step in self._answers.pop(0):
                if step is None:
                    return
                if isinstance(step, bytes):
                    connection.sendall(step)
                else:
                    sleep(step)

    def __enter__(self) -> "ScriptedServer":
        return self

    def __exit__(self, *_: Any) -> None:
        self._answers = []
        self._socket.close()
