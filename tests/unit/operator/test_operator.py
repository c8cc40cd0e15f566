from __future__ import annotations

from typing import Any

import pytest

from kubewright import Context, Model, Operator, Resource, field, resource
from kubewright.kinds import core_v1


@resource("example.com/v1")
class Thing(Resource):
    status: Model = field(default_factory=Model)


async def nothing(thing: Thing, ctx: Context) -> None: ...


def test_two_operators_share_nothing() -> None:
    first, second = Operator("first"), Operator("second")
    first.controller(Thing)(nothing)
    assert len(first.controllers) == 1
    assert second.controllers == []


def test_the_decorated_function_comes_back_as_it_was() -> None:
    operator = Operator("things")
    assert operator.controller(Thing)(nothing) is nothing
    assert operator.finalizer(Thing, name="example.com/x")(nothing) is nothing


def test_a_controllers_name_is_its_kind_unless_given() -> None:
    operator = Operator("things")
    operator.controller(Thing)(nothing)
    operator.controller(Thing, name="second")(nothing)
    assert [spec.name for spec in operator.controllers] == ["thing", "second"]


def test_finalizers_belong_to_the_first_controller_of_their_kind() -> None:
    operator = Operator("things")
    operator.controller(Thing)(nothing)
    operator.controller(Thing, name="second")(nothing)
    operator.finalizer(Thing, name="example.com/x")(nothing)
    assert [len(spec.finalizers) for spec in operator.controllers] == [1, 0]


def test_mistakes_are_refused_when_they_are_made() -> None:
    operator = Operator("things")
    operator.controller(Thing)(nothing)
    with pytest.raises(ValueError, match="has a controller named 'thing' already"):
        operator.controller(Thing)
    with pytest.raises(ValueError, match="workers=0"):
        operator.controller(Thing, name="idle", workers=0)
    with pytest.raises(ValueError, match="use a qualified name such as"):
        operator.finalizer(Thing, name="backup")
    operator.finalizer(Thing, name="example.com/x")(nothing)
    with pytest.raises(ValueError, match="registered twice"):
        operator.finalizer(Thing, name="example.com/x")(nothing)
    with pytest.raises(ValueError, match="the operator's name is 'My Operator'"):
        Operator("My Operator")


@pytest.mark.parametrize(
    "name",
    [
        *("example.com/", "/x", "localhost/x", "Example.com/x", "example.com/x/y", "example.com/has space", 5, None),
        f"example.com/{'a' * 64}",
        f"{'a' * 250}.com/x",
    ],
)
def test_a_finalizer_that_servers_refuse_is_refused_where_it_is_declared(name: Any) -> None:
    with pytest.raises(ValueError, match=r"finalizer .*: .*use a qualified name such as apps.example.com/backup"):
        Operator("things").finalizer(Thing, name=name)


@pytest.mark.parametrize("name", [5, None])
def test_a_name_that_is_no_text_is_none(name: Any) -> None:
    with pytest.raises(ValueError, match=f"the operator's name is {name}"):
        Operator(name)
    with pytest.raises(ValueError, match=f"a namespace of namespaces is {name}"):
        Operator("things", namespaces=[name])
    with pytest.raises(ValueError, match="the controller's name is 5"):
        Operator("things").controller(Thing, name=5)  # type: ignore[call-overload]  # what is tested


def test_a_plain_function_is_refused_where_a_coroutine_function_is_needed() -> None:
    def plain(thing: Thing, ctx: Context) -> None: ...

    operator = Operator("things")
    with pytest.raises(TypeError, match="the reconciler .*plain is no coroutine function"):
        operator.controller(Thing)(plain)  # type: ignore[arg-type]  # what is tested
    with pytest.raises(TypeError, match="the clean-up .*plain is no coroutine function"):
        operator.finalizer(Thing, name="example.com/x")(plain)  # type: ignore[arg-type]  # likewise


def test_a_finalizer_without_a_controller_is_refused() -> None:
    operator = Operator("things")
    operator.finalizer(Thing, name="example.com/x")(nothing)
    with pytest.raises(ValueError, match="Thing has a finalizer but no controller in operator things"):
        _ = operator.controllers


def test_only_kinds_of_ones_own_bring_a_crd() -> None:
    async def pods(pod: core_v1.Pod, ctx: Context) -> None: ...

    operator = Operator("things")
    operator.controller(Thing)(nothing)
    operator.controller(core_v1.Pod)(pods)
    assert operator.custom_kinds == [Thing]
