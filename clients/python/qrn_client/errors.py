"""What a call raises when it has no answer. A refused request has drawn no entropy and spent no credit.

There is a class for each code that the service answers, below a class for each kind of failure, below `QrnError`.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Type


class QrnError(Exception):
    """A call that has no answer.

    code: the code of the service (docs/errors.md lists them), or `network_error`, `timeout` or `invalid_answer`
    status: the HTTP status; None when no answer came
    request_id: `req_…`, which names the request in the service's log; None when no answer of the service came
    details: what the service adds to the code, e.g. `required` and `remaining` of `credits_exhausted`
    retry_after: seconds that the service asked to wait; None when it did not
    attempts: requests that were sent for this call
    idempotency_key: the Idempotency-Key of the attempts, if they had one. After a `network_error` or a `timeout` in
        pure mode, the same call with the same key gets the answer that was on its way and spends nothing more.
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

    def __str__(self) -> str:
        named = f" ({self.request_id})" if self.request_id is not None else ""
        return f"{self.code}: {self.message}{named}"

    def __reduce__(self) -> Any:
        return (_restored, (type(self), dict(self.__dict__)))


def _restored(kind: Type[QrnError], members: Dict[str, Any]) -> QrnError:
    error = kind(members["message"], code=members["code"])
    error.__dict__.update(members)
    return error


class ConnectionFailedError(QrnError):
    """The connection failed or was cut (`network_error`), or no answer came in time (`timeout`)."""


class TimeoutExceededError(ConnectionFailedError):
    """`timeout`: no answer within the timeout of one attempt, or a draw that did not end within that of a wait."""


class InvalidAnswerError(QrnError):
    """`invalid_answer`: what came is not an answer of the service, such as a proxy's page."""


class InvalidRequestError(QrnError):
    """The request is wrong and will be wrong again: 400, 405, 406, 413, 415, 431, and 409 of a draw."""


class AuthenticationError(QrnError):
    """401: there is no API key, or it is mistyped, expired or revoked."""


class PermissionDeniedError(QrnError):
    """403: the key lacks a scope, or the account's tier lacks the entropy mode."""


class NotFoundError(QrnError):
    """404"""


class IdempotencyError(QrnError):
    """409 and 422: the Idempotency-Key is in use for a request that still runs, or was used for another request."""


class RateLimitError(QrnError):
    """429"""


class ServiceError(QrnError):
    """5xx: the service cannot answer now."""


class BadRequestError(InvalidRequestError):
    """`bad_request`"""


class InvalidCountError(InvalidRequestError):
    """`invalid_count`"""


class InvalidRangeError(InvalidRequestError):
    """`invalid_range`"""


class UniqueImpossibleError(InvalidRequestError):
    """`unique_impossible`"""


class InvalidBooleanError(InvalidRequestError):
    """`invalid_boolean`"""


class InvalidSortError(InvalidRequestError):
    """`invalid_sort`"""


class InvalidEncodingError(InvalidRequestError):
    """`invalid_encoding`"""


class InvalidPrecisionError(InvalidRequestError):
    """`invalid_precision`"""


class InvalidLengthError(InvalidRequestError):
    """`invalid_length`"""


class InvalidItemsError(InvalidRequestError):
    """`invalid_items`"""


class InvalidWeightsError(InvalidRequestError):
    """`invalid_weights`"""


class InvalidAlphabetError(InvalidRequestError):
    """`invalid_alphabet`"""


class InvalidMeanError(InvalidRequestError):
    """`invalid_mean`"""


class InvalidStddevError(InvalidRequestError):
    """`invalid_stddev`"""


class InvalidDigitsError(InvalidRequestError):
    """`invalid_digits`"""


class InvalidSequencesError(InvalidRequestError):
    """`invalid_sequences`"""


class InvalidPurposeError(InvalidRequestError):
    """`invalid_purpose`"""


class InvalidSeriesError(InvalidRequestError):
    """`invalid_series`"""


