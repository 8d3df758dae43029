"""The standard library's `random`, with bits of the service."""

from __future__ import annotations

import random
from typing import Any, List, NoReturn, Optional, Sequence

from ._blocks import Blocks, OnBlock
from .client import QrnClient

_BLOCK_BYTES = 16_384


class Random(random.Random):
    """A `random.Random` whose bits come from the service. Its methods choice, sample, shuffle, gauss and all others work.

    It fetches bits in blocks. When the service gives no bits, a draw raises the service's error: no other source is ever used.
    There is no state to save, so seed, getstate, setstate and pickling raise NotImplementedError.

    The methods that use `getrandbits` are exactly uniform: randrange, randint, choice, choices without weights, sample, shuffle,
    randbytes. The methods that the standard library computes from floats (gauss, expovariate, weighted choices, …) are as exact
    as its formulas. `Generator` has an exact normal distribution.

    client: default QrnClient()
    entropy_mode: default: the account's tier decides. In pure mode a block costs its bytes in credits, used or not
    block_bytes: 16 to 1,024, or whole KiB up to 16 MiB, which need the scope entropy:batch. Default: 16,384, or 256 in pure mode
    on_block: called with each block's answer before any of its bytes are used, to verify it or to keep its certificate's id. When
        it raises, the draw raises, and no byte of the block is used
    """

    def __new__(cls, *_: Any, **__: Any) -> "Random":
        return super().__new__(cls)

    def __init__(
        self,
        client: Optional[QrnClient] = None,
        *,
        entropy_mode: Optional[str] = None,
        block_bytes: Optional[int] = None,
        on_block: Optional[OnBlock] = None,
    ) -> None:
        # Does not call random.Random.__init__, which seeds.
        self._blocks = Blocks(client, entropy_mode, block_bytes, _BLOCK_BYTES, on_block)
        self.gauss_next = None  # gauss keeps the second value of a pair here

    @property
    def available_bytes(self) -> int:
        """The number of bytes that are ready."""
        return self._blocks.available

    def random(self) -> float:
        """A multiple of 2**-53 in [0, 1)."""
        return (int.from_bytes(self._blocks.take(7), "big") >> 3) * 2.0**-53

    def getrandbits(self, k: int) -> int:
        """An integer of `k` random bits."""
        if k < 0:
            raise ValueError("number of bits must be non-negative")
        size = (k + 7) // 8
        return int.from_bytes(self._blocks.take(size), "big") >> (8 * size - k)

    def randbytes(self, n: int) -> bytes:
        """`n` bytes."""
        return bytes(self._blocks.take(n))

    def choices(
        self,
        population: Any,
        weights: Optional[Sequence[Any]] = None,
        *,
        cum_weights: Optional[Sequence[Any]] = None,
        k: int = 1,
    ) -> List[Any]:
        """`k` elements with replacement; exactly uniform without weights."""
        if weights is None and cum_weights is None:
            return [population[self.randrange(len(population))] for _ in range(k)]
        return super().choices(population, weights, cum_weights=cum_weights, k=k)

    def seed(self, *_: Any, **__: Any) -> NoReturn:
        raise NotImplementedError("Random of qrn_client takes its bits from the service: it cannot be seeded")

    def getstate(self) -> NoReturn:
        raise NotImplementedError("Random of qrn_client takes its bits from the service: it has no state to save")

    def setstate(self, state: Any) -> NoReturn:
        raise NotImplementedError("Random of qrn_client takes its bits from the service: it has no state to restore")
