"""A bounded memory of a stream: its beginning, its end, and how much fell between."""

from __future__ import annotations

_HEAD = 64 << 10
_TAIL = 64 << 10


class Capture:
    """Takes any amount of bytes and keeps the first and the last 64 KiB."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def feed(self, data: bytes) -> None:
        self._total += len(data)
        room = _HEAD - len(self._head)
        self._head += data[:room]
        self._tail += data[room:][-_TAIL:]
        del self._tail[:-_TAIL]

    def text(self) -> str:
        """What was kept, with a mark where something is missing; undecodable bytes as U+FFFD."""
        missing = self._total - len(self._head) - len(self._tail)
        mark = f"\n[… {missing} bytes cut …]\n".encode() if missing else b""
        return (bytes(self._head) + mark + bytes(self._tail)).decode("utf-8", "replace")
