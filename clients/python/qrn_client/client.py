"""The client for threads."""

from __future__ import annotations

import copy
import ssl
from collections import deque
from functools import partial, wraps
from itertools import count as numbers, islice
from operator import index
from queue import SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Callable, Deque, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, TypeVar, Union
from uuid import UUID

from . import _wire
from ._http import Transport, wait
from ._log import WitnessPolicy
from ._options import DrawOptions, is_pure, key_of, split_options
from .answers import Answer, OctetAnswer, RawResponse
from .draws import Draws
from .errors import IdempotencyFullError
from .verify import Verification, verify_answer

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec, Unpack

    P = ParamSpec("P")

T = TypeVar("T")
_Bytes = bytes  # the class has a method of that name
_AHEAD_MAX = 4


class Blocks(NamedTuple):
    """The calls that fetch the blocks of a stream. They are begun ahead of the reader, which gets the blocks in order."""

    calls: Iterator[Callable[[], OctetAnswer]]
    #: The most blocks that are being fetched or wait for the reader, apart from the one that it has.
    ahead: int

    def begun(self, taken: int, coming: int) -> Iterator[Callable[[], OctetAnswer]]:
        """Returns the calls to begin now: one at first, then one more for each block that the reader has taken."""
        return islice(self.calls, max(0, min(taken + 1, self.ahead) - coming))


