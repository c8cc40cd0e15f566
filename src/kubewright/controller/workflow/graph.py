"""The graph of a workflow: what comes after what, and a walk on which branches go side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

__all__ = ["After", "in_order", "reversed_within", "side_by_side"]

After = Mapping[str, Sequence[str]]
"""For each step those that it comes after."""


def in_order(after: After) -> list[str]:
    """Each name after all that it comes after, otherwise as they were given.

    Raises ValueError for a name that is none of the graph's, and for a cycle, which it shows.
    """
    for name, earlier in after.items():
        for other in earlier:
            if other not in after:
                raise ValueError(f"step {name!r} comes after {other!r}: there is no such step, only {', '.join(after)}")
    ordered = list[str]()
    visiting = dict[str, None]()

    def visit(name: str) -> None:
        if name in visiting:
            way = [*visiting, name]
            cycle = " after ".join(map(repr, way[way.index(name) :]))
            raise ValueError(f"step {name!r} comes after itself: {cycle}")
        if name in done:
            return
        visiting[name] = None
        for other in after[name]:
            visit(other)
        del visiting[name]
        done.add(name)
        ordered.append(name)

    done = set[str]()
    for name in after:
        visit(name)
    return ordered


def reversed_within(names: Collection[str], after: After) -> dict[str, list[str]]:
    """The graph of ``names`` alone, the other way round: each comes after its dependents."""
    wanted = [name for name in after if name in names]
    return {name: [other for other in wanted if name in after[other]] for name in reversed(wanted)}


async def side_by_side(after: After, do: Callable[[str], Awaitable[None]]) -> None:
    """Calls ``do`` for each name once it has ended for all that the name comes after; what need not wait does not.

    ``after`` is in order and names each predecessor once. What ``do`` raises ends the walk.
    """
    missing = {name: len(earlier) for name, earlier in after.items()}
    dependents = {name: list[str]() for name in after}
    for name, earlier in after.items():
        for other in earlier:
            dependents[other].append(name)

    async def go_on(ready: list[str]) -> None:
        while ready:
            name, *others = ready  # one goes on here, so that steps in a row need no task and no turn of the loop each
            for other in others:
                tasks.create_task(go_on([other]), name=f"step {other}")
            await do(name)
            for other in dependents[name]:
                missing[other] -= 1
            ready = [other for other in dependents[name] if not missing[other]]

    async with asyncio.TaskGroup() as tasks:
        await go_on([name for name in after if not missing[name]])
