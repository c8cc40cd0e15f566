"""The background process that `process.start_background` starts: ``python -m kubewright.devcluster HOME OPTIONS FD``.

It forks at once, so that the starter has no child left to wait for, and writes one line to the file descriptor FD: an
empty one when the cluster listens, or why it does not.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def main(home: str, options: str, descriptor: int) -> None:
    if os.fork():
        os._exit(0)
    gc.disable()  # what is loaded stays, so looking through it for garbage is a tenth of the start

    import asyncio  # noqa: PLC0415 - after the fork, so that the starter waits no longer than it must

    with _no_authorities():
        import aiohttp  # noqa: F401, PLC0415
    from kubewright.devcluster.errors import ClusterError  # noqa: PLC0415
    from kubewright.devcluster.foreground import serve_foreground  # noqa: PLC0415
    from kubewright.devcluster.process import ClusterOptions  # noqa: PLC0415
    from kubewright.telemetry import new_log  # noqa: PLC0415

    def announce(error: str = "") -> None:
        gc.enable()
        os.write(descriptor, f"{error}\n".encode())
        os.close(descriptor)

    log = new_log("console", level="warning")
    chosen = ClusterOptions(**json.loads(options))
    try:
        asyncio.run(serve_foreground(Path(home), chosen, ready=lambda _: announce(), log=log))
    except ClusterError as error:
        announce(str(error))
        sys.exit(1)


@contextmanager
def _no_authorities() -> Iterator[None]:
    """A block in which the system's certificate authorities are not found.

    aiohttp reads them all, twice, when it is loaded: a fifth of the start. This process is nobody's client.
    """
    variable = "SSL_CERT_FILE"
    before = os.environ.get(variable)
    os.environ[variable] = os.devnull
    try:
        yield
    finally:
        if before is None:
            del os.environ[variable]
        else:
            os.environ[variable] = before


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