class InvalidUserDataError(InvalidRequestError):
    """`invalid_user_data`"""


class InvalidDrawError(InvalidRequestError):
    """`invalid_draw`"""


class InvalidDrawIdError(InvalidRequestError):
    """`invalid_draw_id`"""


class ListMismatchError(InvalidRequestError):
    """`list_mismatch`"""


class InvalidNonceError(InvalidRequestError):
    """`invalid_nonce`"""


class InvalidBeaconError(InvalidRequestError):
    """`invalid_beacon`"""


class BeaconRoundPastError(InvalidRequestError):
    """`beacon_round_past`"""


class InvalidRevealAtError(InvalidRequestError):
    """`invalid_reveal_at`"""


class InvalidTypeError(InvalidRequestError):
    """`invalid_type`"""


class InvalidParamsError(InvalidRequestError):
    """`invalid_params`"""


class PureTooLargeError(InvalidRequestError):
    """`pure_too_large`"""


class InvalidJsonError(InvalidRequestError):
    """`invalid_json`"""


class InvalidIdError(InvalidRequestError):
    """`invalid_id`"""


class InvalidFormatError(InvalidRequestError):
    """`invalid_format`"""


class InvalidEntropyModeError(InvalidRequestError):
    """`invalid_entropy_mode`"""


class InvalidIdempotencyKeyError(InvalidRequestError):
    """`invalid_idempotency_key`"""


class DuplicateParameterError(InvalidRequestError):
    """`duplicate_parameter`"""


class UnknownParameterError(InvalidRequestError):
    """`unknown_parameter`: this service checks parameters strictly."""


class NotAcceptableError(InvalidRequestError):
    """`not_acceptable`"""


class MethodNotAllowedError(InvalidRequestError):
    """`method_not_allowed`"""


class PayloadTooLargeError(InvalidRequestError):
    """`payload_too_large`"""


class UnsupportedMediaTypeError(InvalidRequestError):
    """`unsupported_media_type`"""


class HeadTooLargeError(InvalidRequestError):
    """`head_too_large`"""


class AuthMissingError(AuthenticationError):
    """`auth_missing`"""


class AuthInvalidError(AuthenticationError):
    """`auth_invalid`"""


class CreditsExhaustedError(QrnError):
    """`credits_exhausted`: `details` has `required` and `remaining`, in bytes."""


class AuthScopeError(PermissionDeniedError):
    """`auth_scope`"""


class ModeNotAllowedError(PermissionDeniedError):
    """`mode_not_allowed`"""


class PathNotFoundError(NotFoundError):
    """`not_found`"""


class CertificateNotFoundError(NotFoundError):
    """`cert_not_found`"""


class DrawNotFoundError(NotFoundError):
    """`draw_not_found`"""


class DrawEndedError(InvalidRequestError):
    """`draw_ended`"""


class DrawDueError(InvalidRequestError):
    """`draw_due`"""


class DrawsFullError(RateLimitError):
    """`draws_full`"""


class BeaconUnavailableError(ServiceError):
    """`beacon_unavailable`"""


class IdempotencyInFlightError(IdempotencyError):
    """`idempotency_in_flight`"""


class IdempotencyFullError(RateLimitError):
    """`idempotency_full`"""


class IdempotencyMismatchError(IdempotencyError):
    """`idempotency_mismatch`"""


class RateLimitedError(RateLimitError):
    """`rate_limited`: too many requests in a minute."""


class QuotaExceededError(RateLimitError):
    """`quota_exceeded`: the requests of the month are used up."""


class InternalServiceError(ServiceError):
    """`internal_error`"""


class EntropyUnavailableError(ServiceError):
    """`entropy_unavailable`: the mode cannot be served now; the service never replaces it by another."""


class OverloadedError(ServiceError):
    """`overloaded`"""


class ShuttingDownError(ServiceError):
    """`shutting_down`"""


