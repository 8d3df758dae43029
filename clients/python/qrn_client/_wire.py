"""Requests and replies, without any network: what the clients for threads and for asyncio share."""

from __future__ import annotations

import base64
import json
import logging
import operator
import os
import platform
import re
import sys
import warnings
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, version
from time import time
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, TypeVar, Union
from urllib.parse import quote, urlsplit
from uuid import UUID

from ._options import DrawOptions, sent_options
from .answers import Answer, Credits, Metadata, OctetAnswer, RateLimit, RawResponse
from ._reading import BASE32
from .errors import ConnectionFailedError, InvalidAnswerError, QrnError, TimeoutExceededError, class_of

T = TypeVar("T")

_log = logging.getLogger("qrn_client")

DEFAULT_URL = "http://127.0.0.1:3000/v1"
#: Most values of one batch.
BATCH_COUNT_MAX = 100_000
#: Replies have at most 64 MiB; what is longer is not of the service.
BODY_BYTES_MAX = 128 * 1024 * 1024
#: Waits for a certificate's proof, in seconds: the service seals its log about every 150 ms.
PROOF_WAITS = (0.2, 0.4, 0.8, 1.6)

_BACKOFF_FIRST = 0.25
_BACKOFF_MAX = 8.0
#: Answers that mean "later", of the service or of a proxy before it (RFC 9110 §15.6.3, §15.6.5).
_LATER_STATUSES = (429, 502, 503, 504)
_HEAD_TOO_LARGE = "The request line and headers are too long: send at most 64 KiB, with fewer or shorter items."
_VISIBLE_ASCII = re.compile(r"[\x21-\x7e]+")

_PACKAGE = __name__.partition(".")[0]
try:
    _VERSION = version(_PACKAGE)
except PackageNotFoundError:
    _VERSION = "0"  # run from the source tree

USER_AGENT = f"{_PACKAGE}-python/{_VERSION} Python/{platform.python_version()}"


class QrnWarning(UserWarning):
    """The service ignored a parameter that it does not know."""


@dataclass(frozen=True)
class Settings:
    """Of a client."""

    scheme: str
    host: str
    port: int
    #: Ends in /v1.
    base_path: str
    key: str
    timeout: float
    retries: int
    retry_wait_max: float

    @staticmethod
    def of(
        url: Optional[str], key: Optional[str], timeout: float, retries: int, retry_wait_max: float
    ) -> "Settings":
        """Raises ValueError for what cannot be meant."""
        text = url or os.environ.get("QRN_URL") or DEFAULT_URL
        parts = urlsplit(text)
        path = parts.path.rstrip("/") or "/v1"
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"url: {text!r} is not an http or https URL; give one such as {DEFAULT_URL}, or set QRN_URL")
        if not path.endswith("/v1") or not _VISIBLE_ASCII.fullmatch(path):
            raise ValueError(f"url: the path of {text!r} must end in /v1, or be left out")
        secret = (key or os.environ.get("QRN_KEY") or "").strip()
        if not _VISIBLE_ASCII.fullmatch(secret):
            raise ValueError("key: give the API key, or set QRN_KEY; a key is visible ASCII without blanks")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        settings = Settings(parts.scheme, parts.hostname, port, path, secret, timeout, retries, retry_wait_max)
        return settings.replaced(None, None, None)

    def replaced(
        self, timeout: Optional[float], retries: Optional[int], retry_wait_max: Optional[float]
    ) -> "Settings":
        """These with the given ones in place of their own."""
        given: Dict[str, Any] = {"timeout": timeout, "retries": retries, "retry_wait_max": retry_wait_max}
        settings = replace(self, **{name: value for name, value in given.items() if value is not None})
        if not settings.timeout > 0 or settings.retries < 0 or settings.retry_wait_max < 0:
            raise ValueError("timeout must be above 0, retries and retry_wait_max at least 0")
        return settings

    def __repr__(self) -> str:
        return f"Settings({self.scheme}://{self.host}:{self.port}{self.base_path})"  # never the key


@dataclass(frozen=True)
class Request:
    method: str
    #: From the origin on, with the query.
    target: str
    headers: Mapping[str, str]
    body: Optional[bytes] = None
    idempotency_key: Optional[str] = None
    #: Statuses besides 200 whose body is an answer unless it says that it is an error.
    also_answers: Sequence[int] = ()


Query = Mapping[str, Union[str, int, bool, None, Sequence[str], Sequence[int]]]


