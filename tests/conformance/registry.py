"""What a case is, and how the cases are found.

A case is a short script of requests. Every answer is taken down, with what differs from run to run made comparable
(`transcript`), and compared with what the server that knows the truth answered to the same script (``recorded/``).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from tests.conformance import cases
from tests.conformance.world import World

__all__ = ["Case", "Truth", "all_cases", "case"]

Truth = Literal["1.20", "1.36"]
Script = Callable[[World], Awaitable[None]]


@dataclass(frozen=True)
class Case:
    """``verb`` × ``given`` × ``body`` is a cell of the table; ``truths`` are the servers that know the outcome.

    The first of them is recorded; the others are held to the same answers.
    """

    name: str
    subject: str
    verb: str
    given: str
    body: str
    truths: tuple[Truth, ...]
    forgets: bool
    """Whether the server is made to forget its history, which takes its etcd."""
    script: Script


_ATTRIBUTE = "__conformance_case__"


def case(
    verb: str, *, given: str, body: str = "—", truth: Truth | tuple[Truth, ...] = "1.36", forgets: bool = False
) -> Callable[[Script], Script]:
    """Declares an async function of one `World` as a case, named after the function."""

    def declare(script: Script) -> Script:
        module = script.__module__.rpartition(".")[2]
        truths = (truth,) if isinstance(truth, str) else truth
        name = getattr(script, "__name__", "")
        setattr(script, _ATTRIBUTE, Case(name, module, verb, given, body, truths, forgets, script))
        return script

    return declare


def all_cases() -> Iterator[Case]:
    """Every case, by subject and then in the order written. Raises ValueError for two cases of one cell or name."""
    seen: dict[object, Case] = {}
    for module in sorted(pkgutil.iter_modules(cases.__path__), key=lambda found: found.name):
        for value in vars(importlib.import_module(f"{cases.__name__}.{module.name}")).values():
            found = getattr(value, _ATTRIBUTE, None)
            if not isinstance(found, Case) or found.subject != module.name:
                continue
            for key in ((found.subject, found.name), (found.subject, found.verb, found.given, found.body)):
                if key in seen:
                    raise ValueError(f"{found.subject}.{found.name} is the same cell as {seen[key].name}: {key}")
                seen[key] = found
            yield found