def _stream(make: Callable[Concatenate[QrnClient, P], Blocks]) -> Callable[Concatenate[QrnClient, P], Iterator[OctetAnswer]]:
    """Returns the method that yields the blocks one by one."""

    @wraps(make)
    def method(self: QrnClient, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[OctetAnswer]:
        return _in_order(make(self, *args, **kwargs))

    return method


def _in_order(blocks: Blocks) -> Iterator[OctetAnswer]:
    coming: Deque[SimpleQueue[Union[OctetAnswer, BaseException]]] = deque()
    for taken in numbers():
        coming.extend(map(_begun, blocks.begun(taken, len(coming))))
        if not coming:
            return
        came = coming.popleft().get()
        if isinstance(came, BaseException):
            raise came
        yield came


def _begun(call: Callable[[], OctetAnswer]) -> SimpleQueue[Union[OctetAnswer, BaseException]]:
    """Makes the call in a daemon thread, so that the program may exit meanwhile. The queue gets its result or its error."""
    box: SimpleQueue[Union[OctetAnswer, BaseException]] = SimpleQueue()

    def run() -> None:
        try:
            box.put(call())
        except BaseException as error:
            box.put(error)

    Thread(target=run, daemon=True).start()
    return box


class QrnClient:
    """Every method returns an answer or raises a QrnError. Any number of threads may use one client.

    url: the service, with or without `/v1`. Default: QRN_URL, else http://127.0.0.1:3000/v1
    key: the API key. Default: QRN_KEY
    timeout: seconds for one attempt, reading the body included
    retries: the number of attempts after the first
    retry_wait_max: the longest wait in seconds that the client accepts when the service asks it to wait

    A parameter that is left out has the service's default. Every call that draws values also takes:

    entropy_mode: quantum-seeded, pure or csprng. Default: the account's tier decides, and never for pure
    purpose: what the values are for, 1 to 100 characters; the certificate has the number of the answer under this purpose
    user_data, user_data_sha256: a text to which the certificate is bound, up to 1,000 characters, or its SHA-256 in hex
    public: whether the certificate shows purpose and user_data, and not only commitments to them
    idempotency_key: 1 to 255 visible ASCII characters. Default: the client makes one for a call in pure mode or with a purpose
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
        """Returns a client with other options that shares the connections of this one."""
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

    @property
    def draws(self) -> Draws:
        """Committed draws: the service commits to each before anybody can know its outcome."""
        return Draws(self._settings, self._send)

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
    ) -> Answer[List[int]]:
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
    ) -> Answer[_Bytes]:
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
    ) -> Answer[List[float]]:
        """1 to 10,000 floats in [0, 1): multiples of 2**-53, or of 10**-precision (1 to 15)."""
        parameters = {"count": count, "precision": precision}
        return self._answered("floats", parameters, options, _wire.floats_of)

    def uuid(
        self,
        /,
        count: Optional[int] = None,
        **options: Unpack[DrawOptions],
    ) -> Answer[List[UUID]]:
        """1 to 10,000 UUIDs of version 4."""
        return self._answered("uuid", {"count": count}, options, _wire.uuids_of)

    def bitstring(
        self,
        /,
        length: Optional[int] = None,
        **options: Unpack[DrawOptions],
    ) -> Answer[str]:
        """1 to 100,000 digits 0 and 1."""
        return self._answered("bitstring", {"length": length}, options, _wire.bitstring_of)

    def shuffle(
        self,
        /,
        items: Sequence[str],
        **options: Unpack[DrawOptions],
    ) -> Answer[List[str]]:
        """2 to 10,000 texts in a random order. The service shuffles them, and the certificate covers the order."""
        return self._answered("shuffle", {"items": list(items)}, options, _wire.items_of)

    def sample(
        self,
        /,
        items: Sequence[str],
        count: Optional[int] = None,
        **options: Unpack[DrawOptions],
    ) -> Answer[List[str]]:
        """`count` of 2 to 10,000 texts, in the order in which they were drawn; none twice."""
        parameters = {"count": count, "items": list(items)}
        return self._answered("sample", parameters, options, _wire.items_of)

    def weighted(
        self,
        /,
        items: Sequence[str],
        weights: Sequence[int],
        count: Optional[int] = None,
        **options: Unpack[DrawOptions],
    ) -> Answer[List[str]]:
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
    ) -> Answer[List[str]]:
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
    ) -> Answer[List[List[List[int]]]]:
        """Sequences of integers: one list for each entry of `length`, `min` and `max`, and all of that `count` times."""
        ranges: Dict[str, Any] = {"length": list(length), "min": list(min), "max": list(max)}
        parameters = {"count": count, **ranges, "unique": unique, "sort": sort}
        return self._answered("sequences", parameters, options, _wire.values_of)

    def permutations(
        self,
        /,
        length: int,
        count: Optional[int] = None,
        **options: Unpack[DrawOptions],
    ) -> Answer[List[List[int]]]:
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
    ) -> Answer[List[float]]:
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
    ) -> Answer[List[Any]]:
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
    ) -> OctetAnswer:
        """1 to 1,024 bytes, without an encoding."""
        return _wire.octet_answer(self._draw("bytes", {"count": count}, options, octets=True), "bytes", "bytes", count)

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
    ) -> OctetAnswer:
        """A batch in octets: nothing is parsed, and `array()` is a numpy array without a copy."""
        # The certificate states the parameters of the JSON form, and for bytes an encoding is one of them.
        encoding = "hex" if type == "bytes" else None
        params = {"min": min, "max": max, "precision": precision, "length": length, "encoding": encoding}
        parameters = _wire.batch_parameters(type, count, params)
        reply = self._draw("batch", parameters, options, octets=True)
        return _wire.octet_answer(reply, "batch", type, count)

    def _blocks(
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
    ) -> Blocks:
        """Any number of values, in blocks of at most `block` values. Each block is an answer of `batch_octets`.

        The client fetches blocks ahead of the reader: one at first, then one more for each block that the reader has taken, and
        at most four. In pure mode, where a block costs credits, and with a purpose, where it has a number, the client fetches
        each block when the reader wants it. It fetches a lost block again with the same Idempotency-Key (`idempotency_key/N`
        when the caller gives an `idempotency_key`), so that the block is not charged again.
        """
        is_costly = is_pure(options) or options.get("purpose") is not None
        given = options.pop("idempotency_key", None)
        params: Any = {"min": min, "max": max, "precision": precision, "length": length, **options}
        # set when the service has no room for more kept answers of this account: from then on a lost block is drawn anew
        keyless = Event()

        def answered(n: int, count: int) -> OctetAnswer:
            draw = partial(self.batch_octets, type, count, **params)
            if not keyless.is_set():
                try:
                    return draw(idempotency_key=key_of(None if given is None else f"{given}/{n}"))
                except IdempotencyFullError:
                    if is_costly:
                        raise
                    keyless.set()
            return draw()

        counts = enumerate(_wire.counts_of(total, block))
        return Blocks((partial(answered, n, count) for n, count in counts), 1 if is_costly else _AHEAD_MAX)

    stream = _stream(_blocks)

    def quote(self, /, endpoint: str, **parameters: Any) -> Mapping[str, Any]:
        """The price of a request: `mode` and `required_bytes`. The service draws, charges and certifies nothing."""
        own, options = split_options(parameters)
        return self._data(_wire.draw(self._settings, endpoint, own, options, dry_run=True))

    def certificate(self, id: str) -> Dict[str, Any]:
        """The certificate of an answer, by its `metadata.certificate_id`."""
        request = _wire.fetch(self._settings, f"/certificate{_wire.query_of({'id': id})}")
        return _wire.object_of(self._send(request), "certificate")

    def certificate_pdf(self, id: str) -> _Bytes:
        """The certificate as a PDF document."""
        target = f"/certificate{_wire.query_of({'id': id, 'format': 'pdf'})}"
        return _wire.pdf_of(self._send(_wire.fetch(self._settings, target, "application/pdf")))

    def usage(self) -> Mapping[str, Any]:
        """The account's usage of this month, and what is left."""
        return self._data(_wire.fetch(self._settings, "/usage"))

    def tiers(self) -> Mapping[str, Any]:
        """The limits of each tier, the prices of pure mode, and the bounds of one request."""
        return self._data(_wire.fetch(self._settings, "/tiers"))

    def health(self) -> Mapping[str, Any]:
        """The state of the service. This returns even when the service reports `fail` with status 503."""
        return self._data(_wire.fetch(self._settings, "/health", also_answers=(503,)))

    def keys(self) -> Mapping[str, Any]:
        """The public keys that sign the service's log. Keep them: `verify` with kept keys does not trust the service for its keys."""
        return _wire.object_of(self._send(_wire.fetch_keys(self._settings)), "keys")

    def verify(
        self,
        answer: Union[Answer[Any], OctetAnswer],
        *,
        certificate: Optional[Mapping[str, Any]] = None,
        keys: Optional[Mapping[str, Any]] = None,
        require_fixed: bool = False,
        witnesses: Optional[WitnessPolicy] = None,
    ) -> Verification:
        """Checks that the values are the certified ones, and that the certificate is in the signed log.

        Fetches the certificate and the keys unless they are given; with both it needs no network. Waits until a new certificate
        is logged. `require_fixed` fails an answer whose certificate does not show that the bytes it was drawn from were fixed
        before it was issued. `witnesses` fails an answer that too few of these witnesses have seen.
        """
        return verify_answer(
            **_wire.verifiable(answer),
            certificate=self._logged_certificate(answer.metadata.certificate_id) if certificate is None else certificate,
            keys=self.keys() if keys is None else keys,
            require_fixed=require_fixed,
            witnesses=witnesses,
        )

    def _logged_certificate(self, id: str) -> Mapping[str, Any]:
        for seconds in _wire.PROOF_WAITS:
            found = self.certificate(id)
            if _wire.is_logged(found):
                return found
            wait(seconds)
        return self.certificate(id)

    def _answered(
        self,
        endpoint: str,
        parameters: Mapping[str, Any],
        options: DrawOptions,
        values_of: Callable[[Mapping[str, Any]], T],
    ) -> Answer[T]:
        return _wire.answer_of(self._draw(endpoint, parameters, options), values_of)

    def _draw(
        self, endpoint: str, parameters: Mapping[str, Any], options: DrawOptions, octets: bool = False
    ) -> RawResponse:
        return self._send(_wire.draw(self._settings, endpoint, parameters, options, octets=octets))

    def _data(self, request: _wire.Request) -> Mapping[str, Any]:
        data: Mapping[str, Any] = _wire.object_of(self._send(request), "data")["data"]
        return data

    def _send(self, request: _wire.Request) -> RawResponse:
        return self._transport.send(self._settings, request)
