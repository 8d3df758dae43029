"""Makes requests and reads replies, without any network. The clients for threads and for asyncio share it."""

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
#: The most values of one batch.
BATCH_COUNT_MAX = 100_000
#: Twice the largest reply of the service; a longer one is not from the service.
BODY_BYTES_MAX = 128 * 1024 * 1024
#: The waits for a certificate's proof, in seconds. The service extends its log every 250 ms.
PROOF_WAITS = (0.2, 0.4, 0.8, 1.6)

_BACKOFF_FIRST = 0.25
_BACKOFF_MAX = 8.0
#: Statuses that mean "try later", from the service or from a proxy before it (RFC 9110 §15.6.3, §15.6.5).
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
    """The settings of a client."""

    scheme: str
    host: str
    port: int
    #: The path of the base URL, which ends in /v1.
    base_path: str
    key: str
    timeout: float
    retries: int
    retry_wait_max: float

    @staticmethod
    def of(
        url: Optional[str], key: Optional[str], timeout: float, retries: int, retry_wait_max: float
    ) -> "Settings":
        """Reads and checks the settings. Raises ValueError for wrong ones."""
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
        """Returns a copy in which the given values replace the old ones."""
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
    #: The path and the query.
    target: str
    headers: Mapping[str, str]
    body: Optional[bytes] = None
    idempotency_key: Optional[str] = None
    #: Statuses besides 200 that are answers, unless the body is an error of the service.
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
    """Returns a request for values. It has an Idempotency-Key when it costs credits or has a purpose."""
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
    """Returns a POST request below the base URL. Its JSON body has the members that are not None."""
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
    """Returns a GET request below the base URL that draws nothing."""
    headers = _headers(settings, accept, with_key)
    return Request("GET", settings.base_path + path, headers, also_answers=also_answers)


def delete(settings: Settings, path: str) -> Request:
    return Request("DELETE", settings.base_path + path, _headers(settings, "application/json"))


def fetch_keys(settings: Settings) -> Request:
    """Returns the request for the public keys, without an API key."""
    headers = _headers(settings, "application/json", with_key=False)
    return Request("GET", settings.base_path[: -len("/v1")] + "/.well-known/qrn-keys.json", headers)


def _headers(settings: Settings, accept: str, with_key: bool = True) -> Dict[str, str]:
    headers = {"Accept": accept, "User-Agent": USER_AGENT}
    return {**headers, "Authorization": f"Bearer {settings.key}"} if with_key else headers


def query_of(parameters: Query) -> str:
    """Returns `?name=value&…`, or nothing. The items of a list are percent-encoded, and the commas between them are not."""
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
    """Returns the reply if it is an answer; else raises the service's error."""
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
    """Returns the stack level of the package's caller, as `warnings.warn` counts levels."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == os.path.dirname(__file__):
        frame, level = frame.f_back, level + 1
    return level


def error_of(reply: RawResponse) -> QrnError:
    """Returns the service's error in a reply, or `invalid_answer` when the reply has none."""
    wait = retry_after(reply.headers.get("retry-after"), time())
    body = _parsed(reply.body)
    member = body.get("error") if isinstance(body, dict) else None
    error: Mapping[str, Any] = member if isinstance(member, dict) else {}
    code, message = error.get("code"), error.get("message")
    if not isinstance(code, str) or not isinstance(message, str):
        if reply.status == 431:  # the HTTP library refused the request before the service saw it
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
    """Returns Retry-After in seconds; None when it is absent or malformed. Some proxies send a date (RFC 9110 §10.2.3)."""
    if text is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def retry_delay(failure: QrnError, attempt: int, jitter: float, wait_max: float) -> Optional[float]:
    """Returns the seconds to wait before the next attempt, or None when there must be none.

    Any call may be sent twice: an answer is free outside of pure mode, and in pure mode every attempt has the same
    Idempotency-Key.

    attempt: the number of attempts so far, from 1
    jitter: a uniform number in [0, 1)
    wait_max: the longest wait that is accepted when the service asks for one
    """
    passing = failure.code in ("network_error", "timeout", "idempotency_in_flight")
    if not passing and failure.status not in _LATER_STATUSES:
        return None
    backoff: float = min(_BACKOFF_MAX, _BACKOFF_FIRST * 2 ** min(attempt - 1, 30))
    if failure.retry_after is None:
        return backoff * (0.5 + jitter / 2)
    if failure.retry_after > wait_max:
        return None
    # At least as long as the service asks, and not the same for all clients.
    return failure.retry_after + backoff * jitter


def after_failure(
    settings: Settings, request: Request, error: QrnError, attempt: int, jitter: float
) -> Optional[float]:
    """Completes the error and returns the seconds to wait before the next attempt, or None when there must be none."""
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
    """Returns the parsed body; None when it is not JSON."""
    try:
        return json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def object_of(reply: RawResponse, member: str) -> Dict[str, Any]:
    """Returns the body as an object. Raises `invalid_answer` when it is none or lacks the member."""
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
    """Reads an answer in octets. Raises `invalid_answer` when a header field is missing or the size is wrong."""
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
    """Returns the UUID's bits as `req_` and 26 characters of Crockford's base32."""
    bits = UUID(uuid).int
    return "req_" + "".join(BASE32[bits >> shift & 31] for shift in range(125, -1, -5))


def _rate_limit(reply: RawResponse) -> Optional[RateLimit]:
    remaining, reset = reply.headers.get("x-ratelimit-remaining"), reply.headers.get("x-ratelimit-reset")
    if remaining is None or reset is None or not (remaining.isdigit() and reset.isdigit()):
        return None
    return RateLimit(int(remaining), int(reset))


def counts_of(total: int, block: int) -> Iterator[int]:
    """Returns the numbers of values of the calls that together make `total` values."""
    if total < 1 or not 1 <= block <= BATCH_COUNT_MAX:
        raise ValueError(f"total must be at least 1, block from 1 to {BATCH_COUNT_MAX}")
    return (min(block, total - start) for start in range(0, total, block))


def verifiable(answer: Union[Answer[Any], OctetAnswer]) -> Dict[str, Any]:
    """Returns the answer in the form of `verify_answer`: a JSON body, or octets with what came in header fields."""
    if isinstance(answer, Answer):
        return {"response": answer.body}
    if not isinstance(answer, OctetAnswer):
        raise TypeError("verify takes an answer of this client; verify_answer takes the parsed JSON of one that was saved")
    return {"response": answer.response_beside(), "octets": bytes(answer.octets)}
