"""The service over HTTP, for threads."""

from __future__ import annotations

import copy
import secrets
import ssl
from time import sleep
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union
from uuid import UUID

from . import _wire
from ._http import Transport
from .answers import Answer, OctetAnswer, RawResponse
from .errors import QrnError
from .verify import Verification, verify_answer

_Bytes = bytes  # the class has a method of that name
_system = secrets.SystemRandom()  # for the jitter of waits alone


class QrnClient:
    """Every method returns an answer or raises a QrnError. Any number of threads may use one client.

    url: the service, `/v1` included or not; default QRN_URL, else the service on this machine
    key: the API key; default QRN_KEY
    timeout: seconds for one attempt, its body included
    retries: attempts after the first
    retry_wait_max: a service that asks to wait for more seconds is not waited for

    Parameters that are left out have the service's defaults. `entropy_mode` is quantum-seeded, pure or csprng; left
    out, the account's tier decides, and never for pure. `idempotency_key` matters in pure mode alone, where the client
    makes one for each call: 1 to 255 visible ASCII characters.
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

    def integers(
        self,
        count: Optional[int] = None,
        *,
        min: Optional[int] = None,
        max: Optional[int] = None,
        unique: Optional[bool] = None,
        sort: Optional[str] = None,
        entropy_mode: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Answer[List[int]]:
        """1 to 10,000 integers from `min` to `max`, both included. `sort`: none, ascending or descending."""
        parameters = {"count": count, "min": min, "max": max, "unique": unique, "sort": sort}
        return _wire.answer_of(self._draw("integers", parameters, entropy_mode, idempotency_key), _wire.values_of)

    def bytes(
        self,
        count: Optional[int] = None,
        *,
        encoding: Optional[str] = None,
        entropy_mode: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Answer[_Bytes]:
        """1 to 1,024 bytes, sent as hex or base64."""
        parameters = {"count": count, "encoding": encoding}
        return _wire.answer_of(self._draw("bytes", parameters, entropy_mode, idempotency_key), _wire.bytes_of)

    def floats(
        self,
        count: Optional[int] = None,
        *,
        precision: Optional[int] = None,
        entropy_mode: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Answer[List[float]]:
        """1 to 10,000 floats in [0, 1): multiples of 2**-53, or of 10**-precision (1 to 15)."""
        parameters = {"count": count, "precision": precision}
        return _wire.answer_of(self._draw("floats", parameters, entropy_mode, idempotency_key), _wire.floats_of)

    def uuid(
        self,
        count: Optional[int] = None,
        *,
        entropy_mode: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Answer[List[UUID]]:
        """1 to 10,000 UUIDs of version 4."""
        return _wire.answer_of(self._draw("uuid", {"count": count}, entropy_mode, idempotency_key), _wire.uuids_of)

    def bitstring(
        self,
        length: Optional[int] = None,
        *,
        entropy_mode: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Answer[str]:
        """1 to 100,000 digits 0 and 1."""
        reply = self._draw("bitstring", {"length": length}, entropy_mode, idempotency_key)
        return _wire.answer_of(reply, _wire.bitstring_of)

    def shuffle(
        self,
        items: Sequence[str],
        *,
        entropy_mode: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Answer[List[str]]:
        """2 to 10,000 texts in a random order, made by the service, with a certificate."""
        reply = self._draw("shuffle", {"items": list(items)}, entropy_mode, idempotency_key)
        return _wire.answer_of(reply, _wire.items_of)

    def sample(
        self,
        items: Sequence[str],
        count: Optional[int] = None,
        *,
        entropy_mode: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Answer[List[str]]:
        """`count` of 2 to 10,000 texts in the order drawn, none twice."""
        parameters = {"count": count, "items": list(items)}
        return _wire.answer_of(self._draw("sample", parameters, entropy_mode, idempotency_key), _wire.items_of)

    def weighted(
        self,
        items: Sequence[str],
        weights: Sequence[int],
        count: Optional[int] = None,
        *,
        entropy_mode: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Answer[List[str]]:
        """Independent picks: each text with probability weight / sum, exactly. Weights are whole numbers from 1 on."""
        parameters = {"count": count, "items": list(items), "weights": [int(weight) for weight in weights]}
        return _wire.answer_of(self._draw("weighted", parameters, entropy_mode, idempotency_key), _wire.items_of)

    def strings(
        self,
        count: Optional[int] = None,
        *,
        length: Optional[int] = None,
        alphabet: Optional[str] = None,
        entropy_mode: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Answer[List[str]]:
        """1 to 10,000 texts of `length` characters, each equally likely to be any of the alphabet."""
        parameters = {"count": count, "length": length, "alphabet": alphabet}
        return _wire.answer_of(self._draw("strings", parameters, entropy_mode, idempotency_key), _wire.values_of)

    def sequences(
        self,
        count: Optional[int] = None,
        *,
        length: Sequence[int],
        min: Sequence[int],
        max: Sequence[int],
        unique: Optional[bool] = None,
        sort: Optional[str] = None,
        entropy_mode: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Answer[List[List[List[int]]]]:
        """`count` times one list for each entry of `length`, `min` and `max`."""
        ranges: Dict[str, Any] = {"length": list(length), "min": list(min), "max": list(max)}
        parameters = {"count": count, **ranges, "unique": unique, "sort": sort}
        return _wire.answer_of(self._draw("sequences", parameters, entropy_mode, idempotency_key), _wire.values_of)

    def permutations(
        self,
        length: int,
        count: Optional[int] = None,
        *,
        entropy_mode: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Answer[List[List[int]]]:
        """The numbers from 0 to length - 1 in a random order, `count` times."""
        parameters = {"count": count, "length": length}
        return _wire.answer_of(self._draw("permutations", parameters, entropy_mode, idempotency_key), _wire.values_of)

    def gaussians(
        self,
        count: Optional[int] = None,
        *,
        mean: Optional[float] = None,
        stddev: Optional[float] = None,
        digits: Optional[int] = None,
        entropy_mode: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Answer[List[float]]:
        """1 to 10,000 normally distributed numbers, exactly rounded to `digits` significant digits (2 to 14)."""
        parameters = {"count": count, "mean": mean, "stddev": stddev, "digits": digits}
        return _wire.answer_of(self._draw("gaussians", parameters, entropy_mode, idempotency_key), _wire.floats_of)

    def batch(
        self,
        type: str,
        count: int,
        *,
        entropy_mode: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        min: Optional[int] = None,
        max: Optional[int] = None,
        precision: Optional[int] = None,
        length: Optional[int] = None,
        encoding: Optional[str] = None,
        unique: Optional[bool] = None,
        sort: Optional[str] = None,
        mean: Optional[float] = None,
        stddev: Optional[float] = None,
        digits: Optional[int] = None,
    ) -> Answer[List[Any]]:
        """1 to 100,000 values as JSON; the key needs the scope entropy:batch.

        type: integers (`min`, `max`, `unique`, `sort`), floats (`precision`), bytes (`length` of each, `encoding`), uuid or
        gaussians (`mean`, `stddev`, `digits`)
        """
        params = {"min": min, "max": max, "precision": precision, "length": length, "encoding": encoding}
        params.update(unique=unique, sort=sort, mean=mean, stddev=stddev, digits=digits)
        parameters = _wire.batch_parameters(type, count, params)
        reply = self._draw("batch", parameters, entropy_mode, idempotency_key)
        return _wire.answer_of(reply, _wire.batch_values)

    def bytes_octets(
        self,
        count: int,
        *,
        entropy_mode: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> OctetAnswer:
        """1 to 1,024 bytes as they are."""
        reply = self._draw("bytes", {"count": count}, entropy_mode, idempotency_key, octets=True)
        return _wire.octet_answer(reply, "bytes", "bytes", count)

    def batch_octets(
        self,
        type: str,
        count: int,
        *,
        entropy_mode: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        min: Optional[int] = None,
        max: Optional[int] = None,
        precision: Optional[int] = None,
        length: Optional[int] = None,
    ) -> OctetAnswer:
        """As `batch`, as bare values: nothing is parsed, and `array()` is a numpy array without a copy."""
        # The certificate speaks of the JSON form, which for bytes has an encoding.
        encoding = "hex" if type == "bytes" else None
        params = {"min": min, "max": max, "precision": precision, "length": length, "encoding": encoding}
        parameters = _wire.batch_parameters(type, count, params)
        reply = self._draw("batch", parameters, entropy_mode, idempotency_key, octets=True)
        return _wire.octet_answer(reply, "batch", type, count)

    def stream(
        self,
        type: str,
        total: int,
        *,
        block: int = _wire.BATCH_COUNT_MAX,
        entropy_mode: Optional[str] = None,
        min: Optional[int] = None,
        max: Optional[int] = None,
        precision: Optional[int] = None,
        length: Optional[int] = None,
    ) -> Iterator[OctetAnswer]:
        """Any number of values, as one `batch_octets` of at most `block` values after the other, each when asked for."""
        for count in _wire.counts_of(total, block):
            yield self.batch_octets(
                type, count, entropy_mode=entropy_mode, min=min, max=max, precision=precision, length=length
            )

    def quote(self, endpoint: str, *, entropy_mode: Optional[str] = None, **parameters: Any) -> Mapping[str, Any]:
        """What a request would cost: `mode` and `required_bytes`. Draws, spends and certifies nothing."""
        request = _wire.draw(self._settings, endpoint, parameters, entropy_mode=entropy_mode, dry_run=True)
        data: Mapping[str, Any] = _wire.object_of(self._send(request), "data")["data"]
        return data

    def certificate(self, id: str) -> Dict[str, Any]:
        """The certificate of an answer, by its `metadata.certificate_id`."""
        request = _wire.fetch(self._settings, f"/certificate{_wire.query_of({'id': id})}")
        return _wire.object_of(self._send(request), "certificate")

    def certificate_pdf(self, id: str) -> _Bytes:
        """The certificate as a PDF document."""
        target = f"/certificate{_wire.query_of({'id': id, 'format': 'pdf'})}"
        reply = self._send(_wire.fetch(self._settings, target, "application/pdf"))
        return _wire.pdf_of(reply)

    def usage(self) -> Mapping[str, Any]:
        """What the account has used this month, and what is left."""
        data: Mapping[str, Any] = _wire.object_of(self._send(_wire.fetch(self._settings, "/usage")), "data")["data"]
        return data

    def tiers(self) -> Mapping[str, Any]:
        """What each tier may do, what pure mode costs, and how much one request may ask for."""
        data: Mapping[str, Any] = _wire.object_of(self._send(_wire.fetch(self._settings, "/tiers")), "data")["data"]
        return data

    def health(self) -> Mapping[str, Any]:
        """The state of the service. A service that reports `fail` is an answer here, not an error."""
        request = _wire.fetch(self._settings, "/health", also_answers=(503,))
        return _wire.object_of(self._send(request), "checks")

    def keys(self) -> Mapping[str, Any]:
        """The public keys that sign the service's log. Keep them, to verify without taking the service at its word."""
        return _wire.object_of(self._send(_wire.fetch_keys(self._settings)), "keys")

    def verify(
        self,
        answer: Union[Answer[Any], OctetAnswer],
        *,
        certificate: Optional[Mapping[str, Any]] = None,
        keys: Optional[Mapping[str, Any]] = None,
        require_fixed: bool = False,
    ) -> Verification:
        """Checks that the values are those that were certified, and that the certificate stands in the signed log.

        Fetches what is not given (a certificate just issued is waited for until it is logged); with both given it
        asks nobody. With `require_fixed` an answer fails whose certificate does not show that what it was drawn from
        was fixed before it was issued.
        """
        if certificate is None:
            certificate = self._logged_certificate(answer.metadata.certificate_id)
        if keys is None:
            keys = self.keys()
        given = _wire.verifiable(answer, certificate)
        return verify_answer(**given, certificate=certificate, keys=keys, require_fixed=require_fixed)

    def _logged_certificate(self, id: str) -> Mapping[str, Any]:
        for wait in _wire.PROOF_WAITS:
            found = self.certificate(id)
            if _wire.is_logged(found):
                return found
            sleep(wait)
        return self.certificate(id)

    def _draw(
        self,
        endpoint: str,
        parameters: Mapping[str, Any],
        entropy_mode: Optional[str],
        idempotency_key: Optional[str],
        octets: bool = False,
    ) -> RawResponse:
        return self._send(
            _wire.draw(
                self._settings,
                endpoint,
                parameters,
                entropy_mode=entropy_mode,
                idempotency_key=idempotency_key,
                octets=octets,
            )
        )

    def _send(self, request: _wire.Request) -> RawResponse:
        """The first answer: one attempt after the other, as long as another may help and retries are left."""
        settings = self._settings
        attempt = 1
        while True:
            try:
                return _wire.checked(request, self._transport.exchange(request, settings.timeout))
            except QrnError as error:
                delay = _wire.after_failure(settings, request, error, attempt, _system.random())
                if delay is None:
                    raise
            sleep(delay)
            attempt += 1
