"""Committed draws as the service shows them. Hashes are `sha256:` and 64 hex digits, bytes are in hex, times are ISO 8601 in UTC."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence, TypedDict


class DrawList(TypedDict, total=False):
    """The items, or `sha256` and `size` of a list that stays with you: the winners are then its line numbers, from 1."""

    items: Sequence[str]
    #: 64 hex digits, of every item in UTF-8 with a line feed behind it, as `sha256sum` gives it of a file.
    sha256: str
    size: int


class _Winners(TypedDict):
    #: How many; without weights none is drawn twice.
    count: int
    list: DrawList


class DrawWinners(_Winners, total=False):
    #: A whole number from 1 on for each item; then winners are picked independently, and one may be picked twice.
    weights: Sequence[int]


class _Values(TypedDict):
    type: str
    count: int


class DrawValues(_Values, total=False):
    """Values as `batch` draws them; they may take 64 KiB as JSON."""

    params: Mapping[str, Any]


class DrawBeacon(TypedDict):
    """A round of a public beacon. `chain`: a name that the service knows, such as quicknet, or a hash."""

    chain: str
    round: int


class _Listed(TypedDict):
    sha256: str
    size: int


class _Statement(TypedDict):
    type: str
    version: int
    id: str
    #: What is drawn, every default written out; `kind` says of which kind.
    request: Mapping[str, Any]
    purpose: str
    public: bool
    due_at: str


class DrawStatement(_Statement, total=False):
    """What is fixed before anybody knows the outcome."""

    list: _Listed
    user_data: str
    user_data_sha256: str
    nonce: str
    nonce_sha256: str
    #: `chain` is the hash of the chain.
    beacon: DrawBeacon
    #: When a draw fails that lacks its round or its nonce.
    gives_up_at: str


class _Round(DrawBeacon):
    signature: str
    randomness: str


class DrawRound(_Round, total=False):
    """The beacon's round that entered a draw."""

    previous_signature: str


class DrawOutcome(TypedDict):
    """How a draw ended, forever."""

    type: str
    version: int
    statement_sha256: str
    #: revealed, cancelled or failed
    state: str
    #: None when it was revealed; else cancelled, beacon_missing, beacon_wrong, nonce_missing or secret_lost.
    reason: Optional[str]
    #: The 32 bytes that were committed.
    secret: Optional[str]
    nonce: Optional[str]
    beacon: Optional[DrawRound]
    #: Winners or values. Of a cancelled draw what they would have been; None where something that they need is missing.
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
