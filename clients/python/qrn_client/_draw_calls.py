"""The calls of committed draws, once for both clients."""

from __future__ import annotations

from datetime import datetime, timezone
from math import inf
from time import monotonic, time
from typing import Any, Callable, Optional, Union, cast
from urllib.parse import quote

from . import _wire
from ._flow import Flow, Wait, sent
from ._members import time_of
from ._options import key_of
from .draws import Draw, DrawBeacon, DrawValues, DrawWinners
from .errors import DrawEndedError, TimeoutExceededError

#: Seconds between two looks at a draw that is due; doubles with every further one.
_WAIT_FIRST = 0.25
_WAIT_MAX = 8.0
#: A draw that is not due yet is looked at so often all the same: it may be cancelled, and this clock may be wrong.
_EARLY_WAIT_MAX = 60.0


class DrawCalls:
    """The calls of a client with these settings.

    A committed draw has its secret bytes fixed and logged before anybody can know the outcome. `create`, `reveal` and
    `cancel` need a key with the scope entropy:batch; reading needs none, and none is sent.
    """

    def __init__(self, settings: _wire.Settings) -> None:
        self.settings = settings

    def create(
        self,
        /,
        purpose: str,
        *,
        winners: Optional[DrawWinners] = None,
        request: Optional[DrawValues] = None,
        user_data: Optional[str] = None,
        user_data_sha256: Optional[str] = None,
        public: Optional[bool] = None,
        nonce: Optional[bytes] = None,
        nonce_sha256: Optional[str] = None,
        beacon: Optional[DrawBeacon] = None,
        reveal_at: Union[datetime, str, None] = None,
        idempotency_key: Optional[str] = None,
    ) -> Flow[Draw]:
        """Commits to a draw, for 32 credits. Give `winners` or `request`.

        Each call has an Idempotency-Key, so that a retry gets the same draw. Without `beacon`, `reveal_at` and
        `nonce_sha256` it is revealed a moment later.

        purpose: what the draw is for, 1 to 100 characters; draws of the account under it are numbered
        winners: `{"count": …, "list": {"items": […]}}`, with `weights` if they differ; or, for a list that stays with
            you, its `sha256` and `size`
        request: `{"type": …, "count": …, "params": {…}}` as of `batch`
        user_data, user_data_sha256: what the draw is bound to, up to 1,000 characters, or its SHA-256 in hex
        public: whether the certificate shows the purpose; the page of the draw shows it always
        nonce: 1 to 64 bytes that enter the values
        nonce_sha256: in place of `nonce` its SHA-256 in hex; `reveal` opens it
        beacon: `{"chain": …, "round": …}`: a round of a public beacon that enters the values
        reveal_at: not revealed before: a datetime with a time zone, or ISO 8601 in UTC
        """
        members = {
            "request": request,
            "winners": winners,
            "purpose": purpose,
            "user_data": user_data,
            "user_data_sha256": user_data_sha256,
            "public": public,
            "nonce": None if nonce is None else bytes(nonce).hex(),
            "nonce_sha256": nonce_sha256,
            "beacon": beacon,
            "reveal_at": _time_text(reveal_at) if isinstance(reveal_at, datetime) else reveal_at,
        }
        return self._draw(_wire.post(self.settings, "/draws", members, key_of(idempotency_key), (201,)))

    def get(self, /, id: str) -> Flow[Draw]:
        """A draw as it stands."""
        return self._draw(_wire.fetch(self.settings, _path_of(id), with_key=False))

    def cancel(self, /, id: str) -> Flow[Draw]:
        """Cancels a draw that is not due: its secret bytes are opened, and the log says that it was cancelled."""
        request = _wire.delete(self.settings, _path_of(id))
        return self._ending(request, id, lambda draw: draw["state"] == "cancelled")

    def reveal(self, /, id: str, nonce: bytes) -> Flow[Draw]:
        """Opens the nonce of a draw that was made with `nonce_sha256`."""
        digits = bytes(nonce).hex()
        request = _wire.post(self.settings, _path_of(id) + "/reveal", {"nonce": digits})
        return self._ending(request, id, lambda draw: draw["outcome"] is not None and draw["outcome"]["nonce"] == digits)

    def wait(self, /, id: str, *, timeout: Optional[float] = None) -> Flow[Draw]:
        """The draw once it has ended: revealed, cancelled or failed.

        Looks at it when it is due, and then ever more seldom, and waits a moment longer for the proofs of the log that
        its check needs.

        timeout: seconds for the whole wait, after which it raises TimeoutExceededError; without it there is no limit
        """
        end = inf if timeout is None else monotonic() + timeout
        draw = yield from self.get(id)
        wait = _WAIT_FIRST
        while draw["state"] == "committed":
            left = end - monotonic()
            if left <= 0:
                due = draw["statement"]["due_at"]
                raise TimeoutExceededError(f"The draw {id} has not ended within {timeout:g} s; it is due at {due}.", code="timeout")
            early = min((time_of(draw["statement"]["due_at"]) or 0) / 1_000 - time(), _EARLY_WAIT_MAX)
            yield Wait(min(max(early, wait), left))
            if early <= 0:
                wait = min(2 * wait, _WAIT_MAX)
            draw = yield from self.get(id)
        for seconds in _wire.PROOF_WAITS:
            left = end - monotonic()
            if _is_proven(draw) or left <= 0:
                break
            yield Wait(min(seconds, left))
            draw = yield from self.get(id)
        return draw

    def _ending(self, request: _wire.Request, id: str, is_done: Callable[[Draw], bool]) -> Flow[Draw]:
        """Sends what ends or may end a draw; where a reply was lost, a retry finds the draw as the first attempt left it."""
        try:
            return (yield from self._draw(request))
        except DrawEndedError as error:
            draw = (yield from self.get(id)) if error.attempts > 1 else None
            if draw is None or not is_done(draw):
                raise
            return draw

    def _draw(self, request: _wire.Request) -> Flow[Draw]:
        reply = yield from sent(self.settings, request)
        return cast(Draw, _wire.object_of(reply, "statement"))


def _path_of(id: str) -> str:
    return f"/draws/{quote(id, safe='')}"


def _time_text(at: datetime) -> str:
    if at.utcoffset() is None:
        raise ValueError("reveal_at: a datetime needs a time zone, such as datetime.timezone.utc")
    return at.astimezone(timezone.utc).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _is_proven(draw: Draw) -> bool:
    certificate: Any = draw["certificate"] or {}
    leaves = (certificate.get("certificate"), draw["commit"], draw["end"])
    return all(isinstance(leaf, dict) and leaf.get("proof") is not None for leaf in leaves)
