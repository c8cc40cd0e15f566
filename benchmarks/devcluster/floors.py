"""What no server can go below: encrypting for each watcher, and handing it to the kernel."""

from __future__ import annotations

import socket
import ssl
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from statistics import median

from kubewright.devcluster.certificates import new_credentials
from kubewright.devcluster.credentials import Credentials

__all__ = ["tls_to_many"]

_DRAINED = 64 * 1024


class _Pipe:
    """A TLS connection to ourselves: the server's end, and the socket that its bytes go to."""

    def __init__(self, credentials: Credentials, stack: ExitStack) -> None:
        trusting = ssl.create_default_context(cadata=credentials.ca.decode())
        self._to_client, self._to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = trusting.wrap_bio(self._to_client, self._to_server, server_hostname="127.0.0.1")
        self._server = credentials.server_context().wrap_bio(self._to_server, self._to_client, server_side=True)
        for _ in range(2):
            for end in (client, self._server):
                try:
                    end.do_handshake()
                except ssl.SSLWantReadError:
                    continue
        self._to_client.read()
        self._near, self._far = (stack.enter_context(each) for each in _loopback())

    def send(self, data: bytes) -> None:
        self._server.write(data)
        self._near.send(self._to_client.read())

    def drain(self) -> None:
        self._far.recv(_DRAINED)


def _loopback() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
    return near, far


def tls_to_many(total: int, size: int, *, rounds: int) -> float:
    """Seconds for encrypting ``size`` bytes for each of so many connections and sending them, the median."""
    credentials = new_credentials(datetime.now(UTC))
    data = b"x" * size
    found = []
    with ExitStack() as stack:
        pipes = [_Pipe(credentials, stack) for _ in range(total)]
        for _ in range(rounds):
            begin = time.perf_counter()
            for pipe in pipes:
                pipe.send(data)
            found.append(time.perf_counter() - begin)
            for pipe in pipes:
                pipe.drain()
    return median(found)
