"""The errors of calls. A request that the service refused has drawn no entropy and spent no credit.

Each error code of the service has a class. Its base class stands for a kind of failure, and the base of those is `QrnError`.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Type

#: The class of each code.
BY_CODE: Dict[str, Type[QrnError]] = {}


class QrnError(Exception):
    """The error of a call without an answer.

    code: the code of the service (docs/errors.md lists them), or `network_error`, `timeout` or `invalid_answer`
    status: the HTTP status; None without a response
    request_id: `req_…`, which names the request in the service's log; None without a reply of the service
    details: facts that the service adds to the code, e.g. `required` and `remaining` for `credits_exhausted`
    retry_after: how long the service asks to wait, in seconds; None when it does not
    attempts: the number of requests sent for this call
    idempotency_key: the Idempotency-Key of the call; None when it had none. After a `network_error` or a `timeout`, the same
        call with the same key gets the first attempt's answer and costs nothing more.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        details: Optional[Mapping[str, Any]] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.request_id = request_id
        self.details = details
        self.retry_after = retry_after
        self.attempts = 1
        self.idempotency_key: Optional[str] = None

    def __init_subclass__(cls, code: Optional[str] = None) -> None:
        super().__init_subclass__()
        if code is not None:
            BY_CODE[code] = cls

    def __str__(self) -> str:
        named = f" ({self.request_id})" if self.request_id is not None else ""
        return f"{self.code}: {self.message}{named}"

    def __reduce__(self) -> Any:
        return (_restored, (type(self), dict(self.__dict__)))


def _restored(kind: Type[QrnError], members: Dict[str, Any]) -> QrnError:
    error = kind(members["message"], code=members["code"])
    error.__dict__.update(members)
    return error


class ConnectionFailedError(QrnError, code="network_error"):
    """The connection failed or broke off (`network_error`), or no answer came in time (`timeout`)."""


class TimeoutExceededError(ConnectionFailedError, code="timeout"):
    """`timeout`: no answer came within the timeout of one attempt, or a draw did not end within that of a wait."""


class InvalidAnswerError(QrnError, code="invalid_answer"):
    """`invalid_answer`: the reply is not one of the service, for example a proxy's page."""


class InvalidRequestError(QrnError):
    """The request is wrong, so a retry fails too: 400, 405, 406, 413, 415, 431, and the 409 of a draw."""


class AuthenticationError(QrnError):
    """401: the API key is missing, mistyped, expired or revoked."""


class PermissionDeniedError(QrnError):
    """403: the key lacks a scope, or the account's tier lacks the entropy mode."""


class NotFoundError(QrnError):
    """404"""


class IdempotencyError(QrnError):
    """409 and 422: the request of this Idempotency-Key is still running, or the key was used for another request."""


class RateLimitError(QrnError):
    """429"""


class ServiceError(QrnError):
    """5xx: the service cannot answer now."""


# A class for each code; one without a docstring is explained by its code.
class BadRequestError(InvalidRequestError, code="bad_request"): ...
class InvalidCountError(InvalidRequestError, code="invalid_count"): ...
class InvalidRangeError(InvalidRequestError, code="invalid_range"): ...
class UniqueImpossibleError(InvalidRequestError, code="unique_impossible"): ...
class InvalidBooleanError(InvalidRequestError, code="invalid_boolean"): ...
class InvalidSortError(InvalidRequestError, code="invalid_sort"): ...
class InvalidEncodingError(InvalidRequestError, code="invalid_encoding"): ...
class InvalidPrecisionError(InvalidRequestError, code="invalid_precision"): ...
class InvalidLengthError(InvalidRequestError, code="invalid_length"): ...
class InvalidItemsError(InvalidRequestError, code="invalid_items"): ...
class InvalidWeightsError(InvalidRequestError, code="invalid_weights"): ...
class InvalidAlphabetError(InvalidRequestError, code="invalid_alphabet"): ...
class InvalidMeanError(InvalidRequestError, code="invalid_mean"): ...
class InvalidStddevError(InvalidRequestError, code="invalid_stddev"): ...
class InvalidDigitsError(InvalidRequestError, code="invalid_digits"): ...
class InvalidSequencesError(InvalidRequestError, code="invalid_sequences"): ...
class InvalidPurposeError(InvalidRequestError, code="invalid_purpose"): ...
class InvalidSeriesError(InvalidRequestError, code="invalid_series"): ...
class InvalidUserDataError(InvalidRequestError, code="invalid_user_data"): ...
class InvalidDrawError(InvalidRequestError, code="invalid_draw"): ...
class InvalidDrawIdError(InvalidRequestError, code="invalid_draw_id"): ...
class ListMismatchError(InvalidRequestError, code="list_mismatch"): ...
class InvalidNonceError(InvalidRequestError, code="invalid_nonce"): ...
class InvalidBeaconError(InvalidRequestError, code="invalid_beacon"): ...
class BeaconRoundPastError(InvalidRequestError, code="beacon_round_past"): ...
class InvalidRevealAtError(InvalidRequestError, code="invalid_reveal_at"): ...
class InvalidTypeError(InvalidRequestError, code="invalid_type"): ...
class InvalidParamsError(InvalidRequestError, code="invalid_params"): ...
class PureTooLargeError(InvalidRequestError, code="pure_too_large"): ...
class InvalidJsonError(InvalidRequestError, code="invalid_json"): ...
class InvalidIdError(InvalidRequestError, code="invalid_id"): ...
class InvalidFormatError(InvalidRequestError, code="invalid_format"): ...
class InvalidEntropyModeError(InvalidRequestError, code="invalid_entropy_mode"): ...
class InvalidIdempotencyKeyError(InvalidRequestError, code="invalid_idempotency_key"): ...
class DuplicateParameterError(InvalidRequestError, code="duplicate_parameter"): ...


