"""What a call does, step by step, without saying how: the clients for threads and for asyncio take the same steps.

A flow is a generator of steps. Whoever runs it performs each step and sends it what came of that, or throws into it
the QrnError that the step raised; the flow returns what the call gives. No flow touches a socket or a thread, and
that of `draws.wait` alone reads a clock.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, Callable, Generator, Generic, Protocol, TypeVar, Union

from . import _wire
from .answers import RawResponse
from .errors import QrnError

T = TypeVar("T")

_system = secrets.SystemRandom()  # for the jitter of waits alone


@dataclass(frozen=True)
class Exchange:
    """Send a request once, and give its whole answer, whatever its status."""

    request: _wire.Request
    #: Seconds for all of it.
    timeout: float


@dataclass(frozen=True)
class Wait:
    """Let so many seconds pass."""

    seconds: float


@dataclass(frozen=True)
class Compute:
    """Give what the function returns, which takes long and waits for nothing."""

    function: Callable[[], Any]


@dataclass(frozen=True)
class Give(Generic[T]):
    """Hand a value to the reader of a stream, and go on when the next is wanted."""

    value: T


class Reply(Protocol):
    """A reply whose body is read in pieces. One that is no answer has its whole body in `head`."""

    head: RawResponse

    def close(self) -> None:
        """Ends the connection, with whatever is still on its way."""


@dataclass(frozen=True)
class Open:
    """Send a request once, and give its Reply as soon as the head is there."""

    request: _wire.Request
    timeout: float


@dataclass(frozen=True)
class Read:
    """Give the next `size` bytes of a body as a bytearray, fewer only at its end."""

    reply: Any
    size: int
    timeout: float


Step = Union[Exchange, Wait, Compute, Open, Read]
Flow = Generator[Step, Any, T]
StreamFlow = Generator[Union[Step, Give[T]], Any, None]


def sent(settings: _wire.Settings, request: _wire.Request) -> Flow[RawResponse]:
    """The first answer: one attempt after the other, as long as another may help and retries are left."""
    attempt = 1
    while True:
        try:
            reply: RawResponse = yield Exchange(request, settings.timeout)
            return _wire.checked(request, reply)
        except QrnError as error:
            delay = retry_wait(settings, request, error, attempt)
        yield Wait(delay)
        attempt += 1


def retry_wait(settings: _wire.Settings, request: _wire.Request, error: QrnError, attempt: int) -> float:
    """Seconds before the next attempt; raises the error when there is none."""
    delay = _wire.after_failure(settings, request, error, attempt, _system.random())
    if delay is None:
        raise error
    return delay
