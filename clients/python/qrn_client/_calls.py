"""Every call of the service, once for both clients: its parameters, its request, and how its reply is read."""

from __future__ import annotations

from functools import partial
from operator import index
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, TypeVar, Union
from uuid import UUID

from . import _wire
from ._flow import Compute, Flow, Stream, Wait, sent
from ._options import DrawOptions, is_pure, key_of, split_options
from .answers import Answer, OctetAnswer, RawResponse
from ._witnesses import WitnessPolicy
from .errors import IdempotencyFullError
from .verify import Verification, verify_answer

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")
_Bytes = bytes  # the class has a method of that name
_AHEAD_MAX = 4


class Calls:
    """The calls of a client with these settings. Parameters that are left out have the service's defaults."""

    def __init__(self, settings: _wire.Settings) -> None:
        self.settings = settings

    def integers(
        self,
        /,
        count: Optional[int] = None,
        *,
        min: Optional[int] = None,
        max: Optional[int] = None,
        unique: Optional[bool] = None,
        sort: Optional[str] = None,
        **options: Unpack[DrawOptions],
    ) -> Flow[Answer[List[int]]]:
        """1 to 10,000 integers from `min` to `max`, both included. `sort`: none, ascending or descending."""
        parameters = {"count": count, "min": min, "max": max, "unique": unique, "sort": sort}
        return self._answered("integers", parameters, options, _wire.values_of)

    def bytes(
        self,
        /,
        count: Optional[int] = None,
        *,
        encoding: Optional[str] = None,
        **options: Unpack[DrawOptions],
    ) -> Flow[Answer[_Bytes]]:
        """1 to 1,024 bytes, sent as hex or base64."""
        parameters = {"count": count, "encoding": encoding}
        return self._answered("bytes", parameters, options, _wire.bytes_of)

    def floats(
        self,
        /,
        count: Optional[int] = None,
        *,
        precision: Optional[int] = None,
        **options: Unpack[DrawOptions],
    ) -> Flow[Answer[List[float]]]:
        """1 to 10,000 floats in [0, 1): multiples of 2**-53, or of 10**-precision (1 to 15)."""
        parameters = {"count": count, "precision": precision}
        return self._answered("floats", parameters, options, _wire.floats_of)

    def uuid(
        self,
        /,
        count: Optional[int] = None,
        **options: Unpack[DrawOptions],
    ) -> Flow[Answer[List[UUID]]]:
        """1 to 10,000 UUIDs of version 4."""
        return self._answered("uuid", {"count": count}, options, _wire.uuids_of)

    def bitstring(
        self,
        /,
        length: Optional[int] = None,
        **options: Unpack[DrawOptions],
    ) -> Flow[Answer[str]]:
        """1 to 100,000 digits 0 and 1."""
        return self._answered("bitstring", {"length": length}, options, _wire.bitstring_of)

    def shuffle(
        self,
        /,
        items: Sequence[str],
        **options: Unpack[DrawOptions],
    ) -> Flow[Answer[List[str]]]:
        """2 to 10,000 texts in a random order, made by the service, with a certificate."""
        return self._answered("shuffle", {"items": list(items)}, options, _wire.items_of)

    def sample(
        self,
        /,
        items: Sequence[str],
        count: Optional[int] = None,
        **options: Unpack[DrawOptions],
    ) -> Flow[Answer[List[str]]]:
        """`count` of 2 to 10,000 texts in the order drawn, none twice."""
        parameters = {"count": count, "items": list(items)}
        return self._answered("sample", parameters, options, _wire.items_of)

    def weighted(
        self,
        /,
        items: Sequence[str],
        weights: Sequence[int],
        count: Optional[int] = None,
        **options: Unpack[DrawOptions],
    ) -> Flow[Answer[List[str]]]:
        """Independent picks: each text with probability weight / sum, exactly. Weights are whole numbers from 1 on."""
        parameters = {"count": count, "items": list(items), "weights": [index(weight) for weight in weights]}
        return self._answered("weighted", parameters, options, _wire.items_of)

    def strings(
        self,
        /,
        count: Optional[int] = None,
        *,
        length: Optional[int] = None,
        alphabet: Optional[str] = None,
        **options: Unpack[DrawOptions],
    ) -> Flow[Answer[List[str]]]:
        """1 to 10,000 texts of `length` characters, each equally likely to be any of the alphabet."""
        parameters = {"count": count, "length": length, "alphabet": alphabet}
        return self._answered("strings", parameters, options, _wire.values_of)

    def sequences(
        self,
        /,
        count: Optional[int] = None,
        *,
        length: Sequence[int],
        min: Sequence[int],
        max: Sequence[int],
        unique: Optional[bool] = None,
        sort: Optional[str] = None,
        **options: Unpack[DrawOptions],
    ) -> Flow[Answer[List[List[List[int]]]]]:
        """`count` times one list for each entry of `length`, `min` and `max`."""
        ranges: Dict[str, Any] = {"length": list(length), "min": list(min), "max": list(max)}
        parameters = {"count": count, **ranges, "unique": unique, "sort": sort}
        return self._answered("sequences", parameters, options, _wire.values_of)

    def permutations(
        self,
        /,
        length: int,
        count: Optional[int] = None,
        **options: Unpack[DrawOptions],
    ) -> Flow[Answer[List[List[int]]]]:
        """The numbers from 0 to length - 1 in a random order, `count` times."""
        parameters = {"count": count, "length": length}
        return self._answered("permutations", parameters, options, _wire.values_of)

    def gaussians(
        self,
        /,
        count: Optional[int] = None,
        *,
        mean: Optional[float] = None,
        stddev: Optional[float] = None,
        digits: Optional[int] = None,
        **options: Unpack[DrawOptions],
    ) -> Flow[Answer[List[float]]]:
        """1 to 10,000 normally distributed numbers, exactly rounded to `digits` significant digits (2 to 14)."""
        parameters = {"count": count, "mean": mean, "stddev": stddev, "digits": digits}
        return self._answered("gaussians", parameters, options, _wire.floats_of)

    def batch(
        self,
        /,
        type: str,
        count: int,
        *,
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
        **options: Unpack[DrawOptions],
    ) -> Flow[Answer[List[Any]]]:
        """1 to 100,000 values as JSON; the key needs the scope entropy:batch.

        type: integers (`min`, `max`, `unique`, `sort`), floats (`precision`), bytes (`length` of each, `encoding`), uuid or
        gaussians (`mean`, `stddev`, `digits`)
        """
        params: Dict[str, Any] = {"min": min, "max": max, "precision": precision, "length": length, "encoding": encoding}
        params.update(unique=unique, sort=sort, mean=mean, stddev=stddev, digits=digits)
        parameters = _wire.batch_parameters(type, count, params)
        return self._answered("batch", parameters, options, _wire.batch_values)

    def bytes_octets(
        self,
        /,
        count: int,
        **options: Unpack[DrawOptions],
    ) -> Flow[OctetAnswer]:
        """1 to 1,024 bytes as they are."""
        reply = yield from self._draw("bytes", {"count": count}, options, octets=True)
        return _wire.octet_answer(reply, "bytes", "bytes", count)

    def batch_octets(
        self,
        /,
        type: str,
        count: int,
        *,
        min: Optional[int] = None,
        max: Optional[int] = None,
        precision: Optional[int] = None,
        length: Optional[int] = None,
        **options: Unpack[DrawOptions],
    ) -> Flow[OctetAnswer]:
        """As `batch`, as bare values: nothing is parsed, and `array()` is a numpy array without a copy."""
        # The certificate speaks of the JSON form, which for bytes has an encoding.
        encoding = "hex" if type == "bytes" else None
        params = {"min": min, "max": max, "precision": precision, "length": length, "encoding": encoding}
        parameters = _wire.batch_parameters(type, count, params)
        reply = yield from self._draw("batch", parameters, options, octets=True)
        return _wire.octet_answer(reply, "batch", type, count)

    def stream(
        self,
        /,
        type: str,
        total: int,
        *,
        block: int = _wire.BATCH_COUNT_MAX,
        min: Optional[int] = None,
        max: Optional[int] = None,
        precision: Optional[int] = None,
        length: Optional[int] = None,
        **options: Unpack[DrawOptions],
    ) -> Stream[OctetAnswer]:
        """Any number of values, in blocks of at most `block` values, each an answer as `batch_octets` gives it.

        Blocks are batches that are asked for ahead of their reader: one at first, and one more for each that it took, at
        most four. In pure mode, where a block costs credits, and under a purpose, where it has a serial, each is asked for
        when it is wanted. A block that is lost on its way is asked for again under its own Idempotency-Key (with an
        `idempotency_key` this is `idempotency_key/N`), and not charged again.
        """
        params = {"min": min, "max": max, "precision": precision, "length": length}
        is_costly = is_pure(options) or options.get("purpose") is not None
        ask = _BlockAsker(self, options, may_go_without=not is_costly)
        counts = enumerate(_wire.counts_of(total, block))
        return Stream((ask.block(n, type, count, params) for n, count in counts), 1 if is_costly else _AHEAD_MAX)

    def quote(self, /, endpoint: str, **parameters: Any) -> Flow[Mapping[str, Any]]:
        """What a request would cost: `mode` and `required_bytes`. Draws, spends and certifies nothing."""
        own, options = split_options(parameters)
        request = _wire.draw(self.settings, endpoint, own, options, dry_run=True)
        data: Mapping[str, Any] = (yield from self._object(request, "data"))["data"]
        return data

    def certificate(self, id: str) -> Flow[Dict[str, Any]]:
        """The certificate of an answer, by its `metadata.certificate_id`."""
        request = _wire.fetch(self.settings, f"/certificate{_wire.query_of({'id': id})}")
        return self._object(request, "certificate")

    def certificate_pdf(self, id: str) -> Flow[_Bytes]:
        """The certificate as a PDF document."""
        target = f"/certificate{_wire.query_of({'id': id, 'format': 'pdf'})}"
        reply = yield from sent(self.settings, _wire.fetch(self.settings, target, "application/pdf"))
        return _wire.pdf_of(reply)

    def usage(self) -> Flow[Mapping[str, Any]]:
        """What the account has used this month, and what is left."""
        data: Mapping[str, Any] = (yield from self._object(_wire.fetch(self.settings, "/usage"), "data"))["data"]
        return data

    def tiers(self) -> Flow[Mapping[str, Any]]:
        """What each tier may do, what pure mode costs, and how much one request may ask for."""
        data: Mapping[str, Any] = (yield from self._object(_wire.fetch(self.settings, "/tiers"), "data"))["data"]
        return data

    def health(self) -> Flow[Mapping[str, Any]]:
        """The state of the service. A service that reports `fail` is an answer here, not an error."""
        request = _wire.fetch(self.settings, "/health", also_answers=(503,))
        data: Mapping[str, Any] = (yield from self._object(request, "data"))["data"]
        return data

    def keys(self) -> Flow[Mapping[str, Any]]:
        """The public keys that sign the service's log. Keep them, to verify without taking the service at its word."""
        return self._object(_wire.fetch_keys(self.settings), "keys")

    def verify(
        self,
        answer: Union[Answer[Any], OctetAnswer],
        *,
        certificate: Optional[Mapping[str, Any]] = None,
        keys: Optional[Mapping[str, Any]] = None,
        require_fixed: bool = False,
        witnesses: Optional[WitnessPolicy] = None,
    ) -> Flow[Verification]:
        """Checks that the values are those that were certified, and that the certificate stands in the signed log.

        Fetches what is not given (a certificate just issued is waited for until it is logged); with both given it
        asks nobody. With `require_fixed` an answer fails whose certificate does not show that what it was drawn from
        was fixed before it was issued, and with `witnesses` one that too few of them have seen.
        """
        if certificate is None:
            certificate = yield from self._logged_certificate(answer.metadata.certificate_id)
        if keys is None:
            keys = yield from self.keys()
        given = _wire.verifiable(answer)
        required = {"require_fixed": require_fixed, "witnesses": witnesses}
        check = partial(verify_answer, **given, **required, certificate=certificate, keys=keys)
        verification: Verification = yield Compute(check)  # a large answer takes seconds to hash as JSON
        return verification

    def _logged_certificate(self, id: str) -> Flow[Mapping[str, Any]]:
        for wait in _wire.PROOF_WAITS:
            found = yield from self.certificate(id)
            if _wire.is_logged(found):
                return found
            yield Wait(wait)
        return (yield from self.certificate(id))

    def _answered(
        self,
        endpoint: str,
        parameters: Mapping[str, Any],
        options: DrawOptions,
        values_of: Callable[[Mapping[str, Any]], T],
    ) -> Flow[Answer[T]]:
        reply = yield from self._draw(endpoint, parameters, options)
        return _wire.answer_of(reply, values_of)

    def _draw(
        self,
        endpoint: str,
        parameters: Mapping[str, Any],
        options: DrawOptions,
        octets: bool = False,
    ) -> Flow[RawResponse]:
        request = _wire.draw(self.settings, endpoint, parameters, options, octets=octets)
        return sent(self.settings, request)

    def _object(self, request: _wire.Request, member: str) -> Flow[Dict[str, Any]]:
        return _wire.object_of((yield from sent(self.settings, request)), member)


class _BlockAsker:
    """Asks for the blocks of a stream, each under a key of its own."""

    def __init__(self, calls: Calls, options: DrawOptions, may_go_without: bool) -> None:
        self._calls = calls
        self._options: DrawOptions = {**options, "idempotency_key": None}
        self._key = options.get("idempotency_key")
        self._may_go_without = may_go_without
        self._is_keyed = True

    def block(self, n: int, type: str, count: int, params: Mapping[str, Optional[int]]) -> Flow[OctetAnswer]:
        if self._is_keyed:
            key = key_of(None if self._key is None else f"{self._key}/{n}")
            options: DrawOptions = {**self._options, "idempotency_key": key}
            try:
                return (yield from self._calls.batch_octets(type, count, **params, **options))
            except IdempotencyFullError:
                if not self._may_go_without:
                    raise
                # The service keeps no more answers of this account: a block that is lost from now on is drawn anew.
                self._is_keyed = False
        return (yield from self._calls.batch_octets(type, count, **params, **self._options))
