"""`RealWait`: what waits for the real world while time is virtual is refused where it happens, and fails the test."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Protocol, cast, runtime_checkable

from kubewright.testing.counted_threads import waiting_result

__all__ = ["RealWait", "RefusesRealWaits", "refused"]


class RealWait(RuntimeError):
    """Something on a loop in virtual time waits for the machine's clock, a socket, a process or a thread of its own.

    No virtual time passes meanwhile and no two runs are alike. It also fails a test whose code caught it, as a
    controller catches whatever a reconciler raises.
    """


@runtime_checkable
class RefusesRealWaits(Protocol):
    """A loop in virtual time."""

    @property
    def starts_thread(self) -> bool:
        """Whether a thread that starts now is one that the loop counts."""
        ...

    def note(self, wait: RealWait) -> None: ...


_TARGETS: tuple[tuple[Any, str, str], ...] = (
    (time, "sleep", "a real wait: use `await asyncio.sleep(…)`, whose time is virtual"),
    (socket.socket, "connect", "a real socket: use the in-process cluster's `transport()`"),
    (socket.socket, "connect_ex", "a real socket: use the in-process cluster's `transport()`"),
    (socket.socket, "bind", "a real socket: nothing listens in virtual time"),
    (threading.Thread, "start", "a thread: use `asyncio.to_thread(…)`, for which virtual time stands still"),
    (subprocess.Popen, "__init__", "a process: start it in a test that has no virtual time"),
)

_lock = threading.Lock()
_users = 0
_originals: list[tuple[Any, str, Any]] = []


@contextmanager
def refused() -> Iterator[None]:
    """Within it, loops in virtual time refuse real waits of the thread that runs them; other threads are left alone."""
    global _users  # noqa: PLW0603 - what is guarded belongs to the process too
    with _lock:
        _users += 1
        if _users == 1:
            for owner, name, what in _TARGETS:
                _replace(owner, name, _guarded(owner, name, what))
            _replace(Future, "result", waiting_result(Future.result))
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                for owner, name, original in _originals:
                    if original is None:
                        delattr(owner, name)  # it was inherited
                    else:
                        setattr(owner, name, original)
                _originals.clear()


def _replace(owner: Any, name: str, by: Callable[..., Any]) -> None:
    _originals.append((owner, name, owner.__dict__.get(name)))
    setattr(owner, name, by)


def _guarded(owner: Any, name: str, what: str) -> Callable[..., Any]:
    inner = cast("Callable[..., Any]", getattr(owner, name))

    def guarded(*args: Any, **options: Any) -> Any:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return inner(*args, **options)
        if not isinstance(loop, RefusesRealWaits) or (name == "start" and loop.starts_thread):
            return inner(*args, **options)
        shown = ", ".join(repr(arg) for arg in (args if owner is time else args[1:]))
        wait = RealWait(f"{getattr(owner, '__name__', owner)}.{name}({shown}) on a loop in virtual time is {what}")
        loop.note(wait)
        if owner is socket.socket:
            args[0].close()  # nobody who made it expects this error
        raise wait

    guarded.__name__ = guarded.__qualname__ = name
    return guarded
