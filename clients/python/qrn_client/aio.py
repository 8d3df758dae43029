"""The service over HTTP, for asyncio."""

from __future__ import annotations

import asyncio
import copy
import socket
import ssl
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from itertools import count
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Coroutine, Deque, Generator, List, Optional, TypeVar

from . import _wire
from ._calls import Calls
from ._draw_calls import DrawCalls
from ._flow import Compute, Exchange, Flow, Step, Stream
from ._http import Transport
from .answers import RawResponse
from .errors import QrnError

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")

S = TypeVar("S")
T = TypeVar("T")

#: Requests that are under way at once; further ones wait for their turn.
_THREADS_MAX = 64


def _call(make: Callable[Concatenate[Calls, P], Flow[T]]) -> Callable[Concatenate[AsyncQrnClient, P], Coroutine[Any, Any, T]]:
    """The method that makes a call, to be awaited."""

    @wraps(make)
    async def method(self: AsyncQrnClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._run(make(Calls(self._settings), *args, **kwargs))

    return method


def _stream(make: Callable[Concatenate[Calls, P], Stream[T]]) -> Callable[Concatenate[AsyncQrnClient, P], AsyncIterator[T]]:
    """The method that gives the values of a stream one by one."""

    @wraps(make)
    def method(self: AsyncQrnClient, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        return self._values(make(Calls(self._settings), *args, **kwargs))

    return method


def _draw_call(make: Callable[Concatenate[DrawCalls, P], Flow[T]]) -> Callable[Concatenate[AsyncDraws, P], Coroutine[Any, Any, T]]:
    """The method of `draws` that makes a call, to be awaited."""

    @wraps(make)
    async def method(self: AsyncDraws, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._client._run(make(DrawCalls(self._client._settings), *args, **kwargs))

    return method


class AsyncQrnClient:
    """`QrnClient` for asyncio: the same methods, each to be awaited.

    Any number of tasks may use one client. Requests are sent by threads of its own, 64 at a time.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        key: Optional[str] = None,
        *,
        timeout: float = 30.0,
        retries: int = 3,
        retry_wait_max: float = 60.0,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        self._settings = _wire.Settings.of(url, key, timeout, retries, retry_wait_max)
        self._transport = Transport(self._settings, ssl_context)
        self._threads = ThreadPoolExecutor(_THREADS_MAX, "qrn-client")

    def with_options(
        self, *, timeout: Optional[float] = None, retries: Optional[int] = None, retry_wait_max: Optional[float] = None
    ) -> "AsyncQrnClient":
        """The same client, on the same connections, with other options."""
        other = copy.copy(self)
        other._settings = self._settings.replaced(timeout, retries, retry_wait_max)
        return other

    async def close(self) -> None:
        """Waits for requests that are under way, and closes the connections. The client makes no further call."""
        await asyncio.to_thread(self._threads.shutdown)
        self._transport.close()

    async def __aenter__(self) -> "AsyncQrnClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def draws(self) -> AsyncDraws:
        """Draws that are committed to before anybody can know their outcome."""
        return AsyncDraws(self)

    integers = _call(Calls.integers)
    bytes = _call(Calls.bytes)
    floats = _call(Calls.floats)
    uuid = _call(Calls.uuid)
    bitstring = _call(Calls.bitstring)
    shuffle = _call(Calls.shuffle)
    sample = _call(Calls.sample)
    weighted = _call(Calls.weighted)
    strings = _call(Calls.strings)
    sequences = _call(Calls.sequences)
    permutations = _call(Calls.permutations)
    gaussians = _call(Calls.gaussians)
    batch = _call(Calls.batch)
    bytes_octets = _call(Calls.bytes_octets)
    batch_octets = _call(Calls.batch_octets)
    stream = _stream(Calls.stream)
    quote = _call(Calls.quote)
    certificate = _call(Calls.certificate)
    certificate_pdf = _call(Calls.certificate_pdf)
    usage = _call(Calls.usage)
    tiers = _call(Calls.tiers)
    health = _call(Calls.health)
    keys = _call(Calls.keys)
    verify = _call(Calls.verify)

    async def _run(self, flow: Flow[T]) -> T:
        advance: Callable[[], Step] = flow.__next__
        while True:
            try:
                step = advance()
            except StopIteration as end:
                value: T = end.value
                return value
            advance = await self._after(flow, step)

    async def _values(self, stream: Stream[T]) -> AsyncIterator[T]:
        coming: Deque[asyncio.Task[T]] = deque()
        try:
            for taken in count():
                for flow in stream.begun(taken, len(coming)):
                    task = asyncio.create_task(self._run(flow))
                    task.add_done_callback(_looked_at)
                    coming.append(task)
                if not coming:
                    return
                yield await coming.popleft()
        finally:
            for task in coming:
                task.cancel()

    async def _after(self, flow: Generator[S, Any, Any], step: Step) -> Callable[[], S]:
        """Performs a step, and gives what tells the flow of it and gets the next."""
        try:
            outcome = await self._perform(step)
        except QrnError as error:
            return partial(flow.throw, error)
        return partial(flow.send, outcome)

    async def _perform(self, step: Step) -> Any:
        if isinstance(step, Exchange):
            return await self._exchange(step)
        if isinstance(step, Compute):
            return await asyncio.to_thread(step.function)
        return await asyncio.sleep(step.seconds)

    async def _exchange(self, step: Exchange) -> RawResponse:
        sockets: List[socket.socket] = []
        exchange = partial(self._transport.exchange, step.request, step.timeout, sockets.append)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, exchange)
        except asyncio.CancelledError:
            for each in sockets:
                _end(each)  # else the thread waits for an answer that nobody wants
            raise


def _end(sock: socket.socket) -> None:
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # it has ended by itself


def _looked_at(task: asyncio.Task[Any]) -> None:
    """A reader that leaves does not look at what the blocks behind became; asyncio would warn of their errors."""
    if not task.cancelled():
        task.exception()


class AsyncDraws:
    """`QrnClient.draws` for asyncio: the same methods, each to be awaited."""

    def __init__(self, client: AsyncQrnClient) -> None:
        self._client = client

    create = _draw_call(DrawCalls.create)
    get = _draw_call(DrawCalls.get)
    cancel = _draw_call(DrawCalls.cancel)
    reveal = _draw_call(DrawCalls.reveal)
    wait = _draw_call(DrawCalls.wait)