def draw(
    settings: Settings,
    endpoint: str,
    parameters: Mapping[str, Any],
    options: DrawOptions,
    *,
    dry_run: bool = False,
    octets: bool = False,
) -> Request:
    """A request for values. What costs credits or has a serial carries an Idempotency-Key."""
    common, idempotency_key = sent_options(options, dry_run)
    accept = "application/octet-stream" if octets else "application/json"
    if endpoint != "batch":
        target = f"{settings.base_path}/{endpoint}{query_of({**parameters, **common})}"
        return Request("GET", target, _headers(settings, accept), idempotency_key=idempotency_key)
    return post(settings, "/batch", {**parameters, **common}, idempotency_key, accept=accept)


def post(
    settings: Settings,
    path: str,
    members: Mapping[str, Any],
    idempotency_key: Optional[str] = None,
    also_answers: Sequence[int] = (),
    accept: str = "application/json",
) -> Request:
    """A request below the base URL with a JSON body of the members that are not None."""
    given = {name: value for name, value in members.items() if value is not None}
    body = json.dumps(given, default=operator.index).encode()  # numpy's integers too
    headers = {**_headers(settings, accept), "Content-Type": "application/json"}
    return Request("POST", settings.base_path + path, headers, body, idempotency_key, also_answers)


def fetch(
    settings: Settings,
    path: str,
    accept: str = "application/json",
    also_answers: Sequence[int] = (),
    with_key: bool = True,
) -> Request:
    """A request below the base URL that draws nothing."""
    headers = _headers(settings, accept, with_key)
    return Request("GET", settings.base_path + path, headers, also_answers=also_answers)


def delete(settings: Settings, path: str) -> Request:
    return Request("DELETE", settings.base_path + path, _headers(settings, "application/json"))


def fetch_keys(settings: Settings) -> Request:
    """The public keys; no API key is sent for them."""
    headers = _headers(settings, "application/json", with_key=False)
    return Request("GET", settings.base_path[: -len("/v1")] + "/.well-known/qrn-keys.json", headers)


def _headers(settings: Settings, accept: str, with_key: bool = True) -> Dict[str, str]:
    headers = {"Accept": accept, "User-Agent": USER_AGENT}
    return {**headers, "Authorization": f"Bearer {settings.key}"} if with_key else headers


def query_of(parameters: Query) -> str:
    """`?name=value&…`, or nothing. A list is sent as its items, each percent-encoded, between bare commas."""
    pairs = []
    for name, value in parameters.items():
        if value is None:
            continue
        if isinstance(value, bool):
            text = "true" if value else "false"
        elif isinstance(value, (str, int, float)):
            text = quote(str(value), safe="")
        elif hasattr(value, "__index__"):  # an integer of numpy
            text = str(operator.index(value))
        else:
            text = ",".join(quote(str(item), safe="") for item in value)
        pairs.append(f"{name}={text}")
    return "?" + "&".join(pairs) if pairs else ""


def batch_parameters(type: str, count: int, params: Mapping[str, Any]) -> Dict[str, Any]:
    given = {name: value for name, value in params.items() if value is not None}
    return {"type": type, "count": count, "params": given}


def network_error(cause: BaseException, timeout: float, timed_out: bool) -> QrnError:
    if timed_out:
        return TimeoutExceededError(f"No answer within {timeout:g} s.", code="timeout")
    text = str(cause) or type(cause).__name__
    return ConnectionFailedError(f"No answer: {text}.", code="network_error")


def checked(request: Request, reply: RawResponse) -> RawResponse:
    """The reply, if it is an answer; else raises the service's error."""
    if reply.status == 200:
        _warn_of_ignored(request, reply)
        return reply
    error = error_of(reply)
    if error.code == "invalid_answer" and reply.status in request.also_answers:
        return reply
    raise error


def _warn_of_ignored(request: Request, reply: RawResponse) -> None:
    ignored = reply.headers.get("x-ignored-parameters")
    if ignored:
        path = request.target.partition("?")[0]
        message = f"the service ignored what it does not know in {path}: {ignored}"
        warnings.warn(message, QrnWarning, stacklevel=_frames_of_the_package())


