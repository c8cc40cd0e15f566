"""Names in annotations that only type checkers know, or nobody, deferred in the way that each Python has."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable

import pytest

from kubewright.api import decode
from kubewright.api.callables import takes

DEFERRED = "" if sys.version_info >= (3, 14) else "from __future__ import annotations\n"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], types.ModuleType]:
    made = types.ModuleType("deferred")
    monkeypatch.setitem(sys.modules, made.__name__, made)

    def of(source: str) -> types.ModuleType:
        exec(compile(DEFERRED + source, "deferred.py", "exec", dont_inherit=True), made.__dict__)
        return made

    return of


def test_a_function_is_asked_what_it_takes_and_not_what_its_annotations_mean(
    module: Callable[[str], types.ModuleType],
) -> None:
    function = module("def function(obj: OnlyForTypeCheckers) -> OnlyForTypeCheckers: ...").function
    assert takes(function, 1)
    assert not takes(function, 2)


def test_a_name_that_is_not_there_is_told_with_its_field(module: Callable[[str], types.ModuleType]) -> None:
    spec = module("from kubewright import Model\nclass Spec(Model):\n    odd: Missing | None = None\n").Spec
    with pytest.raises(TypeError, match=r"Spec\.odd: the name 'Missing' is not defined in its module"):
        decode(b"{}", spec)
