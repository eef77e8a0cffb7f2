"""How parent and children talk.

Requests go down a Unix stream socket as pickles, with file descriptors beside them. What comes
back travels on pipes of its own, as JSON lines: a child may be hostile or have a smashed heap, so
nothing that it sends is unpickled or trusted.
"""

from __future__ import annotations

import json
import os
import pickle
import socket
import struct
from dataclasses import dataclass
from typing import Any

from harness.case import Case
from harness.run.watch import NOTHING, Watch

_LENGTH = struct.Struct("!I")
# The descriptors that travel with a request to fork: control, records, status, stdout, stderr.
FDS = 5


@dataclass(frozen=True, slots=True)
class Load:
    """Fork a process that loads the module of `case` and then forks an arm for each `Arm`.

    `key` names the request to `Kill`; `token` opens every record that the child sends.
    """

    key: int
    token: str
    case: Case


@dataclass(frozen=True, slots=True)
class Arm:
    """Fork a process that takes the loaded module through the stages of `case` in arm `arm`.

    When it is the `last`, nothing is forked: the process that loaded the module runs it itself.
    `watch` asks for more than a judged run tells.
    """

    key: int
    token: str
    case: Case
    arm: str
    watch: Watch = NOTHING
    last: bool = False


@dataclass(frozen=True, slots=True)
class Alone(Arm):
    """Fork a process that imports TVM, loads the module and runs one arm, without forking again."""


@dataclass(frozen=True, slots=True)
class Kill:
    """End the process group that the request `key` made."""

    key: int


Fork = Load | Arm
Request = Fork | Kill


def send(sock: socket.socket, request: Request, fds: tuple[int, ...] = ()) -> None:
    """Send one request, and hand over `fds`. Raises OSError when the other side is gone."""
    body = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
    head = _LENGTH.pack(len(body))
    if fds:
        socket.send_fds(sock, [head], list(fds))
    else:
        sock.sendall(head)
    sock.sendall(body)


def receive(sock: socket.socket) -> tuple[Request, list[int]] | None:
    """The next request and its descriptors; None when the other side has closed."""
    head, fds, _, _ = socket.recv_fds(sock, _LENGTH.size, FDS)
    body = _read_exactly(sock, _LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else b""
    if not body:
        return None
    request: Request = pickle.loads(body)
    return request, fds


def _read_exactly(sock: socket.socket, size: int) -> bytes:
    chunks: list[bytes] = []
    while size:
        chunk = sock.recv(size)
        if not chunk:
            return b""
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)


class Records:
    """The child's end of its records pipe: what it does, announced before it does it.

    Every line opens with a token that only the parent and this object know, so that a kernel which
    writes to every descriptor it can guess is noise and not a record.
    """

    def __init__(self, fd: int, token: str) -> None:
        self._fd = fd
        self._token = token.encode()

    def send(self, record: dict[str, Any]) -> None:
        # The leading newline ends whatever somebody else may have left unfinished on the pipe.
        data = memoryview(b"\n" + self._token + json.dumps(record).encode() + b"\n")
        while data:
            data = data[os.write(self._fd, data) :]
