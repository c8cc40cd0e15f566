"""Every mistake in a declaration is refused when it is made, by the argument's name and with the remedy."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from kubewright import Client, Context, Operator, Request, Resource, Watch, resource
from kubewright.controller import Backoff, BlockingContext, changed, every, owner_label, says_nothing
from kubewright.kinds import core_v1


@resource("example.com/v1")
class Thing(Resource): ...


class Undeclared(Resource): ...


async def good(thing: Thing, ctx: Context) -> None: ...


def plain(thing: Thing, ctx: Context) -> None: ...


def blocking(thing: Thing, ctx: BlockingContext) -> None: ...


async def no_context(thing: Thing) -> None: ...


async def yields(thing: Thing, ctx: Context) -> AsyncIterator[int]:
    yield 1


async def no_source(around: object) -> list[Request]:
    return []


async def mapper_that_yields(pod: core_v1.Pod) -> AsyncIterator[Request]:
    yield Request(None, pod.namespace, pod.name)


class Reconciler:
    async def reconcile(self, thing: Thing, ctx: Context) -> None: ...


def watch(**options: Any) -> Watch[core_v1.Pod]:
    return Watch(core_v1.Pod, **{"to": owner_label("x"), **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"owns": core_v1.Pod}, "owns is <class .*Pod'>: give a list of kinds, such as owns="),
        ({"owns": ["Pod"]}, "owns: 'Pod' is no kind: give classes of resources"),
        ({"reads": [Undeclared]}, "reads: .*Undeclared is no resource: decorate it with @resource"),
        ({"prune": [object]}, "prune: <class 'object'> is no kind"),
        ({"permissions": [core_v1.Pod]}, "permissions is .*: give verbs by kind, such as permissions={ConfigMap: "),
        ({"permissions": {"pods": ["get"]}}, "permissions: 'pods' is no kind"),
        ({"permissions": {core_v1.Pod: "get"}}, r"permissions\[Pod\] is 'get': give a list of verbs, such as .*create"),
        ({"permissions": {core_v1.Pod: [core_v1.Node]}}, "permissions: .*Node.* is neither a verb nor a subresource"),
        ({"watches": [core_v1.Pod]}, r"watches: .*Pod.* is neither a watch nor a source: write Watch\(Pod, to=…\)"),
        (
            {"watches": Watch(core_v1.Pod, to=owner_label("x"))},
            "watches is Watch.*: give a list of watches and sources",
        ),
        ({"watches": [Watch(core_v1.Pod, to=None)]}, r"watches: Watch\(Pod, to=None\): give a function"),  # type: ignore[arg-type]
        ({"watches": [no_source]}, "watches: no_source is no source: an async function that gives requests yields"),
        ({"watches": [watch(to=owner_label)]}, r"Watch\(Pod, to=…\): owner_label makes mappers.*: call it"),
        ({"watches": [watch(to=mapper_that_yields)]}, "mapper_that_yields yields: an `async def` mapper"),
        ({"watches": [watch(to=lambda a, b: [])]}, "<lambda> must take one argument: the object"),
        ({"watches": [watch(predicate=changed)]}, "predicate=….*: call it, changed"),
        ({"when": "generation"}, "when: 'generation' is no predicate: give a function of an event, such as labels_ch"),
        ({"when": changed}, r"when: changed makes predicates and is none: call it, changed\(…\)"),
        ({"when": good}, "when: good is a coroutine function: a predicate answers at once, define it with `def`"),
        ({"when": plain}, "when: plain must take one argument: the event"),
        (
            {"error_status": good},
            "error_status=good: give a plain function of the object, the error and its conditions",
        ),
        ({"error_status": plain}, "error_status=plain does not take three arguments: give a plain function"),
        ({"error_status": "Failed"}, "error_status='Failed': give a plain function"),
        ({"workers": 0}, "workers=0: a controller needs at least one"),
        ({"workers": 1.5}, "workers=1.5"),
        ({"timeout": 0}, "timeout=0: give the seconds that one run may take"),
        ({"timeout": float("inf")}, "timeout=inf"),
        ({"backoff": 5}, r"backoff=5: give a Backoff, such as Backoff\(first=1"),
        ({"name": "My Controller"}, "the controller's name is 'My Controller'"),
        ({"name": ""}, "the controller's name is ''"),
        ({"keys": True, "while_deleting": True}, "while_deleting=True: with keys=True every request comes"),
        ({"keys": True, "error_status": says_nothing}, "error_status=…: with keys=True no status is written"),
    ],
)
def test_an_option_is_refused_by_its_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        Operator("things").controller(Thing, **options)


@pytest.mark.parametrize(
    ("options", "reconciler", "message"),
    [
        ({}, plain, "the reconciler plain is no coroutine function: define it with `async def`, or say threads=True"),
        ({"threads": True}, good, "the reconciler good is a coroutine function: leave out threads=True"),
        ({}, no_context, "no_context must take two arguments: what is reconciled, and the context"),
        ({}, yields, "yields is no coroutine function"),
        ({}, Reconciler, r"Reconciler is a class: register an object, Reconciler\(…\)"),
        ({}, object(), "is no reconciler: give a function, or an object with a method `reconcile`"),
        ({"threads": True}, Reconciler(), r"Reconciler.reconcile is a coroutine function"),
    ],
)
def test_a_reconciler_of_another_form_is_refused(options: dict[str, Any], reconciler: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Operator("things").controller(Thing, **options)(reconciler)


def test_a_kind_is_a_class_that_was_declared() -> None:
    with pytest.raises(
        TypeError, match="the first argument: 'Thing' is no kind: give classes of resources, such as Deployment$"
    ):
        Operator("things").controller("Thing")  # type: ignore[call-overload]  # what is tested
    with pytest.raises(TypeError, match="the first argument: .*Undeclared is no resource"):
        Operator("things").finalizer(Undeclared, name="example.com/x")


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TypeError, match="has no argument 'own': did you mean owns?"):
        Operator("things").controller(Thing, own=[core_v1.Pod])  # type: ignore[call-overload]  # what is tested


def test_a_lifespan_is_a_context_manager() -> None:
    async def forgot_the_decorator(client: Client) -> AsyncIterator[int]:
        yield 1

    with pytest.raises(TypeError, match="lifespan: .* gives no context manager: decorate it with @asynccontextmanager"):
        Operator("things", lifespan=forgot_the_decorator)  # type: ignore[arg-type]  # what is tested


def test_settings_are_settings() -> None:
    wrong: Any = {"stop_within": 40}
    with pytest.raises(TypeError, match=r"settings=\{'stop_within': 40\}: give Settings, such as Settings\("):
        Operator("things", settings=wrong)


def test_who_reconciles_keys_runs_no_finalizers() -> None:
    operator = Operator("things")

    @operator.controller(Thing, keys=True)
    async def by_key(request: Request, ctx: Context) -> None: ...

    operator.finalizer(Thing, name="example.com/x")(good)
    with pytest.raises(ValueError, match=r"register one with @operator.controller\(Thing\), without keys=True"):
        _ = operator.controllers
    operator.controller(Thing, name="objects")(good)
    assert [len(spec.finalizers) for spec in operator.controllers] == [0, 1]


def test_what_was_declared_is_in_the_specification() -> None:
    operator = Operator("things")
    backoff, timer = Backoff(first=1, longest=60), every(60)
    watch = Watch(core_v1.Pod, to=owner_label("x"))

    @operator.controller(
        Thing, watches=[timer, watch], threads=True, backoff=backoff, timeout=10, workers=2, while_deleting=True
    )
    def reconcile(thing: Thing, ctx: BlockingContext) -> None: ...

    (spec,) = operator.controllers
    assert (spec.sources, spec.watches) == ((timer,), (watch,))
    assert (spec.threads, spec.backoff, spec.timeout, spec.workers, spec.while_deleting) == (True, backoff, 10, 2, True)


def test_every_form_comes_back_as_it_was() -> None:
    operator, reconciler = Operator("things"), Reconciler()
    forms: list[Callable[[], bool]] = [
        lambda: operator.controller(Thing)(good) is good,
        lambda: operator.controller(Thing, name="b", threads=True)(blocking) is blocking,
        lambda: operator.controller(Thing, name="c")(reconciler) is reconciler,
    ]
    assert all(form() for form in forms)
