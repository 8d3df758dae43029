"""Client of the Quantum Random Number Service."""

from ._wire import QrnWarning
from ._log import WitnessPolicy
from .aio import AsyncQrnClient
from .answers import Answer, Credits, Metadata, OctetAnswer, RateLimit, RawResponse
from .client import QrnClient
from .draws import Draw
from .errors import QrnError
from .generator import Generator
from .random import Random
from .verify import Check, Verification, VerificationFailed, verify_answer

__all__ = [
    "Answer",
    "AsyncQrnClient",
    "Check",
    "Credits",
    "Draw",
    "Generator",
    "Metadata",
    "OctetAnswer",
    "QrnClient",
    "QrnError",
    "QrnWarning",
    "Random",
    "RateLimit",
    "RawResponse",
    "Verification",
    "VerificationFailed",
    "WitnessPolicy",
    "verify_answer",
]
