"""Streams of values by GET /v1/stream, resumed where they break off."""

from __future__ import annotations

import json
from typing import Any, Dict, Mapping, Tuple

from . import _wire
from ._flow import Flow, Give, Open, Read, Reply, StreamFlow, Wait, retry_wait
from ._options import DrawOptions
from .answers import OctetAnswer, RawResponse
from .errors import ConnectionFailedError, InvalidAnswerError, QrnError

#: Two lengths of 32 bits, little-endian: of the JSON text, and of the octets behind it.
_LENGTHS_BYTES = 8
#: More than header fields take.
_TEXT_BYTES_MAX = 65_536


def blocks(
    settings: _wire.Settings, type: str, total: int, block: int, params: Mapping[str, Any], options: DrawOptions
) -> StreamFlow[OctetAnswer]:
    """The blocks of a stream, each as the batch that it stands for. A block that came counts as a fresh start."""
    done, attempt = 0, 1
    while True:
        request = _request(settings, {"type": type, "total": total, "block": block, **params}, options, done)
        try:
            reply: Reply = yield Open(request, settings.timeout)
            try:
                _wire.checked(request, reply.head)
                while True:
                    facts, octets = yield from _frame(reply, settings.timeout)
                    if "end" in facts:
                        return
                    count = min(block, total - done * block)
                    answer = _wire.octet_answer(_block(facts, octets), "batch", type, count)
                    done, attempt = done + 1, 1
                    yield Give(answer)
            finally:
                reply.close()
        except QrnError as error:
            delay = retry_wait(settings, request, error, attempt)
        yield Wait(delay)
        attempt += 1


def _request(
    settings: _wire.Settings, parameters: Mapping[str, Any], options: DrawOptions, first: int
) -> _wire.Request:
    resumed = {**parameters, "first": first or None}
    return _wire.draw(settings, "stream", resumed, options, octets=True)


def _frame(reply: Reply, timeout: float) -> Flow[Tuple[Dict[str, Any], bytearray]]:
    lengths = yield from _exactly(reply, _LENGTHS_BYTES, timeout)
    text_bytes, octets_bytes = (int.from_bytes(lengths[at : at + 4], "little") for at in (0, 4))
    if text_bytes > _TEXT_BYTES_MAX or octets_bytes > _wire.BODY_BYTES_MAX:
        raise _no_frame()
    text = yield from _exactly(reply, text_bytes, timeout)
    octets = yield from _exactly(reply, octets_bytes, timeout)
    try:
        facts = json.loads(text)
    except ValueError as error:
        raise _no_frame() from error
    if not isinstance(facts, dict):
        raise _no_frame()
    return facts, octets


def _exactly(reply: Reply, size: int, timeout: float) -> Flow[bytearray]:
    piece: bytearray = yield Read(reply, size, timeout)
    if len(piece) < size:
        raise ConnectionFailedError("The stream ended before its last frame.", code="network_error")
    return piece


def _block(facts: Mapping[str, Any], octets: bytearray) -> RawResponse:
    """The reply that a block stands for. Raises the error that stands in its place."""
    error = facts.get("error")
    if isinstance(error, dict):
        wait = facts.get("retry_after")
        headers = {} if wait is None else {"retry-after": str(wait)}
        raise _wire.error_of(RawResponse(int(error.get("status", 0)), headers, bytearray(json.dumps(facts).encode())))
    return RawResponse(200, {name.lower(): str(value) for name, value in facts.items()}, octets)


def _no_frame() -> QrnError:
    return InvalidAnswerError("The body holds no frames of a stream.", code="invalid_answer", status=200)
