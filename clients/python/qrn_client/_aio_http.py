"""HTTP/1.1 over asyncio streams, with connections that stay open."""

from __future__ import annotations

import asyncio
import ssl
from http.client import HTTPException, parse_headers
from io import BytesIO
from typing import Any, Coroutine, Dict, List, Optional, Tuple, TypeVar

from . import _wire
from .answers import RawResponse

_IDLE_MAX = 64
_CHUNK_BYTES = 1 << 18
_LINE_BYTES_MAX = 1 << 16

_Connection = Tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _Stale(HTTPException):
    """The server closed the connection while it was idle: nothing of an answer came."""


class Transport:
    """Sends one request at a time on each connection. Any number of tasks of one event loop may use it."""

    def __init__(self, settings: _wire.Settings, ssl_context: Optional[ssl.SSLContext]) -> None:
        self._settings = settings
        self._ssl = ssl_context
        if settings.scheme == "https" and ssl_context is None:
            self._ssl = ssl.create_default_context()
        self._idle: List[_Connection] = []
        self._loop: Optional[asyncio.AbstractEventLoop] = None

    async def exchange(self, request: _wire.Request, timeout: float) -> RawResponse:
        """One request and its whole answer, whatever its status. Raises `network_error` or `timeout`."""
        return await _within(timeout, self._exchange(request))

    async def close(self) -> None:
        idle, self._idle = self._idle, []
        for _, writer in idle:
            writer.close()
            try:
                await writer.wait_closed()
            except OSError:
                pass

    async def _exchange(self, request: _wire.Request) -> RawResponse:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # connections of another loop are of no use here
            self._loop, self._idle = loop, []
        reused = self._idle.pop() if self._idle else None
        if reused is not None:
            try:
                return await self._on(reused, request)
            except (_Stale, BrokenPipeError, ConnectionResetError):
                pass
        return await self._on(await self._open(), request)

    async def _open(self) -> _Connection:
        settings = self._settings
        return await asyncio.open_connection(
            settings.host, settings.port, ssl=self._ssl, limit=_LINE_BYTES_MAX
        )

    async def _on(self, connection: _Connection, request: _wire.Request) -> RawResponse:
        reader, writer = connection
        try:
            writer.write(self._head(request) + (request.body or b""))
            await writer.drain()
            status, headers = await _read_head(reader)
            body, whole = await _read_body(reader, headers)
        except BaseException:
            writer.close()
            raise
        if whole and headers.get("connection", "").lower() != "close" and len(self._idle) < _IDLE_MAX:
            self._idle.append(connection)
        else:
            writer.close()
        return RawResponse(status, headers, body)

    def _head(self, request: _wire.Request) -> bytes:
        settings = self._settings
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        lines = [f"{request.method} {request.target} HTTP/1.1", f"Host: {host}:{settings.port}"]
        lines += [f"{name}: {value}" for name, value in request.headers.items()]
        if request.idempotency_key is not None:
            lines.append(f"Idempotency-Key: {request.idempotency_key}")
        if request.body is not None:
            lines.append(f"Content-Length: {len(request.body)}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


T = TypeVar("T")


async def _within(timeout: float, work: Coroutine[Any, Any, T]) -> T:
    try:
        return await asyncio.wait_for(work, timeout)
    except asyncio.TimeoutError as error:
        raise _wire.network_error(error, timeout, True) from error
    except (OSError, HTTPException, EOFError, asyncio.LimitOverrunError) as error:
        raise _wire.network_error(error, timeout, False) from error


async def _read_head(reader: asyncio.StreamReader) -> Tuple[int, Dict[str, str]]:
    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            if not error.partial:
                raise _Stale("the server closed the connection") from error
            raise
        status_line, _, fields = head.partition(b"\r\n")
        parts = status_line.decode("latin-1").split(" ", 2)
        if len(parts) < 2 or not parts[0].startswith("HTTP/1.") or not parts[1].isdigit():
            raise HTTPException(f"no HTTP response: {status_line[:80]!r}")
        status = int(parts[1])
        if status >= 200:  # 1xx are not the answer
            return status, {name.lower(): value for name, value in parse_headers(BytesIO(fields)).items()}


async def _read_body(reader: asyncio.StreamReader, headers: Dict[str, str]) -> Tuple[bytearray, bool]:
    """The body, and whether the connection can be used again."""
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return await _read_chunks(reader), True
    text = headers.get("content-length")
    if text is None:
        body = bytearray()
        while chunk := await reader.read(_CHUNK_BYTES):
            body += chunk
            _check_size(len(body))
        return body, False
    if not text.isdigit():
        raise HTTPException(f"no length: {text!r}")
    length = int(text)
    _check_size(length)
    body = bytearray(length)
    at = 0
    while at < length:
        chunk = await reader.read(min(_CHUNK_BYTES, length - at))
        if not chunk:
            raise HTTPException(f"the answer ended {length - at} bytes early")
        body[at : at + len(chunk)] = chunk
        at += len(chunk)
    return body, True


async def _read_chunks(reader: asyncio.StreamReader) -> bytearray:
    body = bytearray()
    while True:
        size = await _read_chunk_size(reader)
        if size == 0:
            break
        _check_size(len(body) + size)
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass  # trailers
    return body


async def _read_chunk_size(reader: asyncio.StreamReader) -> int:
    line = (await reader.readuntil(b"\r\n")).split(b";", 1)[0].strip()
    try:
        return int(line, 16)
    except ValueError as error:
        raise HTTPException(f"no size of a chunk: {line[:80]!r}") from error


def _check_size(size: int) -> None:
    if size > _wire.BODY_BYTES_MAX:
        raise HTTPException(f"a body of {size} bytes is not an answer of the service")
