"""The background process that `process.start_background` starts: ``python -m kubewright.devcluster HOME OPTIONS FD``.

It forks at once, so that the starter has no child left to wait for, and tells through the file descriptor FD when the
cluster listens, or why it does not.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path


def main(home: str, options: str, descriptor: int) -> None:
    if os.fork():
        os._exit(0)
    import msgspec  # noqa: PLC0415 - after the fork, so that the starter waits no longer than it must

    from kubewright.devcluster.errors import ClusterError  # noqa: PLC0415
    from kubewright.devcluster.process import Announcement, ClusterOptions, serve_foreground  # noqa: PLC0415
    from kubewright.telemetry import new_log  # noqa: PLC0415

    def announce(announcement: Announcement) -> None:
        os.write(descriptor, msgspec.json.encode(announcement) + b"\n")
        os.close(descriptor)

    log = new_log("console")
    try:
        chosen = msgspec.json.decode(options, type=ClusterOptions)
        asyncio.run(serve_foreground(Path(home), chosen, ready=lambda _: announce(Announcement()), log=log))
    except ClusterError as error:
        announce(Announcement(error=str(error)))
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
