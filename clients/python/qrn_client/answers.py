"""What the service answers. Times are ISO 8601 in UTC."""

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
    """Provenance of one answer."""

    request_id: str
    timestamp: str
    lang_circuit: str
    lang_version: str
    quantum_backend: str
    #: What made the raw bits: quantum-processor, qrng-device, simulated, replay or system; never upgraded.
    entropy_origin: str
    #: Whether the source passed SP 800-22.
    nist_verified: bool
    #: Whoever has it can read the certificate.
    certificate_id: str
    #: 64 hex digits, yours alone: opens the certificate's commitment to the values.
    certificate_salt: str
    #: The public page of the certificate.
    verify_url: str
    processing_time_ms: int
    entropy_consumed_bytes: int
    #: quantum-seeded, pure or csprng
    entropy_mode: str


@dataclass(frozen=True)
class Credits:
    """Bytes of pure mode; 2^53 - 1 means unlimited. Of an octet answer the total is not told."""

    remaining: int
    used: int
    total: Optional[int]


@dataclass(frozen=True)
class RateLimit:
    #: Whole requests possible now.
    remaining: int
    #: When the full burst is there again, in Unix seconds.
    reset_at: int


@dataclass(frozen=True)
class RawResponse:
    """The response as it came. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytearray


@dataclass(frozen=True)
class Answer(Generic[V]):
    """An answer of JSON.

    values: the values as Python has them (bytes, floats, `uuid.UUID`, …)
    data: the member `data` as the service sent it
    body: the whole body, parsed; keep it to verify it later
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
    """An answer of bare values: nothing is parsed, and `values` and `array()` are views of the octets, not copies.

    endpoint: bytes or batch
    type: integers, floats, bytes or uuid
    count: values; of the endpoint bytes, bytes
    octets: as they came: int32 or float64 for integers, float64 for floats, little-endian; `length` bytes for each
        value of bytes, 16 for each UUID
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
        """Bytes of one value."""
        return len(self.octets) // self.count

    @property
    def values(self) -> memoryview:
        """Integers and floats as a memoryview of format i or d; bytes and UUIDs of a batch with a row for each value."""
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
        """A numpy array over the octets: writable, without a copy."""
        import numpy

        if self.endpoint == "bytes":
            return numpy.frombuffer(self.octets, numpy.uint8)
        if self.type in ("bytes", "uuid"):
            return numpy.frombuffer(self.octets, numpy.uint8).reshape(self.count, self.item_size)
        return numpy.frombuffer(self.octets, "<i4" if self.item_size == 4 else "<f8")

    def response_beside(self) -> Dict[str, Any]:
        """What the headers say beside the octets, in the members that a JSON body would have had."""
        metadata = asdict(self.metadata)
        mode = {"entropy_mode": metadata.pop("entropy_mode")}
        credits = {"remaining": self.credits.remaining, "used": self.credits.used}
        return {"data": {"metadata": mode}, "metadata": metadata, "meta": self.meta, "quantum_credits": credits}
