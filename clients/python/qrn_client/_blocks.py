"""Holds bytes that were fetched ahead in blocks, and hands out each byte once."""

from __future__ import annotations

import os
from threading import Lock
from typing import Callable, Optional

from .answers import OctetAnswer
from .client import QrnClient

#: The most bytes of GET /v1/bytes, and of one value of a batch.
_KIB = 1_024
#: A quarter of the largest reply.
_REQUEST_BYTES_MAX = 16 * 1_024 * _KIB
_PURE_BLOCK_BYTES = 256

OnBlock = Callable[[OctetAnswer], object]


class Blocks:
    """Any number of threads may take bytes. A forked process discards the bytes of its parent."""

    def __init__(
        self,
        client: Optional[QrnClient],
        entropy_mode: Optional[str],
        block_bytes: Optional[int],
        default_bytes: int,
        on_block: Optional[OnBlock],
    ) -> None:
        pure = str(entropy_mode).lower() == "pure"
        size = block_bytes if block_bytes is not None else _PURE_BLOCK_BYTES if pure else default_bytes
        if not 16 <= size <= _REQUEST_BYTES_MAX or (size > _KIB and size % _KIB != 0):
            raise ValueError("block_bytes: 16 to 1,024, or whole KiB up to 16 MiB")
        self._client = client if client is not None else QrnClient()
        self._mode = entropy_mode
        self._size = size
        self._on_block = on_block
        self._block = bytearray()
        self._at = 0
        self._lock = Lock()
        self._process = os.getpid()

    @property
    def available(self) -> int:
        """The number of bytes that are ready."""
        return len(self._block) - self._at if self._process == os.getpid() else 0

    def take(self, count: int) -> bytearray:
        """Returns `count` bytes. Raises the error of the service or of on_block; then the caller gets none of the bytes."""
        if self._process != os.getpid():
            self._lock, self._process = Lock(), os.getpid()
            self.discard()
        taken = bytearray(count)
        with self._lock:
            filled = 0
            while filled < count:
                if self._at == len(self._block):
                    self._block, self._at = self._fetched(count - filled), 0
                end = min(len(self._block), self._at + count - filled)
                size = end - self._at
                taken[filled : filled + size] = memoryview(self._block)[self._at : end]
                self._block[self._at : end] = bytes(size)
                self._at, filled = end, filled + size
        return taken

    def discard(self) -> None:
        """Erases all bytes. Python may hold copies that no program can reach."""
        self._block[:] = bytes(len(self._block))
        self._block, self._at = bytearray(), 0

    def _fetched(self, wanted: int) -> bytearray:
        """Fetches a block. It is larger than usual when more bytes are wanted at once and blocks come as batches."""
        size = self._size
        if wanted > size > _KIB:
            size = min(_REQUEST_BYTES_MAX, -(-wanted // _KIB) * _KIB)
        if size <= _KIB:
            answer = self._client.bytes_octets(size, entropy_mode=self._mode)
        else:
            answer = self._client.batch_octets("bytes", size // _KIB, length=_KIB, entropy_mode=self._mode)
        if self._on_block is not None:
            self._on_block(answer)
        return answer.octets
