"""Committed draws. Hashes are `sha256:` and 64 hex digits, bytes are in hex, times are ISO 8601 in UTC."""

from __future__ import annotations

from datetime import datetime, timezone
from math import inf
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Callable, List, Mapping, Optional, Sequence, TypedDict, Union, cast
from urllib.parse import quote

from . import _wire
from ._http import wait
from ._options import key_of
from ._reading import milliseconds_of
from .answers import RawResponse
from .errors import DrawEndedError, TimeoutExceededError

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class DrawList(TypedDict, total=False):
    """The items, or `sha256` and `size` of a list that you keep; then the winners are its line numbers, from 1."""

    items: Sequence[str]
    #: 64 hex digits: the hash of all items in UTF-8, each followed by a line feed, as `sha256sum` prints it of a file.
    sha256: str
    size: int


class DrawWinners(TypedDict):
    #: The number of winners. Without weights no item is drawn twice.
    count: int
    list: DrawList
    #: A whole number from 1 on for each item. With weights, winners are picked independently, so one may be picked twice.
    weights: NotRequired[Sequence[int]]


class DrawValues(TypedDict):
    """Values as in a batch. They may take at most 64 KiB as JSON."""

    type: str
    count: int
    params: NotRequired[Mapping[str, Any]]


class DrawBeacon(TypedDict):
    """A round of a public beacon. `chain`: a name that the service knows, such as quicknet, or a hash."""

    chain: str
    round: int


class DrawStatement(TypedDict):
    """What the service commits to before anybody knows the outcome."""

    type: str
    version: int
    id: str
    #: What is drawn: its `kind` and all parameters, defaults included.
    request: Mapping[str, Any]
    purpose: str
    public: bool
    due_at: str
    #: `sha256` and `size` of the list.
    list: NotRequired[DrawList]
    user_data: NotRequired[str]
    user_data_sha256: NotRequired[str]
    nonce: NotRequired[str]
    nonce_sha256: NotRequired[str]
    #: `chain` is the hash of the chain.
    beacon: NotRequired[DrawBeacon]
    #: When the draw fails if its round or its nonce is still missing.
    gives_up_at: NotRequired[str]


class DrawRound(DrawBeacon):
    """The beacon's round that the values of a draw depend on."""

    signature: str
    randomness: str
    previous_signature: NotRequired[str]


class DrawOutcome(TypedDict):
    """How a draw ended. An outcome never changes."""

    type: str
    version: int
    statement_sha256: str
    #: revealed, cancelled or failed
    state: str
    #: None when it was revealed; else cancelled, beacon_missing, beacon_wrong, nonce_missing or secret_lost.
    reason: Optional[str]
    #: The 32 secret bytes that the service had committed to.
    secret: Optional[str]
    nonce: Optional[str]
    beacon: Optional[DrawRound]
    #: Winners or values; for a cancelled draw those that it would have had. None when something is missing to compute them.
    values: Optional[List[Any]]
    ended_at: str


class DrawLeaf(TypedDict):
    """A leaf of the log."""

    leaf: str
    #: c2sp.org/tlog-proof; None until the leaf is logged.
    proof: Optional[str]


class Draw(TypedDict):
    """All that is public of a draw. Saved as JSON it is what `qrn verify` checks."""

    type: str
    version: int
    #: `draw_` and 26 characters: whoever has it can read the draw.
    id: str
    #: committed, revealed, cancelled or failed
    state: str
    statement: DrawStatement
    statement_sha256: str
    committed_at: str
    certificate_id: str
    certificate: Optional[Mapping[str, Any]]
    commit: DrawLeaf
    #: From the end on: the answer whose bytes were committed.
    answer: Optional[Mapping[str, Any]]
    #: What the beacon says of its chain.
    chain: Optional[Mapping[str, Any]]
    #: None until the draw has ended.
    outcome: Optional[DrawOutcome]
    end: Optional[DrawLeaf]


#: Seconds between two looks at a draw that is due; doubles with every further one.
_WAIT_FIRST = 0.25
_WAIT_MAX = 8.0
#: A draw that is not due yet is looked at so often all the same: it may be cancelled, and this clock may be wrong.
_EARLY_WAIT_MAX = 60.0