def _frames_of_the_package() -> int:
    """How far up the stack whoever called the package is, as `warnings.warn` counts it."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == os.path.dirname(__file__):
        frame, level = frame.f_back, level + 1
    return level


def error_of(reply: RawResponse) -> QrnError:
    """The service's error in a reply, or `invalid_answer` when there is none."""
    wait = retry_after(reply.headers.get("retry-after"), time())
    body = _parsed(reply.body)
    member = body.get("error") if isinstance(body, dict) else None
    error: Mapping[str, Any] = member if isinstance(member, dict) else {}
    code, message = error.get("code"), error.get("message")
    if not isinstance(code, str) or not isinstance(message, str):
        if reply.status == 431:  # refused before the service reads it, so that its body is not the service's
            return class_of("head_too_large", 431)(_HEAD_TOO_LARGE, code="head_too_large", status=431)
        what = f"HTTP {reply.status} without an error of the service: is the URL right, or a proxy in the way?"
        return InvalidAnswerError(what, code="invalid_answer", status=reply.status, retry_after=wait)
    request_id, details = error.get("request_id"), error.get("details")
    return class_of(code, reply.status)(
        message,
        code=code,
        status=reply.status,
        request_id=request_id if isinstance(request_id, str) else None,
        details=details if isinstance(details, dict) else None,
        retry_after=wait,
    )


def retry_after(text: Optional[str], now: float) -> Optional[float]:
    """Retry-After in seconds: a number, or a date as some proxies send it (RFC 9110 §10.2.3)."""
    if text is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def retry_delay(failure: QrnError, attempt: int, jitter: float, wait_max: float) -> Optional[float]:
    """Seconds to wait before the call is sent again; None when it must not or need not be.

    Any call may be sent twice: without pure mode an answer is free, and in pure mode every attempt has the same
    Idempotency-Key.

    attempt: attempts made so far, from 1
    jitter: uniform in [0, 1)
    wait_max: a service that asks for more patience than this is not waited for
    """
    passing = failure.code in ("network_error", "timeout", "idempotency_in_flight")
    if not passing and failure.status not in _LATER_STATUSES:
        return None
    backoff: float = min(_BACKOFF_MAX, _BACKOFF_FIRST * 2 ** min(attempt - 1, 30))
    if failure.retry_after is None:
        return backoff * (0.5 + jitter / 2)
    if failure.retry_after > wait_max:
        return None
    # Never earlier than asked, and not all clients at the same moment.
    return failure.retry_after + backoff * jitter


def after_failure(
    settings: Settings, request: Request, error: QrnError, attempt: int, jitter: float
) -> Optional[float]:
    """Completes the error; gives the seconds to wait before the next attempt, or None when there is to be none."""
    error.attempts = attempt
    error.idempotency_key = request.idempotency_key
    delay = None if attempt > settings.retries else retry_delay(error, attempt, jitter, settings.retry_wait_max)
    path = request.target.partition("?")[0]
    if delay is not None:
        _log.info("%s %s: %s; attempt %d follows in %.2f s", request.method, path, error, attempt + 1, delay)
    else:
        _log.debug("%s %s: %s after %d attempts", request.method, path, error, attempt)
    return delay


def _parsed(body: Union[bytes, bytearray]) -> Any:
    """The parsed body; None when it is not JSON."""
    try:
        return json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def object_of(reply: RawResponse, member: str) -> Dict[str, Any]:
    """The body as an object that has the member."""
    body = _parsed(reply.body)
    if not isinstance(body, dict) or member not in body:
        raise invalid_answer(reply, f"no JSON object with {member!r} in it")
    return body


def invalid_answer(reply: RawResponse, what: str) -> InvalidAnswerError:
    return InvalidAnswerError(f"The answer is {what}.", code="invalid_answer", status=reply.status)


def answer_of(reply: RawResponse, values_of: Callable[[Mapping[str, Any]], T]) -> Answer[T]:
    body = object_of(reply, "data")
    try:
        data, meta = body["data"], body["metadata"]
        names = [name for name in Metadata.__dataclass_fields__ if name != "entropy_mode"]
        metadata = Metadata(entropy_mode=data["metadata"]["entropy_mode"], **{name: meta[name] for name in names})
        credits = Credits(**{name: body["quantum_credits"][name] for name in ("remaining", "used", "total")})
        values = values_of(data)
    except (KeyError, TypeError, ValueError) as error:
        raise invalid_answer(reply, f"not of its form: {error!r}") from error
    return Answer(values, data, metadata, credits, _rate_limit(reply), body, reply)


def values_of(data: Mapping[str, Any]) -> List[Any]:
    return list(data["values"])


def floats_of(data: Mapping[str, Any]) -> List[float]:
    return [float(value) for value in data["values"]]  # 0 is an integer in JSON


def bitstring_of(data: Mapping[str, Any]) -> str:
    return str(data["bitstring"])


