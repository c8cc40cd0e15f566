"""`reach`: a TCP connection to a host that may have several addresses, some of which don't answer."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from itertools import chain, zip_longest

__all__ = ["reach"]

_HEAD_START = 0.25
"""Seconds that one address has before the next one is tried beside it, as RFC 8305 advises."""

_Address = tuple[socket.AddressFamily, tuple[object, ...]]


async def reach(host: str, port: int) -> socket.socket:
    """The first address that answers, both families in turn. Raises the OSError of the first that refused.

    asyncio does as much, and leaves a socket open where who asked is cancelled when it is there.
    """
    try:  # without a thread: all of them may be busy with what users do in them
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except socket.gaierror:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:  # an empty or endless part between two dots, which no look-up is begun for
        raise socket.gaierror(socket.EAI_NONAME, "no host can have this name") from error
    waiting = _in_turn([(each[0], each[4]) for each in found])
    if len(waiting) == 1:
        return await _opened(waiting[0])
    trying: set[asyncio.Task[socket.socket]] = set()
    won: socket.socket | None = None
    refusals: list[OSError] = []
    try:
        while won is None and (waiting or trying):
            if waiting:
                address = waiting.pop(0)
                trying.add(asyncio.create_task(_opened(address), name=f"connecting to {host} at {address[1][0]}"))
            done, _ = await asyncio.wait(
                trying, timeout=_HEAD_START if waiting else None, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                if won is None and task.exception() is None:
                    won = task.result()
                    trying.discard(task)
                elif isinstance(refusal := task.exception(), OSError):
                    refusals.append(refusal)
                    trying.discard(task)
        if won is None:
            raise refusals[0]
    finally:
        await _given_up(trying, won)
    return won


def _in_turn(addresses: Sequence[_Address]) -> list[_Address]:
    """In the order that the system prefers, but one family never waits for all of the other."""
    first = [each for each in addresses if each[0] == addresses[0][0]]
    rest = [each for each in addresses if each[0] != addresses[0][0]]
    return [each for each in chain.from_iterable(zip_longest(first, rest)) if each is not None]


async def _opened(address: _Address) -> socket.socket:
    family, where = address
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        opened.setblocking(False)
        await asyncio.get_running_loop().sock_connect(opened, where)
    except BaseException:
        opened.close()
        raise
    return opened


async def _given_up(trying: set[asyncio.Task[socket.socket]], won: socket.socket | None) -> None:
    for task in trying:
        if not task.cancel() and task.exception() is None:
            task.result().close()
    try:
        await asyncio.gather(*trying, return_exceptions=True)
    except BaseException:
        if won is not None:
            won.close()
        raise
