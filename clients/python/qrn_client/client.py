"""The service over HTTP, for threads."""

from __future__ import annotations

import copy
import ssl
from collections import deque
from functools import partial, wraps
from itertools import count
from queue import SimpleQueue
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING, Any, Callable, Deque, Generator, Iterator, Optional, TypeVar, Union

from . import _wire
from ._calls import Calls
from ._draw_calls import DrawCalls
from ._flow import Compute, Exchange, Flow, Step, Stream
from ._http import Transport
from .errors import QrnError

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")

S = TypeVar("S")
T = TypeVar("T")


def _call(make: Callable[Concatenate[Calls, P], Flow[T]]) -> Callable[Concatenate[QrnClient, P], T]:
    """The method that makes a call and waits for what it gives."""

    @wraps(make)
    def method(self: QrnClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._run(make(Calls(self._settings), *args, **kwargs))

    return method


def _stream(make: Callable[Concatenate[Calls, P], Stream[T]]) -> Callable[Concatenate[QrnClient, P], Iterator[T]]:
    """The method that gives the values of a stream one by one."""

    @wraps(make)
    def method(self: QrnClient, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        return self._values(make(Calls(self._settings), *args, **kwargs))

    return method


def _draw_call(make: Callable[Concatenate[DrawCalls, P], Flow[T]]) -> Callable[Concatenate[Draws, P], T]:
    """The method of `draws` that makes a call and waits for what it gives."""

    @wraps(make)
    def method(self: Draws, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._client._run(make(DrawCalls(self._client._settings), *args, **kwargs))

    return method


class QrnClient:
    """Every method returns an answer or raises a QrnError. Any number of threads may use one client.

    url: the service, `/v1` included or not; default QRN_URL, else the service on this machine
    key: the API key; default QRN_KEY
    timeout: seconds for one attempt, its body included
    retries: attempts after the first
    retry_wait_max: a service that asks to wait for more seconds is not waited for

    Parameters that are left out have the service's defaults. Every call that draws values also takes:

    entropy_mode: quantum-seeded, pure or csprng; left out, the account's tier decides, and never for pure
    purpose: what the values are for, 1 to 100 characters; the certificate numbers the account's answers under it
    user_data, user_data_sha256: what the certificate is to be bound to, up to 1,000 characters, or its SHA-256 in hex
    public: whether the certificate shows purpose and user_data, rather than commitments to them
    idempotency_key: 1 to 255 visible ASCII characters; in pure mode and with a purpose the client makes one for each call
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

    def with_options(
        self, *, timeout: Optional[float] = None, retries: Optional[int] = None, retry_wait_max: Optional[float] = None
    ) -> "QrnClient":
        """The same client, on the same connections, with other options."""
        other = copy.copy(self)
        other._settings = self._settings.replaced(timeout, retries, retry_wait_max)
        return other

    def close(self) -> None:
        """Closes idle connections."""
        self._transport.close()

    def __enter__(self) -> "QrnClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def draws(self) -> Draws:
        """Draws that are committed to before anybody can know their outcome."""
        return Draws(self)

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

    def _run(self, flow: Flow[T]) -> T:
        advance: Callable[[], Step] = flow.__next__
        while True:
            try:
                step = advance()
            except StopIteration as end:
                value: T = end.value
                return value
            advance = self._after(flow, step)

    def _values(self, stream: Stream[T]) -> Iterator[T]:
        coming: Deque[SimpleQueue[Union[T, BaseException]]] = deque()
        for taken in count():
            coming.extend(map(self._begun, stream.begun(taken, len(coming))))
            if not coming:
                return
            came = coming.popleft().get()
            if isinstance(came, BaseException):
                raise came
            yield came

    def _begun(self, flow: Flow[T]) -> SimpleQueue[Union[T, BaseException]]:
        """Takes what the flow gives, or the error that ended it, from a thread that no exit of the program waits for."""
        box: SimpleQueue[Union[T, BaseException]] = SimpleQueue()

        def run() -> None:
            try:
                box.put(self._run(flow))
            except BaseException as error:
                box.put(error)

        Thread(target=run, daemon=True).start()
        return box

    def _after(self, flow: Generator[S, Any, Any], step: Step) -> Callable[[], S]:
        """Performs a step, and gives what tells the flow of it and gets the next."""
        try:
            outcome = self._perform(step)
        except QrnError as error:
            return partial(flow.throw, error)
        return partial(flow.send, outcome)

    def _perform(self, step: Step) -> Any:
        if isinstance(step, Exchange):
            return self._transport.exchange(step.request, step.timeout)
        if isinstance(step, Compute):
            return step.function()
        return sleep(step.seconds)


class Draws:
    """Committed draws. Every method returns a draw as `GET /v1/draws/ID` shows it, or raises a QrnError."""

    def __init__(self, client: QrnClient) -> None:
        self._client = client

    create = _draw_call(DrawCalls.create)
    get = _draw_call(DrawCalls.get)
    cancel = _draw_call(DrawCalls.cancel)
    reveal = _draw_call(DrawCalls.reveal)
    wait = _draw_call(DrawCalls.wait)