class UnknownParameterError(InvalidRequestError, code="unknown_parameter"):
    """`unknown_parameter`: this service checks parameters strictly."""


class NotAcceptableError(InvalidRequestError, code="not_acceptable"): ...
class MethodNotAllowedError(InvalidRequestError, code="method_not_allowed"): ...
class PayloadTooLargeError(InvalidRequestError, code="payload_too_large"): ...
class UnsupportedMediaTypeError(InvalidRequestError, code="unsupported_media_type"): ...
class HeadTooLargeError(InvalidRequestError, code="head_too_large"): ...
class AuthMissingError(AuthenticationError, code="auth_missing"): ...
class AuthInvalidError(AuthenticationError, code="auth_invalid"): ...


class CreditsExhaustedError(QrnError, code="credits_exhausted"):
    """`credits_exhausted`: `details` has `required` and `remaining`, in bytes."""


class AuthScopeError(PermissionDeniedError, code="auth_scope"): ...
class ModeNotAllowedError(PermissionDeniedError, code="mode_not_allowed"): ...
class PathNotFoundError(NotFoundError, code="not_found"): ...
class CertificateNotFoundError(NotFoundError, code="cert_not_found"): ...
class DrawNotFoundError(NotFoundError, code="draw_not_found"): ...
class DrawEndedError(InvalidRequestError, code="draw_ended"): ...
class DrawDueError(InvalidRequestError, code="draw_due"): ...
class DrawsFullError(RateLimitError, code="draws_full"): ...
class BeaconUnavailableError(ServiceError, code="beacon_unavailable"): ...
class IdempotencyInFlightError(IdempotencyError, code="idempotency_in_flight"): ...
class IdempotencyFullError(RateLimitError, code="idempotency_full"): ...
class IdempotencyMismatchError(IdempotencyError, code="idempotency_mismatch"): ...


class RateLimitedError(RateLimitError, code="rate_limited"):
    """`rate_limited`: too many requests in a minute."""


class QuotaExceededError(RateLimitError, code="quota_exceeded"):
    """`quota_exceeded`: the requests of the month are used up."""


class InternalServiceError(ServiceError, code="internal_error"): ...


class EntropyUnavailableError(ServiceError, code="entropy_unavailable"):
    """`entropy_unavailable`: the mode cannot be served now; the service never replaces it by another."""


class OverloadedError(ServiceError, code="overloaded"): ...
class ShuttingDownError(ServiceError, code="shutting_down"): ...
class StorageUnavailableError(ServiceError, code="storage_unavailable"): ...


_BY_STATUS: Mapping[int, Type[QrnError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: IdempotencyError,
    422: IdempotencyError,
    429: RateLimitError,
}


def class_of(code: str, status: int) -> Type[QrnError]:
    """Returns the class for a code. For a code that only a newer service has, the status decides."""
    known = BY_CODE.get(code)
    if known is not None:
        return known
    if status >= 500:
        return ServiceError
    return _BY_STATUS.get(status, InvalidRequestError if 400 <= status < 500 and status != 402 else QrnError)
