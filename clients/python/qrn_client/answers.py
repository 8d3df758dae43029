"""The answers of the service. Times are ISO 8601 in UTC."""

from __future__ import annotations

import sys
from array import array
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Dict, Generic, Mapping, Optional, TypeVar

if TYPE_CHECKING:
    import numpy

V = TypeVar("V")


@dataclass(frozen=True)
class Metadata:
    """The provenance of one answer."""

    request_id: str
    timestamp: str
    lang_circuit: str
    lang_version: str
    quantum_backend: str
    #: What made the raw bits: quantum-processor, qrng-device, simulated, replay or system.
    entropy_origin: str
    #: Whether the source passed SP 800-22.
    nist_verified: bool
    #: Anybody who has it can read the certificate.
    certificate_id: str
    #: 64 hex digits that only you have. They open the certificate's commitment to the values.
    certificate_salt: str
    #: The public page of the certificate.
    verify_url: str
    processing_time_ms: int
    entropy_consumed_bytes: int
    #: quantum-seeded, pure or csprng
    entropy_mode: str


@dataclass(frozen=True)
class Credits:
    """Bytes of pure mode; 2^53 - 1 means unlimited. An octet answer does not state the total."""

    remaining: int
    used: int
    total: Optional[int]


@dataclass(frozen=True)
class RateLimit:
    #: The number of requests that are possible now.
    remaining: int
    #: When the full burst is available again, in Unix seconds.
    reset_at: int


@dataclass(frozen=True)
class RawResponse:
    """A response: its status, header fields and body. Names of header fields are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytearray


@dataclass(frozen=True)
class Answer(Generic[V]):
    """An answer in JSON.

    values: the values as Python objects (bytes, floats, `uuid.UUID`, …)
    data: the member `data` as the service sent it
    body: the whole parsed body; keep it to verify it later
    """

    values: V
    data: Mapping[str, Any]
    metadata: Metadata
    credits: Credits
    #: None for an account without a limit.
    rate_limit: Optional[RateLimit]
    body: Mapping[str, Any]
    response: RawResponse


@dataclass(frozen=True)
class OctetAnswer:
    """An answer in octets. Nothing is parsed: `values` and `array()` are views of the octets, not copies.

    endpoint: bytes or batch
    type: integers, floats, bytes or uuid
    count: the number of values; for the endpoint bytes, of bytes
    octets: the body: int32 or float64 for integers and float64 for floats, little-endian; `length` bytes for each value of
        type bytes, 16 for each UUID
    """

    endpoint: str
    type: str
    count: int
    octets: bytearray
    metadata: Metadata
    credits: Credits
    #: None for an account without a limit.
    rate_limit: Optional[RateLimit]
    meta: Mapping[str, Any]
    response: RawResponse

    @property
    def item_size(self) -> int:
        """The size of one value in bytes."""
        return len(self.octets) // self.count

    @property
    def values(self) -> memoryview:
        """A memoryview: of format i or d for integers and floats, and with a row for each value for bytes and UUIDs of a batch."""
        if self.endpoint == "bytes":
            return memoryview(self.octets)
        if self.type in ("bytes", "uuid"):
            return memoryview(self.octets).cast("B", (self.count, self.item_size))
        code: Any = "i" if self.item_size == 4 else "d"
        if sys.byteorder == "little":
            view: memoryview = memoryview(self.octets).cast(code)
            return view
        turned: array[Any] = array(code, bytes(self.octets))
        turned.byteswap()
        return memoryview(turned)

    def array(self) -> "numpy.ndarray[Any, Any]":
        """Returns a writable numpy array over the octets, without a copy."""
        import numpy

        if self.endpoint == "bytes":
            return numpy.frombuffer(self.octets, numpy.uint8)
        if self.type in ("bytes", "uuid"):
            return numpy.frombuffer(self.octets, numpy.uint8).reshape(self.count, self.item_size)
        return numpy.frombuffer(self.octets, "<i4" if self.item_size == 4 else "<f8")

    def response_beside(self) -> Dict[str, Any]:
        """Returns what the header fields say, in the members of a JSON body."""
        metadata = asdict(self.metadata)
        mode = {"entropy_mode": metadata.pop("entropy_mode")}
        credits = {"remaining": self.credits.remaining, "used": self.credits.used}
        return {"data": {"metadata": mode}, "metadata": metadata, "meta": self.meta, "quantum_credits": credits}