def items_of(data: Mapping[str, Any]) -> List[str]:
    return list(data["items"])


def bytes_of(data: Mapping[str, Any]) -> bytes:
    if data["encoding"] == "hex":
        return bytes.fromhex(data["bytes"])
    return base64.b64decode(data["bytes"], validate=True)


def uuids_of(data: Mapping[str, Any]) -> List[UUID]:
    return [UUID(text) for text in data["uuids"]]


def batch_values(data: Mapping[str, Any]) -> List[Any]:
    if data["type"] == "uuid":
        return [UUID(text) for text in data["values"]]
    return floats_of(data) if data["type"] in ("floats", "gaussians") else list(data["values"])


def pdf_of(reply: RawResponse) -> bytes:
    content_type = reply.headers.get("content-type")
    if content_type != "application/pdf":
        raise invalid_answer(reply, f"{content_type}, not a PDF document")
    return bytes(reply.body)


def is_logged(document: Mapping[str, Any]) -> bool:
    certificate = document["certificate"]
    return isinstance(certificate, dict) and certificate.get("proof") is not None


def octet_answer(reply: RawResponse, endpoint: str, type: str, count: Optional[int]) -> OctetAnswer:
    """Reads the metadata of a reply of bare values. Raises `invalid_answer` when something is missing."""
    headers = reply.headers
    content_type = headers.get("content-type") or ""
    if content_type != "application/octet-stream":
        raise invalid_answer(reply, f"{content_type}, not application/octet-stream")
    size = len(reply.body)
    count = size if count is None else count
    widths = {"integers": (4, 8), "floats": (8,), "uuid": (16,)}.get(type, (size // max(count, 1),))
    if size == 0 or count < 1 or size % count != 0 or size // count not in widths:
        raise invalid_answer(reply, f"{size} bytes, not {count} values of the type {type}")
    try:
        uuid = headers["x-request-id"]
        duration = int(headers["x-processing-time-ms"])
        metadata = Metadata(
            request_id=request_id_of(uuid),
            timestamp=headers["x-timestamp"],
            lang_circuit=headers["x-lang-circuit"],
            lang_version=headers["x-lang-version"],
            quantum_backend=headers["x-quantum-backend"],
            entropy_origin=headers["x-entropy-origin"],
            nist_verified=headers["x-nist-verified"] == "true",
            certificate_id=headers["x-certificate-id"],
            certificate_salt=headers["x-certificate-salt"],
            verify_url=headers["x-verify-url"],
            processing_time_ms=duration,
            entropy_consumed_bytes=int(headers["x-entropy-consumed-bytes"]),
            entropy_mode=headers["x-entropy-mode"],
        )
        credits = Credits(int(headers["x-quantum-credits-remaining"]), int(headers["x-quantum-credits-used"]), None)
    except (KeyError, ValueError) as error:
        raise invalid_answer(reply, f"without a readable header: {error!r}") from error
    meta = {"request_id": uuid, "duration_ms": duration}
    return OctetAnswer(
        endpoint, type, count, reply.body, metadata, credits, _rate_limit(reply), meta, reply
    )


def request_id_of(uuid: str) -> str:
    """The bits of the UUID as `req_` and 26 characters of Crockford's base32."""
    bits = UUID(uuid).int
    return "req_" + "".join(BASE32[bits >> shift & 31] for shift in range(125, -1, -5))


def _rate_limit(reply: RawResponse) -> Optional[RateLimit]:
    remaining, reset = reply.headers.get("x-ratelimit-remaining"), reply.headers.get("x-ratelimit-reset")
    if remaining is None or reset is None or not (remaining.isdigit() and reset.isdigit()):
        return None
    return RateLimit(int(remaining), int(reset))


def counts_of(total: int, block: int) -> Iterator[int]:
    """The counts of the calls that make `total` values."""
    if total < 1 or not 1 <= block <= BATCH_COUNT_MAX:
        raise ValueError(f"total must be at least 1, block from 1 to {BATCH_COUNT_MAX}")
    return (min(block, total - start) for start in range(0, total, block))


def verifiable(answer: Union[Answer[Any], OctetAnswer]) -> Dict[str, Any]:
    """The answer as `verify_answer` takes it: a JSON body, or octets and what came beside them."""
    if isinstance(answer, Answer):
        return {"response": answer.body}
    if not isinstance(answer, OctetAnswer):
        raise TypeError("verify takes an answer of this client; verify_answer takes the parsed JSON of one that was saved")
    return {"response": answer.response_beside(), "octets": bytes(answer.octets)}
