"""The Go peer: client-go's side of the comparison, and the stub server that all contestants talk to."""

from __future__ import annotations

import json
import lzma
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import msgspec

from benchmarks.cache.resources import Resource

__all__ = ["NotThere", "Stub", "stub", "unpack"]

_UNPACKED = Path(".tools/gopeer").absolute()


class NotThere(Exception):
    """The Go peer is not where it should be; the message says what to do."""


def unpack() -> Path:
    """The program, unpacked once and again when it changed. Raises `NotThere`."""
    folder = Path(os.environ.get("KUBEWRIGHT_GO_PEER", "../shared/go-peer")).absolute()
    packed = folder / "gopeer.xz"
    if not packed.exists():
        raise NotThere(f"the Go peer is not in {folder}: set KUBEWRIGHT_GO_PEER to the folder that holds gopeer.xz")
    if not _UNPACKED.exists() or _UNPACKED.stat().st_mtime < packed.stat().st_mtime:
        _UNPACKED.parent.mkdir(exist_ok=True)
        fresh = _UNPACKED.with_suffix(".new")
        fresh.write_bytes(lzma.decompress(packed.read_bytes()))
        fresh.chmod(0o755)
        fresh.replace(_UNPACKED)
    return _UNPACKED


class Stub:
    """The running stub server."""

    def __init__(self, url: str) -> None:
        self.url = url

    def reset(self, resource: Resource, objects: int) -> None:
        """Makes so many objects anew, and forgets all events."""
        self.control(f"reset?{resource.plural}={objects}")

    def emit(self, resource: Resource, events: int, rate: int) -> None:
        """Starts so many changes, one object after the other; ``rate`` is events a second, 0 all at once."""
        self.control(f"emit?resource={resource.plural}&n={events}&rate={rate}&wait=false")

    def control(self, command: str) -> None:
        with urlopen(f"{self.url}/_ctl/{command}") as answer:
            answer.read()

    def length(self, resource: Resource) -> int:
        """Bytes of one object's JSON without managedFields."""
        with urlopen(self.url + resource.object_path(0)) as answer:
            whole = json.loads(answer.read())
        whole["metadata"].pop("managedFields", None)
        return len(msgspec.json.encode(whole))


@contextmanager
def stub(program: Path) -> Iterator[Stub]:
    """Starts the stub, with one object of each resource, on a port that was free a moment ago."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [str(program), "stub", "--addr", address, "--widgets", "1", "--pods", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        told = process.stdout.readline() if process.stdout else ""
        if not told:
            raise RuntimeError(f"the stub did not start: exit code {process.wait()}")
        yield Stub(f"http://{address}")
    finally:
        process.terminate()
        process.wait()