class Draws:
    """Committed draws. Every method returns a draw as `GET /v1/draws/ID` shows it, or raises a QrnError.

    A committed draw has its secret bytes fixed and logged before anybody can know the outcome. `create`, `reveal` and
    `cancel` need a key with the scope entropy:batch; reading needs none, and none is sent.
    """

    def __init__(self, settings: _wire.Settings, send: Callable[[_wire.Request], RawResponse]) -> None:
        self._settings = settings
        self._send = send

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
    ) -> Draw:
        """Commits to a draw, for 32 credits. Give `winners` or `request`.

        Each call has an Idempotency-Key, so that a retry gets the same draw. A draw without `beacon`, `reveal_at` and
        `nonce_sha256` is revealed a moment later.

        purpose: what the draw is for, 1 to 100 characters; the service numbers the account's draws with the same purpose
        winners: `{"count": …, "list": {"items": […]}}`, with `weights` if they differ; for a list that you keep, its `sha256`
            and `size` instead of the items
        request: `{"type": …, "count": …, "params": {…}}` as for `batch`
        user_data, user_data_sha256: a text to which the draw is bound, up to 1,000 characters, or its SHA-256 in hex
        public: whether the certificate shows the purpose; the page of the draw always shows it
        nonce: 1 to 64 bytes that the values also depend on
        nonce_sha256: the SHA-256 of a nonce in hex instead of `nonce`; `reveal` then reveals it
        beacon: `{"chain": …, "round": …}`: a round of a public beacon that the values also depend on
        reveal_at: the earliest time of the reveal: a datetime with a time zone, or ISO 8601 in UTC
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
        return self._draw(_wire.post(self._settings, "/draws", members, key_of(idempotency_key), (201,)))

    def get(self, /, id: str) -> Draw:
        """The draw in its present state."""
        return self._draw(_wire.fetch(self._settings, _path_of(id), with_key=False))

    def cancel(self, /, id: str) -> Draw:
        """Cancels a draw that is not due. The service reveals its secret bytes and logs that it was cancelled."""
        request = _wire.delete(self._settings, _path_of(id))
        return self._ending(request, id, lambda draw: draw["state"] == "cancelled")

    def reveal(self, /, id: str, nonce: bytes) -> Draw:
        """Reveals the nonce of a draw that was made with `nonce_sha256`."""
        digits = bytes(nonce).hex()
        request = _wire.post(self._settings, _path_of(id) + "/reveal", {"nonce": digits})
        return self._ending(request, id, lambda draw: draw["outcome"] is not None and draw["outcome"]["nonce"] == digits)

    def wait(self, /, id: str, *, timeout: Optional[float] = None) -> Draw:
        """Returns the draw when it has ended: revealed, cancelled or failed.

        Fetches it when it is due, and then at growing intervals. Waits a moment longer for the proofs of the log, which a check
        of the draw needs.

        timeout: seconds for the whole wait, after which it raises TimeoutExceededError. Default: no limit
        """
        end = inf if timeout is None else monotonic() + timeout
        draw = self.get(id)
        pause = _WAIT_FIRST
        while draw["state"] == "committed":
            left = end - monotonic()
            if left <= 0:
                due = draw["statement"]["due_at"]
                raise TimeoutExceededError(f"The draw {id} has not ended within {timeout:g} s; it is due at {due}.", code="timeout")
            early = min(_due(draw) - time(), _EARLY_WAIT_MAX)
            wait(min(max(early, pause), left))
            if early <= 0:
                pause = min(2 * pause, _WAIT_MAX)
            draw = self.get(id)
        for seconds in _wire.PROOF_WAITS:
            left = end - monotonic()
            if _is_proven(draw) or left <= 0:
                break
            wait(min(seconds, left))
            draw = self.get(id)
        return draw

    def _ending(self, request: _wire.Request, id: str, is_done: Callable[[Draw], bool]) -> Draw:
        """Sends a request that ends, or may end, a draw.

        When the reply to the first attempt is lost, the retry gets `draw_ended`; then the draw itself shows whether the first
        attempt has done what was asked.
        """
        try:
            return self._draw(request)
        except DrawEndedError as error:
            draw = self.get(id) if error.attempts > 1 else None
            if draw is None or not is_done(draw):
                raise
            return draw

    def _draw(self, request: _wire.Request) -> Draw:
        return cast(Draw, _wire.object_of(self._send(request), "statement"))


def _due(draw: Draw) -> float:
    """Returns when the draw is due, in seconds since 1970; 0 when the draw does not say it."""
    try:
        return milliseconds_of(draw["statement"]["due_at"]) / 1_000
    except (TypeError, ValueError):
        return 0.0


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