class StorageUnavailableError(ServiceError):
    """`storage_unavailable`"""


BY_CODE: Mapping[str, Type[QrnError]] = {
    "network_error": ConnectionFailedError,
    "timeout": TimeoutExceededError,
    "invalid_answer": InvalidAnswerError,
    "bad_request": BadRequestError,
    "invalid_count": InvalidCountError,
    "invalid_range": InvalidRangeError,
    "unique_impossible": UniqueImpossibleError,
    "invalid_boolean": InvalidBooleanError,
    "invalid_sort": InvalidSortError,
    "invalid_encoding": InvalidEncodingError,
    "invalid_precision": InvalidPrecisionError,
    "invalid_length": InvalidLengthError,
    "invalid_items": InvalidItemsError,
    "invalid_weights": InvalidWeightsError,
    "invalid_alphabet": InvalidAlphabetError,
    "invalid_mean": InvalidMeanError,
    "invalid_stddev": InvalidStddevError,
    "invalid_digits": InvalidDigitsError,
    "invalid_sequences": InvalidSequencesError,
    "invalid_purpose": InvalidPurposeError,
    "invalid_series": InvalidSeriesError,
    "invalid_user_data": InvalidUserDataError,
    "invalid_draw": InvalidDrawError,
    "invalid_draw_id": InvalidDrawIdError,
    "list_mismatch": ListMismatchError,
    "invalid_nonce": InvalidNonceError,
    "invalid_beacon": InvalidBeaconError,
    "beacon_round_past": BeaconRoundPastError,
    "invalid_reveal_at": InvalidRevealAtError,
    "invalid_type": InvalidTypeError,
    "invalid_params": InvalidParamsError,
    "pure_too_large": PureTooLargeError,
    "invalid_json": InvalidJsonError,
    "invalid_id": InvalidIdError,
    "invalid_format": InvalidFormatError,
    "invalid_entropy_mode": InvalidEntropyModeError,
    "invalid_idempotency_key": InvalidIdempotencyKeyError,
    "duplicate_parameter": DuplicateParameterError,
    "unknown_parameter": UnknownParameterError,
    "auth_missing": AuthMissingError,
    "auth_invalid": AuthInvalidError,
    "credits_exhausted": CreditsExhaustedError,
    "auth_scope": AuthScopeError,
    "mode_not_allowed": ModeNotAllowedError,
    "not_found": PathNotFoundError,
    "cert_not_found": CertificateNotFoundError,
    "draw_not_found": DrawNotFoundError,
    "draw_ended": DrawEndedError,
    "draw_due": DrawDueError,
    "draws_full": DrawsFullError,
    "beacon_unavailable": BeaconUnavailableError,
    "method_not_allowed": MethodNotAllowedError,
    "not_acceptable": NotAcceptableError,
    "idempotency_in_flight": IdempotencyInFlightError,
    "idempotency_full": IdempotencyFullError,
    "payload_too_large": PayloadTooLargeError,
    "unsupported_media_type": UnsupportedMediaTypeError,
    "idempotency_mismatch": IdempotencyMismatchError,
    "rate_limited": RateLimitedError,
    "quota_exceeded": QuotaExceededError,
    "head_too_large": HeadTooLargeError,
    "internal_error": InternalServiceError,
    "entropy_unavailable": EntropyUnavailableError,
    "overloaded": OverloadedError,
    "shutting_down": ShuttingDownError,
    "storage_unavailable": StorageUnavailableError,
}

_BY_STATUS: Mapping[int, Type[QrnError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: IdempotencyError,
    422: IdempotencyError,
    429: RateLimitError,
}


def class_of(code: str, status: int) -> Type[QrnError]:
    """The class for a code; for one that only a newer service knows, that of the status."""
    known = BY_CODE.get(code)
    if known is not None:
        return known
    if status >= 500:
        return ServiceError
    return _BY_STATUS.get(status, InvalidRequestError if 400 <= status < 500 and status != 402 else QrnError)
