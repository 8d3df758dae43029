"""The client for asyncio."""

from __future__ import annotations

import asyncio
import copy
import ssl
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from itertools import count
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Coroutine, Deque, Optional, TypeVar

from ._http import Call
from .answers import OctetAnswer
from .client import Blocks, QrnClient
from .draws import Draws

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")

T = TypeVar("T")

#: The most calls at one time; further ones wait.
_THREADS_MAX = 64


def _call(make: Callable[Concatenate[QrnClient, P], T]) -> Callable[Concatenate[AsyncQrnClient, P], Coroutine[Any, Any, T]]:
    """Returns the coroutine method for a method of QrnClient."""

    @wraps(make)
    async def method(self: AsyncQrnClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._run(partial(make, self._client, *args, **kwargs))

    return method


def _draw_call(make: Callable[Concatenate[Draws, P], T]) -> Callable[Concatenate[AsyncDraws, P], Coroutine[Any, Any, T]]:
    """Returns the coroutine method for a method of Draws."""

    @wraps(make)
    async def method(self: AsyncDraws, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._client._run(partial(make, self._client._client.draws, *args, **kwargs))

    return method


def _stream(
    make: Callable[Concatenate[QrnClient, P], Blocks],
) -> Callable[Concatenate[AsyncQrnClient, P], AsyncIterator[OctetAnswer]]:
    """Returns the method that yields the blocks one by one."""

    @wraps(make)
    def method(self: AsyncQrnClient, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[OctetAnswer]:
        return self._in_order(make(self._client, *args, **kwargs))

    return method


class AsyncQrnClient:
    """`QrnClient` for asyncio: it has the same methods, and each is awaited.

    Any number of tasks may use one client. The client makes up to 64 calls at a time, in its own threads.
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
        options: Any = {"timeout": timeout, "retries": retries, "retry_wait_max": retry_wait_max}
        self._client = QrnClient(url, key, ssl_context=ssl_context, **options)
        self._threads = ThreadPoolExecutor(_THREADS_MAX, "qrn-client")

    def with_options(
        self, *, timeout: Optional[float] = None, retries: Optional[int] = None, retry_wait_max: Optional[float] = None
    ) -> "AsyncQrnClient":
        """Returns a client with other options that shares the connections of this one."""
        other = copy.copy(self)
        other._client = self._client.with_options(timeout=timeout, retries=retries, retry_wait_max=retry_wait_max)
        return other

    async def close(self) -> None:
        """Waits for the running calls and closes the connections. The client makes no further call."""
        await asyncio.to_thread(self._threads.shutdown)
        self._client.close()

    async def __aenter__(self) -> "AsyncQrnClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def draws(self) -> AsyncDraws:
        """Committed draws: the service commits to each before anybody can know its outcome."""
        return AsyncDraws(self)

    integers = _call(QrnClient.integers)
    bytes = _call(QrnClient.bytes)
    floats = _call(QrnClient.floats)
    uuid = _call(QrnClient.uuid)
    bitstring = _call(QrnClient.bitstring)
    shuffle = _call(QrnClient.shuffle)
    sample = _call(QrnClient.sample)
    weighted = _call(QrnClient.weighted)
    strings = _call(QrnClient.strings)
    sequences = _call(QrnClient.sequences)
    permutations = _call(QrnClient.permutations)
    gaussians = _call(QrnClient.gaussians)
    batch = _call(QrnClient.batch)
    bytes_octets = _call(QrnClient.bytes_octets)
    batch_octets = _call(QrnClient.batch_octets)
    stream = _stream(QrnClient._blocks)
    quote = _call(QrnClient.quote)
    certificate = _call(QrnClient.certificate)
    certificate_pdf = _call(QrnClient.certificate_pdf)
    usage = _call(QrnClient.usage)
    tiers = _call(QrnClient.tiers)
    health = _call(QrnClient.health)
    keys = _call(QrnClient.keys)
    verify = _call(QrnClient.verify)

    async def _run(self, function: Callable[[], T]) -> T:
        call = Call()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, call.run, function)
        except asyncio.CancelledError:
            call.end()  # otherwise the thread would wait for an answer that nobody wants
            raise

    async def _in_order(self, blocks: Blocks) -> AsyncIterator[OctetAnswer]:
        coming: Deque[asyncio.Task[OctetAnswer]] = deque()
        try:
            for taken in count():
                for call in blocks.begun(taken, len(coming)):
                    task = asyncio.create_task(self._run(call))
                    task.add_done_callback(_looked_at)
                    coming.append(task)
                if not coming:
                    return
                yield await coming.popleft()
        finally:
            for task in coming:
                task.cancel()


def _looked_at(task: asyncio.Task[Any]) -> None:
    """Reads the task's error. A reader that leaves the loop does not, and asyncio would warn about the error."""
    if not task.cancelled():
        task.exception()


class AsyncDraws:
    """`QrnClient.draws` for asyncio: it has the same methods, and each is awaited."""

    def __init__(self, client: AsyncQrnClient) -> None:
        self._client = client

    create = _draw_call(Draws.create)
    get = _draw_call(Draws.get)
    cancel = _draw_call(Draws.cancel)
    reveal = _draw_call(Draws.reveal)
    wait = _draw_call(Draws.wait)
