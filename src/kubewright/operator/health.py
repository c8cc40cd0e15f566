"""What `/healthz` and `/readyz` answer, in the API server's own words, but with reasons.

https://kubernetes.io/docs/reference/using-api/health-checks/
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from msgspec import Struct

__all__ = ["Check", "HealthAnswer", "answer"]


class Check(Struct, frozen=True):
    """Something that is well or not."""

    name: str
    look: Callable[[], str | None]
    """Why it is not well, in a line; None when it is. Must be quick and must not raise."""


class HealthAnswer(Struct, frozen=True):
    status: int
    text: str


def answer(
    endpoint: str, checks: Iterable[Check], *, only: str = "", exclude: Collection[str] = (), verbose: bool = False
) -> HealthAnswer:
    """``endpoint`` is ``healthz`` or ``readyz``; ``only`` names one check, as in ``/readyz/caches``.

    200 when all checks are well that are not excluded, else 500 and all of them with their reasons.
    """
    present = list(checks)
    if only:
        present = [check for check in present if check.name == only]
        if not present:
            return HealthAnswer(404, f"{endpoint} has no check {only!r}\n")
        reason = present[0].look()
        return HealthAnswer(200, "ok") if reason is None else HealthAnswer(500, f"{only} failed: {reason}\n")
    lines, failed = [], False
    for check in present:
        if check.name in exclude:
            lines.append(f"[+]{check.name} excluded: ok")
        elif (reason := check.look()) is None:
            lines.append(f"[+]{check.name} ok")
        else:
            failed = True
            lines.append(f"[-]{check.name} failed: {reason}")
    unknown = sorted(set(exclude) - {check.name for check in present})
    if unknown:
        lines.append(f"warn: some health checks cannot be excluded: no matches for {', '.join(map(repr, unknown))}")
    if not failed and not verbose:
        return HealthAnswer(200, "ok")
    lines.append(f"{endpoint} check {'failed' if failed else 'passed'}")
    return HealthAnswer(500 if failed else 200, "\n".join(lines) + "\n")
