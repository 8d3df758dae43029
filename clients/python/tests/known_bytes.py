"""A stand-in for a client: gives a stream of known bytes, block by block, and remembers the calls."""

from __future__ import annotations

import random
from typing import Any, List, Optional

from qrn_client import Credits, Metadata, OctetAnswer, QrnClient, RawResponse


class KnownBytes(QrnClient):
    def __init__(self, seed: int = 1, stream: Optional[bytes] = None) -> None:
        self._source = random.Random(seed)
        self._stream = stream
        self.asked: List[int] = []
        self.modes: List[Optional[str]] = []
        self.given: List[OctetAnswer] = []
        self.failure: Optional[Exception] = None

    def bytes_octets(self, count: int, *, entropy_mode: Optional[str] = None, **_: Any) -> OctetAnswer:
        return self._answer("bytes", count, count, entropy_mode)

    def batch_octets(self, type: str, count: int, *, entropy_mode: Optional[str] = None, **params: Any) -> OctetAnswer:
        assert type == "bytes"
        return self._answer("batch", count, count * params["length"], entropy_mode)

    def _answer(self, endpoint: str, count: int, size: int, entropy_mode: Optional[str]) -> OctetAnswer:
        self.asked.append(size)
        self.modes.append(entropy_mode)
        if self.failure is not None:
            raise self.failure
        if self._stream is None:
            octets = bytearray(self._source.getrandbits(8 * size).to_bytes(size, "little"))
        else:
            octets, self._stream = bytearray(self._stream[:size]), self._stream[size:]
            if len(octets) < size:
                raise EOFError("the test bytes are used up")
        metadata = Metadata("req_0", "", "", "", "known", "simulated", False, "cert_0", "00", "", 0, 0, "csprng")
        answer = OctetAnswer(
            endpoint, "bytes", count, octets, metadata, Credits(2**53 - 1, 0, None), None, {}, RawResponse(200, {}, octets)
        )
        self.given.append(answer)
        return answer
