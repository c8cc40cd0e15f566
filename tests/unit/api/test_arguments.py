"""A misspelt argument of a declaration is refused with the nearest name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kubewright import Manager, Operator, Resource, Result, Watch, resource
from kubewright.api import Column, Scale
from kubewright.api.arguments import known_arguments
from kubewright.controller import Backoff, Whole
from kubewright.kinds import core_v1
from kubewright.operator import Settings
from kubewright.operator.election import LeaderElection

NOTHING: Any = None


@resource("example.com/v1")
class Thing(Resource): ...


@pytest.mark.parametrize(
    ("declare", "wrong", "said"),
    [
        (Settings, "stop_witin", "Settings has no argument 'stop_witin': did you mean stop_within?"),
        (lambda **o: Operator("x", **o), "namespace", "Operator has no argument 'namespace': did you mean namespaces?"),
        (lambda **o: Operator("x").controller(Thing, **o), "own", r"controller has no argument 'own': did you mean owns"),
        (lambda **o: Operator("x").finalizer(Thing, **o), "nam", "finalizer has no argument 'nam': did you mean name"),
        (lambda **o: Manager(NOTHING, NOTHING, **o), "seting", "Manager has no argument 'seting': did you mean settings"),
        (lambda **o: LeaderElection(NOTHING, "n", "n", **o), "label", "no argument 'label': did you mean labels"),
        (lambda **o: Watch(core_v1.Pod, **o), "mapper", "Watch has no argument 'mapper': there are kind, to, predicate"),
        (lambda **o: Whole(core_v1.Pod, **o), "kin", "Whole has no argument 'kin': did you mean kind"),
        (Backoff, "firs", "Backoff has no argument 'firs': did you mean first"),
        (Result, "requeue_afer", "Result has no argument 'requeue_afer': did you mean requeue_after"),
        (lambda **o: resource("x/v1", **o), "short_name", "resource has no argument 'short_name': did you mean short_names"),
        (lambda **o: Column("a", ".b", **o), "prio", "Column has no argument 'prio': did you mean priority"),
        (Scale, "spek", "Scale has no argument 'spek': did you mean spec"),
    ],
)  # fmt: skip
def test_the_nearest_name_is_told(declare: Callable[..., object], wrong: str, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        declare(**{wrong: 1})


def test_what_is_wrong_otherwise_is_told_as_ever() -> None:
    @known_arguments
    def declare(size: int, *, name: str = "") -> int:
        """What for."""
        return size + len(name)

    assert declare(1, name="abc") == 4
    assert declare.__doc__ == "What for."
    wrong: Any = declare
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'size'"):
        wrong(name="x")
    with pytest.raises(TypeError, match="Missing required argument 'path'"):
        Column(name="x")  # type: ignore[call-arg]  # what is tested
    with pytest.raises(ValueError, match="requeue_after"):
        Result(requeue_after=-1)
