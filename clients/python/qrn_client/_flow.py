"""What a call does, step by step, without saying how: the clients for threads and for asyncio take the same steps.

A flow is a generator of steps. Whoever runs it performs each step and sends it what came of that, or throws into it
the QrnError that the step raised; the flow returns what the call gives. No flow touches a socket or a thread, and
that of `draws.wait` alone reads a clock.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from itertools import islice
from typing import Any, Callable, Generator, Generic, Iterator, TypeVar, Union

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


Step = Union[Exchange, Wait, Compute]
Flow = Generator[Step, Any, T]


@dataclass(frozen=True)
class Stream(Generic[T]):
    """The blocks of a stream: each flow is one of them. They are begun ahead of their reader and given in their order."""

    flows: Iterator[Flow[T]]
    #: Blocks that are under way or wait for their reader at most, beside the one that it has.
    ahead: int

    def begun(self, taken: int, coming: int) -> Iterator[Flow[T]]:
        """Those to begin now: one is under way at first, and one more for each that the reader took."""
        return islice(self.flows, max(0, min(taken + 1, self.ahead) - coming))


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
