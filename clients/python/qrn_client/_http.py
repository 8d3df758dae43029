"""HTTP/1.1 for threads: http.client, with connections that are kept and used again."""

from __future__ import annotations

import http.client
import os
import secrets
import socket
import ssl
from threading import Event, Lock, local
from time import monotonic, sleep
from typing import Callable, Dict, List, Optional, Tuple, TypeVar

from . import _wire
from .answers import RawResponse
from .errors import QrnError

T = TypeVar("T")

_IDLE_MAX = 64
_CHUNK_BYTES = 1 << 18
#: The errors of a kept connection that the server has closed meanwhile.
_STALE = (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError, ConnectionAbortedError)
_system = secrets.SystemRandom()  # only for the jitter of waits
_here = local()


class Call:
    """A call that one thread makes for another, which can end it: both a running request and a wait."""

    def __init__(self) -> None:
        self._is_ended = Event()
        self._lock = Lock()
        self._sock: Optional[socket.socket] = None

    def run(self, function: Callable[[], T]) -> T:
        """Runs the function in this thread and returns its result. `end` ends its request or wait."""
        _here.call = self
        return function()

    def end(self) -> None:
        with self._lock:
            self._is_ended.set()
            if self._sock is not None:
                try:
                    # shuts down the TCP socket: SSLSocket.shutdown drops its TLS first, and whatever the other thread sends
                    # before the shutdown, such as the API key, would leave in clear text
                    socket.socket.shutdown(self._sock, socket.SHUT_RDWR)
                except OSError:
                    pass  # the connection has already ended

    def uses(self, sock: Optional[socket.socket]) -> None:
        """Notes the socket that `end` shuts down. The call passes None before it gives the socket back."""
        with self._lock:
            self._sock = sock
        self.wait(0)

    def wait(self, seconds: float) -> None:
        if self._is_ended.wait(seconds):
            raise ConnectionAbortedError("nobody waits for the answer any more")


class _NobodyEnds(Call):
    """The call of a thread that works for itself, which nobody ends."""

    def uses(self, sock: Optional[socket.socket]) -> None:
        pass

    def wait(self, seconds: float) -> None:
        sleep(seconds)


def _call() -> Call:
    call: Call = getattr(_here, "call", _OWN)
    return call


_OWN = _NobodyEnds()


def wait(seconds: float) -> None:
    """Waits, unless the call of this thread is ended."""
    _call().wait(seconds)


class Transport:
    """Sends one request at a time on each connection. Any number of threads may use it."""

    def __init__(self, settings: _wire.Settings, ssl_context: Optional[ssl.SSLContext]) -> None:
        self._settings = settings
        self._ssl = ssl_context
        self._idle: List[http.client.HTTPConnection] = []
        self._lock = Lock()
        self._process = os.getpid()

    def send(self, settings: _wire.Settings, request: _wire.Request) -> RawResponse:
        """Returns the first answer. Sends a failed request again while that may help and retries are left."""
        attempt = 1
        while True:
            try:
                return _wire.checked(request, self._exchange(request, settings.timeout))
            except QrnError as error:
                delay = _wire.after_failure(settings, request, error, attempt, _system.random())
                if delay is None:
                    raise
            wait(delay)
            attempt += 1

    def _exchange(self, request: _wire.Request, timeout: float) -> RawResponse:
        """Sends one request and returns its complete response, whatever its status. Raises `network_error` or `timeout`."""
        deadline = monotonic() + timeout
        with self._lock:
            if self._process != os.getpid():  # after a fork: these connections belong to the parent
                self._process, self._idle = os.getpid(), []
            connection = self._idle.pop() if self._idle else None
        reused = connection is not None
        if connection is None:
            connection = self._connection(timeout)
        try:
            try:
                response, sock = _ask(connection, request, timeout)
            except _STALE:
                if not reused:
                    raise
                connection.close()
                connection = self._connection(timeout)
                response, sock = _ask(connection, request, timeout)
            body = _read(response, sock, deadline)
            _call().uses(None)
        except BaseException as error:
            connection.close()
            if isinstance(error, (socket.timeout, TimeoutError)):
                raise _wire.network_error(error, timeout, True) from error
            if isinstance(error, (OSError, http.client.HTTPException)):
                raise _wire.network_error(error, timeout, False) from error
            raise
        self._keep(connection, response)
        headers: Dict[str, str] = {name.lower(): value for name, value in response.getheaders()}
        return RawResponse(response.status, headers, body)

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        host, port = self._settings.host, self._settings.port
        if self._settings.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=timeout)
        context = self._ssl or ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=context)

    def _keep(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
        with self._lock:
            if not response.will_close and len(self._idle) < _IDLE_MAX:
                self._idle.append(connection)
                return
        connection.close()


def _ask(
    connection: http.client.HTTPConnection,
    request: _wire.Request,
    timeout: float,
) -> Tuple[http.client.HTTPResponse, socket.socket]:
    headers = dict(request.headers)
    if request.idempotency_key is not None:
        headers["Idempotency-Key"] = request.idempotency_key
    if connection.sock is None:
        connection.timeout = timeout
        connection.connect()
    sock = connection.sock
    assert isinstance(sock, socket.socket)
    sock.settimeout(timeout)
    _call().uses(sock)
    connection.request(request.method, request.target, request.body, headers)
    return connection.getresponse(), sock


def _read(response: http.client.HTTPResponse, sock: socket.socket, deadline: float) -> bytearray:
    """Reads the body into one array, over which the values of an octet answer are views."""
    length = response.length
    if length is not None and length > _wire.BODY_BYTES_MAX:
        raise http.client.HTTPException(f"a body of {length} bytes is not an answer of the service")
    body = bytearray(length or 0)
    at = 0
    while length is None or at < length:
        left = deadline - monotonic()
        if left <= 0:
            raise TimeoutError
        sock.settimeout(left)
        if length is None:
            chunk = response.read(_CHUNK_BYTES)
            body += chunk
            got = len(chunk)
            if len(body) > _wire.BODY_BYTES_MAX:
                raise http.client.HTTPException("the body does not end")
            if got == 0:
                break
        else:
            with memoryview(body) as view:
                got = response.readinto(view[at : at + _CHUNK_BYTES])
            if got == 0:
                raise http.client.IncompleteRead(bytes(0), length - at)
        at += got
    if length is None and not response.chunked and not body:
        # http.client treats a truncated head as one without Content-Length.
        raise http.client.HTTPException("the answer was cut")
    response.close()
    return body
